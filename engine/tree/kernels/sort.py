"""Sorting a column: sorted blocks are merged, then values give way to ranks."""

import numpy as np

from engine.jit import kernel
from engine.tree.kernels.layout import MISSING_RANK, ROW_MASK


@kernel
def merge_blocks(values, rows, width, merged_values, merged_rows):
    """Merge neighbouring sorted blocks of `width` two by two; equal values keep their order, NaN is last.

    values, merged_values  float64 (n_rows,)  in, out
    rows, merged_rows      int64 (n_rows,)    in, out
    """
    n_rows = values.size
    for start in range(0, n_rows, 2 * width):
        middle, stop = min(start + width, n_rows), min(start + 2 * width, n_rows)
        i, j = start, middle
        for at in range(start, stop):
            takes_left = i < middle and (j >= stop or values[i] <= values[j] or np.isnan(values[j]))
            source = i if takes_left else j
            merged_values[at], merged_rows[at] = values[source], rows[source]
            i += takes_left
            j += not takes_left


@kernel
def write_order(values, rows, is_level, order):
    """Write a sorted column's entries, ``rank << 32 | row``; see `layout`.

    values    float64 (n_rows,)  in   ascending, NaN last
    rows      int64 (n_rows,)    in   their rows
    is_level  bool               in   the values are codes of levels, and the ranks too
    order     int64 (n_rows,)    out
    """
    rank = np.int64(0)
    for i in range(values.size):
        if np.isnan(values[i]):
            rank = np.int64(MISSING_RANK)
        elif is_level:
            rank = np.int64(values[i])
        elif i > 0 and values[i] != values[i - 1]:
            rank += 1
        order[i] = (rank << 32) | rows[i]


@kernel
def keep_rows(order, n_drawn, kept):
    """Copy the rows of one column's order that were drawn, in their order.

    order    int64 (n_rows,)    in   rank << 32 | row, ascending
    n_drawn  int64 (n_rows,)    in   how often each row was drawn
    kept     int64 (n_kept,)    out  as many as there are rows drawn at least once
    """
    at = 0
    for i in range(order.size):
        if n_drawn[order[i] & ROW_MASK] > 0:
            kept[at] = order[i]
            at += 1
