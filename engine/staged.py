"""What an ensemble's first rounds say, for any number of them: on a grid of two columns, and about rows."""

from __future__ import annotations

import copy
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine import surface
from engine.predict import tree_values
from engine.thinned import Thinned

Floats = NDArray[np.float64]
KEPT_BYTES = 200_000_000  # of surfaces of the first rounds; beyond it they stand further apart
KEPT_ANSWER_BYTES = 50_000_000  # of answers about rows, likewise


def first_rounds(estimator: Any, n_rounds: int) -> Any:
    """Return a copy that answers as `truncate(n_rounds)` does; what else it holds is of all the rounds.

    In a few microseconds, as a slider asks for it.
    """
    if estimator.combination != "sum":
        return estimator.truncate(n_rounds)  # its learners have weights
    cut = copy.copy(estimator)
    cut.estimators_ = estimator.estimators_[:n_rounds]
    return cut


class StagedAnswers:
    """What an ensemble's first rounds say about an encoded table, for any number of them.

    Sums of the first rounds are kept, for every one or, where that would take too much memory, for every
    few, so that each answer takes a few trees, however many come before.

    Parameters
    ----------
    estimator : fitted ensemble of trees of this package
    table : float32 or float64 (n_rows, n_features)
    """

    def __init__(self, estimator: Any, table: NDArray[Any]) -> None:
        self._sums: _Sums = _TreeSums(table) if estimator.combination == "sum" else _Combination(table)
        self._sums.take(estimator)
        self._n_added = 0
        self._kept: Thinned[Any] = Thinned(KEPT_ANSWER_BYTES)
        self._keep()

    def extend(self, estimator: Any) -> None:
        """Go on with the same ensemble after more rounds."""
        self._sums.take(estimator)

    def at(self, n_rounds: int) -> Floats:
        """Return the answer of the first rounds, at least one: float64 (n_rows, n_classes or 1).

        To the last bit what `encoded_answer` says of the model so cut.
        """
        known = self._kept.last(n_rounds)
        assert known is not None  # that before the first round
        if not known[0] <= self._n_added <= n_rounds:
            self._n_added = known[0]
            self._sums.go_to(known[1])
        while self._n_added < n_rounds:
            self._sums.add(self._n_added)
            self._n_added += 1
            self._keep()
        return self._sums.answer(n_rounds)

    def _keep(self) -> None:
        if self._kept.wants(self._n_added):
            self._kept.keep(self._n_added, self._sums.state(), self._sums.n_bytes)


class _Sums(Protocol):
    """What the first rounds say together, one added after the other."""

    def take(self, estimator: Any) -> None:
        """Know an ensemble, or the same one after more rounds."""

    def add(self, idx: int) -> None:
        """Add the next round."""

    def answer(self, n_rounds: int) -> Floats:
        """Return what the rounds added say."""

    def state(self) -> Any:
        """Return what `go_to` goes back to."""

    def go_to(self, state: Any) -> None:
        """Be as when `state` was asked for."""

    @property
    def n_bytes(self) -> int:
        """Bytes of a state."""


class _TreeSums:
    """Sums of the trees of the first rounds."""

    def __init__(self, table: NDArray[Any]) -> None:
        self._table = table
        self._start: Floats | None = None
        self._sums: list[Floats] = []

    def take(self, estimator: Any) -> None:
        self._estimator, self._groups = estimator, surface.summed_trees(estimator)
        if self._start is None:
            self._start = surface.start_of(estimator, self._table)

    def add(self, idx: int) -> None:
        for k, trees in enumerate(self._groups):
            added = tree_values([trees[idx]], self._table)
            if idx == 0:
                self._sums.append(added)
            else:
                self._sums[k] += added

    def answer(self, n_rounds: int) -> Floats:
        assert self._start is not None
        return surface.answer_of_sums(self._estimator, self._start, self._sums, n_rounds)

    def state(self) -> list[Floats]:
        return [sums.copy() for sums in self._sums]

    def go_to(self, state: list[Floats]) -> None:
        self._sums = [sums.copy() for sums in state]

    @property
    def n_bytes(self) -> int:
        return sum(sums.nbytes for sums in self._sums)


