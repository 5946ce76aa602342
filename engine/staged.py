"""What an ensemble's first rounds say, for any number of them: on a grid of two columns, and about rows."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import surface
from engine.predict import tree_values

Floats = NDArray[np.float64]
KEPT_BYTES = 200_000_000  # of sums of the first rounds; beyond it they stand further apart


def first_rounds(estimator: Any, n_rounds: int) -> Any:
    """Return a copy that answers as `truncate(n_rounds)` does; what else it holds is of all the rounds.

    In a few microseconds, as a slider asks for it.
    """
    if surface.is_adaboost(estimator):
        return estimator.truncate(n_rounds)  # its learners have weights
    cut = copy.copy(estimator)
    cut.estimators_ = estimator.estimators_[:n_rounds]
    return cut


def staged_answers(estimator: Any, table: NDArray[Any]) -> Iterator[Floats]:
    """Yield what the first round says about an encoded table, the first two, and so on.

    Parameters
    ----------
    estimator : fitted ensemble of trees of this package
    table : float32 or float64 (n_rows, n_features)

    Yields
    ------
    float64 (n_rows, n_classes or 1)
        To the last bit what `encoded_answer` says of the model so cut.
    """
    if surface.is_adaboost(estimator):
        yield from estimator.staged_encoded_answers(table)
        return
    groups, start = surface.summed_trees(estimator), surface.start_of(estimator, table)
    sums: list[Floats] = []
    for n_rounds in range(1, len(estimator.estimators_) + 1):
        for k, trees in enumerate(groups):
            added = tree_values([trees[n_rounds - 1]], table)
            if n_rounds == 1:
                sums.append(added)
            else:
                sums[k] += added
        yield surface.answer_of_sums(estimator, start, sums, n_rounds)


class StagedSurface:
    """Surfaces of an ensemble cut to its first rounds, on one grid.

    Sums of the first trees are kept for every few rounds, so that each surface takes a few trees, however
    many come before; and the answer does not depend on what was asked for before.

    Parameters
    ----------
    estimator : fitted ensemble of trees of this package
    x_feature, y_feature, x_values, y_values, held
        As in `engine.surface.model_surface`.
    """

    def __init__(
        self, estimator: Any, x_feature: int, y_feature: int, x_values: Any, y_values: Any, held: Any
    ) -> None:
        self._held = np.array(held, dtype=np.float64)
        self._x, self._y = surface.two_axes(x_feature, y_feature, x_values, y_values, self._held)
        self._take(estimator)
        self._start = surface.start_on(estimator, self._x, self._y, self._held)
        bytes_each = 8 * len(self._x.values) * len(self._y.values) * self._n_outputs
        n_kept = max(KEPT_BYTES // max(bytes_each, 1), 1)
        self._step = max(round(len(estimator.estimators_) ** 0.5), -(-len(estimator.estimators_) // n_kept))
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
        if surface.is_adaboost(self._estimator):  # its votes are no sums that could be kept
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
