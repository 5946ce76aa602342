"""The columns that one tree may ask about, apart from the others.

Histograms are added up row by row over all columns of a table. Where a tree may ask about some columns
alone, their codes are copied beside each other first, so that nothing is added up for the others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.binning import BinnedTable
from engine.kernels.binning import copy_to_rows
from engine.parallel import for_chunks

ROW_CHUNK = 65536  # rows copied at a time
VISITS = 2
"""How often a tree adds up a row, about: once for the root, then for the smaller child of each split above
it. Copying a cell takes as long as adding it up. With 0.7 of the columns there is nothing to win, with 0.5 an
eighth of the time."""


class DrawnColumns(NamedTuple):
    """What histograms are made of, and searched by: some columns of a binned table, or all.

    Attributes
    ----------
    codes : uint8, uint16 or uint32 (n_rows, n_columns)
    numbers : int64 (n_columns,)
        Which columns of the whole table these are.
    n_bins, offsets, is_categorical
        As in `BinnedTable`, of these columns.
    """

    codes: NDArray[Any]
    numbers: NDArray[np.int64]
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    is_categorical: NDArray[np.bool_]

    @property
    def n_columns(self) -> int:
        return len(self.numbers)

    @property
    def n_cells(self) -> int:
        """Cells of a histogram of these columns."""
        return int(self.offsets[-1])


class ColumnDrawer:
    """Hands out columns of one table, each time in the memory of the time before.

    Parameters
    ----------
    binned : BinnedTable
    n_jobs : int or None
        Threads that copy.
    """

    def __init__(self, binned: BinnedTable, n_jobs: int | None) -> None:
        self._binned, self._n_jobs = binned, n_jobs
        self._memory: NDArray[Any] = np.empty(0, binned.codes.dtype)
        everything = np.arange(binned.n_features)
        self.all = DrawnColumns(
            binned.codes, everything, binned.n_bins, binned.offsets, binned.is_categorical
        )  # fmt: skip

    def is_sooner(self, n_columns: int, n_rows: int) -> bool:
        """Tell whether a tree on so many rows is grown sooner with so many columns apart."""
        binned = self._binned
        return n_columns * binned.n_rows < VISITS * n_rows * (binned.n_features - n_columns)

    def draw(self, numbers: NDArray[np.int64]) -> DrawnColumns:
        """Return some columns, in their order, with codes beside each other."""
        columns, n_rows = self._binned.columns, self._binned.n_rows
        if len(self._memory) < n_rows * len(numbers):
            self._memory = np.empty(n_rows * len(numbers), columns.dtype)
        codes = self._memory[: n_rows * len(numbers)].reshape(n_rows, len(numbers))

        def copy_chunk(_: int, start: int, stop: int) -> None:
            copy_to_rows(columns[numbers, start:stop], 0, stop - start, codes[start:stop])

        for_chunks(copy_chunk, n_rows, ROW_CHUNK, self._n_jobs if n_rows > ROW_CHUNK else 1)
        n_bins = self._binned.n_bins[numbers]
        offsets = np.concatenate([[0], np.cumsum(n_bins + 1)]).astype(dtypes.COUNT_DTYPE)
        return DrawnColumns(codes, numbers, n_bins, offsets, self._binned.is_categorical[numbers])
