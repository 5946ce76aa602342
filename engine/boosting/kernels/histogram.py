"""Histogram kernels: gradients in fixed point, so sums are exact and any order gives the same bits."""

import numpy as np

from engine.jit import kernel

TOUCHED_ROWS = 64


@kernel
def quantise(values, scale, start, stop, channel, fixed):
    """Write ``values * scale``, rounded, for rows `start` to `stop`.

    values  float64 (n_samples,)          in
    fixed   int64 (n_samples, n_channels) out  column `channel` is written
    """
    for row in range(start, stop):
        fixed[row, channel] = np.int64(np.rint(values[row] * scale))


@kernel
def largest_magnitude(values, start, stop):
    """Return the largest absolute value of rows `start` to `stop`."""
    largest = 0.0
    for row in range(start, stop):
        largest = max(largest, abs(values[row]))
    return largest


@kernel
def add_to_histogram(codes, sample_indices, start, stop, fixed, offsets, histogram):
    """Add a node's rows to the histogram of all columns. Returns a number without meaning.

    Where rows lie far apart each is a cache miss, and the additions of one row leave no room to begin
    the next row's. So a block of rows is touched first, in a loop so short that the misses overlap
    (2.7 times faster at one row in ten); the sum keeps the compiler from dropping the loop.

    codes           uint (n_samples, n_features)    in   bin codes; one row is one cache line
    sample_indices  int32 (n_samples,)              in   the node's rows are start to stop of it
    fixed           int64 (n_samples, n_channels)   in   gradients and, with two channels, hessians
    offsets         uint64 (n_features + 1,)        in   first cell of each column; unsigned, so
                                                         that no index can be negative
    histogram       int64 (n_cells, n_channels + 1) out  sums, then the count; the caller zeroes it
    """
    touched = 0
    last = np.uint64(codes.shape[1] - 1)
    is_sparse = stop > start and sample_indices[stop - 1] - sample_indices[start] > 3 * (stop - start)
    for first in range(start, stop, TOUCHED_ROWS):
        end = min(first + TOUCHED_ROWS, stop)
        if is_sparse:
            for i in range(first, end):
                row = np.uint64(sample_indices[i])
                touched += np.int64(codes[row, 0]) + np.int64(codes[row, last]) + (fixed[row, 0] & 1)
        add_block(codes, sample_indices, first, end, fixed, offsets, histogram)
    return touched


@kernel
def add_block(codes, sample_indices, start, stop, fixed, offsets, histogram):
    """Add some rows to the histogram; see `add_to_histogram`."""
    zero, one, two = np.uint64(0), np.uint64(1), np.uint64(2)
    n_features = codes.shape[1]
    if fixed.shape[1] == 1:
        for i in range(start, stop):
            row = np.uint64(sample_indices[i])
            gradient = fixed[row, zero]
            for feature_idx in range(n_features):
                cell = offsets[feature_idx] + np.uint64(codes[row, feature_idx])
                histogram[cell, zero] += gradient
                histogram[cell, one] += 1
    else:
        for i in range(start, stop):
            row = np.uint64(sample_indices[i])
            gradient, hessian = fixed[row, zero], fixed[row, one]
            for feature_idx in range(n_features):
                cell = offsets[feature_idx] + np.uint64(codes[row, feature_idx])
                histogram[cell, zero] += gradient
                histogram[cell, one] += hessian
                histogram[cell, two] += 1
