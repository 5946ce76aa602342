"""Row kernels of growing: stable partition without branches, sums over leaves, leaf values added.

Indices are unsigned: of a signed one numba first asks whether it counts from the end, at twice the cost of
the partition.
"""

import numpy as np

from engine.boosting.kernels.calls import take
from engine.jit import kernel


@kernel
def first_not_below(sample_indices, start, stop, row):
    """Return the first place from `start` to `stop`, where rows ascend, whose row is not below `row`."""
    while start < stop:
        middle = (start + stop) // 2
        if sample_indices[middle] < row:
            start = middle + 1
        else:
            stop = middle
    return start


@kernel
def find_bounds(sample_indices, stretches, first_row, last_row, bounds):
    """Find which part of each stretch of ascending rows has rows from `first_row` up to before `last_row`.

    stretches  int64 (n_stretches, 2)  in   start and stop in `sample_indices`
    bounds     int64 (n_stretches, 2)  out  likewise
    """
    for stretch in range(bounds.shape[0]):
        start, stop = stretches[stretch, 0], stretches[stretch, 1]
        at = first_not_below(sample_indices, start, stop, first_row)
        stop = min(stop, at + last_row - first_row)  # the block has no more rows
        bounds[stretch, 0] = at
        bounds[stretch, 1] = first_not_below(sample_indices, at, stop, last_row)


@kernel
def sum_block(sample_indices, bounds, gradients, hessians, weights, sums):
    """Sum over the rows of a block, stretch by stretch.

    bounds   int64 (n_stretches, 2)        in   see `find_bounds`
    weights  float64 (n_samples,) or (0,)  in   none where each weighs 1
    sums     float64 (n_stretches, 3)      out  gradients, hessians, weights
    """
    one, two = np.uint64(1), np.uint64(2)
    for stretch in range(bounds.shape[0]):
        i, last = np.uint64(bounds[stretch, 0]), np.uint64(bounds[stretch, 1])
        g, h, w = 0.0, 0.0, 0.0 if weights.size > 0 else float(bounds[stretch, 1] - bounds[stretch, 0])
        other_g, other_h, other_w = 0.0, 0.0, 0.0  # each addition waits for the one before: two side by side
        while i + two <= last:
            row, other = np.uint64(sample_indices[i]), np.uint64(sample_indices[i + one])
            g += gradients[row]
            h += hessians[row]
            other_g += gradients[other]
            other_h += hessians[other]
            if weights.size > 0:
                w += weights[row]
                other_w += weights[other]
            i += two
        if i < last:
            row = np.uint64(sample_indices[i])
            g += gradients[row]
            h += hessians[row]
            if weights.size > 0:
                w += weights[row]
        sums[stretch, 0], sums[stretch, 1], sums[stretch, 2] = g + other_g, h + other_h, w + other_w


@kernel
def add_to_block(sample_indices, bounds, values, class_idx, raw_predictions):
    """Add each stretch's value to the raw predictions of its rows in a block.

    bounds           int64 (n_stretches, 2)      in          see `find_bounds`
    values           float64 (n_stretches,)      in
    raw_predictions  float64 (n_samples, n_raw)  in and out  column `class_idx` changes
    """
    column = np.uint64(class_idx)
    for stretch in range(bounds.shape[0]):
        value = values[stretch]
        for i in range(np.uint64(bounds[stretch, 0]), np.uint64(bounds[stretch, 1])):
            raw_predictions[np.uint64(sample_indices[i]), column] += value


@kernel
def sum_blocks(shared, block, sample_indices, stretches, bounds, gradients, hessians, weights, sums):
    """Take blocks of rows until none is left, find where the stretches have them, and sum over them.

    block   int                                  in   rows of one
    bounds  int64 (n_blocks, n_stretches, 2)     out  see `find_bounds`
    sums    float64 (n_blocks, n_stretches, 3)   out  see `sum_block`
    """
    at = take(shared)
    while at < bounds.shape[0]:
        find_bounds(sample_indices, stretches, at * block, (at + 1) * block, bounds[at])
        sum_block(sample_indices, bounds[at], gradients, hessians, weights, sums[at])
        at = take(shared)


@kernel
def add_to_blocks(shared, sample_indices, bounds, values, class_idx, raw_predictions):
    """Take blocks of rows until none is left, and add the stretches' values to their raw predictions.

    bounds  int64 (n_blocks, n_stretches, 2)  in  as `sum_blocks` found them
    """
    at = take(shared)
    while at < bounds.shape[0]:
        add_to_block(sample_indices, bounds[at], values, class_idx, raw_predictions)
        at = take(shared)


@kernel
def split_rows(sample_indices, start, stop, column, goes_left, lefts, rights):
    """Copy the rows that go left and right, in their order; return how many go left.

    column         uint (n_samples,)    in   codes of the column asked about
    goes_left      uint8 (n_codes,)     in   1 for codes whose rows go left
    lefts, rights  int32 (n_samples,)   out  from `start` on; scratch up to `stop`
    """
    one = np.uint64(1)
    n_left = n_right = np.uint64(start)
    for i in range(np.uint64(start), np.uint64(stop)):
        row = sample_indices[i]
        is_left = np.uint64(goes_left[np.uint64(column[np.uint64(row)])])
        lefts[n_left] = row
        rights[n_right] = row
        n_left += is_left
        n_right += one - is_left
    return np.int64(n_left) - start


@kernel
def place_rows(lefts, rights, start, n_left, n_right, left_at, right_at, sample_indices):
    """Write one chunk's left and right rows to their final places; see `split_rows`."""
    begin, left_begin, right_begin = np.uint64(start), np.uint64(left_at), np.uint64(right_at)
    for i in range(np.uint64(n_left)):
        sample_indices[left_begin + i] = lefts[begin + i]
    for i in range(np.uint64(n_right)):
        sample_indices[right_begin + i] = rights[begin + i]
