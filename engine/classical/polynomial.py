"""`PolynomialRegressor`: least squares over powers and products of the columns."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import Pipeline

from engine.base import TrainingData
from engine.classical.base import ClassicalRegressor
from engine.classical.parameters import POLYNOMIAL_REGRESSOR
from engine.classical.powers import MAX_CELLS, MAX_TERMS, PolynomialColumns, n_terms
from engine.errors import ParameterError
from engine.monitor import FitMonitor

SMALLEST_SHARE = 1e-13
"""Of the largest singular value: below, a direction is rounding. scikit-learn's own 1e-6 lies above what
powers of degree 20 are told apart by, and leaves them out."""

_PASSES = 5.0  # over the terms of a row: they are made, centred, scaled, copied and added up


class PolynomialRegressor(ClassicalRegressor):
    """Polynomial regression: least squares over powers and products of the numbers (Gergonne 1815).

    scikit-learn's `PolynomialFeatures` and linear models, on columns that are prepared as in
    `engine.classical.powers`; categories enter as they are, and the intercept is not shrunk.

    Parameters
    ----------
    degree : int, default 2
        Largest sum of exponents in a term; 1 is a straight line or plane.
    terms : "all" or "powers", default "all"
        "all": powers and products of columns. "powers": those of single columns, so that what a column
        adds does not depend on the others.
    alpha : float, default 0
        Penalty on the squared coefficients of terms that are scaled to standard deviation 1; 0 is plain
        least squares, the shortest coefficients where rows leave them open.
    categorical_features : "from_dtype", None or sequence, default "from_dtype"
        See `engine.features.learn_features`.

    Attributes
    ----------
    pipeline_ : sklearn.pipeline.Pipeline
        Over the encoded table.
    features_ : tuple of FeatureSpec
    stopped_ : bool
        A monitor ended the fit; the model is a constant.
    """

    _table = POLYNOMIAL_REGRESSOR
    _scales_target = True

    def __init__(
        self, *, degree: int = 2, terms: str = "all", alpha: float = 0.0,
        categorical_features: Any = "from_dtype",
    ) -> None:  # fmt: skip
        self.degree = degree
        self.terms = terms
        self.alpha = alpha
        self.categorical_features = categorical_features

    def _make_columns(self, data: TrainingData) -> PolynomialColumns:
        n_levels = [len(spec.levels or ()) for spec in data.features]
        self._check_n_terms(n_levels.count(0), data.n_rows)
        return PolynomialColumns(n_levels, int(self.degree), self.terms)

    def _check_n_terms(self, n_numbers: int, n_rows: int) -> None:
        """Raise ParameterError where the powers and products are too many, or too many for so many rows."""
        n_made, most = n_terms(n_numbers, self.degree, self.terms), min(MAX_TERMS, MAX_CELLS // n_rows)
        if n_made <= most:
            return
        fitting = [d for d in range(1, self.degree) if n_terms(n_numbers, d, self.terms) <= most]
        cures = [f"a degree of {fitting[-1]} or less"] if fitting else []
        if self.terms == "all" and n_terms(n_numbers, self.degree, "powers") <= most:
            cures.append("terms 'powers', without products")
        of_rows = f" that {n_rows:,} rows have room for" if most < MAX_TERMS else ""
        raise ParameterError(
            f"degree {self.degree} of {n_numbers:,} columns makes {n_made:,} columns, more than "
            f"{'the ' * bool(of_rows)}{most:,}{of_rows}; "
            + ("enter " + ", or ".join(cures) if cures else f"use fewer {'rows or ' * bool(of_rows)}columns")
        )

    def _make_model(self, data: TrainingData) -> Any:
        if self.alpha > 0:
            return Ridge(alpha=self.alpha, solver="svd")
        return LinearRegression(tol=SMALLEST_SHARE)

    def _fitted(self, data: TrainingData, monitor: FitMonitor) -> Pipeline:
        pipeline = super()._fitted(data, monitor)
        n_made = len(pipeline[-1].coef_)
        if self.alpha == 0 and n_made >= data.n_rows:
            note = (
                f"{n_made:,} terms and {data.n_rows:,} training rows: it can go through every one of them; "
                "set a smaller degree, or a penalty"
            )
            self.notes_: tuple[str, ...] = (*self.notes_, note)
        return pipeline

    def _work_of_row(self) -> float:
        made = getattr(self.pipeline_[-1], "coef_", ())  # a constant has none
        return _PASSES * float(len(made))
