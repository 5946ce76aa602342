"""What the learners say together: weighted votes for classes, the weighted median for numbers."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, parallel
from engine.adaboost.learners import Answers, node_answers
from engine.adaboost.reweighting import Floats
from engine.kernels.weighted_median import write_medians
from engine.predict import leaf_numbers
from engine.tree.structure import Tree

ROWS_PER_CHUNK = 4096
CELLS_PER_ASK = 4_000_000  # answers whose medians are taken between two looks at the stop: about 20 ms


class Combined(Protocol):
    """The answer to rows while learners are added."""

    def add(self, answers: Answers, weight: float) -> None:
        """Take in what one more learner says."""
        ...

    def answer(self) -> Floats:
        """Return probabilities (n_rows, n_classes), or numbers (n_rows, 1); the baseline without learners."""
        ...

    def said(self, ask: Callable[[], None]) -> Floats:
        """Return the number of the most probable class, the first on a tie, or the number: (n_rows,).

        `ask` is called now and then; it raises where a stop is wanted.
        """
        ...


class Votes:
    """Sums of the learners' weights by class.

    Parameters
    ----------
    n_rows : int
    baseline : float64 (n_classes,)
        Shares of the classes among the training rows.
    """

    def __init__(self, n_rows: int, baseline: Floats) -> None:
        self._baseline, self._n_learners = baseline, 0
        self._sums = np.zeros((len(baseline), n_rows))  # class by class: sums over few columns are slow

    def add(self, answers: Answers, weight: float) -> None:
        self._n_learners += 1
        for class_idx in range(len(self._sums)):
            self._sums[class_idx] += np.where(answers.values == class_idx, weight, 0.0)[answers.codes]

    def copied(self) -> Votes:
        """Return the same, to which learners can be added alone."""
        made = copy.copy(self)
        made._sums = self._sums.copy()
        return made

    @property
    def n_own_bytes(self) -> int:
        """Bytes that a copy takes."""
        return self._sums.nbytes

    def answer(self) -> Floats:
        return np.ascontiguousarray(self._by_class().T)

    def said(self, ask: Callable[[], None]) -> Floats:
        by_class = self._by_class()
        ask()
        return np.asarray(np.argmax(by_class, axis=0), np.float64)

    def _by_class(self) -> Floats:
        if not self._n_learners:
            return np.repeat(self._baseline[:, None], self._sums.shape[1], axis=1)
        return _shares_of_votes(self._sums, self._baseline)


class Medians:
    """The answers of all learners, of which the weighted median is taken.

    Parameters
    ----------
    n_rows : int
    baseline : float64 (1,)
        Mean target of the training rows.
    n_learners : int
        At most; memory is taken as they come, 4 bytes a row.
    """

    def __init__(self, n_rows: int, baseline: Floats, n_learners: int) -> None:
        self._baseline = baseline
        self._codes = np.empty((n_learners, n_rows), np.int32)
        self._values: list[Floats] = []
        self._weights: list[float] = []

    def add(self, answers: Answers, weight: float) -> None:
        self._codes[len(self._values)] = answers.codes
        self._values.append(answers.values)
        self._weights.append(weight)

    def copied(self) -> Medians:
        """Return the same, to which learners can be added alone, as long as they are the same ones."""
        made = copy.copy(self)  # of one array of codes, in which each learner has a row
        made._values, made._weights = list(self._values), list(self._weights)
        return made

    @property
    def n_own_bytes(self) -> int:
        """Bytes that a copy takes."""
        return 16 * len(self._values)

    def answer(self) -> Floats:
        return self.said(lambda: None)[:, None]

    def said(self, ask: Callable[[], None]) -> Floats:
        n_learners, n_rows = len(self._values), self._codes.shape[1]
        if not n_learners:
            return np.repeat(self._baseline, n_rows)
        sizes = np.array([len(values) for values in self._values], np.int64)
        arrays = [
            dtypes.as_input(self._codes[:n_learners]),
            dtypes.as_input(np.cumsum(sizes) - sizes),
            dtypes.as_input(np.concatenate(self._values)),
            dtypes.as_input(self._weights, np.float64),
        ]
        medians = np.empty(n_rows)

        def write_chunk(_chunk_idx: int, start: int, stop: int, first: int = 0) -> None:
            rows = first + start, first + stop
            write_medians(*arrays, *rows, np.empty(n_learners), np.empty(n_learners), medians)

        n_at_once = max(ROWS_PER_CHUNK, CELLS_PER_ASK // n_learners)
        for first in range(0, n_rows, n_at_once):
            ask()
            n_here = min(n_at_once, n_rows - first)
            parallel.for_chunks(partial(write_chunk, first=first), n_here, ROWS_PER_CHUNK)
        return medians


def make_combined(n_rows: int, baseline: Floats, n_learners: int, is_classifier: bool) -> Combined:
    """Return what combines the learners of a task."""
    return Votes(n_rows, baseline) if is_classifier else Medians(n_rows, baseline, n_learners)


def probabilities(votes: Floats, baseline: Floats) -> Floats:
    """Return class probabilities from votes, both float64 (n_rows, n_classes).

    The softmax of the votes: where the exponential loss is smallest, a vote is the logarithm of the class's
    probability but for a constant (Friedman, Hastie, Tibshirani 2000, lemma 1; for more classes Zhu et al.
    2009, equation 7). A class without a training row has probability 0.
    """
    by_class = _shares_of_votes(np.ascontiguousarray(votes.T), baseline)
    return np.ascontiguousarray(by_class.T)


def _shares_of_votes(votes: Floats, baseline: Floats) -> Floats:
    """Return the softmax of votes (n_classes, n_rows) among the classes with rows."""
    shares = np.exp(votes - votes.max(axis=0))
    shares[baseline <= 0] = 0.0
    return np.asarray(shares / shares.sum(axis=0))


def vote_trees(trees: Sequence[Tree], weights: Floats) -> list[Tree]:
    """Return trees whose leaves hold the votes of the learners: what is added up are the votes."""
    made = []
    for tree, weight in zip(trees, weights, strict=True):
        votes = np.zeros_like(tree.value)
        votes[np.arange(tree.n_nodes), np.argmax(tree.value, axis=1)] = weight
        made.append(replace(tree, value=votes))
    return made


def medians_of_trees(trees: Sequence[Tree], weights: Floats, table: NDArray[Any]) -> Floats:
    """Return the weighted median of what at least one tree says of an encoded table: float64 (n_rows, 1)."""
    combined = Medians(len(table), np.zeros(1), len(trees))
    for tree, weight in zip(trees, weights, strict=True):
        combined.add(Answers(leaf_numbers(tree, table), node_answers(tree, 0)), float(weight))
    return combined.answer()
