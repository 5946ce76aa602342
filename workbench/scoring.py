"""Scores of a model on one part of the rows, each with its 95 % interval (D31).

Where rows have weights every score is weighted: a row of weight 2 counts as two equal rows would, save
that intervals know how many rows there really are.

Accuracy has Wilson's interval (Wilson 1927), with weights for Kish's effective number of rows,
(sum w)^2 / sum w^2 (Kish 1965). All other scores have the interval value +- 1.96
standard errors by the delta method: each row's influence on the score is computed, and the standard
error is their standard deviation divided by sqrt(n). For the two-class AUC that is DeLong's (DeLong,
DeLong, Clarke-Pearson 1988). A perfect AUC would get an interval of width zero; its lower end is
Wilson's for as many hits out of as many rows as the smaller class has.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.units import unit_of

Z_95 = 1.959963984540054
MIN_PROBABILITY = 1e-15  # a probability of 0 for what happened would be an infinite loss

SCORE_RANGES = {
    "accuracy": (0.0, 1.0),
    "auc": (0.0, 1.0),
    "log_loss": (0.0, np.inf),
    "r2": (-np.inf, 1.0),
    "rmse": (0.0, np.inf),
    "mae": (0.0, np.inf),
}

Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """A score with the ends of its 95 % interval; NaN where it is not defined."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> Estimate:
        """Return the same score in another unit."""
        return Estimate(*(factor * value for value in self))


NO_ESTIMATE = Estimate(np.nan, np.nan, np.nan)


class ClassScores(NamedTuple):
    """One row of the per-class table; NaN where nothing was predicted or there is no row."""

    label: str
    n_rows: int
    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, eq=False)
class ScoreSet:
    """All scores of one model on one part.

    Attributes
    ----------
    part : str
        "train", "validation" or "test".
    n_rows : int
    classes : tuple of str
        Empty for a number target.
    y_true : int32 codes or float64 (n_rows,)
    proba : float64 (n_rows, n_classes) or None
        Probabilities, columns in the order of `classes`; None of a model that tells none.
    prediction : int32 codes or float64 (n_rows,)
    metrics : dict of str to Estimate
        "accuracy", "auc", "log_loss"; or "r2", "rmse", "mae". AUC of more than two classes is the
        mean over the classes of one against the rest.
    confusion : int64 (n_classes, n_classes) or None
        Rows: true class, columns: predicted class.
    per_class : tuple of ClassScores
    baseline : float
        What always answering the same scores: accuracy of naming this part's most frequent class,
        or the RMSE of its mean.
    base_rates : float64 (n_classes,) or None
        Share of each class in this part.
    weights : float64 (n_rows,) or None
        What the metrics, the baseline and the base rates are weighted by; `confusion` and `per_class`
        count rows all the same.
    """

    part: str
    n_rows: int
    classes: tuple[str, ...]
    y_true: NDArray[Any]
    proba: Floats | None
    prediction: NDArray[Any]
    metrics: dict[str, Estimate]
    confusion: NDArray[np.int64] | None
    per_class: tuple[ClassScores, ...]
    baseline: float
    base_rates: Floats | None
    weights: Floats | None = None

    @property
    def accuracy(self) -> Estimate:
        return self.metrics["accuracy"]

    @property
    def auc(self) -> Estimate:
        return self.metrics["auc"]

    @property
    def log_loss(self) -> Estimate:
        return self.metrics["log_loss"]

    @property
    def r2(self) -> Estimate:
        return self.metrics["r2"]

    @property
    def rmse(self) -> Estimate:
        return self.metrics["rmse"]

    @property
    def mae(self) -> Estimate:
        return self.metrics["mae"]

    @property
    def majority_class(self) -> str:
        """The most frequent class of this part, first on a tie."""
        return "" if self.base_rates is None else self.classes[int(np.argmax(self.base_rates))]


