"""The rounds of boosting: derivatives, trees, step lengths, losses, early stopping, events."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.base import TrainingData, member_seed
from engine.binning import bin_table
from engine.boosting.grow import TreeGrower
from engine.boosting.grown import Grown, GrowSettings, Node
from engine.boosting.kernels.losses import binary_loss_change
from engine.boosting.kernels.partition import add_to_rows
from engine.boosting.line_search import set_leaf_steps, tree_step
from engine.boosting.losses import BinaryLogLoss, Loss, MultinomialLogLoss, mean_loss
from engine.errors import DataError, FitStopped
from engine.monitor import FitMonitor, IterationEvent, Stopwatch
from engine.parallel import for_chunks
from engine.predict import tree_values
from engine.tree.structure import Tree

BINNING_SHARE = 0.1  # of the whole fit, as told to the monitor
ASK_EVERY_S = 0.02
MAX_HALVINGS = 60
LEAF_CHUNK = 32768
SURE_STEP = 1.79
"""A Newton step on log loss, shortened to at most this length, cannot raise it: the second derivative
changes by at most the factor exp(step), and exp(a) - a - 1 <= a^2 up to a = 1.793."""


class EarlyStopping:
    """Best round and patience on a validation loss (contracts D18).

    Parameters
    ----------
    n_iter_no_change : int
        Rounds without improvement before the end.
    tol : float
        A loss improves on the best by falling below it by more than this.
    """

    def __init__(self, n_iter_no_change: int, tol: float) -> None:
        self._patience, self._tol = n_iter_no_change, tol
        self._best_loss = math.inf
        self.best_round = 1

    def is_over(self, iteration: int, val_loss: float) -> bool:
        """Take note of a round's loss (NaN never is the best); tell whether patience has run out."""
        if val_loss < self._best_loss - self._tol:
            self.best_round, self._best_loss = iteration, val_loss
        return iteration - self.best_round >= self._patience


@dataclass(frozen=True)
class RoundSettings:
    """What the rounds need beyond the limits of a tree."""

    n_estimators: int
    learning_rate: float
    max_bins: int
    subsample: float
    seed: int
    grow: GrowSettings
    leaf_update: str = "per_leaf"
    colsample_bytree: float = 1.0


