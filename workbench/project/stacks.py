"""What a stack keeps of its training rows, as arrays: out-of-fold answers, folds, and who saw which row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError

Arrays = dict[str, NDArray[Any]]
PREFIX = "stack_"


def stack_arrays(estimator: Any) -> Arrays:
    """Return a stack's arrays by name; none of a model that is no stack."""
    if not hasattr(estimator, "oof_repeats_"):
        return {}
    fits, n_rows = estimator.fold_rows_, len(estimator.oof_fold_)
    return {
        "stack_repeats": estimator.oof_repeats_,
        "stack_fold": estimator.oof_fold_,
        "stack_fits": np.array([fit[:3] for fit in fits], np.int64).reshape(-1, 3),
        "stack_seen": _as_bits([fit.rows for fit in fits], n_rows),
        "stack_asked": _as_bits([fit.asked for fit in fits], n_rows),
    }


def give_back(estimator: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Set on a stack that was read from a file what `stack_arrays` returned; pass over other models.

    Raises
    ------
    DataError
        The arrays do not fit the stack or one another.
    """
    if not any(name.startswith(PREFIX) for name in arrays):
        return
    from engine.stacking.out_of_fold import FoldFit

    repeats, folds, fits = (arrays[f"stack_{name}"] for name in ("repeats", "fold", "fits"))
    n_outputs = len(getattr(estimator, "classes_", (0,)))
    n_rows = folds.shape[0] if folds.ndim == 2 else -1
    is_whole = (
        repeats.dtype == np.float64
        and repeats.ndim == 4
        and repeats.shape[:2] == folds.shape[::-1]
        and repeats.shape[3] == n_outputs
        and folds.dtype == fits.dtype == np.int64
        and fits.ndim == 2
        and fits.shape[1] == 3
        and bool((fits[:, :2] >= 0).all() and (fits[:, :2] < (repeats.shape[2], repeats.shape[0])).all())
    )
    if not is_whole or not hasattr(estimator, "oof_scores_"):
        raise DataError("a stack's out-of-fold answers are damaged; open a copy, or another file")
    seen, asked = (_from_bits(arrays[f"stack_{name}"], len(fits), n_rows) for name in ("seen", "asked"))
    estimator.oof_repeats_, estimator.oof_fold_ = repeats, folds
    estimator.oof_predictions_ = repeats.mean(axis=0)
    estimator.fold_rows_ = tuple(
        FoldFit(member, repeat, fold, rows, outside, {})
        for (member, repeat, fold), rows, outside in zip(fits.tolist(), seen, asked, strict=True)
    )


def _as_bits(rows: list[NDArray[np.int64]], n_rows: int) -> NDArray[np.uint8]:
    marks = np.zeros((len(rows), n_rows), bool)
    for at, chosen in enumerate(rows):
        marks[at, chosen] = True
    return np.packbits(marks, axis=1)


def _from_bits(bits: NDArray[Any], n_fits: int, n_rows: int) -> list[NDArray[np.int64]]:
    if bits.dtype != np.uint8 or bits.shape != (n_fits, -(-n_rows // 8)):
        raise DataError("a stack's folds are damaged; open a copy, or another file")
    return [np.flatnonzero(np.unpackbits(line, count=n_rows)) for line in bits]
