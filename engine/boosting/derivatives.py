"""What one look at all rows leaves for the next trees: derivatives, the largest of them, and fixed point."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from engine import dtypes


class Derivatives(NamedTuple):
    """A loss' derivatives by the raw predictions, times the rows' weights; kernels read and write them.

    Attributes
    ----------
    gradients, hessians : float64 (n_raw, n_rows)
    largest : float64 (n_raw, 2, n_chunks)
        Largest magnitudes of a chunk's gradients and hessians.
    scales : float64 (2,)
        Of gradients and hessians in `fixed`: those of the tree before, which mostly do for the next one too.
    fixed : int32 (n_rows, n_channels) or (0, 0)
        Both in fixed point, see `kernels.histogram`, while a row's numbers are in the cache; of a single raw
        prediction alone.
    """

    gradients: Any
    hessians: Any
    largest: Any
    scales: Any
    fixed: Any


def room_for_derivatives(n_raw: int, n_rows: int, row_chunk: int) -> Derivatives:
    """Return room for the derivatives of a loss that looks at `row_chunk` rows at a time."""
    shape = (n_raw, n_rows)
    return Derivatives(
        np.empty(shape), np.empty(shape), np.empty((n_raw, 2, -(-n_rows // row_chunk))), np.zeros(2),
        np.empty((0, 0), dtypes.FIXED_DTYPE),
    )  # fmt: skip
