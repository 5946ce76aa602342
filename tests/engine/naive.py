"""Slow twins of the tree kernels: every split tried, every row walked, sums by numpy."""

import itertools

import numpy as np
from scipy.special import xlogy

from engine.tree.structure import IS_MISSING, LEAF, THRESHOLD


def impurity(criterion, y, w, n_classes):
    """H of algorithms.md section 1 for rows with target (or class index) y and weights w."""
    if criterion == "squared_error":
        mean = np.average(y, weights=w)
        return np.average((y - mean) ** 2, weights=w)
    if criterion == "poisson":
        mean = np.average(y, weights=w)
        return np.average(2 * (xlogy(y, y / mean) - y + mean), weights=w) if mean > 0 else 0.0
    if criterion == "absolute_error":
        return np.average(np.abs(y - weighted_median(y, w)), weights=w)
    p = np.bincount(y.astype(int), weights=w, minlength=n_classes) / w.sum()
    if criterion == "gini":
        return float((p * (1 - p)).sum())
    if criterion == "misclassification":
        return float(1 - p.max())
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())


def weighted_median(y, w):
    """Half of the weight lies on either side; between two targets where it does so exactly."""
    total, distinct = w.sum(), np.unique(y)
    low = next(v for v in distinct if w[y <= v].sum() >= total / 2 * (1 - 1e-12))
    high = next(v for v in distinct[::-1] if w[y >= v].sum() >= total / 2 * (1 - 1e-12))
    return (low + high) / 2


def answer(criterion, y, w):
    """What a regression leaf with these rows answers."""
    return weighted_median(y, w) if criterion == "absolute_error" else np.average(y, weights=w)


def losses(name, answers, y, least_rate=0.0):
    """What answers (n_rows, n_outputs) cost: a wrong class 1, or the criterion's own loss."""
    if name == "misclassification":
        return (np.argmax(answers, axis=1) != y) * 1.0
    told = answers[:, 0]
    if name == "poisson":
        told = np.maximum(told, least_rate)
        return 2 * (xlogy(y, y / told) - y + told)
    return abs(told - y) if name == "absolute_error" else (told - y) ** 2


def gain(criterion, goes_left, y, w, n_classes):
    """The node's impurity less its children's weighted mean."""
    total = impurity(criterion, y, w, n_classes)
    for side in (goes_left, ~goes_left):
        total -= w[side].sum() / w.sum() * impurity(criterion, y[side], w[side], n_classes)
    return total


def sides_of_number(x, w=None, missing_is="learned"):
    """Every way to divide rows by a threshold, and by "is missing".

    Missing values are on either side; as a level of their own they go with the larger one.
    """
    missing, distinct = np.isnan(x), np.unique(x[~np.isnan(x)])
    w = np.ones(len(x)) if w is None else w
    for lower in distinct[:-1]:
        takes_first = w[x <= lower].sum() >= w[x > lower].sum()
        if not missing.any() or missing_is == "learned" or not takes_first:
            yield (x <= lower) & ~missing
        if missing.any() and (missing_is == "learned" or takes_first):
            yield (x <= lower) | missing
    if missing.any() and len(distinct):
        yield missing


def sides_of_levels(x):
    """Every way to divide rows by their levels; missing is one more level."""
    codes = np.where(np.isnan(x), -1, x)
    _, *others = np.unique(codes)
    for size in range(1, len(others) + 1):
        for chosen in itertools.combinations(others, size):
            yield np.isin(codes, chosen)


def keeps_direction(criterion, sign, goes_left, values, w, bounds, slack=1e-9):
    """Whether the two sides' answers are in order (1: rising, -1: falling) and inside the node's bounds."""
    low, high = (answer(criterion, values[side], w[side]) for side in (goes_left, ~goes_left))
    if sign < 0:
        low, high = high, low
    return low <= high + slack and low >= bounds[0] - slack and high <= bounds[1] + slack


def best_gain(X, y, w, is_level, criterion, n_classes, min_samples_leaf=1, keeps=None, missing_is="learned"):
    """The largest gain of all allowed splits of these rows, or None if there is none.

    keeps(feature, goes_left) tells of each split whether it may be taken at all.
    """
    best = None
    for feature in range(X.shape[1]):
        x = X[:, feature]
        for goes_left in sides_of_levels(x) if is_level[feature] else sides_of_number(x, w, missing_is):
            is_wide = min(goes_left.sum(), (~goes_left).sum()) >= min_samples_leaf
            if is_wide and (keeps is None or keeps(feature, goes_left)):
                found = gain(criterion, goes_left, y, w, n_classes)
                best = found if best is None else max(best, found)
    return best


def child_of(tree, node, x):
    """The child that value x takes (contracts D7)."""
    if tree.kind[node] == IS_MISSING:
        return 0 if np.isnan(x) else 1
    if np.isnan(x):
        return int(tree.missing_child[node])
    if tree.kind[node] == THRESHOLD:
        return 0 if x <= tree.threshold[node] else 1
    for code, child in tree.levels(node).tolist():
        if code == x:
            return child
    return int(tree.unseen_child[node])


def rows_by_node(tree, X):
    """The rows that pass each node, as a list of index arrays."""
    rows = [[] for _ in range(tree.n_nodes)]
    for row in range(len(X)):
        node = 0
        rows[node].append(row)
        while tree.kind[node] != LEAF:
            node = int(tree.first_child[node]) + child_of(tree, node, X[row, tree.feature[node]])
            rows[node].append(row)
    return [np.array(r, int) for r in rows]


def tree_values(trees, X):
    """Sum of the trees' leaf values for every row."""
    total = np.zeros((len(X), trees[0].n_outputs))
    for tree in trees:
        for node, rows in enumerate(rows_by_node(tree, X)):
            if tree.kind[node] == LEAF:
                total[rows] += tree.value[node]
    return total
