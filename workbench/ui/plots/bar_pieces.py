"""How a bar is divided among the classes of a node."""

from __future__ import annotations

import numpy as np


def bar_pieces(shares: np.ndarray, width: float) -> list[tuple[int, float, float]]:
    """Divide a bar among the classes present: class, left and width of each piece.

    One pixel between pieces, and at least two for a class that is present at all.
    """
    present = np.flatnonzero(np.asarray(shares) > 0)
    if not len(present):
        return []
    room = width - (len(present) - 1)
    widths = np.maximum(np.asarray(shares)[present] * room, 2.0)
    surplus = widths.sum() - room
    wide = widths > 2.0
    if surplus > 0 and wide.any():  # the small ones' extra comes from the large ones in proportion
        widths[wide] -= surplus * (widths[wide] - 2.0) / (widths[wide] - 2.0).sum()
    lefts = np.concatenate([[0.0], np.cumsum(widths + 1)[:-1]])
    return [(int(c), float(x), float(w)) for c, x, w in zip(present, lefts, widths, strict=True)]
