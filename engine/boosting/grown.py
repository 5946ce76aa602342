"""A tree while it grows and when it is grown: nodes, their splits, and the way to a `Tree`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.boosting.blocks import N_SUMS, Meanwhile, RowBlocks
from engine.boosting.kernels.splitting import FREE, RISES
from engine.boosting.newton import scores
from engine.boosting.team import Team
from engine.tree.directions import NONE, Directions
from engine.tree.structure import IS_MISSING, LEAF, LEVEL_SET, NO_CHILD, THRESHOLD, Tree, compact

GRADIENT, HESSIAN, WEIGHT = range(N_SUMS)  # places in a node's sums

Sums = NDArray[np.float64]


@dataclass(frozen=True)
class GrowSettings:
    """Limits of a tree and the objective it is grown for.

    Attributes
    ----------
    order : int
        1: least-squares fit to the negative gradients; 2: by gradients and hessians.
    leaf_factor : float
        Factor on the leaves' steps, see `losses.Loss`.
    counts_are_hessians : bool
        All rows weigh 1 (and the hessian is 1 if `order` is 2), so a histogram needs no hessians.
    leaf_curvature : HESSIAN or WEIGHT
        What the sum of gradients is divided by: second derivatives, or weights for one step a tree.
    reg_lambda, reg_alpha, gamma, min_child_weight : float
        As in XGBoost.
    max_features : int or None
        Columns drawn at each node.
    directions : uint8 (n_features,) or (0,)
        See `engine.tree.directions`.
    """

    growth: str
    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: int
    order: int
    reg_lambda: float
    leaf_factor: float
    counts_are_hessians: bool
    n_jobs: int | None
    leaf_curvature: int = HESSIAN
    reg_alpha: float = 0.0
    gamma: float = 0.0
    min_child_weight: float = 0.0
    max_features: int | None = None
    directions: Directions = field(default_factory=lambda: NONE)

    @property
    def split_curvature(self) -> int:
        """What splits divide sums of gradients by."""
        return WEIGHT if self.order == 1 else HESSIAN


@dataclass
class Split:
    """A node's best split: how it is asked in the column's own terms, and which codes go left.

    Attributes
    ----------
    feature, kind, threshold, levels, n_missing : as in `Tree`
    goes_left : uint8 (n_levels + 1,) or (n_bins + 1,)
        1 for levels, or bins, and last for missing, that answer yes.
    scaled_gain : float
    column : int
        Column of the binned table whose codes part the rows: another than `feature` for statistics.
    codes_left : uint8 (n_bins + 1,)
        1 for its codes that go left.
    cut : float
        Of a statistic: codes up to it, or those above, go left; not what the tree asks.
    unknown_child : int or None
        Where missing and unseen go if that is not learned from the node's rows.
    """

    feature: int
    kind: int
    threshold: float
    levels: NDArray[np.int64]
    n_missing: int
    goes_left: NDArray[np.uint8]
    scaled_gain: float
    column: int
    codes_left: NDArray[np.uint8]
    cut: float = math.nan
    unknown_child: int | None = None


@dataclass
class Node:
    """A node, whose rows are ``sample_indices[start:stop]``; its sums and value come when all is grown.

    `lower` and `upper` bound its value where columns have directions; `between` says which bins of columns of
    statistics can come here (above the first number, up to the second), where not all can.
    """

    start: int
    stop: int
    depth: int
    sums: tuple[float, ...] = (0.0,) * N_SUMS
    value: float = 0.0
    split: Split | None = None
    first_child: int = NO_CHILD
    lower: float = -math.inf
    upper: float = math.inf
    between: dict[int, tuple[float, float]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return self.stop - self.start


@dataclass
class Grown:
    """A grown tree before its leaf values are final.

    Attributes
    ----------
    nodes : list of Node
        Children are adjacent; the root is first.
    sample_indices : int32 (n_rows_grown_on,)
        Rows, leaf by leaf.
    blocks : RowBlocks
        Those of `leaves`.
    """

    nodes: list[Node]
    sample_indices: NDArray[np.int32]
    blocks: RowBlocks = field(repr=False)
    settings: GrowSettings = field(repr=False)

    @cached_property
    def leaves(self) -> list[Node]:
        """In the order of their rows."""
        leaves = [node for node in self.nodes if node.first_child == NO_CHILD]
        return sorted(leaves, key=lambda leaf: leaf.start)

    def scale(self, step: float) -> None:
        """Multiply all values by the step of a line search."""
        for node in self.nodes:
            node.value *= step

    def average_upwards(self) -> None:
        """Give every inner node the mean of its leaves' values."""
        for node in reversed(self.nodes):  # children come after their parents
            if node.first_child != NO_CHILD:
                left, right = self.nodes[node.first_child], self.nodes[node.first_child + 1]
                share = left.sums[WEIGHT] / (left.sums[WEIGHT] + right.sums[WEIGHT])
                node.value = share * left.value + (1.0 - share) * right.value

    @cached_property
    def sums(self) -> Sums:
        """All nodes' sums: float64 (n_nodes, 3)."""
        return np.array([node.sums for node in self.nodes])

    def objectives(self) -> NDArray[np.float64]:
        """Each node's part of the objective, -G^2 / (H + lambda), H being weights in first order."""
        settings, sums = self.settings, self.sums
        curvature = sums[:, settings.split_curvature]
        found: NDArray[np.float64] = scores(
            sums[:, GRADIENT], curvature, settings.reg_lambda, settings.reg_alpha
        )
        return -found

    def keep_directions(self) -> None:
        """Put the values inside bounds, as in `engine.tree.directions`."""
        if not len(self.settings.directions):
            return
        for node in self.nodes:
            node.lower, node.upper = -math.inf, math.inf
        for node in self.nodes:  # parents come before their children
            node.value = min(max(node.value, node.lower), node.upper)
            if node.first_child != NO_CHILD:
                left, right = self.nodes[node.first_child], self.nodes[node.first_child + 1]
                hand_on_bounds(node, left, right, left.value, right.value, self.settings.directions)

    def to_tree(self, learning_rate: float) -> Tree:
        """The tree in the columns' own terms; its values are the steps times `learning_rate`."""
        nodes = self.nodes
        impurity = self.objectives()
        rows = [self._question(node) for node in nodes]
        arrays: dict[str, Any] = {
            name: [row[i] for row in rows]
            for i, name in enumerate(("feature", "kind", "threshold", "missing_child", "n_missing"))
        }
        # an unseen level is no missing value: see routing.child_of
        arrays["unseen_child"] = [
            1 if kind == IS_MISSING else child
            for kind, child in zip(arrays["kind"], arrays["missing_child"], strict=True)
        ]
        levels = [_level_set(node) for node in nodes]
        arrays["level_offsets"] = np.cumsum([0, *(len(rows) for rows in levels)])
        arrays["level_sets"] = np.concatenate(levels)
        arrays["first_child"] = [node.first_child for node in nodes]
        arrays["n_children"] = [0 if node.first_child == NO_CHILD else 2 for node in nodes]
        arrays["value"] = np.array([[node.value * learning_rate] for node in nodes])
        arrays["impurity"] = impurity
        first = np.array(arrays["first_child"])
        inner = np.flatnonzero(first != NO_CHILD)
        arrays["gain"] = np.zeros(len(nodes))
        arrays["gain"][inner] = impurity[inner] - impurity[first[inner]] - impurity[first[inner] + 1]
        arrays["n_node_samples"] = [node.n_rows for node in nodes]
        arrays["weighted_n_node_samples"] = [node.sums[WEIGHT] for node in nodes]
        return compact(arrays)

    def _question(self, node: Node) -> tuple[int, int, float, int, int]:
        if node.first_child == NO_CHILD or node.split is None:
            return -1, LEAF, math.nan, NO_CHILD, 0
        split = node.split
        left, right = self.nodes[node.first_child], self.nodes[node.first_child + 1]
        if split.unknown_child is not None:
            missing_child = split.unknown_child
        elif split.n_missing:
            missing_child = 1 - int(split.goes_left[-1])
        else:  # none to learn from: the larger child, the first on a tie (D7)
            missing_child = int(right.sums[WEIGHT] > left.sums[WEIGHT])
        return split.feature, split.kind, split.threshold, missing_child, split.n_missing


