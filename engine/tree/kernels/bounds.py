"""Columns along which the value may only rise, or only fall.

As in scikit-learn's trees: of a split on such a column both values must lie in the node's bounds, in the
right order, and half way between them the bounds of all below part. A split on another column hands its
bounds on. At the end every value is put inside its node's bounds, so no two rows that differ in such a
column alone are told values in the wrong order: where their ways part, the half way lies between them.

The value is the mean of a number, its median by absolute error, or the share of the second of two classes.
"""

from engine.jit import kernel
from engine.kernels.routing import THRESHOLD
from engine.tree.kernels.layout import FALLS, FREE, RISES, SQUARED_ERROR, TOTAL


@kernel
def is_kept(rules, scratch, feature, nodes, node, left, left_weight):
    """Tell whether a threshold's two sides may have the values that they have.

    left  float64  in  sum of the first side's deviations from the node's mean, targets, or weights of class 1
    """
    if rules.directions.size == 0 or rules.directions[feature] == FREE:
        return True
    direction = rules.directions[feature]
    centre = nodes.value[node, 0] if rules.criterion == SQUARED_ERROR else 0.0
    right = scratch.sums[TOTAL, rules.n_sums - 1] - left
    left_value = centre + left / left_weight
    right_value = centre + right / (nodes.records.weight[node] - left_weight)
    lower, upper = nodes.records.lower_bound[node], nodes.records.upper_bound[node]
    return keeps_order(left_value, right_value, (direction, lower, upper, rules.slack))


@kernel
def keeps_order(left_value, right_value, limits):
    """Tell whether the values of two sides are in order and between the bounds.

    limits  (direction, lower, upper, slack)  in
    """
    direction, lower, upper, slack = limits
    low, high = (left_value, right_value) if direction == RISES else (right_value, left_value)
    return low <= high + slack and low >= lower - slack and high <= upper + slack


@kernel
def hand_on_bounds(rules, nodes, node):
    """Write the bounds of a node's two described children."""
    first, last = nodes.records.first_child[node], rules.n_sums - 1
    lower, upper = nodes.records.lower_bound[node], nodes.records.upper_bound[node]
    for child in range(first, first + 2):
        nodes.records.lower_bound[child], nodes.records.upper_bound[child] = lower, upper
    direction = FREE
    if rules.directions.size > 0 and nodes.records.kind[node] == THRESHOLD:
        direction = rules.directions[nodes.records.feature[node]]
    if direction == FREE:
        return
    middle = 0.0  # to the bit as in `engine.tree.directions.bounds_of`
    for child in range(first, first + 2):
        middle += min(max(nodes.value[child, last], lower), upper) / 2.0
    rising, falling = (first, first + 1) if direction != FALLS else (first + 1, first)
    nodes.records.upper_bound[rising] = nodes.records.lower_bound[falling] = middle
