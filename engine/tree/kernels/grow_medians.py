"""Growing by absolute error: a kernel of its own, so that it is compiled for those alone who ask for it."""

from engine.jit import kernel
from engine.tree.kernels.grow import choose_next, conclude, next_feature, partition
from engine.tree.kernels.layout import (
    DONE,
    EVALUATE,
    NEXT_NODE,
    STATE_COUNTED,
    STATE_NODE,
    STATE_NODES,
    STATE_PASS,
    STATE_PHASE,
    STATE_SETS,
    STATE_STACK,
    STATE_VISITED,
)
from engine.tree.kernels.medians import begin_medians, scan_medians
from engine.tree.kernels.random_medians import (
    DRAW_COST,
    draw_partition_by_medians,
    draw_threshold_by_medians,
)


@kernel
def evaluate_medians(sample, rules, nodes, best, scratch, state, drawn, random_state, budget):
    """Look at columns as `engine.tree.kernels.grow.evaluate` does; returns what is left of the budget."""
    node, n_features = state[STATE_NODE], scratch.features.size
    node_purity = -nodes.records.weight[node] * nodes.records.impurity[node]
    if drawn is None and state[STATE_VISITED] == 0 and state[STATE_PASS] == 0:
        begin_medians(sample, nodes, node, scratch)
    while state[STATE_VISITED] < n_features and (
        state[STATE_VISITED] < rules.max_features or state[STATE_COUNTED] == 0
    ):
        if budget <= 0:
            return budget
        if state[STATE_PASS] == 0:
            feature = next_feature(rules, scratch, state[STATE_VISITED], random_state)
        else:
            feature = scratch.features[state[STATE_VISITED]]
        order = sample.order[feature]
        counts = order[nodes.records.start[node]] >> 32 != order[nodes.records.stop[node] - 1] >> 32
        if counts and drawn is not None:
            split = (feature, nodes, node, node_purity, best, scratch)
            if sample.is_level[feature]:
                draw_partition_by_medians(sample, rules, *split, random_state)
            else:
                draw_threshold_by_medians(sample, rules, *split, drawn, random_state)
            budget -= DRAW_COST * nodes.records.n_rows[node]
        elif counts:
            budget = scan_medians(sample, rules, feature, nodes, node, best, scratch, state, budget)
            if state[STATE_PASS] > 0:
                return budget
        state[STATE_VISITED] += 1
        state[STATE_COUNTED] += 1 if counts else 0
    conclude(rules, nodes, best, state)
    return budget


@kernel
def grow_by_medians(sample, rules, nodes, best, scratch, state, stack, drawn, random_state, budget):
    """Grow on as `engine.tree.kernels.grow.grow` does, with the same arguments."""
    while budget > 0 and state[STATE_PHASE] != DONE:
        if state[STATE_PHASE] == NEXT_NODE:
            has_room = state[STATE_NODES] + 2 <= nodes.records.size and state[STATE_STACK] + 2 <= stack.size
            if not has_room or state[STATE_SETS] + best.sets.shape[0] > nodes.level_sets.shape[0]:
                return
            choose_next(sample, rules, nodes, best, scratch, state, stack)
            budget -= 16
        elif state[STATE_PHASE] == EVALUATE:
            budget = evaluate_medians(sample, rules, nodes, best, scratch, state, drawn, random_state, budget)
        else:
            budget = partition(sample, rules, nodes, scratch, state, budget)
            if state[STATE_PHASE] == NEXT_NODE:
                first = nodes.records.first_child[state[STATE_NODE]]
                stack[state[STATE_STACK]], stack[state[STATE_STACK] + 1] = first + 1, first
                state[STATE_STACK] += 2
