"""Which way a row goes: written once, for prediction, surfaces, growing and pruning."""

import numpy as np

from engine.jit import kernel

# the kinds of engine.tree.structure; kernels may import numpy, engine.jit and engine.dtypes only
LEAF, THRESHOLD, IS_MISSING = 0, 1, 2


@kernel
def find_level(level_sets, start, stop, code):
    """Return the child that level `code` takes, or -1 where the node's training rows lacked it.

    level_sets  int32 (n_entries, 2)  in  codes ascending between start and stop, and children

    Codes do not repeat, so the place lies no further from either end than the code does: where few are
    left out, there is next to nothing to search.
    """
    if start >= stop:
        return -1
    first, last = start, stop - 1
    start = max(first, last - (level_sets[last, 0] - code))
    stop = min(last, first + (code - level_sets[first, 0])) + 1
    while start < stop:
        middle = (start + stop) // 2
        found = level_sets[middle, 0]
        if found == code:
            return level_sets[middle, 1]
        if found < code:
            start = middle + 1
        else:
            stop = middle
    return -1


@kernel
def child_of(x, node, kind, threshold, level_offsets, level_sets, missing_child, unseen_child):
    """Return the child (0, 1, ...) that value `x` takes at an inner `node`; NaN is missing.

    A level that training never saw is a value, so the question "is it missing?" is answered with no.
    """
    if kind[node] == IS_MISSING:
        return np.int64(0) if np.isnan(x) else np.int64(1)
    if np.isnan(x):
        return np.int64(missing_child[node])
    if kind[node] == THRESHOLD:
        return np.int64(0) if x <= threshold[node] else np.int64(1)
    child = find_level(level_sets, level_offsets[node], level_offsets[node + 1], np.int64(x))
    return np.int64(unseen_child[node]) if child < 0 else np.int64(child)


@kernel
def apply_rows(
    X, start, stop, feature, kind, threshold, level_offsets, level_sets, first_child, missing_child,
    unseen_child, leaves,
):  # fmt: skip
    """Write the leaf number of rows `start` to `stop`.

    X       float32 or float64 (n_samples, n_features)  in   encoded table
    leaves  int32 (n_samples,)                          out  node number of each row's leaf
    """
    for row in range(start, stop):
        node = 0
        while kind[node] != LEAF:
            x = np.float64(X[row, feature[node]])
            child = child_of(x, node, kind, threshold, level_offsets, level_sets, missing_child, unseen_child)
            node = first_child[node] + child
        leaves[row] = node
