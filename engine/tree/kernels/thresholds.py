"""The best threshold of a numeric column at one node, with missing values on either side."""

import numpy as np

from engine.jit import kernel
from engine.kernels.numeric import midpoint
from engine.kernels.routing import IS_MISSING, THRESHOLD
from engine.tree.kernels.impurity import add_row, split_score
from engine.tree.kernels.layout import (
    BEST_ENTRIES,
    BEST_FEATURE,
    BEST_GAIN,
    BEST_KIND,
    BEST_MISSING,
    BEST_THRESHOLD,
    TIE_SHARE,
)


@kernel
def is_better(best, gain, feature, impurity):
    """Tell whether a candidate beats the best so far; ties go to the lowest column, then the first seen."""
    if best.ints[BEST_FEATURE] < 0:
        return True
    slack = TIE_SHARE * impurity
    if gain > best.numbers[BEST_GAIN] + slack:
        return True
    return gain >= best.numbers[BEST_GAIN] - slack and feature < best.ints[BEST_FEATURE]


@kernel
def keep(best, gain, feature, kind, threshold, missing_child):
    """Write a candidate down as the best so far."""
    best.numbers[BEST_GAIN], best.numbers[BEST_THRESHOLD] = gain, threshold
    best.ints[BEST_FEATURE], best.ints[BEST_KIND] = feature, kind
    best.ints[BEST_MISSING], best.ints[BEST_ENTRIES] = missing_child, 0


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
def count_present(column, rows):
    """Return how many of a node's rows, missing last, have a value."""
    n_present = rows.size
    while n_present > 0 and np.isnan(column[rows[n_present - 1]]):
        n_present -= 1
    return n_present


@kernel
def scan_thresholds(sample, rules, feature, rows, nodes, node, node_purity, best, scratch):
    """Try every threshold between adjacent distinct values; update `best`.

    At each threshold missing values are tried on the right, then on the left; last comes the split
    "is missing". Returns False when the column is constant here, missing values included.

    rows         int32 (n_node_samples,)  in  by ascending value, missing last
    node_purity  float64                  in  purity of the undivided node
    """
    column, y, w = sample.columns[feature], sample.y, sample.w
    mean, weight, impurity = nodes.value[node, 0], nodes.weight[node], nodes.impurity[node]
    n_rows, n_present = rows.size, count_present(column, rows)
    n_missing = n_rows - n_present
    if n_present == 0 or (n_missing == 0 and column[rows[0]] == column[rows[n_rows - 1]]):
        return False
    left, missing, trial = scratch.left, scratch.missing, scratch.trial
    left[:] = 0.0
    missing[:] = 0.0
    missing_weight, left_weight = 0.0, 0.0
    for i in range(n_present, n_rows):
        add_row(rules.criterion, missing, y[rows[i]], w[rows[i]], mean)
        missing_weight += w[rows[i]]
    for i in range(n_present - 1):
        row = rows[i]
        add_row(rules.criterion, left, y[row], w[row], mean)
        left_weight += w[row]
        lower, upper = column[row], column[rows[i + 1]]
        if not lower < upper:
            continue
        if is_allowed(rules, i + 1, left_weight, n_rows, weight):
            score = split_score(rules.criterion, left, left_weight, scratch.total, weight)
            gain = (score - node_purity) / weight
            if is_better(best, gain, feature, impurity):
                keep(best, gain, feature, THRESHOLD, midpoint(lower, upper), 1 if n_missing else -1)
        if n_missing and is_allowed(rules, i + 1 + n_missing, left_weight + missing_weight, n_rows, weight):
            for k in range(trial.size):
                trial[k] = left[k] + missing[k]
            score = split_score(rules.criterion, trial, left_weight + missing_weight, scratch.total, weight)
            gain = (score - node_purity) / weight
            if is_better(best, gain, feature, impurity):
                keep(best, gain, feature, THRESHOLD, midpoint(lower, upper), 0)
    if n_missing and is_allowed(rules, n_missing, missing_weight, n_rows, weight):
        score = split_score(rules.criterion, missing, missing_weight, scratch.total, weight)
        gain = (score - node_purity) / weight
        if is_better(best, gain, feature, impurity):
            keep(best, gain, feature, IS_MISSING, np.nan, 0)
    return True
