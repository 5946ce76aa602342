"""Puts every column's rows in ascending order, once a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, parallel
from engine.features import FeatureSpec
from engine.monitor import StopFlag
from engine.tree.kernels import radix
from engine.tree.kernels.layout import MISSING_RANK, ROW_MASK
from engine.tree.kernels.sort import keep_rows

CELLS_PER_BATCH = 4_000_000  # sorted between two looks at the monitor: about 80 ms of one thread
MOST_COLUMNS = 16  # of a batch: read together, as a line of the cache holds so many neighbours
COLUMNS_PER_CHUNK = 4  # that one thread takes rows out of at a time
FEW_CELLS = 65_536  # other threads would be woken for less than 100 microseconds of work

Ask = Callable[[int, float], bool]
"""Called with the number of nodes and the share of the work done; True stops the growing."""


def never(_n_nodes: int, _fraction: float) -> bool:
    """Go on: what is asked where nobody stops the work."""
    return False


@dataclass(frozen=True)
class Presorted:
    """A training table with every column's rows in ascending order.

    Attributes
    ----------
    X : float32 or float64 (n_rows, n_features)
        The encoded table.
    order : int64 (n_features, n_rows)
        ``rank << 32 | row`` by ascending value, missing last; see `engine.tree.kernels.layout`.
    is_level : uint8 (n_features,)
    values : float64 (n_values,)
        What the ranks stand for, column after column; empty unless it was asked for.
    first_value : int64 (n_features,)
        Where the column's values begin.
    """

    X: NDArray[Any]
    order: NDArray[np.int64]
    is_level: NDArray[np.uint8]
    values: NDArray[np.float64] = field(default_factory=lambda: dtypes.as_input([], np.float64))
    first_value: NDArray[np.int64] = field(default_factory=lambda: dtypes.as_input([], np.int64))


class SortedRows(NamedTuple):
    """Rows of a table in every column's order.

    Attributes
    ----------
    table : Presorted
    order : int64 (n_features, n_rows)
        Which growing a tree partitions in place.
    """

    table: Presorted
    order: NDArray[np.int64]


class RowSorter:
    """Hands out sorted rows of one table for tree after tree, without sorting again.

    Parameters
    ----------
    table : Presorted
    is_stump : bool
        The trees ask one question, so that growing partitions the first column alone: the others' order is
        not copied.
    """

    def __init__(self, table: Presorted, is_stump: bool) -> None:
        self._table, self._is_stump = table, is_stump
        self._first = self._work = np.empty((0, 0), dtypes.COUNT_DTYPE)

    def all_rows(self, ask: Ask) -> SortedRows | None:
        """Return all rows, in memory that the next call takes again; None where `ask` stopped it."""
        order = self._table.order
        if not len(self._work):
            self._first = order[0].copy()
            self._work = order if self._is_stump else np.empty_like(order)
        self._work[0] = self._first
        for feature in range(1, 1 if self._is_stump else len(order)):
            if ask(0, 0.0):
                return None
            self._work[feature] = order[feature]
        return SortedRows(self._table, self._work)

    def drawn_rows(self, n_drawn: NDArray[np.int64], ask: Ask) -> SortedRows | None:
        """Return the rows that were drawn at least once; None where `ask` stopped it.

        Parameters
        ----------
        n_drawn : int64 (n_rows,)
            How often each was.
        """
        order = orders_of_rows(self._table, n_drawn, ask)
        return None if order is None else SortedRows(self._table, order)


def presort(
    X: NDArray[Any], features: Sequence[FeatureSpec], ask: Ask, n_jobs: int | None = None, *,
    keeps_values: bool = False,
) -> Presorted | None:  # fmt: skip
    """Sort every column; None when `ask` stopped it.

    Costs 8 bytes a cell, and about 50 a row and thread while it runs: no copy of the table is made.
    With `keeps_values`, which drawn splits need, it costs 8 bytes more for every distinct number of a column.
    """
    n_rows, n_features = X.shape
    order = np.empty((n_features, n_rows), dtypes.COUNT_DTYPE)
    is_level = np.array([spec.is_categorical for spec in features], np.uint8)
    distinct = [np.empty(0)] * n_features
    n_together = min(MOST_COLUMNS, max(1, CELLS_PER_BATCH // n_rows))
    n_sorted = 0
    flag = StopFlag(lambda: ask(n_sorted, n_sorted / n_features))
    while n_sorted < n_features:
        if flag.ask():
            return None
        columns = np.ascontiguousarray(X[:, n_sorted : n_sorted + n_together].T)

        def sort_one(at: int, *_: int, first: int = n_sorted, columns: NDArray[Any] = columns) -> None:
            if flag.ask():
                return
            feature = first + at
            sort_column(columns[at], bool(is_level[feature]), order[feature])
            if keeps_values and not is_level[feature]:
                distinct[feature] = _distinct(columns[at], order[feature])

        parallel.for_chunks(sort_one, len(columns), 1, n_jobs, flag.poll)
        n_sorted += len(columns)
    kept = _joined(distinct, flag) if keeps_values else ()
    return None if flag.ask() else Presorted(X, order, is_level, *kept)


def orders_of_rows(
    presorted: Presorted, n_drawn: NDArray[Any], ask: Ask,
    columns: Sequence[int] | NDArray[np.intp] | None = None, n_jobs: int | None = None,
) -> NDArray[np.int64] | None:  # fmt: skip
    """Return the orders of some rows, taken out of those of the whole table; None when `ask` stopped it.

    At a million rows it takes half a second, so it is asked between columns.

    Parameters
    ----------
    n_drawn : int or bool (n_rows,)
        How often each row was drawn: those drawn at least once are kept.
    columns : int (n_columns,), optional
        All if omitted.
    n_jobs : int, optional
        Threads at most, see `engine.parallel`.

    Returns
    -------
    int64 (n_columns, n_kept) or None
        As `Presorted.order`.
    """
    columns = range(len(presorted.order)) if columns is None else columns
    n_drawn = dtypes.as_input(n_drawn, np.int64)
    kept = np.empty((len(columns), np.count_nonzero(n_drawn)), dtypes.COUNT_DTYPE)
    flag = StopFlag(lambda: ask(0, 0.0))

    def keep(_chunk_idx: int, start: int, stop: int) -> None:
        for at in range(start, stop):
            if not flag.ask():
                keep_rows(presorted.order[columns[at]], n_drawn, kept[at])

    is_short = len(columns) * len(n_drawn) < FEW_CELLS
    parallel.for_chunks(keep, len(columns), COLUMNS_PER_CHUNK, 1 if is_short else n_jobs, flag.poll)
    return None if flag.is_stopped else kept


def _joined(
    columns: Sequence[NDArray[np.float64]], flag: StopFlag
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return columns end to end, and where each begins; after a stop they mean nothing."""
    ends = np.cumsum([0, *map(len, columns)], dtype=np.int64)
    values = np.empty(ends[-1])
    for column, first in zip(columns, ends[:-1], strict=True):
        if not flag.ask():
            values[first : first + len(column)] = column
    return dtypes.as_input(values), dtypes.as_input(ends[:-1])


