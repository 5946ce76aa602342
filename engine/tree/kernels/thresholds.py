"""The best threshold of a numeric column at one node, with missing values on either side."""

import numpy as np

from engine.jit import kernel
from engine.kernels.routing import IS_MISSING, THRESHOLD
from engine.tree.kernels.bounds import is_kept
from engine.tree.kernels.impurity import add_row, clear, split_score
from engine.tree.kernels.layout import (
    BEST_CUT,
    BEST_ENTRIES,
    BEST_FEATURE,
    BEST_KIND,
    BEST_LOWER,
    BEST_MISSING,
    BEST_UPPER,
    ENTROPY,
    GINI,
    LEFT,
    MISSING,
    MISSING_RANK,
    ROW_MASK,
    SQUARED_ERROR,
    TIE_SHARE,
    TOTAL,
    TRIAL,
)


@kernel
def is_better(best, gain, impurity):
    """Tell whether a candidate beats the best so far; a tie stays with the one seen first.

    When all columns are looked at that is the lowest column, then the lowest threshold. Among columns
    drawn at random it is the one drawn first: always taking the lowest would make the trees of a
    forest alike.
    """
    return best.ints[BEST_FEATURE] < 0 or gain > best.gain[0] + TIE_SHARE * impurity


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
def least_score(best, impurity, node_purity, weight):
    """Return a score below which no candidate can be better than the best so far, ties included.

    Nearly all candidates fail this one comparison; the rest are compared by `is_better`.
    """
    if best.ints[BEST_FEATURE] < 0:
        return -np.inf
    return (best.gain[0] - 2.0 * TIE_SHARE * impurity) * weight + node_purity


@kernel
def offer(score, place, missing_child, nodes, node, node_purity, best):
    """Compare a candidate with the best so far by its gain and keep it if it is better; returns whether.

    place  (feature, lower, upper)  lower and upper as in `keep_threshold`; equal for "is missing"
    """
    feature, lower, upper = place
    gain = (score - node_purity) / nodes.records.weight[node]
    if not is_better(best, gain, nodes.records.impurity[node]):
        return False
    if lower == upper:
        keep(best, gain, feature, IS_MISSING, missing_child)
    else:
        keep_threshold(best, gain, feature, lower, upper, missing_child)
    return True


@kernel
def may_take_side(rules, side, left_weight, missing_weight, weight):
    """Tell whether missing values may take a side of a threshold: any, or the larger of present rows."""
    is_left_larger = left_weight >= weight - missing_weight - left_weight  # the left one on a tie (D7)
    return not rules.missing_is_level or (side == 0) == is_left_larger


@kernel
def pair_score(a, b, weight, total_a, total_b, total_weight):
    """Return the purity of both sides where there are two class sums, or one sum of deviations and 0."""
    rest_a, rest_b = total_a - a, total_b - b
    return (a * a + b * b) / weight + (rest_a * rest_a + rest_b * rest_b) / (total_weight - weight)


@kernel
def scan_pairs(sample, rules, feature, nodes, node, node_purity, present_stop, missing_weight, best, scratch):
    """Try every threshold for two classes with gini, or for numbers: the sums stay in registers."""
    order, target, start, stop = (
        sample.order[feature],
        sample.target,
        nodes.records.start[node],
        nodes.records.stop[node],
    )
    weight, impurity, mean = nodes.records.weight[node], nodes.records.impurity[node], nodes.value[node, 0]
    is_number, last = rules.criterion == SQUARED_ERROR, rules.n_sums - 1
    total_a, missing_a = scratch.sums[TOTAL][0], scratch.sums[MISSING][0]
    total_b, missing_b = (0.0, 0.0) if is_number else (scratch.sums[TOTAL][last], scratch.sums[MISSING][last])
    n_missing, least_rows, least_weight = stop - present_stop, rules.min_samples_leaf, rules.min_weight_leaf
    floor = least_score(best, impurity, node_purity, weight)
    a, b, left_weight, upper = 0.0, 0.0, 0.0, order[start]
    for i in range(start, present_stop - 1):
        lower, upper = upper, order[i + 1]
        y, w = target[lower & ROW_MASK, 0], target[lower & ROW_MASK, 1]
        a += w * (y - mean) if is_number else w * (1.0 - y)
        b += 0.0 if is_number else w * y
        left_weight += w
        if lower >> 32 == upper >> 32:
            continue
        n_left, right_weight = i + 1 - start, weight - left_weight
        is_wide = n_missing == 0 or may_take_side(rules, 1, left_weight, missing_weight, weight)
        is_wide = is_wide and n_left >= least_rows and stop - i - 1 >= least_rows and right_weight > 0.0
        if is_wide and left_weight >= least_weight and right_weight >= least_weight:
            score = pair_score(a, b, left_weight, total_a, total_b, weight)
            one = a if is_number else b
            if score >= floor and is_kept(rules, scratch, feature, nodes, node, one, left_weight):
                side = 1 if n_missing else -1
                if offer(score, (feature, lower, upper), side, nodes, node, node_purity, best):
                    floor = least_score(best, impurity, node_purity, weight)
        with_missing = left_weight + missing_weight
        is_wide = n_missing and may_take_side(rules, 0, left_weight, missing_weight, weight)
        if is_wide and is_allowed(rules, n_left + n_missing, with_missing, stop - start, weight):
            score = pair_score(a + missing_a, b + missing_b, with_missing, total_a, total_b, weight)
            one = a + missing_a if is_number else b + missing_b
            may_win = score >= floor and is_kept(rules, scratch, feature, nodes, node, one, with_missing)
            if may_win and offer(score, (feature, lower, upper), 0, nodes, node, node_purity, best):
                floor = least_score(best, impurity, node_purity, weight)


