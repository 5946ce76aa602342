"""Steps of a first-order round: in every leaf for itself, or one for all its trees (Friedman 2001)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.base import TrainingData
from engine.boosting.grown import Grown
from engine.boosting.losses import Loss, mean_loss
from engine.parallel import for_chunks

MAX_PASSES = 60
FLAT = 1e-9  # share of the first slope at which a step is the best one
LEAVES_A_WAVE = 8  # between two questions to the monitor
FEW_ROWS = 32768

Floats = NDArray[np.float64]


def set_leaf_steps(
    loss: Loss, grown: Grown, raw: Floats, data: TrainingData, ask: Callable[[], None], n_jobs: int | None
) -> None:
    """Give every leaf the step with the least loss of its rows, and every inner node the mean of its leaves.

    Parameters
    ----------
    raw : float64 (n_rows,)
        Raw predictions before the round.
    """
    leaves = grown.leaves

    def search(leaf_idx: int, _start: int, _stop: int) -> None:
        leaf = leaves[first + leaf_idx]
        rows = grown.sample_indices[leaf.start : leaf.stop]
        leaf.value = loss.best_step(raw[rows], data.y[rows], data.sample_weight[rows])

    for first in range(0, len(leaves), LEAVES_A_WAVE):
        wave = leaves[first : first + LEAVES_A_WAVE]
        n_rows = sum(leaf.n_rows for leaf in wave)
        for_chunks(search, len(wave), 1, n_jobs if n_rows > FEW_ROWS else 1)
        ask()
    grown.average_upwards()


def tree_step(
    loss: Loss, raw: Floats, data: TrainingData, change: Floats, rows: NDArray[np.int32],
    ask: Callable[[], None], n_jobs: int | None,
) -> float:  # fmt: skip
    """Return the multiple of a round's change, from 0 on, with the least loss of some rows.

    Parameters
    ----------
    raw, change : float64 (n_rows, n_raw)
        Raw predictions before the round, and what its trees add to them.
    rows : int32 (n_drawn,)
        Rows the round was grown on.
    """
    if len(rows) < data.n_rows:
        raw, change = raw[rows], change[rows]
        y, weights = dtypes.as_input(data.y[rows]), dtypes.as_input(data.sample_weight[rows])
    else:
        y, weights = data.y, data.sample_weight
    largest = float(np.abs(change).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    if loss.has_step_along:
        return loss.step_along(raw[:, 0], y, weights, change[:, 0])
    derivatives: Any = (np.empty(change.T.shape), np.empty(change.T.shape))

    def slope(step: float) -> float:
        ask()
        mean_loss(loss, raw + step * change, y, weights, derivatives, n_jobs)
        return float(np.sum(derivatives[0] * change.T))

    return _root(slope, loss.largest_step / largest)


def _root(slope: Callable[[float], float], limit: float) -> float:
    """Return where an ascending function turns positive, from below; at most `limit`.

    False position in the way of Illinois (Dowell, Jarratt 1971), once a bracket is found by doubling.
    """
    low, at_low = 0.0, slope(0.0)
    if not at_low < 0.0:
        return 0.0
    target, high = -FLAT * at_low, min(1.0, limit)
    passes, at_high = 0, slope(high)
    while at_high < 0.0 and high < limit and passes < MAX_PASSES:
        low, at_low, high = high, at_high, min(2.0 * high, limit)
        at_high, passes = slope(high), passes + 1
    if at_high <= 0.0:
        return high
    side = 0
    while passes < MAX_PASSES and high - low > FLAT * high:
        middle = low - at_low * (high - low) / (at_high - at_low)
        at_middle, passes = slope(middle), passes + 1
        if at_middle <= 0.0:
            low, at_low = middle, at_middle
            at_high, side = (at_high / 2.0 if side < 0 else at_high), -1
            if -at_middle <= target:
                break
        else:
            high, at_high = middle, at_middle
            at_low, side = (at_low / 2.0 if side > 0 else at_low), 1
    return low
