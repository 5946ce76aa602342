"""Losses of boosting: start value, mean loss, gradients, probabilities (Friedman 2001).

A raw prediction is what the trees add up to: the value itself, its logarithm, the log odds of the second
class, or one score a class. Losses are means per row (weighted), so curves of different tables compare.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.boosting.derivatives import Derivatives
from engine.boosting.kernels import losses as kernels
from engine.boosting.kernels.calls import take
from engine.boosting.team import Team
from engine.parallel import for_chunks

ROW_CHUNK = 16384  # rows numpy works on at a time, 0.1 ms and more
FEW_ROWS = 4096  # rows a kernel does: nobody waits long for the last chunk
LARGEST_EXPONENT = 300.0  # of exp; its square times any sum of weights is finite

Floats = NDArray[np.float64]


class Loss:
    """What growing needs of a loss.

    Attributes
    ----------
    n_raw : int
        Raw predictions a row, and trees a round.
    leaf_factor : float
        Factor on a leaf's Newton step: (K - 1) / K for K classes (Friedman 2001, algorithm 6), as
        every class's tree steps as if the others stood still; else 1.
    has_constant_hessian : bool
        The second derivative is the row's weight.
    has_curvature : bool
        It can be boosted by second derivatives.
    takes_newton_steps : bool
        A first-order leaf takes a Newton step; else `best_step`.
    largest_step : float
        Of a raw prediction in a line search, where no finite step is the best one.
    row_chunk : int
        Rows that are summed by themselves; fixed, so sums have the same bits for any number of threads.
    of_chunks : callable
        Takes chunks of rows, see `kernels.calls.take`; sums their weighted losses and fills the gradients and
        hessians, see `kernels.losses`.
    """

    n_raw = 1
    leaf_factor = 1.0
    has_constant_hessian = False
    has_curvature = True
    takes_newton_steps = True
    largest_step = np.inf
    row_chunk = FEW_ROWS
    of_chunks: Callable[..., None]

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        """The constant that minimises the loss: float64 (n_raw,)."""
        raise NotImplementedError

    def adapt(self, raw_predictions: Floats, y: Floats, sample_weight: Floats) -> None:
        """Take note of the raw predictions that the next round begins with."""

    def best_step(self, raw_predictions: Floats, y: Floats, sample_weight: Floats) -> float:
        """What to add to some rows' raw predictions (n_rows,), the same to all, for the least loss."""
        raise NotImplementedError

    def step_along(self, raw_predictions: Floats, y: Floats, sample_weight: Floats, change: Floats) -> float:
        """The multiple of `change` (n_rows,) from 0 on with the least loss, where there is a closed form."""
        raise NotImplementedError

    @property
    def has_step_along(self) -> bool:
        return type(self).step_along is not Loss.step_along


