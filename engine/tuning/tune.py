"""Searching one or two settings of any estimator by cross-validation, watched and stopped like a fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring

from engine import parallel, pieces
from engine.apart import WorkLost
from engine.errors import DataError, FitStopped, ParameterError
from engine.features import take_rows
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, StopFlag, Stopwatch
from engine.other_learners import StopOnly, can_stop, seeded, takes_weights
from engine.tuning.folds import fold_of_rows
from engine.tuning.search import LARGER, SMALLER, Search, are_same, the_search

PHASE = "tuning"
MAX_NAMES = 2  # a curve or a map
REFUSALS = (ValueError, ArithmeticError, MemoryError, WorkLost)
"""What a setting may fail by without ending the others."""

Scorer = Callable[..., float]


def tune(
    estimator: Any, X: Any, y: Any, grid: Mapping[str, Sequence[Any]], sample_weight: Any = None, *,
    folds: Any = 5, scoring: Any = None, groups: Any = None, simpler: Mapping[str, str] | None = None,
    make: Callable[[Mapping[str, Any]], Any] | None = None, random_state: int = 0, n_jobs: int | None = None,
    monitor: FitMonitor | None = None,
) -> Search:  # fmt: skip
    """Score every setting of a grid on every fold, by a model trained on the other folds.

    Settings and folds are independent tasks; the result is the same for any number of threads. The
    monitor is told of every task and between them; its events' `so_far` returns the `Search` as it
    stands. True stops it: settings whose folds are all done are kept.

    Parameters
    ----------
    estimator : estimator
        Of any kind; it is cloned. Where its seed is open all settings draw by the same one on a fold.
    X : DataFrame or array-like (n_samples, n_features)
    y : array-like (n_samples,)
    grid : mapping of str to sequence
        One or two parameters and the values to try of each.
    sample_weight : array-like (n_samples,), optional
        Used in training and in scoring; rows of weight 0 are in no fold.
    folds : int, splitter or int (n_samples,)
        How many (by class where each has a row for every fold, and with whole groups where there are
        some), a splitter of scikit-learn that leaves every row out once, or the fold of every row.
    scoring : str, callable or None
        As in scikit-learn: a name, ``scoring(estimator, X, y, sample_weight=...)``, or None for the
        estimator's own score. Higher is better.
    groups : array-like (n_samples,), optional
    simpler : mapping of str to "smaller" or "larger", optional
        Which values make the simpler model, for the choice within one standard error.
    make : callable, optional
        Returns the estimator of a setting; without it, a clone with the setting's values.
    random_state : int
        Deals the folds, and draws in the place of open seeds.
    n_jobs : int, optional
        Threads, as in `engine.parallel.resolve_jobs`.
    monitor : FitMonitor, optional

    Returns
    -------
    Search

    Raises
    ------
    ParameterError
        The grid names no parameter, an unknown one or too many; a list is empty or holds a value
        twice; the weights have no use for this estimator.
    DataError
        The rows do not allow the folds.
    FitStopped
        The monitor stopped it while the rows were dealt into folds.
    """
    monitor = monitor or NULL_MONITOR
    _check_grid(estimator, grid, simpler or {}, make)
    labels = np.asarray(y)
    kept, weights = _weights_of(estimator, sample_weight, len(labels))
    fold_of = fold_of_rows(
        folds, labels, kept, groups, random_state, partial(_ask, monitor),
        is_classifier=is_classifier(estimator),
    )  # fmt: skip
    n_settings = int(np.prod([len(values) for values in grid.values()]))
    empty = Search(
        tuple(grid), tuple(tuple(values) for values in grid.values()),
        np.full((n_settings, int(fold_of.max()) + 1), np.nan), fold_of, {}, dict(simpler or {}),
    )  # fmt: skip
    tasks = _Tasks(
        Table(X, y, weights), fold_of, empty.settings, make or partial(_with_setting, estimator),
        check_scoring(estimator, scoring=scoring) if not callable(scoring) else scoring, random_state,
    )  # fmt: skip
    return _Desk(empty, tasks, monitor).run(n_jobs)


def _ask(monitor: FitMonitor) -> None:
    if monitor.on_iteration(IterationEvent("dealing rows into folds")):
        raise FitStopped


def _check_grid(
    estimator: Any, grid: Mapping[str, Sequence[Any]], simpler: Mapping[str, str], make: Any
) -> None:
    if not 1 <= len(grid) <= MAX_NAMES:
        raise ParameterError(f"the grid has {len(grid)} parameters; enter one or two")
    known = estimator.get_params(deep=True)
    for name, values in grid.items():
        if make is None and name not in known:
            raise ParameterError(f"the grid names {name!r}; choose one of {', '.join(sorted(known))}")
        if len(values) == 0:
            raise ParameterError(f"the grid has no value of {name}; enter one at least")
        twice = next((v for i, v in enumerate(values) if any(are_same(v, w) for w in values[:i])), grid)
        if twice is not grid:
            raise ParameterError(f"the grid has {name} = {twice!r} twice; enter it once")
    for name, way in simpler.items():
        if way not in (SMALLER, LARGER):
            raise ParameterError(f"simpler is {way!r} for {name}; enter {SMALLER!r} or {LARGER!r}")


def _weights_of(
    estimator: Any, sample_weight: Any, n_samples: int
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Return the rows of positive weight, and the weights where there are some."""
    if sample_weight is None:
        return np.arange(n_samples), None
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != (n_samples,):
        raise DataError(f"sample_weight has shape {weights.shape} and y {n_samples} rows; give one a row")
    if not takes_weights(estimator):
        raise ParameterError(
            f"a {type(estimator).__name__} takes no sample_weight; choose another estimator, or leave the "
            "weights out"
        )
    return np.flatnonzero(weights > 0), weights


