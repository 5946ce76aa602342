"""Subtrees of few rows, grown in a layout of their own that stays in the processor's cache.

The rows are numbered anew from 0, and so are the ranks of every column, so an entry is a uint32,
``rank << 16 | row``, half as wide as in `layout`. What a row adds to the sums of a node is written
down once a node and read in every column. A threshold is scored without a division, and by the very
arithmetic of `thresholds` only where it may be better than the best so far: so the tree is the same,
to the last bit, as the one that the general kernels grow.

For numeric columns; two classes with gini, or numbers with squared error; depth first.
"""

from typing import Any, NamedTuple

import numpy as np

from engine.jit import kernel
from engine.kernels.routing import IS_MISSING, THRESHOLD
from engine.tree.kernels.grow import add_children, conclude, may_split, next_feature, settle_split
from engine.tree.kernels.impurity import add_row, clear, node_impurity
from engine.tree.kernels.layout import (
    BEST_CUT,
    BEST_ENTRIES,
    BEST_FEATURE,
    BEST_KIND,
    BEST_LOWER,
    BEST_MISSING,
    BEST_UPPER,
    DONE,
    MISSING_RANK,
    PARTITION,
    ROW_MASK,
    SQUARED_ERROR,
    STATE_NODE,
    STATE_NODES,
    STATE_PHASE,
    STATE_STACK,
    TIE_SHARE,
)
from engine.tree.kernels.thresholds import is_allowed, pair_score

SMALL_BITS = 16  # of a row in an entry
SMALL_MASK = 0xFFFF
SMALL_MISSING = 0xFFFF  # rank of missing values: behind the ranks of so many rows
MOST_SMALL_ROWS = (
    32_768  # of a subtree: all its entries are 4 MB at 28 columns; ranks end below SMALL_MISSING
)
SMALL_FORM = (SMALL_BITS, SMALL_MASK, SMALL_MISSING)
LARGE_FORM = (32, ROW_MASK, MISSING_RANK)
SCREEN = 1.0 - 1e-12  # far more than rounding takes from a score, far less than two candidates differ


class Small(NamedTuple):
    """The rows of a subtree.

    entries  uint32  (n_features, n_rows)  i/o  rank << 16 | row, ascending within each node
    rows     int64   (n_rows,)             in   number of each row in the whole table
    y, w     float64 (n_rows,)             in   target or class index, and weight
    a, b     float64 (n_rows,)             i/o  what a row adds: to the weight of either class; or its
                                                weighted deviation from the mean of the node, and 0
    is_first uint8   (n_rows,)             in   1 where the class is the first: as narrow as can be, for the
                                                cache, where rows need only be counted
    side     uint8   (n_rows,)             scratch  child of each row of the node being partitioned
    buffer   uint32  (n_rows,)             scratch
    is_unit  bool                          in   every weight is 1
    form     (int, int, int)               in   bits of a row in an entry, mask of the row, rank of missing

    Where the rows of large nodes are meant, entries and buffer are the int64 of `layout`, and `form` too.
    """

    entries: Any
    rows: Any
    y: Any
    w: Any
    a: Any
    b: Any
    is_first: Any
    side: Any
    buffer: Any
    is_unit: Any
    form: Any


@kernel
def gather(sample, start, stop, small_row, small):
    """Fill the layout from the entries between `start` and `stop`, a node's, of every column.

    small_row  uint16 (n_samples,)  scratch  new number of each of these rows
    """
    for i in range(start, stop):
        row = sample.order[0, i] & ROW_MASK
        small.rows[i - start] = row
        small_row[row] = i - start
        small.y[i - start], small.w[i - start] = sample.target[row, 0], sample.target[row, 1]
    for feature in range(sample.order.shape[0]):
        order, entries = sample.order[feature], small.entries[feature]
        rank, before = np.int64(0), order[start] >> 32
        for i in range(start, stop):
            here = order[i] >> 32
            rank += here != before
            before = here
            kept = np.int64(SMALL_MISSING) if here == MISSING_RANK else rank
            entries[i - start] = (kept << SMALL_BITS) | np.int64(small_row[order[i] & ROW_MASK])


