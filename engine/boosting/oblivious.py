"""Oblivious growth: all nodes of a level ask the same question, the one with the largest sum of gains.

As in CatBoost (Prokhorenkova et al. 2018), but a node that the question would leave with too few rows on a
side stays a leaf, so that the limits on leaves hold here too. A level has few nodes, and a node's candidates
are looked at by numpy together: nothing is compiled for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.boosting.blocks import RowBlocks
from engine.boosting.desk import SPLIT_CHUNK
from engine.boosting.grower import CHUNKS_A_WAVE, LEAST_CHUNK, PIECES_A_NODE, Grower
from engine.boosting.grown import Node, Split, hand_on_bounds
from engine.boosting.kernels import splitting, team
from engine.boosting.newton import leaf_values, scores
from engine.boosting.statistic_splits import hand_on_between
from engine.tree.structure import LEVEL_SET, NO_CHILD

Floats = NDArray[np.float64]
Histogram = NDArray[np.int64]


class _Question(NamedTuple):
    """A question of a level: a column, where it is cut, and in which nodes it may be asked."""

    gain: float
    best: Floats  # as `splitting.find_best_split` tells it
    goes_left: NDArray[np.uint8]
    is_asked: NDArray[np.bool_]


class LevelGrower(Grower):
    """Grows oblivious trees; parameters as in `Grower`."""

    asks_all_levels = True  # so that all nodes of a level ask the same

    def _grow_nodes(
        self, generator: np.random.Generator | None
    ) -> tuple[NDArray[np.int64], Callable[[], list[Node]]]:
        """Grow on from the root, level by level, as `Grower`."""
        root = Node(0, len(self._rows), 0)
        nodes, n_leaves, limit = [root], 1, self.settings.max_leaf_nodes
        level = {0: self._new_histogram(root)} if self._may_split(root) else {}
        while level:
            question = self._best_question([nodes[i] for i in level], list(level.values()), generator)
            if question is None:
                break
            n_leaves += int(question.is_asked.sum())
            if limit is not None and n_leaves > limit:
                break
            following: dict[int, Histogram] = {}
            for (node_idx, histogram), is_asked in zip(level.items(), question.is_asked, strict=True):
                if is_asked:
                    node = nodes[node_idx]
                    best = question.best.copy()
                    missing = self._drawn.offsets[int(best[splitting.FEATURE]) + 1] - 1
                    best[splitting.N_MISSING] = histogram[missing, -1]
                    node.split = self._split_of(node, histogram, best, question.goes_left)
                    self._split(nodes, node_idx)
                    following |= self._histograms_below(nodes, node, histogram)
                self._ask()
            level = following
        leaves = [(node.start, node.stop) for node in nodes if node.first_child == NO_CHILD]
        return np.array(sorted(leaves)), lambda: nodes

    def _may_split(self, node: Node) -> bool:
        settings = self.settings
        is_deep = settings.max_depth is not None and node.depth >= settings.max_depth
        return self.has_choice and not is_deep and node.n_rows >= 2 * settings.min_samples_leaf

    def _new_histogram(self, node: Node) -> Histogram:
        chunk = min(self._row_chunk, max(LEAST_CHUNK, node.n_rows // PIECES_A_NODE))
        wave, first = self._row_chunk * CHUNKS_A_WAVE, node.start
        while node.stop - first > wave:
            self._orders.give(team.add, first, wave, chunk)
            first += wave
            self._ask()
        self._orders.give(team.build, first, node.stop - first, chunk, 0, team.NO_SLOT, 0)
        return np.array(self._desk.histograms[0])

    def _split_of(
        self, node: Node, histogram: Histogram, best: Floats, goes_left: NDArray[np.uint8]
    ) -> Split:
        place = int(best[splitting.FEATURE])
        at, n_bins = int(self._drawn.offsets[place]), int(self._drawn.n_bins[place])
        is_of_levels = best[splitting.KIND] == LEVEL_SET
        levels = np.flatnonzero(histogram[at : at + n_bins, -1]) if is_of_levels else np.empty(0, np.int64)
        return self._as_split(node, best, goes_left[: n_bins + 1].copy(), levels)

    def _split(self, nodes: list[Node], node_idx: int) -> None:
        """Partition the node's rows, in their order, and append its two children."""
        node = nodes[node_idx]
        assert node.split is not None
        codes_left, column = node.split.codes_left, node.split.column
        self._desk.goes_left[: len(codes_left)] = codes_left
        n_left = self._orders.give(team.partition, node.start, node.n_rows, SPLIT_CHUNK, column)
        middle = node.start + n_left
        node.first_child = len(nodes)
        left, right = Node(node.start, middle, node.depth + 1), Node(middle, node.stop, node.depth + 1)
        nodes += [left, right]
        hand_on_between(node, left, right, column in self._statistics)
        if len(self.settings.directions):
            stretches = np.array([[left.start, left.stop], [right.start, right.stop]])
            sums = self._sums_of(RowBlocks(self._rows, stretches))
            at_left, at_right = self._leaf_values(sums, self.settings.split_curvature).tolist()
            hand_on_bounds(node, left, right, at_left, at_right, self.settings.directions)

    def _histograms_below(self, nodes: list[Node], node: Node, histogram: Histogram) -> dict[int, Histogram]:
        """Histograms of the children that may be split, the larger one's as a difference."""
        pair = sorted((node.first_child, node.first_child + 1), key=lambda i: nodes[i].n_rows)
        if not self._may_split(nodes[pair[1]]):
            return {}
        small = self._new_histogram(nodes[pair[0]])
        np.subtract(histogram, small, out=histogram)
        found = {pair[1]: histogram}
        if self._may_split(nodes[pair[0]]):
            found[pair[0]] = small
        return dict(sorted(found.items()))

    def _best_question(
        self, nodes: list[Node], histograms: list[Histogram], generator: np.random.Generator | None
    ) -> _Question | None:
        columns = self._columns_of_level(histograms, generator)
        told = [self._rules(node.lower, node.upper) for node in nodes]
        least, noise = told[0].least_gain, self._noise(histograms, told)
        best: _Question | None = None
        for feature in columns.tolist():
            at, n = int(self._drawn.offsets[feature]), int(self._drawn.n_bins[feature])
            if n == 0:
                continue
            parts = [histogram[at : at + n + 1] for histogram in histograms]
            search = self._levels if self._drawn.is_categorical[feature] else self._thresholds
            found = search(feature, parts, told, noise, best.gain if best else least)
            best = found or best
        return best

    def _noise(self, histograms: list[Histogram], told: list[Any]) -> float:
        """What rounding may turn into gain, see `splitting.find_best_split`."""
        noise = 0.0
        for histogram, rules in zip(histograms, told, strict=True):
            whole = histogram[: int(self._drawn.offsets[1])].sum(axis=0)  # every column holds all rows
            hessians = float(_hessians(self._hessian_unit, whole))
            if hessians > 0:
                parent = float(_score_of(np.float64(whole[0]), hessians, rules))
                noise += splitting.ROUNDING * parent + float(whole[-1]) ** 2 / hessians
        return noise

    def _columns_of_level(
        self, histograms: list[Histogram], generator: np.random.Generator | None
    ) -> NDArray[np.int64]:
        """Columns drawn for a level: so many as for a node, and on while all were constant everywhere."""
        n_wanted, columns = self.settings.max_features, self._columns
        if n_wanted is None or n_wanted >= len(columns) or generator is None:
            return columns
        columns = generator.permutation(columns)
        offsets, n_bins = self._drawn.offsets, self._drawn.n_bins
        cells = [slice(int(offsets[f]), int(offsets[f]) + int(n_bins[f]) + 1) for f in columns]
        varies = [any(np.count_nonzero(h[part, -1]) > 1 for h in histograms) for part in cells]
        while n_wanted < len(columns) and not any(varies[:n_wanted]):
            n_wanted += 1
        return np.asarray(columns[:n_wanted])

    def _thresholds(
        self, feature: int, parts: list[Histogram], told: list[Any], noise: float, least: float
    ) -> _Question | None:
        """Try all thresholds, missing right before missing left, then all values against missing."""
        n = len(parts[0]) - 1
        direction = np.full((n, 2), self._desk.searches.directions[feature])
        n_right = sum(part[:n, -1].sum() - np.cumsum(part[:n, -1]) for part in parts)
        direction[n_right == 0] = splitting.FREE  # "is missing" is no question about the order of values
        lefts = []
        for part in parts:
            sums = np.cumsum(part[:n], axis=0)
            lefts.append(np.stack([sums, sums + part[n]], axis=1))
        gains, is_allowed = _gains(self._hessian_unit, parts, lefts, told, direction)
        total = gains.sum(axis=0)
        if not total.max() > least * (1.0 + splitting.TIE_SHARE) + noise:
            return None
        bin_idx, side = divmod(
            int(np.flatnonzero(total.ravel() >= total.max() * (1.0 - splitting.TIE_SHARE) - noise)[0]), 2
        )
        goes_left = np.zeros(self._desk.goes_left.shape, np.uint8)
        is_last = int(n_right[bin_idx]) == 0
        kind = splitting.mark_threshold(n - 1 if is_last else bin_idx, n, side, goes_left)
        best = np.array([total[bin_idx, side], feature, bin_idx, kind, 0.0])
        return _Question(float(total[bin_idx, side]), best, goes_left, is_allowed[:, bin_idx, side])

    def _levels(
        self, feature: int, parts: list[Histogram], told: list[Any], noise: float, least: float
    ) -> _Question | None:
        """Order the levels by their mean gradient over all nodes, and try where to cut the order."""
        whole = np.sum(parts, axis=0)
        keys = whole[:, 0] / np.maximum(
            _hessians(self._hessian_unit, whole) + told[0].reg_lambda, np.finfo(float).tiny
        )
        present = np.flatnonzero(whole[:, -1])
        order = present[np.argsort(keys[present], kind="stable")]
        if len(order) < 2:
            return None
        lefts = [np.cumsum(part[order[:-1]], axis=0) for part in parts]
        free = np.full(len(order) - 1, splitting.FREE)
        gains, is_allowed = _gains(self._hessian_unit, parts, lefts, told, free)
        total = gains.sum(axis=0)
        if not total.max() > least * (1.0 + splitting.TIE_SHARE) + noise:
            return None
        at = int(np.flatnonzero(total >= total.max() * (1.0 - splitting.TIE_SHARE) - noise)[0])
        goes_left = np.zeros(self._desk.goes_left.shape, np.uint8)
        kind = splitting.mark_levels(order, len(order), at + 1, len(parts[0]) - 1, goes_left)
        best = np.array([total[at], feature, -1.0, kind, 0.0])
        return _Question(float(total[at]), best, goes_left, is_allowed[:, at])


