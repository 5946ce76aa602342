"""One number chosen on a validation part: a temperature for probabilities, a factor for variances."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, logsumexp

from engine.uncertainty import mixture_log_density

BOUNDS = math.log(1e-3), math.log(1e3)
PRECISION = 1e-6  # of the logarithm

Floats = NDArray[np.float64]


def best_temperature(
    outputs: Floats, codes: NDArray[np.intp], sample_weight: Floats, check: Callable[[], None] = lambda: None
) -> float:
    """Return the temperature with the least log loss of the mean probabilities (Guo et al. 2017).

    Parameters
    ----------
    outputs : float64 (n_members, n_rows, n_classes)
        Before the softmax; they are divided by the temperature.
    codes : intp (n_rows,)
    sample_weight : float64 (n_rows,)
    check : callable, optional
        Called before every trial; an exception ends the search.
    """
    rows = np.arange(len(codes))

    def loss(log_temperature: float) -> float:
        check()
        logs = log_softmax(outputs / math.exp(log_temperature), axis=2)[:, rows, codes]
        return -float(np.average(logsumexp(logs, axis=0), weights=sample_weight))

    return _least(loss)


def best_variance_factor(
    y: Floats, means: Floats, variances: Floats, sample_weight: Floats,
    check: Callable[[], None] = lambda: None,
) -> float:  # fmt: skip
    """Return the factor on the mixture's variance with which a validation part is most likely.

    Parameters
    ----------
    means, variances : float64 (n_members, n_rows)
    check : callable, optional
        Called before every trial; an exception ends the search.
    """

    def loss(log_factor: float) -> float:
        check()
        log_density = mixture_log_density(y, *widened(means, variances, math.exp(log_factor)))
        return -float(np.average(log_density, weights=sample_weight))

    return _least(loss)


def widened(means: Floats, variances: Floats, factor: float) -> tuple[Floats, Floats]:
    """Return a mixture with the same mean and shape, and `factor` times its variance, both parts of it."""
    mean = means.mean(axis=0)
    return mean + math.sqrt(factor) * (means - mean), factor * variances


def _least(loss: Callable[[float], float]) -> float:
    found = minimize_scalar(loss, bounds=BOUNDS, method="bounded", options={"xatol": PRECISION})
    return math.exp(float(found.x)) if found.fun <= loss(0.0) else 1.0
