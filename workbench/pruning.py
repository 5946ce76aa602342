"""How far to prune a single tree: what every tree of its weakest-link path is worth. Runs in a worker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from engine.monitor import FitMonitor
from workbench.crossvalidation import N_FOLDS, folds_of
from workbench.fitting import Learnable, inputs_of_result

if TYPE_CHECKING:
    from engine.tree.cost_complexity import PathLosses, PruningPath
    from engine.tree.structure import Tree
    from workbench.datasets import Table
    from workbench.runs import RunResult


@dataclass(frozen=True, eq=False)
class PruningCurve:
    """Losses along the weakest-link path of the tree as it was grown.

    Attributes
    ----------
    tree : Tree
        As it was grown.
    path : PruningPath
    losses : dict of part name to PathLosses
        On the rows of training and validation; parts without rows are absent.
    cross_validated : PathLosses or None
        On training rows left out of trees grown on the other folds; None until it was asked for.
    n_rows : dict of part name to int
    n_folds : int
    """

    tree: Tree
    path: PruningPath
    losses: dict[str, PathLosses]
    n_rows: dict[str, int]
    cross_validated: PathLosses | None = None
    n_folds: int = N_FOLDS


def pruning_curve(result: RunResult, table: Table) -> PruningCurve:
    """Return the path and its losses on training and validation rows; without cross-validation.

    Parameters
    ----------
    result : RunResult
        Of a single tree, trained on `table`.
    """
    from engine.tree.cost_complexity import path_losses, pruning_path

    tree = result.grown_tree
    assert tree is not None
    path, losses, n_rows = pruning_path(tree), {}, {}
    inputs = inputs_of_result(result, table)
    everything = inputs.learnable()
    for part in ("train", "validation"):
        rows = everything.take(inputs.rows_of(part))
        weights = _weights(rows)
        if np.any(weights > 0):
            X, y = _encoded(result, rows)
            sums = path_losses(tree, path, path.alphas, X, y, weights, is_classifier=bool(result.classes))
            losses[part], n_rows[part] = sums.means(), len(y)
    return PruningCurve(tree, path, losses, n_rows)


def with_cross_validation(
    curve: PruningCurve, result: RunResult, table: Table, monitor: FitMonitor
) -> PruningCurve | None:
    """Return the curve with what folds of the training rows say; None when it was stopped.

    Raises
    ------
    DataError
        There are too few rows, or groups, for folds.
    """
    from engine.tree.cross_validation import cross_validate_path

    inputs = inputs_of_result(result, table)
    rows = inputs.rows_of("train")
    learnable = inputs.learnable().take(rows)
    folds = folds_of(inputs, rows, learnable)
    losses = cross_validate_path(
        result.estimator, curve.path, learnable.X, learnable.labels, folds, learnable.weights, monitor=monitor
    )
    if losses is None:
        return None
    return replace(curve, cross_validated=losses, n_folds=len(np.unique(folds)))


def _weights(rows: Learnable) -> np.ndarray:
    return np.ones(len(rows.y)) if rows.weights is None else rows.weights


def _encoded(result: RunResult, rows: Learnable) -> tuple[np.ndarray, np.ndarray]:
    from engine.features import encode

    return encode(rows.X, result.feature_specs), np.asarray(rows.y, np.float64)
