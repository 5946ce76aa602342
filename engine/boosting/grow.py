"""Growing one tree of a boosting round from binned rows.

The rows of a node are a stretch of one array; a split partitions the stretch in place:

    sample_indices   [ rows of node 1            | rows of node 2                   ]
                     [ node 3    | node 4        | rows of node 2                   ]

Splits are searched in histograms of fixed-point gradients, whose sums are exact. When the tree is grown
its leaves' rows are summed in float64, a node's sums are its children's, and leaf values and gains follow.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from engine.binning import BinnedTable
from engine.boosting.blocks import RowBlocks
from engine.boosting.columns import ColumnDrawer
from engine.boosting.desk import AT_WORK, SPLIT_CHUNK, desk_for, of_columns
from engine.boosting.grown import GRADIENT, Grown, GrowSettings, Node, Split, Sums, hand_on_bounds
from engine.boosting.kernels import histogram as histogram_kernels
from engine.boosting.kernels import splitting, team
from engine.boosting.newton import leaf_values
from engine.boosting.ordered import EVERYWHERE, Statistic
from engine.boosting.statistic_splits import hand_on_between, level_split
from engine.boosting.team import Team
from engine.parallel import for_chunks
from engine.tree.structure import LEVEL_SET, NO_CHILD, THRESHOLD

ROW_CHUNK = 16384  # rows a piece of what is made of gradients: few enough for threads to end together
CELLS_A_TEAM = 2**18  # row visits x columns of a tree's root, at least, for others to be called
CELLS_A_CHUNK = 2**16  # row visits x columns a piece of histogram, about 60 microseconds
PIECES_A_NODE, LEAST_CHUNK = 32, 512  # smaller pieces and fewer rows: nobody waits long for the last one
CHUNKS_A_WAVE = 512  # pieces between two questions to the monitor, about 30 ms of one thread
COUNT_BITS = 14  # of a packed cell, at least: 35 bits are left for each row's gradient
NO_STATISTICS: Mapping[int, Statistic] = MappingProxyType({})
CELLS_A_VISIT = 8  # row visits x columns between two emptyings of a packed histogram, times its cells


class TreeGrower:
    """Grows trees on one binned table, round after round, in the same memory.

    Parameters
    ----------
    binned : BinnedTable
    sample_weight : float64 (n_rows,)
        All positive.
    settings : GrowSettings
    ask : callable
        Called every few milliseconds of work; raises to end the growing.
    statistics : mapping
        Columns of `binned` that hold statistics of a category, see `engine.boosting.ordered`.
    """

    asks_all_levels = False  # of a statistic, also those that cannot come to a node

    def __init__(
        self,
        binned: BinnedTable,
        sample_weight: NDArray[np.float64],
        settings: GrowSettings,
        ask: Callable[[], None],
        statistics: Mapping[int, Statistic] = NO_STATISTICS,
    ) -> None:
        self.binned, self.weights, self.settings, self._ask = binned, sample_weight, settings, ask
        self._unequal_weights = sample_weight[:0] if np.all(sample_weight == 1.0) else sample_weight
        self._drawer = ColumnDrawer(binned, settings.n_jobs)
        self._statistics = statistics
        n_rows, n_channels = binned.n_rows, 1 if settings.counts_are_hessians else 2
        most = max(2**COUNT_BITS - 1, CELLS_A_VISIT * binned.n_cells // max(binned.n_features, 1))
        self._count_bits = min(n_rows, most).bit_length()
        self._row_chunk = min(max(1, CELLS_A_CHUNK // max(binned.n_features, 1)), 2**self._count_bits - 1)
        self._team = Team(settings.n_jobs)
        self._whole_desk = self._desk = desk_for(
            binned, settings.directions, n_channels, self._count_bits, settings.max_leaf_nodes, self._team
        )
        self._free = list(range(len(self._desk.histograms)))
        self.has_choice = bool(np.any(np.diff(binned.offsets) > 2)) or self._some_column_has_missing()

    def _some_column_has_missing(self) -> bool:
        return any(n > 0 and np.any(self.binned.columns[f] == n) for f, n in enumerate(self.binned.n_bins))

    def grow(
        self,
        gradients: NDArray[np.float64],
        hessians: NDArray[np.float64],
        sample_indices: NDArray[np.int32],
        columns: NDArray[np.int64] | None = None,
        generator: np.random.Generator | None = None,
    ) -> Grown:
        """Grow one tree; its leaf values are Newton steps, not yet times the learning rate.

        Parameters
        ----------
        gradients, hessians : float64 (n_rows,)
            Both times the row's weight.
        sample_indices : int32 (n_rows_to_grow_on,)
            Ascending rows; reordered in place.
        columns : int64 (n_allowed,), optional
            The columns to split by; all if omitted.
        generator : Generator, optional
            Draws columns at each node.
        """
        self._choose_columns(columns, sample_indices)
        self._generator = generator
        self._gradients, self._hessians, self._rows = gradients, hessians, sample_indices
        self._set_scales()
        self._ask()
        is_short = len(sample_indices) * self.binned.n_features < CELLS_A_TEAM
        with self._team.at(self._desk, is_short):
            nodes = self._grow_nodes(Node(0, len(sample_indices), 0))
        grown = Grown(nodes, sample_indices, self.settings)
        self._sum_up(grown)
        self._ask()
        return grown

    def _choose_columns(self, numbers: NDArray[np.int64] | None, rows: NDArray[np.int32]) -> None:
        """Look at some columns alone, or at all; `_columns` counts within those that are added up."""
        drawn, self._columns = self._drawer.all, self._drawer.all.numbers if numbers is None else numbers
        if numbers is not None and self._drawer.is_sooner(len(numbers), len(rows)):
            drawn, self._columns = self._drawer.draw(numbers), np.arange(len(numbers))
        self._drawn = drawn
        self._desk = of_columns(self._whole_desk, drawn, rows)

    def _grow_nodes(self, root: Node) -> list[Node]:
        """Grow on from the root; return all nodes."""
        nodes, n_leaves, limit = [root], 1, self.settings.max_leaf_nodes
        waiting: list[tuple[float, int]] = []
        if self._may_split(root):
            self._build(root, [root], self._free.pop())
            self._ask()
            self._push(waiting, nodes, 0)
        while waiting and (limit is None or n_leaves < limit):
            _, node_idx = heapq.heappop(waiting)
            self._split(nodes, node_idx)
            n_leaves += 1
            first = nodes[node_idx].first_child
            if limit is None or n_leaves < limit:
                self._search_children(nodes[node_idx], nodes[first], nodes[first + 1])
                self._push(waiting, nodes, first)
                self._push(waiting, nodes, first + 1)
            self._ask()
        for node in nodes:
            self._release(node)
        return nodes

    def _push(self, waiting: list[tuple[float, int]], nodes: list[Node], node_idx: int) -> None:
        node = nodes[node_idx]
        if node.split is None:
            return
        if self.settings.max_leaf_nodes is None:
            key = -float(node_idx)  # any order gives the same tree; the newest first holds fewest histograms
        elif self.settings.growth == "leaf":
            key = -node.split.scaled_gain
        else:
            key = float(node.depth)
        heapq.heappush(waiting, (key, node_idx))

    def _set_scales(self) -> None:
        """Choose powers of two so that no sum of fixed-point numbers can overflow; fill them in."""
        settings, n_jobs, n_rows = self.settings, self.settings.n_jobs, self.binned.n_rows
        second = self.weights if settings.order == 1 else self._hessians
        fixed = self._desk.fixed
        channels = (self._gradients, second)[: fixed.shape[1]]
        largest = np.zeros((len(channels), -(-n_rows // ROW_CHUNK)))

        def measure(chunk_idx: int, start: int, stop: int) -> None:
            for values, of_chunks in zip(channels, largest, strict=True):
                of_chunks[chunk_idx] = histogram_kernels.largest_magnitude(values, start, stop)

        for_chunks(measure, n_rows, ROW_CHUNK, n_jobs)
        n_bits = 61 - n_rows.bit_length()  # of a row, so that the sum over all rows fits
        # and of a gradient, that over as many rows as are counted in the bits below
        bits = (min(n_bits, 63 - 2 * self._count_bits), n_bits)
        exponents = [
            min(max(n_bits - math.frexp(float(of_chunks.max()))[1], -1000), 1000)
            for n_bits, of_chunks in zip(bits, largest, strict=False)
        ]
        scales = [math.ldexp(1.0, exponent) for exponent in (*exponents, 0)]

        def fill(_: int, start: int, stop: int) -> None:
            histogram_kernels.quantise(
                self._gradients, second, scales[0], scales[1], self._count_bits, start, stop, fixed
            )

        for_chunks(fill, n_rows, ROW_CHUNK, n_jobs)
        self._exponent = exponents[0]
        self._hessian_unit = math.ldexp(1.0, -exponents[1]) if len(exponents) == 2 else 1.0
        self._scaled_alpha = self._scaled(settings.reg_alpha, 1)
        self._least_gain = self._scaled(settings.gamma, 2)

    def _sum_up(self, grown: Grown) -> None:
        """Give each node the sums of its rows, and its Newton step as value."""
        settings, nodes = self.settings, grown.nodes
        for leaf, sums in zip(grown.leaves, self._sums_of(grown.blocks), strict=True):
            leaf.sums = sums
        for node in reversed(nodes):  # children come after their parents
            if node.first_child != NO_CHILD:
                node.sums = nodes[node.first_child].sums + nodes[node.first_child + 1].sums
        steps = settings.leaf_factor * self._leaf_values(grown.sums, settings.leaf_curvature)
        for node, step in zip(nodes, steps.tolist(), strict=True):
            node.value = step if math.isfinite(step) else 0.0

    def _sums_of(self, blocks: RowBlocks) -> Sums:
        """Return the sums of some nodes' rows: float64 (n_nodes, 3)."""
        return blocks.sums(self._gradients, self._hessians, self._unequal_weights, self.settings.n_jobs)

    def _leaf_values(self, sums: Sums, curvature: int) -> NDArray[np.float64]:
        """Return Newton steps of nodes with such sums, float64 (n_nodes, 3): float64 (n_nodes,)."""
        settings = self.settings
        steps: NDArray[np.float64] = leaf_values(
            sums[:, GRADIENT], sums[:, curvature], settings.reg_lambda, settings.reg_alpha
        )
        return steps

    def _may_split(self, node: Node) -> bool:
        settings = self.settings
        is_deep = settings.max_depth is not None and node.depth >= settings.max_depth
        return self.has_choice and not is_deep and node.n_rows >= 2 * settings.min_samples_leaf

    def _build(self, node: Node, asked: Sequence[Node], slot: int, parent: int = team.NO_SLOT) -> None:
        """Build a node's histogram in a slot, take it from the parent's, and search splits.

        Parameters
        ----------
        asked : sequence of Node
            The one or two nodes to search: the node itself, its sibling in the parent's slot, or both.
        """
        chunk = min(self._row_chunk, max(LEAST_CHUNK, node.n_rows // PIECES_A_NODE))
        wave, first = self._row_chunk * CHUNKS_A_WAVE, node.start
        while node.stop - first > wave:
            self._team.lead(team.add, first, wave, chunk)
            first += wave
            self._ask()
        searches = self._desk.searches
        for i, one in enumerate(asked):
            columns, n_wanted = self._draw_columns()
            searches.columns[i, : len(columns)] = columns
            searches.asked[i] = slot if one is node else parent, len(columns), n_wanted
            searches.rules[i] = self._rules(one)
        rows = (first, node.stop - first, chunk)
        self._team.lead(team.build, *rows, slot, parent, len(asked))
        for i, one in enumerate(asked):
            self._take_best(one, slot if one is node else parent, i)

    def _take_best(self, node: Node, slot: int, asked: int) -> None:
        """Take the best split that was found; the histogram stays if it is of use to the node's children."""
        binned, best = self.binned, self._desk.searches.best[asked]
        if best[splitting.KIND] > 0:
            goes_left = self._desk.searches.goes_left[asked].copy()
            node.split = self._as_split(node, self._desk.histograms[slot], best, goes_left)
        # of all columns: in which order children are searched, and draw, is not to depend on what is copied
        is_of_use = node.split is not None and node.n_rows * binned.n_features >= binned.n_cells
        if is_of_use and len(self._free) >= AT_WORK:
            node.slot = slot
        else:  # its children's are built from their few rows sooner than by subtraction
            self._free.append(slot)

    def _scaled(self, value: float, power: int) -> float:
        """Return a value in units of the histogram's gradients, to some power."""
        with np.errstate(over="ignore"):  # infinite is right: no gain exceeds it
            return float(np.ldexp(value, power * self._exponent))

    def _rules(self, node: Node) -> splitting.SplitRules:
        settings, lower, upper = self.settings, -math.inf, math.inf
        if len(settings.directions):
            lower, upper = self._scaled(node.lower, 1), self._scaled(node.upper, 1)
        return splitting.SplitRules(
            self._hessian_unit, settings.reg_lambda, self._scaled_alpha, settings.min_child_weight,
            settings.min_samples_leaf, self._least_gain, lower, upper,
        )  # fmt: skip

    def _draw_columns(self) -> tuple[NDArray[np.int64], int]:
        """Return the columns to look at, in order, and how many of them."""
        n_wanted, n_columns = self.settings.max_features, len(self._columns)
        if n_wanted is None or n_wanted >= n_columns or self._generator is None:
            return self._columns, n_columns
        return self._generator.permutation(self._columns), n_wanted

    def _as_split(
        self, node: Node, histogram: NDArray[np.int64], best: NDArray[np.float64],
        goes_left: NDArray[np.uint8],
    ) -> Split:  # fmt: skip
        place, kind = int(best[splitting.FEATURE]), int(best[splitting.KIND])
        column = int(self._drawn.numbers[place])
        gain = float(best[splitting.GAIN])
        n_bins = int(self.binned.n_bins[column])
        codes_left = goes_left[: n_bins + 1]
        threshold, levels = math.nan, np.empty(0, np.int64)
        if kind == THRESHOLD:
            threshold = float(self.binned.thresholds[column][int(best[splitting.BIN])])
        elif kind == LEVEL_SET:
            at = int(self._drawn.offsets[place])
            levels = np.flatnonzero(histogram[at : at + n_bins, -1])
        if column in self._statistics:
            between = EVERYWHERE if self.asks_all_levels else node.between.get(column, EVERYWHERE)
            rows = self._rows[node.start : node.stop]
            return level_split(self._statistics[column], column, threshold, between, codes_left, gain, rows)
        n_missing = int(best[splitting.N_MISSING])
        return Split(column, kind, threshold, levels, n_missing, codes_left, gain, column, codes_left)

    def _split(self, nodes: list[Node], node_idx: int) -> None:
        """Partition the node's rows, in their order, and append its two children."""
        node = nodes[node_idx]
        assert node.split is not None
        codes_left, column = node.split.codes_left, node.split.column
        self._desk.goes_left[: len(codes_left)] = codes_left
        n_left = self._team.lead(team.partition, node.start, node.n_rows, SPLIT_CHUNK, column)
        middle = node.start + n_left
        node.first_child = len(nodes)
        left, right = Node(node.start, middle, node.depth + 1), Node(middle, node.stop, node.depth + 1)
        nodes += [left, right]
        hand_on_between(node, left, right, column in self._statistics)
        if len(self.settings.directions):
            sums = self._sums_of(RowBlocks(self._rows, [left, right]))
            at_left, at_right = self._leaf_values(sums, self.settings.split_curvature).tolist()
            hand_on_bounds(node, left, right, at_left, at_right, self.settings.directions)

    def _search_children(self, node: Node, left: Node, right: Node) -> None:
        """Build the smaller child's histogram; the larger one's is the parent's less that."""
        small, large = (left, right) if left.n_rows <= right.n_rows else (right, left)
        parent, node.slot = node.slot, team.NO_SLOT
        if parent != team.NO_SLOT and self._may_split(large):
            asked = (large, small) if self._may_split(small) else (large,)
            slot = self._free.pop()
            self._build(small, asked, slot, parent)
            if len(asked) == 1:
                self._free.append(slot)
            return
        for child in (small, large):
            if self._may_split(child):
                self._build(child, (child,), self._free.pop())
        if parent != team.NO_SLOT:
            self._free.append(parent)

    def _release(self, node: Node) -> None:
        if node.slot != team.NO_SLOT:
            self._free.append(node.slot)
            node.slot = team.NO_SLOT
