"""Steps of a first-order round: in every leaf for itself, or one for all its trees (Friedman 2001)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.base import TrainingData
from engine.boosting.derivatives import room_for_derivatives
from engine.boosting.grown import Grown, Node
from engine.boosting.kernels.losses import binary_loss_change
from engine.boosting.losses import Loss, sum_losses
from engine.boosting.team import Team
from engine.parallel import for_chunks

MAX_PASSES = 60
MAX_HALVINGS = 60
FLAT = 1e-9  # share of the first slope at which a step is the best one
LEAVES_A_WAVE = 8  # between two questions to the monitor
FEW_ROWS = 32768
SURE_STEP = 1.79
"""A Newton step on log loss, shortened to at most this length, cannot raise it: the second derivative
changes by at most the factor exp(step), and exp(a) - a - 1 <= a^2 up to a = 1.793."""

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


def shorten_leaf_steps(
    grown: Grown, raw: Floats, data: TrainingData, rate: float, n_jobs: int | None
) -> None:
    """Halve a leaf's Newton step on log loss until its rows' loss does not rise by `rate` times it (D27).

    Parameters
    ----------
    raw : float64 (n_rows, 1)
        Raw predictions before the round.
    """
    for leaf in grown.leaves:
        halvings = 0
        while abs(leaf.value * rate) > SURE_STEP and _loss_change(grown, leaf, raw, data, rate, n_jobs) > 0:
            leaf.value = leaf.value / 2 if halvings < MAX_HALVINGS else 0.0
            halvings += 1


def _loss_change(
    grown: Grown, leaf: Node, raw: Floats, data: TrainingData, rate: float, n_jobs: int | None
) -> float:
    """Return by how much a leaf's rows' log loss changes when `rate` times its value is added."""
    rows, step = grown.sample_indices, leaf.value * rate
    changes = np.zeros(-(-leaf.n_rows // FEW_ROWS))

    def add_chunk(chunk_idx: int, start: int, stop: int) -> None:
        changes[chunk_idx] = binary_loss_change(
            raw, data.y, data.sample_weight, rows, leaf.start + start, leaf.start + stop, step
        )

    for_chunks(add_chunk, leaf.n_rows, FEW_ROWS, n_jobs)
    return float(changes.sum())


def tree_step(
    loss: Loss, raw: Floats, data: TrainingData, change: Floats, rows: NDArray[np.int32],
    ask: Callable[[], None], team: Team,
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
    derivatives = room_for_derivatives(change.shape[1], len(change), loss.row_chunk)

    def slope(step: float) -> float:
        ask()
        sum_losses(loss, raw + step * change, y, weights, derivatives, team)
        return float(np.sum(derivatives.gradients * change.T))

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
