"""A whole tree in one kernel, run by a team's leader: which node is split, and what its children are asked.

Between two orders to a team lies what decides on the next one. In Python that took some 45 microseconds a
split, in which the other threads had nothing to do. The kernel returns when it has worked for long, so that
its caller can ask whether to stop, or when there is no room for more nodes; called again, it goes on.
"""

from typing import Any, NamedTuple

import numpy as np

from engine import dtypes
from engine.boosting.kernels.splitting import (
    FALLS,
    FEATURE,
    FREE,
    GAIN,
    KIND,
    LEVEL_SET,
    THRESHOLD,
    curvature,
    leaf_value,
)
from engine.boosting.kernels.team import (
    ADD_ROWS,
    ASKED_COLUMNS,
    ASKED_SLOT,
    ASKED_WANTED,
    NO_SLOT,
    build,
    order,
    partition,
)
from engine.jit import inner_kernel, kernel
from engine.kernels.heap import pop_node, push_node
from engine.kernels.numeric import random_below

NO_NODE = -1
NO_LIMIT = -1
GOES_LEFT, IS_HERE = 1, 2  # bits of a code in `Growth.codes`
NEWEST, LARGEST_GAIN, LEAST_DEPTH = range(3)  # which node is split next
N_NODES, N_LEAVES, N_WAITING, N_FREE, N_BUILDS, N_CODES, N_STATE = range(7)
BUILT, ROW, FROM, FIRST_ASKED, SECOND_ASKED, N_BUILD = range(6)  # of a planned histogram
CELLS_A_MOVE = 4  # what parting a row costs, in rows added to a column

GROWING_NODE = np.dtype(
    [
        ("start", dtypes.COUNT_DTYPE),
        ("stop", dtypes.COUNT_DTYPE),
        ("first_child", dtypes.COUNT_DTYPE),
        ("slot", dtypes.COUNT_DTYPE),
        ("codes_at", dtypes.COUNT_DTYPE),
        ("priority", np.float64),
        ("lower", np.float64),
        ("upper", np.float64),
        ("left_value", np.float64),
        ("right_value", np.float64),
        ("depth", dtypes.NODE_DTYPE),
        ("heap", dtypes.NODE_DTYPE),
    ],
    align=True,
)
"""A node in the making.

start, stop              its rows are this stretch of `Desk.rows`
slot                     of `Desk.histograms`, where its own is kept until it is split
codes_at                 where the codes of its best split begin in `Growth.codes`
priority, heap           see `engine.kernels.heap`
lower, upper             between what its value has to lie, in the histograms' unit of gradients
left_value, right_value  of the two sides of its best split, in the same; told where columns have directions
"""


class Limits(NamedTuple):
    """What a tree has to keep to.

    Attributes
    ----------
    max_leaf_nodes, max_depth : int
        Or `NO_LIMIT`.
    order : NEWEST, LARGEST_GAIN or LEAST_DEPTH
    n_wanted : int
        Columns drawn at a node; at least as many as there are: none is drawn.
    n_features, n_cells : int
        Of the whole table, also where some columns stand apart: in which order children are searched, and
        columns drawn, is not to depend on that.
    has_directions : bool
    row_chunk, least_chunk, pieces_a_node : int
        Rows a piece of a histogram, at most and where nodes have few rows, and pieces of these.
    split_chunk : int
        Rows a piece of a partition.
    wave : int
        Rows added to a histogram between two returns.
    slots_at_work : int
        Histograms that a split needs beside those that are kept.
    rules : SplitRules
        `lower` and `upper` are the root's.
    """

    max_leaf_nodes: int
    max_depth: int
    order: int
    n_wanted: int
    n_features: int
    n_cells: int
    has_directions: bool
    row_chunk: int
    least_chunk: int
    pieces_a_node: int
    split_chunk: int
    wave: int
    slots_at_work: int
    rules: Any


