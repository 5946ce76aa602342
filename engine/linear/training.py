"""Epochs of the perceptron: rows in drawn order, the weights worth keeping, progress and stop."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, parallel
from engine.linear.kernels.perceptron import learn_rows, values_of_rows
from engine.linear.machines import Machines
from engine.monitor import StopWatcher

ROWS_PER_CHUNK = 4096  # rows whose values are computed together
MOST_PIECE_ROWS = 2**16  # learned between two looks at the stop
MOST_PIECE_PRODUCTS = 2**24  # or fewer, where rows are long: about 20 ms

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """Rows as machines read them.

    Attributes
    ----------
    inputs : float64 (n_rows, n_inputs)
    own_classes : int64 (n_rows,)
        Place among the classes that training has rows of; -1 for others.
    weights : float64 (n_rows,)
    """

    inputs: Floats
    own_classes: NDArray[np.int64]
    weights: Floats


class Judged(NamedTuple):
    """What is said of an epoch, or of the start.

    Attributes
    ----------
    n_mistakes : int
        Rows that changed the weights.
    train_loss, val_loss : float
        Share of rows that the answers after it are wrong on; NaN without a validation part, and of a start
        that a stop cut short.
    """

    n_mistakes: int
    train_loss: float
    val_loss: float

    @property
    def is_faultless(self) -> bool:
        """Nothing is left to be learned."""
        return self.n_mistakes == 0 and self.train_loss == 0


class Perceptron:
    """Machines in training (Rosenblatt 1958; averaged: Freund, Schapire 1999, Collins 2002).

    Parameters
    ----------
    rows : Rows
    validation : Rows or None
    machines : Machines
    averaged : bool
        Answer by the mean of the weights after each row.
    seed : int
    n_jobs : int or None
        Threads that answer; rows are learned in one.
    watcher : StopWatcher
    """

    def __init__(
        self, rows: Rows, validation: Rows | None, machines: Machines, *, averaged: bool, seed: int,
        n_jobs: int | None, watcher: StopWatcher,
    ) -> None:  # fmt: skip
        self._rows, self._validation, self._machines = rows, validation, machines
        self._averaged, self._seed, self._n_jobs, self._watcher = averaged, seed, n_jobs, watcher
        n_machines = machines.signs.shape[1]
        self._weights, self._lags = np.zeros((2, rows.inputs.shape[1] + 1, n_machines))
        self._seen, self._values, self._changes = np.zeros(1), np.zeros(n_machines), np.zeros(n_machines)
        self._steps = dtypes.as_input(rows.weights / rows.weights.max())
        self._signs = dtypes.as_input(machines.signs)

    def start(self) -> tuple[Floats, Judged]:
        """Return weights by which the class with the most weight is answered in all rows."""
        shares = np.bincount(self._rows.own_classes, self._rows.weights, len(self._signs))
        weights = np.zeros_like(self._weights)
        weights[-1] = self._machines.values_of_shares(shares / shares.sum())
        judged = None if self._watcher.is_stopped else self._judged(weights, 0)
        return weights, judged or Judged(0, math.nan, math.nan)

    def train(self, epoch: int) -> tuple[Floats, Judged] | None:
        """Go through all rows once and return the weights to answer by; None where a stop came first."""
        order = np.arange(len(self._steps), dtype=dtypes.SAMPLE_DTYPE)
        np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(epoch,))).shuffle(order)
        n_mistakes, piece = 0, self._rows_per_piece
        for first in range(0, len(order), piece):
            if first > 0 and self._asked_to_stop():
                return None
            n_mistakes += learn_rows(
                self._rows.inputs, self._rows.own_classes, self._steps, order, first,
                min(first + piece, len(order)), self._signs, self._machines.is_direct, self._weights,
                self._lags, self._seen, self._values, self._changes,
            )  # fmt: skip
        mean = self._weights - self._lags / self._seen[0]
        weights = mean if self._averaged else self._weights.copy()
        judged = self._judged(weights, n_mistakes)
        return None if judged is None else (weights, judged)

    def _asked_to_stop(self) -> bool:
        self._watcher.poll()
        return self._watcher.is_stopped

    @property
    def _rows_per_piece(self) -> int:
        return min(MOST_PIECE_ROWS, max(1, MOST_PIECE_PRODUCTS // max(int(self._weights.size), 1)))

    def _judged(self, weights: Floats, n_mistakes: int) -> Judged | None:
        """Return what is said of answers by these weights; None where a stop came first."""
        losses = [math.nan, math.nan]
        for place, rows in enumerate((self._rows, self._validation)):
            if rows is None or not len(rows.weights):
                continue
            wrong = self._wrong_weight(rows, weights)
            if wrong is None:
                return None
            losses[place] = wrong / float(rows.weights.sum())
        return Judged(n_mistakes, *losses)

    def _wrong_weight(self, rows: Rows, weights: Floats) -> float | None:
        """Return the weight of the rows that are answered wrongly; None where a stop came first."""
        wrong, piece = 0.0, self._rows_per_piece
        for first in range(0, len(rows.weights), piece):
            if first > 0 and self._asked_to_stop():
                return None
            part = slice(first, first + piece)
            decisions = self._machines.decisions(values_of(rows.inputs[part], weights, self._n_jobs))
            wrong += float(rows.weights[part][np.argmax(decisions, axis=1) != rows.own_classes[part]].sum())
        return wrong


def values_of(inputs: Floats, weights: Floats, n_jobs: int | None) -> Floats:
    """Return every machine's value of rows: float64 (n_rows, n_machines), a row's whatever is beside it."""
    values, weights = np.empty((len(inputs), weights.shape[1])), dtypes.as_input(weights)

    def answer(_chunk_idx: int, start: int, stop: int) -> None:
        values_of_rows(inputs[start:stop], weights, values[start:stop])

    parallel.for_chunks(answer, len(inputs), ROWS_PER_CHUNK, n_jobs)
    return values
