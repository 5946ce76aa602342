"""How many rows a fitted classical model answers at a time, so that a piece ends soon."""

from __future__ import annotations

from typing import Any

from sklearn.calibration import CalibratedClassifierCV
from sklearn.svm import SVC, SVR

MOST_ROWS = 16384  # prepared columns of so many rows stand in memory at a time
LEAST_ROWS = 32  # with fewer, reading all training rows again and again takes the time
WORK = 2e7  # products of a piece: about 30 ms
KERNEL = 10  # products that an exponential takes as long as


def rows_at_once(work: float) -> int:
    """Return how many rows are answered at a time, if one takes so many products."""
    return MOST_ROWS if work <= WORK / MOST_ROWS else max(LEAST_ROWS, int(WORK / work))


def work_of_row(model: Any) -> float:
    """Return about how many products a fitted model's answer takes; 0 where the training rows are done with.

    Parameters
    ----------
    model : estimator
        The last step of a pipeline; one of this package has `work_of_row`.
    """
    if isinstance(model, SVC | SVR):
        n_vectors, n_columns = model.support_vectors_.shape
        return float(n_vectors * (n_columns + KERNEL))
    if isinstance(model, CalibratedClassifierCV):
        return sum(work_of_row(part.estimator) for part in model.calibrated_classifiers_)
    return float(getattr(model, "work_of_row", 0.0))