def _with_setting(estimator: Any, setting: Mapping[str, Any]) -> Any:
    return clone(estimator).set_params(**setting)


class Table(NamedTuple):
    """Rows with their targets, and their weights where there are some."""

    X: Any
    y: Any
    weights: NDArray[np.float64] | None

    def take(self, rows: NDArray[np.int64]) -> Table:
        weights = None if self.weights is None else self.weights[rows]
        return Table(take_rows(self.X, rows), take_rows(self.y, rows), weights)

    @property
    def extra(self) -> dict[str, Any]:
        """What `fit` and scorers are given beside X and y."""
        return {} if self.weights is None else {"sample_weight": self.weights}


class Task(NamedTuple):
    """One setting on one fold."""

    setting: int
    fold: int


class Outcome(NamedTuple):
    """What a task came to: a score, why there is none, or neither where it was stopped."""

    score: float
    error: str = ""
    is_stopped: bool = False


class _Tasks:
    """What the tasks share, read only but for how far each of them is.

    Attributes
    ----------
    fractions : float64 (n_settings, n_folds)
        Of the fits; each task writes its own.
    """

    def __init__(
        self, table: Table, fold_of: NDArray[np.int64], settings: Sequence[Mapping[str, Any]],
        make: Callable[[Mapping[str, Any]], Any], scorer: Scorer, seed: int,
    ) -> None:  # fmt: skip
        self._table, self._fold_of, self._settings = table, fold_of, settings
        self._make, self._scorer, self._seed = make, scorer, seed
        self.fractions = np.zeros((len(settings), int(fold_of.max()) + 1))

    @property
    def all(self) -> list[Task]:
        """Fold by fold of one setting after the other, so that settings are soon told."""
        return [Task(*at) for at in np.ndindex(self.fractions.shape)]

    def run(self, flag: StopFlag, task: Task) -> Outcome:
        """Fit a setting's model without a fold and score it on the fold."""
        if flag.ask():
            return Outcome(np.nan, is_stopped=True)
        inside = np.flatnonzero((self._fold_of != task.fold) & (self._fold_of >= 0))
        outside = np.flatnonzero(self._fold_of == task.fold)
        try:
            model = seeded(self._make(self._settings[task.setting]), self._seed, task.fold, only_open=True)
            if self._fit(model, self._table.take(inside), flag, task):
                return Outcome(np.nan, is_stopped=True)
            rows = self._table.take(outside)
            with pieces.asking(lambda _work: flag.ask()):
                score = float(self._scorer(model, rows.X, rows.y, **rows.extra))
        except FitStopped:
            return Outcome(np.nan, is_stopped=True)
        except REFUSALS as error:
            return Outcome(np.nan, str(error) or type(error).__name__)
        return Outcome(score) if np.isfinite(score) else Outcome(np.nan, f"its score is {score}")

    def _fit(self, model: Any, rows: Table, flag: StopFlag, task: Task) -> bool:
        """Fit in place; tell whether a stop cut it short."""
        extra = rows.extra
        if can_stop(model):
            extra["monitor"] = _FoldMonitor(flag, self.fractions, task)
        model.fit(rows.X, rows.y, **extra)
        return flag.is_stopped and can_stop(model)


