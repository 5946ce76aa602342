"""Choosing a base model's settings by cross-validation inside the rows of one fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from engine.features import FeatureSpec, take_rows
from engine.folds import deal_folds
from engine.monitor import FitMonitor, SubMonitor
from engine.other_learners import Rows, fit_learner
from engine.said import said_of_classes, said_of_numbers
from engine.scores import r_squared
from engine.tuning.search import best_of, settings_of


class Part(NamedTuple):
    """Rows that a base model learns from or is asked about, of which none has weight 0.

    Attributes
    ----------
    rows : Rows
    y : int64 or float64 (n_rows,)
        Class numbers or numbers.
    weights : float64 (n_rows,)
    is_weighted : bool
        Some weight is not 1.
    groups : int64 (n_rows,) or None
    """

    rows: Rows
    y: NDArray[Any]
    weights: NDArray[np.float64]
    is_weighted: bool
    groups: NDArray[np.int64] | None

    def take(self, chosen: NDArray[np.int64]) -> Part:
        given = take_rows(self.rows.given, chosen)
        groups = None if self.groups is None else self.groups[chosen]
        rows = Rows(np.ascontiguousarray(self.rows.encoded[chosen]), given)
        return Part(rows, self.y[chosen], self.weights[chosen], self.is_weighted, groups)


class Fitted(NamedTuple):
    """A fitted base model, and the settings that were chosen for it; none where there is no grid."""

    model: Any
    settings: dict[str, Any]


class BaseFitter:
    """Fits base models on parts of the rows.

    Parameters
    ----------
    features : sequence of FeatureSpec
    n_classes : int
        0 for numbers.
    folds : str
        How rows are dealt where settings are chosen, as `deal_folds` has it.
    n_folds : int
        Likewise.
    """

    def __init__(self, features: Sequence[FeatureSpec], n_classes: int, folds: str, n_folds: int) -> None:
        self._features, self._n_classes, self._folds, self._n_folds = features, n_classes, folds, n_folds

    def fit(
        self, learner: Any, grid: Mapping[str, Sequence[Any]] | None, part: Part,
        seed: np.random.SeedSequence, monitor: FitMonitor,
    ) -> Fitted:  # fmt: skip
        """Fit one model; with a grid the settings of the best mean score, first of equals, on all rows."""
        if not grid:
            return Fitted(self._fit(learner, part, monitor), {})
        settings = settings_of(grid)
        fold_of = deal_folds(part.y.astype(np.float64), self._n_folds, self._folds, seed, part.groups)
        n_fits = len(settings) * self._n_folds + 1
        scores = np.full((len(settings), self._n_folds), -math.inf)
        for n_done, (at, fold) in enumerate(product(range(len(settings)), range(self._n_folds))):
            told = SubMonitor(monitor, n_done / n_fits, (n_done + 1) / n_fits)
            trial = clone(learner).set_params(**settings[at])
            model = self._fit(trial, part.take(np.flatnonzero(fold_of != fold)), told)
            if told.stopped:
                break  # what was found so far decides; the last fit ends at its first question
            scores[at, fold] = self.score(model, part.take(np.flatnonzero(fold_of == fold)))
        best = settings[best_of(scores.mean(axis=1)) or 0]
        last = SubMonitor(monitor, 1 - 1 / n_fits, 1.0)
        return Fitted(self._fit(clone(learner).set_params(**best), part, last), best)

    def _fit(self, learner: Any, part: Part, monitor: FitMonitor) -> Any:
        weights = part.weights if part.is_weighted else None
        return fit_learner(learner, part.rows.given, part.y, weights, monitor)

    def answer(self, model: Any, rows: Rows) -> NDArray[np.float64]:
        """Return what a fitted base model says of rows: float64 (n_rows, n_classes or 1)."""
        if self._n_classes == 0:
            return said_of_numbers(model, rows, self._features)[:, np.newaxis]
        places = np.asarray(model.classes_, np.intp)
        return said_of_classes(model, rows, self._features, places, self._n_classes)

    def score(self, model: Any, part: Part) -> float:
        """Return the share of right rows, or R squared, by weight."""
        return score_of(self.answer(model, part.rows), part.y, part.weights)


def score_of(answers: NDArray[np.float64], y: NDArray[Any], weights: NDArray[np.float64]) -> float:
    """Return the share of rows whose most probable class is right, by weight; R squared of numbers."""
    if y.dtype.kind == "i":
        return float(np.average(np.argmax(answers, axis=1) == y, weights=weights))
    return r_squared(y, answers[:, 0], weights)
