"""Pruning by hand: a node becomes a leaf, in a new Tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.errors import DataError
from engine.tree.structure import LEAF, NO_CHILD, Path, Tree, compact


def prune(tree: Tree, path: Path) -> Tree:
    """Return `tree` with the node at `path` as a leaf and all below it gone.

    The node keeps its value, impurity and row counts. "Expand again" is the old tree, which is
    unchanged: trees are values.

    Parameters
    ----------
    tree : Tree
    path : tuple of int
        Child taken at each node from the root; () is the root.

    Raises
    ------
    DataError
        The tree has no such node, or it is a leaf already.
    """
    node = tree.node_at(path)
    if tree.kind[node] == LEAF:
        raise DataError(f"the node at path {path} is a leaf already; choose a node with branches")
    arrays: dict[str, Any] = {name: np.array(array) for name, array in tree.to_arrays().items()}
    start, stop = tree.level_offsets[node], tree.level_offsets[node + 1]
    arrays["level_sets"] = np.delete(arrays["level_sets"], np.s_[start:stop], axis=0)
    arrays["level_offsets"][node + 1 :] -= stop - start
    for name in ("feature", "first_child", "missing_child", "unseen_child"):
        arrays[name][node] = NO_CHILD
    arrays["kind"][node], arrays["threshold"][node] = LEAF, np.nan
    for name in ("n_children", "gain", "n_missing"):
        arrays[name][node] = 0
    return compact(arrays)
