"""Histogram kernels: gradients in fixed point, so sums are exact and any order gives the same bits.

While rows are added, a cell holds its gradient and its count in one word, with the hessian beside it:

    word 0   [ sum of gradients, shifted left by `count_bits` | count ]
    word 1   [ sum of hessians ]                                        only with two channels

Before a count could outgrow its bits, all cells are added to the histogram proper and begin again.
"""

import numpy as np

from engine.boosting.kernels.calls import take
from engine.jit import kernel
from engine.kernels.memory import add_pair, prefetch_row, prefetch_start

ROWS_AHEAD = 16
"""So many rows on, memory is asked for. Where rows lie far apart each is a cache miss, and the additions
of one row leave no room to begin the next row's: without it a row in eight costs 1.8 times as much, a row
in forty 6 times. 8 and 32 are slower by up to a third where rows are rare."""


@kernel
def quantise(gradients, hessians, gradient_scale, hessian_scale, start, stop, fixed):
    """Write rows `start` to `stop` in fixed point: values times a scale, rounded.

    gradients, hessians  float64 (n_samples,)           in
    fixed                int32 (n_samples, n_channels)  out
    """
    zero, one = np.uint64(0), np.uint64(1)
    if fixed.shape[1] == 2:
        for row in range(np.uint64(start), np.uint64(stop)):
            fixed[row, zero] = np.int32(np.rint(gradients[row] * gradient_scale))
            fixed[row, one] = np.int32(np.rint(hessians[row] * hessian_scale))
    else:
        for row in range(np.uint64(start), np.uint64(stop)):
            fixed[row, zero] = np.int32(np.rint(gradients[row] * gradient_scale))


@kernel
def larger_of(a, b):
    """Return the larger of two numbers; the first where one is NaN, in one instruction."""
    return b if b > a else a


@kernel
def largest_magnitude(values, start, stop):
    """Return the largest absolute value of rows `start` to `stop`.

    Four run side by side: each comparison waits for the one before it. That takes a third of the time.
    """
    zero, one, two, three, four = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    row, last = np.uint64(start), np.uint64(stop)
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    while row + four <= last:
        a = larger_of(a, abs(values[row + zero]))
        b = larger_of(b, abs(values[row + one]))
        c = larger_of(c, abs(values[row + two]))
        d = larger_of(d, abs(values[row + three]))
        row += four
    while row < last:
        a = larger_of(a, abs(values[row]))
        row += one
    return larger_of(larger_of(a, b), larger_of(c, d))


@kernel
def quantise_chunks(shared, chunk, gradients, hessians, gradient_scale, hessian_scale, fixed):
    """Take chunks of rows until none is left, and write them in fixed point."""
    at = take(shared)
    while at * chunk < gradients.size:
        first, stop = at * chunk, min(gradients.size, (at + 1) * chunk)
        quantise(gradients, hessians, gradient_scale, hessian_scale, first, stop, fixed)
        at = take(shared)


@kernel
def add_rows(codes, sample_indices, start, stop, fixed, offsets, count_bits, packed):
    """Add a node's rows to the packed cells of all columns.

    codes           uint (n_samples, n_features)    in   bin codes; one row is one or two cache lines
    sample_indices  int32 (n_samples,)              in   the node's rows are start to stop of it
    fixed           int32 (n_samples, n_channels)   in   gradient, and hessian
    offsets         uint64 (n_features + 1,)        in   first cell of each column; unsigned, so
                                                         that no index can be negative
    count_bits      int                             in   bits below a gradient's sum, which count rows
    packed          int64 (n_cells, n_channels)     in and out
    """
    zero, one, n_features = np.uint64(0), np.uint64(1), np.uint64(codes.shape[1])
    last_ahead = sample_indices.size - 1 - ROWS_AHEAD  # the next piece's too
    for i in range(start, stop):
        row = np.uint64(sample_indices[i])
        if i <= last_ahead:
            ahead = np.uint64(sample_indices[i + ROWS_AHEAD])
            prefetch_row(codes, ahead)
            prefetch_start(fixed, ahead)
        gradient = (np.int64(fixed[row, zero]) << count_bits) + 1
        if fixed.shape[1] == 1:
            for feature_idx in range(n_features):
                packed[offsets[feature_idx] + np.uint64(codes[row, feature_idx]), zero] += gradient
        else:
            hessian = np.int64(fixed[row, one])
            for feature_idx in range(n_features):
                cell = offsets[feature_idx] + np.uint64(codes[row, feature_idx])
                add_pair(packed, cell, gradient, hessian)


@kernel
def unpack(packed, start, stop, count_bits, histogram):
    """Add the packed cells `start` to `stop` to a histogram.

    packed     int64 (n_cells, n_channels)      in
    histogram  int64 (n_cells, n_channels + 1)  in and out  sums, then the count
    """
    last, mask = histogram.shape[1] - 1, (1 << count_bits) - 1
    for cell in range(start, stop):
        word = packed[cell, 0]
        histogram[cell, 0] += word >> count_bits
        histogram[cell, last] += word & mask
        if last == 2:
            histogram[cell, 1] += packed[cell, 1]