class RowLoss(Loss):
    """A loss of one raw prediction that numpy works out for a chunk of rows: nothing has to be compiled."""

    row_chunk = ROW_CHUNK

    def of_chunks(
        self, shared: NDArray[np.int64], chunk: int, raw: Floats, y: Floats, weights: Floats,
        derivatives: Derivatives, sums: Floats,
    ) -> None:  # fmt: skip
        gradients, hessians = derivatives.gradients[0], derivatives.hessians[0]
        while (at := int(take(shared))) < len(sums):
            rows = slice(at * chunk, min((at + 1) * chunk, len(y)))
            w = weights[rows] if len(weights) else np.ones(rows.stop - rows.start)
            losses, gradients[rows], hessians[rows] = self.of_rows(raw[rows, 0], y[rows], w)
            sums[at] = np.sum(losses)
            kernels.leave_for_growing(derivatives, at, rows.start, rows.stop)

    def of_rows(self, raw: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the weighted losses of some rows, their gradients and their hessians: each (n_rows,)."""
        raise NotImplementedError


class SquaredError(Loss):
    """Half the squared error, (y - f)^2 / 2."""

    has_constant_hessian = True
    of_chunks = staticmethod(kernels.squared_error_in_chunks)

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        return np.array([np.average(y, weights=sample_weight)])

    def step_along(self, raw_predictions: Floats, y: Floats, sample_weight: Floats, change: Floats) -> float:
        squares = float(np.sum(sample_weight * change * change))
        along = float(np.sum(sample_weight * change * (y - raw_predictions)))
        return max(along / squares, 0.0) if squares > 0 else 0.0


class BinaryLogLoss(Loss):
    """log(1 + exp(-y f)) for two classes; f is the log odds of the second one."""

    largest_step = 8.0
    of_chunks = staticmethod(kernels.binary_log_loss_in_chunks)

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        weights = class_weights(y, sample_weight, 2)
        with np.errstate(divide="ignore"):  # a declared class without rows: probability 0
            return np.array([np.log(weights[1] / weights[0])])

    def probabilities(self, raw_predictions: Floats) -> Floats:
        """Class probabilities, float64 (n_samples, 2)."""
        raw = raw_predictions[:, 0]
        e = np.exp(-np.abs(raw))
        smaller = e / (1.0 + e)
        second = np.where(raw >= 0, 1.0 - smaller, smaller)
        return np.column_stack([np.where(raw >= 0, smaller, 1.0 - smaller), second])


class Exponential(RowLoss):
    """exp(-s f) with s = 1 for class 1 and -1 for class 0: AdaBoost's loss; f is half the log odds."""

    takes_newton_steps = False
    largest_step = 4.0

    def of_rows(self, raw: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
        losses = weights * _exp(np.where(y > 0.5, -raw, raw))
        return losses, np.where(y > 0.5, -losses, losses), losses

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        return BinaryLogLoss().baseline(y, sample_weight) / 2.0

    def best_step(self, raw_predictions: Floats, y: Floats, sample_weight: Floats) -> float:
        """Half the log of what the classes weigh, in closed form (Freund, Schapire 1997)."""
        is_second = y > 0.5
        losses = sample_weight * _exp(np.where(is_second, -raw_predictions, raw_predictions))
        second, first = float(np.sum(losses[is_second])), float(np.sum(losses[~is_second]))
        if first == second:
            return 0.0  # also where both are too small to be told from 0
        with np.errstate(divide="ignore"):
            step = (np.log(second) - np.log(first)) / 2.0
        return float(np.clip(step, -self.largest_step, self.largest_step))

    def probabilities(self, raw_predictions: Floats) -> Floats:
        """Class probabilities, float64 (n_samples, 2)."""
        return BinaryLogLoss().probabilities(2.0 * raw_predictions)


class MultinomialLogLoss(Loss):
    """- log p_y, p the softmax of one raw prediction a class."""

    largest_step = 8.0

    of_chunks = staticmethod(kernels.multinomial_log_loss_in_chunks)

    def __init__(self, n_classes: int) -> None:
        self.n_raw = n_classes
        self.leaf_factor = (n_classes - 1) / n_classes

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        weights = class_weights(y, sample_weight, self.n_raw)
        with np.errstate(divide="ignore"):  # a declared class without rows: probability 0
            return np.asarray(np.log(weights / weights.sum()))

    def probabilities(self, raw_predictions: Floats) -> Floats:
        """Class probabilities, float64 (n_samples, n_classes)."""
        raw = np.ascontiguousarray(raw_predictions)
        filled = np.empty(raw.shape)
        for_chunks(lambda _, start, stop: kernels.softmax(raw, start, stop, filled), len(raw), ROW_CHUNK)
        return filled


def _exp(values: Floats) -> Floats:
    return np.asarray(np.exp(np.minimum(values, LARGEST_EXPONENT)))


def class_loss(name: str, n_classes: int) -> BinaryLogLoss | Exponential | MultinomialLogLoss:
    """Return the loss of that name for so many classes; of one class, or none, there is only one."""
    if n_classes != 2:
        return MultinomialLogLoss(n_classes)
    return Exponential() if name == "exponential" else BinaryLogLoss()


def class_weights(y: Floats, sample_weight: Floats, n_classes: int) -> Floats:
    """Sum of weights of each class: float64 (n_classes,)."""
    sums: Floats = np.bincount(y.astype(np.int64), weights=sample_weight, minlength=n_classes).astype(
        np.float64
    )
    return sums


def sum_losses(
    loss: Loss,
    raw_predictions: Floats,
    y: Floats,
    sample_weight: Floats,
    derivatives: Derivatives,
    team: Team,
) -> float:
    """Return the weighted sum of all rows' losses and fill the derivatives of every row.

    Parameters
    ----------
    raw_predictions : float64 (n_samples, n_raw)
    sample_weight : float64 (n_samples,) or (0,)
        May be left out where each weighs 1.
    derivatives : Derivatives
        Overwritten, but for the scales.
    """
    sums = np.zeros(-(-len(y) // loss.row_chunk))
    chunks = (team.shared, loss.row_chunk, raw_predictions, y, sample_weight, derivatives, sums)
    team.together(lambda _thread: loss.of_chunks(*chunks))
    return float(sums.sum())