@kernel
def begin_small(small, rules, nodes, node):
    """Write down what each of the node's rows adds; returns what a candidate is compared with: `totals`.

    totals  (weight, sum a, sum b, impurity, purity of the undivided node)
    """
    entries, row_mask, mean = small.entries, np.uint64(small.form[1]), nodes.value[node, 0]
    rows_y, rows_w, rows_a, rows_b, is_first = small.y, small.w, small.a, small.b, small.is_first
    start, stop = nodes.records.start[node], nodes.records.stop[node]
    weight, total_a, total_b = nodes.records.weight[node], 0.0, 0.0
    if rules.criterion == SQUARED_ERROR:
        for i in range(start, stop):
            row = np.uint64(entries[0, i]) & row_mask
            a = rows_w[row] * (rows_y[row] - mean)
            rows_a[row] = a
            total_a += a
    elif small.is_unit:
        n_first = 0
        for i in range(start, stop):
            n_first += is_first[np.uint64(entries[0, i]) & row_mask]
        total_a, total_b = np.float64(n_first), weight - n_first
    else:
        for i in range(start, stop):
            row = np.uint64(entries[0, i]) & row_mask
            total_a += rows_a[row]
            total_b += rows_b[row]
    node_purity = (total_a * total_a + total_b * total_b) / weight
    return weight, total_a, total_b, nodes.records.impurity[node], node_purity


@kernel
def least_of(found, totals):
    """Return a score below which no candidate can be better, ties included: `thresholds.least_score`."""
    if found[0] < 0:
        return -np.inf
    return (found[1] - 2.0 * TIE_SHARE * totals[3]) * totals[0] + totals[4]


@kernel
def weigh(found, place, n_left, n_rows, sums, totals, rules):
    """Return a candidate where it is allowed and better than what was found, else what was found.

    found, place  (feature, gain, i, child of missing)  i: last entry of the left side, -1 for "is missing";
                                                        the gain of a place is not read
    sums          (weight, a, b)                        of the left side
    """
    if not is_allowed(rules, n_left, sums[0], n_rows, totals[0]):
        return found
    score = pair_score(sums[1], sums[2], sums[0], totals[1], totals[2], totals[0])
    if score < least_of(found, totals):
        return found
    gain = (score - totals[4]) / totals[0]
    if found[0] >= 0 and not gain > found[1] + TIE_SHARE * totals[3]:
        return found
    return place[0], gain, place[2], place[3]


@kernel
def scan_deviations(entries, form, a_of, feature, start, stop, totals, rules, found):
    """Try every threshold for numbers where all weights are 1 and nothing is missing."""
    row_mask, weight, total_a = np.uint64(form[1]), totals[0], totals[1]
    screen = SCREEN * least_of(found, totals)
    a, left, upper = 0.0, 0.0, np.uint64(entries[feature, start])
    for i in range(start, stop - 1):
        lower, upper = upper, np.uint64(entries[feature, i + 1])
        a += a_of[lower & row_mask]
        left += 1.0
        right, rest_a = weight - left, total_a - a
        score = a * a * right + rest_a * rest_a * left
        if (lower ^ upper) > row_mask and not score < screen * left * right:
            place = (feature, 0.0, i, -1)
            found = weigh(found, place, i + 1 - start, stop - start, (left, a, 0.0), totals, rules)
            screen = SCREEN * least_of(found, totals)
    return found