def _distinct(column: NDArray[Any], order: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the value of every rank of a sorted column of numbers."""
    rank = order >> 32
    is_first = np.diff(rank, prepend=-1) > 0
    is_first &= rank != MISSING_RANK
    return np.asarray(column[order[is_first] & ROW_MASK], np.float64)


def sort_column(column: NDArray[Any], is_level: bool, order: NDArray[np.int64]) -> None:
    """Write a column's rows by ascending value, missing last, equal values by row: int64 (n_rows,)."""
    keys, n_bits = sortable_keys(column)
    rows = np.arange(len(column), dtype=np.uint64)
    half = np.uint64(radix.KEY_BITS)
    entries = (keys << half) | rows
    entries = _sort_entries(entries, min(n_bits, radix.KEY_BITS))
    if n_bits > radix.KEY_BITS:
        radix.add_high_key(entries, keys)
        entries = _sort_entries(entries, n_bits - radix.KEY_BITS)
    radix.write_ranks(entries, dtypes.as_input(column, np.float64), is_level, order)


def sortable_keys(column: NDArray[Any]) -> tuple[NDArray[np.uint64], int]:
    """Return whole numbers from 0 in the order of the values, and how many bits the largest has.

    The bits of a number without its sign ascend with it; read as a whole number with that sign they
    order all numbers, and both zeros are one. Values that float32 holds exactly need half the bits, and
    zeros that all keys end in need none. Missing values have the largest key.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        narrow = column.astype(np.float32)
    is_missing = np.isnan(column)
    is_narrow = column.dtype == np.float32 or bool(np.all((narrow == column) | is_missing))
    values = narrow if is_narrow else column
    whole = np.dtype(np.int32 if is_narrow else np.int64)
    n_below_sign = 8 * whole.itemsize - 1
    sign = values.view(whole) >> n_below_sign  # 0 or -1
    bits = ((values.view(whole) & (2**n_below_sign - 1)) ^ sign) - sign
    has_missing = bool(is_missing.any())
    present = bits[~is_missing] if has_missing else bits
    if not len(present):
        return np.zeros(len(column), np.uint64), 0
    unsigned = np.dtype(f"u{whole.itemsize}")
    keys = (bits - present.min()).view(unsigned)
    used = int(np.bitwise_or.reduce(keys[~is_missing] if has_missing else keys))
    n_low = (used & -used).bit_length() - 1 if used else 0  # zeros that all keys end in
    wide = (keys >> unsigned.type(n_low)).astype(np.uint64)
    n_bits = max(used.bit_length() - n_low, 0)
    if has_missing:
        wide[is_missing] = np.uint64(min(2**n_bits, 2**64 - 1))  # finite numbers end well below
        n_bits = min(n_bits + 1, 64)
    return wide, n_bits


def _sort_entries(entries: NDArray[np.uint64], n_bits: int) -> NDArray[np.uint64]:
    """Sort by the lowest bits of the keys; the result may lie in another array."""
    moved, ends = np.empty_like(entries), np.empty(2**radix.DIGIT_BITS, np.int64)
    for low in range(0, n_bits, radix.DIGIT_BITS):
        radix.sort_by_digit(entries, radix.KEY_BITS + low, ends, moved)
        entries, moved = moved, entries
    return entries
