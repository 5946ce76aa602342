"""The memory that a team grows trees in: made once, used for every tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.binning import BinnedTable
from engine.boosting.columns import DrawnColumns
from engine.boosting.kernels import splitting
from engine.boosting.kernels.team import CELLS_A_PIECE, Desk, Searches
from engine.boosting.team import Team, cache_lines
from engine.tree.directions import Directions

SPLIT_CHUNK = 8192  # rows a piece of partition
MOST_BYTES = 2**28  # of kept histograms; nodes beyond them have their children's built from rows
AT_WORK = 2  # histograms that a split needs beside those that are kept


def desk_for(
    binned: BinnedTable, directions: Directions, n_channels: int, count_bits: int,
    max_leaf_nodes: int | None, team: Team,
) -> Desk:  # fmt: skip
    """Make a desk for trees on a binned table.

    Parameters
    ----------
    directions : uint8 (n_features,) or fewer
        Columns beyond them are free: statistics, wherever they stand.
    n_channels : int
        1 for gradients, 2 with hessians.
    count_bits : int
        Of a packed cell, see `kernels.histogram`.
    max_leaf_nodes : int or None
    team : Team
        Who works at it.
    """
    n_rows, n_cells, n_threads = binned.n_rows, binned.n_cells, team.n_threads
    n_pieces, n_codes = -(-n_rows // SPLIT_CHUNK), int(binned.n_bins.max()) + 1
    n_slots = _n_slots(binned, n_channels, max_leaf_nodes)
    return Desk(
        codes=binned.codes,
        columns=binned.columns,
        offsets=binned.offsets.astype(np.uint64),  # numba adds int64 and uint64 as floats
        fixed=np.empty((n_rows, n_channels), dtypes.FIXED_DTYPE),
        drawn=np.empty(0, dtypes.SAMPLE_DTYPE),
        rows=np.empty(0, dtypes.SAMPLE_DTYPE),
        is_parted=np.zeros(1, np.uint8),
        lefts=np.empty(n_rows, dtypes.SAMPLE_DTYPE),
        rights=np.empty(n_rows, dtypes.SAMPLE_DTYPE),
        goes_left=np.zeros(n_codes, np.uint8),
        n_left=np.empty(n_pieces, dtypes.COUNT_DTYPE),
        left_at=np.empty(n_pieces, dtypes.COUNT_DTYPE),
        right_at=np.empty(n_pieces, dtypes.COUNT_DTYPE),
        packed=np.zeros((n_threads, n_cells, n_channels), dtypes.SUM_DTYPE),
        poured=np.zeros((n_threads, n_cells, n_channels + 1), dtypes.SUM_DTYPE),
        counts=cache_lines(n_threads),
        count_bits=count_bits,
        histograms=np.empty((n_slots, n_cells, n_channels + 1), dtypes.SUM_DTYPE),
        searches=_searches(binned, directions, n_codes, n_threads),
    )


def of_columns(desk: Desk, drawn: DrawnColumns) -> Desk:
    """Return the same memory for a tree that may ask about some columns, of those it was made for.

    What a thread added up stays where it is, as it may have to be emptied still.
    """
    searches = desk.searches._replace(
        offsets=drawn.offsets,
        n_bins=drawn.n_bins,
        is_categorical=drawn.is_categorical,
        directions=desk.searches.directions[drawn.numbers],
    )
    return desk._replace(
        codes=drawn.codes,
        offsets=drawn.offsets.astype(np.uint64),
        histograms=_first_cells(desk.histograms, drawn.n_cells),
        searches=searches,
    )


def _first_cells(sums: NDArray[np.int64], n_cells: int) -> NDArray[np.int64]:
    """Return memory of (n, n_all_cells, n_words) as (n, n_cells, n_words), contiguous."""
    n, _, n_words = sums.shape
    return sums.reshape(-1)[: n * n_cells * n_words].reshape(n, n_cells, n_words)


def _searches(binned: BinnedTable, directions: Directions, n_codes: int, n_threads: int) -> Searches:
    n_pieces = -(-binned.n_cells // CELLS_A_PIECE)
    all_directions = np.zeros(binned.n_features, np.uint8)
    all_directions[: len(directions)] = directions
    return Searches(
        offsets=binned.offsets,
        n_bins=binned.n_bins,
        is_categorical=binned.is_categorical,
        directions=all_directions,
        asked=np.zeros((2, 3), np.int64),
        columns=np.zeros((2, binned.n_features), np.int64),
        rules=np.zeros((2, len(splitting.SplitRules._fields))),
        keys=np.empty((n_threads, n_codes)),
        items=np.empty((n_threads, n_codes), np.int64),
        goes_left=np.zeros((2, n_codes), np.uint8),
        best=np.zeros((2, splitting.N_BEST)),
        best_of_pieces=np.zeros((n_pieces, 2, splitting.N_BEST)),
        goes_left_of_pieces=np.zeros((n_pieces, 2, n_codes), np.uint8),
    )


def _n_slots(binned: BinnedTable, n_channels: int, max_leaf_nodes: int | None) -> int:
    """Histograms to have room for: one for each node that may wait and be worth it, within limits."""
    most = min(binned.n_rows * binned.n_features // max(binned.n_cells, 1), max_leaf_nodes or binned.n_rows)
    n_bytes = binned.n_cells * (n_channels + 1) * np.dtype(dtypes.SUM_DTYPE).itemsize
    return AT_WORK + max(1, min(most + 1, MOST_BYTES // max(n_bytes, 1)))
