"""Taking rows out of a sorted column."""

from engine.jit import kernel
from engine.tree.kernels.layout import ROW_MASK


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
