"""Fits on many training sets as independent tasks, of which a value so far is told and kept at a stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from engine import parallel
from engine.base import Learner, begin_fit, check_X
from engine.composition import Tasks
from engine.errors import FitStopped, ParameterError
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, SubMonitor
from engine.other_learners import OneClass, Rows, can_stop, seeded, takes_weights
from engine.resampling.draws import TrainingSets
from engine.said import said_of_classes, said_of_numbers
from engine.tree.subtrees import many_trees
from engine.tuning.tune import REFUSALS, Table

PHASE = "resampling"
FITTING_SHARE = 0.95  # of a task; the rest is asking

Result = TypeVar("Result")
Floats = NDArray[np.float64]


class Failed(str):
    """Why a fit came to nothing."""


def run(
    work: Callable[[int, FitMonitor], Result], names: Sequence[str],
    take: Callable[[int, Result | Failed], Callable[[], Any]], n_jobs: int | None, monitor: FitMonitor | None,
) -> bool:  # fmt: skip
    """Do ``work(task, monitor)`` for every task and hand the results in, in order; returns whether stopped.

    Parameters
    ----------
    work : callable
        A refusal (`engine.tuning.tune.REFUSALS`) ends this task alone.
    names : sequence of str
        What each task is, in words.
    take : callable
        ``take(task, result)`` keeps a result, in the calling thread, and returns what makes the value of
        all so far: the monitor's events carry it.
    n_jobs : int or None
    monitor : FitMonitor or None
    """
    told = _Teller(monitor or NULL_MONITOR)
    tasks = Tasks(told, names, range(len(names)))
    n_taken = 0
    try:
        results = tasks.run(partial(_outcome, work), n_jobs, threads=parallel.SEARCHES)
        with many_trees(), closing(results):
            for result in results:
                told.so_far = take(n_taken, result)
                n_taken += 1
    except FitStopped:
        pass
    return n_taken < len(names)


def _outcome(work: Callable[[int, FitMonitor], Result], task: int, monitor: FitMonitor) -> Result | Failed:
    try:
        return work(task, monitor)
    except REFUSALS as error:
        return Failed(str(error) or type(error).__name__)


def the_value(so_far: Result) -> Result:
    """Return it; with `functools.partial` what an event's `so_far` calls, in any process."""
    return so_far


class _Teller:
    """Adds the value so far to events; leaves at a stop, so that learners that cannot are not waited for."""

    def __init__(self, monitor: FitMonitor) -> None:
        self._monitor = monitor
        self.so_far: Callable[[], Any] | None = None

    def on_iteration(self, event: IterationEvent) -> bool:
        if self._monitor.on_iteration(replace(event, phase=PHASE, so_far=self.so_far)):
            raise FitStopped
        return False


class _Reader(Learner):
    """Learns the columns and classes of a table, and nothing else."""

    def fit(self, table: Table, *, is_classification: bool) -> Self:
        data = begin_fit(self, table.X, table.y, table.weights, is_classifier=is_classification)
        self.known_classes = data.classes
        return self


class Refitter:
    """Fits clones of an estimator on training sets and asks them about fixed rows.

    Parameters
    ----------
    estimator : estimator
    sets : TrainingSets
    X_query : DataFrame or array-like (n_query, n_features)
    seed : int
        Of what is random in the models: drawn anew for every training set, also where the estimator's seed
        is set, since it is part of how predictions vary.

    Attributes
    ----------
    classes : ndarray (n_classes,) or None

    Raises
    ------
    DataError
        The tables do not fit one another.
    ParameterError
        There are weights and the estimator takes none.
    """

    def __init__(self, estimator: Any, sets: TrainingSets, X_query: Any, seed: int) -> None:
        self._sets, self._seed = sets, seed
        self._is_classifier = is_classifier(estimator)
        if sets.whole.weights is not None and not takes_weights(estimator):
            raise ParameterError(
                f"a {type(estimator).__name__} takes no sample_weight; choose another estimator, or leave "
                "the weights out"
            )
        reader = _Reader().fit(sets.whole, is_classification=self._is_classifier)
        self.features = reader.features_
        self.classes = reader.known_classes if sets.classes is None else sets.classes
        self.query = Rows.of(X_query, check_X(reader, X_query))

    @property
    def n_query(self) -> int:
        return len(self.query.encoded)

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)

    def fit(self, estimator: Any, number: int, monitor: FitMonitor) -> Any:
        """Return a clone fitted on training set `number`.

        Raises
        ------
        FitStopped
            A stop came before the end.
        """
        return fitted(self.made(estimator, number), self._sets.table(number), self._is_classifier, monitor)

    def made(self, estimator: Any, number: int) -> Any:
        """Return an unfitted clone with its seeds; out-of-bag results, which nobody reads, are not asked."""
        model = seeded(estimator, self._seed, number)
        if isinstance(model, Learner) and getattr(model, "oob_score", False):
            model.set_params(oob_score=False)
        return model

    def answer(self, model: Any) -> Floats:
        """Return numbers (n_query,), or shares of all classes (n_query, n_classes)."""
        if self.classes is None:
            return said_of_numbers(model, self.query, self.features)
        return said_of_classes(model, self.query, self.features, self._places(model), self.n_classes)

    def in_place(self, model: Any, said: Floats) -> Floats:
        """Return what a model of this package said, (n_query, its classes or 1), as `answer` does."""
        if self.classes is None:
            return said[:, 0]
        shares = np.zeros((len(said), self.n_classes))
        shares[:, self._places(model)] = said
        return shares

    def _places(self, model: Any) -> NDArray[np.intp]:
        """Return the column of each of a model's own classes: it may have seen fewer."""
        assert self.classes is not None
        place_of = {label: place for place, label in enumerate(self.classes.tolist())}
        return np.array([place_of[label] for label in np.asarray(model.classes_).tolist()], np.intp)


def fitted(model: Any, table: Table, is_classification: bool, monitor: FitMonitor) -> Any:
    """Fit a model on a table, of one class a constant; raises FitStopped where a stop cut it short."""
    labels = np.asarray(table.y) if is_classification else np.empty(0)
    if is_classification and np.all(labels == labels[0]):
        return OneClass(labels[0])  # many classifiers refuse it
    told = SubMonitor(monitor, 0.0, FITTING_SHARE)
    extra = table.extra
    if can_stop(model):
        extra["monitor"] = told
    model.fit(table.X, table.y, **extra)
    if told.stopped:
        raise FitStopped
    return model
