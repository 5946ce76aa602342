"""What the meta-model reads: the base models' answers as columns, and the table's own on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.features import is_frame
from engine.other_learners import Rows

Floats = NDArray[np.float64]


def meta_names(names: Sequence[str], classes: NDArray[Any] | None) -> list[str]:
    """Return a name for every column that `meta_columns` makes: "SVM: yes", or "SVM" for numbers."""
    if classes is None:
        return list(names)
    shown = classes[1:] if len(classes) == 2 else classes
    return [f"{name}: {label}" for name in names for label in shown.tolist()]


def meta_columns(answers: Floats) -> Floats:
    """Return base models' answers side by side: float64 (n_rows, n_columns).

    Parameters
    ----------
    answers : float64 (n_rows, n_models, n_classes or 1)
        Of two classes the second's share stands for both: together they are 1.
    """
    shown = answers[:, :, 1:] if answers.shape[2] == 2 else answers
    return np.ascontiguousarray(shown.reshape(len(answers), -1))


def meta_rows(columns: Floats, names: Sequence[str], table: Rows | None) -> Rows:
    """Return the meta-model's rows: the base models' columns alone, or behind the table's own.

    Parameters
    ----------
    columns : float64 (n_rows, n_columns)
    names : sequence of str (n_columns,)
    table : Rows or None
        The table's own columns; a frame stays one.
    """
    if table is None:
        return Rows(columns, columns)
    encoded = np.ascontiguousarray(np.column_stack([table.encoded, columns]), np.float64)
    if not is_frame(table.given):
        return Rows(encoded, None if table.given is None else encoded)
    added = dict(zip(_free_names(names, table.given), columns.T, strict=True))
    return Rows(encoded, table.given.assign(**added))


def _free_names(names: Sequence[str], table: Any) -> list[str]:
    """Return names that no column of the table has."""
    taken = {str(name) for name in table.columns}
    free = []
    for name in names:
        unlike = name
        while unlike in taken:
            unlike += " "
        taken.add(unlike)
        free.append(unlike)
    return free


def base_weights(meta_model: Any, columns: Floats, n_models: int) -> Floats | None:
    """Return how much each base model counts in a linear meta-model: float64 (n_models,), adding up to 1.

    A column counts by its coefficient times its standard deviation, absolute, summed over its base model's
    columns and the classes. None where the meta-model has no coefficients of these columns.
    """
    coefficients = coefficients_of(meta_model, columns.shape[1])
    if coefficients is None:
        return None
    sizes = np.abs(coefficients).sum(axis=0) * columns.std(axis=0)
    by_model = np.asarray(sizes.reshape(n_models, -1).sum(axis=1))
    total = by_model.sum()
    return np.asarray(by_model / total) if total > 0 else None


def coefficients_of(meta_model: Any, n_columns: int) -> Floats | None:
    """Return a linear model's coefficients of its last `n_columns` columns: float64 (n_outputs, n_columns).

    They are of the columns as they are: where a pipeline scales them first, its scales are taken into
    account. None where the model is not linear in these columns.
    """
    model, spread = meta_model, None
    if hasattr(model, "pipeline_"):
        model = model.pipeline_
    if hasattr(model, "steps"):
        scaler = model.steps[0][1] if len(model.steps) > 1 else None
        spread = _spread_of(scaler)
        if len(model.steps) > 2 or (scaler is not None and spread is None):
            return None
        model = model.steps[-1][1]
    found = getattr(model, "coef_", None)
    if found is None:
        return None
    found = np.atleast_2d(np.asarray(found, np.float64))
    if spread is not None:
        if found.shape[1] != len(spread):
            return None  # a category or a gap made columns of its own
        found = found / spread
    return found[:, -n_columns:] if found.shape[1] >= n_columns else None


def _spread_of(scaler: Any) -> Floats | None:
    if hasattr(scaler, "spread_") and hasattr(scaler, "unit_"):
        return np.asarray(scaler.unit_ * scaler.spread_, np.float64)
    scale = getattr(scaler, "scale_", None)
    return None if scale is None else np.asarray(scale, np.float64)
