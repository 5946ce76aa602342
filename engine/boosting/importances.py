"""Which columns a boosted model's rounds rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.boosting.any_learner import is_of_trees
from engine.inspection import total_gains

Floats = NDArray[np.float64]


def round_importances(
    rounds: Sequence[tuple[Any, ...]], first: tuple[Any, ...], train_loss: Floats, n_features: int
) -> Floats | None:
    """Return each column's share: float64 (n_features,); sums to 1, or to 0 where nothing was gained.

    Of trees, of the sum of all gains. Other learners' own importances count by how far the training loss
    fell in their round, which is what gains add up to; None where one has none.

    Parameters
    ----------
    rounds : sequence of tuple of Tree or ScaledLearner
    first : tuple of Tree
        What the rounds begin with.
    train_loss : float64 (n_rounds + 1,)
    """
    if is_of_trees(rounds):
        gains = [
            total_gains(tree, n_features, by_weight=False) for trees in (first, *rounds) for tree in trees
        ]
    else:
        gains = []
        for members, fall in zip(rounds, -np.diff(train_loss), strict=True):
            for member in members:
                shares = getattr(member.learner, "feature_importances_", None)
                if shares is None or np.shape(shares) != (n_features,):
                    return None
                gains.append(max(fall, 0.0) * np.asarray(shares, np.float64))
    sums = np.sum(gains, axis=0) if gains else np.zeros(n_features)
    return np.asarray(sums / sums.sum() if sums.sum() > 0 else sums)