@kernel
def scan_counts(entries, form, is_first, feature, start, stop, totals, rules, found):
    """Try every threshold for classes where all weights are 1 and nothing is missing: rows are counted."""
    row_mask, weight, total_a, total_b = np.uint64(form[1]), totals[0], totals[1], totals[2]
    screen = SCREEN * least_of(found, totals)
    n_first, upper = 0, np.uint64(entries[feature, start])
    for i in range(start, stop - 1):
        lower, upper = upper, np.uint64(entries[feature, i + 1])
        n_first += is_first[lower & row_mask]
        left, a = np.float64(i + 1 - start), np.float64(n_first)
        right, b = weight - left, left - a
        rest_a, rest_b = total_a - a, total_b - b
        score = (a * a + b * b) * right + (rest_a * rest_a + rest_b * rest_b) * left
        if (lower ^ upper) > row_mask and not score < screen * left * right:
            place = (feature, 0.0, i, -1)
            found = weigh(found, place, i + 1 - start, stop - start, (left, a, b), totals, rules)
            screen = SCREEN * least_of(found, totals)
    return found


@kernel
def scan_weighted(entries, form, rows, feature, start, stop, totals, rules, found):
    """Try every threshold for any weights, where nothing is missing; rows: their a, b and w."""
    row_mask, a_of, b_of, w_of = np.uint64(form[1]), rows[0], rows[1], rows[2]
    weight, total_a, total_b = totals[0], totals[1], totals[2]
    screen = SCREEN * least_of(found, totals)
    a, b, left, upper = 0.0, 0.0, 0.0, np.uint64(entries[feature, start])
    for i in range(start, stop - 1):
        lower, upper = upper, np.uint64(entries[feature, i + 1])
        row = lower & row_mask
        a += a_of[row]
        b += b_of[row]
        left += w_of[row]
        right, rest_a, rest_b = weight - left, total_a - a, total_b - b
        score = (a * a + b * b) * right + (rest_a * rest_a + rest_b * rest_b) * left
        if (lower ^ upper) > row_mask and not score < screen * left * right:
            place = (feature, 0.0, i, -1)
            found = weigh(found, place, i + 1 - start, stop - start, (left, a, b), totals, rules)
            screen = SCREEN * least_of(found, totals)
    return found


@kernel
def scan_missing(entries, form, rows, feature, start, stop, totals, rules, found):
    """Try every threshold with missing values right, then left; last the split "is missing"."""
    row_mask, a_of, b_of, w_of = np.uint64(form[1]), rows[0], rows[1], rows[2]
    present_stop, missing_weight, missing_a, missing_b = stop, 0.0, 0.0, 0.0
    while np.int64(entries[feature, present_stop - 1]) >> form[0] == form[2]:
        present_stop -= 1
        row = np.uint64(entries[feature, present_stop]) & row_mask
        missing_weight += w_of[row]
        missing_a += a_of[row]
        missing_b += b_of[row]
    n_rows, n_missing = stop - start, stop - present_stop
    a, b, left, upper = 0.0, 0.0, 0.0, np.uint64(entries[feature, start])
    for i in range(start, present_stop - 1):
        lower, upper = upper, np.uint64(entries[feature, i + 1])
        row = lower & row_mask
        a += a_of[row]
        b += b_of[row]
        left += w_of[row]
        if (lower ^ upper) > row_mask:
            n_left = i + 1 - start
            found = weigh(found, (feature, 0.0, i, 1), n_left, n_rows, (left, a, b), totals, rules)
            sums = (left + missing_weight, a + missing_a, b + missing_b)
            found = weigh(found, (feature, 0.0, i, 0), n_left + n_missing, n_rows, sums, totals, rules)
    sums = (missing_weight, missing_a, missing_b)
    return weigh(found, (feature, 0.0, -1, 0), n_missing, n_rows, sums, totals, rules)


