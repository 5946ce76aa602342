"""What growers of trees share: fixed point, the columns of a tree, the sums of its nodes.

The rows of a node are a stretch of one array; a split partitions the stretch in place:

    sample_indices   [ rows of node 1            | rows of node 2                   ]
                     [ node 3    | node 4        | rows of node 2                   ]

Splits are searched in histograms of fixed-point gradients, whose sums are exact. When the tree is grown
its leaves' rows are summed in float64, a node's sums are its children's, and leaf values and gains follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.binning import BinnedTable
from engine.boosting.blocks import RowBlocks
from engine.boosting.columns import ColumnDrawer
from engine.boosting.derivatives import Derivatives
from engine.boosting.desk import desk_for, of_columns
from engine.boosting.grown import GRADIENT, Grown, GrowSettings, Node, Split, Sums
from engine.boosting.kernels import histogram as kernels
from engine.boosting.kernels import splitting
from engine.boosting.newton import leaf_values
from engine.boosting.ordered import EVERYWHERE, Statistic
from engine.boosting.statistic_splits import level_split
from engine.boosting.team import Orders, Team
from engine.tree.structure import NO_CHILD, THRESHOLD

ROW_CHUNK = 16384  # rows a piece of what is made of gradients: few enough for threads to end together
CELLS_A_CHUNK = 2**16  # row visits x columns a piece of histogram, about 60 microseconds
PIECES_A_NODE, LEAST_CHUNK = 32, 512  # smaller pieces and fewer rows: nobody waits long for the last one
CHUNKS_A_WAVE = 512  # pieces between two questions to the monitor, about 30 ms of one thread
ROW_BITS = 30  # of a number in fixed point, which rounding may take one further
COUNT_BITS = 14  # of a packed cell, at least: 35 bits are left for each row's gradient
NO_STATISTICS: Mapping[int, Statistic] = MappingProxyType({})
CELLS_A_VISIT = 8  # row visits x columns between two emptyings of a packed histogram, times its cells


class Grower:
    """Grows trees on one binned table, round after round, in the same memory.

    Parameters
    ----------
    binned : BinnedTable
    sample_weight : float64 (n_rows,)
        All positive.
    settings : GrowSettings
    ask : callable
        Called every few milliseconds of work; raises to end the growing.
    team : Team
        Who helps, while it is at work.
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
        team: Team,
        statistics: Mapping[int, Statistic] = NO_STATISTICS,
    ) -> None:
        self.binned, self.weights, self.settings, self._ask = binned, sample_weight, settings, ask
        self._team, self._orders = team, Orders(team)
        self._unequal_weights = sample_weight[:0] if np.all(sample_weight == 1.0) else sample_weight
        self._drawer = ColumnDrawer(binned, settings.n_jobs)
        self._largest_weight = float(sample_weight.max(initial=0.0))
        self._statistics, self._row_memory = statistics, dict[int, NDArray[np.int32]]()
        n_rows, n_channels = binned.n_rows, 1 if settings.counts_are_hessians else 2
        most = max(2**COUNT_BITS - 1, CELLS_A_VISIT * binned.n_cells // max(binned.n_features, 1))
        self._count_bits = min(n_rows, most).bit_length()
        self._row_chunk = min(max(1, CELLS_A_CHUNK // max(binned.n_features, 1)), 2**self._count_bits - 1)
        self._whole_desk = self._desk = desk_for(
            binned, settings.directions, n_channels, self._count_bits, settings.max_leaf_nodes, self._team
        )
        self.has_choice = bool(np.any(np.diff(binned.offsets) > 2)) or self._some_column_has_missing()

    def _some_column_has_missing(self) -> bool:
        return any(n > 0 and np.any(self.binned.columns[f] == n) for f, n in enumerate(self.binned.n_bins))

    @property
    def fixed(self) -> NDArray[np.int32]:
        """What trees are grown from: int32 (n_rows, n_channels)."""
        fixed: NDArray[np.int32] = self._desk.fixed
        return fixed

    @property
    def has_derivatives_alone(self) -> bool:
        """Tell whether no weights stand beside the gradients in `fixed`."""
        return self.settings.order == 2 or self.fixed.shape[1] == 1

    def grow(
        self,
        derivatives: Derivatives,
        drawn: NDArray[np.int32],
        columns: NDArray[np.int64] | None = None,
        generator: np.random.Generator | None = None,
        raw_idx: int = 0,
    ) -> Grown:
        """Grow one tree; its leaf values are Newton steps, not yet times the learning rate.

        Parameters
        ----------
        derivatives : Derivatives
        drawn : int32 (n_rows_to_grow_on,)
            Ascending rows.
        columns : int64 (n_allowed,), optional
            The columns to split by; all if omitted.
        generator : Generator, optional
            Draws columns at each node.
        raw_idx : int
            Of which raw prediction the derivatives are. The tree's rows are kept until its next tree.
        """
        if raw_idx not in self._row_memory:
            self._row_memory[raw_idx] = np.empty(self.binned.n_rows, dtypes.SAMPLE_DTYPE)
        self._rows = self._row_memory[raw_idx][: len(drawn)]
        self._choose_columns(columns, drawn)
        self._gradients, self._hessians = derivatives.gradients[raw_idx], derivatives.hessians[raw_idx]
        self._set_scales(derivatives, raw_idx)
        self._ask()
        stretches, describe = self._orders.at(self._desk, lambda: self._grow_nodes(generator))
        if not self._desk.is_parted[0]:
            self._rows[:] = drawn
        blocks, nodes = RowBlocks(self._rows, stretches), list[Node]()
        sums = self._sums_of(blocks, lambda: nodes.extend(describe()))
        grown = Grown(nodes, self._rows, blocks, self.settings)
        self._value_nodes(grown, sums)
        self._ask()
        return grown

    def _choose_columns(self, numbers: NDArray[np.int64] | None, rows_drawn: NDArray[np.int32]) -> None:
        """Look at some columns alone, or at all; `_columns` counts within those that are added up."""
        drawn, self._columns = self._drawer.all, self._drawer.all.numbers if numbers is None else numbers
        if numbers is not None and self._drawer.is_sooner(len(numbers), len(rows_drawn)):
            drawn, self._columns = self._drawer.draw(numbers), np.arange(len(numbers))
        self._drawn = drawn
        self._desk = self._whole_desk if drawn is self._drawer.all else of_columns(self._whole_desk, drawn)
        self._desk = self._desk._replace(drawn=rows_drawn, rows=self._rows)
        self._desk.is_parted[0] = 0

    def _grow_nodes(
        self, generator: np.random.Generator | None
    ) -> tuple[NDArray[np.int64], Callable[[], list[Node]]]:
        """Grow on from the root, giving orders; return where the leaves' rows are, and what tells the nodes.

        The former is int64 (n_leaves, 2), as in `RowBlocks`, ascending; of the nodes the root is first, and
        children are beside each other.
        """
        raise NotImplementedError

    def _set_scales(self, derivatives: Derivatives, raw_idx: int) -> None:
        """Choose powers of two so that no sum of fixed-point numbers can overflow; write these."""
        settings, fixed = self.settings, self.fixed
        gradient, hessian = derivatives.largest[raw_idx].max(axis=1).tolist()
        largest = (gradient, hessian if self.has_derivatives_alone else self._largest_weight)
        # of a row, so that its number fits; a gradient also so that the sum over as many rows does as are
        # counted in the bits below
        bits = (min(ROW_BITS, 63 - 2 * self._count_bits), ROW_BITS)[: fixed.shape[1]]
        exponents = [
            min(max(n_bits - math.frexp(of_channel)[1], -1000), 1000)
            for n_bits, of_channel in zip(bits, largest, strict=False)
        ]
        scales = [math.ldexp(1.0, exponent) for exponent in (*exponents, 0)][:2]
        if derivatives.fixed is not fixed or derivatives.scales.tolist() != scales:
            second = self._hessians if self.has_derivatives_alone else self.weights
            chunks = (self._team.shared, ROW_CHUNK, self._gradients, second, *scales, fixed)
            self._team.together(lambda _: kernels.quantise_chunks(*chunks))
            derivatives.scales[:] = scales
        self._exponent = exponents[0]
        self._hessian_unit = math.ldexp(1.0, -exponents[1]) if len(exponents) == 2 else 1.0
        self._scaled_alpha = self._scaled(settings.reg_alpha, 1)
        self._least_gain = self._scaled(settings.gamma, 2)

    def _value_nodes(self, grown: Grown, sums: Sums) -> None:
        """Give each node the sums of its rows, those of leaves being told, and its Newton step as value."""
        settings, nodes = self.settings, grown.nodes
        for leaf, of_leaf in zip(grown.leaves, sums.tolist(), strict=True):
            leaf.sums = tuple(of_leaf)
        for node in reversed(nodes):  # children come after their parents
            if node.first_child != NO_CHILD:
                left, right = nodes[node.first_child].sums, nodes[node.first_child + 1].sums
                node.sums = left[0] + right[0], left[1] + right[1], left[2] + right[2]
        steps = settings.leaf_factor * self._leaf_values(grown.sums, settings.leaf_curvature)
        for node, step in zip(nodes, steps.tolist(), strict=True):
            node.value = step if math.isfinite(step) else 0.0

    def _sums_of(self, blocks: RowBlocks, meanwhile: Callable[[], None] | None = None) -> Sums:
        """Return the sums of some nodes' rows: float64 (n_nodes, 3)."""
        derivatives = self._gradients, self._hessians, self._unequal_weights
        return blocks.sums(*derivatives, self._team, meanwhile)

    def _leaf_values(self, sums: Sums, curvature: int) -> NDArray[np.float64]:
        """Return Newton steps of nodes with such sums, float64 (n_nodes, 3): float64 (n_nodes,)."""
        settings = self.settings
        steps: NDArray[np.float64] = leaf_values(
            sums[:, GRADIENT], sums[:, curvature], settings.reg_lambda, settings.reg_alpha
        )
        return steps

    def _rules(self, lower: float = -math.inf, upper: float = math.inf) -> splitting.SplitRules:
        """Return the rules of a node whose value has to lie between two bounds."""
        settings = self.settings
        if len(settings.directions):
            lower, upper = self._scaled(lower, 1), self._scaled(upper, 1)
        return splitting.SplitRules(
            self._hessian_unit, settings.reg_lambda, self._scaled_alpha, settings.min_child_weight,
            settings.min_samples_leaf, self._least_gain, lower, upper,
        )  # fmt: skip

    def _scaled(self, value: float, power: int) -> float:
        """Return a value in units of the histogram's gradients, to some power."""
        with np.errstate(over="ignore"):  # infinite is right: no gain exceeds it
            return float(np.ldexp(value, power * self._exponent))

    def _as_split(
        self, node: Node, best: NDArray[np.float64], codes_left: NDArray[np.uint8], levels: NDArray[np.int64]
    ) -> Split:
        """Say a node's best split in the column's own terms.

        Parameters
        ----------
        best : float64 (6,)
            See `splitting.find_best_split`.
        codes_left : uint8 (n_bins + 1,)
        levels : int64 (n_named,)
            Those that have rows in the node, of a set of levels.
        """
        column, kind = int(self._drawn.numbers[int(best[splitting.FEATURE])]), int(best[splitting.KIND])
        gain, threshold = float(best[splitting.GAIN]), math.nan
        if kind == THRESHOLD:
            threshold = float(self.binned.thresholds[column][int(best[splitting.BIN])])
        if column in self._statistics:
            between = EVERYWHERE if self.asks_all_levels else node.between.get(column, EVERYWHERE)
            rows = self._desk.rows if self._desk.is_parted[0] else self._desk.drawn
            rows = rows[node.start : node.stop]
            return level_split(self._statistics[column], column, threshold, between, codes_left, gain, rows)
        n_missing = int(best[splitting.N_MISSING])
        return Split(column, kind, threshold, levels, n_missing, codes_left, gain, column, codes_left)
