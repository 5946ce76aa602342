"""How the variance of an average falls with the number of trees, and where it stops falling."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from engine.base import Learner, check_X
from engine.errors import DataError, ParameterError
from engine.monitor import FitMonitor
from engine.predict import tree_values, voting_trees
from engine.resampling import tasks
from engine.resampling.draws import TrainingSets
from engine.resampling.refits import check_some_done
from engine.resampling.tasks import Failed, Refitter, the_value
from engine.tree.structure import Tree

Floats = NDArray[np.float64]
FEWEST_FITS = 2


@dataclass(frozen=True, eq=False)
class AverageVariance:
    """Variance of a forest's prediction over training sets, against its number of trees.

    All are means over the query rows, and for classes sums over the classes' shares; variances are over
    training sets, with one fewer than there are as divisor, so that few give no less on average.

    Attributes
    ----------
    n_trees : int64 (n_points,)
    measured : float64 (n_points,)
        Variance of the mean of the first trees.
    variance : float
        s2: of a single tree.
    correlation : float
        r: of two trees of one forest, over training sets; NaN where trees do not vary.
    n_fits, n_sets : int
        Forests that this is of, and how many there were to be.
    errors, stopped
        As of `engine.resampling.refits.Refits`.
    """

    n_trees: NDArray[np.int64]
    measured: Floats
    variance: float
    correlation: float
    n_fits: int
    n_sets: int
    errors: Mapping[int, str] = field(default_factory=dict)
    stopped: bool = False

    def line(self, n_trees: Any) -> Floats:
        """Return (1 - r) s2 / m + r s2 for numbers of trees m (Breiman 2001; ESL equation 15.1)."""
        m, r = np.asarray(n_trees, np.float64), self.correlation
        return np.asarray((1 - r) * self.variance / m + r * self.variance)

    @property
    def limit(self) -> float:
        """r s2: what is left however many trees there are."""
        return self.correlation * self.variance


def average_variance(
    estimator: Any, sets: TrainingSets, X_query: Any, n_trees: Sequence[int], *, random_state: int = 0,
    n_jobs: int | None = None, monitor: FitMonitor | None = None,
) -> AverageVariance | None:  # fmt: skip
    """Return how the variance of a forest's mean falls with its number of trees.

    One forest of the most trees is fitted on every training set; r and s2 are measured from all of its
    trees, and the variance of the mean of the first ones beside the line that these give. Events carry
    the `AverageVariance` so far. None where a stop came before two forests were done.

    Parameters
    ----------
    estimator : random forest, extra trees, or bagging of trees
    sets, X_query, random_state, n_jobs, monitor
        As in `engine.resampling.refits.refit`.
    n_trees : sequence of int
        From 1, ascending, each once.

    Raises
    ------
    ParameterError
        It is no forest or bag of trees, or the numbers do not ascend from 1.
    DataError
        No two fits succeeded.
    """
    counts = _checked(estimator, n_trees)
    refitter = Refitter(estimator, sets, X_query, random_state)
    kept = _Kept(refitter, counts, sets.n_sets)
    forest = clone(estimator).set_params(n_estimators=int(counts[-1]))
    names = [f"training set {number + 1:,} of {sets.n_sets:,}" for number in range(sets.n_sets)]
    work = partial(_fit_and_ask, refitter, forest)
    stopped = tasks.run(work, names, kept.take, n_jobs, monitor)
    check_some_done(kept.errors, len(kept.errors), sets.n_sets)
    found = kept.so_far()
    if found is None and not stopped:
        raise DataError(f"{kept.n_fits} fit was made; variance takes two, so draw more training sets")
    return None if found is None else replace(found, stopped=stopped)


def is_average_of_trees(estimator: Any) -> bool:
    """Tell whether an estimator is a forest, or a bag of trees."""
    is_bag = isinstance(estimator, Learner) and hasattr(estimator, "max_samples")
    return is_bag and getattr(estimator, "estimator", None) is None


def _checked(estimator: Any, n_trees: Sequence[int]) -> NDArray[np.int64]:
    if not is_average_of_trees(estimator):
        raise ParameterError(f"{estimator!r} is no average of trees; choose a forest, or bagging of trees")
    counts = np.asarray(n_trees)
    if counts.ndim != 1 or not len(counts) or counts.dtype.kind not in "iu" or counts[0] < 1:
        raise ParameterError(f"n_trees is {n_trees!r}; enter whole numbers from 1")
    if np.any(np.diff(counts) <= 0):
        raise ParameterError(f"n_trees is {n_trees!r}; enter ascending numbers")
    return counts.astype(np.int64)


def _fit_and_ask(refitter: Refitter, forest: Any, number: int, monitor: FitMonitor) -> Floats:
    """Return what every tree says: float64 (n_trees, n_query) or (n_trees, n_query, n_classes)."""
    model = refitter.fit(forest, number, monitor)
    if not isinstance(model, Learner):
        return np.stack([refitter.answer(model)] * forest.n_estimators)  # of one class
    trees: list[Tree] = voting_trees(model)
    encoded = check_X(model, refitter.query.given)
    return np.stack([refitter.in_place(model, tree_values([tree], encoded)) for tree in trees])


class _Kept:
    """Moments over training sets: of every tree, and of the mean of the first ones."""

    def __init__(self, refitter: Refitter, counts: NDArray[np.int64], n_sets: int) -> None:
        shape = (refitter.n_query, refitter.n_classes) if refitter.n_classes else (refitter.n_query,)
        self._counts, self._n_sets, self._n_query = counts, n_sets, max(refitter.n_query, 1)
        self._of_trees = _Spread((int(counts[-1]), *shape))
        self._of_means = _Spread((len(counts), *shape))
        self.errors: dict[int, str] = {}

    @property
    def n_fits(self) -> int:
        return self._of_trees.n

    def take(self, number: int, result: Floats | Failed) -> Callable[[], AverageVariance | None]:
        if isinstance(result, Failed):
            self.errors[number] = str(result)
        else:
            sums = np.cumsum(result, axis=0)[self._counts - 1]
            self._of_trees.add(result)
            self._of_means.add(sums / self._counts.reshape(-1, *[1] * (sums.ndim - 1)))
        return partial(the_value, self.so_far())

    def so_far(self) -> AverageVariance | None:
        if self.n_fits < FEWEST_FITS:
            return None
        measured = self._of_means.variances() / self._n_query
        single = float(self._of_trees.variances().mean()) / self._n_query
        m = int(self._counts[-1])
        # the variance of a mean of m is s2 / m + (1 - 1 / m) c: solved for c, the pairs' mean covariance
        covariance = (m * measured[-1] - single) / (m - 1) if m > 1 else np.nan
        correlation = float(covariance / single) if single > 0 else float("nan")
        return AverageVariance(
            self._counts, measured, single, correlation, self.n_fits, self._n_sets, dict(self.errors)
        )


class _Spread:
    """Variance of arrays that come one after the other (Welford 1962)."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.n, self._mean, self._squares = 0, np.zeros(shape), np.zeros(shape)

    def add(self, values: Floats) -> None:
        self.n += 1
        distance = values - self._mean
        self._mean += distance / self.n
        self._squares += distance * (values - self._mean)

    def variances(self) -> Floats:
        """Return the variances, divided by one fewer, summed over all but the first axis."""
        return np.asarray(self._squares.reshape(len(self._squares), -1).sum(axis=1) / (self.n - 1))
