"""The arithmetic of AdaBoost: weighted error, learner weight, row weights.

SAMME (Zhu, Zou, Rosset, Hastie 2009, algorithm 2) and AdaBoost.R2 (Drucker 1997) are one rule here: a row
has a loss from 0 to 1 (wrong or right; its share of the largest error), a learner weighs by the log odds
of its weighted mean loss, and a row's weight grows by the factor exp(learner weight x loss). Drucker writes
the factor as beta^(1 - loss) with log(1 / beta) as learner weight: the same once weights are normalised.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST_ERROR = 2.0**-52
"""A smaller error, 0 among them, counts as this: the weight of a learner stays finite (36 at K = 2)."""

LEAST_SHARE = 1e-100
"""Rows of a smaller share of the weight are grown on with this: squares of sums of weights stay above 0."""


def shares_of(log_weights: Floats) -> Floats:
    """Return weights that sum to 1 from their logarithms, without overflow: float64 (n_rows,)."""
    weights = np.exp(log_weights - log_weights.max())
    return np.asarray(weights / weights.sum())


def growing_weights(log_weights: Floats) -> Floats:
    """Return weights of mean 1, all positive, as learners are given them.

    Equal weights are exactly 1, so that the first tree is the tree of the rows without weights.
    """
    if np.all(log_weights == log_weights[0]):
        return np.ones(len(log_weights))
    return np.asarray(np.maximum(shares_of(log_weights), LEAST_SHARE) * len(log_weights))


def row_losses(loss: str, predicted: NDArray[Any], y: Floats) -> Floats:
    """Return each row's loss, from 0 to 1: float64 (n_rows,).

    Parameters
    ----------
    loss : "wrong", "linear", "square" or "exponential"
        "wrong": 1 where another class is named. The others: of the absolute error as a share of the
        largest (Drucker 1997, step 5).
    """
    if loss == "wrong":
        return np.asarray(predicted != y, np.float64)
    errors = np.abs(predicted - y)
    largest = errors.max()
    if largest > 0:
        errors = errors / largest
    if loss == "square":
        return np.asarray(errors**2)
    return np.asarray(1.0 - np.exp(-errors) if loss == "exponential" else errors)


def chance_level(n_classes: int) -> float:
    """Return the error of guessing among so many classes (2 in regression): such a learner weighs 0."""
    return 1.0 - 1.0 / max(n_classes, 2)


def learner_weight(error: float, n_classes: int, learning_rate: float) -> float:
    """Return the weight of a learner with a weighted error below chance (contracts D26).

    Parameters
    ----------
    n_classes : int
        2 in regression.
    """
    error = max(error, LEAST_ERROR)
    odds = math.log((1.0 - error) / error)
    return learning_rate * (odds + math.log(max(n_classes, 2) - 1.0))


def reweighted(log_weights: Floats, weight: float, losses: Floats) -> Floats:
    """Return the rows' weights after a round, as logarithms without a common constant."""
    return np.asarray(log_weights + weight * losses)
