"""A tree on bin codes, whole in one kernel: counts of the drawn columns' bins instead of ordered rows.

What is not about bins is that of `engine.tree.kernels`, rules, ties and draws too: `sample.order` has one
row, the plain numbers of the rows, which lie together by node::

    order[0]   | .. node A .. | .. node B ........ | .. node C .. |

A node of few rows has few bins with rows in them. They are marked in 32 bits a word as they are counted,
so that a small node, and nearly all are small, reads and clears no others. A cut lies between two bins
that both have rows: `cut` is the lower one, and `lower` and `upper` are the two bins.
"""

from typing import Any, NamedTuple

import numpy as np

from engine.jit import kernel
from engine.kernels.routing import IS_MISSING
from engine.tree.kernels.grow import add_children, choose_next, conclude, finish_split, next_feature
from engine.tree.kernels.impurity import clear, purity, split_score
from engine.tree.kernels.layout import (
    DONE,
    EVALUATE,
    GINI,
    LEFT,
    MISSING,
    NEXT_NODE,
    POISSON,
    SQUARED_ERROR,
    STATE_COUNTED,
    STATE_NODE,
    STATE_NODES,
    STATE_PHASE,
    STATE_STACK,
    STATE_VISITED,
    TOTAL,
    TRIAL,
)
from engine.tree.kernels.small_nodes import SCREEN
from engine.tree.kernels.thresholds import is_allowed, least_score, offer, pair_score

N_CODES = 256
COLUMNS_AT_ONCE = 8  # counted side by side: their cells stay in the processor's cache
WORD_BITS, N_WORDS = 5, N_CODES >> 5
FEW_ROWS = 128  # of more, marks cost more than they save
_DE_BRUIJN = 0x077CB531  # its 32 windows of five bits are all different
_BIT_OF = np.argsort([_DE_BRUIJN * 2**bit % 2**32 >> 27 for bit in range(32)])


class Binned(NamedTuple):
    """The table as codes, and room to count in.

    codes  uint8 (n_samples, n_features)             in   bin of every cell; n_bins is missing
    n_bins int64 (n_features,)                       in   at most 255
    cells  float64 (COLUMNS_AT_ONCE, N_CODES, n)     i/o  zero between two nodes: rows, then weight of every
                                                          class; or rows, weight, and sum as in `purity`
    marks  int64 (COLUMNS_AT_ONCE, N_WORDS)          i/o  zero between two nodes: bins that have rows
    """

    codes: Any
    n_bins: Any
    cells: Any
    marks: Any


@kernel
def is_of_numbers(rules):
    """Tell whether the target is a number."""
    return rules.criterion in (SQUARED_ERROR, POISSON)


@kernel
def count_cells(binned, sample, rules, columns, nodes, node):
    """Add the node's rows to the cells of some columns and mark their bins; of many rows, all bins.

    columns  int32 (n,)  in  at most COLUMNS_AT_ONCE
    """
    codes, cells, marks = binned.codes, binned.cells, binned.marks
    target, order = sample.target, sample.order[0]
    start, stop = nodes.records.start[node], nodes.records.stop[node]
    mean = nodes.value[node, 0] if rules.criterion == SQUARED_ERROR else 0.0
    is_number, is_few = is_of_numbers(rules), stop - start <= FEW_ROWS
    if not is_few:
        for j in range(columns.size):
            for word in range((binned.n_bins[columns[j]] >> WORD_BITS) + 1):
                marks[j, word] = 0xFFFFFFFF
    for i in range(start, stop):
        row = np.uint64(order[i])
        y, w = target[row, 0], target[row, 1]
        first, second = (w, w * (y - mean)) if is_number else (0.0, w)
        at = 2 if is_number else np.int64(y) + 1
        for j in range(columns.size):
            code = codes[row, columns[j]]
            cells[j, code, 0] += 1.0
            if is_number:
                cells[j, code, 1] += first
            cells[j, code, at] += second
            if is_few:
                marks[j, code >> WORD_BITS] |= 1 << (np.int64(code) & 31)