def score_classes(
    part: str,
    codes: NDArray[Any],
    proba: Floats,
    classes: tuple[str, ...],
    weights: Floats | None = None,
) -> ScoreSet:
    """Score class probabilities.

    Parameters
    ----------
    codes : int (n_rows,)
        True class of each row, as position in `classes`.
    proba : float64 (n_rows, n_classes)
    weights : float64 (n_rows,), optional
        From 0, with a positive sum.
    """
    n, n_classes = len(codes), len(classes)
    codes = np.asarray(codes, np.int32)
    prediction = np.argmax(proba, axis=1).astype(np.int32)
    cells = codes.astype(np.int64) * n_classes + prediction
    confusion = np.bincount(cells, minlength=n_classes * n_classes).reshape(n_classes, n_classes)
    rates = np.bincount(codes, _unit_mean(weights, n), n_classes) / max(1, n)
    return ScoreSet(
        part=part,
        n_rows=n,
        classes=classes,
        y_true=codes,
        proba=proba,
        prediction=prediction,
        metrics={
            "accuracy": accuracy(codes == prediction, weights),
            "auc": auc(codes, proba, weights),
            "log_loss": log_loss(codes, proba, weights),
        },
        confusion=confusion,
        per_class=class_table(confusion, classes),
        baseline=float(rates.max()),
        base_rates=rates,
        weights=weights,
    )


def score_decisions(
    part: str,
    codes: NDArray[Any],
    decisions: Floats,
    classes: tuple[str, ...],
    weights: Floats | None = None,
) -> ScoreSet:
    """Score decision values: they rank rows and name classes, but tell no probabilities, so no log loss.

    Parameters
    ----------
    decisions : float64 (n_rows, n_classes)
        The class with the largest is named; -infinity of a class that training had no row of.
    codes, weights
        As in `score_classes`.
    """
    scored = score_classes(part, codes, decisions, classes, weights)
    return replace(scored, proba=None, metrics={**scored.metrics, "log_loss": NO_ESTIMATE})


def score_numbers(part: str, y: Floats, prediction: Floats, weights: Floats | None = None) -> ScoreSet:
    """Score predicted numbers; y, prediction and weights are float64 (n_rows,)."""
    w, unit = _unit_mean(weights, len(y)), unit_of(y, prediction)
    in_units = y / unit
    error = prediction / unit - in_units
    squared = error**2
    spread = (in_units - np.average(in_units, weights=w)) ** 2
    variance, mse = float(np.average(spread, weights=w)), float(np.average(squared, weights=w))
    mae = float(np.average(abs(error), weights=w))
    rmse = _delta(sqrt(mse), w * (squared - mse) / (2 * sqrt(mse)) if mse > 0 else squared, low=0.0)
    r2 = NO_ESTIMATE
    if variance > 0:
        influence = w * (spread * (mse / variance**2) - squared / variance)
        r2 = _delta(1 - mse / variance, influence, high=1.0)
    return ScoreSet(
        part=part,
        n_rows=len(y),
        classes=(),
        y_true=y,
        proba=None,
        prediction=prediction,
        metrics={
            "r2": r2,
            "rmse": rmse.times(unit),
            "mae": _delta(mae, w * (abs(error) - mae), low=0.0).times(unit),
        },
        confusion=None,
        per_class=(),
        baseline=unit * sqrt(variance),
        base_rates=None,
        weights=weights,
    )


def _unit_mean(weights: Floats | None, n: int) -> Floats:
    """Return weights with mean 1; all 1 where there are none."""
    return np.ones(n) if weights is None else weights / weights.mean()


def accuracy(is_hit: NDArray[np.bool_], weights: Floats | None = None) -> Estimate:
    """Return the share of hits, by weight, with Wilson's interval for the effective number of rows."""
    if weights is None:
        return wilson_interval(int(np.count_nonzero(is_hit)), len(is_hit))
    total = float(weights.sum())
    share = 1.0 if is_hit[weights > 0].all() else float(weights[is_hit].sum()) / total
    n_effective = total * total / float((weights * weights).sum())
    return wilson_interval(share * n_effective, n_effective)


def wilson_interval(n_hits: float, n: float) -> Estimate:
    """Return a share with Wilson's 95 % interval."""
    if n == 0:
        return NO_ESTIMATE
    share, z2 = n_hits / n, Z_95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z_95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    low = 0.0 if n_hits == 0 else centre - half
    return Estimate(share, low, 1.0 if n_hits == n else centre + half)


