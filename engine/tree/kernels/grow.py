"""The whole tree in one kernel that keeps its own stack and returns when its budget of work is spent."""

import numpy as np

from engine.jit import kernel
from engine.kernels.heap import pop_node, push_node
from engine.kernels.numeric import midpoint, random_below
from engine.kernels.routing import IS_MISSING, LEAF, THRESHOLD, find_level
from engine.tree.kernels.bounds import hand_on_bounds
from engine.tree.kernels.impurity import add_row, clear, describe_node, purity
from engine.tree.kernels.layout import (
    BEST_CUT,
    BEST_ENTRIES,
    BEST_FEATURE,
    BEST_KIND,
    BEST_LOWER,
    BEST_MISSING,
    BEST_UPPER,
    DECREASE_SLACK,
    DONE,
    EVALUATE,
    MISSING_RANK,
    NEXT_NODE,
    PARTITION,
    ROW_MASK,
    STATE_ASIDE,
    STATE_COUNTED,
    STATE_HEAP,
    STATE_LEAVES,
    STATE_NODE,
    STATE_NODES,
    STATE_PHASE,
    STATE_SETS,
    STATE_STACK,
    STATE_VISITED,
    TOTAL,
)
from engine.tree.kernels.levels import scan_levels
from engine.tree.kernels.random_splits import draw_partition, draw_threshold
from engine.tree.kernels.thresholds import scan_thresholds


@kernel
def may_split(rules, nodes, node):
    """Tell whether the stopping rules let a node be evaluated at all."""
    if nodes.records.is_pure[node] or nodes.records.n_rows[node] < rules.min_samples_split:
        return False
    if (
        nodes.records.n_rows[node] < 2 * rules.min_samples_leaf
        or nodes.records.weight[node] < 2 * rules.min_weight_leaf
    ):
        return False
    return rules.max_depth < 0 or nodes.records.depth[node] < rules.max_depth


@kernel
def begin_evaluation(sample, rules, nodes, node, best, scratch, state):
    """Sum the node's rows and forget the last node's best split."""
    clear(scratch.sums[TOTAL])
    for i in range(nodes.records.start[node], nodes.records.stop[node]):
        row = sample.order[0, i] & ROW_MASK
        y, w = sample.target[row, 0], sample.target[row, 1]
        add_row(rules.criterion, scratch.sums[TOTAL], y, w, nodes.value[node, 0])
    best.ints[BEST_FEATURE] = -1
    state[STATE_NODE], state[STATE_PHASE] = node, EVALUATE
    state[STATE_VISITED] = state[STATE_COUNTED] = 0


@kernel
def next_feature(rules, scratch, visited, random_state):
    """Return the column to look at next: in order when all are wanted, else drawn without replacement."""
    features = scratch.features
    if rules.max_features < features.size:
        drawn = visited + random_below(random_state, features.size - visited)
        features[visited], features[drawn] = features[drawn], features[visited]
    return features[visited]


@kernel
def evaluate(sample, rules, nodes, best, scratch, state, drawn, random_state, budget):
    """Look at columns until enough have been looked at or the budget is spent; returns what is left of it."""
    node = state[STATE_NODE]
    node_purity = purity(rules.criterion, scratch.sums[TOTAL], nodes.records.weight[node])
    n_features = scratch.features.size
    # as in scikit-learn, constant columns count, unless nothing else was drawn yet
    while state[STATE_VISITED] < n_features and (
        state[STATE_VISITED] < rules.max_features or state[STATE_COUNTED] == 0
    ):
        if budget <= 0:
            return budget
        feature = next_feature(rules, scratch, state[STATE_VISITED], random_state)
        if drawn is not None:
            split = (feature, nodes, node, node_purity, best, scratch)
            if sample.is_level[feature]:
                counts = draw_partition(sample, rules, *split, random_state)
            else:
                counts = draw_threshold(sample, rules, *split, drawn, random_state)
        elif sample.is_level[feature]:
            counts = scan_levels(sample, rules, feature, nodes, node, node_purity, best, scratch)
        else:
            counts = scan_thresholds(sample, rules, feature, nodes, node, node_purity, best, scratch)
        state[STATE_VISITED] += 1
        state[STATE_COUNTED] += 1 if counts else 0
        budget -= nodes.records.n_rows[node]
    conclude(rules, nodes, best, state)
    return budget


