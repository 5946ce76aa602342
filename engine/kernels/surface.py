"""Surfaces of trees: the boxes of a grid that leaves cover, and their sum (a difference array)."""

import numpy as np

from engine.jit import counting_kernel, kernel
from engine.kernels.routing import child_of

# the kinds of engine.tree.structure; kernels may import numpy, engine.jit and engine.dtypes only
LEAF, THRESHOLD, IS_MISSING = 0, 1, 2


@kernel
def first_above(values, start, stop, threshold):
    """Return the first position in ``start:stop`` whose value exceeds `threshold`, else `stop`.

    values  float64 (n,)  in  ascending between start and stop
    """
    while start < stop:
        middle = (start + stop) // 2
        if values[middle] > threshold:
            stop = middle
        else:
            start = middle + 1
    return start


@kernel
def run_end(
    values, start, stop, n_known, child, node, kind, threshold, level_offsets, level_sets, missing_child,
    unseen_child,
):  # fmt: skip
    """Return where the run of positions from `start` on ends that takes `child`, at most `stop`.

    Known and missing values are never in one run.
    """
    if start >= n_known:  # only missing values follow
        return stop
    stop = min(stop, n_known)
    if kind[node] == IS_MISSING:
        return stop
    if kind[node] == THRESHOLD:
        return first_above(values, start, stop, threshold[node]) if child == 0 else stop
    end = start + 1  # levels: any of them may go anywhere
    while end < stop and child == child_of(
        values[end], node, kind, threshold, level_offsets, level_sets, missing_child, unseen_child
    ):
        end += 1
    return end


@kernel
def push_runs(
    box, axis, values, n_known, node, kind, threshold, level_offsets, level_sets, first_child,
    missing_child, unseen_child, stack, n_stacked,
):  # fmt: skip
    """Cut `box` along one axis into runs of positions that take the same child; push one box a run.

    box     int32 (5,)             in   node, x start, x stop, y start, y stop
    axis    1 for x, 3 for y       in   which pair of `box` to cut
    values  float64 (n,)           in   sample positions of that axis, ascending, NaN last
    stack   int32 (capacity, 5)    out  boxes still to be walked
    """
    start, stop = box[axis], box[axis + 1]
    while start < stop:
        child = child_of(
            values[start], node, kind, threshold, level_offsets, level_sets, missing_child, unseen_child
        )
        end = run_end(
            values, start, stop, n_known, child, node, kind, threshold, level_offsets, level_sets,
            missing_child, unseen_child,
        )  # fmt: skip
        for k in range(5):
            stack[n_stacked, k] = box[k]
        stack[n_stacked, 0] = first_child[node] + child
        stack[n_stacked, axis], stack[n_stacked, axis + 1] = start, end
        n_stacked += 1
        start = end
    return n_stacked


@counting_kernel
def reachable_boxes(
    root, x_feature, y_feature, x_values, n_known_x, y_values, n_known_y, held, feature, kind, threshold,
    level_offsets, level_sets, first_child, missing_child, unseen_child, stack, boxes,
):  # fmt: skip
    """List the boxes of grid positions that each leaf below `root` covers; return how many.

    Boxes on the stack never overlap and are never empty, so n_x * n_y places are always enough.

    x_values, y_values  float64 (n_x,), (n_y,)     in   sample positions, ascending, NaN last
    held                float64 (n_features,)      in   encoded values of all other features
    stack, boxes        int32 (n_x * n_y, 5)       out  node, x start, x stop, y start, y stop
    """
    box = np.empty(5, np.int32)
    stack[0, 0] = root
    stack[0, 1], stack[0, 2], stack[0, 3], stack[0, 4] = 0, x_values.size, 0, y_values.size
    n_stacked, n_boxes = 1, 0
    while n_stacked > 0:
        n_stacked -= 1
        for k in range(5):
            box[k] = stack[n_stacked, k]
        node = box[0]
        while kind[node] != LEAF and feature[node] != x_feature and feature[node] != y_feature:
            node = first_child[node] + child_of(
                held[feature[node]], node, kind, threshold, level_offsets, level_sets, missing_child,
                unseen_child,
            )  # fmt: skip
        box[0] = node
        if kind[node] == LEAF:
            for k in range(5):
                boxes[n_boxes, k] = box[k]
            n_boxes += 1
        elif feature[node] == x_feature:
            n_stacked = push_runs(
                box, 1, x_values, n_known_x, node, kind, threshold, level_offsets, level_sets, first_child,
                missing_child, unseen_child, stack, n_stacked,
            )  # fmt: skip
        else:
            n_stacked = push_runs(
                box, 3, y_values, n_known_y, node, kind, threshold, level_offsets, level_sets, first_child,
                missing_child, unseen_child, stack, n_stacked,
            )  # fmt: skip
    return n_boxes


@kernel
def add_box_differences(
    roots, x_feature, y_feature, x_values, n_known_x, y_values, n_known_y, held, feature, kind, threshold,
    level_offsets, level_sets, first_child, missing_child, unseen_child, value, stack, boxes, differences,
):  # fmt: skip
    """Add every reachable leaf's box to a 2-D difference array; integrated it is the sum of all trees.

    roots        int32 (n_trees,)                      in   root node of each tree
    value        float64 (n_nodes, n_outputs)          in   leaf values
    differences  float64 (n_outputs, n_y + 1, n_x + 1) out  added to; the caller zeroes it
    """
    for tree in range(roots.size):
        n_boxes = reachable_boxes(
            roots[tree], x_feature, y_feature, x_values, n_known_x, y_values, n_known_y, held, feature, kind,
            threshold, level_offsets, level_sets, first_child, missing_child, unseen_child, stack, boxes,
        )  # fmt: skip
        for i in range(n_boxes):
            node, x0, x1, y0, y1 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3], boxes[i, 4]
            for output in range(value.shape[1]):
                amount = value[node, output]
                differences[output, y0, x0] += amount
                differences[output, y0, x1] -= amount
                differences[output, y1, x0] -= amount
                differences[output, y1, x1] += amount


@kernel
def integrate(differences, surface):
    """Sum a difference array along both axes.

    differences  float64 (n_outputs, n_y + 1, n_x + 1)  in
    surface      float64 (n_outputs, n_y, n_x)          out
    """
    for output in range(surface.shape[0]):
        for row in range(surface.shape[1]):
            along = 0.0
            for column in range(surface.shape[2]):
                along += differences[output, row, column]
                below = surface[output, row - 1, column] if row > 0 else 0.0
                surface[output, row, column] = below + along


@kernel
def paint_leaves(
    x_feature, y_feature, x_values, n_known_x, y_values, n_known_y, held, feature, kind, threshold,
    level_offsets, level_sets, first_child, missing_child, unseen_child, stack, boxes, leaves,
):  # fmt: skip
    """Write the leaf number of one tree at every grid position.

    leaves  int32 (n_y, n_x)  out
    """
    n_boxes = reachable_boxes(
        0, x_feature, y_feature, x_values, n_known_x, y_values, n_known_y, held, feature, kind, threshold,
        level_offsets, level_sets, first_child, missing_child, unseen_child, stack, boxes,
    )  # fmt: skip
    for i in range(n_boxes):
        for row in range(boxes[i, 3], boxes[i, 4]):
            for column in range(boxes[i, 1], boxes[i, 2]):
                leaves[row, column] = boxes[i, 0]
