"""Branches taken out of trees, and put into others."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.tree.structure import Tree, compact


def splice(tree: Tree, node: int, branch: Tree) -> Tree:
    """Return `tree` with `branch`, grown on the node's rows, in place of `node` and all below it."""
    n_nodes, offsets = tree.n_nodes, tree.level_offsets
    arrays: dict[str, Any] = {}
    for name, array in tree.to_arrays().items():
        if not name.startswith("level_"):
            arrays[name] = np.concatenate([array, getattr(branch, name)])
    arrays["first_child"][n_nodes:][~branch.is_leaf] += n_nodes
    for array in arrays.values():
        array[node] = array[n_nodes]
    sizes = np.concatenate([np.diff(offsets), np.diff(branch.level_offsets)])
    sizes[node] = sizes[n_nodes]
    arrays["level_offsets"] = np.concatenate([[0], np.cumsum(sizes)])
    arrays["level_sets"] = np.concatenate(
        [
            tree.level_sets[: offsets[node]],
            branch.levels(0),
            tree.level_sets[offsets[node + 1] :],
            branch.level_sets,
        ]
    )
    return compact(arrays)


def branch_at(tree: Tree, node: int) -> Tree:
    """Return a node and all below it as a tree of its own; `splice` puts it back."""
    offsets, own = tree.level_offsets, tree.levels(node)
    arrays: dict[str, Any] = {}
    for name, array in tree.to_arrays().items():
        if not name.startswith("level_"):
            arrays[name] = np.concatenate([array[node : node + 1], array])
    arrays["first_child"][arrays["n_children"] > 0] += 1
    arrays["level_offsets"] = np.concatenate([[0], offsets + len(own)])
    arrays["level_sets"] = np.concatenate([own, tree.level_sets])
    return compact(arrays)
