"""Binning kernels: a column's cut points, its codes, and the row-major copy of the codes."""

import numpy as np

from engine.jit import counting_kernel, kernel
from engine.kernels.numeric import midpoint

BLOCK_ROWS = 256  # rows whose bins are searched side by side


@kernel
def has_at_most(values, n_values, max_bins):
    """Tell whether the ascending `values` hold at most `max_bins` distinct ones."""
    n_distinct = 0
    for i in range(n_values):
        if i == 0 or values[i] != values[i - 1]:
            n_distinct += 1
            if n_distinct > max_bins:
                return False
    return True


@kernel
def find_cuts(values, n_values, max_bins, cuts):
    """Choose the thresholds between bins; return how many there are.

    Every distinct value gets a bin if `max_bins` suffice. Else bins get about equally many rows: a
    bin is closed where the next value would take it further past its share of the rows left than it
    is short of it, so a value that many rows share has a bin of its own.

    values    float32 or float64 (>= n_values,)  in   ascending; the rest, if any, is NaN
    cuts      float64 (max_bins - 1,)            out  ascending midpoints of adjacent distinct values
    """
    is_exact = has_at_most(values, n_values, max_bins)
    n_cuts, n_in_bin, n_left, bins_left, start = 0, 0, n_values, max_bins, 0
    while start < n_values:
        stop = start + 1
        while stop < n_values and values[stop] == values[start]:
            stop += 1
        n_same = stop - start
        if n_in_bin > 0:
            is_full = bins_left > 1 and (n_in_bin + 0.5 * n_same) * bins_left > n_left
            if is_exact or is_full:
                cuts[n_cuts] = midpoint(float(values[start - 1]), float(values[start]))
                n_cuts += 1
                n_left -= n_in_bin
                bins_left -= 1
                n_in_bin = 0
        n_in_bin += n_same
        start = stop
    return n_cuts


@counting_kernel
def code_numbers(bits, cut_keys, n_below_lead, lead_shift, n_steps, missing_keys, missing_code, codes):
    """Write each value's bin: how many cuts are below it, so ``x <= cuts[b]`` is ``code <= b``.

    Numbers are compared by their bits, as unsigned integers in the same order. A key's leading bits
    say by table below which few cuts it must lie; a binary search without branches does the rest,
    step by step for a block of rows at once, so that the processor works on many rows side by side
    (with the table five to fifteen times faster than searching all cuts).

    bits          uint32 or uint64 (n_samples,)  in   the values' bits
    cut_keys      uint64 (n_cuts + 2**n_steps,)  in   ascending, filled up with the largest number
    n_below_lead  uint32 (n_leads,)              in   cuts whose leading bits are less than these
    missing_keys  uint64 (2,)                    in   keys outside these two are NaN: missing
    codes         uint (n_samples,)              out
    """
    one, width = np.uint64(1), np.uint64(8 * bits.itemsize)
    sign = one << (width - one)
    everything = sign | (sign - one)
    keys, found = np.empty(BLOCK_ROWS, np.uint64), np.empty(BLOCK_ROWS, np.uint32)
    for first in range(0, bits.size, BLOCK_ROWS):
        n_rows = min(BLOCK_ROWS, bits.size - first)
        for i in range(n_rows):
            word = np.uint64(bits[first + i])
            keys[i] = word ^ (everything if word & sign else sign)
            found[i] = n_below_lead[keys[i] >> lead_shift]
        step = one << np.uint64(n_steps)
        for _ in range(n_steps):
            step >>= one
            for i in range(n_rows):
                n_below = np.uint64(found[i])
                found[i] = n_below + step * np.uint64(cut_keys[n_below + step - one] < keys[i])
        for i in range(n_rows):
            is_missing = keys[i] < missing_keys[0] or keys[i] > missing_keys[1]
            codes[first + i] = missing_code if is_missing else found[i]


@kernel
def code_levels(values, missing_code, codes):
    """Write each level's code as its bin.

    values  float64 (n_samples,)  in   level codes; NaN is missing
    codes   uint (n_samples,)     out
    """
    for i in range(values.size):
        codes[i] = missing_code if np.isnan(values[i]) else np.int64(values[i])


@kernel
def gather_columns(X, first_column, start, stop, columns):
    """Copy rows `start` to `stop` of some columns, each to a place of its own, in blocks that fit the cache.

    X        float32 or float64 (n_samples, n_features)  in   its columns from `first_column` on are taken
    columns  same type (n_columns, n_samples)            out
    """
    for block in range(start, stop, 256):
        block_stop = min(block + 256, stop)
        for column_idx in range(columns.shape[0]):
            for row in range(block, block_stop):
                columns[column_idx, row] = X[row, first_column + column_idx]


@kernel
def copy_to_rows(columns, start, stop, codes):
    """Copy the codes of rows `start` to `stop` into row-major order, in blocks that fit the cache.

    columns  uint (n_features, n_samples)  in
    codes    uint (n_samples, n_features)  out
    """
    for block in range(start, stop, 512):
        block_stop = min(block + 512, stop)
        for feature_idx in range(columns.shape[0]):
            for row in range(block, block_stop):
                codes[row, feature_idx] = columns[feature_idx, row]
