"""How much the columns matter to a model: by its trees' gains, or by what shuffling a column costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent
from workbench.figures.words import count

if TYPE_CHECKING:
    from workbench.fitting import FitInputs, Learnable
    from workbench.scoring import ScoreSet

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

    Shuffled are the `_shuffled_rows`; the score is the accuracy, or R squared.
    """
    shuffled = _shuffled_rows(inputs, everything)
    if estimator.combination != "rows" or estimator.stopped_ or len(shuffled) < 2:  # no order to change
        return gains_of(estimator, len(inputs.features))
    from engine.inspection import permutation_importances

    rows = everything.take(shuffled)
    found = permutation_importances(
        estimator, rows.X, rows.labels, rows.weights, rng=0, n_repeats=N_REPEATS, monitor=_Unstopped(monitor)
    )
    return found.mean


def _shuffled_rows(inputs: FitInputs, everything: Learnable) -> NDArray[np.int64]:
    """Return the validation rows where there are two of weight, else the training rows; of many some."""
    for part in ("validation", "train"):
        rows = inputs.rows_of(part)
        if everything.weights is not None:
            rows = rows[everything.weights[rows] > 0]
        if len(rows) > 1:
            break
    return rows[:: _step(len(rows))]


def shuffled_text(scores: Mapping[str, ScoreSet]) -> str:
    """Say which rows were shuffled of a model with such scores: "1,000 of 4,000 validation rows"."""
    n_rows, words = _n_of_weight(scores.get("validation")), "validation rows"
    if n_rows < 2:
        n_rows, words = _n_of_weight(scores.get("train")), "training rows"
    n_shuffled = len(range(0, n_rows, _step(n_rows)))
    return words if n_shuffled == n_rows else f"{count(n_shuffled)} of {count(n_rows)} {words}"


def _n_of_weight(scores: ScoreSet | None) -> int:
    if scores is None:
        return 0
    return scores.n_rows if scores.weights is None else int(np.count_nonzero(scores.weights > 0))


def _step(n_rows: int) -> int:
    """Every how many rows one is shuffled."""
    return max(1, -(-n_rows // MAX_ROWS))


class _Unstopped:
    """Asks a monitor, whose stop is passed over: a model that was stopped is kept with what is told of it."""

    def __init__(self, monitor: FitMonitor) -> None:
        self._monitor = monitor

    def on_iteration(self, event: IterationEvent) -> bool:
        self._monitor.on_iteration(IterationEvent("shuffling columns", fraction=1.0))
        return False
