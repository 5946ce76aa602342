"""Training sets to fit one model on again and again: drawn from a table, or fresh from a known source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.base import member_seed
from engine.errors import DataError, ParameterError
from engine.folds import group_numbers
from engine.resampling.truths import Truth
from engine.tuning.tune import Table

BOOTSTRAP, SUBSAMPLE = "bootstrap", "subsample"
OF_QUERY = 5  # second number of the key of the seed of query rows; 2 is that of models

Floats = NDArray[np.float64]


class TrainingSets(Protocol):
    """Training sets by number, each the same whatever was drawn before it and however many there are.

    Attributes
    ----------
    n_sets : int
    classes : ndarray or None
        Where they are known beforehand; else those of `whole`.
    """

    n_sets: int

    @property
    def classes(self) -> NDArray[Any] | None: ...
    @property
    def whole(self) -> Table:
        """A table of which columns and classes are learned."""
        ...

    def table(self, number: int) -> Table:
        """Return training set `number`, counted from 0."""
        ...


class TableDraws:
    """Rows drawn from one table: a bootstrap, or a share of the rows without replacement.

    Rows of weight 0 are never drawn (D10); a row that is drawn takes its weight with it.

    Parameters
    ----------
    X : DataFrame or array-like (n_samples, n_features)
    y : array-like (n_samples,)
    sample_weight : array-like (n_samples,), optional
    how : "bootstrap" or "subsample"
    share : float
        Of the rows that are drawn, above 0; of a subsample below 1.
    groups : array-like (n_samples,), optional
        Whole groups are drawn then, `share` being theirs; a row without one is a group of its own
        (`engine.folds.group_numbers`).
    n_sets : int
    seed : int

    Raises
    ------
    ParameterError
        `how`, `share` or `n_sets` is outside its range.
    DataError
        Lengths differ, or no row has weight.
    """

    classes: NDArray[Any] | None = None

    def __init__(
        self, X: Any, y: Any, sample_weight: Any = None, *, how: str = BOOTSTRAP, share: float | None = None,
        groups: Any = None, n_sets: int = 100, seed: int = 0,
    ) -> None:  # fmt: skip
        check_n_sets(n_sets)
        self.n_sets, self._seed = n_sets, seed
        self._is_bootstrap, self._share = _checked(how, share)
        self._table = Table(X, y, None if sample_weight is None else np.asarray(sample_weight, np.float64))
        n_samples = len(y)
        if len(X) != n_samples or (self._table.weights is not None and len(self._table.weights) != n_samples):
            raise DataError(f"X, y ({n_samples} rows) and the weights differ in length; give one a row")
        weights = self._table.weights
        self._kept = np.arange(n_samples) if weights is None else np.flatnonzero(weights > 0)
        if not len(self._kept):
            raise DataError("no row has a weight above 0; give some rows weight")
        self._members = None if groups is None else _members_of(group_numbers(groups, n_samples)[self._kept])

    @property
    def whole(self) -> Table:
        return self._table

    def rows(self, number: int) -> NDArray[np.int64]:
        """Return the rows of the table in training set `number`, repeats included: int64 (n_drawn,)."""
        rng = np.random.default_rng(member_seed(self._seed, number))
        n_units = len(self._kept) if self._members is None else len(self._members)
        n_drawn = max(1, round(self._share * n_units))
        drawn = (
            rng.integers(n_units, size=n_drawn) if self._is_bootstrap else rng.permutation(n_units)[:n_drawn]
        )
        if self._members is not None:
            drawn = np.concatenate([self._members[unit] for unit in drawn])
        return np.asarray(self._kept[drawn], np.int64)

    def table(self, number: int) -> Table:
        return self._table.take(self.rows(number))


class FreshDraws:
    """Tables from a source that is known, as if the world were asked again each time.

    Parameters
    ----------
    truth : Truth
    n_rows : int
        Of each training set.
    n_sets, seed : int
    given : callable
        Makes what models are given of rows, such as a frame: their settings may name its columns.
    """

    def __init__(
        self, truth: Truth, n_rows: int, *, n_sets: int = 100, seed: int = 0,
        given: Callable[[Floats], Any] = np.asarray,
    ) -> None:  # fmt: skip
        check_n_sets(n_sets)
        if n_rows < 1:
            raise ParameterError(f"n_rows is {n_rows}; enter a whole number from 1")
        self.n_sets, self._truth, self._n_rows, self._seed = n_sets, truth, n_rows, seed
        self._given = given

    @property
    def classes(self) -> NDArray[Any] | None:
        return self._truth.classes

    @property
    def whole(self) -> Table:
        return self.table(0)

    def table(self, number: int) -> Table:
        rng = np.random.default_rng(member_seed(self._seed, number))
        X, y = self._truth.draw(self._n_rows, rng)
        return Table(self._given(X), y, None)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of X."""
        return self._truth.columns

    def expected(self, X: Floats) -> Floats:
        """Return the truth about rows: see `Truth.expected`."""
        return self._truth.expected(X)

    def query(self, n_rows: int) -> QueryRows:
        """Return fresh rows to ask the models about, with the truth about each."""
        rng = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(0, OF_QUERY)))
        X, y = self._truth.draw(n_rows, rng)
        return QueryRows(self._given(X), y, None, self._truth.expected(X))


class QueryRows(NamedTuple):
    """Rows that every model is asked about.

    Attributes
    ----------
    X : DataFrame or array-like (n_query, n_features)
    y : array-like (n_query,)
        What was observed there: in no training set, else the errors are too small.
    weights : float64 (n_query,) or None
        Errors are weighed by.
    truth : float64 (n_query,) or (n_query, n_classes) or None
        The mean of y, or the probability of every class, at each row; None where nobody knows.
    """

    X: Any
    y: Any
    weights: Floats | None = None
    truth: Floats | None = None


def check_n_sets(n_sets: int) -> None:
    """Raise ParameterError where a number of training sets is none."""
    if isinstance(n_sets, bool) or not isinstance(n_sets, (int, np.integer)) or n_sets < 1:
        raise ParameterError(f"n_sets is {n_sets!r}; enter a whole number from 1")


def _checked(how: str, share: float | None) -> tuple[bool, float]:
    if how not in (BOOTSTRAP, SUBSAMPLE):
        raise ParameterError(f"how is {how!r}; enter {BOOTSTRAP!r} or {SUBSAMPLE!r}")
    is_bootstrap = how == BOOTSTRAP
    if share is None:
        return is_bootstrap, 1.0 if is_bootstrap else 0.5
    if not (share > 0 and (is_bootstrap or share < 1)):
        bounds = "above 0" if is_bootstrap else "above 0 and below 1"
        raise ParameterError(f"share is {share!r}; enter a number {bounds}")
    return is_bootstrap, float(share)


def _members_of(numbers: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the rows of every group."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
