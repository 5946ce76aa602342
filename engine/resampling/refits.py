"""One model fitted on many training sets: what each fit says of the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from engine.monitor import NULL_MONITOR, FitMonitor
from engine.resampling import tasks
from engine.resampling.draws import TrainingSets
from engine.resampling.tasks import Failed, Refitter, the_value
from engine.tree.subtrees import many_trees

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Refits:
    """What fits of one model on different training sets say of the same rows.

    Attributes
    ----------
    predictions : float64 (n_over, n_query) or (n_over, n_query, n_classes)
        Of the training sets that are over, in order: numbers, or shares of the classes; NaN where a fit
        failed.
    classes : ndarray (n_classes,) or None
    n_wanted : int
        Training sets that there were to be.
    errors : mapping of int to str
        Why fits failed, by the number of the training set.
    stopped : bool
    """

    predictions: Floats
    classes: NDArray[Any] | None
    n_wanted: int
    errors: Mapping[int, str] = field(default_factory=dict)
    stopped: bool = False

    @property
    def is_done(self) -> NDArray[np.bool_]:
        """Which training sets have a fit: bool (n_over,)."""
        found = np.ones(len(self.predictions), bool)
        found[list(self.errors)] = False
        return found

    @property
    def done(self) -> Floats:
        """The predictions of the fits that did not fail."""
        return self.predictions[self.is_done] if self.errors else self.predictions

    @property
    def labels(self) -> NDArray[np.intp]:
        """Class of the largest share, the first on a tie, by every fit: (n_done, n_query)."""
        return np.asarray(np.argmax(self.done, axis=2))


def refit(
    estimator: Any, sets: TrainingSets, X_query: Any, *, random_state: int = 0, n_jobs: int | None = None,
    monitor: FitMonitor | None = None,
) -> Refits:  # fmt: skip
    """Fit a model on every training set and ask each fit about the same rows.

    The fits are independent tasks: the result is the same for any number of threads, and the first of
    many are those of few. The monitor's events carry as `so_far` the `Refits` as they stand; True stops
    it, and what is done is kept. A fit that fails ends none of the others.

    Parameters
    ----------
    estimator : estimator
        Of any kind; cloned for every set, with seeds of its own.
    sets : TableDraws or FreshDraws
    X_query : DataFrame or array-like (n_query, n_features)
    random_state : int
        Of what is random in the models.
    n_jobs : int, optional
        Threads, as in `engine.parallel.resolve_jobs`; each fit is in one of them.
    monitor : FitMonitor, optional

    Raises
    ------
    DataError
        The tables do not fit one another, or no fit succeeded: says why the first did not.
    """
    refitter = Refitter(estimator, sets, X_query, random_state)
    kept = _Kept(refitter, sets.n_sets)
    names = [f"training set {number + 1:,} of {sets.n_sets:,}" for number in range(sets.n_sets)]
    stopped = tasks.run(partial(_fit_and_ask, refitter, estimator), names, kept.take, n_jobs, monitor)
    found = replace(kept.so_far(), stopped=stopped)
    check_some_done(found.errors, len(found.predictions), found.n_wanted)
    return found


def fit_of(
    estimator: Any, sets: TrainingSets, number: int, *, random_state: int = 0,
    monitor: FitMonitor | None = None,
) -> Any:  # fmt: skip
    """Return the fit that `refit` makes of training set `number`, to be looked at.

    Raises
    ------
    FitStopped
        The monitor stopped it.
    """
    refitter = Refitter(estimator, sets, sets.table(number).X, random_state)
    with many_trees():
        return refitter.fit(estimator, number, monitor or NULL_MONITOR)


def check_some_done(errors: Mapping[int, str], n_over: int, n_wanted: int) -> None:
    """Raise DataError where all fits failed."""
    if errors and len(errors) == n_over == n_wanted:
        raise DataError(f"no fit succeeded; the first says: {errors[min(errors)]}")


def _fit_and_ask(refitter: Refitter, estimator: Any, number: int, monitor: FitMonitor) -> Floats:
    return refitter.answer(refitter.fit(estimator, number, monitor))


class _Kept:
    """Predictions of the sets that are over; what was written is never written again."""

    def __init__(self, refitter: Refitter, n_sets: int) -> None:
        shape = (n_sets, refitter.n_query, refitter.n_classes)
        self._predictions = np.full(shape if refitter.n_classes else shape[:2], np.nan)
        self._classes, self._errors, self._n_over = refitter.classes, dict[int, str](), 0

    def take(self, number: int, result: Floats | Failed) -> Callable[[], Refits]:
        if isinstance(result, Failed):
            self._errors[number] = str(result)
        else:
            self._predictions[number] = result
        self._n_over = number + 1
        return partial(the_value, self.so_far())

    def so_far(self) -> Refits:
        known = self._predictions[: self._n_over]
        known.flags.writeable = False
        return Refits(known, self._classes, len(self._predictions), dict(self._errors))