@kernel
def may_reach(criterion, left, left_weight, total, total_weight, floor):
    """Tell whether a split's score may reach `floor`; by entropy most are seen not to without a logarithm.

    Entropy is at least twice the Gini impurity, in bits (Harremoes, Topsoe 2001, theorem II.6).
    """
    if criterion != ENTROPY:
        return True
    squares, rest_squares = 0.0, 0.0
    for k in range(total.size):
        rest = total[k] - left[k]
        squares += left[k] * left[k]
        rest_squares += rest * rest
    of_gini = squares / left_weight + rest_squares / (total_weight - left_weight)
    return 2.0 * (of_gini - total_weight) >= floor


@kernel
def scan_sums(sample, rules, feature, nodes, node, node_purity, present_stop, missing_weight, best, scratch):
    """Try every threshold, for any number of classes and for counts."""
    order, target, start, stop = (
        sample.order[feature],
        sample.target,
        nodes.records.start[node],
        nodes.records.stop[node],
    )
    weight, impurity, criterion = nodes.records.weight[node], nodes.records.impurity[node], rules.criterion
    left, missing, trial, total = (
        scratch.sums[LEFT],
        scratch.sums[MISSING],
        scratch.sums[TRIAL],
        scratch.sums[TOTAL],
    )
    n_missing, last = stop - present_stop, rules.n_sums - 1
    floor = least_score(best, impurity, node_purity, weight)
    clear(left)
    left_weight, upper = 0.0, order[start]
    for i in range(start, present_stop - 1):
        lower, upper = upper, order[i + 1]
        row = lower & ROW_MASK
        add_row(criterion, left, target[row, 0], target[row, 1], 0.0)
        left_weight += target[row, 1]
        if lower >> 32 == upper >> 32:
            continue
        n_left = i + 1 - start
        is_wide = n_missing == 0 or may_take_side(rules, 1, left_weight, missing_weight, weight)
        is_wide = is_wide and is_allowed(rules, n_left, left_weight, stop - start, weight)
        if is_wide and may_reach(criterion, left, left_weight, total, weight, floor):
            score = split_score(criterion, left, left_weight, total, weight)
            if score >= floor and is_kept(rules, scratch, feature, nodes, node, left[last], left_weight):
                side = 1 if n_missing else -1
                if offer(score, (feature, lower, upper), side, nodes, node, node_purity, best):
                    floor = least_score(best, impurity, node_purity, weight)
        with_missing = left_weight + missing_weight
        is_wide = n_missing and may_take_side(rules, 0, left_weight, missing_weight, weight)
        if is_wide and is_allowed(rules, n_left + n_missing, with_missing, stop - start, weight):
            for k in range(trial.size):
                trial[k] = left[k] + missing[k]
            if not may_reach(criterion, trial, with_missing, total, weight, floor):
                continue
            score = split_score(criterion, trial, with_missing, total, weight)
            one = trial[last]
            may_win = score >= floor and is_kept(rules, scratch, feature, nodes, node, one, with_missing)
            if may_win and offer(score, (feature, lower, upper), 0, nodes, node, node_purity, best):
                floor = least_score(best, impurity, node_purity, weight)


@kernel
def scan_thresholds(sample, rules, feature, nodes, node, node_purity, best, scratch):
    """Try every threshold between adjacent distinct values; update `best`.

    At each threshold missing values are tried on the right, then on the left; last comes the split
    "is missing". Returns False when the column is constant here, missing values included.

    node_purity  float64  in  purity of the undivided node
    """
    order, start, stop = sample.order[feature], nodes.records.start[node], nodes.records.stop[node]
    if order[start] >> 32 == order[stop - 1] >> 32:
        return False
    mean, missing, weight = nodes.value[node, 0], scratch.sums[MISSING], nodes.records.weight[node]
    present_stop, missing_weight = sum_missing(sample, rules, order, start, stop, mean, missing)
    n_missing = stop - present_stop
    is_pair = rules.criterion == SQUARED_ERROR or (rules.criterion == GINI and rules.n_sums == 2)
    scan = (present_stop, missing_weight, best, scratch)
    if is_pair:
        scan_pairs(sample, rules, feature, nodes, node, node_purity, *scan)
    else:
        scan_sums(sample, rules, feature, nodes, node, node_purity, *scan)
    if n_missing and is_allowed(rules, n_missing, missing_weight, stop - start, weight):
        score = split_score(rules.criterion, missing, missing_weight, scratch.sums[TOTAL], weight)
        offer(score, (feature, 0, 0), 0, nodes, node, node_purity, best)
    return True
