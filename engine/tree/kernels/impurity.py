"""Sums, impurity and the score of a split, for all criteria."""

import numpy as np

from engine.jit import kernel
from engine.tree.kernels.layout import ENTROPY, GINI, SQUARED_ERROR


@kernel
def purity(criterion, sums, weight):
    """Return the part of -weight x impurity that depends on how rows are divided among nodes.

    gini           sum s_k^2 / W
    entropy        sum s_k log2 s_k - W log2 W
    squared_error  S^2 / W, S the sum of deviations from the parent's mean

    The purities of two children, less their parent's, are the parent's weight times the gain.

    sums  float64 (n_sums,)  in  class weights, or the sum of deviations
    """
    if weight <= 0.0:
        return 0.0
    total = 0.0
    if criterion == ENTROPY:
        for k in range(sums.size):
            if sums[k] > 0.0:
                total += sums[k] * np.log2(sums[k] / weight)
        return total
    for k in range(sums.size):
        total += sums[k] * sums[k]
    return total / weight


@kernel
def split_score(criterion, left, left_weight, total, total_weight):
    """Return the purity of both sides of a split; the right side is what is left of the total."""
    right_weight = total_weight - left_weight
    score = purity(criterion, left, left_weight)
    if criterion == ENTROPY:
        for k in range(total.size):
            rest = total[k] - left[k]
            if rest > 0.0:
                score += rest * np.log2(rest / right_weight)
        return score
    squares = 0.0
    for k in range(total.size):
        rest = total[k] - left[k]
        squares += rest * rest
    return score + squares / right_weight


@kernel
def add_row(criterion, sums, y, w, mean):
    """Add a row to class weights, or its deviation from the node's mean to the one sum."""
    if criterion == SQUARED_ERROR:
        sums[0] += w * (y - mean)
    else:
        sums[np.int64(y)] += w


@kernel
def node_impurity(criterion, fractions):
    """Return gini or entropy (bits) of class fractions."""
    impurity = 1.0 if criterion == GINI else 0.0
    for k in range(fractions.size):
        if criterion == GINI:
            impurity -= fractions[k] * fractions[k]
        elif fractions[k] > 0.0:
            impurity -= fractions[k] * np.log2(fractions[k])
    return max(impurity, 0.0)


@kernel
def describe_node(sample, rules, rows, nodes, node):
    """Fill value, impurity, weight, count and purity of a node from its rows.

    rows  int32 (n_node_samples,)  in
    """
    weight, first, is_pure = 0.0, sample.y[rows[0]], True
    value = nodes.value[node]
    value[:] = 0.0
    for i in range(rows.size):
        row = rows[i]
        weight += sample.w[row]
        is_pure = is_pure and sample.y[row] == first
        if rules.criterion == SQUARED_ERROR:
            value[0] += sample.w[row] * (sample.y[row] - first)
        else:
            value[np.int64(sample.y[row])] += sample.w[row]
    for k in range(value.size):
        value[k] /= weight
    if rules.criterion == SQUARED_ERROR:
        value[0] += first
        squares = 0.0
        for i in range(rows.size):
            deviation = sample.y[rows[i]] - value[0]
            squares += sample.w[rows[i]] * deviation * deviation
        nodes.impurity[node] = 0.0 if is_pure else squares / weight
    else:
        nodes.impurity[node] = 0.0 if is_pure else node_impurity(rules.criterion, value)
    nodes.weight[node] = weight
    nodes.n_rows[node] = rows.size
    nodes.is_pure[node] = is_pure
