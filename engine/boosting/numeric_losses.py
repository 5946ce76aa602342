"""Losses for numbers beyond the squared error: absolute, quantile, Huber's, and of counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.boosting.losses import Loss, RowLoss, SquaredError
from engine.boosting.quantiles import value_at, weighted_quantile

LARGEST_LOG = 345.0  # exp of it is as large as a target may be
MAX_STEPS = 100

Floats = NDArray[np.float64]


class Quantile(RowLoss):
    """alpha max(y - f, 0) + (1 - alpha) max(f - y, 0), smallest at the alpha-quantile (Koenker 1978)."""

    has_constant_hessian = True  # stands in for second derivatives, which there are none of
    has_curvature = False
    takes_newton_steps = False

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self._under, self._over = alpha, 1.0 - alpha  # cost of a unit that a prediction is too low, too high

    def of_rows(self, raw: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
        residuals = y - raw
        slopes = np.where(residuals > 0, self._under, np.where(residuals < 0, -self._over, 0.0))
        return weights * slopes * residuals, -slopes * weights, weights

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        return np.array([weighted_quantile(y, sample_weight, self.alpha)])

    def best_step(self, raw_predictions: Floats, y: Floats, sample_weight: Floats) -> float:
        return weighted_quantile(y - raw_predictions, sample_weight, self.alpha)

    def step_along(self, raw_predictions: Floats, y: Floats, sample_weight: Floats, change: Floats) -> float:
        """Where the sum of slopes turns from falling to rising: a quantile of residual / change."""
        moves = np.flatnonzero(change)
        if len(moves) == 0:
            return 0.0
        change, weights = change[moves], sample_weight[moves] * np.abs(change[moves])
        with np.errstate(over="ignore"):
            steps = (y - raw_predictions)[moves] / change
        target = float(np.sum(weights * np.where(change > 0, self._under, self._over)))
        jumps = weights * (self._under + self._over)
        step = value_at(steps, jumps, target)
        return max(step, 0.0) if np.isfinite(step) else 0.0


class AbsoluteError(Quantile):
    """abs(y - f), smallest at the median."""

    def __init__(self) -> None:
        super().__init__(0.5)
        self._under = self._over = 1.0


class Huber(RowLoss):
    """Squares up to a residual of delta and absolute errors beyond (Huber 1964; Friedman 2001, section 4.4).

    delta is, round by round, the alpha-quantile of the absolute residuals; the start value and the mean loss
    have the one of the residuals from the median, so that the losses of all rounds are the same thing.
    """

    has_constant_hessian = True  # stands in for the second derivative, which is 0 beyond delta
    has_curvature = False
    takes_newton_steps = False

    def __init__(self, alpha: float) -> None:
        self.alpha = alpha
        self.delta = self.first_delta = 0.0

    def adapt(self, raw_predictions: Floats, y: Floats, sample_weight: Floats) -> None:
        self.delta = self._delta_of(np.abs(y - raw_predictions[:, 0]), sample_weight)

    def _delta_of(self, sizes: Floats, sample_weight: Floats) -> float:
        delta = weighted_quantile(sizes, sample_weight, self.alpha)
        return delta if delta > 0 else float(sizes.max())  # most fit exactly: squares for the others

    def of_rows(self, raw: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
        residuals = y - raw
        sizes = np.abs(residuals)
        inner = np.minimum(sizes, self.first_delta)
        slopes = np.clip(residuals, -self.delta, self.delta)
        return weights * inner * (sizes - inner / 2.0), -slopes * weights, weights

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        """Newton steps from the median, inside a bracket that closes, until the slope is 0."""
        value = weighted_quantile(y, sample_weight, 0.5)
        self.delta = self.first_delta = delta = self._delta_of(np.abs(y - value), sample_weight)
        low, high = float(y.min()), float(y.max())
        for _ in range(MAX_STEPS):
            residuals = y - value
            slope = float(np.sum(sample_weight * np.clip(residuals, -delta, delta)))
            low, high = (value, high) if slope > 0 else (low, value)
            weight = float(np.sum(sample_weight[np.abs(residuals) < delta]))
            step = value + slope / weight if weight > 0 else np.inf
            new = step if low < step < high else low * 0.5 + high * 0.5
            if abs(slope) <= 1e-15 * delta * float(np.sum(sample_weight)) or new in (low, high, value):
                break
            value = new
        return np.array([value])

    def best_step(self, raw_predictions: Floats, y: Floats, sample_weight: Floats) -> float:
        """Median of the residuals and one step from there (Friedman 2001, algorithm 4)."""
        residuals = y - raw_predictions
        median = weighted_quantile(residuals, sample_weight, 0.5)
        beyond = np.clip(residuals - median, -self.delta, self.delta)
        return median + float(np.average(beyond, weights=sample_weight))


class Poisson(RowLoss):
    """Half the deviance of counts, y log(y / m) - y + m, with f = log m."""

    takes_newton_steps = False
    largest_step = 10.0

    def of_rows(self, raw: Floats, y: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
        f = np.minimum(raw, LARGEST_LOG)
        means = np.exp(f)
        logs = y * (np.log(np.where(y > 0, y, 1.0)) - f)
        deviances = np.maximum(logs - (y - means), 0.0)
        return weights * deviances, (means - y) * weights, means * weights

    def baseline(self, y: Floats, sample_weight: Floats) -> Floats:
        return np.array([np.log(np.average(y, weights=sample_weight))])

    def best_step(self, raw_predictions: Floats, y: Floats, sample_weight: Floats) -> float:
        means = np.exp(np.minimum(raw_predictions, LARGEST_LOG))
        with np.errstate(divide="ignore"):  # no event: as far down as a step goes
            step = np.log(np.sum(sample_weight * y)) - np.log(np.sum(sample_weight * means))
        return max(float(step), -self.largest_step) if np.isfinite(step) or step < 0 else 0.0

    @staticmethod
    def answer(raw_predictions: Floats) -> Floats:
        """Expected counts of raw predictions."""
        return np.asarray(np.exp(np.minimum(raw_predictions, LARGEST_LOG)))


def number_loss(name: str, alpha: float) -> Loss:
    """Return the loss of that name for a numeric target."""
    losses: dict[str, Any] = {
        "squared_error": SquaredError, "absolute_error": AbsoluteError, "poisson": Poisson,
        "huber": lambda: Huber(alpha), "quantile": lambda: Quantile(alpha),
    }  # fmt: skip
    loss: Loss = losses[name]()
    return loss
