"""A study of bias and variance in a project file: its settings and the means of its parts, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.bias_variance import PARTS, BiasVarianceFound, BiasVarianceSettings
from workbench.figures.tuning import ValueAxis
from workbench.fit_basis import basis_from_json
from workbench.project.format import number, plain
from workbench.training_sets import FEWEST_SETS, MOST_SETS, TITLES


def settings_to_json(settings: BiasVarianceSettings) -> dict[str, Any]:
    """Return what is varied, and on which training sets."""
    written: dict[str, Any] = plain(vars(settings))
    return written


def settings_from_json(content: Mapping[str, Any]) -> BiasVarianceSettings:
    """Return what `settings_to_json` wrote.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    values = tuple(tuple(value) if isinstance(value, list) else value for value in content["values"])
    found = BiasVarianceSettings(
        str(content["parameter"]), values, str(content["how"]), int(content["n_sets"]), int(content["seed"])
    )
    if found.how not in TITLES or not FEWEST_SETS <= found.n_sets <= MOST_SETS or found.seed < 0:
        raise DataError("a study of bias and variance has settings that there are not; the file is damaged")
    return found


def found_to_json(found: BiasVarianceFound) -> dict[str, Any]:
    """Return the parts that were found."""
    names = (
        "name", "task", "means", "n_fits", "errors", "is_truth_known", "is_staged", "stopped", "rows_text",
        "table_fingerprint", "seconds", "basis",
    )  # fmt: skip
    written: dict[str, Any] = plain({name: getattr(found, name) for name in names})
    return {**written, "axis": plain(found.axis._asdict()), "settings": settings_to_json(found.settings)}


def found_from_json(content: Mapping[str, Any]) -> BiasVarianceFound:
    """Return what `found_to_json` wrote.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    settings, axis = settings_from_json(content["settings"]), _axis_from_json(content["axis"])
    task, n_values = str(content["task"]), len(settings.values)
    if task not in PARTS:
        raise DataError(f"a study of bias and variance is of {task!r}; the file is damaged")
    means = {part: np.array([number(of) for of in content["means"][part]]) for part in PARTS[task]}
    n_fits = np.array(content["n_fits"], np.int64)
    errors = {int(value): str(why) for value, why in content["errors"].items()}
    lengths = {len(axis.words), len(n_fits), *map(len, means.values())}
    if lengths != {n_values} or n_values == 0 or any(not 0 <= value < n_values for value in errors):
        raise DataError("a study of bias and variance has other parts than values; the file is damaged")
    return BiasVarianceFound(
        settings, axis, str(content["name"]), task, means, n_fits, errors, bool(content["is_truth_known"]),
        bool(content["is_staged"]), bool(content["stopped"]), str(content["rows_text"]),
        str(content["table_fingerprint"]), number(content["seconds"]),
        basis=basis_from_json(content.get("basis")),
    )  # fmt: skip


def _axis_from_json(content: Mapping[str, Any]) -> ValueAxis:
    words = tuple(map(str, content["words"]))
    place: NDArray[np.int64] = np.array(content["place"], np.int64)
    if sorted(place.tolist()) != list(range(len(words))):
        raise DataError("the values of a study have other places than words; the file is damaged")
    return ValueAxis(str(content["name"]), words, place, bool(content["is_ordered"]))
