"""Intervals from replicates: percentile, basic and BCa (Efron 1987; Efron, Tibshirani 1993, chapter 14)."""

from __future__ import annotations

from math import isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.units import unit_of

Floats = NDArray[np.float64]
PERCENTILE, BASIC, BCA = "percentile", "basic", "BCa"
KINDS = (PERCENTILE, BASIC, BCA)
MIN_REPLICATES = 2


class Interval(NamedTuple):
    """Ends of an interval; NaN where there is none, and why."""

    low: float
    high: float
    why: str = ""


def no_interval(why: str) -> Interval:
    """Return that there is no interval, and why."""
    return Interval(nan, nan, why)


def percentile_interval(replicates: Floats, level: float) -> Interval:
    """Return the middle `level` of the replicates."""
    return _between(replicates, (1 - level) / 2, (1 + level) / 2)


def basic_interval(value: float, replicates: Floats, level: float) -> Interval:
    """Return the percentile interval mirrored at the value: as replicates err, so does the value."""
    low, high, _ = percentile_interval(replicates, level)
    return Interval(value + (value - high), value + (value - low))


def bca_interval(value: float, replicates: Floats, left_out: Floats, level: float) -> Interval:
    """Return percentiles moved for bias, and for a standard error that changes with the value (Efron 1987).

    Parameters
    ----------
    replicates : float64 (n_replicates,)
        Finite. Those that equal the value count half as below it.
    left_out : float64 (n_groups,)
        The statistic without each row, or without each group of rows.
    """
    from scipy.special import ndtr, ndtri

    a = acceleration(left_out)
    if not isfinite(a):
        return no_interval("leaving out rows one by one does not change the value, or leaves none")
    below = (np.count_nonzero(replicates < value) + np.count_nonzero(replicates <= value)) / 2
    z0 = float(ndtri(below / len(replicates)))
    if not isfinite(z0):
        return no_interval("all replicates are on one side of the value")
    ends = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + float(ndtri(share))
        if 1 - a * z <= 0:
            return no_interval("the standard error changes too quickly with the value")
        ends.append(float(ndtr(z0 + z / (1 - a * z))))
    return _between(replicates, *ends)


def acceleration(left_out: Floats) -> float:
    """Return how quickly the standard error changes with the value, by the jackknife (Efron 1987, 6.6).

    Groups of rows do as well as rows: a mean of g rows is less skew by the root of g, and there are as many
    times fewer of them. NaN where nothing changes, or where a value is not defined.
    """
    if len(left_out) < 2 or not np.isfinite(left_out).all():
        return nan
    left_out = left_out / unit_of(left_out)
    influence = left_out.mean() - left_out
    largest = np.abs(influence).max()
    if largest <= 1e-14 * np.abs(left_out).max():  # all the same, but for rounding
        return nan
    influence = influence / largest
    return float((influence**3).sum() / (6 * (influence**2).sum() ** 1.5))


def _between(replicates: Floats, low: float, high: float) -> Interval:
    ends = np.quantile(replicates, [low, high])
    return Interval(float(ends[0]), float(ends[1]))
