"""Out-of-bag predictions, and their loss after each member: a row is asked of those that left it out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.base import TrainingData
from engine.predict import as_votes


class OutOfBag:
    """What the members so far say of the rows that they left out.

    The loss is the share of wrong rows for classes, and the mean squared error for numbers, each row with
    its weight.

    Parameters
    ----------
    data : TrainingData
    is_hard : bool
        A member gives its first most probable class one vote, instead of its class fractions.

    Attributes
    ----------
    n_votes : int64 (n_rows,)
        How many members left each row out.
    losses : list of float
        After each member, over the rows that some member left out; NaN while there are none.
    member_losses : list of float
        Of each member alone, over the rows that it left out; NaN where there are none.
    """

    def __init__(self, data: TrainingData, is_hard: bool) -> None:
        self._data, self._is_hard = data, is_hard
        self._sums = np.zeros((data.n_rows, max(data.n_classes, 1)))
        self._row_losses = np.zeros(data.n_rows)
        self.n_votes = np.zeros(data.n_rows, np.int64)
        self.losses: list[float] = []
        self.member_losses: list[float] = []

    def add(self, rows: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        """Take what the next member says of the rows that it left out: float64 (n_left_out, n_outputs)."""
        values = as_votes(values) if self._is_hard else values
        self._sums[rows] += values
        self.n_votes[rows] += 1
        self._row_losses[rows] = self._losses_of(rows, self._sums[rows] / self.n_votes[rows, None])
        weights = self._data.sample_weight
        self.losses.append(_mean(self._row_losses, weights * (self.n_votes > 0)))
        self.member_losses.append(_mean(self._losses_of(rows, values), weights[rows]))

    def means(self) -> NDArray[np.float64]:
        """Return each row's mean over the members that left it out, NaN where none did."""
        voted = self.n_votes > 0
        means = np.full_like(self._sums, np.nan)
        means[voted] = self._sums[voted] / self.n_votes[voted, None]
        return means

    def _losses_of(self, rows: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
        return row_losses(self._data.y[rows], values, self._data.classes is not None)


def row_losses(
    y: NDArray[np.float64], values: NDArray[np.float64], is_classifier: bool
) -> NDArray[np.float64]:
    """Return 1 for each row of another class than the most probable one, or its squared error."""
    if is_classifier:
        return np.asarray(np.argmax(values, axis=1) != y, np.float64)
    return np.asarray((y - values[:, 0]) ** 2)


def _mean(losses: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    total = float(weights.sum())
    return float(losses @ weights) / total if total > 0 else float("nan")