def _gains(
    unit: float, parts: list[Histogram], lefts: list[Histogram], told: list[Any], direction: Any
) -> tuple[Floats, NDArray[np.bool_]]:
    """Gain of each candidate in each node, and whether the node may be split so; 0 where it may not."""
    all_gains, all_allowed = [], []
    for part, left, rules in zip(parts, lefts, told, strict=True):
        whole = part.sum(axis=0)
        right = whole - left
        gl, gr, hl, hr = left[..., 0], right[..., 0], _hessians(unit, left), _hessians(unit, right)
        is_allowed = (left[..., -1] >= rules.min_samples_leaf) & (right[..., -1] >= rules.min_samples_leaf)
        is_allowed &= (hl >= rules.min_child_weight) & (hr >= rules.min_child_weight)
        if np.any(direction != splitting.FREE):
            is_allowed &= _keeps_direction(gl, hl, gr, hr, rules, direction)
        parent = _score_of(whole[:1].astype(float), np.atleast_1d(_hessians(unit, whole)), rules)[0]
        gain = _score_of(gl, hl, rules) + _score_of(gr, hr, rules) - parent
        all_gains.append(np.where(is_allowed, gain, 0.0))
        all_allowed.append(is_allowed)
    return np.array(all_gains), np.array(all_allowed)


def _keeps_direction(gl: Any, hl: Any, gr: Any, hr: Any, rules: Any, direction: Any) -> NDArray[np.bool_]:
    first, second = (leaf_values(g, h, rules.reg_lambda, rules.reg_alpha) for g, h in ((gl, hl), (gr, hr)))
    falls = direction == splitting.FALLS
    low, high = np.where(falls, second, first), np.where(falls, first, second)
    is_kept = (low <= high) & (low >= rules.lower) & (high <= rules.upper)
    return np.asarray(is_kept | (direction == splitting.FREE))


def _hessians(unit: float, cells: Any) -> Any:
    return cells[..., -1].astype(float) if cells.shape[-1] == 2 else cells[..., 1] * unit


def _score_of(gradients: Any, hessians: Any, rules: Any) -> Any:
    return scores(gradients, hessians, rules.reg_lambda, rules.reg_alpha)
