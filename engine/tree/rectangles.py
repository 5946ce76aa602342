"""The rectangles that the leaves of a tree are in the plane of two columns, the others held."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from engine.tree.inspect import child_at
from engine.tree.structure import LEAF, LEVEL_SET, MULTIWAY, THRESHOLD, Tree

Floats = NDArray[np.float64]
Box = tuple[float, ...]  # x0, x1, y0, y1


class LeafRectangles(NamedTuple):
    """Rectangles that tile the plane: every point lies in exactly one, ``x0 < x <= x1`` and ``y0 < y <= y1``.

    Attributes
    ----------
    x0, x1, y0, y1 : float64 (n_rectangles,)
        Infinite where no threshold bounds them.
    node : int32 (n_rectangles,)
        The leaf, by its number in the tree; a leaf occurs once at most.
    value : float64 (n_rectangles, n_outputs)
        What it answers.
    """

    x0: Floats
    x1: Floats
    y0: Floats
    y1: Floats
    node: NDArray[np.int32]
    value: Floats


def leaf_rectangles(tree: Tree, x_feature: int, y_feature: int, held: Any) -> LeafRectangles:
    """Return the rectangle of every leaf that some point of the plane reaches, leaves from left to right.

    The tree is walked once, whatever its depth: the cost is its nodes that the held values allow.

    Parameters
    ----------
    tree : Tree
    x_feature, y_feature : int
        Two different columns of numbers.
    held : array-like (n_features,)
        Encoded values of all columns, NaN for missing; those of the two do not matter.

    Raises
    ------
    DataError
        A column does not exist, is named twice, or is a category: its levels have no order.
    """
    held = np.asarray(held, dtype=np.float64)
    axes = (int(x_feature), int(y_feature))
    _check_axes(tree, axes, held)
    found: list[tuple[Box, int]] = []
    waiting: list[tuple[int, Box]] = [(0, (-math.inf, math.inf, -math.inf, math.inf))]
    while waiting:
        node, box = waiting.pop()
        if tree.kind[node] == LEAF:
            found.append((box, node))
            continue
        feature, first = int(tree.feature[node]), int(tree.first_child[node])
        if feature not in axes:
            waiting.append((first + child_at(tree, node, float(held[feature])), box))
        elif tree.kind[node] == THRESHOLD:
            waiting.extend(_halves(first, box, 2 * axes.index(feature), float(tree.threshold[node])))
        else:
            waiting.append((first + 1, box))  # a point of the plane misses nothing
    x0, x1, y0, y1 = np.array([box for box, _node in found]).T
    nodes = np.array([node for _box, node in found], np.int32)
    return LeafRectangles(x0, x1, y0, y1, nodes, tree.value[nodes])


def _halves(first: int, box: Box, at: int, threshold: float) -> list[tuple[int, Box]]:
    """Return the boxes on both sides of a threshold that hold a point, the second child's first."""
    no, yes = list(box), list(box)
    no[at], yes[at + 1] = max(box[at], threshold), min(box[at + 1], threshold)
    return [(first + k, tuple(half)) for k, half in ((1, no), (0, yes)) if half[at] < half[at + 1]]


def _check_axes(tree: Tree, axes: tuple[int, int], held: Floats) -> None:
    if axes[0] == axes[1]:
        raise DataError(f"both sides of the rectangles are column {axes[0]}; choose two different columns")
    for feature in axes:
        if not 0 <= feature < len(held):
            raise DataError(f"there is no column {feature}: {len(held)} values are held; choose another")
        asks_levels = np.isin(tree.kind, (LEVEL_SET, MULTIWAY)) & (tree.feature == feature)
        if asks_levels.any():
            raise DataError(
                f"column {feature} is a category, whose levels have no order; hold it at one level instead"
            )
