"""Grows the nodes of many rows: columns are looked at and divided several at a time.

The kernels are those of `engine.tree.kernels.small_nodes`, on the entries of all rows. What columns
are looked at together depends on the table alone, so any number of threads finds the same splits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, parallel
from engine.monitor import StopFlag
from engine.tree.kernels import grow as kernels
from engine.tree.kernels import layout, small_nodes
from engine.tree.kernels.impurity import describe_node
from engine.tree.subtrees import with_room

CELLS_PER_CHUNK = 1_000_000  # of columns looked at together: about 5 ms
NOTHING_FOUND = (-1, 0.0, -1, -1)


class LargeNodeGrower:
    """Divides every node of more rows than are set aside, depth first.

    Parameters
    ----------
    sample : layout.Sample
        Its order is partitioned in place.
    rules : layout.Rules
    nodes : layout.Nodes
        Node 0, which has all rows, is described.
    state : int64 (N_STATE,)
    best : layout.Best
    side : uint8 (n_samples,)
        Room for the child of each row.
    stop_flag : StopFlag
    """

    def __init__(
        self, sample: layout.Sample, rules: layout.Rules, nodes: layout.Nodes, state: NDArray[np.int64],
        best: layout.Best, side: NDArray[np.uint8], stop_flag: StopFlag,
    ) -> None:  # fmt: skip
        self.nodes = nodes
        self._sample, self._rules, self._state, self._best = sample, rules, state, best
        self._stop_flag = stop_flag
        y, w = (np.ascontiguousarray(column) for column in sample.target.T)
        is_number = rules.criterion == layout.SQUARED_ERROR
        self._rows = small_nodes.Small(
            entries=sample.order,
            rows=np.zeros(1, np.int64),
            y=y, w=w, a=w * (1 - y), b=np.zeros_like(y) if is_number else w * y,
            is_first=(y == 0).view(np.uint8),
            side=side,
            buffer=np.zeros(1, np.int64),
            is_unit=bool(np.all(w == 1.0)),
            form=small_nodes.LARGE_FORM,
        )  # fmt: skip
        self._features = np.arange(len(sample.order), dtype=np.int32)

    def grow(self) -> bool:
        """Divide until all that is left is to be set aside or a leaf; returns whether a stop came before."""
        waiting = [0]
        while waiting:
            node = waiting.pop()
            self._state[layout.STATE_NODE] = node
            is_aside = self.nodes.records["n_rows"][node] <= self._state[layout.STATE_ASIDE]
            if is_aside or not kernels.may_split(self._rules, self.nodes, node):
                continue
            found = self._find_split(node)
            if self._stop_flag.ask():
                return True
            small_nodes.keep_found(found, self._rows, self._best)
            kernels.conclude(self._rules, self.nodes, self._best, self._state)
            if self._state[layout.STATE_PHASE] != layout.PARTITION:
                continue
            self._divide(node)
            if self._stop_flag.ask():
                return True
            first = int(self.nodes.records["first_child"][node])
            waiting += [first + 1, first]
        self._state[layout.STATE_PHASE] = layout.DONE
        return False

    def _chunk_size(self, n_rows: int) -> int:
        return max(1, CELLS_PER_CHUNK // n_rows)

    def _find_split(self, node: int) -> tuple[int, float, int, int]:
        """Return the best split of any column; ties go to the lowest."""
        rows, rules = self._rows, self._rules
        totals = small_nodes.begin_small(rows, rules, self.nodes, node)
        start, stop = (int(self.nodes.records[name][node]) for name in ("start", "stop"))
        arrays = (rows.a, rows.b, rows.w, rows.is_first)
        found: dict[int, tuple[int, float, int, int]] = {}

        def search(chunk: int, first: int, last: int) -> None:
            if self._stop_flag.ask():
                return
            features = self._features[first:last]
            found[chunk] = small_nodes.search_columns(
                rows.entries, rows.form, rows.is_unit, arrays, features, start, stop, totals, rules,
                NOTHING_FOUND,
            )[0]  # fmt: skip

        size = self._chunk_size(stop - start)
        parallel.for_chunks(search, len(self._features), size, None, self._stop_flag.poll)
        best = NOTHING_FOUND
        for chunk in sorted(found):
            candidate = found[chunk]
            least = best[1] + layout.TIE_SHARE * totals[3]
            if candidate[0] >= 0 and (best[0] < 0 or candidate[1] > least):
                best = candidate
        return best

    def _divide(self, node: int) -> None:
        """Make a node's children, in every column where one of them may be split further."""
        rows, rules, state = self._rows, self._rules, self._state
        if state[layout.STATE_NODES] + 2 > len(self.nodes.records):
            self.nodes = with_room(self.nodes, 2 * len(self.nodes.records), len(self.nodes.level_sets))
        nodes = self.nodes
        start, stop = (int(nodes.records[name][node]) for name in ("start", "stop"))
        n_left = small_nodes.choose_small_sides(rows, nodes, node)
        first = int(state[layout.STATE_NODES])
        kernels.add_children(nodes, node, start + n_left, state)
        self._partition(0, 1, start, stop)
        for child in (first, first + 1):
            describe_node(self._sample, rules, nodes, child)
        kernels.settle_split(nodes, node, rules.missing_is_level)
        if not any(kernels.may_split(rules, nodes, child) for child in (first, first + 1)):
            return

        def partition(_chunk: int, low: int, high: int) -> None:
            if not self._stop_flag.ask():
                self._partition(1 + low, 1 + high, start, stop)

        size = self._chunk_size(stop - start)
        parallel.for_chunks(partition, len(self._features) - 1, size, None, self._stop_flag.poll)

    def _partition(self, first: int, last: int, start: int, stop: int) -> None:
        rows, buffer = self._rows, np.empty(stop - start, dtypes.COUNT_DTYPE)
        small_nodes.partition_small(rows.entries, rows.form, first, last, start, stop, rows.side, buffer)
