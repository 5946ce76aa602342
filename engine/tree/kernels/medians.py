"""The best split by absolute error: of a number by a Fenwick tree over the node's targets, or of levels.

Rows join a side one by one; the tree (Fenwick 1994) keeps weights and weighted targets of those that have
joined by their place in the target's order, so that the side's median, and with it its loss, is found in
O(log n)::

    thresholds       |--> rows below, missing on the right or left |
                     | rows above, missing on the left or right <--|   two passes a side of missing

Where the column has a direction, the upward pass writes down the median of the first side and the downward
pass compares; the loss of a cut that breaks the direction or the node's bounds is infinite.

For levels no order is exact: all partitions of up to ten levels are tried, above that the cuts in the
orders by mean and by median. The loss is the sum of w abs(y - median); a score is -loss of both sides.

A pass over many rows takes long, so a search stops in it when its budget is spent, and the next call goes on
from ``state[STATE_PASS]`` and ``state[STATE_WALKED]``.
"""

import numpy as np

from engine.jit import kernel
from engine.tree.kernels.bounds import keeps_order
from engine.tree.kernels.deviation import HALF_SLACK, describe_sides
from engine.tree.kernels.layout import (
    FREE,
    MAX_EXHAUSTIVE_LEVELS,
    MISSING_RANK,
    ROW_MASK,
    STATE_LEVELS,
    STATE_PASS,
    STATE_WALKED,
    TOTAL,
)
from engine.tree.kernels.levels import (
    LEVEL_SET,
    collect_levels,
    even_out,
    keep_cut,
    keep_partition,
    sort_levels,
)
from engine.tree.kernels.thresholds import is_allowed, is_better, keep, may_take_side, offer

ROW_COST = 16  # of a row that joins, in row visits: O(log n), all over the memory
LEAST_WALK = 64  # rows that join before a budget is looked at


@kernel
def begin_medians(sample, nodes, node, scratch):
    """Number the node's rows by target from 1 on; the total becomes what `purity` returns."""
    medians, start = scratch.medians, nodes.records.start[node]
    centre = nodes.value[node, 0]
    for i in range(start, nodes.records.stop[node]):
        row = sample.by_target[i]
        medians.place[row] = i - start + 1
        medians.value[i - start + 1] = sample.target[row, 0] - centre
    scratch.sums[TOTAL][0] = -nodes.records.weight[node] * nodes.records.impurity[node]


@kernel
def clear_tree(medians, size):
    """Empty the Fenwick tree of `size` places."""
    for i in range(size + 1):
        medians.weight[i] = 0.0
        medians.total[i] = 0.0


@kernel
def loss_of_joined(medians, size, top, weight, total):
    """Return the sum of distances from the median of the rows in the tree.

    size           int64    number of places; top the largest power of 2 up to it
    weight, total  float64  weights and weighted targets of the rows in the tree
    """
    place, step, below, sum_below, half = 0, top, 0.0, 0.0, 0.5 * weight
    while step > 0:
        ahead = place + step
        if ahead <= size and below + medians.weight[ahead] < half:
            place = ahead
            below += medians.weight[ahead]
            sum_below += medians.total[ahead]
        step >>= 1
    median = medians.value[min(place + 1, size)]
    return max(total - 2.0 * sum_below - median * (weight - 2.0 * below), 0.0)


@kernel
def place_of_share(medians, size, top, weight):
    """Return the first place up to which more than `weight` has joined, or the last place."""
    place, step, below = 0, top, 0.0
    while step > 0:
        ahead = place + step
        if ahead <= size and below + medians.weight[ahead] <= weight:
            place = ahead
            below += medians.weight[ahead]
        step >>= 1
    return min(place + 1, size)


@kernel
def median_of_joined(medians, size, top, weight):
    """Return the median of the rows in the tree as `deviation.describe_median` does, less the centre."""
    low = place_of_share(medians, size, top, (0.5 - HALF_SLACK) * weight)
    high = place_of_share(medians, size, top, (0.5 + HALF_SLACK) * weight)
    return medians.value[low] + 0.5 * (medians.value[high] - medians.value[low])


