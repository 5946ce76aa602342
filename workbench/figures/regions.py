"""Regions of a picture of two columns: their colours, the lines between them, and where no rows are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.figures.surface_inputs import TRAINING

if TYPE_CHECKING:
    from engine.tree.structure import Path, Tree
    from workbench.figures.axis import Axis
    from workbench.figures.surface import Points

Floats = NDArray[np.float64]


def class_mixture(answer: Floats, class_rgb: NDArray[Any], ground_rgb: NDArray[Any]) -> NDArray[np.uint8]:
    """Mix each cell's class colour into the ground: uint8 (n_y, n_x, 3).

    The share of the colour is 0.15 + 0.35 (p - 1/K) / (1 - 1/K), p the winner's probability: a class
    that barely wins is pale, one without doubt is strong.

    Parameters
    ----------
    answer : float64 (n_classes, n_y, n_x)
    class_rgb : (n_classes, 3)
    ground_rgb : (3,)
    """
    n_classes = len(answer)
    top = answer.max(axis=0)
    certainty = (top - 1 / n_classes) / (1 - 1 / n_classes) if n_classes > 1 else np.ones_like(top)
    share = 0.15 + 0.35 * np.clip(certainty, 0, 1)
    winner, mixed = np.argmax(answer, axis=0), np.empty((*top.shape, 3), np.uint8)
    for channel in range(3):  # one at a time: half the time of all three together
        ground = float(ground_rgb[channel])
        strength = np.asarray(class_rgb, np.float64)[:, channel] - ground
        mixed[..., channel] = np.rint(ground + strength[winner] * share)
    return mixed


def border_lines(labels: NDArray[Any], x_edges: Floats, y_edges: Floats) -> tuple[Floats, Floats]:
    """Return the lines between cells of different class: x and y, two entries a line.

    Neighbouring pieces of one straight border are joined.
    """
    xs: list[Floats] = []
    ys: list[Floats] = []
    for is_vertical in (True, False):
        grid = labels if is_vertical else labels.T
        differs = grid[:, 1:] != grid[:, :-1]  # (along, across)
        padded = np.pad(differs.astype(np.int8), ((1, 1), (0, 0)))
        steps = np.diff(padded, axis=0)
        across_from, start = np.nonzero(steps.T == 1)
        _, stop = np.nonzero(steps.T == -1)
        fixed_edges, along_edges = (x_edges, y_edges) if is_vertical else (y_edges, x_edges)
        fixed = np.repeat(fixed_edges[across_from + 1], 2)
        along = np.column_stack([along_edges[start], along_edges[stop]]).ravel()
        xs.append(fixed if is_vertical else along)
        ys.append(along if is_vertical else fixed)
    return np.concatenate(xs), np.concatenate(ys)


def node_outline(tree: Tree, path: Path, x: Axis, y: Axis) -> tuple[Floats, Floats]:
    """Return the outline of a node's region on a surface: x and y, two entries a line.

    The region is where both columns' values go the node's way, whatever the other columns must hold.
    """
    from engine.tree.inspect import values_on_path

    goes = [values_on_path(tree, path, axis.feature, axis.values) for axis in (x, y)]
    inside = np.pad(np.outer(goes[1], goes[0]).astype(np.int8), 1)
    return border_lines(inside, *(np.pad(axis.edges, 1, mode="edge") for axis in (x, y)))


def far_cells(x: Axis, y: Axis, points: Points, reach: float = 0.12) -> NDArray[np.bool_]:
    """Tell which cells have no training row within `reach` of the drawing's side: bool (n_y, n_x)."""
    n_y, n_x = len(y.values), len(x.values)
    seen = np.zeros((n_y, n_x), bool)
    is_inside = points.parts == TRAINING
    columns = np.clip(np.searchsorted(x.edges, points.x[is_inside], "right") - 1, 0, n_x - 1)
    rows = np.clip(np.searchsorted(y.edges, points.y[is_inside], "right") - 1, 0, n_y - 1)
    ok = np.isfinite(points.x[is_inside]) & np.isfinite(points.y[is_inside])
    seen[rows[ok], columns[ok]] = True
    for axis, n in ((0, n_y), (1, n_x)):  # a box around every row, by running sums
        half = max(round(reach * n), 0)
        sums = np.cumsum(np.pad(seen, [(half + 1, half) if a == axis else (0, 0) for a in (0, 1)]), axis=axis)
        upper = np.take(sums, np.arange(2 * half + 1, 2 * half + 1 + n), axis=axis)
        seen = (upper - np.take(sums, np.arange(n), axis=axis)) > 0
    return ~seen
