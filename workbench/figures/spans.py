"""Ends of axes and of bins for values that may be all the same, but for rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROUNDING = 1e-12  # of the larger end: less lies between values that are the same


def apart(low: float, high: float) -> tuple[float, float]:
    """Return two ends as they are, those of a constant so far apart that something can be drawn."""
    largest = max(abs(low), abs(high))
    if high - low > ROUNDING * largest:
        return low, high
    half = largest / 2 or 0.5
    return low - half, high + half


def bin_edges(low: float, high: float, n_bins: int) -> Floats:
    """Return the edges of equal bins from one end to the other."""
    low, high = apart(low, high)
    shares = np.linspace(0.0, 1.0, n_bins + 1)
    return np.asarray(low * (1 - shares) + high * shares)


def mean_and_deviation(answers: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation over the first axis, of equal values exactly that value and 0."""
    from_first = answers - answers[0]
    return np.asarray(answers[0] + from_first.mean(axis=0)), np.asarray(from_first.std(axis=0))
