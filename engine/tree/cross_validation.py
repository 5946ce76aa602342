"""Choosing how far to prune: trees grown without a fold, pruned, and asked about the fold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import parallel
from engine.base import TrainingData
from engine.errors import DataError
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, StopWatcher
from engine.tree.cost_complexity import (
    LossSums,
    PathLosses,
    PruningPath,
    grid_between,
    loss_of,
    path_losses,
    pruning_path,
)
from engine.tree.estimators import grow_multiway, grow_two_way, is_multiway, prune_by_rule
from engine.tree.growth_rules import draws_splits
from engine.tree.node_rows import take_rows
from engine.tree.presort import Presorted, orders_of_rows, presort
from engine.tree.regrow import training_data
from engine.tree.structure import Tree

PHASE = "cross-validating"


def cross_validate_path(
    estimator: Any, path: PruningPath, X: Any, y: Any, folds: NDArray[np.int64], sample_weight: Any = None, *,
    monitor: FitMonitor | None = None,
) -> PathLosses | None:  # fmt: skip
    """Return what every tree of a pruning path is worth on rows that did not grow it.

    For every fold a tree is grown on the other rows, pruned at alphas inside the steps of `path`, and asked
    about the fold: each row counts once, so the standard error is that of a mean over all rows (Breiman,
    Friedman, Olshen, Stone 1984, section 3.4).

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted on these rows; gives the hyperparameters and the seed.
    path : PruningPath
        Of the estimator's tree as it was grown.
    X, y, sample_weight
        As given to `fit`.
    folds : int (n_samples,)
        Fold of every row.
    monitor : FitMonitor, optional
        Told of every fold.

    Returns
    -------
    PathLosses or None
        None when the monitor stopped it.

    Raises
    ------
    DataError
        There are fewer than two folds, or `folds` has another length than X.
    """
    data = training_data(estimator, X, y, sample_weight)
    if len(folds) != data.n_samples:
        raise DataError(f"folds has {len(folds)} entries and X {data.n_samples} rows; give one entry a row")
    fold_of_row = np.asarray(folds)[data.rows]
    fold_names = np.unique(fold_of_row)
    n_folds = len(fold_names)
    if n_folds < 2:
        raise DataError("the rows are in fewer than two folds; cross-validation needs two at least")
    watcher = StopWatcher(monitor or NULL_MONITOR, IterationEvent(PHASE, 0, n_folds))
    presorted = presort(data.X, data.features, watcher.ask, keeps_values=draws_splits(estimator))
    if presorted is None:
        return None
    grower = _FoldGrower(estimator, data, presorted, fold_of_row, grid_between(path), watcher)
    total: LossSums | None = None
    for n_done, sums in enumerate(
        parallel.map_tasks(grower.losses, fold_names, while_waiting=watcher.poll), 1
    ):
        if sums is None:
            return None
        total = sums if total is None else total + sums
        watcher.tell(IterationEvent(PHASE, n_done, n_folds, n_done / n_folds))
        if watcher.is_stopped and n_done < n_folds:
            return None
    assert total is not None
    return total.means()


class _FoldGrower:
    """What the tasks share, read only."""

    def __init__(
        self, estimator: Any, data: TrainingData, presorted: Presorted, folds: NDArray[np.int64],
        alphas: NDArray[np.float64], watcher: StopWatcher,
    ) -> None:  # fmt: skip
        self._estimator, self._data, self._presorted = estimator, data, presorted
        self._folds, self._alphas, self._watcher = folds, alphas, watcher

    def losses(self, fold: int) -> LossSums | None:
        """Return the fold's losses; None when a stop came in between."""
        data, outside = self._data, np.flatnonzero(self._folds == fold)
        tree = self._tree_without(fold)
        if tree is None:
            return None
        rows = (data.X[outside], data.y[outside], data.sample_weight[outside])
        return path_losses(tree, pruning_path(tree), self._alphas, *rows, loss=loss_of(self._estimator))

    def _tree_without(self, fold: int) -> Tree | None:
        data, inside = self._data, self._folds != fold
        if is_multiway(self._estimator):
            part = take_rows(data, np.flatnonzero(inside))
            grown = grow_multiway(self._estimator, part, self._watcher.ask)
        else:
            order = orders_of_rows(self._presorted, inside, self._watcher.ask)
            if order is None:
                return None
            grown = grow_two_way(self._estimator, data, self._presorted, order, self._watcher.ask)
        return None if grown.is_partial else prune_by_rule(self._estimator, grown.tree)
