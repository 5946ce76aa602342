"""Rules that make nodes leaves: on a validation set, by pessimism, or because no answer changes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.tree.cost_complexity import cut_prices
from engine.tree.prune import cut
from engine.tree.structure import Tree

# C4.5's table of confidence levels and the normal deviations above which they lie (Quinlan 1993, stats.c)
_CONFIDENCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.00)
_DEVIATIONS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.00)
_SLACK = 0.1  # errors by which a leaf may be worse than its branch (Quinlan 1993, prune.c)
_ROUNDING = 1e-12  # share by which the mean of rows may miss the equal means of their parts

Floats = NDArray[np.float64]


def reduced_error_prune(tree: Tree, X: NDArray[Any], y: Floats, w: Floats, *, loss: str) -> Tree:
    """Return the smallest of the prunings of `tree` that lose least on a validation set (Quinlan 1987).

    From the leaves up, a branch is cut where a leaf loses no more than the best pruning of the branch; the
    root may end as a leaf. Nodes that no validation row reaches are cut: nothing speaks for them.

    Parameters
    ----------
    X : float32 or float64 (n_samples, n_features)
        Encoded validation rows.
    y : float64 (n_samples,)
        Class index or number.
    w : float64 (n_samples,)
    loss : str
        See `engine.tree.cost_complexity.loss_of`.
    """
    as_leaf = cut_prices(tree, X, y, w, loss=loss)
    slack = 1e-12 * max(float(np.abs(as_leaf).max()), 1e-300)
    best, is_cut = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes, bool)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.is_leaf[node]:
            continue
        branch = float(best[tree.children(node)].sum())
        is_cut[node] = as_leaf[node] <= branch + slack
        best[node] = as_leaf[node] if is_cut[node] else branch
    return cut(tree, np.flatnonzero(is_cut))


def pessimistic_prune(tree: Tree, confidence: float = 0.25) -> Tree:
    """Return `tree` without branches that a leaf is expected to beat: C4.5's subtree replacement.

    Training errors E of N rows at a leaf are raised to the upper limit of their binomial proportion at
    `confidence` (Quinlan 1993, chapter 4); a branch is replaced where a leaf's raised errors are at most 0.1
    above the sum of its leaves'. Rows count by their weights; subtrees are not raised.

    Parameters
    ----------
    tree : Tree
        Of a classification.
    confidence : float
        0 < confidence < 1; a smaller one prunes more.
    """
    weight = tree.weighted_n_node_samples
    errors = weight * (1.0 - tree.value.max(axis=1))
    as_leaf = np.array([e + added_errors(n, e, confidence) for n, e in zip(weight, errors, strict=True)])
    expected, is_cut = as_leaf.copy(), np.zeros(tree.n_nodes, bool)
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.is_leaf[node]:
            continue
        branch = float(expected[tree.children(node)].sum())
        is_cut[node] = as_leaf[node] <= branch + _SLACK
        expected[node] = as_leaf[node] if is_cut[node] else branch
    return cut(tree, np.flatnonzero(is_cut))


def added_errors(n: float, errors: float, confidence: float) -> float:
    """Return by how much the upper limit of errors lies above those seen (Quinlan 1993, AddErrs of stats.c).

    >>> round(added_errors(6, 0, 0.25), 3), round(added_errors(16, 1, 0.25), 3)
    (1.238, 1.512)
    """
    if n <= 0:
        return 0.0
    without_errors = n * (1 - np.exp(np.log(confidence) / n))
    if errors < 1e-6:
        return float(without_errors)
    if errors < 0.9999:
        return float(without_errors + errors * (added_errors(n, 1.0, confidence) - without_errors))
    if errors + 0.5 >= n:
        return 0.67 * (n - errors)
    z2 = float(np.interp(confidence, _CONFIDENCES, _DEVIATIONS)) ** 2
    share = (errors + 0.5) / n
    limit = (errors + 0.5 + z2 / 2 + np.sqrt(z2 * ((errors + 0.5) * (1 - share) + z2 / 4))) / (n + z2)
    return float(n * limit - errors)


def merge_same_prediction_leaves(tree: Tree, *, is_classifier: bool) -> Tree:
    """Return `tree` without splits whose leaves all answer the same: the same class, or the same number.

    Shares of classes may differ between such leaves, so probabilities may change; predicted classes do not.
    Where leaves meet half way to keep to a column's direction, and the node itself would answer otherwise,
    the split stays.
    """
    own = np.argmax(tree.value, axis=1) if is_classifier else tree.value[:, 0]
    answers = own.copy()
    is_cut = np.zeros(tree.n_nodes, bool)
    ends = tree.is_leaf.copy()
    for node in range(tree.n_nodes - 1, -1, -1):
        if tree.is_leaf[node]:
            continue
        children = np.array(tree.children(node))
        answer = answers[children[0]]
        is_cut[node] = ends[node] = bool(
            ends[children].all()
            and np.all(answers[children] == answer)
            and abs(own[node] - answer) <= _ROUNDING * abs(answer)
        )
        if is_cut[node]:
            answers[node] = answer
    return cut(tree, np.flatnonzero(is_cut))
