"""Row kernels of growing: stable partition without branches, sums over leaves, leaf values added.

Indices are unsigned: of a signed one numba first asks whether it counts from the end, at twice the cost of
the partition.
"""

import numpy as np

from engine.jit import kernel


@kernel
def find_bounds(sample_indices, stretches, block, bounds):
    """Find where each stretch of ascending rows passes from one block of rows to the next.

    stretches  int64 (n_stretches, 2)             in   start and stop in `sample_indices`
    block      int                                in   rows of a block
    bounds     int64 (n_stretches, n_blocks + 1)  out  places in `sample_indices`
    """
    for stretch in range(bounds.shape[0]):
        at, stop = stretches[stretch, 0], stretches[stretch, 1]
        bounds[stretch, 0] = at
        for i in range(1, bounds.shape[1]):
            low, high = at, stop
            while low < high:
                middle = (low + high) // 2
                if sample_indices[middle] < i * block:
                    low = middle + 1
                else:
                    high = middle
            at = low
            bounds[stretch, i] = at


@kernel
def sum_block(sample_indices, bounds, block_idx, gradients, hessians, weights, sums):
    """Sum over the rows of a block, stretch by stretch, each in its order; `bounds` as in `find_bounds`.

    weights  float64 (n_samples,) or (0,)  in   none where each weighs 1
    sums     float64 (n_stretches, 3)      out  gradients, hessians, weights
    """
    for stretch in range(bounds.shape[0]):
        first, last = bounds[stretch, block_idx], bounds[stretch, block_idx + 1]
        g, h, w = 0.0, 0.0, 0.0
        for i in range(first, last):
            row = np.uint64(sample_indices[i])
            g += gradients[row]
            h += hessians[row]
            if weights.size > 0:
                w += weights[row]
        sums[stretch, 0], sums[stretch, 1] = g, h
        sums[stretch, 2] = w if weights.size > 0 else float(last - first)


@kernel
def add_to_block(sample_indices, bounds, block_idx, values, class_idx, raw_predictions):
    """Add each stretch's value to the raw predictions of its rows in a block.

    values           float64 (n_stretches,)      in
    raw_predictions  float64 (n_samples, n_raw)  in and out  column `class_idx` changes
    """
    for stretch in range(bounds.shape[0]):
        for i in range(bounds[stretch, block_idx], bounds[stretch, block_idx + 1]):
            raw_predictions[np.uint64(sample_indices[i]), class_idx] += values[stretch]


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
