"""The rounds of AdaBoost: a learner, its error and weight, the rows' new weights, curves, events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from engine.adaboost.combined import Combined, make_combined
from engine.adaboost.learners import Answers, Learners, answers_of
from engine.adaboost.reweighting import (
    Floats,
    chance_level,
    learner_weight,
    reweighted,
    row_losses,
    shares_of,
)
from engine.base import TrainingData
from engine.boosting.early_stopping import EarlyStopping
from engine.errors import FitStopped
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch
from engine.other_learners import Rows
from engine.tree.structure import Tree

SORTING_SHARE = 0.1  # of the whole fit's progress
LEAST_EDGE = 1e-10  # an error that is below chance by less is rounding


class Part(NamedTuple):
    """Rows with their targets and weights, encoded and as they were given."""

    data: TrainingData
    rows: Rows


class Round(NamedTuple):
    """A learner that is kept, its weighted error and its weight."""

    learner: Any
    error: float
    weight: float


@dataclass(frozen=True)
class RoundSettings:
    """What the rounds need.

    Attributes
    ----------
    loss : str
        See `engine.adaboost.reweighting.row_losses`.
    baseline : float64 (n_classes,) or (1,)
    n_classes : int
        Classes that have rows; 2 in regression.
    """

    n_estimators: int
    learning_rate: float
    loss: str
    baseline: Floats
    n_classes: int


class Booster:
    """Runs the rounds; holds what they have made.

    Attributes
    ----------
    rounds : list of Round
    train_loss, val_loss : list of float
        Entry 0 is the baseline's; `val_loss` is empty without validation rows.
    log_weights : float64 (n_rows,)
        Of the rows after the last round.
    stopped : bool
        A monitor ended the rounds early.
    why_ended : str
        Why there are fewer rounds than asked for, in words; empty where none is missing.
    so_far : callable or None
        Makes the model of so many first rounds, after which the rows have these `log_weights`, for who
        watches; set before `run`.
    """

    def __init__(
        self, settings: RoundSettings, learners: Learners, training: Part, validation: Part | None = None,
        monitor: FitMonitor = NULL_MONITOR, early_stopping: EarlyStopping | None = None,
    ) -> None:  # fmt: skip
        self._settings, self._learners, self._early_stopping = settings, learners, early_stopping
        self._training, self._validation = training, validation
        self._is_classifier = training.data.classes is not None
        self._monitor, self._clock, self._is_asked_to_stop = monitor, Stopwatch(), False
        self._fits_all = False
        self._last: tuple[Any, Answers] | None = None  # a new learner, and what it says of the training rows
        self.rounds: list[Round] = []
        self._progress = 0.0  # in rounds, parts of one included
        self.log_weights = np.log(training.data.sample_weight)
        self._combined = self._combined_of(training)
        self._val_combined = None if validation is None else self._combined_of(validation)
        self.train_loss = [self._loss(self._combined, training, _never)]
        self.val_loss: list[float] = []
        if validation is not None and self._val_combined is not None:
            self.val_loss.append(self._loss(self._val_combined, validation, _never))
        self.stopped, self.why_ended = False, ""
        self.so_far: Callable[[int, Floats], Any] | None = None

    def run(self, kept: list[Round]) -> None:
        """Take in the rounds there are already, then add rounds until done, over or stopped."""
        try:
            self._run(kept)
        except FitStopped:  # the unfinished round is dropped
            self.stopped = True

    def _run(self, kept: list[Round]) -> None:
        n_rounds = self._settings.n_estimators
        if self._learners.prepare(self._ask_preparing) or self._tell(None):
            self.stopped = True
            return
        for number in range(1, n_rounds + 1):
            made = kept[number - 1] if number <= len(kept) else self._grow(number)
            if made is None:
                return
            self._take_in(made)
            is_over = self._is_over(number)
            if self._tell(made, is_over) and not is_over:
                self.stopped = True
                return
            if is_over:
                return

    def _grow(self, number: int) -> Round | None:
        """Make a round; None where a stop came first, or where its learner is no better than chance."""

        def ask(_n_nodes: int, fraction: float) -> bool:
            self._progress = max(self._progress, number - 1 + fraction)
            return self._poll(self._event(number - 1, self._progress))

        learner = self._learners.grow(self.log_weights, number, ask)
        if learner is None:
            self.stopped = True
            return None
        self._ask()
        self._last = learner, self._answers_of(learner, self._training)
        losses = row_losses(self._settings.loss, self._last[1].of_rows, self._training.data.y)
        self._ask()
        error = float(shares_of(self.log_weights) @ losses)
        if error >= chance_level(self._settings.n_classes) - LEAST_EDGE:
            which = "the first learner has" if number == 1 else f"the learner of round {number} has"
            ends = "boosting cannot start" if number == 1 else "boosting ends"
            self.why_ended = f"{which} error {error:.2f}, no better than chance: {ends}"
            self._poll(self._event(number - 1, self._settings.n_estimators, self.why_ended))
            return None
        weight = learner_weight(error, self._settings.n_classes, self._settings.learning_rate)
        return Round(learner, error, weight)

    def _take_in(self, made: Round) -> None:
        """Reweight the rows, add the learner and note the losses; a stop in between drops the round."""
        is_known = self._last is not None and self._last[0] is made.learner
        answers = self._last[1] if is_known and self._last else self._answers_of(made.learner, self._training)
        self._ask()
        losses = row_losses(self._settings.loss, answers.of_rows, self._training.data.y)
        log_weights = reweighted(self.log_weights, made.weight, losses)
        self._ask()
        self._combined.add(answers, made.weight)
        self._ask()
        train_loss = self._loss(self._combined, self._training, self._ask)
        if self._validation is not None and self._val_combined is not None:
            answers = self._answers_of(made.learner, self._validation)
            self._ask()
            self._val_combined.add(answers, made.weight)
            self.val_loss.append(self._loss(self._val_combined, self._validation, self._ask))
        self.train_loss.append(train_loss)
        self.rounds.append(made)
        self._fits_all, self.log_weights, self._last = not losses.any(), log_weights, None

    def _answers_of(self, learner: Any, part: Part) -> Answers:
        return answers_of(learner, part.rows, part.data.n_classes, self._ask)

    def _is_over(self, number: int) -> bool:
        """Tell whether no round is to follow, and say why where some are missing."""
        if self._fits_all:
            self.why_ended = f"round {number} fits all rows" if number < self._settings.n_estimators else ""
            return True
        if self._early_stopping is not None and self._early_stopping.is_over(number, self.val_loss[-1]):
            return True
        return number == self._settings.n_estimators

    def _combined_of(self, part: Part) -> Combined:
        settings = self._settings
        return make_combined(
            part.data.n_rows, settings.baseline, settings.n_estimators, self._is_classifier
        )  # fmt: skip

    def _loss(self, combined: Combined, part: Part, ask: Callable[[], None]) -> float:
        """Return the weighted share of wrong rows, or half the mean squared error."""
        said, y = combined.said(ask), part.data.y
        of_rows = (said != y).astype(np.float64) if self._is_classifier else (said - y) ** 2 / 2
        return float(np.average(of_rows, weights=part.data.sample_weight))

    def _ask_preparing(self, n_done: int, fraction: float) -> bool:
        n_columns = self._training.data.n_features
        event = IterationEvent("sorting", n_done, n_columns, SORTING_SHARE * fraction, self._clock.elapsed_s)
        return self._poll(event)

    def _event(self, n_done: int, progress: float, message: str = "") -> IterationEvent:
        n_rounds = self._settings.n_estimators
        fraction = SORTING_SHARE + (1 - SORTING_SHARE) * progress / n_rounds
        return IterationEvent("boosting", n_done, n_rounds, fraction, self._clock.elapsed_s, message=message)

    def _tell(self, made: Round | None, is_over: bool = False) -> bool:
        """Tell of a round, or of the baseline; returns whether to stop."""
        n_done = len(self.rounds)
        self._progress = max(self._progress, float(n_done))
        event = self._event(n_done, self._settings.n_estimators if is_over else n_done, self.why_ended)
        return self._poll(
            replace(
                event,
                train_loss=self.train_loss[-1],
                val_loss=self.val_loss[-1] if self.val_loss else None,
                new_trees=() if made is None or not isinstance(made.learner, Tree) else (made.learner,),
                step_error=None if made is None else made.error,
                so_far=None if self.so_far is None else partial(self.so_far, n_done, self.log_weights),
            )
        )

    def _ask(self) -> None:
        """Ask inside a round, between steps of one pass over the rows; raises where a stop is wanted."""
        n_done = len(self.rounds)
        if self._poll(self._event(n_done, self._progress)):
            raise FitStopped

    def _poll(self, event: IterationEvent) -> bool:
        self._is_asked_to_stop = self._monitor.on_iteration(event) or self._is_asked_to_stop
        return self._is_asked_to_stop


def _never() -> None:
    """Ask nobody: the baseline is quick, and told of later."""


def staged_weights(training: Part, rounds: Sequence[Round], loss: str) -> Iterator[Floats]:
    """Yield the rows' weights before the first round and after each, from the learners; they sum to 1."""
    log_weights = np.log(training.data.sample_weight)
    yield shares_of(log_weights)
    for made in rounds:
        answers = answers_of(made.learner, training.rows, training.data.n_classes)
        log_weights = reweighted(log_weights, made.weight, row_losses(loss, answers.of_rows, training.data.y))
        yield shares_of(log_weights)
