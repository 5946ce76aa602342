"""Where the nodes of a drawn tree stand: the tidy layout, without recursion.

Each subtree is a rigid drawing described by its left and right contour, one number a level. Children
are pushed together from left to right until contours are `separation` apart, and a parent stands in the
middle of its first and last child (Reingold and Tilford 1981, for any number of children). Contours are
kept deepest level first and changed in place for the levels that both have, so the whole costs one pass
over the nodes (the smaller contour pays).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class _Contour:
    """One side of a subtree: centre positions by level, deepest first, all to be shifted by `shift`."""

    __slots__ = ("levels", "shift")

    def __init__(self) -> None:
        self.levels: list[float] = [0.0]
        self.shift = 0.0


def tidy_positions(
    first_child: NDArray[np.int32],
    n_children: NDArray[np.int32],
    is_open: NDArray[np.bool_],
    separation: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Place the nodes that show when exactly the nodes of `is_open` show their children.

    Parameters
    ----------
    first_child, n_children : int32 (n_nodes,)
        The tree, as in `engine.tree.structure.Tree`: parents have smaller numbers than children.
    is_open : bool (n_nodes,)
    separation : float
        Least distance of two centres on one level.

    Returns
    -------
    nodes : int64 (n_shown,)
        Node numbers, each after its parent.
    x : float64 (n_shown,)
        Centres; the leftmost is 0.
    depth : int32 (n_shown,)
    """
    nodes, depth = _shown(first_child, n_children, is_open)
    offset: dict[int, float] = {0: 0.0}  # of a node's centre from its parent's
    contours: dict[int, tuple[_Contour, _Contour]] = {}
    for node in reversed(nodes):
        n = int(n_children[node]) if is_open[node] else 0
        if n == 0:
            contours[node] = (_Contour(), _Contour())
            continue
        first = int(first_child[node])
        block = range(first, first + n)
        contours[node] = _join([contours.pop(child) for child in block], block, offset, separation)
    centre = {0: 0.0}
    for node in nodes:
        if is_open[node]:
            first = int(first_child[node])
            for child in range(first, first + int(n_children[node])):
                centre[child] = centre[node] + offset[child]
    x = np.array([centre[node] for node in nodes])
    return np.array(nodes, np.int64), x - x.min(), np.array(depth, np.int32)


def _shown(
    first_child: NDArray[np.int32], n_children: NDArray[np.int32], is_open: NDArray[np.bool_]
) -> tuple[list[int], list[int]]:
    nodes, depth, at = [0], [0], 0
    while at < len(nodes):
        node = nodes[at]
        if is_open[node] and n_children[node]:
            first, n = int(first_child[node]), int(n_children[node])
            nodes.extend(range(first, first + n))
            depth.extend([depth[at] + 1] * n)
        at += 1
    return nodes, depth


def _join(
    drawings: Sequence[tuple[_Contour, _Contour]],
    block: Sequence[int],
    offset: dict[int, float],
    separation: float,
) -> tuple[_Contour, _Contour]:
    left, right = drawings[0]
    places = [0.0]
    for next_left, next_right in drawings[1:]:
        n_common = min(len(right.levels), len(next_left.levels))
        apart = right.shift - next_left.shift + separation
        push = max(right.levels[-k] - next_left.levels[-k] for k in range(1, n_common + 1)) + apart
        next_left.shift += push
        next_right.shift += push
        places.append(push)
        left = _outer(left, next_left)
        right = _outer(next_right, right)
    middle = (places[0] + places[-1]) / 2
    for child, place in zip(block, places, strict=True):
        offset[child] = place - middle
    for side in (left, right):
        side.shift -= middle
        side.levels.append(-side.shift)  # the parent itself, at 0
    return left, right


def _outer(near: _Contour, far: _Contour) -> _Contour:
    """Return the contour that follows `near` where it has levels and `far` below."""
    if len(near.levels) >= len(far.levels):
        return near
    move = near.shift - far.shift
    for k in range(1, len(near.levels) + 1):
        far.levels[-k] = near.levels[-k] + move
    return far