class _FoldMonitor(StopOnly):
    """Notes how far a fit is, and passes on that it is to stop."""

    def __init__(self, flag: StopFlag, fractions: NDArray[np.float64], task: Task) -> None:
        super().__init__(flag.ask)
        self._fractions, self._task = fractions, task

    def on_iteration(self, event: IterationEvent) -> bool:
        self._fractions[self._task] = event.fraction
        return super().on_iteration(event)


class _Stopped(Exception):  # noqa: N818 - the way out of waiting
    """A stop was asked for while tasks were under way."""


class _Desk:
    """Takes the outcomes in and tells of them, in the calling thread."""

    def __init__(self, empty: Search, tasks: _Tasks, monitor: FitMonitor) -> None:
        self._search, self._tasks, self._monitor = empty, tasks, monitor
        self._scores, self._errors = empty.fold_scores.copy(), dict[int, str]()
        self._is_over = np.zeros(self._scores.shape, bool)
        self._clock, self._flag = Stopwatch(), StopFlag(self._tell)

    def run(self, n_jobs: int | None) -> Search:
        try:
            self._run_tasks(n_jobs)
        except BaseException:
            self._flag.is_stopped = True  # nobody waits for the tasks under way any more
            raise
        return self._so_far(stopped=not self._is_over.all())

    def _run_tasks(self, n_jobs: int | None) -> None:
        self._flag.poll()
        tasks, work = self._tasks.all, partial(self._tasks.run, self._flag)
        results = parallel.map_tasks(work, tasks, n_jobs, self._poll_waiting, threads=parallel.SEARCHES)
        try:
            for task, outcome in zip(tasks, results, strict=True):
                if outcome.is_stopped:
                    return
                self._take(task, outcome)
                self._poll_waiting()
        except _Stopped:
            return

    def _poll_waiting(self) -> None:
        """Ask, and leave at a stop: a learner of others, which cannot be stopped, is not waited for."""
        self._flag.poll()
        if self._flag.is_stopped and not self._is_over.all():
            raise _Stopped

    def _take(self, task: Task, outcome: Outcome) -> None:
        self._is_over[task] = True
        self._scores[task] = outcome.score
        if outcome.error:
            fold = f"fold {task.fold + 1} of {self._scores.shape[1]}"
            self._errors.setdefault(task.setting, f"{fold}: {outcome.error}")
        self._search = self._so_far()

    def _so_far(self, *, stopped: bool = False) -> Search:
        """Return the settings all of whose folds are over."""
        whole = np.asarray(self._is_over.all(axis=1))
        scores = np.where(whole[:, None], self._scores, np.nan)
        scores.flags.writeable = False
        empty = self._search
        errors = {setting: why for setting, why in self._errors.items() if whole[setting]}
        return Search(empty.names, empty.values, scores, empty.folds, errors, empty.simpler, stopped)

    def _tell(self) -> bool:
        n_over, n_all = int(np.count_nonzero(self._is_over)), self._is_over.size
        under_way = float(np.sum(np.where(self._is_over, 0.0, self._tasks.fractions)))
        at = np.unravel_index(min(n_over, n_all - 1), self._is_over.shape)  # they come in order
        n_settings, n_folds = self._search.n_settings, self._search.n_folds
        event = IterationEvent(
            PHASE, n_over, n_all, min((n_over + under_way) / n_all, 1.0), self._clock.elapsed_s,
            message=f"setting {at[0] + 1:,} of {n_settings:,}, fold {at[1] + 1} of {n_folds}",
            so_far=partial(the_search, self._search),
        )  # fmt: skip
        return self._monitor.on_iteration(event)
