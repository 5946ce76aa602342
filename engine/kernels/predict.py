"""Prediction kernels: rows down many trees at once. Trees lie end to end in flat arrays."""

import numpy as np

from engine.jit import kernel
from engine.kernels.routing import LEAF, child_of


@kernel
def add_leaf_values(
    X, start, stop, roots, feature, kind, threshold, level_offsets, level_sets, first_child, missing_child,
    unseen_child, value, sums,
):  # fmt: skip
    """Add every tree's leaf value to the sums of rows `start` to `stop`, tree by tree.

    X            float32 or float64 (n_samples, n_features)  in   encoded table
    roots        int64 (n_trees,)                            in   node number of each tree's root
    first_child  int32 (n_nodes,)                            in   counted over all trees
    value        float64 (n_nodes, n_outputs)                in
    sums         float64 (n_samples, n_outputs)              out  added to, in tree order
    """
    for tree in range(roots.size):
        for row in range(start, stop):
            node = roots[tree]
            while kind[node] != LEAF:
                x = np.float64(X[row, feature[node]])
                child = child_of(
                    x, node, kind, threshold, level_offsets, level_sets, missing_child, unseen_child
                )
                node = first_child[node] + child
            for output in range(value.shape[1]):
                sums[row, output] += value[node, output]


@kernel
def add_listed_leaf_values(
    X, rows, start, stop, feature, kind, threshold, level_offsets, level_sets, first_child, missing_child,
    unseen_child, value, sums,
):  # fmt: skip
    """Add one tree's leaf values to the sums of the rows listed in ``rows[start:stop]``.

    X     float32 or float64 (n_samples, n_features)  in   encoded table
    rows  int64 (n_listed,)                           in   row numbers, each at most once
    sums  float64 (n_samples, n_outputs)              out  added to
    """
    for i in range(start, stop):
        row = rows[i]
        node = np.int64(0)
        while kind[node] != LEAF:
            x = np.float64(X[row, feature[node]])
            child = child_of(x, node, kind, threshold, level_offsets, level_sets, missing_child, unseen_child)
            node = first_child[node] + child
        for output in range(value.shape[1]):
            sums[row, output] += value[node, output]
