"""When two questions are the same but for chance, and where two trees differ."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base import check_X
from engine.errors import DataError
from engine.tree.node_rows import children_of, children_of_question
from engine.tree.structure import IS_MISSING, LEVEL_SET, MULTIWAY, Tree

MOVED_SHARE = 0.1
"""Of a node's rows with a value: up to so many may take another branch for two questions to be the same."""

SAME, MOVED, OTHER, ENDS, BELOW = "same", "moved", "other column", "ends", "below"
"""SAME: the same question, or a leaf in both. MOVED: the same column, divided elsewhere. OTHER: another
column. ENDS: a leaf in one of the trees alone. BELOW: below a difference, with no counterpart."""

NOBODY = -1  # child of levels that a question does not list


class Question(NamedTuple):
    """What a node asks, or could: `levels` as in `Tree.levels`."""

    feature: int
    kind: int
    threshold: float
    levels: NDArray[np.int32]

    @classmethod
    def of(cls, tree: Tree, node: int) -> Question:
        """Return the question of an inner node."""
        return cls(
            int(tree.feature[node]), int(tree.kind[node]), float(tree.threshold[node]), tree.levels(node)
        )

    def children(self, x: NDArray[Any]) -> NDArray[np.int64]:
        """Return the child that each value takes; NOBODY for levels that are not listed."""
        return children_of_question(self.kind, self.threshold, self.levels, x, NOBODY, NOBODY)


class Likeness(NamedTuple):
    """How far two questions agree.

    Attributes
    ----------
    is_same : bool
    is_swapped : bool
        The first branch of one is the second of the other.
    """

    is_same: bool
    is_swapped: bool = False


def likeness(one: Question, other: Question, x: NDArray[Any]) -> Likeness:
    """Compare two questions about one column by the rows of a node.

    They are the same where at most `MOVED_SHARE` of the rows that have a value, of a level that both list,
    take another branch. For parts of levels it is no matter which of the two branches is the first.
    Questions with a branch for each level are the same, and so are those for missing values.

    Parameters
    ----------
    x : float (n_rows,)
        The column at the node's rows.
    """
    if one.kind != other.kind or one.feature != other.feature:
        return Likeness(False)
    if one.kind in (MULTIWAY, IS_MISSING):
        return Likeness(True)
    present = x[~np.isnan(x)]
    ours, theirs = one.children(present), other.children(present)
    is_known = (ours != NOBODY) & (theirs != NOBODY)
    n_known, n_moved = np.count_nonzero(is_known), np.count_nonzero((ours != theirs) & is_known)
    most = int(MOVED_SHARE * n_known)
    if one.kind == LEVEL_SET and 2 * n_moved > n_known:
        return Likeness(bool(n_known - n_moved <= most), True)
    return Likeness(bool(n_moved <= most))


def band(threshold: float, x: NDArray[Any]) -> tuple[float, float]:
    """Return between which thresholds the question is the same: from the first, below the second.

    Both are values of the column at the node's rows `x`; NaN where no row has one.
    """
    values = np.sort(x[~np.isnan(x)])
    if not len(values):
        return float("nan"), float("nan")
    n_first, most = int(np.searchsorted(values, threshold, side="right")), int(MOVED_SHARE * len(values))
    lower, upper = max(n_first - most - 1, 0), min(n_first + most, len(values) - 1)
    return float(values[lower]), float(values[upper])


def differences(first: Any, second: Any, X: Any) -> tuple[dict[int, str], dict[int, str]]:
    """Say of every node of two fitted trees whether the other tree has it too.

    The trees are followed down side by side from the root, as long as both ask about the same column. Where
    a part of the levels is the same but for the order of the branches, these are followed crosswise.

    Parameters
    ----------
    first, second : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted on tables with the same columns.
    X : DataFrame or array-like (n_samples, n_features)
        By its rows questions are compared, at each node by those that reach it in the first tree.

    Returns
    -------
    two dicts of int to str
        SAME, MOVED, OTHER, ENDS or BELOW by node, of the first and of the second tree.

    Raises
    ------
    DataError
        The trees read other columns, or other levels.
    """
    if first.features_ != second.features_:
        raise DataError("the two trees read other columns or levels; compare trees of one table")
    encoded = check_X(first, X)
    pair = _Pair(first.tree_, second.tree_, encoded)
    pair.compare()
    return pair.of_first, pair.of_second


class _Pair:
    """Two trees side by side."""

    def __init__(self, first: Tree, second: Tree, X: NDArray[Any]) -> None:
        self._first, self._second, self._X = first, second, X
        self.of_first, self.of_second = dict[int, str](), dict[int, str]()

    def compare(self) -> None:
        waiting = [(0, 0, np.arange(len(self._X)))]
        while waiting:
            one, other, rows = waiting.pop()
            mark, is_swapped = self._mark(one, other, rows)
            self.of_first[one] = self.of_second[other] = mark
            if mark not in (SAME, MOVED):
                self._leave(one, other)
            elif self._first.n_children[one]:
                waiting += self._below(one, other, rows, is_swapped)

    def _mark(self, one: int, other: int, rows: NDArray[np.int64]) -> tuple[str, bool]:
        is_leaf = self._first.n_children[one] == 0, self._second.n_children[other] == 0
        if any(is_leaf):
            return SAME if all(is_leaf) else ENDS, False
        ours, theirs = Question.of(self._first, one), Question.of(self._second, other)
        if ours.feature != theirs.feature or ours.kind != theirs.kind:
            return OTHER, False
        found = likeness(ours, theirs, self._X[rows, ours.feature].astype(np.float64))
        return SAME if found.is_same else MOVED, found.is_swapped

    def _below(
        self, one: int, other: int, rows: NDArray[np.int64], is_swapped: bool
    ) -> list[tuple[int, int, NDArray[np.int64]]]:
        """Return the pairs of children with their rows; children that only one tree has are left out here."""
        child_of = children_of(self._first, one, self._X[rows, self._first.feature[one]])
        at_first, at_second = int(self._first.first_child[one]), int(self._second.first_child[other])
        partner = self._partners(one, other, is_swapped)
        for k in self._first.children(one):
            if k - at_first not in partner:
                self._leave_one(self._first, k, self.of_first, ENDS)
        for k in self._second.children(other):
            if k - at_second not in partner.values():
                self._leave_one(self._second, k, self.of_second, ENDS)
        return [(at_first + k, at_second + p, rows[child_of == k]) for k, p in partner.items()]

    def _partners(self, one: int, other: int, is_swapped: bool) -> dict[int, int]:
        """Return the second tree's child for each of the first's; by level where each has its own."""
        if self._first.kind[one] != MULTIWAY:
            return {0: 1, 1: 0} if is_swapped else {0: 0, 1: 1}
        ours, theirs = dict(self._first.levels(one).tolist()), dict(self._second.levels(other).tolist())
        return {child: theirs[level] for level, child in ours.items() if level in theirs}

    def _leave(self, one: int, other: int) -> None:
        """Mark all below two nodes that differ."""
        for tree, node, marks in ((self._first, one, self.of_first), (self._second, other, self.of_second)):
            self._leave_one(tree, node, marks, marks[node])

    @staticmethod
    def _leave_one(tree: Tree, node: int, marks: dict[int, str], mark: str) -> None:
        marks.update(dict.fromkeys(tree.walk(node), BELOW))
        marks[node] = mark
