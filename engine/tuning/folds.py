"""Which rows are left out together: folds dealt by scikit-learn's splitters, or given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.multiclass import type_of_target

from engine.errors import DataError, ParameterError
from engine.folds import group_numbers

IN_NO_FOLD = -1


def fold_of_rows(
    folds: Any, y: Any, kept: NDArray[np.int64], groups: Any, seed: int, ask: Callable[[], object], *,
    is_classifier: bool,
) -> NDArray[np.int64]:  # fmt: skip
    """Return the fold of every row, counted from 0; `IN_NO_FOLD` for rows that are not `kept`.

    Parameters
    ----------
    folds : int, splitter or int (n_samples,)
        How many, a splitter of scikit-learn that leaves every row out once, or the fold of every row.
    y : ndarray (n_samples,)
    kept : int64 (n_kept,)
        Rows of positive weight; the others are not dealt (D10).
    groups : array-like (n_samples,) or None
        Rows of one group are never parted; one without (`engine.folds.group_numbers`) is a group of its own.
    ask : callable
        Called now and then: a million rows take a quarter of a second.

    Raises
    ------
    ParameterError
        `folds` is no number from 2 on, splitter or fold of every row.
    DataError
        The rows, groups or classes are too few for the folds.
    """
    found = np.full(len(y), IN_NO_FOLD, np.int64)
    of_kept = None if groups is None else group_numbers(groups, len(y))[kept]
    if hasattr(folds, "get_n_splits"):
        found[kept] = _by_splitter(folds, y[kept], of_kept, ask)
    elif isinstance(folds, (int, np.integer)) and not isinstance(folds, bool):
        ask()
        splitter = _splitter(int(folds), y[kept], of_kept, seed, is_classifier=is_classifier)
        found[kept] = _by_splitter(splitter, y[kept], of_kept, ask)
    else:
        found[kept] = _given(folds, len(y))[kept]
    names, found[kept] = np.unique(found[kept], return_inverse=True)
    if len(names) < 2:
        raise DataError("the rows are in fewer than two folds; cross-validation needs two at least")
    return found


def _splitter(n_folds: int, y: NDArray[Any], groups: Any, seed: int, *, is_classifier: bool) -> Any:
    if n_folds < 2:
        raise ParameterError(
            f"folds is {n_folds}; enter a whole number from 2, a splitter, or each row's fold"
        )
    is_stratified = is_classifier and _can_stratify(y, n_folds)
    how = {"n_splits": n_folds, "shuffle": True, "random_state": seed}
    if groups is not None:
        n_groups = len(np.unique(groups))
        if n_groups < n_folds:
            raise DataError(f"there are {n_groups} groups for {n_folds} folds; enter fewer folds")
        return StratifiedGroupKFold(**how) if is_stratified else GroupKFold(**how)
    if len(y) < n_folds:
        raise DataError(f"there are {len(y)} rows for {n_folds} folds; enter fewer folds")
    return StratifiedKFold(**how) if is_stratified else KFold(**how)


def _can_stratify(y: NDArray[Any], n_folds: int) -> bool:
    """Tell whether every class has a row for each fold: scikit-learn warns of fewer, and refuses none."""
    if type_of_target(y) not in ("binary", "multiclass"):
        return False
    return bool(np.unique(y, return_counts=True)[1].min() >= n_folds)


def _by_splitter(splitter: Any, y: NDArray[Any], groups: Any, ask: Callable[[], object]) -> NDArray[np.int64]:
    found, n_left_out = np.full(len(y), IN_NO_FOLD, np.int64), 0
    try:
        for fold, (_, test) in enumerate(splitter.split(np.zeros((len(y), 1)), y, groups)):
            found[test], n_left_out = fold, n_left_out + len(test)
            ask()
    except ValueError as error:
        raise DataError(f"the rows cannot be dealt into folds: {error}") from error
    if n_left_out != len(y) or np.any(found == IN_NO_FOLD):
        raise ParameterError(f"folds is {splitter!r}; enter a splitter that leaves every row out once")
    return found


def _given(folds: Any, n_samples: int) -> NDArray[np.int64]:
    given = np.asarray(folds)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        raise ParameterError(
            f"folds is {folds!r}; enter how many, a splitter, or the number of every row's fold"
        )
    if len(given) != n_samples:
        raise DataError(f"folds has {len(given)} entries and X {n_samples} rows; give one entry a row")
    return given.astype(np.int64)
