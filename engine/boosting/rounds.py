"""The rounds of boosting: derivatives, trees, step lengths, losses, early stopping, events."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.base import TrainingData, member_seed
from engine.binning import bin_table
from engine.boosting.derivatives import Derivatives, room_for_derivatives
from engine.boosting.early_stopping import EarlyStopping
from engine.boosting.grow import TreeGrower
from engine.boosting.grower import NO_STATISTICS, Grower
from engine.boosting.grown import Grown, GrowSettings, add_leaves
from engine.boosting.line_search import MAX_HALVINGS, set_leaf_steps, shorten_leaf_steps, tree_step
from engine.boosting.losses import BinaryLogLoss, Loss, MultinomialLogLoss, sum_losses
from engine.boosting.oblivious import LevelGrower
from engine.boosting.ordered import OrderedTable, order_table
from engine.boosting.start import begin_with, model_raw, trees_raw
from engine.boosting.team import Team
from engine.errors import FitStopped, ParameterError
from engine.monitor import FitMonitor, IterationEvent, Stopwatch
from engine.predict import tree_values
from engine.tree.structure import Tree

BINNING_SHARE = 0.1  # of the whole fit, as told to the monitor
ASK_EVERY_S = 0.02
CELLS_A_TEAM = 2**18  # row visits x columns of a round, at least, for other threads to be called
CELLS_A_ROW = 8  # what is done to a row beside adding it up, in columns
LARGEST_REACH = 5e153  # of the sum of weights and a prediction: beyond, squares of errors are infinite

GrowRound = Callable[[int, float], tuple[tuple[Any, ...], float]]
"""Grows round `iteration` at a rate, adds it to the raw predictions, and returns its members and the step."""


@dataclass(frozen=True)
class RoundSettings:
    """What the rounds need beyond the limits of a tree."""

    n_estimators: int
    learning_rate: float
    max_bins: int
    subsample: float
    seed: int
    grow: GrowSettings
    init: Any = "constant"
    leaf_update: str = "per_leaf"
    colsample_bytree: float = 1.0
    categorical: str = "partition"


@dataclass(frozen=True)
class Earlier:
    """What a model that is trained on begins with (`warm_start`)."""

    baseline: NDArray[np.float64]
    init: Any
    rounds: list[tuple[Tree, ...]]
    steps: list[float]


class Booster:
    """Runs the rounds; holds what they have made.

    Attributes
    ----------
    baseline : float64 (n_raw,)
    init : tuple of Tree, or a fitted model
        What the rounds begin with beside, or instead of, the baseline.
    rounds : list of tuple of Tree
        n_raw trees a round.
    train_loss, val_loss : list of float
        Entry 0 is the baseline's; `val_loss` is empty without validation rows.
    steps : list of float
        Each round's line-search step.
    val_score : list of float
        What `score` told, as `val_loss`.
    stopped : bool
        A monitor ended the rounds early.
    so_far : callable or None
        Makes the model of so many first rounds, for who watches; set before `run`.
    """

    _cure_of_growth = "enter a smaller one, at most 1"

    def __init__(
        self,
        loss: Loss,
        training: TrainingData,
        validation: TrainingData | None,
        settings: RoundSettings,
        monitor: FitMonitor,
        early_stopping: EarlyStopping | None = None,
        score: Callable[[NDArray[np.float64]], float] | None = None,
        earlier: Earlier | None = None,
    ) -> None:
        self._loss, self._training, self._validation = loss, training, validation
        self._settings, self._monitor, self._early_stopping = settings, monitor, early_stopping
        self._stopwatch, self._last_asked = Stopwatch(), time.perf_counter()
        self._score, self._earlier = score, earlier
        self._stop_seen = False  # inside a learner's own fit, out of which no exception is to go
        self._ordered: OrderedTable | None = None
        self.so_far: Callable[[int], Any] | None = None
        self.rounds, self.steps = list[tuple[Tree, ...]](), list[float]()
        self.train_loss, self.val_loss, self.val_score = list[float](), list[float](), list[float]()
        constant = loss.baseline(training.y, training.sample_weight)  # some losses take note of it
        if earlier is None:
            seed, is_to_stop = settings.seed, self._is_to_stop_before
            self.baseline, self.init = begin_with(settings.init, constant, training, seed, is_to_stop)
        else:
            self.baseline, self.init = earlier.baseline, earlier.init
        self._raw, self._derivatives = self._start(training)
        if validation is not None:
            self._val_raw, self._val_derivatives = self._start(validation)
            self._val_total_weight = float(validation.sample_weight.sum())
        self._reach = float(np.abs(self._raw).max())  # no raw prediction is larger
        self._total_weight = float(training.sample_weight.sum())
        self._largest_reach = LARGEST_REACH / max(self._total_weight, 1.0)
        self._all_rows = np.arange(training.n_rows, dtype=dtypes.SAMPLE_DTYPE)
        self.stopped = False
        self._team = Team(settings.grow.n_jobs)
        with self._team_at_work():
            self._note_losses()

    @property
    def curves(self) -> tuple[NDArray[np.float64], ...]:
        """`train_loss`, `val_loss`, `val_score` and `steps` as arrays."""
        return tuple(map(np.array, (self.train_loss, self.val_loss, self.val_score, self.steps)))

    def run(self) -> None:
        """Bin the table and run the rounds, until done, stopped early or stopped by the monitor."""
        try:
            if self._stop_seen:
                raise FitStopped
            with self._team_at_work():
                self._run_rounds(self._prepare())
        except FitStopped:  # the unfinished round is dropped
            self.stopped = True

    def _team_at_work(self) -> AbstractContextManager[None]:
        data = self._training
        return self._team.at_work(is_short=data.n_rows * (data.n_features + CELLS_A_ROW) < CELLS_A_TEAM)

    def _run_rounds(self, grow_round: GrowRound) -> None:
        n_rounds = self._settings.n_estimators
        for iteration in range(len(self.rounds) + 1, n_rounds + 1):
            trees, step = grow_round(iteration, self._settings.learning_rate)
            self._add_to_validation(trees)
            self._check_growth(trees, iteration)
            self._note_losses()
            self.rounds.append(trees)
            self.steps.append(step)
            is_over = self._is_over()
            if self._tell(trees):
                self.stopped = iteration < n_rounds
                break
            if is_over:
                break

    def _check_growth(self, trees: tuple[Tree, ...], iteration: int) -> None:
        """Raise ParameterError where rounds overshoot so far that squares will be infinite."""
        self._reach += max(float(np.abs(tree.value).max()) for tree in trees)
        if not self._reach <= self._largest_reach:
            self._check_reach(iteration)  # leaves of either sign may have made up for each other

    def _check_reach(self, iteration: int) -> None:
        """Look for the largest raw prediction at the rows themselves; raises as `_check_growth`."""
        parts = [self._raw] if self._validation is None else [self._raw, self._val_raw]
        with_rows = np.isfinite(self.baseline)  # a declared class without rows stays at minus infinity
        self._reach = max(float(np.abs(raw[:, with_rows]).max(initial=0.0)) for raw in parts)
        if not self._reach <= self._largest_reach:
            raise ParameterError(
                f"learning_rate is {self._settings.learning_rate:g}, with which predictions grow without "
                f"limit (up to {self._reach:g} in round {iteration}); {self._cure_of_growth}"
            )

    def _is_over(self) -> bool:
        """Take note of the last round's loss or score; tell whether patience has run out."""
        if self._early_stopping is None:
            return False
        told = -self.val_score[-1] if self._score is not None else self.val_loss[-1]
        return self._early_stopping.is_over(len(self.rounds), told)

    def _start(self, data: TrainingData) -> tuple[NDArray[np.float64], Derivatives]:
        if isinstance(self.init, tuple):
            raw = trees_raw(self.baseline, self.init, data.X, self._n_jobs)
        else:
            raw = model_raw(self.init, data.X, self._loss, data.n_classes)
        return raw, room_for_derivatives(self._loss.n_raw, data.n_rows, self._loss.row_chunk)

    def _prepare(self) -> GrowRound:
        """Bin the table and begin the rounds; return what grows one."""
        data, settings = self._training, self._settings
        if settings.categorical == "ordered":
            self._ordered = order_table(
                data, self._loss.n_raw, settings.max_bins, settings.seed, partial(self._ask_binning, 0)
            )
        X, features, statistics = (data.X, data.features, NO_STATISTICS)
        if self._ordered is not None:
            X, features, statistics = self._ordered.X, self._ordered.features, self._ordered.statistics
        binned = bin_table(
            X, features, settings.max_bins, n_jobs=settings.grow.n_jobs,
            on_column=lambda n_done: self._ask_binning(n_done, len(features)),
        )  # fmt: skip
        self._ask()
        kind: type[Grower] = LevelGrower if settings.grow.growth == "oblivious" else TreeGrower
        grower = kind(binned, data.sample_weight, settings.grow, self._ask, self._team, statistics)
        if self._loss.n_raw == 1 and grower.has_derivatives_alone:
            self._derivatives = self._derivatives._replace(fixed=grower.fixed)
        grow_round = partial(self._grow_trees, grower)
        message = "" if grower.has_choice else "No column can be split: the model is its start value."
        first = self._begin_rounds(grow_round)
        if self._ordered is not None and settings.subsample == 1.0:  # no row has to find its leaf any more
            self._ordered = replace(self._ordered, X=np.empty((0, len(features))))
        if self._tell(first, message):
            raise FitStopped
        return grow_round

    def _begin_rounds(self, grow_round: GrowRound) -> tuple[Tree, ...]:
        """Grow the first tree, or add up the earlier rounds as when they were grown."""
        if self._earlier is not None:
            if self._ordered is not None and isinstance(self.init, tuple) and self.init:
                self._raw = self.baseline + self._values_of(self.init)
                self.train_loss[0] = self._train_loss()
            for trees, step in zip(self._earlier.rounds, self._earlier.steps, strict=True):
                self._add_to_training(trees)
                self._add_to_validation(trees)
                self._check_growth(trees, len(self.rounds) + 1)
                self._ask()
                self.rounds.append(trees)
                self.steps.append(step)
                self._note_losses()
                self._is_over()
            return ()
        if self._settings.init != "first_tree":
            return ()
        first, _ = grow_round(0, 1.0)
        self.init = first
        self._add_to_validation(first)
        self._check_growth(first, 0)
        for losses in (self.train_loss, self.val_loss, self.val_score):
            losses.clear()
        self._note_losses()
        return first

    def _note_losses(self) -> None:
        self.train_loss.append(self._train_loss())
        if self._validation is not None:
            self.val_loss.append(self._val_loss(self._validation))
            if self._score is not None:
                self.val_score.append(self._score(self._val_raw))

    def _add_to_training(self, trees: tuple[Tree, ...]) -> None:
        self._raw += self._values_of(trees)

    def _add_to_validation(self, trees: tuple[Tree, ...]) -> None:
        if self._validation is not None:
            for k, tree in enumerate(trees):
                self._val_raw[:, k] += tree_values([tree], self._validation.X, self._n_jobs, self._ask)[:, 0]

    def _grow_trees(self, grower: Grower, iteration: int, rate: float) -> tuple[tuple[Tree, ...], float]:
        """Grow a round's trees and add them to the raw predictions; return them and the step."""
        generator = self._generator_of(iteration) if self._draws else None
        rows = self._draw_rows(generator)
        grown = [
            grower.grow(self._derivatives, rows, self._draw_columns(generator, k), generator, k)
            for k in range(self._loss.n_raw)
        ]
        step = self._search_lines(grown, rows) if self._settings.grow.order == 1 else 1.0
        for one in grown:
            one.keep_directions()
        trees = list[Tree]()

        def make_trees() -> None:
            trees.extend(tree.to_tree(rate) for tree in grown)

        if not self._may_rise and self._settings.subsample == 1.0:
            add_leaves(grown, rate, self._raw, self._team, meanwhile=make_trees)
            return tuple(trees), step
        make_trees()
        self._ask()
        update = self._update_of(grown, tuple(trees), rate)
        if not self._may_rise:
            self._raw += update
        elif (share := self._add_shortened(update)) < 1.0:
            trees = [tree.to_tree(rate * share) for tree in grown]
        return tuple(trees), step

    def _generator_of(self, iteration: int) -> np.random.Generator:
        return np.random.default_rng(int(member_seed(self._settings.seed, iteration)))

    @property
    def _draws(self) -> bool:
        """Tell whether chance decides on rows or columns; else no generator is made, in 0.1 ms."""
        settings = self._settings
        is_whole = settings.subsample == settings.colsample_bytree == 1.0
        return not is_whole or settings.grow.max_features is not None

    def _draw_rows(self, generator: np.random.Generator | None) -> NDArray[np.int32]:
        """Rows of this round, ascending: all, or a share without repetition and at least one."""
        n_rows, share = self._training.n_rows, self._settings.subsample
        if share == 1.0 or generator is None:
            return self._all_rows
        drawn = generator.choice(n_rows, max(1, int(share * n_rows)), replace=False, shuffle=False)
        return np.sort(drawn).astype(dtypes.SAMPLE_DTYPE)

    def _draw_columns(self, generator: np.random.Generator | None, raw_idx: int) -> NDArray[np.int64]:
        """Columns of one tree, ascending: all, or a share without repetition and at least one."""
        n_columns, share = self._training.n_features, self._settings.colsample_bytree
        drawn = np.arange(n_columns)
        if share < 1.0 and generator is not None:
            drawn = np.sort(generator.choice(n_columns, max(1, int(share * n_columns)), replace=False))
        return drawn if self._ordered is None else self._ordered.columns[raw_idx, drawn]

    @property
    def _may_rise(self) -> bool:
        """Tell whether a round can overshoot as a whole, so that its loss has to be looked at (D27)."""
        settings = self._settings
        is_searched = settings.grow.order == 2 or settings.leaf_update == "per_tree"
        is_bounded = len(settings.grow.directions) > 0
        return not is_searched and (is_bounded or isinstance(self._loss, MultinomialLogLoss))

    def _search_lines(self, grown: list[Grown], rows: NDArray[np.int32]) -> float:
        """Give the leaves of a first-order round their steps, or all of them one, which is returned."""
        data, loss = self._training, self._loss
        if self._settings.leaf_update == "per_tree":
            for one in grown:
                one.keep_directions()
            trees = tuple(tree.to_tree(1.0) for tree in grown)
            change = self._update_of(grown, trees, 1.0)
            step = tree_step(loss, self._raw, data, change, rows, self._ask, self._team)
            for one in grown:
                one.scale(step)
            return step
        if not loss.takes_newton_steps:
            set_leaf_steps(loss, grown[0], self._raw[:, 0], data, self._ask, self._n_jobs)
        elif isinstance(loss, BinaryLogLoss):
            rate = self._settings.learning_rate
            shorten_leaf_steps(grown[0], self._raw, data, rate, self._n_jobs)
        return 1.0

    def _update_of(self, grown: list[Grown], trees: tuple[Tree, ...], rate: float) -> NDArray[np.float64]:
        """What the trees, times `rate`, add to every row's raw predictions: float64 (n_rows, n_raw)."""
        if self._settings.subsample < 1.0:  # rows left out must find their leaves
            return self._values_of(trees)
        update = np.zeros((self._training.n_rows, len(trees)))
        add_leaves(grown, rate, update, self._team)
        return update

    def _values_of(self, trees: tuple[Tree, ...]) -> NDArray[np.float64]:
        """What a round's trees tell the training rows, by what these are told of their categories."""
        X = self._training.X
        if self._ordered is not None:
            X, trees = self._ordered.X, tuple(self._ordered.as_grown(tree, k) for k, tree in enumerate(trees))
        return np.column_stack([tree_values([tree], X, self._n_jobs, self._ask) for tree in trees])

    def _add_shortened(self, update: NDArray[np.float64]) -> float:
        """Add the round's update, halved until the training loss does not rise; return its share."""
        before, limit, share = self._raw.copy(), self.train_loss[-1] * (1 + 1e-14), 1.0
        while True:
            np.add(before, share * update, out=self._raw)
            if share == 0.0 or self._train_loss() <= limit:
                return share
            share = share / 2 if share > 2.0**-MAX_HALVINGS else 0.0
            self._ask()

    @property
    def _n_jobs(self) -> int | None:
        return self._settings.grow.n_jobs

    def _train_loss(self) -> float:
        data = self._training
        self._loss.adapt(self._raw, data.y, data.sample_weight)
        rows = self._raw, data.y, data.sample_weight if data.is_weighted else data.sample_weight[:0]
        return sum_losses(self._loss, *rows, self._derivatives, self._team) / self._total_weight

    def _val_loss(self, data: TrainingData) -> float:
        rows = self._val_raw, data.y, data.sample_weight
        return sum_losses(self._loss, *rows, self._val_derivatives, self._team) / self._val_total_weight

    def _tell(self, new_trees: tuple[Tree, ...], message: str = "") -> bool:
        """Tell the monitor that a round (or the baseline) is done; True asks to stop."""
        self._last_asked = time.perf_counter()
        event = replace(
            self._event("boosting", len(self.rounds), self._settings.n_estimators),
            train_loss=self.train_loss[-1],
            val_loss=self.val_loss[-1] if self.val_loss else None,
            new_trees=new_trees,
            message=message,
            so_far=None if self.so_far is None else partial(self.so_far, len(self.rounds)),
        )
        return self._monitor.on_iteration(event)

    def _ask(self) -> None:
        """Inside a round: ask the monitor now and then, so that a stop need not wait for its end."""
        if time.perf_counter() - self._last_asked < ASK_EVERY_S:
            return
        event = self._event("boosting", len(self.rounds), self._settings.n_estimators)
        if self._monitor.on_iteration(event):
            raise FitStopped
        self._last_asked = time.perf_counter()

    def _is_to_stop_before(self) -> bool:
        """Ask while the model fits that the rounds begin with."""
        if not self._stop_seen:
            self._stop_seen = self._monitor.on_iteration(IterationEvent("training the start"))
        return self._stop_seen

    def _ask_binning(self, n_done: int, n_columns: int = 1) -> None:
        if self._monitor.on_iteration(self._event("binning", n_done, n_columns)):
            raise FitStopped

    def _event(self, phase: str, n_done: int, n_all: int) -> IterationEvent:
        begin, span = (0.0, BINNING_SHARE) if phase == "binning" else (BINNING_SHARE, 1.0 - BINNING_SHARE)
        return IterationEvent(
            phase=phase,
            iteration=n_done,
            n_iterations=n_all,
            fraction=begin + span * (n_done / n_all),  # never above the next phase's begin
            elapsed_s=self._stopwatch.elapsed_s,
        )
