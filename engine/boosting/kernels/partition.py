"""Row kernels of growing: sums of a node's rows, stable partition without branches, leaf values added.

Sums are float64 over rows in their order, four a node: gradients, hessians, weights, and squared
gradients (each divided by the row's weight, since gradients carry it).
"""

from engine.jit import kernel


@kernel
def sum_rows(sample_indices, start, stop, gradients, hessians, weights, sums):
    """Write the four sums of the rows ``sample_indices[start:stop]``.

    sums  float64 (4,)  out
    """
    g, h, w, s = 0.0, 0.0, 0.0, 0.0
    for i in range(start, stop):
        row = sample_indices[i]
        gradient, weight = gradients[row], weights[row]
        g += gradient
        h += hessians[row]
        w += weight
        s += gradient * gradient / weight
    sums[0], sums[1], sums[2], sums[3] = g, h, w, s


@kernel
def split_rows(
    sample_indices, start, stop, column, goes_left, gradients, hessians, weights, lefts, rights, sums
):
    """Copy the rows that go left and right, in their order; return how many go left.

    column         uint (n_samples,)    in   codes of the column asked about
    goes_left      uint8 (n_codes,)     in   1 for codes whose rows go left
    lefts, rights  int32 (n_samples,)   out  from `start` on; scratch up to `stop`
    sums           float64 (2, 4)       out  of the left rows and of the right rows
    """
    n_left = n_right = start
    gl = hl = wl = sl = gr = hr = wr = sr = 0.0
    for i in range(start, stop):
        row = sample_indices[i]
        is_left = int(goes_left[column[row]])
        lefts[n_left] = row
        rights[n_right] = row
        n_left += is_left
        n_right += 1 - is_left
        g, h, w = gradients[row], hessians[row], weights[row]
        s = g * g / w
        left, right = float(is_left), float(1 - is_left)
        gl += left * g
        hl += left * h
        wl += left * w
        sl += left * s
        gr += right * g
        hr += right * h
        wr += right * w
        sr += right * s
    sums[0, 0], sums[0, 1], sums[0, 2], sums[0, 3] = gl, hl, wl, sl
    sums[1, 0], sums[1, 1], sums[1, 2], sums[1, 3] = gr, hr, wr, sr
    return n_left - start


@kernel
def place_rows(lefts, rights, start, n_left, n_right, left_at, right_at, sample_indices):
    """Write one chunk's left and right rows to their final places; see `split_rows`."""
    for i in range(n_left):
        sample_indices[left_at + i] = lefts[start + i]
    for i in range(n_right):
        sample_indices[right_at + i] = rights[start + i]


@kernel
def add_to_rows(sample_indices, start, stop, value, class_idx, raw_predictions):
    """Add a leaf's value to the raw predictions of its rows.

    raw_predictions  float64 (n_samples, n_raw)  in and out  column `class_idx` changes
    """
    for i in range(start, stop):
        raw_predictions[sample_indices[i], class_idx] += value
