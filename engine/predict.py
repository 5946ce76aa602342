"""What trees say about rows: the only way from a table to leaf values (contracts D7).

Sums run over the trees in their order, row by row, so neither the number of threads nor the way a
table is cut into chunks changes a bit of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, parallel
from engine.kernels import predict as kernels
from engine.kernels import small_trees
from engine.kernels.routing import apply_rows
from engine.tree.structure import Tree

ROWS_PER_CHUNK = 4096  # 28 float32 columns of it fit the second-level cache while the trees pass by
MANY_VISITS = 200_000  # of trees by rows: from here on, asking small trees all questions is worth its kernel
FEW_LEVELS = 16  # a node on average: with more, most of a question is the search for a row's level

ROUTING = (
    "feature",
    "kind",
    "threshold",
    "level_offsets",
    "level_sets",
    "first_child",
    "missing_child",
    "unseen_child",
)


def tree_values(
    trees: Sequence[Tree], X: NDArray[Any], n_jobs: int | None = None,
    while_waiting: Callable[[], None] | None = None,
) -> NDArray[np.float64]:  # fmt: skip
    """Sum the leaf values of `trees` for every row.

    Parameters
    ----------
    trees : sequence of Tree, not empty, all with the same number of outputs
    X : float32 or float64 (n_samples, n_features)
        Encoded table, see `engine.features`.
    n_jobs : int, optional
        Threads at most; the result does not depend on it.
    while_waiting : callable, optional
        Called about every 30 ms, see `parallel.for_chunks`.

    Returns
    -------
    float64 (n_samples, n_outputs)
    """
    X = dtypes.as_input(X)
    sums = np.zeros((len(X), trees[0].n_outputs), dtypes.VALUE_DTYPE)
    roots, packed = lay_end_to_end(trees)
    is_small = len(X) * len(trees) >= MANY_VISITS and all(map(_has_few_answers, trees))
    if is_small:
        ends = dtypes.as_input(np.append(roots, sum(tree.n_nodes for tree in trees)))
        leaves = _leaves_as_bits(ends, dict(zip(ROUTING, packed, strict=False)))

    def add_chunk(_chunk_idx: int, start: int, stop: int) -> None:
        if is_small:
            small_trees.add_small_tree_values(X, start, stop, ends, *packed, *leaves, sums)
        else:
            kernels.add_leaf_values(X, start, stop, roots, *packed, sums)

    parallel.for_chunks(add_chunk, len(X), ROWS_PER_CHUNK, n_jobs, while_waiting)
    return sums


def _has_few_answers(tree: Tree) -> bool:
    """Tell whether asking all of a tree's questions is quicker than going down to a leaf."""
    is_narrow = tree.n_leaves <= small_trees.MOST_LEAVES and tree.n_children.max() <= 2
    return bool(is_narrow and len(tree.level_sets) <= FEW_LEVELS * tree.n_nodes)


def _leaves_as_bits(
    ends: NDArray[np.int64], routing: dict[str, NDArray[Any]]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return which leaves are left after "right" at every node, and every tree's leaves in order."""
    kind, first_child = routing["kind"], routing["first_child"]
    scratch, kept_at_right = np.empty((2, len(kind)), np.int64), np.zeros(len(kind), np.uint64)
    leaf_nodes = np.zeros((len(ends) - 1, small_trees.MOST_LEAVES), np.int64)
    small_trees.rule_out_leaves(ends, kind, first_child, *scratch, kept_at_right, leaf_nodes)
    return kept_at_right, leaf_nodes


def leaf_numbers(
    tree: Tree, X: NDArray[Any], n_jobs: int | None = None, while_waiting: Callable[[], None] | None = None
) -> NDArray[np.int32]:
    """Return the node number of the leaf that every row reaches: int32 (n_samples,).

    Parameters
    ----------
    X : float32 or float64 (n_samples, n_features)
        Encoded table.
    while_waiting : callable, optional
        Called about every 30 ms, see `parallel.for_chunks`.
    """
    X = dtypes.as_input(X)
    leaves = np.empty(len(X), dtypes.NODE_DTYPE)
    arrays = [getattr(tree, name) for name in ROUTING]

    def apply_chunk(_chunk_idx: int, start: int, stop: int) -> None:
        apply_rows(X, start, stop, *arrays, leaves)

    parallel.for_chunks(apply_chunk, len(X), ROWS_PER_CHUNK, n_jobs, while_waiting)
    return leaves


def add_values_of_rows(
    tree: Tree,
    X: NDArray[Any],
    rows: NDArray[np.int64],
    sums: NDArray[np.float64],
    n_jobs: int | None = None,
) -> None:
    """Add one tree's leaf values to the listed rows of `sums`, in place.

    Parameters
    ----------
    X : float32 or float64 (n_samples, n_features)
        Encoded table, C-contiguous and read-only (`dtypes.as_input`).
    rows : int64 (n_listed,)
        Row numbers, each at most once.
    sums : float64 (n_samples, n_outputs)
    """
    rows = dtypes.as_input(rows, np.int64)
    arrays = [getattr(tree, name) for name in (*ROUTING, "value")]

    def add_chunk(_chunk_idx: int, start: int, stop: int) -> None:
        kernels.add_listed_leaf_values(X, rows, start, stop, *arrays, sums)

    parallel.for_chunks(add_chunk, len(rows), ROWS_PER_CHUNK, n_jobs)


def as_votes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return one vote for the first largest of every row's values, nothing for the others."""
    votes = np.zeros_like(values)
    votes[np.arange(len(values)), np.argmax(values, axis=1)] = 1.0
    return votes


def voting_trees(estimator: Any) -> list[Tree]:
    """Return the trees of a fitted bag or forest whose mean is its answer: its own, or of single votes."""
    trees: list[Tree] = list(estimator.estimators_)
    if getattr(estimator, "voting", "soft") != "hard":
        return trees
    return [replace(tree, value=as_votes(tree.value)) for tree in trees]


def lay_end_to_end(trees: Sequence[Tree]) -> tuple[NDArray[np.int64], list[NDArray[Any]]]:
    """Return where every tree begins, and the arrays of all trees one after another.

    Parameters
    ----------
    trees : sequence of Tree, not empty, all with the same number of outputs

    Returns
    -------
    int64 (n_trees,)
        The root of every tree.
    list of ndarray
        feature, kind, threshold, level_offsets, level_sets, first_child, missing_child, unseen_child and
        value; children and level sets are counted from the first tree's start.
    """
    sizes = np.array([tree.n_nodes for tree in trees], np.int64)
    roots = np.cumsum(sizes) - sizes
    if len(trees) == 1:
        return dtypes.as_input(roots), [getattr(trees[0], name) for name in (*ROUTING, "value")]
    arrays = {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in ("value", *ROUTING)}
    # children and level sets are counted from the tree's own start: shift them to where it now lies
    arrays["first_child"] += np.repeat(roots, sizes).astype(dtypes.NODE_DTYPE)
    n_entries = np.array([len(tree.level_sets) for tree in trees], np.int64)
    entry_starts = np.cumsum(n_entries) - n_entries
    offsets = [tree.level_offsets[:-1] + start for tree, start in zip(trees, entry_starts, strict=True)]
    arrays["level_offsets"] = np.append(np.concatenate(offsets), n_entries.sum())
    return dtypes.as_input(roots), [dtypes.as_input(arrays[name]) for name in (*ROUTING, "value")]
