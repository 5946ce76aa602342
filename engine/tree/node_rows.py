"""The rows of a node: which they are, which child each takes, and the numbers that describe them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from engine.base import TrainingData
from engine.tree.growth_rules import CRITERIA
from engine.tree.kernels.deviation import HALF_SLACK
from engine.tree.kernels.impurity import node_impurity
from engine.tree.structure import IS_MISSING, THRESHOLD, Path, Tree

Rows = NDArray[np.int64]
Children = NDArray[np.int64]
Description = tuple[NDArray[np.float64], float, int, float]
"""Value (n_outputs,), impurity, rows and weight of a node."""


def rows_at(tree: Tree, path: Path, X: NDArray[Any]) -> Rows:
    """Return the rows of an encoded table that reach the node at `path`, ascending."""
    tree.node_at(path)  # there is one
    rows, node = np.arange(len(X)), 0
    for child in path:
        rows = rows[children_of(tree, node, X[rows, tree.feature[node]]) == child]
        node = int(tree.first_child[node]) + child
    return rows


def rows_by_node(tree: Tree, X: NDArray[Any]) -> list[Rows]:
    """Return the rows of an encoded table that reach each node, ascending."""
    found = [np.empty(0, np.int64)] * tree.n_nodes
    found[0] = np.arange(len(X))
    for node in np.flatnonzero(~tree.is_leaf).tolist():  # parents come before children
        rows = found[node]
        child = children_of(tree, node, X[rows, tree.feature[node]])
        for k, below in enumerate(tree.children(node)):
            found[below] = rows[child == k]
    return found


def children_of(tree: Tree, node: int, x: NDArray[Any]) -> Children:
    """Return the child that each value takes at an inner node; see `engine.kernels.routing`."""
    kind, threshold, levels = int(tree.kind[node]), float(tree.threshold[node]), tree.levels(node)
    return children_of_question(
        kind, threshold, levels, x, int(tree.missing_child[node]), int(tree.unseen_child[node])
    )


def children_of_question(
    kind: int, threshold: float, levels: NDArray[Any], x: NDArray[Any], missing_child: int, unseen_child: int
) -> Children:
    """Return the child that each value takes, NaN being missing; `levels` as in `Tree.levels`."""
    x = x.astype(np.float64)
    missing = np.isnan(x)
    if kind == IS_MISSING:
        return np.where(missing, 0, 1)
    if kind == THRESHOLD:
        sides = (x > threshold).astype(np.int64)
    else:
        codes, children = levels.T
        at = np.minimum(np.searchsorted(codes, x), len(codes) - 1)
        sides = np.where(codes[at] == x, children[at], unseen_child).astype(np.int64)
    return np.where(missing, missing_child, sides)


def take_rows(data: TrainingData, rows: Rows) -> TrainingData:
    """Return the training data of some rows alone."""
    return replace(
        data, X=data.X[rows], y=data.y[rows], sample_weight=data.sample_weight[rows], rows=data.rows[rows]
    )


def describe(data: TrainingData, criterion: str, rows: Rows) -> Description:
    """Return value, impurity, rows and weight of a node that holds `rows`, at least one."""
    y, w = data.y[rows], data.sample_weight[rows]
    weight, is_pure = float(w.sum()), bool(np.all(y == y[0]))
    if data.classes is not None:
        sums = np.bincount(y.astype(np.int64), weights=w, minlength=data.n_classes)
        value = sums / sums.sum()
        impurity = float(node_impurity(CRITERIA[criterion], value))
        return value, 0.0 if is_pure else impurity, len(rows), weight
    if is_pure:
        return np.array([float(y[0])]), 0.0, len(rows), weight
    value, impurity = describe_numbers(criterion, y, w)
    return np.array([value]), impurity, len(rows), weight


def describe_numbers(criterion: str, y: NDArray[np.float64], w: NDArray[np.float64]) -> tuple[float, float]:
    """Return a regression node's value, its mean or median, and impurity from its rows."""
    if criterion == "absolute_error":
        median = weighted_median(y, w)
        return median, float(np.average(np.abs(y - median), weights=w))
    mean = float(np.average(y, weights=w))
    losses = (y - mean) ** 2
    if criterion == "poisson":
        losses = 2 * (xlogy(y, y / mean) - y + mean)
    return mean, max(float(np.average(losses, weights=w)), 0.0)  # deviances of alike targets may round below


def weighted_median(y: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    """Return the median as growing does; see `engine.tree.kernels.deviation`."""
    by_target = np.argsort(y, kind="stable")
    values, below = y[by_target], np.cumsum(w[by_target])
    half, slack = 0.5 * below[-1], HALF_SLACK * below[-1]
    at = min(int(np.searchsorted(below, half - slack)), len(y) - 1)
    if at < len(y) - 1 and below[at] <= half + slack:
        return float(values[at] + 0.5 * (values[at + 1] - values[at]))
    return float(values[at])
