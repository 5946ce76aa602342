"""One network of an ensemble while it is trained: an epoch at a time, the same whatever runs beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base import member_seed
from engine.boosting.early_stopping import EarlyStopping
from engine.neural.kernels import training as kernels
from engine.neural.kernels.losses import LARGEST_LOG_VARIANCE
from engine.neural.kernels.training import Memory, Recipe
from engine.neural.layout import Layout, start_parameters

FLOPS_PER_CALL = 4e8  # about 20 ms of a kernel call
FLOPS_PER_UNIT = 50  # what a unit costs beside products: activation, bias, copying
OF_START, OF_ORDER, OF_ROWS = 1, 2, 3  # second number of the key of a member's seeds (D9)

Singles = NDArray[np.float32]


class Rows(NamedTuple):
    """Rows as networks read them.

    Attributes
    ----------
    inputs : float32 (n_rows, n_inputs)
    targets : float32 (n_rows,)
        Standardised, or class numbers.
    row_weights : float32 (n_rows,)
        With a mean of 1.
    """

    inputs: Singles
    targets: Singles
    row_weights: Singles


class Training(NamedTuple):
    """What all members share.

    Attributes
    ----------
    rows : Rows
    validation : Rows or None
    layout : Layout
    recipe : Recipe
    output_biases : float32 (n_outputs,)
        What a network answers before it is trained.
    n_learned_at_once : int
        Outputs beyond have to wait for `warm_up` epochs.
    warm_up : int
    max_epochs : int
    patience, tol : int, float
        Of early stopping; a patience of 0 is none.
    bootstrap : bool
    seed : int
    """

    rows: Rows
    validation: Rows | None
    layout: Layout
    recipe: Recipe
    output_biases: Singles
    n_learned_at_once: int
    warm_up: int
    max_epochs: int
    patience: int
    tol: float
    bootstrap: bool
    seed: int


class Epoch(NamedTuple):
    """What is told of an epoch: losses of the standardised target, NaN where there is none."""

    member: int
    number: int
    train_loss: float
    val_loss: float


class Member:
    """A network in training.

    Attributes
    ----------
    number : int
    kept : float32 (n_parameters,) or None
        What it has learned that is worth keeping: after its best epoch where it stops early, else after the
        last; of a first epoch that a stop cut short, what there is of it. None before anything.
    train_losses, val_losses : list of float
        By epoch, of the standardised target.
    best_epoch : int
        Which epoch `kept` is of, from 1; 0 before the first is done.
    diverged_in : int
        The epoch in which a number was no longer finite; 0 for none. The epochs before it are kept.
    """

    def __init__(self, number: int, training: Training) -> None:
        self.number, self._training = number, training
        self.kept: Singles | None = None
        self.train_losses: list[float] = []
        self.val_losses: list[float] = []
        self.best_epoch, self.diverged_in = 0, 0
        stops_early = training.patience > 0 and training.validation is not None
        self._stopping = EarlyStopping(training.patience, training.tol) if stops_early else None
        self._is_patient = True
        self._memory: Memory | None = None

    @property
    def n_epochs(self) -> int:
        """Epochs done."""
        return len(self.train_losses)

    @property
    def is_over(self) -> bool:
        """Tell whether nothing is left to be trained."""
        return self.n_epochs >= self._training.max_epochs or self.diverged_in > 0 or not self._is_patient

    def advance(self, ask: Callable[[], bool]) -> Epoch | None:
        """Train for an epoch, asking every 20 ms whether to stop; None where it did, or where all is done."""
        if self.is_over or ask():
            return None
        if self._memory is None:
            self._begin()
        if not self._train_epoch(ask):
            return None
        train_loss = float(self._loss_sum[0]) / self._weight_sum
        if self.n_epochs < self._training.warm_up:
            self._hold_variance(train_loss)
        val_loss = self._validation_loss(ask)
        if val_loss is None:
            return None
        self.train_losses.append(train_loss)
        self.val_losses.append(val_loss)
        self._judge(val_loss)
        return Epoch(self.number, self.n_epochs, self.train_losses[-1], val_loss)

    def _begin(self) -> None:
        training = self._training
        n_rows = len(training.rows.targets)
        self._memory = room_to_train(training.layout, training.recipe.block_rows)
        self._memory.parameters[:] = start_parameters(
            training.layout, training.output_biases, training.n_learned_at_once,
            np.random.default_rng(self._seeds(OF_START)),
        )  # fmt: skip
        self._order = np.arange(n_rows, dtype=np.int32)
        if training.bootstrap:
            drawn = np.random.default_rng(self._seeds(OF_ROWS)).integers(n_rows, size=n_rows)
            self._order[:] = np.sort(drawn)
        weights = training.rows.row_weights[self._order]
        # rows drawn may all have weights so small that they are nothing in single precision
        self._weight_sum = float(weights.sum(dtype=np.float64)) or 1.0
        self._random_state = np.array([member_seed(training.seed, self.number)], np.uint64)
        self._n_steps, self._loss_sum = np.zeros(1, np.int64), np.zeros(1)
        self._place = n_rows  # an epoch begins with a shuffle

    def _seeds(self, use: int) -> np.random.SeedSequence:
        return np.random.SeedSequence(self._training.seed, spawn_key=(self.number, use))

    @property
    def _rows_per_call(self) -> int:
        layout = self._training.layout
        return max(1, int(FLOPS_PER_CALL / (6 * layout.n_parameters + FLOPS_PER_UNIT * layout.n_units)))

    def _train_epoch(self, ask: Callable[[], bool]) -> bool:
        """Go through the rows once; False where a stop or a number that is not finite ended it."""
        training, memory, n_rows = self._training, self._memory, len(self._order)
        assert memory is not None
        kernels.shuffle(self._order, self._random_state)
        self._place, self._loss_sum[:] = 0, 0.0
        is_held = self.n_epochs < training.warm_up
        while self._place < n_rows:
            self._place = kernels.train_rows(
                *training.rows, self._order, self._place, self._rows_per_call, training.layout.sizes,
                training.layout.starts, training.recipe, is_held, memory, self._random_state, self._n_steps,
                self._loss_sum,
            )  # fmt: skip
            if not np.isfinite(self._loss_sum[0]):
                self.diverged_in = self.n_epochs + 1
                return False
            if self.kept is None or self.best_epoch == 0:
                self._keep_unfinished()
            if self._place < n_rows and ask():
                return False
        if not np.isfinite(memory.parameters).all():
            self.diverged_in = self.n_epochs + 1
            return False
        return True

    def _hold_variance(self, train_loss: float) -> None:
        """Set the one variance that all rows have for now to the epoch's mean squared error.

        Gradients are in inverse proportion to it, and so are Adam's moments made: its steps go on as if
        the loss were squared error.
        """
        training, memory = self._training, self._memory
        assert memory is not None
        biases = training.layout.split(memory.parameters)[-1][1]
        floor = training.recipe.variance_floor
        before = floor + float(np.exp(np.float64(biases[1])))
        error = before * (2 * train_loss - float(np.log(before)))  # of 0.5 * (log v + error / v)
        lowest, highest = np.exp(-LARGEST_LOG_VARIANCE), np.exp(LARGEST_LOG_VARIANCE)
        biases[1] = np.log(np.clip(error - floor, lowest, highest))
        ratio = before / (floor + float(np.exp(np.float64(biases[1]))))
        memory.first_moments[:] *= np.float32(ratio)
        memory.second_moments[:] *= np.float32(ratio * ratio)

    def _keep_unfinished(self) -> None:
        assert self._memory is not None
        if np.isfinite(self._memory.parameters).all():
            self.kept = self._memory.parameters.copy()

    def _validation_loss(self, ask: Callable[[], bool]) -> float | None:
        """Return the mean loss on the validation part, NaN without one; None where a stop came."""
        rows, training = self._training.validation, self._training
        if rows is None:
            return float("nan")
        total, n_rows = 0.0, len(rows.targets)
        for first in range(0, n_rows, 3 * self._rows_per_call):
            last = min(first + 3 * self._rows_per_call, n_rows)
            total += kernels.sum_losses(
                *rows, first, last, training.layout.sizes, training.layout.starts, training.recipe,
                self._memory,
            )  # fmt: skip
            if last < n_rows and ask():
                return None
        return total / float(rows.row_weights.sum(dtype=np.float64))

    def _judge(self, val_loss: float) -> None:
        """Keep the epoch if it is the best so far, or if none is sought; see whether it was the last."""
        assert self._memory is not None
        if self._stopping is None:
            self.best_epoch, self.kept = self.n_epochs, self._memory.parameters.copy()
            return
        is_over = self._stopping.is_over(self.n_epochs, val_loss)
        # while the variance is held, losses tell nothing of what comes after
        self._is_patient = not (is_over and self.n_epochs > self._training.warm_up)
        if self._stopping.best_round == self.n_epochs or self.best_epoch == 0:
            self.best_epoch, self.kept = self.n_epochs, self._memory.parameters.copy()


def room_to_train(layout: Layout, block_rows: int, dtype: type = np.float32) -> Memory:
    """Return zeros for a network and for a block of rows."""
    of_network, of_units = layout.n_parameters, block_rows * layout.n_units
    sizes = (*(of_network,) * 5, *(of_units,) * 3, block_rows, block_rows)
    return Memory._make(np.zeros(size, dtype) for size in sizes)
