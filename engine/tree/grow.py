"""Drives the growing kernel: makes room, asks the monitor, turns arrays into a `Tree`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.jit import compile_for, new_records
from engine.monitor import StopFlag
from engine.tree import large_nodes, subtrees
from engine.tree.directions import clip_values
from engine.tree.kernels import grow as kernels
from engine.tree.kernels import grow_medians, layout, levels, thresholds
from engine.tree.kernels.impurity import describe_node
from engine.tree.presort import Ask, Presorted, sort_column
from engine.tree.structure import LEAF, NO_CHILD, THRESHOLD, Tree, compact

WORK_BUDGET = 1_000_000  # row visits a kernel call: about 20 ms
FIRST_NODES = 64


@dataclass(frozen=True)
class GrownTree:
    """A tree, and whether it was left unfinished because a stop was asked for."""

    tree: Tree
    is_partial: bool


class Grower:
    """One tree in the making.

    Parameters
    ----------
    presorted : Presorted
    order : int64 (n_features, n_rows), writable
        Rows to grow on, all of positive weight; partitioned in place.
    y, w : float64 (n_samples,)
        Target or class index, and weight.
    rules : layout.Rules
    seed : uint64
        Of the columns drawn at each node.

    Attributes
    ----------
    rows_aside : int
        Subtrees of up to so many rows are grown apart, see `engine.tree.subtrees`; 0: none is.
    """

    def __init__(
        self, presorted: Presorted, order: NDArray[np.int64], y: NDArray[np.float64], w: NDArray[np.float64],
        rules: layout.Rules, seed: np.uint64,
    ) -> None:  # fmt: skip
        self._X = presorted.X
        self._is_absolute = rules.criterion == layout.ABSOLUTE_ERROR
        by_target = _by_target(order, y) if self._is_absolute else np.empty(0, np.int64)
        target = dtypes.as_input(np.column_stack([y, w]))
        self._sample = layout.Sample(order, target, presorted.is_level, by_target)
        self._drawn = layout.Values(presorted.values, presorted.first_value) if rules.is_random else None
        self._rules, self._n_rows, self._is_canonical = rules, order.shape[1], True
        n_levels = _most_levels(presorted)
        self._nodes = subtrees.new_nodes(FIRST_NODES, rules.n_sums, n_levels + 1)
        sets = np.zeros((n_levels, 2), dtypes.LEVEL_DTYPE)
        self._best = layout.Best(np.zeros(1), np.zeros(layout.N_BEST, np.int64), sets)
        n_medians = len(y) + 1 if self._is_absolute and not rules.is_random else 1
        self._scratch = _new_scratch(presorted, self._n_rows, rules.n_sums, n_levels + 1, n_medians)
        self._stack = np.zeros(FIRST_NODES, dtypes.NODE_DTYPE)
        self._state = np.zeros(layout.N_STATE, np.int64)
        self._random_state = np.array([seed], np.uint64)
        is_large = order.shape[1] >= subtrees.fewest_rows()
        self.rows_aside = subtrees.rows_set_aside(rules, presorted.is_level) if is_large else 0

    def grow(self, ask: Ask) -> GrownTree:
        """Grow until the rules or `ask` end it; every row is in some leaf in either case."""
        is_stopped = self._is_absolute and ask(1, 0.0)  # sorting the targets has taken its time
        self._plant_root()
        if is_stopped:
            return GrownTree(self._to_tree(), True)
        self._state[layout.STATE_ASIDE] = self.rows_aside
        if self._state[layout.STATE_ASIDE] and self._rules.max_features >= len(self._sample.order):
            is_partial = self._grow_large(ask)
        else:
            is_partial = self._grow_in_one_kernel(ask)
        if self._state[layout.STATE_ASIDE] and not is_partial:
            is_partial = self._grow_set_aside(ask)
        return GrownTree(self._to_tree(), is_partial)

    def _grow_in_one_kernel(self, ask: Ask) -> bool:
        """Grow all that is not set aside; returns whether a stop left some unfinished."""
        grow = grow_medians.grow_by_medians if self._is_absolute else kernels.grow
        while self._state[layout.STATE_PHASE] != layout.DONE:
            self._make_room()
            grow(
                self._sample, self._rules, self._nodes, self._best, self._scratch, self._state, self._stack,
                self._drawn, self._random_state, WORK_BUDGET,
            )  # fmt: skip
            if ask(int(self._state[layout.STATE_NODES]), self._fraction()):
                break
        return bool(self._state[layout.STATE_PHASE] != layout.DONE)

    def _grow_large(self, ask: Ask) -> bool:
        """Divide the nodes of many rows, where all columns are looked at; returns whether a stop came."""
        if self._n_rows <= self._state[layout.STATE_ASIDE]:
            return ask(1, 0.0)

        def ask_large() -> bool:
            self._nodes = grower.nodes
            return ask(int(self._state[layout.STATE_NODES]), self._fraction())

        flag = StopFlag(ask_large)
        grower = large_nodes.LargeNodeGrower(
            self._sample, self._rules, self._nodes, self._state, self._best, self._scratch.side, flag
        )
        is_partial = grower.grow()
        self._nodes = grower.nodes
        self._state[layout.STATE_PHASE] = layout.DONE
        return is_partial

    def _grow_set_aside(self, ask: Ask) -> bool:
        """Grow the subtrees of few rows, several at a time; returns whether a stop left some unfinished."""
        n_large = int(self._state[layout.STATE_NODES])
        grown = self._nodes.records[:n_large]
        is_aside = (grown["first_child"] == NO_CHILD) & (grown["n_rows"] <= self._state[layout.STATE_ASIDE])
        is_aside &= grown["depth"] != self._rules.max_depth  # leaves need no layout of their own
        roots = np.flatnonzero(is_aside)
        n_rows = int(grown["n_rows"][roots].sum())

        def ask_rows(n_done: int) -> bool:
            share = 1 - self._share_aside * (1 - n_done / n_rows)
            return ask(n_large, share)

        grower = subtrees.SubtreeGrower(
            self._sample, self._rules, self._nodes, self._random_state, WORK_BUDGET, ask_rows
        )
        found = grower.grow(roots, None)
        self._nodes, n_nodes = subtrees.graft(self._nodes, n_large, found)
        self._state[layout.STATE_NODES] = n_nodes
        self._is_canonical = n_large == 1
        return any(subtree.is_partial for subtree in found)

    def compile_levels(self) -> None:
        """Compile the search through levels: a third of the growing kernel, for another process to do."""
        node = (np.int32(0), self._nodes, 0, 0.0, self._best, self._scratch)
        compile_for(levels.scan_levels, self._sample, self._rules, *node)

    def compile_rest(self) -> None:
        """Compile what the growing kernel calls beside the search through levels."""
        sample, rules, nodes, best = self._sample, self._rules, self._nodes, self._best
        scratch, state = self._scratch, self._state
        node = (np.int32(0), nodes, 0, 0.0, best, scratch)
        compile_for(thresholds.scan_thresholds, sample, rules, *node)
        compile_for(kernels.partition, sample, rules, nodes, scratch, state, 0)
        compile_for(kernels.choose_next, sample, rules, nodes, best, scratch, state, self._stack)

    def _plant_root(self) -> None:
        nodes, state = self._nodes, self._state
        nodes.records["start"][0], nodes.records["stop"][0] = 0, self._n_rows
        nodes.records["lower_bound"][0], nodes.records["upper_bound"][0] = (
            self._rules.lower,
            self._rules.upper,
        )
        describe_node(self._sample, self._rules, nodes, 0)
        state[layout.STATE_NODES] = state[layout.STATE_LEAVES] = state[layout.STATE_STACK] = 1

    def _fraction(self) -> float:
        if self._rules.max_leaf_nodes > 0:
            return float(self._state[layout.STATE_LEAVES]) / self._rules.max_leaf_nodes
        # depth first, left to right: all rows before the current node lie in finished leaves
        n_done = int(self._nodes.records["start"][self._state[layout.STATE_NODE]])
        return float((1 - self._share_aside) * n_done / self._n_rows)

    @property
    def _share_aside(self) -> float:
        """Return the share of the levels, and so about of the work, that is left for what is set aside."""
        aside = int(self._state[layout.STATE_ASIDE])
        if not aside:
            return 0.0
        n_large = max(0.0, np.log2(self._n_rows / aside))
        n_levels = max(1.0, np.log2(self._n_rows))
        if self._rules.max_depth >= 0:
            n_levels = min(n_levels, max(1, self._rules.max_depth))
        return float(1 - min(n_large, n_levels) / n_levels)

    def _make_room(self) -> None:
        nodes, state = self._nodes, self._state
        n_levels = len(self._best.sets)
        wants_nodes = state[layout.STATE_NODES] + 2 > len(nodes.records)
        wants_sets = state[layout.STATE_SETS] + n_levels > len(nodes.level_sets)
        if wants_nodes or wants_sets:
            room = len(nodes.records) * (2 if wants_nodes else 1)
            sets = len(nodes.level_sets) * 2 if wants_sets else len(nodes.level_sets)
            self._nodes = subtrees.with_room(nodes, room, sets)
        if state[layout.STATE_STACK] + 2 > len(self._stack):
            self._stack = np.concatenate([self._stack, np.zeros_like(self._stack)])

    def _fill_thresholds(self, arrays: dict[str, Any]) -> None:
        kernels.fill_thresholds(
            self._X, arrays["feature"], arrays["kind"], arrays["lower"], arrays["upper"], arrays["threshold"]
        )

    def _to_tree(self) -> Tree:
        """Close nodes that were evaluated or partitioned but not split, and build the value."""
        n_nodes, nodes = int(self._state[layout.STATE_NODES]), self._nodes
        if self._state[layout.STATE_PHASE] == layout.PARTITION and self._state[layout.STATE_VISITED] >= 0:
            n_nodes -= 2  # the children of a half-made split are not described yet
            nodes.records["first_child"][self._state[layout.STATE_NODE]] = NO_CHILD
        grown = nodes.records[:n_nodes]
        arrays: dict[str, Any] = {name: grown[name].copy() for name in layout.NODE_RECORD.names or ()}
        arrays["value"] = nodes.value[:n_nodes]
        if len(self._rules.directions):
            bounds = grown["lower_bound"], grown["upper_bound"]
            arrays["value"] = clip_values(arrays["value"], *bounds)
        drawn = arrays["threshold"]
        arrays["threshold"] = np.full(n_nodes, np.nan)
        leaves = np.flatnonzero(arrays["first_child"] == NO_CHILD)
        for name, empty in _LEAF_VALUES.items():
            arrays[name][leaves] = empty
        if self._rules.is_random:
            arrays["threshold"] = np.where(arrays["kind"] == THRESHOLD, drawn, np.nan)
        else:
            self._fill_thresholds(arrays)
        arrays["n_children"] = np.where(arrays["first_child"] == NO_CHILD, 0, 2)
        sizes = arrays["set_stop"] - arrays["set_start"]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.repeat(arrays["set_start"] - offsets[:-1], sizes) + np.arange(offsets[-1])
        arrays["level_offsets"], arrays["level_sets"] = offsets, nodes.level_sets[rows]
        arrays["n_node_samples"] = arrays.pop("n_rows")
        arrays["weighted_n_node_samples"] = arrays.pop("weight")
        if self._rules.max_leaf_nodes > 0 or not self._is_canonical:
            return compact(arrays)
        # grown depth first, left to right: the canonical order already
        return Tree(**{item.name: arrays[item.name] for item in fields(Tree)})


_LEAF_VALUES = {
    "feature": -1,
    "kind": LEAF,
    "missing_child": NO_CHILD,
    "unseen_child": NO_CHILD,
    "gain": 0.0,
    "n_missing": 0,
    "set_start": 0,
    "set_stop": 0,
}


def _most_levels(presorted: Presorted) -> int:
    """How many levels a categorical column has at most, missing included; at least 1."""
    most = 1
    for feature in np.flatnonzero(presorted.is_level):
        codes = presorted.X[:, feature]
        present = codes[~np.isnan(codes)]
        most = max(most, int(present.max()) + 2 if len(present) else 1)
    return most


def _by_target(order: NDArray[np.int64], y: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the rows in `order` by ascending target, rows of equal targets as in the table."""
    is_grown_on = np.zeros(len(y), bool)
    is_grown_on[order[0] & layout.ROW_MASK] = True
    rows = np.flatnonzero(is_grown_on)
    by_target = np.empty(len(rows), dtypes.COUNT_DTYPE)
    sort_column(y[rows], is_level=False, order=by_target)
    return np.asarray(rows[by_target & layout.ROW_MASK])


def _new_scratch(
    presorted: Presorted, n_rows: int, n_sums: int, n_levels: int, n_medians: int
) -> layout.Scratch:
    n_samples, n_features = presorted.X.shape
    return layout.Scratch(
        sums=np.zeros((4, n_sums)),
        side=np.zeros(n_samples, np.uint8),
        buffer=np.zeros(n_rows, dtypes.COUNT_DTYPE),
        features=np.arange(n_features, dtype=np.int32),
        levels=new_records(n_levels, layout.LEVEL_RECORD),
        level_sums=np.zeros((n_levels, n_sums)),
        medians=new_records(n_medians, layout.MEDIAN_RECORD),
    )
