"""What pruning a single tree costs: along its weakest-link path, and at every node. Runs in a worker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.monitor import FitMonitor
from workbench.crossvalidation import N_FOLDS, folds_of
from workbench.figures.tree import leaves_below
from workbench.figures.words import MINUS, counted, number
from workbench.fitting import inputs_of_result, rows_of_parts
from workbench.steps import n_splits_uncut

if TYPE_CHECKING:
    from engine.tree.cost_complexity import PathLosses, PruningPath
    from engine.tree.structure import Tree
    from workbench.datasets import Table
    from workbench.runs import RunResult

LOSS_WORDS = {
    "misclassification": "wrong rows",
    "squared_error": "squared error",
    "absolute_error": "absolute error",
    "poisson": "Poisson deviance",
}
PART_WORDS = {"train": "training", "validation": "validation"}


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


@dataclass(frozen=True, eq=False)
class CutPrices:
    """What cutting at each node of a single tree would cost, before anything is cut.

    Attributes
    ----------
    tree : Tree
    n_saved : int64 (n_nodes,)
        Leaves that the tree would lose.
    losses : dict of part name to (float, float64 (n_nodes,))
        The tree's mean loss on the part, and by how much it would rise; see `PathLosses`.
    loss : str
        What is lost, see `engine.tree.cost_complexity.loss_of`.
    n_splits_uncut : int
        Splits when all that was cut is back; see `workbench.steps.step_splits`.
    """

    tree: Tree
    n_saved: NDArray[np.int64]
    losses: dict[str, tuple[float, NDArray[np.float64]]]
    loss: str
    n_splits_uncut: int

    @property
    def n_splits(self) -> int:
        return int(np.count_nonzero(~self.tree.is_leaf))

    def sentence(self, node: int) -> str:
        """Say what a cut would cost: leaves, and the error before and after; empty at a leaf."""
        if self.tree.is_leaf[node]:
            return ""
        is_share = self.loss == "misclassification"
        unit = " %" if is_share else ""
        parts = [
            f"{self._text(before)} → {self._text(before + float(rise[node]))}{unit} in {PART_WORDS[part]}"
            for part, (before, rise) in self.losses.items()
        ]
        noun = "wrong" if is_share else LOSS_WORDS[self.loss]
        saved = counted(int(self.n_saved[node]), "leaf", "leaves")
        return f"Cut here: {MINUS}{saved}; {noun} {', '.join(parts)}"

    def _text(self, loss: float) -> str:
        return f"{100 * abs(loss):.1f}" if self.loss == "misclassification" else number(abs(loss))


def cut_prices_of(result: RunResult, table: Table) -> CutPrices:
    """Return the price of every cut of a single tree as it is now, on training and validation rows."""
    from engine.tree.cost_complexity import cut_prices, loss_of

    tree, loss, losses = result.trees[0], loss_of(result.estimator), {}
    for part, (X, y, weights) in rows_of_parts(result, table).items():
        losses[part] = mean_loss(result, part), cut_prices(tree, X, y, weights, loss=loss)
    n_uncut = n_splits_uncut(result, table)
    return CutPrices(tree, leaves_below(tree) - 1, losses, loss, n_uncut)


def mean_loss(result: RunResult, part: str) -> float:
    """Return what the rows of a part cost on average, as `PathLosses` has it."""
    from engine.tree.cost_complexity import least_rate, loss_of

    scores, loss = result.scores[part], loss_of(result.estimator)
    if loss == "misclassification":
        return 1 - scores.metrics["accuracy"].value
    if loss == "squared_error":
        return scores.metrics["rmse"].value ** 2
    if loss == "absolute_error":
        return scores.metrics["mae"].value
    from scipy.special import xlogy

    rate = np.maximum(scores.prediction, least_rate(result.trees[0], loss))
    y = scores.y_true
    deviances = 2 * (xlogy(y, y / rate) - y + rate)
    return float(np.average(deviances, weights=scores.weights))


def pruning_curve(result: RunResult, table: Table) -> PruningCurve:
    """Return the path and its losses on training and validation rows; without cross-validation.

    Parameters
    ----------
    result : RunResult
        Of a single tree, trained on `table`.
    """
    from engine.tree.cost_complexity import loss_of, path_losses, pruning_path

    tree, loss = result.grown_tree, loss_of(result.estimator)
    assert tree is not None
    path, losses, n_rows = pruning_path(tree), {}, {}
    for part, (X, y, weights) in rows_of_parts(result, table).items():
        sums = path_losses(tree, path, path.alphas, X, y, weights, loss=loss)
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
