"""Prediction with trees of at most 64 leaves, one bit a leaf, without a branch that depends on a row.

A question answered with "right" rules out the leaves below its left child; of the leaves no question
rules out the leftmost is the row's own (Lucchese et al. 2015, QuickScorer). All questions of a tree are
asked of a block of rows, which the processor does for several rows in one step.
"""

import numpy as np

from engine.jit import counting_kernel, kernel
from engine.kernels.memory import trailing_zeros
from engine.kernels.routing import LEAF, THRESHOLD, child_of

MOST_LEAVES = 64
BLOCK_ROWS = 64
ALL_LEAVES = np.uint64(2**64 - 1)


@kernel
def rule_out_leaves(ends, kind, first_child, n_leaves, first_leaf, kept_at_right, leaf_nodes):
    """Number every tree's leaves from left to right, and say which are left after "right" at a node.

    ends           int64 (n_trees + 1,)  in       first node of every tree, children after their parents
    n_leaves       int64 (n_nodes,)      scratch
    first_leaf     int64 (n_nodes,)      scratch
    kept_at_right  uint64 (n_nodes,)     out      bit i stands for leaf i of the node's tree
    leaf_nodes     int64 (n_trees, 64)   out      the node of every leaf
    """
    one = np.uint64(1)
    for tree in range(ends.size - 1):
        for node in range(ends[tree + 1] - 1, ends[tree] - 1, -1):
            left = first_child[node]
            n_leaves[node] = 1 if kind[node] == LEAF else n_leaves[left] + n_leaves[left + 1]
        first_leaf[ends[tree]] = 0
        for node in range(ends[tree], ends[tree + 1]):
            if kind[node] == LEAF:
                leaf_nodes[tree, first_leaf[node]] = node
                continue
            left = first_child[node]
            first_leaf[left], first_leaf[left + 1] = first_leaf[node], first_leaf[node] + n_leaves[left]
            ruled_out = (one << np.uint64(n_leaves[left])) - one  # a left child has at most 63 leaves
            kept_at_right[node] = ~(ruled_out << np.uint64(first_leaf[node]))


@counting_kernel
def add_small_tree_values(
    X, start, stop, ends, feature, kind, threshold, level_offsets, level_sets, first_child, missing_child,
    unseen_child, value, kept_at_right, leaf_nodes, sums,
):  # fmt: skip
    """Add every tree's leaf value to the sums of rows `start` to `stop`; the same bits as row by row.

    X     float32 or float64 (n_samples, n_features)  in   encoded table
    sums  float64 (n_samples, n_outputs)              out  added to, in tree order
    """
    columns, kept = np.zeros((X.shape[1], BLOCK_ROWS)), np.empty(BLOCK_ROWS, np.uint64)
    for first in range(start, stop, BLOCK_ROWS):
        n_rows = min(BLOCK_ROWS, stop - first)
        copy_rows(X, first, n_rows, columns)
        for tree in range(ends.size - 1):
            kept[:] = ALL_LEAVES
            for node in range(ends[tree], ends[tree + 1]):
                if kind[node] == LEAF:
                    continue
                x, mask = columns[feature[node]], kept_at_right[node]
                if kind[node] != THRESHOLD:
                    for i in range(n_rows):
                        if child_of(
                            x[i],
                            node,
                            kind,
                            threshold,
                            level_offsets,
                            level_sets,
                            missing_child,
                            unseen_child,
                        ):
                            kept[i] &= mask
                elif missing_child[node] == 0:
                    keep_left_of(x, threshold[node], mask, kept)
                else:
                    keep_left_or_missing(x, threshold[node], mask, kept)
            for i in range(n_rows):
                leaf = leaf_nodes[tree, trailing_zeros(kept[i])]
                for output in range(value.shape[1]):
                    sums[first + i, output] += value[leaf, output]


@kernel
def copy_rows(X, first, n_rows, columns):
    """Write `n_rows` rows from `first` on, column by column; columns float64 (n_features, BLOCK_ROWS)."""
    for i in range(n_rows):
        for feature_idx in range(X.shape[1]):
            columns[feature_idx, i] = X[first + i, feature_idx]


@kernel
def keep_left_of(x, threshold, mask, kept):
    """Rule out the left leaves where `x` is above the threshold; NaN is not."""
    for i in range(BLOCK_ROWS):
        kept[i] &= mask if x[i] > threshold else ALL_LEAVES


@kernel
def keep_left_or_missing(x, threshold, mask, kept):
    """Rule out the left leaves where `x` is above the threshold or NaN."""
    for i in range(BLOCK_ROWS):
        kept[i] &= ALL_LEAVES if x[i] <= threshold else mask