@kernel
def conclude(rules, nodes, best, state):
    """Write the best split into the node, or leave it a leaf; then partition or look at the next node."""
    node = state[STATE_NODE]
    state[STATE_PHASE] = NEXT_NODE
    if best.ints[BEST_FEATURE] < 0:
        return
    gain = max(best.gain[0], 0.0)
    least = max(rules.min_decrease, rules.min_relative_decrease * nodes.records.impurity[0])
    if nodes.records.weight[node] / rules.total_weight * gain < least - DECREASE_SLACK:
        return
    nodes.records.feature[node], nodes.records.kind[node] = best.ints[BEST_FEATURE], best.ints[BEST_KIND]
    nodes.records.cut[node], nodes.records.gain[node] = best.ints[BEST_CUT], gain
    nodes.records.lower[node], nodes.records.upper[node] = best.ints[BEST_LOWER], best.ints[BEST_UPPER]
    nodes.records.missing_child[node] = best.ints[BEST_MISSING]
    n_entries, first = best.ints[BEST_ENTRIES], state[STATE_SETS]
    nodes.records.set_start[node], nodes.records.set_stop[node] = first, first + n_entries
    for i in range(n_entries):
        nodes.level_sets[first + i, 0], nodes.level_sets[first + i, 1] = best.sets[i, 0], best.sets[i, 1]
    state[STATE_SETS] += n_entries
    if rules.max_leaf_nodes < 0:
        begin_partition(state)
    else:
        nodes.records.priority[node] = nodes.records.weight[node] * nodes.records.gain[node]
        push_node(nodes.records, state[STATE_HEAP], node)
        state[STATE_HEAP] += 1


@kernel
def begin_partition(state):
    """Make ready to divide the current node's rows."""
    state[STATE_PHASE], state[STATE_VISITED] = PARTITION, -1


@kernel
def child_of_rank(rank, nodes, node):
    """Return the child of a training row: as in routing, but every level and missing was seen."""
    if nodes.records.kind[node] == IS_MISSING:
        return 0 if rank == MISSING_RANK else 1
    if rank == MISSING_RANK:
        return nodes.records.missing_child[node]
    if nodes.records.kind[node] == THRESHOLD:
        return 0 if rank <= nodes.records.cut[node] else 1
    return find_level(nodes.level_sets, nodes.records.set_start[node], nodes.records.set_stop[node], rank)


@kernel
def choose_sides(sample, nodes, node, scratch):
    """Write the child of each of the node's rows, count missing ones; returns how many take child 0."""
    order, n_left, n_missing = sample.order[nodes.records.feature[node]], 0, 0
    for i in range(nodes.records.start[node], nodes.records.stop[node]):
        rank = order[i] >> 32
        child = child_of_rank(rank, nodes, node)
        scratch.side[order[i] & ROW_MASK] = child
        n_left += 1 - child
        n_missing += rank == MISSING_RANK
    nodes.records.n_missing[node] = n_missing
    return n_left


@kernel
def partition_column(order, start, stop, side, buffer):
    """Move rows of child 0 before rows of child 1, both keeping their order: branch-free stable partition."""
    n_left, n_right = start, 0
    for i in range(start, stop):
        entry = order[i]
        order[n_left] = entry  # overwritten by the next row when this one goes right
        buffer[n_right] = entry
        goes_right = np.int64(side[entry & ROW_MASK])
        n_right += goes_right
        n_left += 1 - goes_right
    for i in range(n_right):
        order[n_left + i] = buffer[i]


@kernel
def partition(sample, rules, nodes, scratch, state, budget):
    """Divide the current node's rows in every column and make its children.

    Returns what is left of the budget.
    """
    node = state[STATE_NODE]
    start, stop = nodes.records.start[node], nodes.records.stop[node]
    if state[STATE_VISITED] < 0:
        n_left = choose_sides(sample, nodes, node, scratch)
        add_children(nodes, node, start + n_left, state)
        state[STATE_VISITED] = 0
        budget -= stop - start
    are_leaves = nodes.records.depth[node] + 1 == rules.max_depth  # then their values are all that is wanted
    n_columns = 1 if are_leaves else sample.order.shape[0]
    while state[STATE_VISITED] < n_columns:
        if budget <= 0:
            return budget
        column_order = sample.order[state[STATE_VISITED]]
        partition_column(column_order, start, stop, scratch.side, scratch.buffer)
        state[STATE_VISITED] += 1
        budget -= (stop - start) // 2
    if sample.by_target.size:
        partition_column(sample.by_target, start, stop, scratch.side, scratch.buffer)
    finish_split(sample, rules, nodes, node)
    state[STATE_PHASE] = NEXT_NODE
    return budget


@kernel
def add_children(nodes, node, middle, state):
    """Number a node's two children and hand them its rows."""
    first = state[STATE_NODES]
    nodes.records.first_child[node] = first
    for child in range(2):
        nodes.records.kind[first + child] = LEAF
        nodes.records.first_child[first + child] = -1
        nodes.records.depth[first + child] = nodes.records.depth[node] + 1
        nodes.records.start[first + child] = nodes.records.start[node] if child == 0 else middle
        nodes.records.stop[first + child] = middle if child == 0 else nodes.records.stop[node]
    state[STATE_NODES] += 2
    state[STATE_LEAVES] += 1


