"""From raw predictions to a boosted model's answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.boosting.losses import class_loss
from engine.boosting.numeric_losses import Poisson


def answer(estimator: Any, raw_predictions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return class probabilities (n_rows, n_classes), or predictions of a number (n_rows, 1).

    Parameters
    ----------
    estimator : fitted boosted model
        Its `loss` and, of a classifier, its `classes_` are read.
    raw_predictions : float64 (n_rows, n_raw)
    """
    loss = getattr(estimator, "loss", None)
    if hasattr(estimator, "classes_"):
        return class_loss(loss or "log_loss", len(estimator.classes_)).probabilities(raw_predictions)
    return Poisson.answer(raw_predictions) if loss == "poisson" else raw_predictions