@kernel
def search_columns(entries, form, is_unit, rows, features, start, stop, totals, rules, found):
    """Return the best split found so far or in some columns, and how many of these are not constant.

    form      (bits of a row in an entry, mask of the row, rank of missing values)
    rows      (a, b, w, is_first)  (n_rows,) each  in  see `Small`
    features  int32 (n_columns,)                  in
    totals    see `begin_small`; found: see `weigh`
    """
    n_counted = 0
    for at in range(features.size):
        feature = np.int64(features[at])
        first = np.int64(entries[feature, start]) >> form[0]
        last = np.int64(entries[feature, stop - 1]) >> form[0]
        if first == last:
            continue
        n_counted += 1
        if last == form[2]:
            found = scan_missing(entries, form, rows, feature, start, stop, totals, rules, found)
        elif is_unit and rules.criterion == SQUARED_ERROR:
            found = scan_deviations(entries, form, rows[0], feature, start, stop, totals, rules, found)
        elif is_unit:
            found = scan_counts(entries, form, rows[3], feature, start, stop, totals, rules, found)
        else:
            found = scan_weighted(entries, form, rows, feature, start, stop, totals, rules, found)
        if found[0] >= 0 and found[1] >= (1.0 - 0.5 * TIE_SHARE) * totals[3]:
            break  # nothing is purer than pure, and all that comes later loses a tie
    return found, n_counted


@kernel
def evaluate_small(small, rules, nodes, node, scratch, random_state):
    """Find the best split of a node; returns it, and how many columns were looked at."""
    totals = begin_small(small, rules, nodes, node)
    entries, form, features = small.entries, small.form, scratch.features
    rows = (small.a, small.b, small.w, small.is_first)
    start, stop = np.int64(nodes.records.start[node]), np.int64(nodes.records.stop[node])
    found, n_visited, n_counted = (-1, 0.0, -1, -1), 0, 0
    draws = rules.max_features < features.size
    n_together = 1 if draws else features.size
    while n_visited < features.size and (n_visited < rules.max_features or n_counted == 0):
        if draws:
            next_feature(rules, scratch, n_visited, random_state)
        some = features[n_visited : n_visited + n_together]
        found, n_varied = search_columns(
            entries, form, small.is_unit, rows, some, start, stop, totals, rules, found
        )
        n_visited += n_together
        n_counted += n_varied
    return found, n_visited


@kernel
def keep_found(found, small, best):
    """Write what was found down as the general kernels do, with rows of the subtree."""
    feature, gain, i, missing_child = found
    best.gain[0], best.ints[BEST_FEATURE], best.ints[BEST_ENTRIES] = gain, feature, 0
    best.ints[BEST_KIND], best.ints[BEST_MISSING] = THRESHOLD if i >= 0 else IS_MISSING, missing_child
    if i >= 0:
        lower, upper = np.int64(small.entries[feature, i]), np.int64(small.entries[feature, i + 1])
        best.ints[BEST_CUT] = lower >> small.form[0]
        best.ints[BEST_LOWER], best.ints[BEST_UPPER] = lower & small.form[1], upper & small.form[1]


@kernel
def choose_small_sides(small, nodes, node):
    """Write the child of each of the node's rows, count missing ones; returns how many take child 0."""
    entries, side, feature = small.entries, small.side, nodes.records.feature[node]
    is_missing_split, cut = nodes.records.kind[node] == IS_MISSING, nodes.records.cut[node]
    missing_side, n_left, n_missing = nodes.records.missing_child[node], 0, 0
    row_bits, row_mask, missing_rank = small.form
    for i in range(nodes.records.start[node], nodes.records.stop[node]):
        rank, is_right = np.int64(entries[feature, i]) >> row_bits, 0
        if rank == missing_rank:
            is_right = 0 if is_missing_split else missing_side
            n_missing += 1
        else:
            is_right = 1 if is_missing_split or rank > cut else 0
        side[np.uint64(entries[feature, i]) & np.uint64(row_mask)] = is_right
        n_left += 1 - is_right
    nodes.records.n_missing[node] = n_missing
    return n_left


