"""Sums, impurity and the score of a split, for all criteria."""

import numpy as np

from engine.jit import kernel
from engine.tree.kernels.deviation import describe_median
from engine.tree.kernels.layout import (
    ABSOLUTE_ERROR,
    ENTROPY,
    GINI,
    MISCLASSIFICATION,
    POISSON,
    ROW_MASK,
    SQUARED_ERROR,
)


@kernel
def clear(sums):
    """Set all sums to 0; a loop compiles in a tenth of the time of a slice assignment."""
    for k in range(sums.size):
        sums[k] = 0.0


@kernel
def purity(criterion, sums, weight):
    """Return the part of -weight x impurity that depends on how rows are divided among nodes.

    gini               sum s_k^2 / W
    entropy            sum s_k log2 s_k - W log2 W
    misclassification  max s_k
    squared_error      S^2 / W, S the sum of deviations from the parent's mean
    poisson            2 S log(S / W), S the sum of the target
    absolute_error     the sum itself, which `engine.tree.kernels.medians` makes -W x impurity

    The purities of two children, less their parent's, are the parent's weight times the gain.

    sums  float64 (n_sums,)  in  class weights, or the sum of deviations or of the target
    """
    if weight <= 0.0:
        return 0.0
    if criterion == POISSON:
        return 2.0 * sums[0] * np.log(sums[0] / weight) if sums[0] > 0.0 else 0.0
    if criterion == ABSOLUTE_ERROR:
        return sums[0]
    total = 0.0
    if criterion == MISCLASSIFICATION:
        for k in range(sums.size):
            total = max(total, sums[k])
        return total
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
    if criterion == POISSON:
        rest = total[0] - left[0]
        return score + (2.0 * rest * np.log(rest / right_weight) if rest > 0.0 else 0.0)
    if criterion == MISCLASSIFICATION:
        most = 0.0
        for k in range(total.size):
            most = max(most, total[k] - left[k])
        return score + most
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
    """Add a row to class weights, or its deviation from the node's mean, or its target, to the one sum."""
    if criterion in (SQUARED_ERROR, ABSOLUTE_ERROR):
        sums[0] += w * (y - mean)
    elif criterion == POISSON:
        sums[0] += w * y
    else:
        sums[np.int64(y)] += w


@kernel
def node_impurity(criterion, fractions):
    """Return gini, entropy (bits) or the share of wrong rows of class fractions."""
    impurity = 0.0 if criterion == ENTROPY else 1.0
    if criterion == MISCLASSIFICATION:
        for k in range(fractions.size):
            impurity = min(impurity, 1.0 - fractions[k])
        return max(impurity, 0.0)
    for k in range(fractions.size):
        if criterion == GINI:
            impurity -= fractions[k] * fractions[k]
        elif fractions[k] > 0.0:
            impurity -= fractions[k] * np.log2(fractions[k])
    return max(impurity, 0.0)


@kernel
def poisson_deviance(sample, nodes, node):
    """Return the mean Poisson deviance of a node's rows from their mean."""
    start, stop, mean = nodes.records.start[node], nodes.records.stop[node], nodes.value[node, 0]
    deviance, weight = 0.0, 0.0
    for i in range(start, stop):
        row = sample.order[0, i] & ROW_MASK
        y, w = sample.target[row, 0], sample.target[row, 1]
        weight += w
        if y > 0.0:
            deviance += w * y * np.log(y / mean)
    return max(2.0 * deviance / weight, 0.0)


@kernel
def describe_node(sample, rules, nodes, node):
    """Fill value, impurity, weight, count and purity of a node from the rows between its start and stop."""
    start, stop = nodes.records.start[node], nodes.records.stop[node]
    first, is_pure, weight = sample.target[sample.order[0, start] & ROW_MASK, 0], True, 0.0
    value = nodes.value[node]
    clear(value)
    for i in range(start, stop):
        row = sample.order[0, i] & ROW_MASK
        y, w = sample.target[row, 0], sample.target[row, 1]
        weight += w
        is_pure = is_pure and y == first
        add_row(rules.criterion, value, y, w, first)
    for k in range(value.size):
        value[k] /= weight
    impurity = 0.0
    if rules.criterion == SQUARED_ERROR:
        value[0] += first
        for i in range(start, stop):
            row = sample.order[0, i] & ROW_MASK
            deviation = sample.target[row, 0] - value[0]
            impurity += sample.target[row, 1] * deviation * deviation
        impurity /= weight
    elif rules.criterion == POISSON:
        impurity = poisson_deviance(sample, nodes, node)
    elif rules.criterion == ABSOLUTE_ERROR:
        impurity = describe_median(sample, nodes, node)
    else:
        impurity = node_impurity(rules.criterion, value)
    nodes.records.impurity[node] = 0.0 if is_pure else impurity
    nodes.records.weight[node] = weight
    nodes.records.n_rows[node] = stop - start
    nodes.records.is_pure[node] = is_pure
