"""Whether models know how sure they are: probabilities and intervals against what happened.

Weights are those of `fit` (contracts D10): rows of weight 0 are left out, a row of weight 2 counts as two.
How many rows there really are is told by Kish's effective number, (sum w)^2 / sum w^2 (Kish 1965).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from engine.features import take_rows
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch

N_BINS = 10
NOMINAL_COVERAGES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
ROWS_PER_QUESTION = 2048  # rows asked for their intervals between two questions to the monitor
ROWS_OF_MOMENTS = 16384  # of those that tell a standard deviation alone, which is quicker

Floats = NDArray[np.float64]


class Reliability(NamedTuple):
    """A reliability diagram: what happened of the rows whose probability lies in a bin.

    Attributes
    ----------
    edges : float64 (n_bins + 1,)
        Equally far apart from 0 to 1. A bin holds its upper edge; the first one holds 0 too.
    n_rows : int64 (n_bins,)
        Rows of positive weight.
    n_effective : float64 (n_bins,)
        Kish's effective number of them.
    weight : float64 (n_bins,)
        Their share of all weight.
    predicted : float64 (n_bins,)
        Their mean probability, by weight; NaN in an empty bin.
    observed : float64 (n_bins,)
        How much of their weight it happened to; NaN in an empty bin.
    calibration_error : float
        Sum over the bins of ``weight * abs(observed - predicted)``; NaN without rows.
    """

    edges: Floats
    n_rows: NDArray[np.int64]
    n_effective: Floats
    weight: Floats
    predicted: Floats
    observed: Floats
    calibration_error: float


def reliability(
    probabilities: Floats, happened: NDArray[np.bool_], sample_weight: Floats | None = None,
    n_bins: int = N_BINS,
) -> Reliability:  # fmt: skip
    """Bin rows by a probability and compare its mean with how often the event happened.

    The diagram is DeGroot's and Fienberg's (1983); the expected calibration error over bins of equal width
    that of Naeini, Cooper and Hauskrecht (2015), bins closed above as in Guo et al. (2017), equation 2.

    Parameters
    ----------
    probabilities : float64 (n_samples,)
        From 0 to 1.
    happened : bool (n_samples,)
    sample_weight : float64 (n_samples,), optional
    """
    weights = np.ones(len(probabilities)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    is_counted = weights > 0
    p, event, w = probabilities[is_counted], happened[is_counted], weights[is_counted]
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    bins = _bins_of(p, edges)

    def total(of: Floats | None = None) -> Floats:
        return np.bincount(bins, of, n_bins).astype(np.float64)

    w = w / w.max() if len(w) else w  # squares of any weights are finite
    sums = total(w)
    with np.errstate(invalid="ignore"):  # empty bins
        predicted, observed = total(w * p) / sums, total(w * event) / sums
        n_effective = np.where(sums > 0, sums**2 / total(w**2), 0.0)
        share = sums / sums.sum()
    error = float(np.nansum(share * abs(observed - predicted))) if len(w) else float("nan")
    return Reliability(edges, total().astype(np.int64), n_effective, share, predicted, observed, error)


def _bins_of(p: Floats, edges: Floats) -> NDArray[np.intp]:
    """Return the bin of every probability, upper edges in: five times as quick as a binary search."""
    last = len(edges) - 2
    bins = np.clip(np.ceil(p * (last + 1)).astype(np.intp) - 1, 0, last)
    bins += (p > edges[bins + 1]) & (bins < last)  # rounding: 0.3 times 10 may lie on either side of 3
    bins -= (p <= edges[bins]) & (bins > 0)
    return bins


class Coverage(NamedTuple):
    """How many rows lie in intervals that are meant to hold a given share of them.

    Attributes
    ----------
    nominal : float64 (n_levels,)
    covered : float64 (n_levels,)
        Share of the rows' weight whose target lies in its interval, ends included.
    mean_width : float64 (n_levels,)
        Of the intervals, by weight, in the unit of the target.
    n_rows : int
        Rows of positive weight.
    n_effective : float
        Kish's effective number of them.
    stopped : bool
        It was stopped: the rows are the first `n_rows` only.
    """

    nominal: Floats
    covered: Floats
    mean_width: Floats
    n_rows: int
    n_effective: float
    stopped: bool = False


def tells_intervals(model: Any) -> bool:
    """Tell whether a fitted model of numbers has intervals, or a standard deviation to make them of."""
    return hasattr(model, "predict_interval") or hasattr(model, "predict_uncertainty")


def predicted_intervals(model: Any, X: Any, nominal: Sequence[float] = NOMINAL_COVERAGES) -> Floats:
    """Return the ends of a model's intervals: float64 (n_levels, n_samples, 2).

    Those of `predict_interval`; of a model that tells no distribution, but a mean and a standard deviation,
    those of the Gaussian that has them. NaN where it knows no standard deviation.
    """
    if hasattr(model, "predict_interval"):
        return np.stack([np.asarray(model.predict_interval(X, coverage)) for coverage in nominal])
    told = model.predict_uncertainty(X)
    reach = ndtri(0.5 + np.asarray(nominal, np.float64) / 2)[:, np.newaxis] * told.std
    return np.stack([told.mean - reach, told.mean + reach], axis=2)


def interval_coverage(
    model: Any, X: Any, y: Floats, sample_weight: Floats | None = None,
    nominal: Sequence[float] = NOMINAL_COVERAGES, *, monitor: FitMonitor = NULL_MONITOR,
) -> Coverage | None:  # fmt: skip
    """Count how much of the rows' weight lies in the model's intervals, level by level.

    Parameters
    ----------
    model : fitted regressor of which `tells_intervals` is true
    X : DataFrame (n_samples, n_features) or array of that shape
    y : float64 (n_samples,)
    monitor : FitMonitor
        Asked between blocks of rows; a stop leaves what was counted by then.

    Returns
    -------
    Coverage or None
        None where the model does not know its standard deviation after all, or no row was counted.
    """
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    rows = np.flatnonzero(weights > 0)
    hits, widths = np.zeros((2, len(nominal), len(rows)))
    n_done, is_stopped, clock = 0, False, Stopwatch()
    n_at_once = ROWS_PER_QUESTION if hasattr(model, "predict_interval") else ROWS_OF_MOMENTS
    while n_done < len(rows) and not is_stopped:
        block = rows[n_done : n_done + n_at_once]
        low, high = np.moveaxis(predicted_intervals(model, take_rows(X, block), nominal), 2, 0)
        if not np.isfinite(high - low).all():
            return None
        done = slice(n_done, n_done + len(block))
        hits[:, done], widths[:, done] = (low <= y[block]) & (y[block] <= high), high - low
        n_done = done.stop
        event = IterationEvent("counting", n_done, len(rows), n_done / len(rows), clock.elapsed_s)
        is_stopped = monitor.on_iteration(event)
    if not n_done:
        return None
    w = weights[rows[:n_done]] / weights.max()
    covered, mean_width = (np.average(of[:, :n_done], axis=1, weights=w) for of in (hits, widths))
    n_effective = float(w.sum() ** 2 / (w**2).sum())
    levels = np.asarray(nominal, np.float64)
    return Coverage(levels, covered, mean_width, n_done, n_effective, n_done < len(rows))
