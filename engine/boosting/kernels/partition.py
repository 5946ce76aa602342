"""Row kernels of growing: stable partition without branches, sums over leaves, leaf values added.

Indices are unsigned: of a signed one numba first asks whether it counts from the end, at twice the cost of
the partition.
"""

import numpy as np

from engine.jit import kernel


@kernel
def sum_pieces(sample_indices, pieces, first, last, gradients, hessians, weights, sums):
    """Sum over pieces of rows, each in its order.

    pieces  int64 (n_pieces, 2)    in   start and stop in `sample_indices`
    sums    float64 (n_pieces, 3)  out  gradients, hessians, weights of the pieces `first` to `last`
    """
    for piece in range(first, last):
        g, h, w = 0.0, 0.0, 0.0
        for i in range(pieces[piece, 0], pieces[piece, 1]):
            row = np.uint64(sample_indices[i])
            g += gradients[row]
            h += hessians[row]
            w += weights[row]
        sums[piece, 0], sums[piece, 1], sums[piece, 2] = g, h, w


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


@kernel
def add_to_rows(sample_indices, start, stop, value, class_idx, raw_predictions):
    """Add a leaf's value to the raw predictions of its rows.

    raw_predictions  float64 (n_samples, n_raw)  in and out  column `class_idx` changes
    """
    for i in range(start, stop):
        raw_predictions[np.uint64(sample_indices[i]), class_idx] += value
