"""Are the parts of a model that was read from a file whole? Compiled code of scikit-learn does not look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.classical.columns import PreparedColumns
from engine.classical.neighbors import Voters
from engine.export.model_check import require
from engine.features import FeatureSpec


def check_fitted_parts(pipeline: Any, features: Sequence[FeatureSpec]) -> None:
    """Check the steps of a pipeline.

    Raises
    ------
    DataError
        A step does not fit the columns, or its own parts do not fit together.
    """
    width = len(features)
    for _, step in pipeline.steps[:-1]:
        width = _check_columns(step, features)
    model = pipeline.steps[-1][1]
    if isinstance(model, Voters):
        _check_voters(model, width)


def _check_columns(step: Any, features: Sequence[FeatureSpec]) -> int:
    """Return how many columns a checked step makes."""
    n_levels = [len(spec.levels or ()) for spec in features]
    require(isinstance(step, PreparedColumns) and list(step.n_levels) == n_levels, "its columns differ")
    for name in ("unit_", "low_", "centre_", "spread_"):
        _require_numbers(getattr(step, name), (len(features),), name)
    gaps = step.has_gaps_
    require(isinstance(gaps, np.ndarray) and gaps.dtype == bool and len(gaps) == len(features), "no gaps")
    return sum(n or 1 for n in n_levels) + int(gaps.sum())


def _check_voters(model: Voters, width: int) -> None:
    n_rows = len(model.rows_)
    _require_numbers(model.rows_, (n_rows, width), "rows_")
    _require_numbers(model.counts_, (n_rows,), "counts_")
    require(model.answers_.ndim == 2, "its answers are no table")
    _require_numbers(model.answers_, (n_rows, model.answers_.shape[1]), "answers_")


def _require_numbers(array: Any, shape: tuple[int, ...], name: str) -> None:
    is_whole = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
    require(is_whole and not np.isnan(array).any(), f"its {name} is missing or no number")
