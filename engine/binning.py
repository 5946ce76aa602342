"""From an encoded table to bin codes: small integers that histograms can be indexed with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.features import FeatureSpec
from engine.kernels import binning as kernels
from engine.parallel import for_chunks, resolve_jobs

MOST_LEADING_BITS = 16  # by which cuts are looked up in a table
ROW_CHUNK = 65536  # rows copied at a time into row-major order, and out of it
MOST_COLUMNS_A_WAVE = 8
"""Columns copied out of the table together: a row's numbers lie in one cache line, which is fetched once for
all of them. At 1,000,000 x 28 binning takes 0.8 times as long as with a copy of each column by itself."""
CELLS_A_WAVE = 2**23  # some 40 ms of work between two questions, and 64 MB at most for the copies


@dataclass(frozen=True)
class BinnedTable:
    """A table as bin codes, once by rows (histograms) and once by columns (partition of rows).

    A column's bins are numbered from 0; the code after its last bin stands for missing, in every
    column, whether it has missing values or not. So column f has ``n_bins[f] + 1`` codes, and a
    histogram of all columns keeps column f in cells ``offsets[f]`` to ``offsets[f + 1]``.

    Attributes
    ----------
    codes : uint8, uint16 or uint32 (n_rows, n_features)
        The narrowest type that `max_bins` and the levels allow; uint8 with 255 bins.
    columns : same dtype (n_features, n_rows)
        The same codes, transposed in memory.
    thresholds : tuple of float64 (n_bins - 1,)
        Midpoints of adjacent distinct values of the whole column; empty for categories.
    n_bins : int64 (n_features,)
        Bins without the one for missing: a category has one for each level.
    offsets : int64 (n_features + 1,)
    is_categorical : bool (n_features,)
    """

    codes: NDArray[Any]
    columns: NDArray[Any]
    thresholds: tuple[NDArray[np.float64], ...]
    n_bins: NDArray[np.int64]
    offsets: NDArray[np.int64]
    is_categorical: NDArray[np.bool_]

    @property
    def n_rows(self) -> int:
        return int(self.codes.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n_cells(self) -> int:
        """Cells of a histogram of all columns."""
        return int(self.offsets[-1])


def bin_table(
    X: NDArray[Any],
    features: Sequence[FeatureSpec],
    max_bins: int = 255,
    *,
    n_jobs: int | None = None,
    on_column: Callable[[int], None] = lambda n_done: None,
) -> BinnedTable:
    """Bin every column, from all its rows (none are sampled).

    A column of at most `max_bins` distinct values gets a bin for each, so nothing is lost; else
    about equally many rows share a bin. A category gets one bin a level, however many there are.

    Parameters
    ----------
    X : float32 or float64 (n_rows, n_features)
        Encoded table.
    features : sequence of FeatureSpec
    max_bins : int
        Bins of a number, without the one for missing.
    n_jobs : int, optional
        Threads, see `engine.parallel.resolve_jobs`; one column is one piece of work.
    on_column : callable
        Told how many columns are done, every few columns; may raise to end the work.
    """
    n_rows, n_features = X.shape
    columns = np.empty((n_features, n_rows), code_dtype(features, max_bins))
    thresholds: list[NDArray[np.float64]] = [np.empty(0)] * n_features
    n_bins = np.zeros(n_features, np.int64)

    def bin_column(feature_idx: int, column: NDArray[Any]) -> None:
        levels = features[feature_idx].levels
        if levels is not None:
            n_bins[feature_idx] = len(levels)
            kernels.code_levels(column, len(levels), columns[feature_idx])
            return
        cuts, n = _cuts(column, max_bins)
        thresholds[feature_idx], n_bins[feature_idx] = cuts, n
        code_numbers(column, cuts, n, columns[feature_idx])

    wave = _columns_a_wave(n_rows, n_jobs)
    for first in range(0, n_features, wave):
        gathered = _gather_columns(X, first, min(wave, n_features - first), n_jobs)

        def bin_chunk(_: int, start: int, stop: int, first: int = first, wave: Any = gathered) -> None:
            bin_column(first + start, wave[start])

        for_chunks(bin_chunk, len(gathered), 1, n_jobs)
        on_column(first + len(gathered))
    codes = np.empty((n_rows, n_features), columns.dtype)
    for_chunks(
        lambda _, start, stop: kernels.copy_to_rows(columns, start, stop, codes), n_rows, ROW_CHUNK, n_jobs
    )
    is_categorical = np.array([spec.is_categorical for spec in features])
    offsets = np.concatenate([[0], np.cumsum(n_bins + 1)])
    return BinnedTable(
        codes=codes,
        columns=columns,
        thresholds=tuple(thresholds),
        n_bins=n_bins,
        offsets=offsets.astype(dtypes.COUNT_DTYPE),
        is_categorical=is_categorical,
    )


def _columns_a_wave(n_rows: int, n_jobs: int | None) -> int:
    """Return how many columns are taken out of the table and binned between two questions to the monitor."""
    n_threads = min(resolve_jobs(n_jobs), resolve_jobs(None))
    return max(n_threads, min(MOST_COLUMNS_A_WAVE, CELLS_A_WAVE // max(n_rows, 1)))


def _gather_columns(X: NDArray[Any], first: int, n_columns: int, n_jobs: int | None) -> NDArray[Any]:
    """Return columns of a row-major table from `first` on, each contiguous: (n_columns, n_rows)."""
    columns = np.empty((n_columns, len(X)), X.dtype)

    def gather(_: int, start: int, stop: int) -> None:
        kernels.gather_columns(X, first, start, stop, columns)

    for_chunks(gather, len(X), ROW_CHUNK, n_jobs)
    return columns


def code_dtype(features: Sequence[FeatureSpec], max_bins: int) -> Any:
    """Return the narrowest type for the codes of such columns."""
    widest = max([max_bins, *(len(spec.levels) for spec in features if spec.levels is not None)])
    return next(dtype for dtype in dtypes.BIN_DTYPES if widest <= np.iinfo(dtype).max)


def _cuts(column: NDArray[Any], max_bins: int) -> tuple[NDArray[np.float64], int]:
    """Thresholds and number of bins of a numeric column; a column without values has no bin."""
    ordered = np.sort(column)  # NaN last
    n_values = len(ordered) - int(np.count_nonzero(np.isnan(column)))
    cuts = find_thresholds(ordered, max_bins, n_values)
    return cuts, len(cuts) + 1 if n_values else 0


def find_thresholds(
    ascending: NDArray[Any], max_bins: int, n_values: int | None = None
) -> NDArray[np.float64]:
    """Return the thresholds between bins of ascending values, as in `bin_table`; NaN may stand after them."""
    cuts = np.empty(max(max_bins - 1, 1))
    n_cuts = kernels.find_cuts(ascending, len(ascending) if n_values is None else n_values, max_bins, cuts)
    return cuts[:n_cuts].copy()


def code_numbers(
    column: NDArray[Any], cuts: NDArray[np.float64], missing_code: int, codes: NDArray[Any]
) -> None:
    """Write the bin of every value; NaN gets `missing_code`."""
    dtype = column.dtype
    floors = cuts.astype(dtype)  # the largest number of the column's precision that is not above the cut
    floors = np.where(floors > cuts, np.nextafter(floors, dtype.type(-np.inf)), floors) + dtype.type(0)
    keys, width = _order_keys(floors), 8 * dtype.itemsize
    n_leading = min(MOST_LEADING_BITS, len(column).bit_length())
    shift = np.uint64(width - n_leading)
    n_of_lead = np.bincount((keys >> shift).astype(np.intp), minlength=2**n_leading)
    n_steps = int(n_of_lead.max()).bit_length()
    above = np.full(2**n_steps, np.iinfo(np.uint64).max)
    kernels.code_numbers(
        column.view(f"u{dtype.itemsize}"),
        np.concatenate([keys, above]),
        (np.cumsum(n_of_lead) - n_of_lead).astype(np.uint32),
        shift,
        n_steps,
        _order_keys(np.array([-np.inf, np.inf], dtype)),
        missing_code,
        codes,
    )


def _order_keys(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return unsigned integers in the order of the values, which are no NaN and no minus zero."""
    width = 8 * values.dtype.itemsize
    words = values.view(f"u{values.dtype.itemsize}").astype(np.uint64)
    sign, everything = np.uint64(1 << (width - 1)), np.uint64((1 << width) - 1)
    keys: NDArray[np.uint64] = np.where(words & sign, words ^ everything, words ^ sign)
    return keys