class Booster:
    """Runs the rounds; holds what they have made.

    Attributes
    ----------
    baseline : float64 (n_raw,)
    rounds : list of tuple of Tree
        n_raw trees a round.
    train_loss, val_loss : list of float
        Entry 0 is the baseline's; `val_loss` is empty without validation rows.
    steps : list of float
        Each round's line-search step.
    stopped : bool
        A monitor ended the rounds early.
    """

    def __init__(
        self,
        loss: Loss,
        training: TrainingData,
        validation: TrainingData | None,
        settings: RoundSettings,
        monitor: FitMonitor,
        early_stopping: EarlyStopping | None = None,
    ) -> None:
        self._loss, self._training, self._validation = loss, training, validation
        self._settings, self._monitor, self._early_stopping = settings, monitor, early_stopping
        self._stopwatch, self._last_asked = Stopwatch(), time.perf_counter()
        self.baseline = loss.baseline(training.y, training.sample_weight)
        self.rounds: list[tuple[Tree, ...]] = []
        self.steps: list[float] = []
        self._raw, self._derivatives = self._start(training)
        self.train_loss, self.val_loss, self.stopped = [self._train_loss()], list[float](), False
        if validation is not None:
            self._val_raw, self._val_derivatives = self._start(validation)
            self.val_loss.append(self._val_loss(validation))

    def run(self) -> None:
        """Bin the table and run the rounds, until done, stopped early or stopped by the monitor."""
        n_rounds = self._settings.n_estimators
        try:
            grower = self._prepare()
            for iteration in range(1, n_rounds + 1):
                trees = self._grow_round(grower, iteration)
                self.rounds.append(trees)
                if self._tell(trees):
                    self.stopped = iteration < n_rounds
                    break
                if self._early_stopping and self._early_stopping.is_over(iteration, self.val_loss[-1]):
                    break
        except FitStopped:  # the unfinished round is dropped
            self.stopped = True

    def _start(self, data: TrainingData) -> tuple[NDArray[np.float64], tuple[Any, Any]]:
        raw = np.tile(self.baseline, (data.n_rows, 1))
        shape = (self._loss.n_raw, data.n_rows)
        return raw, (np.empty(shape), np.empty(shape))

    def _prepare(self) -> TreeGrower:
        data, settings = self._training, self._settings
        binned = bin_table(
            data.X, data.features, settings.max_bins, n_jobs=settings.grow.n_jobs, on_column=self._ask_binning
        )
        self._ask()
        grower = TreeGrower(binned, data.sample_weight, settings.grow, self._ask)
        message = "" if grower.has_choice else "No column can be split: the model is its start value."
        if self._tell((), message):
            raise FitStopped
        return grower

    def _grow_round(self, grower: TreeGrower, iteration: int) -> tuple[Tree, ...]:
        """Grow the round's trees, add them to the raw predictions and note the losses."""
        generator = np.random.default_rng(int(member_seed(self._settings.seed, iteration)))
        rows = self._draw_rows(generator)
        gradients, hessians = self._derivatives
        grown = [
            grower.grow(gradients[k], hessians[k], rows.copy(), self._draw_columns(generator), generator)
            for k in range(self._loss.n_raw)
        ]
        rate = self._settings.learning_rate
        step = self._search_lines(grown, rows) if self._settings.grow.order == 1 else 1.0
        for one in grown:
            one.keep_directions()
        trees = tuple(tree.to_tree(rate) for tree in grown)
        update = self._update_of(grown, trees, rate)
        if self._may_rise:
            share, loss = self._add_shortened(update)
            if share < 1.0:
                trees = tuple(tree.to_tree(rate * share) for tree in grown)
        else:
            self._raw += update
            loss = self._train_loss()
        self.train_loss.append(loss)
        self.steps.append(step)
        if self._validation is not None:
            for k, tree in enumerate(trees):
                self._val_raw[:, k] += tree_values([tree], self._validation.X, self._n_jobs)[:, 0]
            self.val_loss.append(self._val_loss(self._validation))
        return trees

    def _draw_rows(self, generator: np.random.Generator) -> NDArray[np.int32]:
        """Rows of this round, ascending: all, or a share without repetition and at least one."""
        n_rows, share = self._training.n_rows, self._settings.subsample
        if share == 1.0:
            return np.arange(n_rows, dtype=dtypes.SAMPLE_DTYPE)
        drawn = generator.choice(n_rows, max(1, int(share * n_rows)), replace=False, shuffle=False)
        return np.sort(drawn).astype(dtypes.SAMPLE_DTYPE)

    def _draw_columns(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Columns of one tree, ascending: all, or a share without repetition and at least one."""
        n_columns, share = self._training.n_features, self._settings.colsample_bytree
        if share == 1.0:
            return np.arange(n_columns)
        return np.sort(generator.choice(n_columns, max(1, int(share * n_columns)), replace=False))

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
            step = tree_step(loss, self._raw, data, change, rows, self._ask, self._n_jobs)
            for one in grown:
                one.scale(step)
            return step
        if not loss.takes_newton_steps:
            set_leaf_steps(loss, grown[0], self._raw[:, 0], data, self._ask, self._n_jobs)
        elif isinstance(loss, BinaryLogLoss):
            self._shorten_leaf_steps(grown[0])
        return 1.0

    def _update_of(self, grown: list[Grown], trees: tuple[Tree, ...], rate: float) -> NDArray[np.float64]:
        """What the trees, times `rate`, add to every row's raw predictions: float64 (n_rows, n_raw)."""
        n_rows = self._training.n_rows
        if self._settings.subsample < 1.0:  # rows left out must find their leaves
            return np.column_stack([tree_values([tree], self._training.X, self._n_jobs) for tree in trees])
        update = np.zeros((n_rows, len(trees)))
        for k, tree in enumerate(grown):
            leaves, rows = tree.leaves, tree.sample_indices

            def add_leaf(
                i: int, _start: int, _stop: int, k: int = k, leaves: Any = leaves, rows: Any = rows
            ) -> None:
                add_to_rows(rows, leaves[i].start, leaves[i].stop, leaves[i].value * rate, k, update)

            for_chunks(add_leaf, len(leaves), 1, self._n_jobs if n_rows > LEAF_CHUNK else 1)
        return update

    def _shorten_leaf_steps(self, grown: Grown) -> None:
        """Halve a leaf's step until its rows' log loss does not rise by the shrunken step (D27)."""
        rate = self._settings.learning_rate
        for leaf in grown.leaves:
            halvings = 0
            while (
                abs(leaf.value * rate) > SURE_STEP and self._leaf_change(grown, leaf, leaf.value * rate) > 0
            ):
                leaf.value = leaf.value / 2 if halvings < MAX_HALVINGS else 0.0
                halvings += 1

    def _leaf_change(self, grown: Grown, leaf: Node, step: float) -> float:
        data, rows = self._training, grown.sample_indices
        changes = np.zeros(-(-leaf.n_rows // LEAF_CHUNK))

        def add_chunk(chunk_idx: int, start: int, stop: int) -> None:
            changes[chunk_idx] = binary_loss_change(
                self._raw, data.y, data.sample_weight, rows, leaf.start + start, leaf.start + stop, step
            )

        for_chunks(add_chunk, leaf.n_rows, LEAF_CHUNK, self._n_jobs)
        return float(changes.sum())

    def _add_shortened(self, update: NDArray[np.float64]) -> tuple[float, float]:
        """Add the round's update, halved until the training loss does not rise; return share and loss."""
        before, limit, share = self._raw.copy(), self.train_loss[-1] * (1 + 1e-14), 1.0
        while True:
            np.add(before, share * update, out=self._raw)
            loss = self._train_loss()
            if loss <= limit or share == 0.0:
                return share, loss
            share = share / 2 if share > 2.0**-MAX_HALVINGS else 0.0
            self._ask()

    @property
    def _n_jobs(self) -> int | None:
        return self._settings.grow.n_jobs

    def _train_loss(self) -> float:
        data = self._training
        self._loss.adapt(self._raw, data.y, data.sample_weight)
        return mean_loss(self._loss, self._raw, data.y, data.sample_weight, self._derivatives, self._n_jobs)

    def _val_loss(self, data: TrainingData) -> float:
        return mean_loss(
            self._loss, self._val_raw, data.y, data.sample_weight, self._val_derivatives, self._n_jobs
        )

    def _tell(self, new_trees: tuple[Tree, ...], message: str = "") -> bool:
        """Tell the monitor that a round (or the baseline) is done; True asks to stop."""
        self._last_asked = time.perf_counter()
        event = replace(
            self._event("boosting", len(self.rounds), self._settings.n_estimators),
            train_loss=self.train_loss[-1],
            val_loss=self.val_loss[-1] if self.val_loss else None,
            new_trees=new_trees,
            message=message,
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

    def _ask_binning(self, n_done: int) -> None:
        if self._monitor.on_iteration(self._event("binning", n_done, self._training.n_features)):
            raise FitStopped

    def _event(self, phase: str, n_done: int, n_all: int) -> IterationEvent:
        begin, span = (0.0, BINNING_SHARE) if phase == "binning" else (BINNING_SHARE, 1.0 - BINNING_SHARE)
        return IterationEvent(
            phase=phase,
            iteration=n_done,
            n_iterations=n_all,
            fraction=begin + span * n_done / n_all,
            elapsed_s=self._stopwatch.elapsed_s,
        )


def set_aside(
    training: TrainingData, validation_fraction: float, seed: int
) -> tuple[TrainingData, TrainingData]:
    """Set a share of the rows aside for validation, class by class for classes.

    A class keeps at least one training row; one with a single row is in training only.

    Raises
    ------
    DataError
        There are too few rows for a part of each.
    """
    generator = np.random.default_rng(int(member_seed(seed, 0)))  # rounds count from 1
    groups = np.zeros(training.n_rows) if training.classes is None else training.y
    chosen = []
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        n_chosen = min(max(int(validation_fraction * len(rows) + 0.5), 1), len(rows) - 1)
        chosen.append(generator.choice(rows, n_chosen, replace=False))
    is_validation = np.zeros(training.n_rows, bool)
    is_validation[np.concatenate(chosen)] = True
    if not is_validation.any():
        raise DataError(
            f"{training.n_rows} row(s) are too few to set some aside for early stopping (no class has two); "
            "pass X_val and y_val, or early_stopping=False"
        )
    return _rows_of(training, ~is_validation), _rows_of(training, is_validation)


def _rows_of(data: TrainingData, kept: NDArray[np.bool_]) -> TrainingData:
    weights = dtypes.as_input(data.sample_weight[kept])
    return replace(
        data,
        X=dtypes.as_input(data.X[kept]),
        y=dtypes.as_input(data.y[kept]),
        sample_weight=weights,
        rows=data.rows[kept],
        is_weighted=bool(np.any(weights != 1.0)),
    )