@kernel
def take_cell(cell, is_number, sums):
    """Add a cell to the sums and clear it; returns its rows and its weight."""
    n_rows, weight, first = cell[0], 0.0, 2 if is_number else 1
    cell[0] = 0.0
    if is_number:
        weight, cell[1] = cell[1], 0.0
    for k in range(sums.size):
        sums[k] += cell[first + k]
        weight += 0.0 if is_number else cell[first + k]
        cell[first + k] = 0.0
    return n_rows, weight


@kernel
def offer_cut(
    rules, column, lower, upper, side, n_left, left_weight, sums, nodes, node, search, best, scratch
):
    """Score a cut whose left side has these sums, and keep it if it is the best so far.

    search  (node_purity, floor)  as in `least_score`
    Returns the floor.
    """
    weight, total = nodes.records.weight[node], scratch.sums[TOTAL]
    if not is_allowed(rules, n_left, left_weight, nodes.records.n_rows[node], weight):
        return search[1]
    score = split_score(rules.criterion, sums, left_weight, total, weight)
    if score >= search[1]:
        place = (column, (lower << 32) | lower, (upper << 32) | upper)
        if offer(score, place, side, nodes, node, search[0], best):
            return least_score(best, nodes.records.impurity[node], search[0], weight)
    return search[1]


@kernel
def scan_cells(binned, j, column, rules, nodes, node, node_purity, best, scratch):
    """Try every cut between bins that have rows, and "is missing"; update `best` and clear the cells.

    Missing values are tried on the right, then on the left, as in `thresholds`. Returns False when the
    column is constant here, missing values included.
    """
    cells, marks, n_bins = binned.cells[j], binned.marks[j], binned.n_bins[column]
    is_number = is_of_numbers(rules)
    left, missing, trial = scratch.sums[LEFT], scratch.sums[MISSING], scratch.sums[TRIAL]
    clear(left)
    clear(missing)
    n_missing, missing_weight = take_cell(cells[n_bins], is_number, missing)
    floor = least_score(best, nodes.records.impurity[node], node_purity, nodes.records.weight[node])
    lower, n_left, left_weight, n_seen = -1, 0.0, 0.0, 0
    for word in range(N_WORDS):
        bits = marks[word]
        marks[word] = 0
        while bits != 0:
            lowest = bits & -bits
            bits ^= lowest
            code = (word << WORD_BITS) + _BIT_OF[((lowest * _DE_BRUIJN) & 0xFFFFFFFF) >> 27]
            if cells[code, 0] == 0.0:
                continue
            if lower >= 0:
                side = 1 if n_missing > 0.0 else -1
                floor = offer_cut(
                    rules, column, lower, code, side, n_left, left_weight, left, nodes, node,
                    (node_purity, floor), best, scratch,
                )  # fmt: skip
                if n_missing > 0.0:
                    for k in range(trial.size):
                        trial[k] = left[k] + missing[k]
                    floor = offer_cut(
                        rules, column, lower, code, 0, n_left + n_missing, left_weight + missing_weight,
                        trial, nodes, node, (node_purity, floor), best, scratch,
                    )  # fmt: skip
            n_rows, weight = take_cell(cells[code], is_number, left)
            n_left += n_rows
            left_weight += weight
            lower = code
            n_seen += 1
    if n_missing > 0.0 and lower >= 0:
        weight = nodes.records.weight[node]
        if is_allowed(rules, n_missing, missing_weight, nodes.records.n_rows[node], weight):
            score = split_score(rules.criterion, missing, missing_weight, scratch.sums[TOTAL], weight)
            offer(score, (column, 0, 0), 0, nodes, node, node_purity, best)
        return True
    return n_seen > 1


