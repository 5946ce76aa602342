"""What a search over a grid of settings found: a value that says which setting is best, and which will do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import sqrt
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

SMALLER, LARGER = "smaller", "larger"  # which values of a parameter make the simpler model

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Search:
    """Scores of settings on folds; more is better. Settings that are not done yet have NaN.

    Attributes
    ----------
    names : tuple of str
        One or two parameters.
    values : tuple of tuple
        The values tried of each; all their pairs are settings, the last parameter changing first.
    fold_scores : float64 (n_settings, n_folds)
        NaN where a fold is not done or failed.
    folds : int64 (n_samples,)
        The fold of every row, counted from 0; -1 for rows of weight 0, which are in none.
    errors : mapping of int to str
        Why settings failed, by their number.
    simpler : mapping of str to "smaller" or "larger"
        Which values of a parameter make the simpler model; parameters without it have no such order.
    stopped : bool
        It was stopped before every setting was done.
    """

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    fold_scores: Floats
    folds: NDArray[np.int64]
    errors: Mapping[int, str] = field(default_factory=dict)
    simpler: Mapping[str, str] = field(default_factory=dict)
    stopped: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each parameter has."""
        return tuple(len(tried) for tried in self.values)

    @property
    def n_settings(self) -> int:
        return len(self.fold_scores)

    @property
    def n_folds(self) -> int:
        return int(self.fold_scores.shape[1])

    @property
    def settings(self) -> list[dict[str, Any]]:
        """Every setting by name of parameter."""
        return settings_of(dict(zip(self.names, self.values, strict=True)))

    @property
    def is_done(self) -> NDArray[np.bool_]:
        """Which settings have a score on every fold: bool (n_settings,)."""
        return np.asarray(np.isfinite(self.fold_scores).all(axis=1))

    @property
    def n_over(self) -> int:
        """Settings that are done or failed."""
        return int(np.count_nonzero(self.is_done)) + len(self.errors)

    @property
    def means(self) -> Floats:
        """Mean over the folds, NaN where a setting is not done: (n_settings,)."""
        return np.where(self.is_done, self._finite.mean(axis=1), np.nan)

    @property
    def standard_errors(self) -> Floats:
        """Of the means, from how the folds differ: their standard deviation by the root of their number."""
        spread = self._finite.std(axis=1, ddof=1) / sqrt(self.n_folds)
        return np.where(self.is_done, spread, np.nan)

    @property
    def _finite(self) -> Floats:
        return np.where(self.is_done[:, None], self.fold_scores, 0.0)

    @property
    def best(self) -> int | None:
        """Number of the setting with the highest mean, the first of equals; None while none is done."""
        return best_of(self.means)

    @property
    def one_standard_error(self) -> int | None:
        """Number of the simplest setting whose mean is within one standard error of the best.

        Of two parameters the order of simplicity is the sum of both places in their own orders, each
        scaled to 0 (simplest) to 1; of equally simple settings the better one is taken (Breiman,
        Friedman, Olshen, Stone 1984, section 3.4.3, for one parameter). None where no parameter has
        an order.
        """
        complexity = self.complexity()
        if self.best is None or complexity is None:
            return None
        means = self.means
        bound = means[self.best] - self.standard_errors[self.best]
        good = np.flatnonzero(self.is_done & (np.where(self.is_done, means, -np.inf) >= bound))
        return int(min(good, key=lambda at: (round(float(complexity[at]), 9), -means[at])))

    def complexity(self) -> Floats | None:
        """Place of every setting from the simplest, 0, on; None where no parameter has an order."""
        ranks = [
            order_of(tried, self.simpler.get(name, ""))
            for name, tried in zip(self.names, self.values, strict=True)
        ]
        if all(rank is None for rank in ranks):
            return None
        known = [
            np.zeros(len(tried)) if rank is None else rank
            for rank, tried in zip(ranks, self.values, strict=True)
        ]
        return np.array([sum(pair) for pair in product(*known)])


def settings_of(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every combination of a grid's values, the last parameter changing first."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def are_same(one: Any, other: Any) -> bool:
    """Tell whether two values of a parameter are one: 1, 1.0 and True are not."""
    return type(one) is type(other) and bool(one == other)


def best_of(means: Floats) -> int | None:
    """Return the place of the highest score, first of equals, NaN never; None where there is none."""
    return None if np.isnan(means).all() else int(np.nanargmax(means))


def order_of(tried: Sequence[Any], simpler: str) -> Floats | None:
    """Return the place of every value from the simplest, 0, to the last, 1.

    None counts as larger than every number, as "no limit" is, and a list of layers as the units in them
    together. Words have no order: with one among them, or where `simpler` does not say which way it goes,
    the result is None.
    """
    if not simpler or not all(_has_size(value) for value in tried):
        return None
    sizes = np.array([_size_of(value) for value in tried])
    places = np.empty(len(sizes))
    places[np.argsort(sizes if simpler == SMALLER else -sizes, kind="stable")] = np.arange(len(sizes))
    return places / max(len(sizes) - 1, 1)


def _has_size(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_has_size(item) for item in value)
    return value is None or (isinstance(value, Real) and not isinstance(value, (bool, np.bool_)))


def _size_of(value: Any) -> float:
    if isinstance(value, tuple):
        return float(sum(value))
    return np.inf if value is None else float(value)


def the_search(search: Search) -> Search:
    """Return it; with `functools.partial` what an event's `so_far` calls, in any process."""
    return search
