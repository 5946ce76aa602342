"""Dealing rows into folds: plain, stratified by class, or by whole groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError, ParameterError
from engine.missing import is_missing


def deal_folds(
    y: NDArray[np.float64], n_folds: int, kind: str, seed: np.random.SeedSequence, groups: Any = None
) -> NDArray[np.int64]:
    """Return a fold for every row: int64 (n_rows,), each from 0 to `n_folds` - 1 at least once.

    Parameters
    ----------
    y : float64 (n_rows,)
        Class numbers, by which "stratified" deals.
    n_folds : int
    kind : "stratified", "plain" or "grouped"
        stratified: rows in random order, sorted by class, are dealt out in turn, so each class is spread as
        evenly as it can be, however rare. plain: without looking at `y`. grouped: rows of equal `groups` are
        in the same fold, the largest groups are dealt first, each to the smallest fold; a row without a group
        (`group_numbers`) is dealt alone.
    seed : SeedSequence
    groups : array-like (n_rows,), optional

    Raises
    ------
    DataError
        There are fewer rows, or groups, than folds.
    ParameterError
        "grouped" without groups.
    """
    rng = np.random.default_rng(seed)
    if kind == "grouped":
        if groups is None:
            raise ParameterError("folds is 'grouped' but fit was given no groups; pass groups, one a row")
        return _deal_groups(group_numbers(groups, len(y)), n_folds, rng)
    if len(y) < n_folds:
        raise DataError(
            f"there are n_samples={len(y)} rows for {n_folds} folds; give more rows, or set cv to fewer folds"
        )
    order = shuffled_by_target(y, rng) if kind == "stratified" else rng.permutation(len(y))
    return dealt_in_turn(order, n_folds)


def shuffled_by_target(y: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return row numbers in ascending order of `y`, those of equal `y` in random order: int64 (n_rows,)."""
    order = rng.permutation(len(y))
    return order[np.argsort(y[order], kind="stable")]


def dealt_in_turn(order: NDArray[np.int64], n_folds: int) -> NDArray[np.int64]:
    """Return a fold for every row, the rows of `order` being dealt out one after the other."""
    fold_of = np.empty(len(order), np.int64)
    fold_of[order] = np.arange(len(order)) % n_folds
    return fold_of


def group_numbers(groups: Any, n_rows: int) -> NDArray[np.int64]:
    """Number groups from 0 in the order of their first rows: int64 (n_rows,).

    A row without a group, whose label is missing or a whole number below 0, is a group of its own, as in
    `engine.split`. The order makes it no matter which labels or codes name the groups.

    Raises
    ------
    DataError
        There is not one label a row.
    """
    if len(groups) != n_rows:
        raise DataError(f"there are {n_rows} rows but {len(groups)} groups; pass one a row")
    labels = np.asarray(groups)
    is_alone = _is_without_group(labels)
    codes = np.empty(n_rows, np.int64)
    codes[~is_alone] = np.unique(labels[~is_alone], return_inverse=True)[1]
    codes = with_rows_alone(codes, is_alone)
    _, first, number = np.unique(codes, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[number])


def with_rows_alone(codes: NDArray[np.int64], is_alone: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return group codes with one of their own, above all others, for rows that are in no group."""
    codes = codes.copy()
    codes[is_alone] = codes[~is_alone].max(initial=-1) + 1 + np.arange(np.count_nonzero(is_alone))
    return codes


def _is_without_group(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind in "iu":
        return np.asarray(labels < 0)
    return np.fromiter((is_missing(label) for label in labels.tolist()), bool, len(labels))


def _deal_groups(groups: NDArray[np.int64], n_folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    n_rows = np.bincount(groups)
    if len(n_rows) < n_folds:
        raise DataError(
            f"there are {len(n_rows)} groups for {n_folds} folds; give rows of more groups, or set cv to "
            "fewer folds"
        )
    shuffled = rng.permutation(len(n_rows))
    fold_of_group, n_in_fold = np.empty(len(n_rows), np.int64), np.zeros(n_folds, np.int64)
    for group in shuffled[np.argsort(-n_rows[shuffled], kind="stable")]:
        fold = int(np.argmin(n_in_fold))
        fold_of_group[group] = fold
        n_in_fold[fold] += n_rows[group]
    return np.asarray(fold_of_group[groups])
