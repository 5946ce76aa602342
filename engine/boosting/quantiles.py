"""Weighted quantiles: where sums of absolute errors are smallest (Koenker, Bassett 1978)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-12  # share of all weights by which a sum of some may be off

Floats = NDArray[np.float64]


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the value with `share` of the weight at or below it, the middle where two are as good.

    It minimises the weighted sum of ``share * max(v - q, 0) + (1 - share) * max(q - v, 0)`` over q.

    Parameters
    ----------
    values, weights : float64 (n,), n > 0
        Weights are positive.
    share : float from 0 to 1
    """
    if weights[0] == weights.min() == weights.max():
        return _plain_quantile(values, share)
    order = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order])
    return _at(values[order], sums, share * float(sums[-1]))


def value_at(values: Floats, weights: Floats, target: float) -> float:
    """Return the first value, ascending, whose weights with all below come up to `target`."""
    order = np.argsort(values, kind="stable")
    return _at(values[order], np.cumsum(weights[order]), target)


def _at(ascending: Floats, sums: Floats, target: float) -> float:
    slack, last = ROUNDING * float(sums[-1]), len(sums) - 1
    at = min(int(np.searchsorted(sums, target - slack)), last)
    is_tie = sums[at] <= target + slack and at < last
    return _middle(float(ascending[at]), float(ascending[at + 1])) if is_tie else float(ascending[at])


def _plain_quantile(values: Floats, share: float) -> float:
    n = len(values)
    below = share * n
    first = min(max(int(np.ceil(below - ROUNDING * n)) - 1, 0), n - 1)
    second = min(first + 1, n - 1) if first + 1 <= below + ROUNDING * n else first
    parted = np.partition(values, sorted({first, second}))
    return _middle(float(parted[first]), float(parted[second]))


def _middle(low: float, high: float) -> float:
    return low if low == high else low * 0.5 + high * 0.5
