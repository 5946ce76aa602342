"""Growing one tree of a boosting round node by node: the largest gain first, or level by level."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.binning import BinnedTable
from engine.boosting.desk import AT_WORK, SPLIT_CHUNK
from engine.boosting.grower import CHUNKS_A_WAVE, LEAST_CHUNK, NO_STATISTICS, PIECES_A_NODE, Grower
from engine.boosting.grown import GrowSettings, Node, Split
from engine.boosting.kernels import growing, splitting
from engine.boosting.ordered import Statistic
from engine.boosting.statistic_splits import hand_on_between
from engine.boosting.team import Team
from engine.jit import new_records
from engine.tree.structure import LEVEL_SET

FIRST_NODES, FIRST_CODES = 64, 16  # room to begin with; the latter in codes of the widest column
ORDERS = {"leaf": growing.LARGEST_GAIN, "depth": growing.LEAST_DEPTH}
NO_LEVELS = np.empty(0, np.int64)


class TreeGrower(Grower):
    """Grows trees in one kernel; parameters as in `Grower`."""

    def __init__(
        self,
        binned: BinnedTable,
        sample_weight: NDArray[np.float64],
        settings: GrowSettings,
        ask: Callable[[], None],
        team: Team,
        statistics: Mapping[int, Statistic] = NO_STATISTICS,
    ) -> None:
        super().__init__(binned, sample_weight, settings, ask, team, statistics)
        self._growth = growing.Growth(
            nodes=new_records(FIRST_NODES, growing.GROWING_NODE),
            best=np.empty((FIRST_NODES, splitting.N_BEST)),
            codes=np.empty(FIRST_CODES * len(self._desk.goes_left), np.uint8),
            free=np.empty(len(self._desk.histograms), dtypes.COUNT_DTYPE),
            builds=np.empty((2, growing.N_BUILD), dtypes.COUNT_DTYPE),
            state=np.empty(growing.N_STATE, dtypes.COUNT_DTYPE),
            columns=np.empty(0, dtypes.COUNT_DTYPE),
            numbers=np.empty(0, dtypes.COUNT_DTYPE),
            random_state=np.zeros(1, np.uint64),
        )

    def _grow_nodes(
        self, generator: np.random.Generator | None
    ) -> tuple[NDArray[np.int64], Callable[[], list[Node]]]:
        if not self.has_choice:
            return np.array([[0, len(self._rows)]]), lambda: [Node(0, len(self._rows), 0)]
        n_wanted = self.settings.max_features
        if n_wanted is None or generator is None:
            n_wanted = len(self._columns)
        elif n_wanted < len(self._columns):
            self._growth.random_state[0] = generator.integers(2**64, dtype=np.uint64)
        limits, budget = self._limits(n_wanted), self._row_chunk * CHUNKS_A_WAVE * self.binned.n_features
        self._growth = self._growth._replace(columns=self._columns, numbers=self._drawn.numbers)
        growing.plant(self._growth, limits, len(self._rows))
        while not self._orders.give(growing.grow, self._growth, limits, budget):
            self._ask()
            self._make_room()
        nodes = self._growth.nodes[: int(self._growth.state[growing.N_NODES])]
        leaves = nodes[nodes["first_child"] == growing.NO_NODE]
        stretches = np.column_stack([np.sort(leaves["start"]), np.sort(leaves["stop"])])
        return stretches, lambda: self._nodes_of(self._growth)

    def _limits(self, n_wanted: int) -> growing.Limits:
        settings, binned, most = self.settings, self.binned, self.settings.max_leaf_nodes
        return growing.Limits(
            max_leaf_nodes=growing.NO_LIMIT if most is None else most,
            max_depth=growing.NO_LIMIT if settings.max_depth is None else settings.max_depth,
            order=growing.NEWEST if most is None else ORDERS[settings.growth],
            n_wanted=n_wanted,
            n_features=binned.n_features,
            n_cells=binned.n_cells,
            has_directions=len(settings.directions) > 0,
            row_chunk=self._row_chunk,
            least_chunk=LEAST_CHUNK,
            pieces_a_node=PIECES_A_NODE,
            split_chunk=SPLIT_CHUNK,
            wave=self._row_chunk * CHUNKS_A_WAVE,
            slots_at_work=AT_WORK,
            rules=self._rules(),
        )

    def _make_room(self) -> None:
        """Have room for two more nodes at least, whatever their columns."""
        growth, state = self._growth, self._growth.state
        if state[growing.N_NODES] + 2 > len(growth.nodes):
            nodes = new_records(2 * len(growth.nodes), growing.GROWING_NODE)
            best = np.empty((len(nodes), growth.best.shape[1]))
            nodes[: len(growth.nodes)], best[: len(growth.best)] = growth.nodes, growth.best
            growth = growth._replace(nodes=nodes, best=best)
        if state[growing.N_CODES] + 2 * len(self._desk.goes_left) > len(growth.codes):
            codes = np.empty(2 * len(growth.codes), np.uint8)
            codes[: len(growth.codes)] = growth.codes
            growth = growth._replace(codes=codes)
        self._growth = growth

    def _nodes_of(self, growth: growing.Growth) -> list[Node]:
        """Return the nodes as they are shown; the first child of a split is the one that answers yes."""
        grown = growth.nodes[: int(growth.state[growing.N_NODES])]
        names = ("start", "stop", "depth")
        nodes = [Node(*row) for row in zip(*(grown[name].tolist() for name in names), strict=True)]
        shown = list(range(len(nodes)))  # which stand where
        first_children, codes_at = grown["first_child"].tolist(), grown["codes_at"].tolist()
        for place in range(len(nodes)):  # parents come before their children
            node, codes = nodes[shown[place]], growth.codes[codes_at[shown[place]] :]
            first = first_children[shown[place]]
            if first == growing.NO_NODE:
                continue
            node.first_child = first
            node.split = self._split_of(node, growth.best[shown[place]], codes)
            if node.split.codes_left[0] != codes[0] & growing.GOES_LEFT:
                shown[first], shown[first + 1] = first + 1, first
            left, right = nodes[shown[first]], nodes[shown[first + 1]]
            hand_on_between(node, left, right, node.split.column in self._statistics)
        return [nodes[node_idx] for node_idx in shown]

    def _split_of(self, node: Node, best: NDArray[np.float64], codes: NDArray[np.uint8]) -> Split:
        codes = codes[: self._drawn.n_bins[int(best[splitting.FEATURE])] + 1]
        is_of_levels = best[splitting.KIND] == LEVEL_SET
        levels = np.flatnonzero(codes & growing.IS_HERE) if is_of_levels else NO_LEVELS
        return self._as_split(node, best, codes & np.uint8(growing.GOES_LEFT), levels)