@kernel
def scan_pair_cells(binned, columns, rules, nodes, node, node_purity, best, scratch):
    """Do the same for some columns, of two classes with gini or of numbers: the sums stay in registers.

    Returns how many of the columns are not constant here.
    """
    cells, marks, is_number, last = (
        binned.cells,
        binned.marks,
        rules.criterion == SQUARED_ERROR,
        rules.n_sums - 1,
    )
    n_total, weight = np.float64(nodes.records.n_rows[node]), nodes.records.weight[node]
    least_rows, least_weight = np.float64(rules.min_samples_leaf), rules.min_weight_leaf
    impurity, n_counted = nodes.records.impurity[node], 0
    total_a = scratch.sums[TOTAL, 0]
    total_b = 0.0 if is_number else scratch.sums[TOTAL, last]
    floor = least_score(best, impurity, node_purity, weight)
    for j in range(columns.size):
        n_bins = binned.n_bins[columns[j]]
        n_missing, missing_a, missing_b = cells[j, n_bins, 0], cells[j, n_bins, 1], cells[j, n_bins, 2]
        cells[j, n_bins, 0] = cells[j, n_bins, 1] = cells[j, n_bins, 2] = 0.0
        missing_weight = missing_a if is_number else missing_a + missing_b
        if is_number:
            missing_a, missing_b = missing_b, 0.0
        lower, n_left, left_weight, a, b, n_seen = np.int64(-1), 0.0, 0.0, 0.0, 0.0, 0
        for word in range((n_bins >> WORD_BITS) + 1):
            bits = marks[j, word]
            marks[j, word] = 0
            while bits != 0:
                lowest = bits & -bits
                bits ^= lowest
                code = (word << WORD_BITS) + _BIT_OF[((lowest * _DE_BRUIJN) & 0xFFFFFFFF) >> 27]
                n_rows = cells[j, code, 0]
                if n_rows == 0.0:
                    continue
                for is_left in range(2 if n_missing > 0.0 and lower >= 0 else np.int64(lower >= 0)):
                    n_here, weight_here = n_left + is_left * n_missing, left_weight + is_left * missing_weight
                    a_here, b_here = a + is_left * missing_a, b + is_left * missing_b
                    rest_a, rest_b, rest_weight = total_a - a_here, total_b - b_here, weight - weight_here
                    # both sides times both weights: no division for the many that are no better
                    scaled = (a_here * a_here + b_here * b_here) * rest_weight + (
                        rest_a * rest_a + rest_b * rest_b
                    ) * weight_here
                    is_wide = n_here >= least_rows and n_total - n_here >= least_rows
                    is_wide = is_wide and weight_here >= least_weight and rest_weight >= least_weight
                    if (
                        is_wide
                        and scaled >= floor * (weight_here * rest_weight) * SCREEN
                        and rest_weight > 0.0
                    ):
                        score = pair_score(a_here, b_here, weight_here, total_a, total_b, weight)
                        place = (columns[j], (lower << 32) | lower, (code << 32) | code)
                        side = -1 if n_missing == 0.0 else 1 - is_left
                        if score >= floor and offer(score, place, side, nodes, node, node_purity, best):
                            floor = least_score(best, impurity, node_purity, weight)
                n_left += n_rows
                first, second = cells[j, code, 1], cells[j, code, 2]
                cells[j, code, 0] = cells[j, code, 1] = cells[j, code, 2] = 0.0
                left_weight += first if is_number else first + second
                a, b = (a + second, 0.0) if is_number else (a + first, b + second)
                lower = code
                n_seen += 1
        if n_missing > 0.0 and n_seen > 0:
            if is_allowed(rules, n_missing, missing_weight, n_total, weight):
                score = pair_score(missing_a, missing_b, missing_weight, total_a, total_b, weight)
                offer(score, (columns[j], 0, 0), 0, nodes, node, node_purity, best)
                floor = least_score(best, impurity, node_purity, weight)
            n_seen += 1
        n_counted += n_seen > 1
    return n_counted


