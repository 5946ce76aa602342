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
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.binning import BinnedTable
from engine.boosting.columns import ColumnDrawer
from engine.boosting.grown import GRADIENT, N_SUMS, Grown, GrowSettings, Node, Split, Sums, hand_on_bounds
from engine.boosting.heap import Heap
from engine.boosting.kernels import histogram as histogram_kernels
from engine.boosting.kernels import partition as partition_kernels
from engine.boosting.kernels import splitting
from engine.boosting.ordered import EVERYWHERE, Statistic
from engine.boosting.statistic_splits import hand_on_between, level_split
from engine.parallel import for_chunks
from engine.tree.structure import LEVEL_SET, NO_CHILD, THRESHOLD

ROW_CHUNK = 65536  # rows a piece of partition and sums; fixed, so sums have the same bits everywhere
CELLS_A_CHUNK = 2**18  # row visits x columns a piece of histogram, about a quarter of a millisecond
CHUNKS_A_WAVE = 128  # pieces between two questions to the monitor, about 30 ms of one thread
PIECES_A_CHUNK = 4  # leaves, or pieces of one, that are summed by one thread in a row
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
        self, binned: BinnedTable, sample_weight: NDArray[np.float64], settings: GrowSettings,
        ask: Callable[[], None], statistics: Mapping[int, Statistic] = NO_STATISTICS,
    ) -> None:  # fmt: skip
        self.binned, self.weights, self.settings, self._ask = binned, sample_weight, settings, ask
        self._drawer = ColumnDrawer(binned, settings.n_jobs)
        self._statistics = statistics
        n_rows, n_channels = binned.n_rows, 1 if settings.counts_are_hessians else 2
        self._fixed = np.empty((n_rows, n_channels), dtypes.FIXED_DTYPE)
        self._lefts = np.empty(n_rows, dtypes.SAMPLE_DTYPE)
        self._rights = np.empty(n_rows, dtypes.SAMPLE_DTYPE)
        most = max(2**COUNT_BITS - 1, CELLS_A_VISIT * binned.n_cells // max(binned.n_features, 1))
        self._count_bits = min(n_rows, most).bit_length()
        self._row_chunk = min(max(1, CELLS_A_CHUNK // max(binned.n_features, 1)), 2**self._count_bits - 1)
        self._free: list[NDArray[np.int64]] = []  # histograms of nodes that are done
        self._heaps: list[Heap] = []  # one for each thread that ever added rows, empty between two nodes
        self._free_heaps: list[Heap] = []
        n_codes = int(binned.n_bins.max()) + 1
        directions = np.zeros(binned.n_features, np.uint8)  # statistics are free, wherever they stand
        directions[: len(settings.directions)] = settings.directions
        self._all_directions = directions
        self._keys, self._items = np.empty(n_codes), np.empty(n_codes, np.int64)
        self.has_choice = bool(np.any(np.diff(binned.offsets) > 2)) or self._some_column_has_missing()

    def _some_column_has_missing(self) -> bool:
        return any(n > 0 and np.any(self.binned.columns[f] == n) for f, n in enumerate(self.binned.n_bins))

    def grow(
        self, gradients: NDArray[np.float64], hessians: NDArray[np.float64],
        sample_indices: NDArray[np.int32], columns: NDArray[np.int64] | None = None,
        generator: np.random.Generator | None = None,
    ) -> Grown:  # fmt: skip
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
        self._choose_columns(columns, len(sample_indices))
        self._generator = generator
        self._gradients, self._hessians, self._rows = gradients, hessians, sample_indices
        self._set_scales()
        self._ask()
        nodes = self._grow_nodes(Node(0, len(sample_indices), 0))
        self._sum_up(nodes)
        self._ask()
        return Grown(nodes, sample_indices, self.settings)

    def _choose_columns(self, numbers: NDArray[np.int64] | None, n_rows: int) -> None:
        """Look at some columns alone, or at all; `_columns` counts within those that are added up."""
        drawn, self._columns = self._drawer.all, self._drawer.all.numbers if numbers is None else numbers
        if numbers is not None and self._drawer.is_sooner(len(numbers), n_rows):
            drawn, self._columns = self._drawer.draw(numbers), np.arange(len(numbers))
        self._drawn = drawn
        self._offsets = drawn.offsets.astype(np.uint64)  # numba adds int64 and uint64 as floats
        self._directions = dtypes.as_input(self._all_directions[drawn.numbers])
        for heap in self._heaps:
            heap.use_cells(drawn.n_cells)

    def _grow_nodes(self, root: Node) -> list[Node]:
        """Grow on from the root; return all nodes."""
        nodes, n_leaves, limit = [root], 1, self.settings.max_leaf_nodes
        waiting: list[tuple[float, int]] = []
        if self._may_split(root):
            histogram = self._new_histogram(root)
            self._ask()
            self._search(root, histogram)
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
        self._exponent = self._quantise(self._gradients, 0)
        self._hessian_unit = 1.0
        if not self.settings.counts_are_hessians:
            second = self.weights if self.settings.order == 1 else self._hessians
            self._hessian_unit = math.ldexp(1.0, -self._quantise(second, 1))

    def _quantise(self, values: NDArray[np.float64], channel: int) -> int:
        n_rows = len(values)
        largest = np.zeros(-(-n_rows // ROW_CHUNK))

        def measure(chunk_idx: int, start: int, stop: int) -> None:
            largest[chunk_idx] = histogram_kernels.largest_magnitude(values, start, stop)

        for_chunks(measure, n_rows, ROW_CHUNK, self.settings.n_jobs)
        n_bits = 61 - n_rows.bit_length()  # of a row, so that the sum over all rows fits
        shift, low = 0, 0
        if channel == 0:  # and that over as many rows as are counted in the bits below
            n_bits = min(n_bits, 63 - 2 * self._count_bits)
            shift, low = self._count_bits, 1
        _, exponent = math.frexp(float(largest.max()))
        exponent = min(max(n_bits - exponent, -1000), 1000)
        scale = math.ldexp(1.0, exponent)

        def fill(_: int, start: int, stop: int) -> None:
            histogram_kernels.quantise(values, scale, start, stop, channel, shift, low, self._fixed)

        for_chunks(fill, n_rows, ROW_CHUNK, self.settings.n_jobs)
        return exponent

    def _sum_up(self, nodes: list[Node]) -> None:
        """Give each node the sums of its rows, and its Newton step as value."""
        self._add_up_rows([node for node in nodes if node.first_child == NO_CHILD])
        for node in reversed(nodes):  # children come after their parents
            if node.first_child != NO_CHILD:
                node.sums = nodes[node.first_child].sums + nodes[node.first_child + 1].sums
            node.value = self._newton_step(node)

    def _add_up_rows(self, nodes: list[Node]) -> None:
        """Sum the rows of nodes that do not overlap, piece by piece."""
        starts = [(node, at) for node in nodes for at in range(node.start, node.stop, ROW_CHUNK)]
        pieces = np.array([(at, min(at + ROW_CHUNK, node.stop)) for node, at in starts], dtypes.COUNT_DTYPE)
        sums = np.empty((len(pieces), N_SUMS))

        def add(_: int, first: int, last: int) -> None:
            partition_kernels.sum_pieces(
                self._rows, pieces, first, last, self._gradients, self._hessians, self.weights, sums
            )

        n_jobs = self.settings.n_jobs if len(self._rows) > ROW_CHUNK else 1
        for_chunks(add, len(pieces), PIECES_A_CHUNK, n_jobs)
        for node in nodes:
            node.sums = np.zeros(N_SUMS)
        for (node, _), piece_sums in zip(starts, sums, strict=True):
            node.sums += piece_sums

    def _newton_step(self, node: Node) -> float:
        step = self._value(node.sums, self.settings.leaf_curvature) * self.settings.leaf_factor
        return step if math.isfinite(step) else 0.0

    def _value(self, sums: Sums, curvature: int) -> float:
        g, h, settings = sums[GRADIENT], sums[curvature], self.settings
        return float(splitting.leaf_value(g, h, settings.reg_lambda, settings.reg_alpha))

    def _may_split(self, node: Node) -> bool:
        settings = self.settings
        is_deep = settings.max_depth is not None and node.depth >= settings.max_depth
        return self.has_choice and not is_deep and node.n_rows >= 2 * settings.min_samples_leaf

    def _search(self, node: Node, histogram: NDArray[np.int64]) -> None:
        """Find the node's best split; the histogram stays with the node if it is of use to its children."""
        drawn = self._drawn
        goes_left = np.zeros(len(self._keys), np.uint8)
        best = np.zeros(5)
        columns, n_wanted = self._draw_columns()
        splitting.find_best_split(
            histogram, drawn.offsets, drawn.n_bins, drawn.is_categorical, columns, n_wanted,
            self._directions, self._rules(node), self._keys, self._items, goes_left, best,
        )  # fmt: skip
        if best[splitting.KIND] > 0:
            node.split = self._as_split(node, histogram, best, goes_left)
        # of all columns: in which order children are searched, and draw, is not to depend on what is copied
        if node.split is not None and node.n_rows * self.binned.n_features >= self.binned.n_cells:
            node.histogram = histogram
        else:  # its children's are built from their few rows sooner than by subtraction
            self._free.append(histogram)

    def _rules(self, node: Node) -> splitting.SplitRules:
        settings = self.settings
        with np.errstate(over="ignore"):  # infinite is right: no gain exceeds it
            scaled = [
                float(np.ldexp(value, exponent))
                for value, exponent in (
                    (settings.reg_alpha, self._exponent), (settings.gamma, 2 * self._exponent),
                    (node.lower, self._exponent), (node.upper, self._exponent),
                )
            ]  # fmt: skip
        alpha, least_gain, lower, upper = scaled
        return splitting.SplitRules(
            self._hessian_unit, settings.reg_lambda, alpha, settings.min_child_weight,
            settings.min_samples_leaf, least_gain, lower, upper,
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
        column, goes_left = self.binned.columns[node.split.column], node.split.codes_left
        n_chunks = -(-node.n_rows // ROW_CHUNK)
        n_left = np.zeros(n_chunks, np.int64)
        rows, lefts, rights = self._rows, self._lefts, self._rights

        def split_chunk(chunk_idx: int, start: int, stop: int) -> None:
            n_left[chunk_idx] = partition_kernels.split_rows(
                rows, node.start + start, node.start + stop, column, goes_left, lefts, rights
            )

        for_chunks(split_chunk, node.n_rows, ROW_CHUNK, self.settings.n_jobs)
        middle = node.start + int(n_left.sum())
        left_at = node.start + np.cumsum(n_left) - n_left

        def place_chunk(chunk_idx: int, start: int, stop: int) -> None:
            n_now, at = int(n_left[chunk_idx]), int(left_at[chunk_idx])
            right_at = middle + start - (at - node.start)
            partition_kernels.place_rows(
                lefts, rights, node.start + start, n_now, stop - start - n_now, at, right_at, rows
            )

        for_chunks(place_chunk, node.n_rows, ROW_CHUNK, self.settings.n_jobs)
        node.first_child = len(nodes)
        left, right = Node(node.start, middle, node.depth + 1), Node(middle, node.stop, node.depth + 1)
        nodes += [left, right]
        is_of_statistic = node.split.column in self._statistics
        hand_on_between(node, left, right, is_of_statistic)
        if len(self.settings.directions):
            self._add_up_rows([left, right])
            at_left, at_right = (
                self._value(child.sums, self.settings.split_curvature) for child in (left, right)
            )
            hand_on_bounds(node, left, right, at_left, at_right, self.settings.directions)

    def _search_children(self, node: Node, left: Node, right: Node) -> None:
        """Build the smaller child's histogram; the larger one's is the parent's less that."""
        small, large = (left, right) if left.n_rows <= right.n_rows else (right, left)
        parent, node.histogram = node.histogram, None
        if parent is None or not self._may_split(large):
            for child in (small, large):
                if self._may_split(child):
                    self._search(child, self._new_histogram(child))
            if parent is not None:
                self._free.append(parent)
            return
        histogram = self._new_histogram(small)
        np.subtract(parent, histogram, out=parent)
        self._search(large, parent)
        if self._may_split(small):
            self._search(small, histogram)
        else:
            self._free.append(histogram)

    def _release(self, node: Node) -> None:
        if node.histogram is not None:
            self._free.append(node.histogram)
            node.histogram = None

    def _empty_histogram(self) -> NDArray[np.int64]:
        shape = (self.binned.n_cells, self._fixed.shape[1] + 1)  # of all columns, as others may be next
        whole: Any = self._free.pop().base if self._free else np.empty(shape, dtypes.FIXED_DTYPE)
        histogram: NDArray[np.int64] = whole[: self._drawn.n_cells]
        histogram.fill(0)
        return histogram

    def _new_histogram(self, node: Node) -> NDArray[np.int64]:
        """Sum the node's rows, in pieces if there are many; integers, so the order is free."""
        histogram = self._empty_histogram()
        wave = self._row_chunk * CHUNKS_A_WAVE
        for first in range(node.start, node.stop, wave):
            self._add_wave(first, min(wave, node.stop - first))
            if node.n_rows > wave:
                self._ask()
        for heap in self._heaps:
            heap.pour_into(histogram, self._count_bits)
        return histogram

    def _add_wave(self, first: int, n_rows: int) -> None:
        """Add rows, each thread to a heap of its own: sums of integers are the same in any order."""

        def add_chunk(_: int, start: int, stop: int) -> None:
            try:
                heap = self._free_heaps.pop()
            except IndexError:  # more threads than ever before
                heap = self._add_heap()
            heap.make_room(stop - start, self._count_bits)
            histogram_kernels.add_rows(
                self._drawn.codes, self._rows, first + start, first + stop, self._fixed, self._offsets,
                heap.packed,
            )  # fmt: skip
            self._free_heaps.append(heap)

        for_chunks(add_chunk, n_rows, self._row_chunk, self.settings.n_jobs)

    def _add_heap(self) -> Heap:
        heap = Heap(self.binned.n_cells, self._fixed.shape[1])
        heap.use_cells(self._drawn.n_cells)
        self._heaps.append(heap)
        return heap