class _Combination:
    """What learners with weights say together, of which each is asked once."""

    def __init__(self, table: NDArray[Any]) -> None:
        self._table = table
        self._combined: Any = None

    def take(self, estimator: Any) -> None:
        self._estimator = estimator
        if self._combined is None:
            n_learners = max(estimator.n_estimators, len(estimator.estimators_))
            self._combined = estimator.nothing_combined(len(self._table), n_learners)

    def add(self, idx: int) -> None:
        self._estimator.combine(self._combined, self._table, idx)

    def answer(self, _n_rounds: int) -> Floats:
        answer: Floats = self._combined.answer()
        return answer

    def state(self) -> Any:
        return self._combined.copied()

    def go_to(self, state: Any) -> None:
        self._combined = state.copied()

    @property
    def n_bytes(self) -> int:
        n_bytes: int = self._combined.n_own_bytes
        return n_bytes


class StagedSurface:
    """Surfaces of an ensemble cut to its first rounds, on one grid.

    Sums of the first trees are kept for every few rounds, so that each surface takes a few trees, however
    many come before; and the answer does not depend on what was asked for before.

    Parameters
    ----------
    estimator : fitted ensemble of trees of this package
    x_feature, y_feature, x_values, y_values, held
        As in `engine.surface.model_surface`.
    n_planned : int, optional
        Rounds that there may be in the end, where more come.
    """

    def __init__(
        self, estimator: Any, x_feature: int, y_feature: int, x_values: Any, y_values: Any, held: Any,
        n_planned: int = 0,
    ) -> None:  # fmt: skip
        self._held = np.array(held, dtype=np.float64)
        self._x, self._y = surface.two_axes(x_feature, y_feature, x_values, y_values, self._held)
        self._take(estimator)
        self._start = surface.start_on(estimator, self._x, self._y, self._held)
        bytes_each = 8 * len(self._x.values) * len(self._y.values) * self._n_outputs
        n_kept = max(KEPT_BYTES // max(bytes_each, 1), 1)
        n_rounds = max(len(estimator.estimators_), n_planned)
        self._step = max(round(n_rounds**0.5), -(-n_rounds // n_kept))
        self._kept: list[list[Floats]] = []  # sums of the first step, two steps, ...

    def _take(self, estimator: Any) -> None:
        self._estimator, self._groups = estimator, surface.summed_trees(estimator)
        self._n_outputs = sum(trees[0].n_outputs for trees in self._groups if trees)

    @property
    def n_rounds(self) -> int:
        """Rounds of the ensemble."""
        return len(self._estimator.estimators_)

    def extend(self, estimator: Any) -> None:
        """Go on with the same ensemble after more rounds: what is known of the first ones stays."""
        self._take(estimator)

    def at(self, n_rounds: int) -> Floats:
        """Return the surface of the first rounds, at least one: float64 (n_classes or 1, n_y, n_x).

        Equal to `model_surface` of the model so cut within 1e-9, with the same most probable class.
        """
        cut = first_rounds(self._estimator, n_rounds)
        if self._estimator.combination != "sum":  # nothing that could be kept
            return surface.answer_on(cut, self._x, self._y, self._held)
        n_whole = n_rounds // self._step
        while len(self._kept) < n_whole:
            start = len(self._kept) * self._step
            before = self._kept[-1] if self._kept else None
            self._kept.append(self._plus(before, start, start + self._step))
        before = self._kept[n_whole - 1] if n_whole else None
        totals = before if n_rounds % self._step == 0 else self._plus(before, n_whole * self._step, n_rounds)
        assert totals is not None
        return surface.answer_of_totals(cut, self._start, totals, self._x, self._y, self._held)

    def _plus(self, before: list[Floats] | None, start: int, stop: int) -> list[Floats]:
        """Sums of the rounds from `start` to `stop`, added to those before."""
        added = [surface.sum_on(trees[start:stop], self._x, self._y, self._held) for trees in self._groups]
        if before is None:
            return added
        return [one + other for one, other in zip(before, added, strict=True)]
