"""One split of a column drawn at random, and scored by absolute error; see `random_splits`."""

from engine.jit import kernel
from engine.tree.kernels.bounds import keeps_order
from engine.tree.kernels.deviation import describe_sides
from engine.tree.kernels.layout import FREE, MISSING_RANK, ROW_MASK
from engine.tree.kernels.levels import collect_levels, keep_partition
from engine.tree.kernels.medians import limits_of
from engine.tree.kernels.random_splits import draw_cut, draw_side, toss_levels
from engine.tree.kernels.thresholds import is_allowed, is_better, offer

DRAW_COST = 4  # of a row in a drawn split, in row visits: walks along the target's order


@kernel
def draw_threshold_by_medians(
    sample, rules, feature, nodes, node, node_purity, best, scratch, drawn, random_state
):
    """Draw a threshold of a numeric column that is not constant here; update `best`."""
    order, start, stop = sample.order[feature], nodes.records.start[node], nodes.records.stop[node]
    weight, present, missing_weight = nodes.records.weight[node], stop, 0.0
    while order[present - 1] >> 32 == MISSING_RANK:
        present -= 1
        missing_weight += sample.target[order[present] & ROW_MASK, 1]
    n_missing, threshold, side, above, left_weight = stop - present, 0.0, 0, start, 0.0
    is_number = order[start] >> 32 != order[present - 1] >> 32
    if is_number:
        threshold, above = draw_cut(order, start, present, feature, drawn, random_state)
        for i in range(start, above):
            left_weight += sample.target[order[i] & ROW_MASK, 1]
        side = draw_side(rules, n_missing, left_weight, missing_weight, weight, random_state)
    n_left = above - start + (n_missing if side == 0 else 0)
    left_weight += missing_weight if side == 0 else 0.0
    if not is_allowed(rules, n_left, left_weight, stop - start, weight):
        return
    for i in range(start, stop):
        is_left = i < above or (i >= present and side == 0)
        scratch.side[order[i] & ROW_MASK] = 0 if is_left else 1
    loss, left_median, right_median = describe_sides(sample, start, stop, scratch.side)
    if not is_number:
        offer(-loss, (feature, 0, 0), 0, nodes, node, node_purity, best)
        return
    centre, limits = nodes.value[node, 0], limits_of(rules, feature, nodes, node)
    if limits[0] != FREE and not keeps_order(left_median - centre, right_median - centre, limits):
        return
    if offer(-loss, (feature, order[above - 1], order[above]), side, nodes, node, node_purity, best):
        nodes.records.threshold[node] = threshold


@kernel
def draw_partition_by_medians(
    sample, rules, feature, nodes, node, node_purity, best, scratch, random_state
):  # fmt: skip
    """Draw a partition of a categorical column that is not constant here; update `best`."""
    n_levels = collect_levels(sample, rules, feature, nodes, node, scratch)
    toss_levels(scratch.levels.spare, n_levels, random_state)
    order, start, stop = sample.order[feature], nodes.records.start[node], nodes.records.stop[node]
    left_weight, n_left, at = 0.0, 0, start
    for level in range(n_levels):
        is_left = scratch.levels.spare[level] == 1
        left_weight += scratch.levels.weight[level] if is_left else 0.0
        n_left += scratch.levels.count[level] if is_left else 0
        for _ in range(scratch.levels.count[level]):
            scratch.side[order[at] & ROW_MASK] = 0 if is_left else 1
            at += 1
    if not is_allowed(rules, n_left, left_weight, stop - start, nodes.records.weight[node]):
        return
    loss = describe_sides(sample, start, stop, scratch.side)[0]
    gain = (-loss - node_purity) / nodes.records.weight[node]
    if is_better(best, gain, nodes.records.impurity[node]):
        keep_partition(best, scratch, feature, n_levels, gain)
