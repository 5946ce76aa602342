"""One split of a column drawn at random, as in extremely randomised trees (Geurts, Ernst, Wehenkel 2006).

A number: the threshold is uniform between the smallest and the largest value that the node has. A
category: every level takes a side by a fair coin, and all are tossed again until both sides have one.
Missing values take a side by a fair coin, or the larger one where they are a level; where all other
values are the same the split is "is missing". What is drawn is a candidate only if the rules on leaves
allow it, as in scikit-learn.
"""

from engine.jit import kernel
from engine.kernels.numeric import random_below, random_unit
from engine.tree.kernels.bounds import is_kept
from engine.tree.kernels.impurity import add_row, clear, split_score
from engine.tree.kernels.layout import LEFT, MISSING, ROW_MASK, TOTAL
from engine.tree.kernels.levels import add_sums, collect_levels, keep_partition
from engine.tree.kernels.thresholds import is_allowed, is_better, may_take_side, offer, sum_missing


@kernel
def draw_between(low, high, random_state):
    """Return a threshold t, uniform in ``low <= t < high``; the range may be wider than a double holds."""
    share = random_unit(random_state)
    drawn = low * (1.0 - share) + high * share
    return drawn if low <= drawn < high else low


@kernel
def first_above(order, start, stop, values, first_value, threshold):
    """Return where in a column's order the values above a threshold begin."""
    while start < stop:
        middle = (start + stop) // 2
        if values[first_value + (order[middle] >> 32)] <= threshold:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def draw_cut(order, start, present, feature, drawn, random_state):
    """Draw a threshold between the least and the largest value of a node; returns it and where above begins.

    start, present  int64  where in the column's order the node's known values begin and end
    """
    first = drawn.first_value[feature]
    low = drawn.values[first + (order[start] >> 32)]
    high = drawn.values[first + (order[present - 1] >> 32)]
    threshold = draw_between(low, high, random_state)
    return threshold, first_above(order, start, present, drawn.values, first, threshold)


@kernel
def draw_side(rules, n_missing, left_weight, missing_weight, weight, random_state):
    """Draw the side of missing values: by a fair coin, or the larger one where they are a level."""
    if n_missing == 0:
        return -1
    if rules.missing_is_level:
        return 0 if may_take_side(rules, 0, left_weight, missing_weight, weight) else 1
    return random_below(random_state, 2)


@kernel
def draw_threshold(sample, rules, feature, nodes, node, node_purity, best, scratch, drawn, random_state):
    """Draw a threshold of a numeric column; update `best`. Returns False when the column is constant here."""
    order, start, stop = sample.order[feature], nodes.records.start[node], nodes.records.stop[node]
    if order[start] >> 32 == order[stop - 1] >> 32:
        return False
    mean, weight, left = nodes.value[node, 0], nodes.records.weight[node], scratch.sums[LEFT]
    present, missing_weight = sum_missing(sample, rules, order, start, stop, mean, scratch.sums[MISSING])
    n_missing, is_number, threshold, side, above = stop - present, False, 0.0, 0, start
    clear(left)
    n_left, left_weight = 0, 0.0
    if order[start] >> 32 != order[present - 1] >> 32:
        is_number = True
        threshold, above = draw_cut(order, start, present, feature, drawn, random_state)
        n_left = above - start
        for i in range(start, above):
            row = order[i] & ROW_MASK
            add_row(rules.criterion, left, sample.target[row, 0], sample.target[row, 1], mean)
            left_weight += sample.target[row, 1]
        side = draw_side(rules, n_missing, left_weight, missing_weight, weight, random_state)
    if side == 0:
        add_sums(scratch.sums[MISSING], left)
        n_left += n_missing
        left_weight += missing_weight
    if not is_allowed(rules, n_left, left_weight, stop - start, weight):
        return True
    score = split_score(rules.criterion, left, left_weight, scratch.sums[TOTAL], weight)
    if not is_number:
        offer(score, (feature, 0, 0), 0, nodes, node, node_purity, best)
        return True
    if not is_kept(rules, scratch, feature, nodes, node, left[rules.n_sums - 1], left_weight):
        return True
    if offer(score, (feature, order[above - 1], order[above]), side, nodes, node, node_purity, best):
        nodes.records.threshold[node] = threshold
    return True


@kernel
def toss_levels(chosen, n_levels, random_state):
    """Give every level a side until both sides have one: any proper division is as likely as any other."""
    n_chosen = 0
    while n_chosen in (0, n_levels):
        n_chosen = 0
        for level in range(n_levels):
            chosen[level] = random_below(random_state, 2)
            n_chosen += chosen[level]


@kernel
def draw_partition(sample, rules, feature, nodes, node, node_purity, best, scratch, random_state):
    """Draw a partition of a categorical column; update `best`. Returns False when it has one level here."""
    n_levels = collect_levels(sample, rules, feature, nodes, node, scratch)
    if n_levels < 2:
        return False
    toss_levels(scratch.levels.spare, n_levels, random_state)
    left, weight = scratch.sums[LEFT], nodes.records.weight[node]
    clear(left)
    left_weight, n_left = 0.0, 0
    for level in range(n_levels):
        if scratch.levels.spare[level] == 1:
            add_sums(scratch.level_sums[level], left)
            left_weight += scratch.levels.weight[level]
            n_left += scratch.levels.count[level]
    if is_allowed(rules, n_left, left_weight, nodes.records.n_rows[node], weight):
        score = split_score(rules.criterion, left, left_weight, scratch.sums[TOTAL], weight)
        gain = (score - node_purity) / weight
        if is_better(best, gain, nodes.records.impurity[node]):
            keep_partition(best, scratch, feature, n_levels, gain)
    return True
