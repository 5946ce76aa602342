"""The fits of a stack's base models as independent tasks: on all rows, and without each fold in turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.composition import Tasks
from engine.monitor import FitMonitor
from engine.other_learners import seeded
from engine.stacking.tuned import BaseFitter, Fitted, Part, score_of

Floats = NDArray[np.float64]
OF_FOLDS, OF_GRIDS = 3, 4  # second numbers of the keys of seeds; 2 is that of members


class BaseTask(NamedTuple):
    """One fit of one base model: on all rows, or (`fold` not None) on those outside a fold of a repeat."""

    member: int
    repeat: int = 0
    fold: int | None = None


class FoldFit(NamedTuple):
    """What one fit outside a fold was given.

    Attributes
    ----------
    member, repeat, fold : int
    rows, asked : int64 (n,)
        Rows of the caller's table that the model was fitted on, and that it was asked about.
    settings : dict
        Chosen inside these rows.
    """

    member: int
    repeat: int
    fold: int
    rows: NDArray[np.int64]
    asked: NDArray[np.int64]
    settings: dict[str, Any]


class Done(NamedTuple):
    """A task's model with what it says of the rows it was not fitted on."""

    task: BaseTask
    fitted: Fitted
    rows: NDArray[np.int64]
    asked: NDArray[np.int64]
    answers: Floats


class BaseFits:
    """All fits of a stack's base models.

    Parameters
    ----------
    named : sequence of (str, estimator)
    grids : mapping of str to mapping
        By name, the settings to choose from inside the rows of each fit.
    part : Part
        All rows of positive weight.
    fold_of : int64 (n_rows, n_repeats)
    fitter : BaseFitter
    seed : int
    """

    def __init__(
        self, named: Sequence[tuple[str, Any]], grids: dict[str, Any], part: Part,
        fold_of: NDArray[np.int64], fitter: BaseFitter, seed: int,
    ) -> None:  # fmt: skip
        self._named, self._grids, self._part = named, grids, part
        self._fold_of, self._fitter, self._seed = fold_of, fitter, seed
        n_folds, n_repeats = int(fold_of.max()) + 1, fold_of.shape[1]
        # those on all rows first: a stop after them leaves models to use
        self.tasks = [BaseTask(member) for member in range(len(named))] + [
            BaseTask(member, repeat, fold)
            for repeat in range(n_repeats)
            for fold in range(n_folds)
            for member in range(len(named))
        ]

    def tell_of(self, monitor: FitMonitor, end: float) -> Tasks:
        """Return what runs the tasks and tells of them, up to `end` of the whole fit."""
        n_repeats = self._fold_of.shape[1]
        names = [
            f"{self._named[task.member][0]}, all rows"
            if task.fold is None
            else f"{self._named[task.member][0]}, fold {task.fold + 1}"
            + (f", repeat {task.repeat + 1}" if n_repeats > 1 else "")
            for task in self.tasks
        ]
        return Tasks(monitor, names, [task.member for task in self.tasks], end)

    def fit(self, number: int, monitor: FitMonitor) -> Done:
        """Do task `number`."""
        task = self.tasks[number]
        name, learner = self._named[task.member]
        inside = outside = np.arange(len(self._part.y))
        if task.fold is not None:
            is_outside = self._fold_of[:, task.repeat] == task.fold
            inside, outside = np.flatnonzero(~is_outside), np.flatnonzero(is_outside)
        part = self._part if task.fold is None else self._part.take(inside)
        copy = seeded(learner, self._seed, number, only_open=True)
        grid_seed = np.random.SeedSequence(self._seed, spawn_key=(number, OF_GRIDS))
        fitted = self._fitter.fit(copy, self._grids.get(name), part, grid_seed, monitor)
        if task.fold is None:
            return Done(task, fitted, inside, outside[:0], np.empty((0, 0)))
        answers = self._fitter.answer(fitted.model, self._part.take(outside).rows)
        return Done(task, fitted, inside, outside, answers)


class OutOfFold:
    """What base models say of rows that they did not see, row by row and repeat by repeat.

    Parameters
    ----------
    part : Part
    n_models, n_outputs, n_repeats : int
    """

    def __init__(self, part: Part, n_models: int, n_outputs: int, n_repeats: int) -> None:
        self._part = part
        self.values = np.full((n_repeats, len(part.y), n_models, n_outputs), np.nan)

    def add(self, done: Done) -> None:
        self.values[done.task.repeat, done.asked, done.task.member] = done.answers

    def means(self) -> Floats:
        """Return the mean over the repeats: float64 (n_rows, n_models, n_outputs)."""
        return np.asarray(self.values.mean(axis=0))

    def scores(self) -> Floats:
        """Return each base model's share of right rows, or R squared: float64 (n_models,).

        NaN of those that were not asked about every row.
        """
        means = self.means()
        return np.array(
            [
                np.nan
                if np.isnan(means[:, model]).any()
                else score_of(means[:, model], self._part.y, self._part.weights)
                for model in range(means.shape[1])
            ]
        )
