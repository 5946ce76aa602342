"""Weighted median and mean absolute deviation of a node's rows, in one walk along the target's own order."""

from engine.jit import kernel

HALF_SLACK = 1e-12  # cumulative weights this close to half, as a share of all, hit it but for rounding


@kernel
def describe_median(sample, nodes, node):
    """Write a node's weighted median as its value; returns the weighted mean distance from it.

    Where the cumulative weight hits exactly half, the median is the mean of the two neighbours, as in
    scikit-learn.
    """
    start, stop, target = nodes.records.start[node], nodes.records.stop[node], sample.target
    total = 0.0
    for i in range(start, stop):
        total += target[sample.by_target[i], 1]
    below, at, half = 0.0, start, 0.5 * total
    while at < stop - 1 and below + target[sample.by_target[at], 1] < half - HALF_SLACK * total:
        below += target[sample.by_target[at], 1]
        at += 1
    median = target[sample.by_target[at], 0]
    if at < stop - 1 and below + target[sample.by_target[at], 1] <= half + HALF_SLACK * total:
        median += 0.5 * (target[sample.by_target[at + 1], 0] - median)
    deviation = 0.0
    for i in range(start, stop):
        row = sample.by_target[i]
        deviation += target[row, 1] * abs(target[row, 0] - median)
    nodes.value[node, 0] = median
    return deviation / total
