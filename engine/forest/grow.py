"""Grows the trees of a forest as independent tasks that a stop reaches while they run."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, parallel
from engine.base import TrainingData, balanced_factors, member_seed
from engine.binning import BinnedTable, bin_table
from engine.errors import FitStopped
from engine.forest.binned import BinnedGrower, between_bins, codes_as_numbers
from engine.forest.draws import draw_columns
from engine.monitor import IterationEvent, Stopwatch, StopWatcher
from engine.predict import add_values_of_rows
from engine.tree.estimators import root_of
from engine.tree.grow import Grower, GrownTree
from engine.tree.growth_rules import draws_splits, make_rules
from engine.tree.presort import Presorted, orders_of_rows, presort
from engine.tree.structure import LEAF, Tree

ROWS_PER_STOP = 65_536  # rows predicted out of bag between two looks at the stop


@dataclass(frozen=True)
class Member:
    """One member of an ensemble, the rows it did not see and what it says of them.

    Partial: a stop came before it was fitted, or before it was asked about all rows it did not see.
    """

    fitted: Any
    is_partial: bool
    oob_rows: NDArray[np.int64]
    oob_values: NDArray[np.float64] | None


class MemberTasks:
    """Members of an ensemble as tasks, each the same whatever runs beside it; a subclass fits one.

    Parameters
    ----------
    ensemble : Ensemble
        Says what is drawn, and how many members there are to be.
    data : TrainingData
    kept : sequence
        Members of an earlier fit: they are not fitted, only asked about the rows they left out.
    watcher : StopWatcher
    """

    def __init__(self, ensemble: Any, data: TrainingData, kept: Sequence[Any], watcher: StopWatcher) -> None:
        self._ensemble, self._data, self._kept, self._watcher = ensemble, data, kept, watcher
        self._asks = ensemble.bootstrap and ensemble.oob_score
        self._is_abandoned = False

    def members(self) -> Generator[Member, None, None]:
        """Yield the members in order; a partial one is the last.

        Closing the generator, also by an error of the monitor, ends the tasks under way at their next
        question.
        """
        tasks = range(self._ensemble.n_estimators)
        polled = parallel.map_tasks(
            self.grow, tasks, self._ensemble.n_jobs, self._watcher.poll, threads=parallel.MODELS
        )
        try:
            for member in polled:
                yield member
                if member.is_partial:
                    return
        finally:
            self._is_abandoned = True

    def prepare(self, _share: float, _clock: Stopwatch) -> bool:
        """Do what is done once for all members, as the first share of the fit; False when a stop came."""
        return True

    def grow(self, member: int) -> Member:
        """Fit member number `member`."""
        raise NotImplementedError

    def _columns_of(self, member: int) -> NDArray[np.intp]:
        wanted = self._ensemble._columns_wanted
        return draw_columns(self._ensemble.seed_, wanted, self._data.n_features, member)

    def _ask(self, n_nodes: int, fraction: float) -> bool:
        return self._watcher.ask(n_nodes, fraction) or self._is_abandoned

    @property
    def _is_over(self) -> bool:
        """Tell whether a stop came, without asking."""
        return self._watcher.is_stopped or self._is_abandoned


class ForestGrower(MemberTasks):
    """Grows trees on one sorted or binned table, which all tasks read.

    Parameters
    ----------
    settings : estimator
        Says how each tree is grown; others as in `MemberTasks`.
    """

    def __init__(
        self, ensemble: Any, settings: Any, data: TrainingData, kept: Sequence[Tree], watcher: StopWatcher
    ) -> None:
        super().__init__(ensemble, data, kept, watcher)
        self._settings = settings

    def prepare(self, share: float, clock: Stopwatch) -> bool:
        """Bin and sort the table, as the first `share` of the whole fit; returns False when a stop came."""
        max_bins = getattr(self._ensemble, "max_bins", None)
        self._binned: BinnedTable | None = None
        if max_bins is not None:
            try:
                self._binned = self._bin(max_bins, share, clock)
            except FitStopped:
                return False
            if self._is_fast:
                return True
        return self._sort(share, clock)

    @property
    def _is_fast(self) -> bool:
        """Tell whether trees are grown on codes: of numbers alone, and by sums over bins."""
        binned = self._binned
        by_sums = self._settings.criterion != "absolute_error"
        return binned is not None and by_sums and not binned.is_categorical.any()

    def _bin(self, max_bins: int, share: float, clock: Stopwatch) -> BinnedTable:
        n_features = self._data.n_features

        def on_column(n_done: int) -> None:
            done = share * n_done / n_features
            self._watcher.tell(IterationEvent("binning", n_done, n_features, done, clock.elapsed_s))
            if self._watcher.is_stopped:
                raise FitStopped

        on_column(0)
        n_jobs = self._ensemble.n_jobs
        return bin_table(self._data.X, self._data.features, max_bins, n_jobs=n_jobs, on_column=on_column)

    def _sort(self, share: float, clock: Stopwatch) -> bool:
        n_features, keeps_values = self._data.n_features, draws_splits(self._settings)

        def ask(n_done: int, fraction: float) -> bool:
            done = share if self._binned is not None else share * fraction
            self._watcher.tell(IterationEvent("sorting", n_done, n_features, done, clock.elapsed_s))
            return self._watcher.is_stopped

        X = self._data.X if self._binned is None else codes_as_numbers(self._data.X, self._binned)
        presorted = presort(X, self._data.features, ask, self._ensemble.n_jobs, keeps_values=keeps_values)
        if presorted is None:
            return False
        self._presorted: Presorted = presorted
        return True

    def grow(self, member: int) -> Member:
        """Grow tree `member`: a task, the same whatever runs beside it."""
        data = self._data
        n_drawn = np.bincount(self._ensemble._draws_of(data.n_rows, member), minlength=data.n_rows)
        oob_rows = np.flatnonzero(n_drawn == 0)
        if member < len(self._kept):
            grown: GrownTree | None = GrownTree(self._kept[member], False)
        else:
            grown = self._grow_on(n_drawn, member)
        if grown is None:
            return Member(root_of(data, self._settings.criterion), True, oob_rows, None)
        is_asked = self._asks and not grown.is_partial
        values = self._oob_values(grown.tree, oob_rows) if is_asked else None
        is_partial = grown.is_partial or (is_asked and values is None)
        return Member(grown.tree, is_partial, oob_rows, values)

    def _grow_on(self, n_drawn: NDArray[np.int64], member: int) -> GrownTree | None:
        """Grow a tree on the rows drawn; None when a stop came before it was begun."""
        data, seed = self._data, member_seed(self._ensemble.seed_, member)
        columns = self._columns_of(member)
        w = self._weights_of(n_drawn)
        is_whole = len(columns) == data.n_features
        of_columns = data if is_whole else replace(data, features=tuple(data.features[at] for at in columns))
        rules = make_rules(self._settings, of_columns, float(w.sum()))
        if self._binned is not None and self._is_fast:
            rows = np.flatnonzero(n_drawn)
            return BinnedGrower(self._binned, rows, columns, data.y, w, rules, seed).grow(self._ask)
        order = orders_of_rows(self._presorted, n_drawn, self._ask, columns, self._ensemble.n_jobs)
        if order is None:
            return None
        presorted = self._presorted if is_whole else _with_columns(self._presorted, columns)
        grown = Grower(presorted, order, data.y, w, rules, seed).grow(self._ask)
        tree = grown.tree if is_whole else _in_whole_table(grown.tree, columns)
        return replace(grown, tree=tree if self._binned is None else between_bins(tree, self._binned))

    def _weights_of(self, n_drawn: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return each row's weight times how often it was drawn; classes weighed anew in every bag."""
        data = self._data
        w = data.sample_weight * n_drawn
        if self._ensemble.class_weight == "balanced_subsample":
            codes = data.y.astype(np.intp)
            w = w * balanced_factors(np.bincount(codes, n_drawn, data.n_classes))[codes]
        return dtypes.as_input(w)

    def _oob_values(self, tree: Tree, oob_rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Return what the tree says of the rows it did not see; None when a stop came in between."""
        values = np.zeros((self._data.n_rows, tree.n_outputs))
        for start in range(0, len(oob_rows), ROWS_PER_STOP):
            if self._is_over:
                return None
            add_values_of_rows(tree, self._data.X, oob_rows[start : start + ROWS_PER_STOP], values)
        return values[oob_rows]


def _with_columns(whole: Presorted, columns: NDArray[np.intp]) -> Presorted:
    first_value = whole.first_value[columns] if len(whole.first_value) else whole.first_value
    return replace(
        whole, X=dtypes.as_input(whole.X[:, columns]), is_level=whole.is_level[columns],
        first_value=dtypes.as_input(first_value),
    )  # fmt: skip


def _in_whole_table(tree: Tree, columns: NDArray[np.intp]) -> Tree:
    """Number the columns that a tree asks about as in the whole table."""
    is_inner = tree.kind != LEAF
    feature = tree.feature.copy()
    feature[is_inner] = columns[feature[is_inner]]
    return replace(tree, feature=feature)
