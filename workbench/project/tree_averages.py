"""The variance of averages of trees in a project file, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from engine.errors import DataError
from workbench.fit_basis import basis_from_json
from workbench.project.format import number, plain
from workbench.training_sets import FEWEST_SETS, MOST_SETS, TITLES
from workbench.tree_averages import AveragesFound, AveragesSettings


def settings_to_json(settings: AveragesSettings) -> dict[str, Any]:
    """Return which numbers of trees, and how training sets are drawn."""
    written: dict[str, Any] = plain(vars(settings))
    return written


def settings_from_json(content: Mapping[str, Any]) -> AveragesSettings:
    """Return what `settings_to_json` wrote.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    counts = tuple(map(int, content["n_trees"]))
    found = AveragesSettings(counts, str(content["how"]), int(content["n_sets"]), int(content["seed"]))
    is_ascending = all(0 < one < other for one, other in pairwise(counts))
    if found.how not in TITLES or not FEWEST_SETS <= found.n_sets <= MOST_SETS or not is_ascending:
        raise DataError("averages of trees have settings that there are not; the file is damaged")
    return found


def found_to_json(found: AveragesFound) -> dict[str, Any]:
    """Return what was found."""
    written: dict[str, Any] = plain({**vars(found), "settings": settings_to_json(found.settings)})
    return written


def found_from_json(content: Mapping[str, Any]) -> AveragesFound:
    """Return what `found_to_json` wrote.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    settings = settings_from_json(content["settings"])
    measured = np.array([number(value) for value in content["measured"]])
    if len(measured) != len(settings.n_trees) or len(measured) < 2:
        raise DataError("averages of trees have other variances than numbers of trees; the file is damaged")
    return AveragesFound(
        settings, str(content["name"]), measured, number(content["variance"]),
        number(content["correlation"]), int(content["n_fits"]), int(content["n_failed"]),
        bool(content["stopped"]), str(content["rows_text"]), str(content["table_fingerprint"]),
        bool(content["is_classes"]), number(content["seconds"]),
        basis_from_json(content.get("basis")),
    )  # fmt: skip
