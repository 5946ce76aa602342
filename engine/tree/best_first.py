"""The order in which best-first growth would make a tree's splits, and the tree after some of them.

Friedman 2001 and scikit-learn's `max_leaf_nodes` grow so: of all leaves that may be split, always the one
whose split takes most off the weighted impurity is next.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from engine.tree.prune import cut
from engine.tree.splice import branch_at, splice
from engine.tree.structure import LEVEL_SET, MULTIWAY, Tree

ARRAYS_OF_A_QUESTION = ("feature", "kind", "threshold", "n_children", "missing_child", "unseen_child")


def split_order(tree: Tree) -> NDArray[np.int64]:
    """Return a single tree's inner nodes in the order of best-first growth: int64 (n_splits,).

    Next is always the open node whose split decreases the weighted impurity most; of equal ones the node that
    came to be first. So the first k splits are those of a tree grown with the same settings to
    ``max_leaf_nodes=k + 1``, but where rounding decides between equal ones.
    """
    return _order(tree, np.zeros(1, np.int64))


def first_splits(tree: Tree, k: int) -> Tree:
    """Return the tree with the first `k` splits of `split_order`: 0 the root alone, all the tree itself.

    Raises
    ------
    DataError
        The tree has fewer splits, or `k` is negative.
    """
    order = split_order(tree)
    if not 0 <= k <= len(order):
        raise DataError(
            f"the tree has {len(order)} splits, so it cannot be cut to {k}; choose 0 to {len(order)}"
        )
    return cut(tree, order[k:])


def with_splits(tree: Tree, uncut: Tree, k: int) -> Tree:
    """Return a cut tree with `k` splits: its first ones, or all of them and the best of those cut from it.

    Of equal ones that were cut the first in the uncut tree's order comes back.

    Parameters
    ----------
    tree : Tree
    uncut : Tree
        What `tree` was cut from. Below a node where it asks something else, `tree` is followed.
    k : int

    Raises
    ------
    DataError
        There are fewer splits, or `k` is negative.
    """
    n_now = count_splits(tree)
    if k <= n_now:
        return first_splits(tree, k)
    whole, kept, open_ = _overlay(tree, uncut)
    place = np.zeros(whole.n_nodes, np.int64)
    of_whole = split_order(whole)
    place[of_whole] = np.arange(len(of_whole))
    order = _order(whole, open_, place)
    if k > n_now + len(order):
        most = n_now + len(order)
        raise DataError(
            f"the tree has {most} splits when nothing is cut, so it cannot have {k}; choose 0 to {most}"
        )
    kept[order[: k - n_now]] = True
    return cut(whole, np.flatnonzero(~kept & ~whole.is_leaf))


def count_splits(tree: Tree) -> int:
    """Return how many nodes ask."""
    return int(np.count_nonzero(~tree.is_leaf))


def count_with_cut(tree: Tree, uncut: Tree) -> int:
    """Return how many splits `tree` has when all that was cut from it is back; see `with_splits`."""
    return count_splits(_overlay(tree, uncut)[0])


def _order(tree: Tree, open_: NDArray[np.int64], place: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """Return the inner nodes among and below `open_`, which are split in best-first order.

    Of equal ones the lowest in `place` is first, by default the one that came to be first.
    """
    decrease = (tree.gain * tree.weighted_n_node_samples).tolist()
    first_child, n_children = tree.first_child.tolist(), tree.n_children.tolist()
    places = None if place is None else place.tolist()
    heap: list[tuple[float, int, int]] = []
    order: list[int] = []
    n_made = 0
    came: Iterable[int] = open_.tolist()
    while True:
        for node in came:
            if n_children[node]:
                heappush(heap, (-decrease[node], n_made if places is None else places[node], node))
            n_made += 1
        if not heap:
            return np.array(order, np.int64)
        _, _, node = heappop(heap)
        order.append(node)
        came = range(first_child[node], first_child[node] + n_children[node])


def _overlay(tree: Tree, uncut: Tree) -> tuple[Tree, NDArray[np.bool_], NDArray[np.int64]]:
    """Return `tree` with what was cut from it, which nodes of that ask in `tree`, and the open ones.

    Open ones are leaves of `tree` that ask in `uncut`.
    """
    whole = uncut
    while True:
        ours, theirs = _side_by_side(tree, whole)
        is_inner, is_same = ~tree.is_leaf[ours], _ask_same(tree, ours, whole, theirs)
        differs = np.flatnonzero(is_inner & ~is_same)
        if not len(differs):
            break  # else a branch was grown anew, which depends on what is elsewhere
        whole = splice(whole, int(theirs[differs[0]]), branch_at(tree, int(ours[differs[0]])))
    kept = np.zeros(whole.n_nodes, bool)
    kept[theirs[is_inner]] = True
    return whole, kept, np.sort(theirs[~is_inner & ~whole.is_leaf[theirs]])


def _side_by_side(tree: Tree, other: Tree) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of nodes at equal places in both, down to where one is a leaf or they differ."""
    a, b = np.zeros(1, np.int64), np.zeros(1, np.int64)
    found = [(a, b)]
    while len(a):
        is_same = _ask_same(tree, a, other, b)
        a, b = tree.children_of(a[is_same]), other.children_of(b[is_same])
        found.append((a, b))
    return np.concatenate([a for a, _ in found]), np.concatenate([b for _, b in found])


def _ask_same(one: Tree, a: NDArray[np.int64], other: Tree, b: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell at which of paired nodes both ask, and the same."""
    is_same = ~one.is_leaf[a]
    for name in ARRAYS_OF_A_QUESTION:
        left, right = getattr(one, name)[a], getattr(other, name)[b]
        is_same &= (left == right) | (np.isnan(left) & np.isnan(right))
    for at in np.flatnonzero(is_same & np.isin(one.kind[a], (LEVEL_SET, MULTIWAY))):
        is_same[at] = np.array_equal(one.levels(int(a[at])), other.levels(int(b[at])))
    return is_same
