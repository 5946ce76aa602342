"""What the trees of a forest or bag say of columns and of one another, asked about rows they did not see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.monitor import NULL_MONITOR, FitMonitor
from workbench.figures.scores import N_SHOWN_IMPORTANCES, BarsFigure
from workbench.figures.trees import has_out_of_bag
from workbench.figures.words import count, counted, fixed, number

if TYPE_CHECKING:
    from workbench.datasets import Table
    from workbench.runs import RunResult

MAX_ROWS = 4000  # of which the trees' answers are compared


@dataclass(frozen=True, eq=False)
class OutOfBagLook:
    """Importances by shuffling, and how alike the trees answer.

    Attributes
    ----------
    importances : BarsFigure
    alike : str
        A sentence; empty without rows that no tree was trained on.
    """

    importances: BarsFigure
    alike: str


def can_look(result: RunResult | None) -> bool:
    """Tell whether a model has trees that left rows out, which can be told again."""
    return result is not None and len(result.trees) > 1 and has_out_of_bag(result)


def look_out_of_bag(
    name: str, result: RunResult, table: Table, monitor: FitMonitor = NULL_MONITOR
) -> OutOfBagLook:
    """Shuffle every column among each tree's out-of-bag rows; in a worker. A stop keeps the trees done.

    Raises
    ------
    FitStopped
        The stop came before one tree was done.
    DataError
        No tree left a row out.
    """
    from engine.forest.inspection import out_of_bag_importances
    from workbench.fitting import inputs_of_result

    inputs = inputs_of_result(result, table)
    everything = inputs.learnable()
    training = everything.take(inputs.rows_of("train"))
    found = out_of_bag_importances(
        result.estimator, training.X, training.labels, training.weights, monitor=monitor
    )
    order = np.argsort(-found.mean, kind="stable")[:N_SHOWN_IMPORTANCES]
    n_trees = found.values.shape[1]
    what = "share of wrong rows" if result.classes else "mean squared error"
    trees = counted(n_trees, "tree")
    if n_trees < len(result.trees):
        trees = f"the first {count(n_trees)} of {count(len(result.trees))} trees"
    subtitle = f"rise of a tree's {what} on rows it did not draw, mean and spread over {trees}"
    names = tuple(result.features[k] for k in order)
    bars = BarsFigure(f"{name}: columns shuffled", subtitle, names, found.mean[order], found.std[order])
    return OutOfBagLook(bars, _alike_text(result, everything.take(_compared_rows(inputs.parts)).X))


def _compared_rows(parts: NDArray[np.uint8]) -> NDArray[np.int64]:
    rows = np.flatnonzero(parts == 1)
    return rows[:: -(-len(rows) // MAX_ROWS)] if len(rows) > MAX_ROWS else rows


def _alike_text(result: RunResult, X: Any) -> str:
    from engine.forest.inspection import tree_spread

    if len(X) < 2:
        return ""
    spread = tree_spread(result.estimator, X)
    apart = float(np.sqrt(spread.variance.mean()))
    rows = counted(len(X), "validation row")
    what = (
        f"shares of a class differ by {fixed(apart, 2)}"
        if result.classes
        else f"answers differ by {number(apart, 3)}"
    )
    text = f"About {rows}, the trees' {what} (standard deviation)"
    if np.isnan(spread.correlation):
        return f"{text}."
    alike = fixed(spread.correlation, 2)
    return f"{text}; those of two trees correlate by {alike}. The less they do, the more averaging helps."
