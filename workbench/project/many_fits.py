"""Many fits along a column in a project file: settings and words as JSON, curves as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.figures.axis import Axis
from workbench.fit_basis import basis_from_json
from workbench.many_fits import ManyFitsFound, ManyFitsSettings
from workbench.project.format import number, plain
from workbench.training_sets import FEWEST_SETS, MOST_SETS, TITLES

CURVES_MEMBER = "studies/many_fits.npz"
WORDS = (
    "name", "quantity", "held_text", "rows_text", "n_failed", "stopped", "table_fingerprint", "is_classes",
    "seconds", "basis",
)  # fmt: skip
ARRAYS = ("curves", "truth", "points_x", "points_y")


def settings_to_json(settings: ManyFitsSettings) -> dict[str, Any]:
    """Return along what fits are drawn, and how their training sets are."""
    written: dict[str, Any] = plain(vars(settings))
    return written


def settings_from_json(content: Mapping[str, Any]) -> ManyFitsSettings:
    """Return what `settings_to_json` wrote.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    found = ManyFitsSettings(
        str(content["column"]), str(content["label"]), str(content["how"]), int(content["n_sets"]),
        int(content["seed"]), str(content.get("second_column", "")),  # not in older files
    )  # fmt: skip
    if found.how not in TITLES or not FEWEST_SETS <= found.n_sets <= MOST_SETS or found.seed < 0:
        raise DataError("fits along a column have settings that there are not; the file is damaged")
    return found


def axis_to_json(axis: Axis) -> dict[str, Any]:
    """Return all of an axis but its numbers."""
    written: dict[str, Any] = plain(
        {name: getattr(axis, name) for name in ("name", "feature", "labels", "is_date")}
    )
    return written


def axis_from_json(content: Mapping[str, Any], values: NDArray[Any], edges: NDArray[Any]) -> Axis:
    """Return what `axis_to_json` wrote, with its numbers.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    labels, n_cells = tuple(map(str, content["labels"])), len(values)
    if values.ndim != 1 or edges.shape != (n_cells + 1,) or len(labels) not in (0, n_cells):
        raise DataError("fits have other names or edges than cells; the file is damaged")
    return Axis(
        str(content["name"]), int(content["feature"]), values.astype(np.float64), edges.astype(np.float64),
        labels, bool(content["is_date"]),
    )  # fmt: skip


def found_to_json(found: ManyFitsFound) -> dict[str, Any]:
    """Return all but the arrays."""
    words: dict[str, Any] = plain({name: getattr(found, name) for name in WORDS})
    return {**words, "axis": axis_to_json(found.x), "settings": settings_to_json(found.settings)}


def curve_arrays(found: ManyFitsFound, include_rows: bool = True) -> dict[str, NDArray[np.float64]]:
    """Return the curves, the truth, the axis and, with the rows, the points."""
    arrays = {name: getattr(found, name) for name in ARRAYS}
    if not include_rows:
        arrays |= {name: np.empty(0) for name in ("points_x", "points_y")}
    return {**arrays, "values": found.x.values, "edges": found.x.edges}


def found_from_json(content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> ManyFitsFound:
    """Return what `found_to_json` and `curve_arrays` wrote.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    curves, truth, points_x, points_y = (arrays[name].astype(np.float64) for name in ARRAYS)
    values, edges = arrays["values"], arrays["edges"]
    x = axis_from_json(content["axis"], values, edges)
    is_sound = curves.ndim == 2 and curves.shape[1:] == values.shape and len(truth) in (0, len(values))
    if not is_sound or points_x.shape != points_y.shape:
        raise DataError("fits along a column have other curves than cells; the file is damaged")
    texts = {name: str(content[name]) for name in ("held_text", "rows_text", "table_fingerprint")}
    return ManyFitsFound(
        settings_from_json(content["settings"]), str(content["name"]), str(content["quantity"]), x, curves,
        truth, points_x, points_y, n_failed=int(content["n_failed"]), stopped=bool(content["stopped"]),
        is_classes=bool(content["is_classes"]), seconds=number(content["seconds"]),
        basis=basis_from_json(content.get("basis")), **texts,
    )  # fmt: skip
