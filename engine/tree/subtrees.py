"""Grows the subtrees of few rows as independent tasks, and puts them where they belong in the tree.

The driver of the growing kernel sets every node of few rows aside; each is then grown here in the
layout of `engine.tree.kernels.small_nodes`, which is faster, and several at a time. What a subtree
becomes depends on its rows and its place alone, so any number of threads gives the same tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, parallel
from engine.jit import is_compiling, new_records
from engine.monitor import StopFlag
from engine.tree.kernels import layout, small_nodes
from engine.tree.structure import NO_CHILD

CELLS_AT_ONCE = (
    1_000_000  # of a subtree: evaluating its root takes about 5 ms, and no question comes in between
)
LEAST_ROWS = 64
FEWEST_ROWS = 4096  # of a table: a smaller one is grown before its own kernels would be loaded
MOST_ROWS = small_nodes.MOST_SMALL_ROWS
FIRST_NODES = 64

_of_any_size: ContextVar[bool] = ContextVar("of_any_size", default=False)


class Subtree(NamedTuple):
    """A grown subtree: node 0 is the node that was set aside.

    Attributes
    ----------
    root : int
        That node's number in the tree.
    records : layout.NODE_RECORD (n_nodes,)
    value : float64 (n_nodes, n_outputs)
    is_partial : bool
    """

    root: int
    records: NDArray[Any]
    value: NDArray[np.float64]
    is_partial: bool


@contextmanager
def many_trees() -> Iterator[None]:
    """Set subtrees of tables of any size aside, inside the block and in tasks begun there.

    The trees are the same to the last bit, and of small tables grown two to four times as fast; hundreds
    of them are worth the loading of the kernels.
    """
    token = _of_any_size.set(True)
    try:
        yield
    finally:
        _of_any_size.reset(token)


def fewest_rows() -> int:
    """Return from how many rows of a table on subtrees are set aside."""
    return 0 if _of_any_size.get() else FEWEST_ROWS


def rows_set_aside(rules: layout.Rules, is_level: NDArray[np.uint8]) -> int:
    """Return up to how many rows a node's subtree is grown apart; 0 where none is.

    Criteria with more than two sums, levels, drawn splits, directions and best-first growth are left to the
    general kernels.
    """
    is_pair = rules.criterion == layout.SQUARED_ERROR or (
        rules.criterion == layout.GINI and rules.n_sums == 2
    )
    is_plain = not (rules.is_random or rules.missing_is_level or rules.directions.size)
    if not is_pair or not is_plain or rules.max_leaf_nodes >= 0 or is_level.any():
        return 0
    return min(MOST_ROWS, max(LEAST_ROWS, CELLS_AT_ONCE // len(is_level)))


def new_nodes(n_nodes: int, n_outputs: int, n_sets: int) -> layout.Nodes:
    """Return room for nodes; node 0 is a leaf. Memory is taken as the room is used."""
    records = new_records(n_nodes, layout.NODE_RECORD)
    for name in ("feature", "first_child", "missing_child", "unseen_child"):
        records[name][:1] = NO_CHILD
    return layout.Nodes(records, np.zeros((n_nodes, n_outputs)), np.zeros((n_sets, 2), dtypes.LEVEL_DTYPE))


def with_room(nodes: layout.Nodes, n_nodes: int, n_sets: int) -> layout.Nodes:
    """Return the same nodes with more room after them."""
    larger = new_nodes(n_nodes, nodes.value.shape[1], n_sets)
    _bytes_of(larger.records)[: nodes.records.nbytes] = _bytes_of(nodes.records)
    for old, new in zip(nodes[1:], larger[1:], strict=True):
        new[: len(old)] = old
    return larger


def _bytes_of(records: NDArray[Any]) -> NDArray[np.uint8]:
    """Return a view of records as bytes: records themselves are copied field by field."""
    return np.asarray(records).view(np.uint8)


class SubtreeGrower:
    """Grows what was set aside of one tree.

    Parameters
    ----------
    sample : layout.Sample
        Its order is partitioned as far as the tree is grown.
    rules : layout.Rules
    nodes : layout.Nodes
    random_state : uint64 (1,)
        Of the columns drawn at each node.
    budget : int
        Row visits until a kernel returns.
    ask : callable
        Takes the rows in finished subtrees; True ends the growing.
    """

    def __init__(
        self, sample: layout.Sample, rules: layout.Rules, nodes: layout.Nodes,
        random_state: NDArray[np.uint64], budget: int, ask: Callable[[int], bool],
    ) -> None:  # fmt: skip
        self._sample, self._nodes, self._random_state = sample, nodes, random_state
        least = rules.min_relative_decrease * float(nodes.records["impurity"][0])
        self._rules = rules._replace(
            min_decrease=max(rules.min_decrease, least), min_relative_decrease=0.0
        )  # of the root's impurity, and a subtree has another root
        self._budget = budget
        self._small_row = np.empty(len(sample.target), np.uint16)
        self._is_unit = bool(np.all(sample.target[:, 1] == 1.0))
        self._n_done, self._stop_flag = 0, StopFlag(lambda: ask(self._n_done))

    def grow(self, roots: NDArray[np.intp], n_jobs: int | None) -> list[Subtree]:
        """Grow the subtree of every node in `roots`; where a stop comes, those under way are partial."""
        n_rows = self._nodes.records["n_rows"][roots]
        largest_first = roots[np.argsort(-n_rows, kind="stable")]
        found: list[Subtree] = []

        def grow_next(at: int, *_: int) -> None:
            found.append(self._grow_one(largest_first[at]))

        try:
            parallel.for_chunks(grow_next, len(roots), 1, n_jobs, self._stop_flag.poll)
        finally:
            self._stop_flag.is_stopped = True  # also when the monitor raises: what is under way ends soon
        return found

    def _grow_one(self, root: np.intp) -> Subtree:
        record = self._nodes.records[root]
        nodes = new_nodes(max(FIRST_NODES, 2 * record["n_rows"] + 2), self._rules.n_sums, 1)
        nodes.records[0], nodes.value[0] = record, self._nodes.value[root]
        n_rows = int(record["n_rows"])
        nodes.records["start"][0], nodes.records["stop"][0] = 0, n_rows
        if self._stop_flag.is_stopped:
            return Subtree(int(root), nodes.records[:1], nodes.value[:1], True)
        small = self._gather(int(record["start"]), int(record["stop"]))
        state, nodes = self._grow_small(small, nodes, self._stream_of(root))
        n_nodes = int(state[layout.STATE_NODES])
        records = nodes.records[:n_nodes]
        for name in ("lower", "upper"):
            records[name] = small.rows[records[name]]
        self._n_done += n_rows
        is_partial = bool(state[layout.STATE_PHASE] != layout.DONE)
        return Subtree(int(root), records, nodes.value[:n_nodes], is_partial)

    def _gather(self, start: int, stop: int) -> small_nodes.Small:
        n_rows, n_features = stop - start, self._sample.order.shape[0]
        numbers = np.empty((4, n_rows))
        small = small_nodes.Small(
            entries=np.empty((n_features, n_rows), np.uint32),
            rows=np.empty(n_rows, np.int64),
            y=numbers[0], w=numbers[1], a=numbers[2], b=numbers[3], is_first=np.empty(n_rows, np.uint8),
            side=np.empty(n_rows, np.uint8),
            buffer=np.empty(n_rows, np.uint32),
            is_unit=self._is_unit,
            form=small_nodes.SMALL_FORM,
        )  # fmt: skip
        small_nodes.gather(self._sample, start, stop, self._small_row, small)
        small.a[:] = small.w * (1 - small.y)  # of numbers it is another at every node
        small.b[:] = 0 if self._rules.criterion == layout.SQUARED_ERROR else small.w * small.y
        small.is_first[:] = small.y == 0
        return small

    def _stream_of(self, root: np.intp) -> NDArray[np.uint64]:
        """Return the subtree's own random stream, by its place; the tree's where it is the whole tree."""
        if root == 0:
            return self._random_state
        first_row = int(self._nodes.records["start"][root])
        words = np.random.SeedSequence(int(self._random_state[0]), spawn_key=(first_row,))
        return words.generate_state(1, np.uint64).astype(np.uint64)

    def _grow_small(
        self, small: small_nodes.Small, nodes: layout.Nodes, stream: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], layout.Nodes]:
        """Call the kernel until the subtree is done or a stop is asked for."""
        best = layout.Best(
            np.zeros(1), np.zeros(layout.N_BEST, np.int64), np.zeros((1, 2), dtypes.LEVEL_DTYPE)
        )
        scratch = _new_scratch(len(small.entries), self._rules.n_sums)
        state, stack = np.zeros(layout.N_STATE, np.int64), np.zeros(FIRST_NODES, dtypes.NODE_DTYPE)
        state[layout.STATE_NODES] = state[layout.STATE_LEAVES] = state[layout.STATE_STACK] = 1
        while state[layout.STATE_PHASE] != layout.DONE:
            if state[layout.STATE_NODES] + 2 > len(nodes.records):
                nodes = with_room(nodes, 2 * len(nodes.records), 1)
            if state[layout.STATE_STACK] + 2 > len(stack):
                stack = np.concatenate([stack, np.zeros_like(stack)])
            rest = (best, scratch, state, stack, stream, self._budget)
            small_nodes.grow_small(small, self._rules, nodes, *rest)
            if self._stop_flag.ask():
                break
        return state, nodes


def _new_scratch(n_features: int, n_sums: int) -> layout.Scratch:
    """Return room for one node's sums: the rest of the kernels' scratch is not used by small nodes."""
    return layout.Scratch(
        sums=np.zeros((4, n_sums)),
        side=np.zeros(1, np.uint8),
        buffer=np.zeros(1, dtypes.COUNT_DTYPE),
        features=np.arange(n_features, dtype=np.int32),
        levels=new_records(1, layout.LEVEL_RECORD),
        level_sums=np.zeros((1, n_sums)),
        medians=new_records(1, layout.MEDIAN_RECORD),
    )


def graft(nodes: layout.Nodes, n_nodes: int, subtrees: list[Subtree]) -> tuple[layout.Nodes, int]:
    """Put subtrees in the place of the nodes they grew from; returns the nodes and how many they are.

    Their numbers are no longer in the canonical order where there is more than one subtree.
    """
    records, values = [_bytes_of(nodes.records[:n_nodes])], [nodes.value[:n_nodes]]
    for root, grown, value, _ in subtrees:
        grown["first_child"][grown["first_child"] != NO_CHILD] += n_nodes - 1
        nodes.records[root], nodes.value[root] = grown[0], value[0]
        records.append(_bytes_of(grown[1:]))
        values.append(value[1:])
        n_nodes += len(grown) - 1
    joined = np.concatenate(records).view(layout.NODE_RECORD)
    if not is_compiling():
        joined = joined.view(np.recarray)
    return layout.Nodes(joined, np.concatenate(values), nodes.level_sets), n_nodes
