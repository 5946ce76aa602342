"""Models made of named models: their list as a parameter, and fitting them as independent tasks."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition

from engine import parallel, pieces
from engine.apart import WorkLost
from engine.base import Learner, TrainingData
from engine.errors import FitStopped, ParameterError
from engine.monitor import FitMonitor, IterationEvent, Stopwatch
from engine.other_learners import OneClass, check_learner

Result = TypeVar("Result")
PHASE = "fitting"


class Composition(_BaseComposition, Learner):  # type: ignore[misc]
    """A model whose parameter `estimators` is a list of pairs (name, estimator), or None."""

    combination = "rows"
    _is_classifier: bool
    estimators: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, also those of the estimators as ``name__parameter``."""
        if self.estimators is None or not _are_pairs(self.estimators):
            return Learner.get_params(self, deep=deep)  # type: ignore[no-any-return]
        params: dict[str, Any] = self._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, and those of the estimators by ``name__parameter``."""
        if self.estimators is None and "estimators" not in params:
            Learner.set_params(self, **params)
        else:
            self._set_params("estimators", **params)
        return self

    @property
    def names_of_models(self) -> list[str]:
        """The names in `estimators`, or of what None stands for."""
        named = self._default_estimators() if self.estimators is None else self.estimators
        return [name for name, _ in named]

    def _default_estimators(self) -> list[tuple[str, Any]]:
        """Return what `estimators=None` stands for."""
        raise NotImplementedError

    def _named(self) -> list[tuple[str, Any]]:
        """Return names and estimators, none of them fitted here.

        Raises
        ------
        ParameterError
            They are no pairs of different names and estimators for this task.
        """
        if self.estimators is None:
            return self._default_estimators()
        if not _are_pairs(self.estimators) or len(self.estimators) == 0:
            raise ParameterError(
                f"estimators is {self.estimators!r}; enter a list of pairs (name, estimator), at least one, "
                "or None"
            )
        names = [name for name, _ in self.estimators]
        if len(set(names)) < len(names) or any("__" in name for name in names):
            raise ParameterError(
                f"estimators has the names {names}; give each its own, without two underscores in a row"
            )
        for name, estimator in self.estimators:
            check_learner(f"estimators {name!r}", estimator, is_classification=self._is_classifier)
        return list(self.estimators)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        named = self.estimators if self.estimators is not None and _are_pairs(self.estimators) else ()
        known = [estimator for _, estimator in named if hasattr(estimator, "__sklearn_tags__")]
        tags.input_tags.allow_nan = all(get_tags(estimator).input_tags.allow_nan for estimator in known)
        return tags


def _are_pairs(estimators: Any) -> bool:
    return isinstance(estimators, list | tuple) and all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in estimators
    )


def target_of(data: TrainingData) -> NDArray[Any]:
    """Return the target as the parts of a model are given it: class numbers as int64, or float64."""
    return data.y if data.classes is None else data.y.astype(np.int64)


def constant_of(data: TrainingData) -> NDArray[np.float64]:
    """Return what a model answers that has learned nothing: class shares, or the mean as one number."""
    if data.classes is None:
        return np.array([np.average(data.y, weights=data.sample_weight)])
    sums = np.bincount(data.y.astype(np.intp), data.sample_weight, minlength=data.n_classes)
    return np.asarray(sums / sums.sum())


def mean_importances(
    models: Sequence[Any], n_features: int, weights: Any = None
) -> NDArray[np.float64] | None:
    """Return the mean importances of columns: float64 (n_features,); None where a model has none of these.

    What has seen one class alone asks no column, nor does no model at all: their importances are 0.
    """
    found = [
        np.zeros(n_features) if isinstance(model, OneClass) else getattr(model, "feature_importances_", None)
        for model in models
    ]
    if any(importances is None or len(importances) != n_features for importances in found):
        return None
    if not found:
        return np.zeros(n_features)
    return np.asarray(np.average(np.array(found, np.float64), axis=0, weights=weights))


class Tasks:
    """Independent fits with nested progress: each tells how far it is, the monitor hears of the whole.

    Parameters
    ----------
    monitor : FitMonitor
        Asked in the thread that makes this object, and no other.
    names : sequence of str
        What each task is, in words.
    members : sequence of int
        Which part of the model it fits.
    end : float
        Share of the whole fit that the tasks are.
    """

    def __init__(
        self, monitor: FitMonitor, names: Sequence[str], members: Sequence[int], end: float = 1.0
    ) -> None:
        self._monitor, self.names, self._members, self._end = monitor, names, members, end
        self._shares, self._n_done = np.zeros(len(names)), 0
        self._owner, self._clock = threading.get_ident(), Stopwatch()
        self._current, self._is_abandoned = 0, False
        self.is_stopped = False

    def run(
        self, fit: Callable[[int, FitMonitor], Result], n_jobs: int | None, message: str = "", *,
        threads: str = parallel.MODELS,
    ) -> Generator[Result, None, None]:  # fmt: skip
        """Yield ``fit(task, monitor)`` for every task, in order; after a stop those that had begun.

        `threads` as in `engine.parallel.map_tasks`.
        """
        self.tell(message)
        if self.is_stopped:
            return
        results = parallel.map_tasks(
            lambda task: self._fit(fit, task), range(len(self.names)), n_jobs, self.tell, threads=threads,
        )  # fmt: skip
        try:
            for task, result in enumerate(results):
                if result is None:  # not begun when the stop came, or without an answer
                    return
                yield result[0]
                self._n_done, self._shares[task], self._current = task + 1, 1.0, task
                self.tell(self.names[task])
        finally:
            self._is_abandoned = self._n_done < len(self.names)  # tasks under way end at their next question

    @property
    def _is_over(self) -> bool:
        return self.is_stopped or self._is_abandoned

    def _fit(self, fit: Callable[[int, FitMonitor], Result], task: int) -> tuple[Result] | None:
        if self._is_over:
            return None
        try:
            with pieces.asking(lambda _work: self.hear(task, 0.0)):
                return (fit(task, _TaskMonitor(self, task)),)
        except FitStopped:
            return None
        except WorkLost as error:
            raise WorkLost(f"{self.names[task]}: {error}") from error

    def tell(self, message: str = "") -> None:
        """Tell the monitor how far all are, and ask whether to stop."""
        event = IterationEvent(
            PHASE, self._n_done, len(self.names), self._fraction(), self._clock.elapsed_s,
            member=self._members[self._current] if self._n_done else None, message=message,
        )  # fmt: skip
        self.is_stopped = self._monitor.on_iteration(event) or self.is_stopped

    def ask(self) -> bool:
        """Tell how far all are, and return whether to stop."""
        self.tell()
        return self.is_stopped

    def tell_end(self) -> None:
        """Tell that the whole fit is done."""
        event = IterationEvent(PHASE, self._n_done, len(self.names), 1.0, self._clock.elapsed_s)
        self.is_stopped = self._monitor.on_iteration(event) or self.is_stopped

    def _fraction(self) -> float:
        if self._n_done == len(self.names):
            return self._end
        return self._end * min(float(self._shares.sum()) / len(self.names), 1.0)

    def hear(self, task: int, fraction: float) -> bool:
        """Take note of how far a task is; returns whether it is to stop. From any thread."""
        self._shares[task] = max(self._shares[task], min(fraction, 1.0))
        if threading.get_ident() == self._owner:
            self.tell()
        return self._is_over


class _TaskMonitor:
    def __init__(self, tasks: Tasks, task: int) -> None:
        self._tasks, self._task = tasks, task

    def on_iteration(self, event: IterationEvent) -> bool:
        return self._tasks.hear(self._task, event.fraction)
