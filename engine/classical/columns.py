"""What models that measure distances or add up columns read: no gap, one scale, a column for every level."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

Floats = NDArray[np.float64]
FARTHEST = 1e30  # standard deviations; beyond, the square of a distance could be infinite


class PreparedColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn an encoded table into numbers without gaps: imputed, scaled, one-hot encoded.

    - Numbers are scaled to mean 0 and standard deviation 1 of the training rows, by weight; a missing one
      becomes the mean, 0. A column that has one value becomes 0.
    - A category becomes a column for each level, 1 in rows of the level; in rows with a level that training
      never saw, or with none, all of them are 0.
    - A column that has gaps among the training rows gets one more: 1 where it is missing.

    Parameters
    ----------
    n_levels : sequence of int
        Of every column: how many levels it has; 0 of a number.

    Attributes
    ----------
    unit_, low_, centre_, spread_ : float64 (n_columns,)
        A number x becomes ``((x / unit - low) - centre) / spread``: in steps, so that neither the largest
        double nor neighbouring ones are lost.
    has_gaps_ : bool (n_columns,)
    """

    def __init__(self, n_levels: Any = ()) -> None:
        self.n_levels = n_levels

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn scales and gaps from an encoded table, whose rows all have positive weight."""
        X = np.asarray(X, np.float64)
        weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        self.n_features_in_ = X.shape[1]
        self.has_gaps_ = np.isnan(X).any(axis=0)
        self.unit_, self.low_, self.centre_, self.spread_ = (np.empty(X.shape[1]) for _ in range(4))
        for column in range(X.shape[1]):
            scale = _scale_of(X[:, column], weights)
            self.unit_[column], self.low_[column], self.centre_[column], self.spread_[column] = scale
        return self

    def transform(self, X: Any) -> Floats:
        """Return the columns of an encoded table: float64 (n_rows, n_prepared)."""
        X = np.asarray(X, np.float64)
        parts = []
        for column, n_levels in enumerate(self.n_levels):
            if not n_levels:
                parts.append(self._scaled(X[:, column], column)[:, None])
            parts += self._levels_and_gap(X[:, column], column)
        return np.ascontiguousarray(np.concatenate(parts, axis=1))

    def _levels_and_gap(self, values: Floats, column: int) -> list[Floats]:
        """Return the 0/1 columns of a column: of its levels, and of its gaps."""
        parts = []
        if n_levels := self.n_levels[column]:
            parts.append((values[:, None] == np.arange(n_levels)).astype(np.float64))
        if self.has_gaps_[column]:
            parts.append(np.isnan(values).astype(np.float64)[:, None])
        return parts

    def _scaled(self, values: Floats, column: int) -> Floats:
        with np.errstate(over="ignore"):  # what is farther than the farthest is taken to be there
            scaled = (values / self.unit_[column] - self.low_[column]) - self.centre_[column]
            scaled = np.clip(scaled / self.spread_[column], -FARTHEST, FARTHEST)
        return np.where(np.isnan(scaled), 0.0, scaled)


def _scale_of(values: Floats, weights: Floats) -> tuple[float, float, float, float]:
    """Return unit, low, centre and spread of a number's present values."""
    present = ~np.isnan(values)
    if not present.any() or values[present].min() == values[present].max():
        return 1.0, 0.0, 0.0, np.inf  # whatever is divided by infinity is 0
    values, weights = values[present], weights[present] / weights[present].max()
    unit = float(np.abs(values).max())
    in_units = values / unit
    low = float(in_units.min())
    above = in_units - low
    centre = float(np.average(above, weights=weights))
    return unit, low, centre, float(np.sqrt(np.average((above - centre) ** 2, weights=weights)))
