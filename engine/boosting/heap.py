"""What one thread adds up of a node's rows, in packed cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.boosting.kernels import histogram as histogram_kernels


class Heap:
    """What one thread has added up of a node's rows.

    Parameters
    ----------
    most_cells, n_channels : int
        Cells of a histogram of all columns, and numbers that are added up in each.

    Attributes
    ----------
    packed : int64 (n_cells, n_channels)
        See `kernels.histogram`.
    """

    def __init__(self, most_cells: int, n_channels: int) -> None:
        self.packed = self._all_packed = np.zeros((most_cells, n_channels), dtypes.FIXED_DTYPE)
        self._all_poured: NDArray[np.int64] | None = None  # what outgrew the counts' bits
        self._n_rows = 0
        self._has_poured = False

    def use_cells(self, n_cells: int) -> None:
        """Be of so many cells from now on, while empty."""
        self.packed = self._all_packed[:n_cells]

    def make_room(self, n_rows: int, count_bits: int) -> None:
        """Make sure that so many rows more can be counted."""
        if self._n_rows + n_rows >= 1 << count_bits:
            if self._all_poured is None:
                shape = len(self._all_packed), self._all_packed.shape[1] + 1
                self._all_poured = np.zeros(shape, dtypes.FIXED_DTYPE)
            histogram_kernels.unpack(self.packed, count_bits, self._all_poured[: len(self.packed)])
            self._n_rows, self._has_poured = 0, True
        self._n_rows += n_rows

    def pour_into(self, histogram: NDArray[np.int64], count_bits: int) -> None:
        """Add all to a histogram, and be empty."""
        if self._n_rows:
            histogram_kernels.unpack(self.packed, count_bits, histogram)
            self._n_rows = 0
        if self._has_poured and self._all_poured is not None:
            poured = self._all_poured[: len(self.packed)]
            np.add(histogram, poured, out=histogram)
            poured.fill(0)
            self._has_poured = False
