"""The best threshold of a numeric column at one node, with missing values on either side."""

from engine.jit import kernel
from engine.kernels.routing import IS_MISSING, THRESHOLD
from engine.tree.kernels.impurity import add_row, clear, split_score
from engine.tree.kernels.layout import (
    BEST_CUT,
    BEST_ENTRIES,
    BEST_FEATURE,
    BEST_KIND,
    BEST_LOWER,
    BEST_MISSING,
    BEST_UPPER,
    MISSING_RANK,
    ROW_MASK,
    TIE_SHARE,
)


@kernel
def is_better(best, gain, feature, impurity):
    """Tell whether a candidate beats the best so far; ties go to the lowest column, then the first seen."""
    if best.ints[BEST_FEATURE] < 0:
        return True
    slack = TIE_SHARE * impurity
    if gain > best.gain[0] + slack:
        return True
    return gain >= best.gain[0] - slack and feature < best.ints[BEST_FEATURE]


@kernel
def keep(best, gain, feature, kind, missing_child):
    """Write a candidate down as the best so far."""
    best.gain[0] = gain
    best.ints[BEST_FEATURE], best.ints[BEST_KIND] = feature, kind
    best.ints[BEST_MISSING], best.ints[BEST_ENTRIES] = missing_child, 0


@kernel
def keep_threshold(best, gain, feature, lower, upper, missing_child):
    """Write a threshold between two entries of a column's order down as the best so far."""
    keep(best, gain, feature, THRESHOLD, missing_child)
    best.ints[BEST_CUT] = lower >> 32
    best.ints[BEST_LOWER], best.ints[BEST_UPPER] = lower & ROW_MASK, upper & ROW_MASK


@kernel
def is_allowed(rules, n_left, left_weight, n_total, total_weight):
    """Tell whether both sides hold enough rows and weight.

    A side whose weight is lost in rounding (1e-20 beside 1) is no side: its mean would be 0 / 0.
    """
    right_weight = total_weight - left_weight
    if not (left_weight > 0.0 and right_weight > 0.0):
        return False
    if n_left < rules.min_samples_leaf or n_total - n_left < rules.min_samples_leaf:
        return False
    return left_weight >= rules.min_weight_leaf and right_weight >= rules.min_weight_leaf


@kernel
def sum_missing(sample, rules, order, start, stop, mean, sums):
    """Sum the rows of a node that miss the column; returns where they begin and their weight.

    order  int64 (n_rows,)    in   one column's
    sums   float64 (n_sums,)  out
    """
    clear(sums)
    weight, first = 0.0, stop
    while first > start and order[first - 1] >> 32 == MISSING_RANK:
        first -= 1
        row = order[first] & ROW_MASK
        add_row(rules.criterion, sums, sample.target[row, 0], sample.target[row, 1], mean)
        weight += sample.target[row, 1]
    return first, weight


@kernel
def scan_thresholds(sample, rules, feature, nodes, node, node_purity, best, scratch):
    """Try every threshold between adjacent distinct values; update `best`.

    At each threshold missing values are tried on the right, then on the left; last comes the split
    "is missing". Returns False when the column is constant here, missing values included.

    node_purity  float64  in  purity of the undivided node
    """
    order, target = sample.order[feature], sample.target
    start, stop = nodes.start[node], nodes.stop[node]
    if order[start] >> 32 == order[stop - 1] >> 32:
        return False
    mean, weight, impurity = nodes.value[node, 0], nodes.weight[node], nodes.impurity[node]
    left, missing, trial, total = scratch.left, scratch.missing, scratch.trial, scratch.total
    criterion, n_rows = rules.criterion, stop - start
    present_stop, missing_weight = sum_missing(sample, rules, order, start, stop, mean, missing)
    n_missing = stop - present_stop
    side_of_missing = 1 if n_missing else -1
    clear(left)
    left_weight = 0.0
    upper = order[start]
    for i in range(start, present_stop - 1):
        lower, upper = upper, order[i + 1]
        row = lower & ROW_MASK
        add_row(criterion, left, target[row, 0], target[row, 1], mean)
        left_weight += target[row, 1]
        if lower >> 32 == upper >> 32:
            continue
        n_left = i + 1 - start
        if is_allowed(rules, n_left, left_weight, n_rows, weight):
            gain = (split_score(criterion, left, left_weight, total, weight) - node_purity) / weight
            if is_better(best, gain, feature, impurity):
                keep_threshold(best, gain, feature, lower, upper, side_of_missing)
        if n_missing and is_allowed(rules, n_left + n_missing, left_weight + missing_weight, n_rows, weight):
            for k in range(trial.size):
                trial[k] = left[k] + missing[k]
            score = split_score(criterion, trial, left_weight + missing_weight, total, weight)
            gain = (score - node_purity) / weight
            if is_better(best, gain, feature, impurity):
                keep_threshold(best, gain, feature, lower, upper, 0)
    if n_missing and is_allowed(rules, n_missing, missing_weight, n_rows, weight):
        gain = (split_score(criterion, missing, missing_weight, total, weight) - node_purity) / weight
        if is_better(best, gain, feature, impurity):
            keep(best, gain, feature, IS_MISSING, 0)
    return True
