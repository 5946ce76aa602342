"""How far fits lie apart over two columns, in a project file: words as JSON, what fits say as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.figures.surface import Points
from workbench.figures.surface_inputs import TRAINING
from workbench.fit_basis import basis_from_json
from workbench.project.format import number, plain
from workbench.project.many_fits import axis_from_json, axis_to_json, settings_from_json, settings_to_json
from workbench.variance_surface import VarianceSurfaceFound

TEXTS = ("name", "quantity", "deviation_name", "held_text", "rows_text", "table_fingerprint")
ANSWERS = ("answers", "mean", "deviation", "truth")
POINTS = ("rows", "x", "y", "codes", "values")
DAMAGED = "fits over two columns have other answers than cells; the file is damaged"


def surface_to_json(found: VarianceSurfaceFound) -> dict[str, Any]:
    """Return all but the arrays."""
    names = (*TEXTS, "classes", "event_idx", "is_date", "n_failed", "stopped", "seconds", "basis")
    written: dict[str, Any] = plain({name: getattr(found, name) for name in names})
    axes = {"x": axis_to_json(found.x), "y": axis_to_json(found.y)}
    return {**written, "axes": axes, "settings": settings_to_json(found.settings)}


def surface_arrays(found: VarianceSurfaceFound, include_rows: bool = True) -> dict[str, NDArray[Any]]:
    """Return what the fits say, both axes and, with the rows, the points."""
    arrays = {name: getattr(found, name) for name in ANSWERS}
    axes = {"x": found.x, "y": found.y}
    arrays |= {f"{name}_{of}": getattr(axis, of) for name, axis in axes.items() for of in ("values", "edges")}
    n_points = len(found.points.rows) if include_rows else 0
    return {**arrays, **{f"point_{name}": getattr(found.points, name)[:n_points] for name in POINTS}}


def surface_from_json(content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> VarianceSurfaceFound:
    """Return what `surface_to_json` and `surface_arrays` wrote.

    Raises
    ------
    DataError
        It does not hold together; the file is damaged.
    """
    x, y = (
        axis_from_json(content["axes"][name], arrays[f"{name}_values"], arrays[f"{name}_edges"])
        for name in ("x", "y")
    )
    answers, mean, deviation, truth = (arrays[name].astype(np.float64) for name in ANSWERS)
    shape = (len(x.values) * len(y.values),)
    if (
        answers.ndim != 2
        or not len(answers)
        or any(of.shape != shape for of in (answers[0], mean, deviation))
    ):
        raise DataError(DAMAGED)
    if truth.shape not in ((0,), shape):
        raise DataError(DAMAGED)
    classes, event = tuple(map(str, content["classes"])), content["event_idx"]
    return VarianceSurfaceFound(
        settings_from_json(content["settings"]), x=x, y=y, answers=answers, mean=mean, deviation=deviation,
        truth=truth, points=_points(arrays, len(classes)), classes=classes,
        event_idx=None if event is None else int(event), is_date=bool(content["is_date"]),
        n_failed=int(content["n_failed"]), stopped=bool(content["stopped"]),
        seconds=number(content["seconds"]), basis=basis_from_json(content.get("basis")),
        **{name: str(content[name]) for name in TEXTS},
    )  # fmt: skip


def _points(arrays: Mapping[str, NDArray[Any]], n_classes: int) -> Points:
    rows, codes = (arrays[f"point_{name}"] for name in ("rows", "codes"))
    x, y, values = (arrays[f"point_{name}"].astype(np.float64) for name in ("x", "y", "values"))
    if rows.ndim != 1 or any(part.shape != rows.shape for part in (x, y, codes, values)):
        raise DataError("fits over two columns have points without a place; the file is damaged")
    if ((codes < -1) | (codes >= n_classes)).any():
        raise DataError("fits over two columns have points of no class; the file is damaged")
    parts = np.full(len(rows), TRAINING, np.uint8)
    return Points(
        rows.astype(np.int64), x, y, codes.astype(np.int32), values, parts, np.zeros(len(rows), bool)
    )