class Growth(NamedTuple):
    """A tree while it grows; arrays of nodes are longer than the nodes so far.

    Attributes
    ----------
    nodes : GROWING_NODE (n_room,)
        Children are adjacent; the root is first.
    best : float64 (n_room, 6)
        Their best splits, see `splitting.find_best_split`.
    codes : uint8 (n_room_of_codes,)
        Node after node, by code of the best split's column: `GOES_LEFT` and, of a level that has rows in the
        node, `IS_HERE`. A column may have so many levels that not every node can have room for all.
    free : int64 (n_slots,)
        The first `N_FREE` are slots without a histogram.
    builds : int64 (2, 5)
        The first `N_BUILDS` are histograms to build, in this order: the node, the row to go on from, the slot
        of the histogram to take it from, which is then the sibling's, and the nodes to search.
    state : int64 (N_STATE,)
        See above.
    columns : int64 (n_allowed,)
        That may be asked about, of those that are added up.
    numbers : int64 (n_columns,)
        What those that are added up are called in the whole table.
    random_state : uint64 (1,)
    """

    nodes: Any
    best: Any
    codes: Any
    free: Any
    builds: Any
    state: Any
    columns: Any
    numbers: Any
    random_state: Any


@kernel
def plant(growth, limits, n_rows):
    """Begin a tree with its root; no slot has a histogram then."""
    state = growth.state
    state[:] = 0
    state[N_FREE] = growth.free.size
    for slot in range(growth.free.size):
        growth.free[slot] = slot
    root = new_node(growth, 0, n_rows, 0, limits.rules.lower, limits.rules.upper)
    state[N_LEAVES] = 1
    if may_split(growth, limits, root):
        plan_build(growth, root, NO_SLOT, root, NO_NODE)


@inner_kernel
def new_node(growth, start, stop, depth, lower, upper):
    """Add a leaf of some rows; return its number."""
    nodes, node = growth.nodes, growth.state[N_NODES]
    nodes.start[node], nodes.stop[node], nodes.depth[node] = start, stop, depth
    nodes.first_child[node], nodes.slot[node] = NO_NODE, NO_SLOT
    nodes.lower[node], nodes.upper[node] = lower, upper
    growth.best[node, KIND] = 0.0
    growth.state[N_NODES] += 1
    return node


@inner_kernel
def n_rows_of(growth, node):
    """Return how many rows a node has."""
    return growth.nodes.stop[node] - growth.nodes.start[node]


@inner_kernel
def may_split(growth, limits, node):
    """Tell whether a node is worth a histogram."""
    is_deep = limits.max_depth != NO_LIMIT and growth.nodes.depth[node] >= limits.max_depth
    return not is_deep and n_rows_of(growth, node) >= 2 * limits.rules.min_samples_leaf


@inner_kernel
def plan_build(growth, node, parent, first_asked, second_asked):
    """Have a node's histogram built, and one or two nodes searched."""
    build = growth.builds[growth.state[N_BUILDS]]
    build[BUILT], build[ROW], build[FROM] = node, growth.nodes.start[node], parent
    build[FIRST_ASKED], build[SECOND_ASKED] = first_asked, second_asked
    growth.state[N_BUILDS] += 1


@inner_kernel
def plan_children(growth, limits, node):
    """Have the smaller child's histogram built; the larger one's is the parent's less that."""
    small = growth.nodes.first_child[node]
    large = small + 1
    if n_rows_of(growth, small) > n_rows_of(growth, large):
        small, large = large, small
    parent, growth.nodes.slot[node] = growth.nodes.slot[node], NO_SLOT
    if parent != NO_SLOT and may_split(growth, limits, large):
        plan_build(growth, small, parent, large, small if may_split(growth, limits, small) else NO_NODE)
        return
    if parent != NO_SLOT:
        free_slot(growth, parent)
    for child in (large, small):  # columns are drawn in the same order as with a histogram
        if may_split(growth, limits, child):
            plan_build(growth, child, NO_SLOT, child, NO_NODE)


@inner_kernel
def free_slot(growth, slot):
    """Let a slot be used anew."""
    growth.free[growth.state[N_FREE]] = slot
    growth.state[N_FREE] += 1