@kernel
def evaluate_binned(binned, sample, rules, nodes, best, scratch, state, random_state, budget):
    """Look at columns, several at once, until enough have been looked at; returns what is left of budget."""
    node, features = state[STATE_NODE], scratch.features
    node_purity = purity(rules.criterion, scratch.sums[TOTAL], nodes.records.weight[node])
    # as in `engine.tree.kernels.grow`: constant columns count, unless nothing else was drawn yet
    while state[STATE_VISITED] < features.size and (
        state[STATE_VISITED] < rules.max_features or state[STATE_COUNTED] == 0
    ):
        if budget <= 0:
            return budget
        first = state[STATE_VISITED]
        stop = min(first + COLUMNS_AT_ONCE, max(rules.max_features, first + 1))
        for visited in range(first, stop):
            next_feature(rules, scratch, visited, random_state)
        columns = features[first:stop]
        count_cells(binned, sample, rules, columns, nodes, node)
        if rules.criterion == SQUARED_ERROR or (rules.criterion == GINI and rules.n_sums == 2):
            state[STATE_COUNTED] += scan_pair_cells(
                binned, columns, rules, nodes, node, node_purity, best, scratch
            )  # fmt: skip
        else:
            for j in range(columns.size):
                counts = scan_cells(binned, j, columns[j], rules, nodes, node, node_purity, best, scratch)
                state[STATE_COUNTED] += 1 if counts else 0
        state[STATE_VISITED] = stop
        budget -= nodes.records.n_rows[node] * columns.size
    conclude(rules, nodes, best, state)
    return budget


@kernel
def partition_binned(binned, sample, rules, nodes, scratch, state):
    """Divide the current node's rows, both sides keeping their order, and make its children."""
    node, order, codes, buffer = state[STATE_NODE], sample.order[0], binned.codes, scratch.buffer
    start, stop, column = nodes.records.start[node], nodes.records.stop[node], nodes.records.feature[node]
    n_bins, cut = binned.n_bins[column], np.int64(nodes.records.cut[node])
    missing_left = n_bins if nodes.records.missing_child[node] == 0 else N_CODES
    if nodes.records.kind[node] == IS_MISSING:
        cut, missing_left = -1, n_bins
    n_left, n_right, n_missing = np.int64(start), 0, 0
    for i in range(start, stop):
        row = order[i]
        code = np.int64(codes[np.uint64(row), column])
        order[n_left] = row  # overwritten by the next row when this one goes right
        buffer[n_right] = row
        goes_right = np.int64(code > cut) & np.int64(code != missing_left)
        n_missing += np.int64(code == n_bins)
        n_right += goes_right
        n_left += 1 - goes_right
    for i in range(n_right):
        order[n_left + i] = buffer[i]
    nodes.records.n_missing[node] = n_missing
    add_children(nodes, node, n_left, state)
    finish_split(sample, rules, nodes, node)
    state[STATE_PHASE] = NEXT_NODE


@kernel
def grow_binned(binned, sample, rules, nodes, best, scratch, state, stack, random_state, budget):
    """Grow on until the tree is done, the budget is spent, or more room is needed.

    As `engine.tree.kernels.grow.grow`, which sees to nodes and the stack alike.
    """
    while budget > 0 and state[STATE_PHASE] != DONE:
        if state[STATE_PHASE] == NEXT_NODE:
            if state[STATE_NODES] + 2 > nodes.records.size or state[STATE_STACK] + 2 > stack.size:
                return
            choose_next(sample, rules, nodes, best, scratch, state, stack)
            budget -= 16
        elif state[STATE_PHASE] == EVALUATE:
            budget = evaluate_binned(
                binned, sample, rules, nodes, best, scratch, state, random_state, budget
            )  # fmt: skip
        else:
            node = state[STATE_NODE]
            budget -= nodes.records.n_rows[node]
            partition_binned(binned, sample, rules, nodes, scratch, state)
            first = nodes.records.first_child[node]
            stack[state[STATE_STACK]], stack[state[STATE_STACK] + 1] = first + 1, first
            state[STATE_STACK] += 2
