"""What a polynomial is a sum of: powers and products of numbers, each on one scale."""

from __future__ import annotations

from math import comb
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import PolynomialFeatures

from engine.classical.columns import PreparedColumns

Floats = NDArray[np.float64]
TERMS = ("all", "powers")
MAX_DEGREE = 20
MAX_TERMS = 2000  # columns that a table is turned into: least squares take their square times the rows
MAX_CELLS = 100_000_000  # of these columns: 0.8 GB, of which least squares hold up to five copies
ROUNDING = 1e-12
FARTHEST = 1e6  # half ranges off the middle; the largest power of what is beyond could be infinite


def n_terms(n_numbers: int, degree: int, terms: str) -> int:
    """Return how many powers and products are made of so many numbers."""
    return n_numbers * degree if terms == "powers" else comb(n_numbers + degree, degree) - 1


class PolynomialColumns(PreparedColumns):
    """Turn an encoded table into powers and products of its numbers, beside its categories' levels.

    Numbers are moved to -1..1 over the training rows, so that their powers differ as much as they can, and
    every power or product is then scaled to mean 0 and standard deviation 1, by weight. Levels and gaps are
    0/1 columns as in `PreparedColumns`: a power of one is itself, so none is made.

    Parameters
    ----------
    n_levels : sequence of int
        Of every column: how many levels it has; 0 of a number.
    degree : int
        Largest sum of exponents.
    terms : "all" or "powers"
        All powers and products (scikit-learn's `PolynomialFeatures`), or the powers of single columns.

    Attributes
    ----------
    middle_, half_ : float64 (n_numbers,)
        A scaled number z becomes ``(z - middle) / half``.
    mean_, deviation_ : float64 (n_terms,)
        A power or product p becomes ``(p - mean) / deviation``.
    """

    def __init__(self, n_levels: Any = (), degree: int = 2, terms: str = "all") -> None:
        super().__init__(n_levels)
        self.degree = degree
        self.terms = terms

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn all scales from an encoded table, whose rows all have positive weight."""
        super().fit(X, sample_weight=sample_weight)
        numbers = self._numbers(np.asarray(X, np.float64))
        low, high = numbers.min(axis=0), numbers.max(axis=0)
        self.middle_, half = (low + high) / 2, (high - low) / 2
        self.half_ = np.where(half > 0, half, np.inf)  # whatever is divided by infinity is 0
        made = self._powers(numbers)
        shares = np.ones(len(made)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        shares = shares / shares.sum()
        self.mean_ = shares @ made
        spread = np.sqrt(shares @ (made - self.mean_) ** 2)
        varies = spread > ROUNDING * np.abs(made).max(axis=0, initial=0)  # the square of -1 and 1 does not
        self.deviation_ = np.where(varies, spread, np.inf)
        return self

    def transform(self, X: Any) -> Floats:
        """Return powers and products, then levels and gaps: float64 (n_rows, n_made)."""
        X = np.asarray(X, np.float64)
        made = self._powers(self._numbers(X))
        made -= self.mean_
        made /= self.deviation_
        parts = [part for k in range(X.shape[1]) for part in self._levels_and_gap(X[:, k], k)]
        return np.ascontiguousarray(np.concatenate([made, *parts], axis=1))

    def _numbers(self, X: Floats) -> Floats:
        """Return the columns that are numbers, scaled and without gaps: float64 (n_rows, n_numbers)."""
        scaled = [self._scaled(X[:, k], k) for k, n_levels in enumerate(self.n_levels) if not n_levels]
        return np.column_stack(scaled) if scaled else np.empty((len(X), 0))

    def _powers(self, numbers: Floats) -> Floats:
        """Return powers and products of scaled numbers: float64 (n_rows, n_terms)."""
        if not numbers.shape[1]:
            return numbers
        near = np.clip((numbers - self.middle_) / self.half_, -FARTHEST, FARTHEST)
        if self.terms == "powers":
            return np.concatenate([near**exponent for exponent in range(1, self.degree + 1)], axis=1)
        return np.asarray(PolynomialFeatures(self.degree, include_bias=False).fit_transform(near))