@inner_kernel
def go_on_building(orders, desk, growth, limits):
    """Add rows to the first planned histogram, search it once all are; return how many cells were added."""
    plan = growth.builds[0]
    node, first = plan[BUILT], plan[ROW]
    n_rows, stop = n_rows_of(growth, node), growth.nodes.stop[node]
    chunk = min(limits.row_chunk, max(limits.least_chunk, n_rows // limits.pieces_a_node))
    n_columns = desk.codes.shape[1]
    if stop - first > limits.wave:
        order(orders, desk, ADD_ROWS, first, limits.wave, chunk)
        plan[ROW] += limits.wave
        return limits.wave * n_columns
    growth.state[N_FREE] -= 1
    slot, parent = growth.free[growth.state[N_FREE]], plan[FROM]
    n_asked = 0
    for asked in (plan[FIRST_ASKED], plan[SECOND_ASKED]):
        if asked != NO_NODE:
            ask(desk.searches, growth, limits, asked, slot if asked == node else parent, n_asked)
            n_asked += 1
    build(orders, desk, first, stop - first, chunk, slot, parent, n_asked)
    is_searched = False
    for nth in range(n_asked):
        asked = plan[FIRST_ASKED + nth]
        is_searched |= asked == node
        take_best(desk, growth, limits, asked, nth)
    if not is_searched:
        free_slot(growth, slot)
    copy_first(growth.builds[1], N_BUILD, plan)
    growth.state[N_BUILDS] -= 1
    return (stop - first) * n_columns + n_asked * desk.histograms.shape[1]


@inner_kernel
def copy_first(source, n, target):
    """Copy the first items of an array: a slice of one cannot be assigned where nothing is counted."""
    for i in range(n):
        target[i] = source[i]


@inner_kernel
def ask(searches, growth, limits, node, slot, nth):
    """Write down what is to be searched for a node, by which rules and in which columns."""
    n_columns, rules = growth.columns.size, limits.rules
    columns = searches.columns[nth, :n_columns]
    copy_first(growth.columns, n_columns, columns)
    if limits.n_wanted < n_columns:
        for i in range(n_columns - 1):
            drawn = i + random_below(growth.random_state, n_columns - i)
            columns[i], columns[drawn] = columns[drawn], columns[i]
    asked, told = searches.asked[nth], searches.rules[nth]
    asked[ASKED_SLOT], asked[ASKED_COLUMNS], asked[ASKED_WANTED] = slot, n_columns, limits.n_wanted
    told[0], told[1], told[2] = rules.hessian_unit, rules.reg_lambda, rules.reg_alpha
    told[3], told[4], told[5] = rules.min_child_weight, rules.min_samples_leaf, rules.least_gain
    told[6], told[7] = growth.nodes.lower[node], growth.nodes.upper[node]


@inner_kernel
def take_best(desk, growth, limits, node, nth):
    """Take the best split that was found for a node; the histogram stays if it is of use to the children."""
    searches = desk.searches
    best, slot = searches.best[nth], searches.asked[nth, ASKED_SLOT]
    copy_first(best, best.size, growth.best[node])
    if best[KIND] > 0:
        place, histogram = np.int64(best[FEATURE]), desk.histograms[slot]
        at, n_bins, codes_at = searches.offsets[place], searches.n_bins[place], growth.state[N_CODES]
        codes = growth.codes[codes_at : codes_at + n_bins + 1]
        growth.nodes.codes_at[node] = codes_at
        growth.state[N_CODES] += n_bins + 1
        copy_first(searches.goes_left[nth], n_bins + 1, codes)
        if best[KIND] == LEVEL_SET:
            for level in range(n_bins):
                if histogram[at + level, histogram.shape[1] - 1] > 0:
                    codes[level] |= IS_HERE
        if limits.has_directions:
            value_sides(histogram, at, codes, growth, limits.rules, node)
        push(growth, limits.order, node)
    # the children of smaller ones are built from their few rows sooner than by subtraction
    is_of_use = best[KIND] > 0 and n_rows_of(growth, node) * limits.n_features >= limits.n_cells
    if is_of_use and growth.state[N_FREE] >= limits.slots_at_work:
        growth.nodes.slot[node] = slot
    else:
        free_slot(growth, slot)


@inner_kernel
def value_sides(histogram, at, codes, growth, rules, node):
    """Write what the sides of a node's best split would be worth as leaves."""
    last = histogram.shape[1] - 1
    for side in range(2):
        g, h, count = 0, 0, 0
        for code in range(codes.size):
            if (codes[code] & GOES_LEFT) != side:
                g += histogram[at + code, 0]
                h += histogram[at + code, 1]
                count += histogram[at + code, last]
        value = leaf_value(
            float(g), curvature(h, count, last, rules.hessian_unit), rules.reg_lambda, rules.reg_alpha
        )
        if side == 0:
            growth.nodes.left_value[node] = value
        else:
            growth.nodes.right_value[node] = value


@inner_kernel
def push(growth, order, node):
    """Let a node wait to be split."""
    if order == LARGEST_GAIN:
        growth.nodes.priority[node] = growth.best[node, GAIN]
    elif order == LEAST_DEPTH:
        growth.nodes.priority[node] = -growth.nodes.depth[node]
    else:  # any gives the same tree; the newest first keeps fewest histograms
        growth.nodes.priority[node] = node
    push_node(growth.nodes, growth.state[N_WAITING], node)
    growth.state[N_WAITING] += 1


@inner_kernel
def split_next(orders, desk, growth, limits):
    """Part the rows of the first node that waits, give it its children; return what that cost, in cells."""
    state, nodes = growth.state, growth.nodes
    node = pop_node(nodes, state[N_WAITING])
    state[N_WAITING] -= 1
    place = np.int64(growth.best[node, FEATURE])
    for code in range(desk.searches.n_bins[place] + 1):
        desk.goes_left[code] = growth.codes[nodes.codes_at[node] + code] & GOES_LEFT
    start, stop, depth = nodes.start[node], nodes.stop[node], nodes.depth[node] + 1
    n_left = partition(orders, desk, start, stop - start, limits.split_chunk, growth.numbers[place])
    lower, upper = nodes.lower[node], nodes.upper[node]
    left = new_node(growth, start, start + n_left, depth, lower, upper)
    new_node(growth, start + n_left, stop, depth, lower, upper)
    nodes.first_child[node] = left
    if limits.has_directions:
        hand_on_bounds(growth, node, desk.searches.directions[place])
    state[N_LEAVES] += 1
    if limits.max_leaf_nodes == NO_LIMIT or state[N_LEAVES] < limits.max_leaf_nodes:
        plan_children(growth, limits, node)
    return (stop - start) * CELLS_A_MOVE


@inner_kernel
def hand_on_bounds(growth, node, direction):
    """Part the bounds of a split node between its children, as `engine.boosting.grown.hand_on_bounds`."""
    if direction == FREE or growth.best[node, KIND] != THRESHOLD:
        return
    nodes = growth.nodes
    lower, upper = nodes.lower[node], nodes.upper[node]
    middle = min(max(nodes.left_value[node], lower), upper) / 2.0
    middle += min(max(nodes.right_value[node], lower), upper) / 2.0
    rising = nodes.first_child[node]
    falling = rising + 1
    if direction == FALLS:
        rising, falling = falling, rising
    nodes.upper[rising] = middle
    nodes.lower[falling] = middle


@inner_kernel
def wants_room(growth, n_codes):
    """Tell whether two more nodes, and the codes of their best splits, may find no room."""
    state = growth.state
    return state[N_NODES] + 2 > growth.nodes.size or state[N_CODES] + 2 * n_codes > growth.codes.size


@kernel
def grow(orders, desk, growth, limits, budget):
    """Grow on; tell whether the tree is done, or time is up or room wanted first.

    budget  int  in  rows times columns to add, at most, before it returns
    """
    state = growth.state
    while budget > 0:
        if state[N_BUILDS] > 0:
            budget -= go_on_building(orders, desk, growth, limits)
        elif state[N_WAITING] == 0 or state[N_LEAVES] == limits.max_leaf_nodes:
            return True
        elif wants_room(growth, desk.goes_left.size):
            return False
        else:
            budget -= split_next(orders, desk, growth, limits)
    return False