@kernel
def partition_small(entries, form, first_feature, stop_feature, start, stop, side, buffer):
    """Move rows of child 0 before rows of child 1, both keeping their order: branch-free stable partition."""
    row_mask = np.uint64(form[1])
    for feature in range(first_feature, stop_feature):
        n_left, n_right = np.uint64(start), np.uint64(0)  # unsigned: no look at negative places
        for i in range(start, stop):
            entry = entries[feature, i]
            entries[feature, n_left] = entry  # overwritten by the next row when this one goes right
            buffer[n_right] = entry
            goes_right = np.uint64(side[np.uint64(entry) & row_mask])
            n_right += goes_right
            n_left += np.uint64(1) - goes_right
        for i in range(n_right):
            entries[feature, n_left + np.uint64(i)] = buffer[i]


@kernel
def describe_small(small, rules, nodes, node):
    """Fill value, impurity, weight, count and purity of a node, as `impurity.describe_node` does."""
    start, stop, entries = nodes.records.start[node], nodes.records.stop[node], small.entries[0]
    first, is_pure, weight, value = small.y[entries[start] & SMALL_MASK], True, 0.0, nodes.value[node]
    clear(value)
    for i in range(start, stop):
        row = entries[i] & SMALL_MASK
        y, w = small.y[row], small.w[row]
        weight += w
        is_pure = is_pure and y == first
        add_row(rules.criterion, value, y, w, first)
    for k in range(value.size):
        value[k] /= weight
    impurity = 0.0
    if rules.criterion == SQUARED_ERROR:
        value[0] += first
        for i in range(start, stop):
            row = entries[i] & SMALL_MASK
            deviation = small.y[row] - value[0]
            impurity += small.w[row] * deviation * deviation
        impurity /= weight
    else:
        impurity = node_impurity(rules.criterion, value)
    nodes.records.impurity[node] = 0.0 if is_pure else impurity
    nodes.records.weight[node] = weight
    nodes.records.n_rows[node] = stop - start
    nodes.records.is_pure[node] = is_pure


@kernel
def divide_small(small, rules, nodes, node, state):
    """Make the node's children; columns are divided only where a child may be split further.

    Returns how many columns were.
    """
    start, stop = np.int64(nodes.records.start[node]), np.int64(nodes.records.stop[node])
    n_left = choose_small_sides(small, nodes, node)
    first, n_columns = state[STATE_NODES], small.entries.shape[0]
    add_children(nodes, node, start + n_left, state)
    partition_small(small.entries, small.form, 0, 1, start, stop, small.side, small.buffer)
    describe_small(small, rules, nodes, first)
    describe_small(small, rules, nodes, first + 1)
    settle_split(nodes, node, rules.missing_is_level)
    if not may_split(rules, nodes, first) and not may_split(rules, nodes, first + 1):
        return 1
    partition_small(small.entries, small.form, 1, n_columns, start, stop, small.side, small.buffer)
    return n_columns


@kernel
def grow_small(small, rules, nodes, best, scratch, state, stack, random_state, budget):
    """Grow on until the subtree is done, the budget is spent, or more room is needed.

    As `grow.grow`, whose arguments these are: nodes are numbered in the same order.
    """
    while budget > 0 and state[STATE_STACK] > 0:
        if state[STATE_NODES] + 2 > nodes.records.size or state[STATE_STACK] + 2 > stack.size:
            return
        state[STATE_STACK] -= 1
        node = stack[state[STATE_STACK]]
        budget -= 16
        if not may_split(rules, nodes, node):
            continue
        state[STATE_NODE] = node
        n_rows = nodes.records.n_rows[node]
        found, n_visited = evaluate_small(small, rules, nodes, node, scratch, random_state)
        budget -= n_rows * n_visited
        keep_found(found, small, best)
        conclude(rules, nodes, best, state)
        if state[STATE_PHASE] == PARTITION:
            budget -= n_rows * divide_small(small, rules, nodes, node, state) // 2
            first = nodes.records.first_child[node]
            stack[state[STATE_STACK]], stack[state[STATE_STACK] + 1] = first + 1, first
            state[STATE_STACK] += 2
    if state[STATE_STACK] == 0:
        state[STATE_PHASE] = DONE
