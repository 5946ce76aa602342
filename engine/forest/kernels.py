"""Kernels of the forest: which rows a tree grows on."""

from engine.jit import kernel


@kernel
def keep_drawn(order, n_drawn, kept):
    """Copy the drawn rows of one column's order, in their order.

    order    int32 (n_rows,)    in   rows by ascending value
    n_drawn  int64 (n_rows,)    in   how often each row was drawn
    kept     int32 (n_kept,)    out  as many as there are rows drawn at least once
    """
    at = 0
    for i in range(order.size):
        row = order[i]
        if n_drawn[row] > 0:
            kept[at] = row
            at += 1
