"""A question forced by hand that has one branch a level, as ID3 and C4.5 ask them."""

from __future__ import annotations

import numpy as np

from engine.base import TrainingData
from engine.errors import DataError, ParameterError
from engine.tree.kernels.layout import TIE_SHARE
from engine.tree.node_rows import Children, Rows, describe
from engine.tree.question import split_tree
from engine.tree.structure import MULTIWAY, Tree


def tree_of_levels(
    data: TrainingData, criterion: str, rows: Rows, column: int, *, has_own_branch: bool
) -> Tree:
    """Return a tree of one question, which has a branch for every level that training saw.

    Parameters
    ----------
    rows : int64 (n_rows,)
        Of the node.
    has_own_branch : bool
        Missing is a level of its own, if any training row misses the column.

    Raises
    ------
    DataError
        All rows would take one branch.
    ParameterError
        The column holds numbers.
    """
    spec, x = data.features[column], data.X[rows, column].astype(np.float64)
    if spec.levels is None:
        raise ParameterError(f"column {spec.name!r} holds numbers, which have no levels; give a threshold")
    everywhere = data.X[:, column].astype(np.float64)
    levels, misses = np.unique(everywhere[~np.isnan(everywhere)]), np.isnan(x)
    has_own_branch = has_own_branch and bool(np.isnan(everywhere).any())
    children = np.where(misses, len(levels), np.searchsorted(levels, np.where(misses, 0.0, x)))
    known = children if has_own_branch else children[~misses]
    if len(np.unique(known)) < 2:
        raise DataError(
            f"the rows of this node have one level of {spec.name!r}; choose a question that divides them"
        )
    missing_child = (
        len(levels) if has_own_branch else _branch_of_missing(data, criterion, rows, children, misses)
    )
    children = np.where(misses, missing_child, children)
    weights = np.bincount(children, weights=data.sample_weight[rows], minlength=len(levels) + has_own_branch)
    question = {
        "feature": column,
        "kind": MULTIWAY,
        "threshold": np.nan,
        "n_missing": int(misses.sum()),
        "n_children": len(levels) + has_own_branch,
        "unseen_child": int(np.argmax(weights)) if has_own_branch else missing_child,
    }
    entries = np.column_stack([levels.astype(np.int64), np.arange(len(levels))])
    return split_tree(data, criterion, rows, children, missing_child, question, entries)


def _branch_of_missing(
    data: TrainingData, criterion: str, rows: Rows, children: Children, misses: np.ndarray
) -> int:
    """Return the branch where missing values help most, the first on a tie; without any the largest."""
    known = children[~misses]
    if not misses.any():
        return int(np.argmax(np.bincount(known, weights=data.sample_weight[rows])))
    own = describe(data, criterion, rows)
    branches = np.unique(known)

    def total(inside: Rows) -> float:
        _value, impurity, _n_rows, weight = describe(data, criterion, inside)
        return impurity * weight

    added = [
        total(rows[(children == k) | misses]) - total(rows[children == k]) for k in branches
    ]  # fmt: skip
    is_best = np.array(added) <= min(added) + TIE_SHARE * own[1] * own[3]
    return int(branches[np.flatnonzero(is_best)[0]])
