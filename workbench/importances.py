"""How much the columns matter to a model: by its trees' gains, or by what shuffling a column costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent

if TYPE_CHECKING:
    from workbench.fitting import FitInputs, Learnable

MAX_ROWS = 1000  # shuffled; evenly taken from more
N_REPEATS = 3


def gains_of(estimator: Any, n_features: int) -> NDArray[np.float64]:
    """Return the columns' shares of the gain; zeros of a model without trees, which knows none."""
    if estimator.combination == "rows":
        return np.zeros(n_features)
    return np.asarray(estimator.feature_importances_, np.float64)


def importances_of(
    estimator: Any, inputs: FitInputs, everything: Learnable, monitor: FitMonitor = NULL_MONITOR
) -> NDArray[np.float64]:
    """Return `gains_of`, or of a model without trees the fall of the score by shuffling (Breiman 2001).

    Shuffled are the `shuffled_rows`; the score is the accuracy, or R squared.
    """
    if estimator.combination != "rows" or estimator.stopped_:
        return gains_of(estimator, len(inputs.features))
    from engine.inspection import permutation_importances

    rows = everything.take(shuffled_rows(inputs, everything)[0])
    found = permutation_importances(
        estimator, rows.X, rows.labels, rows.weights, rng=0, n_repeats=N_REPEATS, monitor=_Unstopped(monitor)
    )
    return found.mean


def shuffled_rows(inputs: FitInputs, everything: Learnable) -> tuple[NDArray[np.int64], str]:
    """Return which rows are shuffled, and the part they are of: validation rows where there are such."""
    for part in ("validation", "train"):
        rows = inputs.rows_of(part)
        if everything.weights is not None:
            rows = rows[everything.weights[rows] > 0]
        if len(rows):
            break
    return rows[:: -(-len(rows) // MAX_ROWS)], part


class _Unstopped:
    """Asks a monitor, whose stop is passed over: a model that was stopped is kept with what is told of it."""

    def __init__(self, monitor: FitMonitor) -> None:
        self._monitor = monitor

    def on_iteration(self, event: IterationEvent) -> bool:
        self._monitor.on_iteration(IterationEvent("shuffling columns", fraction=1.0))
        return False
