"""Grows the trees of a forest as independent tasks that a stop reaches while they run."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, parallel
from engine.base import TrainingData, member_seed
from engine.errors import ParameterError
from engine.monitor import StopWatcher
from engine.predict import add_values_of_rows
from engine.tree.estimators import root_of
from engine.tree.grow import Grower, make_rules
from engine.tree.kernels.sort import keep_rows
from engine.tree.presort import Presorted
from engine.tree.structure import Tree

ROWS_PER_STOP = 65_536  # rows predicted out of bag between two looks at the stop


@dataclass(frozen=True)
class Member:
    """One tree of the forest, the rows it did not see and what it says of them.

    Partial: a stop came before the tree was grown, or before it was asked about all rows it did not see.
    """

    tree: Tree
    is_partial: bool
    oob_rows: NDArray[np.int64]
    oob_values: NDArray[np.float64] | None


class ForestGrower:
    """What the tasks share: the presorted table, read only."""

    def __init__(
        self, estimator: Any, data: TrainingData, presorted: Presorted, watcher: StopWatcher
    ) -> None:
        self._estimator, self._data = estimator, data
        self._presorted, self._watcher = presorted, watcher
        self._is_abandoned = False

    def members(self) -> Generator[Member, None, None]:
        """Yield the trees in order; a partial one is the last.

        Closing the generator, also by an error of the monitor, ends the tasks under way at their next
        question.
        """
        tasks = range(self._estimator.n_estimators)
        polled = parallel.map_tasks(
            self.grow, tasks, self._estimator.n_jobs, while_waiting=self._watcher.poll
        )
        try:
            for member in polled:
                yield member
                if member.is_partial:
                    return
        finally:
            self._is_abandoned = True

    def _ask(self, n_nodes: int, fraction: float) -> bool:
        return self._watcher.ask(n_nodes, fraction) or self._is_abandoned

    def grow(self, member: int) -> Member:
        """Grow tree `member`: a task, the same whatever runs beside it."""
        estimator, data = self._estimator, self._data
        n_drawn = np.bincount(draw_rows(estimator, data.n_rows, member), minlength=data.n_rows)
        w = dtypes.as_input(data.sample_weight * n_drawn)
        oob_rows = np.flatnonzero(n_drawn == 0)
        order = self._drawn_order(n_drawn)
        if order is None:
            return Member(root_of(data, estimator.criterion), True, oob_rows, None)
        rules = make_rules(estimator, data, float(w.sum()))
        grower = Grower(self._presorted, order, data.y, w, rules, member_seed(estimator.seed_, member))
        grown = grower.grow(self._ask)
        is_asked = estimator.bootstrap and estimator.oob_score and not grown.is_partial
        values = self._oob_values(grown.tree, oob_rows) if is_asked else None
        is_partial = grown.is_partial or (is_asked and values is None)
        return Member(grown.tree, is_partial, oob_rows, values)

    def _drawn_order(self, n_drawn: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Return every column's order of the drawn rows; None when a stop came in between.

        At a million rows it takes half a second: longer than a stop may wait.
        """
        order = np.empty((self._data.n_features, np.count_nonzero(n_drawn)), dtypes.COUNT_DTYPE)
        for feature in range(self._data.n_features):
            if self._ask(0, 0.0):
                return None
            keep_rows(self._presorted.order[feature], n_drawn, order[feature])
        return order

    def _oob_values(self, tree: Tree, oob_rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return what the tree says of the rows it did not see; None when a stop came in between."""
        values = np.zeros((self._data.n_rows, tree.n_outputs))
        for start in range(0, len(oob_rows), ROWS_PER_STOP):
            if self._watcher.is_stopped or self._is_abandoned:
                return None
            add_values_of_rows(tree, self._data.X, oob_rows[start : start + ROWS_PER_STOP], values)
        return values[oob_rows]


def draw_rows(estimator: Any, n_rows: int, member: int) -> NDArray[np.int64]:
    """Return the rows that tree `member` draws, repeats included: int64 (n_drawn,) (D9)."""
    if not estimator.bootstrap:
        return np.arange(n_rows)
    rng = np.random.default_rng(np.random.SeedSequence(estimator.seed_, spawn_key=(member,)))
    return rng.integers(n_rows, size=n_to_draw(estimator.max_samples, n_rows))


def n_to_draw(max_samples: Any, n_rows: int) -> int:
    """Return how many rows a tree draws, at least one."""
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, (int, np.integer)):
        if max_samples > n_rows:
            raise ParameterError(
                f"max_samples is {max_samples} but the table has {n_rows} rows; enter at most {n_rows}"
            )
        return int(max_samples)
    if max_samples > 1:
        raise ParameterError(
            f"max_samples is {max_samples!r}; enter a share up to 1, or a whole number of rows"
        )
    return max(1, round(float(max_samples) * n_rows))
