"""Weighted medians and absolute deviations of a node's rows, in walks along the target's own order."""

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


@kernel
def describe_sides(sample, start, stop, side):
    """Return the absolute deviations of a node's rows from the medians of their sides, and both medians.

    Medians are as in `describe_median`.

    start, stop  int64                   in  where the node's rows lie in order
    side         uint8 (n_samples,)      in  0 or 1 of each of them; both have rows
    """
    target, first, second = sample.target, 0.0, 0.0
    for i in range(start, stop):
        row = sample.by_target[i]
        first += target[row, 1] if side[row] == 0 else 0.0
        second += target[row, 1] if side[row] == 1 else 0.0
    first_median = median_of_side(sample, start, stop, side, 0, first)
    second_median = median_of_side(sample, start, stop, side, 1, second)
    deviation = 0.0
    for i in range(start, stop):
        row = sample.by_target[i]
        median = first_median if side[row] == 0 else second_median
        deviation += target[row, 1] * abs(target[row, 0] - median)
    return deviation, first_median, second_median


@kernel
def median_of_side(sample, start, stop, side, wanted, weight):
    """Return the median of a node's rows of one side, whose weight is known."""
    target, below, low = sample.target, 0.0, -1
    for i in range(start, stop):
        row = sample.by_target[i]
        if side[row] != wanted:
            continue
        if low >= 0:  # half of the weight lies up to the row before, but for rounding
            return target[low, 0] + 0.5 * (target[row, 0] - target[low, 0])
        below += target[row, 1]
        if below >= (0.5 - HALF_SLACK) * weight:
            low = row
            if below > (0.5 + HALF_SLACK) * weight:
                break
    return target[low, 0]
