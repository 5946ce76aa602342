"""How far fits of one model on different training sets lie apart, at each of many places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from engine.monitor import FitMonitor
from engine.resampling import tasks
from engine.resampling.decomposition import Moments
from engine.resampling.draws import TrainingSets
from engine.resampling.refits import check_some_done
from engine.resampling.tasks import Failed, Refitter, the_value

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spread:
    """What fits of one model say at each place, and how far they lie apart there.

    Attributes
    ----------
    answers : float64 (n_done, n_query)
        Of the fits that did not fail, in order: numbers, or the share of one class.
    mean : float64 (n_query,)
    variance : float64 (n_query,)
        Mean squared distance of the fits from their mean: an expectation over the fits there are, as in
        `engine.resampling.decomposition`.
    n_wanted : int
        Training sets that there were to be.
    errors : mapping of int to str
        Why fits failed, by the number of the training set.
    stopped : bool
    """

    answers: Floats
    mean: Floats
    variance: Floats
    n_wanted: int
    errors: Mapping[int, str] = field(default_factory=dict)
    stopped: bool = False

    @property
    def deviation(self) -> Floats:
        """Standard deviation of the fits, in the unit of what they say: float64 (n_query,)."""
        return np.sqrt(self.variance)


def refit_spread(
    estimator: Any, sets: TrainingSets, X_query: Any, label: Any = None, *, random_state: int = 0,
    n_jobs: int | None = None, monitor: FitMonitor | None = None,
) -> Spread:  # fmt: skip
    """Fit a model on every training set and measure how far the fits lie apart at every query row.

    The fits are those of `engine.resampling.refits.refit`. Mean and variance are brought up to date with
    every fit (Welford 1962), so that telling of many fits takes no longer than of few; of classes one share
    alone is kept. The result is the same for any number of threads.

    Parameters
    ----------
    estimator, sets, X_query, random_state, n_jobs, monitor
        As in `refit`; events carry as `so_far` the `Spread` as it stands.
    label : object
        Of classes the one whose share is looked at.

    Raises
    ------
    DataError
        There is no such class, the tables do not fit one another, or no fit succeeded.
    """
    refitter = Refitter(estimator, sets, X_query, random_state)
    kept = _Kept(sets.n_sets, refitter.n_query)
    work = partial(_fit_and_ask, refitter, estimator, _place_of(label, refitter.classes))
    names = [f"training set {number + 1:,} of {sets.n_sets:,}" for number in range(sets.n_sets)]
    stopped = tasks.run(work, names, kept.take, n_jobs, monitor)
    found = replace(kept.so_far(), stopped=stopped)
    check_some_done(found.errors, len(found.answers) + len(found.errors), found.n_wanted)
    return found


def _place_of(label: Any, classes: NDArray[Any] | None) -> int | None:
    """Return which share a class has; None of numbers."""
    if classes is None:
        return None
    known: list[Any] = classes.tolist()
    if label not in known:
        raise DataError(f"there is no class {label!r}; choose one of {', '.join(map(str, known))}")
    return known.index(label)


def _fit_and_ask(
    refitter: Refitter, estimator: Any, place: int | None, number: int, monitor: FitMonitor
) -> Floats:
    said = refitter.answer(refitter.fit(estimator, number, monitor))
    return said if place is None else said[:, place].copy()  # not the other shares with it


class _Kept:
    """Answers with their moments; what was handed out is never written again."""

    def __init__(self, n_sets: int, n_query: int) -> None:
        self._answers = np.empty((n_sets, n_query))
        self._moments, self._errors = Moments.none(n_query, None), dict[int, str]()

    def take(self, number: int, result: Floats | Failed) -> Callable[[], Spread]:
        if isinstance(result, Failed):
            self._errors[number] = str(result)
        else:
            self._answers[self._moments.n] = result
            self._moments = self._moments.plus(result)
        return partial(the_value, self.so_far())

    def so_far(self) -> Spread:
        moments = self._moments
        known = self._answers[: moments.n]
        known.flags.writeable = False
        variance = moments.second / max(moments.n, 1)
        return Spread(known, moments.first, variance, len(self._answers), dict(self._errors))
