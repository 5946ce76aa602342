"""Statistics of samples of rows: each answers for several samples at once, given as rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.bootstrap.expression import Expression, quoted
from engine.errors import DataError

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Statistic(Protocol):
    """What is bootstrapped."""

    @property
    def n_rows(self) -> int:
        """Rows of the table it is taken of."""
        ...

    @property
    def cost(self) -> int:
        """Work for one sample, in values of a column that are drawn and added up."""
        ...

    def of(self, rows: Rows) -> Floats:
        """Return its value for each sample, not finite where it has none: int64 (n_samples, n_drawn) in."""
        ...


@dataclass(frozen=True, eq=False)
class OfColumns:
    """An expression over columns, worked out for many samples at once.

    Attributes
    ----------
    expression : Expression
    columns : mapping of str to float64 (n_rows,)
        Every column of the expression, finite.
    """

    expression: Expression
    columns: Mapping[str, Floats]

    def __post_init__(self) -> None:
        for name in self.expression.columns:
            if not np.isfinite(self.columns[name]).all():
                raise DataError(f"column {name!r} has missing or infinite values; leave those rows out")

    @property
    def n_rows(self) -> int:
        return len(self.columns[self.expression.columns[0]])

    @property
    def cost(self) -> int:
        return self.n_rows

    def of(self, rows: Rows) -> Floats:
        return self.expression.of({name: self.columns[name][rows] for name in self.expression.columns})


@dataclass(frozen=True, eq=False)
class AreaUnderCurve:
    """Area under the ROC curve of a score against two classes: how often events score higher, ties half.

    Attributes
    ----------
    score : float64 (n_rows,)
    is_event : bool (n_rows,)
    """

    score: Floats
    is_event: NDArray[np.bool_]

    @property
    def n_rows(self) -> int:
        return len(self.score)

    @property
    def cost(self) -> int:
        return 4 * self.n_rows

    @cached_property
    def _order(self) -> tuple[Rows, Rows]:
        """Rows by their score, and where in them each score begins."""
        order = np.argsort(self.score, kind="stable")
        in_order = self.score[order]
        return order, np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]]))

    def of(self, rows: Rows) -> Floats:
        """Count how often each row was drawn: scores are then in order once for all samples."""
        order, first = self._order
        n_samples, n = len(rows), self.n_rows
        cells = rows + n * np.arange(n_samples)[:, None]
        drawn = np.bincount(cells.ravel(), minlength=n_samples * n).reshape(n_samples, n)[:, order]
        events = np.where(self.is_event[order], drawn, 0)
        events, others = (np.add.reduceat(counts, first, axis=1) for counts in (events, drawn - events))
        twice_won = (events * (2 * np.cumsum(others, axis=1) - others)).sum(axis=1)
        pairs = events.sum(axis=1) * others.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(twice_won / 2 / pairs)


@dataclass(frozen=True, eq=False)
class OfRows:
    """Any function of the rows of one sample, such as a model's score.

    Attributes
    ----------
    function : callable
        ``function(rows) -> float`` of int64 (n_drawn,); NaN where it is not defined.
    n_rows : int
    """

    function: Callable[[Rows], float]
    n_rows: int

    @property
    def cost(self) -> int:
        return 20 * self.n_rows + 10_000  # a call in Python, and most scores sort

    def of(self, rows: Rows) -> Floats:
        return np.array([self.function(sample) for sample in rows], np.float64)


def least_risk_share(x: str, y: str) -> str:
    """Return, as an expression, the share of x in the sum of x and y that varies least.

    James, Witten, Hastie, Tibshirani, An Introduction to Statistical Learning, equation 5.6.
    """
    x, y = quoted(x), quoted(y)
    return f"(var({y}) - cov({x}, {y})) / (var({x}) + var({y}) - 2 * cov({x}, {y}))"
