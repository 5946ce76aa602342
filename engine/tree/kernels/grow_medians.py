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


@kernel
def evaluate_medians(sample, rules, nodes, best, scratch, state, random_state, budget):
    """Look at columns as `engine.tree.kernels.grow.evaluate` does; returns what is left of the budget."""
    node, n_features = state[STATE_NODE], scratch.features.size
    if state[STATE_VISITED] == 0 and state[STATE_PASS] == 0:
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
        if counts:
            budget = scan_medians(sample, rules, feature, nodes, node, best, scratch, state, budget)
            if state[STATE_PASS] > 0:
                return budget
        state[STATE_VISITED] += 1
        state[STATE_COUNTED] += 1 if counts else 0
    conclude(rules, nodes, best, state)
    return budget


@kernel
def grow_by_medians(sample, rules, nodes, best, scratch, state, stack, _drawn, random_state, budget):
    """Grow on as `engine.tree.kernels.grow.grow` does, with the same arguments; splits are never drawn."""
    while budget > 0 and state[STATE_PHASE] != DONE:
        if state[STATE_PHASE] == NEXT_NODE:
            has_room = state[STATE_NODES] + 2 <= nodes.records.size and state[STATE_STACK] + 2 <= stack.size
            if not has_room or state[STATE_SETS] + best.sets.shape[0] > nodes.level_sets.shape[0]:
                return
            choose_next(sample, rules, nodes, best, scratch, state, stack)
            budget -= 16
        elif state[STATE_PHASE] == EVALUATE:
            budget = evaluate_medians(sample, rules, nodes, best, scratch, state, random_state, budget)
        else:
            budget = partition(sample, rules, nodes, scratch, state, budget)
            if state[STATE_PHASE] == NEXT_NODE:
                first = nodes.records.first_child[state[STATE_NODE]]
                stack[state[STATE_STACK]], stack[state[STATE_STACK] + 1] = first + 1, first
                state[STATE_STACK] += 2
