"""Losses of boosting: start value, mean loss, gradients, probabilities (Friedman 2001).

A raw prediction is what the trees add up to: the value itself, the log odds of the second class, or
one score a class. Losses are means per row (weighted), so curves of different tables compare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.boosting.kernels import losses as kernels
from engine.parallel import for_chunks

ROW_CHUNK = 32768  # rows of a loss pass: about a millisecond; fixed, so sums have the same bits everywhere

Floats = NDArray[np.float64]


class Loss(Protocol):
    """What growing needs of a loss.

    Attributes
    ----------
    n_raw : int
        Raw predictions a row, and trees a round.
    leaf_factor : float
        Factor on a first-order leaf's Newton step: (K - 1) / K for K classes (Friedman 2001,
        algorithm 6), else 1.
    has_constant_hessian : bool
        The second derivative is the row's weight.
    """

    n_raw: int
    leaf_factor: float
    has_constant_hessian: bool
    sum_with_derivatives: Callable[..., float]

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        """The constant that minimises the loss: float64 (n_raw,)."""
        ...


class SquaredError:
    """Half the squared error, (y - f)^2 / 2."""

    n_raw = 1
    leaf_factor = 1.0
    has_constant_hessian = True
    sum_with_derivatives = staticmethod(kernels.squared_error)

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        return np.array([np.average(y, weights=sample_weight)])


class BinaryLogLoss:
    """log(1 + exp(-y f)) for two classes; f is the log odds of the second one."""

    n_raw = 1
    leaf_factor = 1.0
    has_constant_hessian = False
    sum_with_derivatives = staticmethod(kernels.binary_log_loss)

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        weights = class_weights(y, sample_weight, 2)
        with np.errstate(divide="ignore"):  # a declared class without rows: probability 0
            return np.array([np.log(weights[1] / weights[0])])

    @staticmethod
    def probabilities(raw_predictions: Floats) -> Floats:
        """Class probabilities, float64 (n_samples, 2)."""
        raw = raw_predictions[:, 0]
        e = np.exp(-np.abs(raw))
        smaller = e / (1.0 + e)
        second = np.where(raw >= 0, 1.0 - smaller, smaller)
        return np.column_stack([np.where(raw >= 0, smaller, 1.0 - smaller), second])


class MultinomialLogLoss:
    """- log p_y, p the softmax of one raw prediction a class."""

    has_constant_hessian = False
    sum_with_derivatives = staticmethod(kernels.multinomial_log_loss)

    def __init__(self, n_classes: int) -> None:
        self.n_raw = n_classes
        self.leaf_factor = (n_classes - 1) / n_classes

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        weights = class_weights(y, sample_weight, self.n_raw)
        with np.errstate(divide="ignore"):  # a declared class without rows: probability 0
            return np.asarray(np.log(weights / weights.sum()))

    @staticmethod
    def probabilities(raw_predictions: Floats) -> Floats:
        """Class probabilities, float64 (n_samples, n_classes)."""
        raw = np.ascontiguousarray(raw_predictions)
        filled = np.empty(raw.shape)
        for_chunks(lambda _, start, stop: kernels.softmax(raw, start, stop, filled), len(raw), ROW_CHUNK)
        return filled


def class_weights(y: Floats, sample_weight: Floats, n_classes: int) -> Floats:
    """Sum of weights of each class: float64 (n_classes,)."""
    sums: Floats = np.bincount(y.astype(np.int64), weights=sample_weight, minlength=n_classes).astype(
        np.float64
    )
    return sums


def mean_loss(
    loss: Loss,
    raw_predictions: Floats,
    y: Floats,
    sample_weight: Floats,
    derivatives: Any,
    n_jobs: int | None,
) -> float:
    """Return the weighted mean loss and fill the derivatives of every row.

    Parameters
    ----------
    raw_predictions : float64 (n_samples, n_raw)
    derivatives : pair of float64 (n_raw, n_samples)
        Gradients and hessians, overwritten.
    """
    gradients, hessians = derivatives
    n_samples = len(y)
    sums = np.zeros(-(-n_samples // ROW_CHUNK))

    def add_chunk(chunk_idx: int, start: int, stop: int) -> None:
        sums[chunk_idx] = loss.sum_with_derivatives(
            raw_predictions, y, sample_weight, start, stop, gradients, hessians
        )

    for_chunks(add_chunk, n_samples, ROW_CHUNK, n_jobs)
    return float(sums.sum() / sample_weight.sum()) if n_samples else float("nan")
