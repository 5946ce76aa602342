"""When to stop: the best round on validation rows, by loss or metric, and rows set aside for it."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import mean_absolute_error, mean_squared_error, roc_auc_score

from engine import dtypes
from engine.base import TrainingData, member_seed
from engine.errors import DataError
from engine.scores import r_squared

MIN_PROBABILITY = 1e-15  # a probability of 0 for what happened would be an infinite loss

Floats = NDArray[np.float64]


class EarlyStopping:
    """Best round and patience on a validation loss, or minus a score (contracts D18).

    Parameters
    ----------
    n_iter_no_change : int
        Rounds without improvement before the end.
    tol : float
        A loss improves on the best by falling below it by more than this.
    """

    def __init__(self, n_iter_no_change: int, tol: float) -> None:
        self._patience, self._tol = n_iter_no_change, tol
        self._best_loss = math.inf
        self.best_round = 1

    def is_over(self, iteration: int, val_loss: float) -> bool:
        """Take note of a round's loss (NaN never is the best); tell whether patience has run out."""
        if val_loss < self._best_loss - self._tol:
            self.best_round, self._best_loss = iteration, val_loss
        return iteration - self.best_round >= self._patience


def validation_score(estimator: Any, scoring: Any, data: TrainingData, raw_predictions: Floats) -> float:
    """Return a metric of some rows by its name, or what a scorer tells; the larger, the better.

    Errors and losses are negative, as in scikit-learn.

    Parameters
    ----------
    estimator : boosted model that is being fitted
    scoring : str or callable
        A name, or ``scorer(estimator, X, y)`` as scikit-learn makes them; with weights it is given
        `sample_weight` too. The table is encoded and the estimator answers for these rows alone.
    raw_predictions : float64 (n_rows, n_raw)
    """
    model = copy.copy(estimator)
    model.raw_predict = lambda X: raw_predictions  # what is asked of it rests on this
    weights = data.sample_weight
    if callable(scoring):
        labels = data.y if data.classes is None else data.classes[data.y.astype(np.intp)]
        more = {"sample_weight": weights} if data.is_weighted else {}
        return float(scoring(model, data.X, labels, **more))
    if data.classes is None:
        return _score_numbers(scoring, data.y, model.predict(data.X), weights)
    return _score_classes(scoring, data.y.astype(np.intp), model.predict_proba(data.X), weights)


def _score_numbers(name: str, y: Floats, predicted: Floats, weights: Floats) -> float:
    if name == "r2":
        return r_squared(y, predicted, weights)
    if name == "mae":
        return -float(mean_absolute_error(y, predicted, sample_weight=weights))
    return -math.sqrt(mean_squared_error(y, predicted, sample_weight=weights))


def _score_classes(name: str, codes: NDArray[np.intp], proba: Floats, weights: Floats) -> float:
    if name == "accuracy":
        return float(np.average(np.argmax(proba, axis=1) == codes, weights=weights))
    if name == "log_loss":
        told = np.maximum(proba[np.arange(len(codes)), codes], MIN_PROBABILITY)
        return float(np.average(np.log(told), weights=weights))
    # of the area under the curve for more than two classes: the mean of one against the rest
    wanted = [1] if proba.shape[1] == 2 else range(proba.shape[1])
    areas = [
        roc_auc_score(codes == class_idx, proba[:, class_idx], sample_weight=weights)
        for class_idx in wanted
        if 0 < np.count_nonzero(codes == class_idx) < len(codes)
    ]
    return float(np.mean(areas)) if areas else math.nan


def set_aside(
    training: TrainingData, validation_fraction: float, seed: int
) -> tuple[TrainingData, TrainingData]:
    """Set a share of the rows aside for validation, class by class for classes.

    A class keeps at least one training row; one with a single row is in training only.

    Raises
    ------
    DataError
        There are too few rows for a part of each.
    """
    generator = np.random.default_rng(int(member_seed(seed, 0)))  # rounds count from 1
    groups = np.zeros(training.n_rows) if training.classes is None else training.y
    chosen = []
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        n_chosen = min(max(int(validation_fraction * len(rows) + 0.5), 1), len(rows) - 1)
        chosen.append(generator.choice(rows, n_chosen, replace=False))
    is_validation = np.zeros(training.n_rows, bool)
    is_validation[np.concatenate(chosen)] = True
    if not is_validation.any():
        raise DataError(
            f"{training.n_rows} row(s) are too few to set some aside for early stopping (no class has two); "
            "add rows or a validation part (X_val and y_val), or set early_stopping=False"
        )
    return _rows_of(training, ~is_validation), _rows_of(training, is_validation)


def _rows_of(data: TrainingData, kept: NDArray[np.bool_]) -> TrainingData:
    weights = dtypes.as_input(data.sample_weight[kept])
    return replace(
        data,
        X=dtypes.as_input(data.X[kept]),
        y=dtypes.as_input(data.y[kept]),
        sample_weight=weights,
        rows=data.rows[kept],
        is_weighted=bool(np.any(weights != 1.0)),
    )
