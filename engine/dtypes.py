"""The one table of dtypes, each with the reason for its width, and the casts into them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

X_DTYPES = (np.float64, np.float32)  # read as they are; whatever else becomes the first: exact up to 2**53
Y_DTYPE = np.float64  # sums over a million rows need the mantissa
VALUE_DTYPE = np.float64  # thresholds, leaf values, impurities: float32 merges values (case C13)
BIN_DTYPES = (np.uint8, np.uint16, np.uint32)  # the narrowest that fits: 255 bins and missing in one byte
FIXED_DTYPE = np.int32  # gradients in fixed point: 9 digits of the largest, in half the memory traffic
SUM_DTYPE = np.int64  # their sums, which are exact, in any order
SAMPLE_DTYPE = np.int32  # row numbers: half the memory traffic of int64 when partitioning
COUNT_DTYPE = np.int64  # counts and offsets into flat arrays: products pass 2**31 (case C47)
NODE_DTYPE = np.int32  # node numbers and child offsets
LEVEL_DTYPE = np.int32  # codes of categorical levels
KIND_DTYPE = np.uint8  # what a node asks

UNSEEN_LEVEL = -1.0  # in an encoded table: a level that training never saw


def as_input(array: Any, dtype: Any = None) -> NDArray[Any]:
    """Return `array` as kernels want it: C-contiguous and read-only.

    numba compiles one variant for each combination of dtype, layout and writeability; casting all
    inputs to the same flags keeps it at one.

    Parameters
    ----------
    array : array-like
    dtype : numpy dtype, optional
        Cast to it; kept when omitted.

    Returns
    -------
    ndarray
        A read-only view, of `array` itself where nothing had to change.
    """
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def frozen(array: Any, dtype: Any = None) -> NDArray[Any]:
    """Return a read-only C-contiguous array that shares no writable memory with its source."""
    copy = np.array(array, dtype=dtype, order="C", copy=True)
    copy.flags.writeable = False
    return copy