def hand_on_bounds(
    node: Node, left: Node, right: Node, left_value: float, right_value: float, directions: Directions
) -> None:
    """Give the children of a split node their bounds; their values may lie outside the node's own."""
    for child in (left, right):
        child.lower, child.upper = node.lower, node.upper
    split = node.split
    if split is None or split.kind != THRESHOLD or directions[split.feature] == FREE:
        return
    middle = sum(min(max(value, node.lower), node.upper) / 2.0 for value in (left_value, right_value))
    rising, falling = (left, right) if directions[split.feature] == RISES else (right, left)
    rising.upper = falling.lower = middle


def _level_set(node: Node) -> NDArray[np.int64]:
    if node.first_child == NO_CHILD or node.split is None or node.split.kind != LEVEL_SET:
        return np.empty((0, 2), np.int64)
    levels = node.split.levels
    return np.column_stack([levels, 1 - node.split.goes_left[levels].astype(np.int64)])


def add_leaves(
    grown: Sequence[Grown], rate: float, raw: NDArray[np.float64], team: Team, meanwhile: Meanwhile = None
) -> None:
    """Add `rate` times leaves' values to their rows of `raw`, float64 (n_rows, n_raw): a tree a column."""
    for k, tree in enumerate(grown):
        values = np.array([leaf.value * rate for leaf in tree.leaves])
        tree.blocks.add_values(values, k, raw, team, meanwhile if k == 0 else None)