def log_loss(codes: NDArray[Any], proba: Floats, weights: Floats | None = None) -> Estimate:
    """Return the mean, by weight, of -log p(true class), natural logarithm."""
    losses = -np.log(np.maximum(proba[np.arange(len(codes)), codes], MIN_PROBABILITY))
    w = _unit_mean(weights, len(codes))
    mean = float(np.average(losses, weights=w))
    return _delta(mean, w * (losses - mean), low=0.0)


def auc(codes: NDArray[Any], proba: Floats, weights: Floats | None = None) -> Estimate:
    """Return the area under the ROC curve; the mean of one against the rest for more than two classes.

    Classes without a row of positive weight, or with all of them, are left out; NaN if none remains.
    """
    w = _unit_mean(weights, len(codes))
    n_classes = proba.shape[1]
    wanted = [1] if n_classes == 2 else list(range(n_classes))
    n_rows = int(np.count_nonzero(w > 0))
    values, influences, smallest = [], np.zeros(len(codes)), n_rows
    for class_idx in wanted:
        is_event = codes == class_idx
        n_events = int(np.count_nonzero(is_event & (w > 0)))
        if 0 < n_events < n_rows:
            value, influence = _one_auc(is_event, proba[:, class_idx], w)
            values.append(value)
            influences += influence
            smallest = min(smallest, n_events, n_rows - n_events)
    if not values:
        return NO_ESTIMATE
    value = float(np.mean(values))
    found = _delta(value, influences / len(values), low=0.0, high=1.0)
    if value == 1.0:
        return found._replace(low=wilson_interval(smallest, smallest).low)
    return found


def _one_auc(is_event: NDArray[np.bool_], score: Floats, w: Floats) -> tuple[float, Floats]:
    """Return the AUC of a score and each row's influence on it, by DeLong's placements; `w` has mean 1.

    A placement is the weight of the other side's rows that a row wins against, ties counting half.
    """
    w_events, w_others = float(w[is_event].sum()), float(w[~is_event].sum())
    of_events, of_others = _weights_below(score, np.where(is_event, w, 0.0), np.where(is_event, 0.0, w))
    won, lost = of_others[is_event] / w_others, 1 - of_events[~is_event] / w_events
    value = float(np.average(won, weights=w[is_event]))
    influence = np.empty(len(score))
    influence[is_event] = w[is_event] * (won - value) * (len(score) / w_events)
    influence[~is_event] = w[~is_event] * (lost - value) * (len(score) / w_others)
    return value, influence


def _weights_below(scores: Floats, *weights: Floats) -> list[Floats]:
    """Return, for each kind of weight, how much of it has a score below each row's, equals counting half."""
    order = np.argsort(scores, kind="stable")
    is_first = np.concatenate([[True], scores[order][1:] != scores[order][:-1]])  # of its equals
    first = np.flatnonzero(is_first)
    last, equals = np.append(first[1:], len(scores)), np.cumsum(is_first) - 1
    found = []
    for w in weights:
        total = np.concatenate([[0.0], np.cumsum(w[order])])
        below = np.empty(len(scores))
        below[order] = ((total[first] + total[last]) / 2)[equals]
        found.append(below)
    return found


def _delta(value: float, influence: Floats, low: float = -np.inf, high: float = np.inf) -> Estimate:
    n = len(influence)
    if n < 2:
        return Estimate(value, np.nan, np.nan)
    half = Z_95 * float(np.std(influence, ddof=1)) / sqrt(n)
    return Estimate(value, max(low, value - half), min(high, value + half))


def class_table(confusion: NDArray[np.int64], classes: tuple[str, ...]) -> tuple[ClassScores, ...]:
    """Return rows, precision, recall and F1 of every class from counts of true against predicted ones."""
    rows = []
    for class_idx, label in enumerate(classes):
        hits = int(confusion[class_idx, class_idx])
        n_true, n_told = int(confusion[class_idx].sum()), int(confusion[:, class_idx].sum())
        rows.append(
            ClassScores(
                label,
                n_true,
                hits / n_told if n_told else np.nan,
                hits / n_true if n_true else np.nan,
                2 * hits / (n_true + n_told) if n_true + n_told else np.nan,
            )
        )
    return tuple(rows)
