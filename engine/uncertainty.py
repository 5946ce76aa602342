"""What a model does not know: spread of its members, and what they agree is noise (contracts D23)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, ndtr, ndtri

N_HALVINGS = 60  # of an interval that holds a quantile: to the last bit of a double, or nearly

Floats = NDArray[np.float64]


class Uncertainty(NamedTuple):
    """A prediction and its two kinds of uncertainty.

    Attributes
    ----------
    mean : float64 (n_samples,) or (n_samples, n_classes)
        The prediction: mean of the members' means, or of their class probabilities.
    std : float64 like mean
        Of numbers: standard deviation of the prediction, the root of both parts together. Of classes:
        standard deviation of the members' probabilities.
    aleatoric : float64 (n_samples,)
        Noise that the members expect: mean of their variances, or mean entropy in nats.
    epistemic : float64 (n_samples,)
        How far they disagree: variance of their means, or mutual information in nats.
    """

    mean: Floats
    std: Floats
    aleatoric: Floats
    epistemic: Floats


def of_numbers(means: Floats, variances: Floats) -> Uncertainty:
    """Return the moments of an equal mixture (Lakshminarayanan, Pritzel, Blundell 2017, section 2.4).

    Parameters
    ----------
    means, variances : float64 (n_members, n_samples)
    """
    mean = means.mean(axis=0)
    aleatoric = variances.mean(axis=0)
    epistemic = ((means - mean) ** 2).mean(axis=0)
    return Uncertainty(mean, np.sqrt(aleatoric + epistemic), aleatoric, epistemic)


def of_classes(probabilities: Floats) -> Uncertainty:
    """Return mean probabilities, mean entropy and mutual information (Depeweg et al. 2018, equation 3).

    Parameters
    ----------
    probabilities : float64 (n_members, n_samples, n_classes)
    """
    mean = probabilities.mean(axis=0)
    aleatoric = entr(probabilities).sum(axis=2).mean(axis=0)
    total = entr(mean).sum(axis=1)
    epistemic = np.maximum(total - aleatoric, 0.0)  # never below 0 but by rounding
    return Uncertainty(mean, probabilities.std(axis=0), aleatoric, epistemic)


def mixture_quantile(share: float, means: Floats, variances: Floats) -> Floats:
    """Return where the distribution function of an equal mixture of Gaussians reaches a share.

    The equation mean of Phi((x - m) / s) = share is solved by halving, between the smallest and the
    largest of the members' own quantiles. A member without variance is a step at its mean.

    Parameters
    ----------
    share : float
        Above 0 and below 1.
    means, variances : float64 (n_members, n_samples)

    Returns
    -------
    float64 (n_samples,)
    """
    stds = np.sqrt(variances)
    own = means + ndtri(share) * stds
    lower, upper = own.min(axis=0), own.max(axis=0)
    for _ in range(N_HALVINGS):
        middle = lower * 0.5 + upper * 0.5
        is_below = _distribution(middle, means, stds) < share
        lower, upper = np.where(is_below, middle, lower), np.where(is_below, upper, middle)
    return np.asarray(lower * 0.5 + upper * 0.5)


def mixture_log_density(y: Floats, means: Floats, variances: Floats) -> Floats:
    """Return the logarithm of the density of an equal mixture of Gaussians at `y`: float64 (n_samples,)."""
    parts = -0.5 * (np.log(2 * np.pi * variances) + (y - means) ** 2 / variances)
    largest = parts.max(axis=0)
    return np.asarray(largest + np.log(np.exp(parts - largest).mean(axis=0)))


def _distribution(x: Floats, means: Floats, stds: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (x - means) / stds
    steps = np.where(x >= means, 1.0, 0.0)
    return np.asarray(np.where(stds > 0, ndtr(z), steps).mean(axis=0))