@kernel
def finish_split(sample, rules, nodes, node):
    """Describe a node's children and settle the split."""
    first = nodes.records.first_child[node]
    for child in range(first, first + 2):
        describe_node(sample, rules, nodes, child)
    if rules.directions.size > 0:
        hand_on_bounds(rules, nodes, node)
    settle_split(nodes, node, rules.missing_is_level)


@kernel
def settle_split(nodes, node, missing_is_level):
    """Take a node's gain from its described children; settle where unknown values go (D7)."""
    first = nodes.records.first_child[node]
    left, right = nodes.records.weight[first], nodes.records.weight[first + 1]
    mean_impurity = (left * nodes.records.impurity[first] + right * nodes.records.impurity[first + 1]) / (
        left + right
    )
    nodes.records.gain[node] = max(nodes.records.impurity[node] - mean_impurity, 0.0)
    larger = 0 if left >= right else 1
    if nodes.records.n_missing[node] == 0:
        nodes.records.missing_child[node] = larger
    is_level = missing_is_level and nodes.records.kind[node] != THRESHOLD  # numbers are never unseen
    follows_missing = nodes.records.n_missing[node] > 0 and not is_level
    nodes.records.unseen_child[node] = nodes.records.missing_child[node] if follows_missing else larger
    if nodes.records.kind[node] == IS_MISSING:
        nodes.records.unseen_child[node] = 1  # an unseen level is no missing value: see routing.child_of


@kernel
def choose_next(sample, rules, nodes, best, scratch, state, stack):
    """Take the next node from the stack; with an empty one, best-first growth splits the best open node."""
    while state[STATE_STACK] > 0:
        state[STATE_STACK] -= 1
        node = stack[state[STATE_STACK]]
        if nodes.records.n_rows[node] > state[STATE_ASIDE] and may_split(rules, nodes, node):
            begin_evaluation(sample, rules, nodes, node, best, scratch, state)
            return
    state[STATE_PHASE] = DONE
    if rules.max_leaf_nodes < 0 or state[STATE_LEAVES] >= rules.max_leaf_nodes:
        return
    if state[STATE_HEAP] > 0:
        state[STATE_NODE] = pop_node(nodes.records, state[STATE_HEAP])
        state[STATE_HEAP] -= 1
        begin_partition(state)


@kernel
def grow(sample, rules, nodes, best, scratch, state, stack, drawn, random_state, budget):
    """Grow on until the tree is done, the budget is spent, or more room is needed.

    The caller makes room for two more nodes, two more stack entries and one more level set, asks its
    monitor, and calls again until ``state[STATE_PHASE]`` is DONE.

    stack   int32 (n,)      i/o  nodes to evaluate, the next one last
    state   int64 (N_STATE,) i/o
    drawn   None or Values  in   draw splits; with None what draws them is not compiled
    budget  int64           in   row visits until the kernel returns
    """
    while budget > 0 and state[STATE_PHASE] != DONE:
        if state[STATE_PHASE] == NEXT_NODE:
            has_room = state[STATE_NODES] + 2 <= nodes.records.size and state[STATE_STACK] + 2 <= stack.size
            if not has_room or state[STATE_SETS] + best.sets.shape[0] > nodes.level_sets.shape[0]:
                return
            choose_next(sample, rules, nodes, best, scratch, state, stack)
            budget -= 16
        elif state[STATE_PHASE] == EVALUATE:
            budget = evaluate(sample, rules, nodes, best, scratch, state, drawn, random_state, budget)
        else:
            budget = partition(sample, rules, nodes, scratch, state, budget)
            if state[STATE_PHASE] == NEXT_NODE:
                first = nodes.records.first_child[state[STATE_NODE]]
                stack[state[STATE_STACK]], stack[state[STATE_STACK] + 1] = first + 1, first
                state[STATE_STACK] += 2


@kernel
def fill_thresholds(X, feature, kind, lower, upper, threshold):
    """Write the midpoint of two rows' values as the threshold of every node that has one.

    X             float32 or float64 (n_samples, n_features)  in   encoded table
    lower, upper  int32 (n_nodes,)                            in   row numbers
    threshold     float64 (n_nodes,)                          out  others are left as they are
    """
    for node in range(kind.size):
        if kind[node] == THRESHOLD:
            below, above = X[lower[node], feature[node]], X[upper[node], feature[node]]
            threshold[node] = midpoint(np.float64(below), np.float64(above))