@kernel
def add_losses(order, first, last, offset, joined, target, medians, size, losses, limits, state, budget):
    """Let rows join from `first` towards `last`; at each change of rank add the loss of those joined so far.

    Goes on where the last call left; at the end the pass is the next one. Returns what is left of the budget.
    Upwards it writes the medians of a column that has a direction, downwards it compares with them.

    order   int64 (n_rows,)    in   rank << 32 | row
    offset  int64              in   of the losses: that of a cut between entries i and i + 1 is at i - offset
    joined  (start, stop)      in   entries, of missing values, that have joined before
    losses  float64 (n_rows,)  i/o  a field of `medians`
    limits  (direction, lower, upper, slack)  in  bounds of values less the centre; FREE: none is kept to
    """
    begin = state[STATE_WALKED]
    if begin == 0:
        clear_tree(medians, size)
    top, weight, total = 1, medians.weight[0], medians.total[0]
    while 2 * top <= size:
        top *= 2
    step = 1 if last >= first else -1
    n_joined = joined[1] - joined[0]
    n_walked = abs(last - first)  # the entry `last` never joins: all would be on one side
    end = min(begin + max(budget // ROW_COST, LEAST_WALK), n_joined + n_walked)
    for k in range(begin, end):
        i = joined[0] + k if k < n_joined else first + step * (k - n_joined)
        row = order[i] & ROW_MASK
        place, w = np.int64(medians.place[row]), target[row, 1]
        weighted = w * medians.value[place]
        weight += w
        total += weighted
        while place <= size:
            medians.weight[place] += w
            medians.total[place] += weighted
            place += place & -place
        if k >= n_joined and order[i] >> 32 != order[i + step] >> 32:
            at = i - offset if step > 0 else i - 1 - offset
            losses[at] += loss_of_joined(medians, size, top, weight, total)
            if limits[0] != FREE:
                median = median_of_joined(medians, size, top, weight)
                if step > 0:
                    medians.answer[at] = median
                elif not keeps_order(medians.answer[at], median, limits):
                    losses[at] = np.inf
    medians.weight[0], medians.total[0] = weight, total
    state[STATE_WALKED] = end
    if end == n_joined + n_walked:
        state[STATE_WALKED] = 0
        state[STATE_PASS] += 1
    return budget - ROW_COST * (end - begin)


@kernel
def scan_number(sample, rules, feature, nodes, node, best, scratch, state, budget):
    """Try every threshold, missing on the right and then on the left, and last "is missing".

    Passes 1 and 2 are of missing on the right, 3 and 4 on the left; rows join upwards in the odd ones.
    """
    order, target, medians = sample.order[feature], sample.target, scratch.medians
    start, stop, weight = nodes.records.start[node], nodes.records.stop[node], nodes.records.weight[node]
    present, missing_weight, size = stop, 0.0, stop - start
    while present > start and order[present - 1] >> 32 == MISSING_RANK:
        present -= 1
        missing_weight += target[order[present] & ROW_MASK, 1]
    n_missing, limits = stop - present, limits_of(rules, feature, nodes, node)
    if state[STATE_PASS] == 0:
        for i in range(size):
            medians.right[i] = 0.0
            medians.left[i] = 0.0
        state[STATE_PASS] = 1
    while state[STATE_PASS] <= (4 if n_missing else 2):
        if budget <= 0:
            return budget
        goes_up, takes_right = state[STATE_PASS] % 2 == 1, state[STATE_PASS] <= 2
        first, last = (start, present - 1) if goes_up else (present - 1, start)
        joined = (stop, stop) if goes_up == takes_right else (present, stop)
        losses = medians.right if takes_right else medians.left
        budget = add_losses(
            order, first, last, start, joined, target, medians, size, losses, limits, state, budget
        )  # fmt: skip
    state[STATE_PASS] = 0
    node_purity, left_weight = scratch.sums[TOTAL][0], 0.0
    for i in range(start, present - 1):
        lower, upper = order[i], order[i + 1]
        left_weight += target[lower & ROW_MASK, 1]
        if lower >> 32 == upper >> 32:
            continue
        place, n_left = (feature, lower, upper), i + 1 - start
        is_wide = n_missing == 0 or may_take_side(rules, 1, left_weight, missing_weight, weight)
        is_wide = is_wide and medians.right[i - start] < np.inf
        if is_wide and is_allowed(rules, n_left, left_weight, size, weight):
            side = 1 if n_missing else -1
            offer(-medians.right[i - start], place, side, nodes, node, node_purity, best)
        is_wide = n_missing and may_take_side(rules, 0, left_weight, missing_weight, weight)
        is_wide = is_wide and medians.left[i - start] < np.inf
        if is_wide and is_allowed(rules, n_left + n_missing, left_weight + missing_weight, size, weight):
            offer(-medians.left[i - start], place, 0, nodes, node, node_purity, best)
    if n_missing and is_allowed(rules, n_missing, missing_weight, size, weight):
        for i in range(start, stop):
            scratch.side[order[i] & ROW_MASK] = 0 if i >= present else 1
        loss = describe_sides(sample, start, stop, scratch.side)[0]
        offer(-loss, (feature, 0, 0), 0, nodes, node, node_purity, best)
    return budget - size


@kernel
def limits_of(rules, feature, nodes, node):
    """Return a column's direction, and between what its sides' medians must lie, less the node's median."""
    centre = nodes.value[node, 0]
    direction = rules.directions[feature] if rules.directions.size > 0 else FREE
    lower, upper = nodes.records.lower_bound[node] - centre, nodes.records.upper_bound[node] - centre
    return direction, lower, upper, rules.slack


@kernel
def divide_by_level(sample, feature, nodes, node, n_levels, scratch):
    """Write each level's rows by target: places, and weights and weighted targets summed up from its first.

    Level k has the entries from ``levels.spare[k] - count`` to ``levels.spare[k]`` of place_of_level,
    weight and total; `spare` is free until the levels are sorted.
    """
    order, medians, levels = sample.order[feature], scratch.medians, scratch.levels
    start, stop, level = nodes.records.start[node], nodes.records.stop[node], 0
    for i in range(start, stop):
        if order[i] >> 32 != levels.code[level]:
            level += 1
        medians.level[medians.place[order[i] & ROW_MASK]] = level
    first = 0
    for k in range(n_levels):
        levels.spare[k] = first
        first += levels.count[k]
    for i in range(start, stop):
        place = i - start + 1
        level = medians.level[place]
        at, w = levels.spare[level], sample.target[sample.by_target[i], 1]
        levels.spare[level] += 1
        medians.place_of_level[at] = place
        medians.weight[at], medians.total[at] = w, w * medians.value[place]
    for k in range(n_levels):
        for at in range(levels.spare[k] - levels.count[k] + 1, levels.spare[k]):
            medians.weight[at] += medians.weight[at - 1]
            medians.total[at] += medians.total[at - 1]


@kernel
def sums_up_to(medians, levels, level, place):
    """Return weight and weighted targets of a level's rows at places up to `place`."""
    first = levels.spare[level] - levels.count[level]
    low, high = first, np.int64(levels.spare[level])
    while low < high:
        middle = (low + high) // 2
        if medians.place_of_level[middle] <= place:
            low = middle + 1
        else:
            high = middle
    if low == first:
        return 0.0, 0.0
    return medians.weight[low - 1], medians.total[low - 1]


@kernel
def loss_of_levels(medians, levels, n_levels, size, chosen, side):
    """Return the loss of the levels whose bit of `chosen` is `side`: a search for the median's place."""
    low, high, weight, total = 1, size, 0.0, 0.0
    for level in range(n_levels):
        if (chosen >> level) & 1 == side:
            weight += medians.weight[levels.spare[level] - 1]
            total += medians.total[levels.spare[level] - 1]
    while low < high:  # the first place up to which lies half of the weight
        middle, up_to = (low + high) // 2, 0.0
        for level in range(n_levels):
            if (chosen >> level) & 1 == side:
                up_to += sums_up_to(medians, levels, level, middle)[0]
        if up_to >= 0.5 * weight:
            high = middle
        else:
            low = middle + 1
    below, sum_below = 0.0, 0.0
    for level in range(n_levels):
        if (chosen >> level) & 1 == side:
            w, s = sums_up_to(medians, levels, level, low)
            below += w
            sum_below += s
    return max(total - 2.0 * sum_below - medians.value[low] * (weight - 2.0 * below), 0.0)


@kernel
def scan_all_levels(rules, feature, nodes, node, n_levels, best, scratch):
    """Try every partition; the first level is never chosen, so each is seen once."""
    levels, medians, size = scratch.levels, scratch.medians, nodes.records.n_rows[node]
    weight, node_purity = nodes.records.weight[node], scratch.sums[TOTAL][0]
    for half in range(1, 2 ** (n_levels - 1)):
        code, left_weight, n_left = 2 * half, 0.0, 0
        for level in range(1, n_levels):
            if (code >> level) & 1:
                left_weight += levels.weight[level]
                n_left += levels.count[level]
        if not is_allowed(rules, n_left, left_weight, size, weight):
            continue
        loss = loss_of_levels(medians, levels, n_levels, size, code, 0)
        loss += loss_of_levels(medians, levels, n_levels, size, code, 1)
        gain = (-loss - node_purity) / weight
        if is_better(best, gain, nodes.records.impurity[node]):
            for level in range(n_levels):  # spare is wanted again: keep where levels end
                levels.rank[level] = levels.spare[level]
                levels.spare[level] = (code >> level) & 1
            keep_partition(best, scratch, feature, n_levels, gain)
            for level in range(n_levels):
                levels.spare[level] = levels.rank[level]


@kernel
def order_rows(sample, feature, nodes, node, n_levels, scratch):
    """Write the node's rows into the buffer, levels by ascending key: cut << 32 | row. No losses yet."""
    levels, entries = scratch.levels, scratch.buffer
    order = sample.order[feature]
    sort_levels(levels.key, levels.rank, levels.spare, n_levels)
    if even_out(levels.key, levels.rank, n_levels):
        sort_levels(levels.key, levels.rank, levels.spare, n_levels)
    first = np.int64(nodes.records.start[node])
    for level in range(n_levels):  # where each level's rows begin in the order
        levels.spare[level] = first
        first += levels.count[level]
    at = 0
    for cut in range(n_levels):
        level = levels.rank[cut]
        for i in range(levels.spare[level], levels.spare[level] + levels.count[level]):
            entries[at] = (np.int64(cut) << 32) | (order[i] & ROW_MASK)
            scratch.medians.right[at] = 0.0
            at += 1


@kernel
def offer_cuts(rules, feature, nodes, node, n_levels, best, scratch):
    """Compare every cut in the order of the levels' keys with the best so far."""
    levels, size = scratch.levels, nodes.records.n_rows[node]
    weight, node_purity = nodes.records.weight[node], scratch.sums[TOTAL][0]
    left_weight, n_left, best_cut = 0.0, 0, -1
    for cut in range(n_levels - 1):
        left_weight += levels.weight[levels.rank[cut]]
        n_left += levels.count[levels.rank[cut]]
        if not is_allowed(rules, n_left, left_weight, size, weight):
            continue
        gain = (-scratch.medians.right[n_left - 1] - node_purity) / weight
        if is_better(best, gain, nodes.records.impurity[node]):
            best_cut = cut
            keep(best, gain, feature, LEVEL_SET, -1)
    keep_cut(best, scratch, feature, n_levels, best_cut)


@kernel
def level_medians(medians, levels, n_levels):
    """Write each level's weighted median as its key."""
    for level in range(n_levels):
        first, stop = levels.spare[level] - levels.count[level], levels.spare[level]
        at, half = first, 0.5 * medians.weight[stop - 1]
        while medians.weight[at] < half:
            at += 1
        median = medians.value[medians.place_of_level[at]]
        if medians.weight[at] == half and at + 1 < stop:
            median += 0.5 * (medians.value[medians.place_of_level[at + 1]] - median)
        levels.key[level] = median


@kernel
def scan_levels_by_medians(sample, rules, feature, nodes, node, best, scratch, state, budget):
    """Try every partition of few levels; of more the cuts in the order by median, and then by mean.

    Passes 1 and 2 are of the first order, 4 and 5 of the second; after them the cuts are compared.
    """
    levels, medians, size = scratch.levels, scratch.medians, nodes.records.n_rows[node]
    if state[STATE_PASS] == 0:
        n_levels = state[STATE_LEVELS] = collect_levels(sample, rules, feature, nodes, node, scratch)
        divide_by_level(sample, feature, nodes, node, n_levels, scratch)
        budget -= ROW_COST * size
        if n_levels <= MAX_EXHAUSTIVE_LEVELS:
            scan_all_levels(rules, feature, nodes, node, n_levels, best, scratch)
            return budget
        level_medians(medians, levels, n_levels)
        order_rows(sample, feature, nodes, node, n_levels, scratch)
        state[STATE_PASS] = 1
    n_levels = state[STATE_LEVELS]
    while True:
        if budget <= 0:
            return budget
        if state[STATE_PASS] % 3 > 0:
            first, last = (0, size - 1) if state[STATE_PASS] % 3 == 1 else (size - 1, 0)
            budget = add_losses(
                scratch.buffer, first, last, 0, (0, 0), sample.target, medians, size, medians.right,
                (FREE, -np.inf, np.inf, 0.0), state, budget,
            )  # fmt: skip
            continue
        offer_cuts(rules, feature, nodes, node, n_levels, best, scratch)
        budget -= size
        if state[STATE_PASS] == 6:
            state[STATE_PASS] = 0
            return budget
        for level in range(n_levels):
            levels.key[level] = scratch.level_sums[level, 0] / levels.weight[level]
        order_rows(sample, feature, nodes, node, n_levels, scratch)
        state[STATE_PASS] = 4


@kernel
def scan_medians(sample, rules, feature, nodes, node, best, scratch, state, budget):
    """Try the splits of a column that is not constant here, for as long as the budget lasts.

    Returns what is left of the budget; the search has ended when ``state[STATE_PASS]`` is 0. The node's
    targets are numbered by `begin_medians` before.
    """
    if sample.is_level[feature]:
        return scan_levels_by_medians(sample, rules, feature, nodes, node, best, scratch, state, budget)
    return scan_number(sample, rules, feature, nodes, node, best, scratch, state, budget)
