"""Histogram kernels: gradients in fixed point, so sums are exact and any order gives the same bits.

While rows are added, a cell holds its gradient and its count in one word, with the hessian beside it:

    word 0   [ sum of gradients, shifted left by `count_bits` | count ]
    word 1   [ sum of hessians ]                                        only with two channels

Before a count could outgrow its bits, all cells are added to the histogram proper and begin again.
"""

import numpy as np

from engine.jit import kernel
from engine.kernels.memory import add_pair, prefetch_row

ROWS_AHEAD = 16
"""So many rows on, memory is asked for. Where rows lie far apart each is a cache miss, and the additions
of one row leave no room to begin the next row's: without it a row in eight costs 1.8 times as much, a row
in forty 6 times. 8 and 32 are slower by up to a third where rows are rare."""


@kernel
def quantise(gradients, hessians, gradient_scale, hessian_scale, count_bits, start, stop, fixed):
    """Write rows `start` to `stop` in fixed point: values times a scale, rounded.

    gradients, hessians  float64 (n_samples,)           in
    count_bits           int                            in   bits below a gradient, which count 1 row
    fixed                int64 (n_samples, n_channels)  out
    """
    for row in range(start, stop):
        fixed[row, 0] = (np.int64(np.rint(gradients[row] * gradient_scale)) << count_bits) + 1
        if fixed.shape[1] == 2:
            fixed[row, 1] = np.int64(np.rint(hessians[row] * hessian_scale))


@kernel
def largest_magnitude(values, start, stop):
    """Return the largest absolute value of rows `start` to `stop`."""
    largest = 0.0
    for row in range(start, stop):
        largest = max(largest, abs(values[row]))
    return largest


@kernel
def add_rows(codes, sample_indices, start, stop, fixed, offsets, packed):
    """Add a node's rows to the packed cells of all columns.

    codes           uint (n_samples, n_features)    in   bin codes; one row is one or two cache lines
    sample_indices  int32 (n_samples,)              in   the node's rows are start to stop of it
    fixed           int64 (n_samples, n_channels)   in   gradient with a count of 1 below, and hessian
    offsets         uint64 (n_features + 1,)        in   first cell of each column; unsigned, so
                                                         that no index can be negative
    packed          int64 (n_cells, n_channels)     in and out
    """
    zero, one, n_features = np.uint64(0), np.uint64(1), np.uint64(codes.shape[1])
    last_ahead = sample_indices.size - 1 - ROWS_AHEAD  # the next piece's too
    for i in range(start, stop):
        row = np.uint64(sample_indices[i])
        if i <= last_ahead:
            ahead = np.uint64(sample_indices[i + ROWS_AHEAD])
            prefetch_row(codes, ahead)
            prefetch_row(fixed, ahead)
        if fixed.shape[1] == 1:
            gradient = fixed[row, zero]
            for feature_idx in range(n_features):
                packed[offsets[feature_idx] + np.uint64(codes[row, feature_idx]), zero] += gradient
        else:
            gradient, hessian = fixed[row, zero], fixed[row, one]
            for feature_idx in range(n_features):
                cell = offsets[feature_idx] + np.uint64(codes[row, feature_idx])
                add_pair(packed, cell, gradient, hessian)


@kernel
def unpack(packed, start, stop, count_bits, histogram):
    """Add the packed cells `start` to `stop` to a histogram, and empty them.

    packed     int64 (n_cells, n_channels)      in and out  zero afterwards
    histogram  int64 (n_cells, n_channels + 1)  in and out  sums, then the count
    """
    last, mask = histogram.shape[1] - 1, (1 << count_bits) - 1
    for cell in range(start, stop):
        word = packed[cell, 0]
        histogram[cell, 0] += word >> count_bits
        histogram[cell, last] += word & mask
        packed[cell, 0] = 0
        if last == 2:
            histogram[cell, 1] += packed[cell, 1]
            packed[cell, 1] = 0
