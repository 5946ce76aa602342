"""Nodes become leaves, in a new Tree: pruning by hand, and what all rules of pruning end in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
        raise DataError(f"{tree.words_of(path)} is a leaf already; choose a node with branches")
    return cut(tree, np.array([node]))


def cut(tree: Tree, nodes: NDArray[Any]) -> Tree:
    """Return `tree` with the listed nodes as leaves; nodes below others of them, and leaves, are no matter.

    Parameters
    ----------
    nodes : int (n_cut,)
        Node numbers.
    """
    if len(nodes) == 0:
        return tree
    arrays: dict[str, Any] = {name: np.array(array) for name, array in tree.to_arrays().items()}
    sizes = np.diff(tree.level_offsets)
    owner = np.repeat(np.arange(tree.n_nodes), sizes)
    arrays["level_sets"] = arrays["level_sets"][~np.isin(owner, nodes)]
    sizes[nodes] = 0
    arrays["level_offsets"] = np.concatenate([[0], np.cumsum(sizes)])
    for name in ("feature", "first_child", "missing_child", "unseen_child"):
        arrays[name][nodes] = NO_CHILD
    arrays["kind"][nodes], arrays["threshold"][nodes] = LEAF, np.nan
    for name in ("n_children", "gain", "n_missing"):
        arrays[name][nodes] = 0
    return compact(arrays)
