"""Scores made ready to be read: key figures with intervals, confusion at a cut-off, importances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.notes import notes_of
from workbench.figures.axis import date_ticks
from workbench.figures.words import count, counted, fixed, number, percent, value_text
from workbench.importances import shuffled_text

if TYPE_CHECKING:
    from workbench.runs import RunResult
    from workbench.scoring import Estimate, ScoreSet

METRIC_TEXTS = {
    "accuracy": "accuracy",
    "auc": "AUC",
    "log_loss": "log loss",
    "r2": "R²",
    "rmse": "RMSE",
    "mae": "mean absolute error",
}
PART_TEXTS = {"train": "training rows", "validation": "validation rows", "test": "held-out test rows"}
MAX_CLASSES = 30  # of a confusion; of more, the rarest are summed up
IN_UNIT = ("rmse", "mae")  # in the unit of the target
SHORT_PARTS = {"train": "training", "validation": "validation", "test": "test"}
PART_NOTES = {
    "train": "these rows grew the model: this says how well it remembers, not how well it predicts",
    "validation": "to choose between models, as the list of models and Compare do; "
    "the held-out test rows tell how good the chosen one is",
    "test": "no training and no choice has seen these rows; the list of models and Compare "
    "score the validation rows, so their figures differ",
}
WHY_PARTS_DIFFER = (
    "The scores in this list are of the validation rows, to choose between models. Scores opens on the "
    "held-out test rows, which no choice has seen, so the two differ."
)
DEFAULT_PARTS = ("test", "validation", "train")
N_SHOWN_IMPORTANCES = 20


@dataclass(frozen=True)
class KeyFigure:
    """One score: its name, its value in large type, its 95 % interval in small."""

    metric: str
    name: str
    value: str
    interval: str


@dataclass(frozen=True)
class ScoreBlock:
    """Key figures of one model on one set of rows, all named (decision 8)."""

    title: str
    rows_text: str
    key_figures: tuple[KeyFigure, ...]
    notes: tuple[str, ...] = ()


def part_block(name: str, result: RunResult, part: str, unit: str = "") -> ScoreBlock:
    """Return the key figures of a run on one part of the rows; errors of a date are in days, its `unit`."""
    scores = result.scores[part]
    notes = [_baseline_sentence(scores, result, unit)]
    if result.weight is not None:
        notes.insert(0, f"weighted by column {result.weight}; confusion and class table count rows")
    if part == "test" and result.n_test_looks:
        times = counted(result.n_test_looks, "time")
        what = "the rounds kept were chosen" if result.grown_tree is None else "the tree was changed by hand"
        notes.append(f"{what} {times} with this score in sight: it may flatter")
    else:
        notes.append(PART_NOTES[part])
    notes += [f"Warning: {note}" for note in notes_of(result.estimator)]
    figures = tuple(_key(metric, value, unit) for metric, value in scores.metrics.items())
    return ScoreBlock(name, f"{count(scores.n_rows)} {PART_TEXTS[part]}", figures, tuple(notes))


def cross_validation_block(name: str, result: RunResult, unit: str = "") -> ScoreBlock | None:
    """Return the cross-validated key figures (D31); None while there are none."""
    cv = result.cv
    if cv is None or not cv.fold_scores:
        return None
    n_done = len(next(iter(cv.fold_scores.values())))
    rows = f"mean of {counted(n_done, 'fold')} over {cv.rows_text}"
    figures = tuple(_key(metric, value, unit) for metric, value in cv.metrics.items())
    notes = (f"stopped early: {n_done} of {cv.n_folds * cv.n_repeats} folds",) if cv.stopped else ()
    return ScoreBlock(f"{name}, cross-validated", rows, figures, notes)


def out_of_bag_block(name: str, result: RunResult, unit: str = "") -> ScoreBlock | None:
    """Return a forest's or bag's scores on rows that its trees did not draw; None where there are none."""
    estimator = result.estimator
    losses = np.asarray(getattr(estimator, "oob_loss_", ()), np.float64)
    n_rows = int(getattr(estimator, "n_oob_rows_", 0))
    if not len(losses) or not n_rows:
        return None
    score, loss = float(estimator.oob_score_), float(losses[-1])
    values = {"accuracy": score} if result.classes else {"r2": score, "rmse": float(np.sqrt(loss))}
    figures = tuple(_key_alone(metric, value, unit) for metric, value in values.items())
    rows = f"{count(n_rows)} training rows, each told by the trees that did not draw it"
    if n_never := int(getattr(estimator, "n_rows_never_out_", 0)):
        rows += f"; {count(n_never)} drawn by every tree"
    note = "near what new rows would score, though each row is told by only a part of the trees"
    return ScoreBlock(f"{name}, out of bag", rows, figures, (note,))


def _key_alone(metric: str, value: float, unit: str) -> KeyFigure:
    name = METRIC_TEXTS[metric]
    name = f"{name}, {unit}" if unit and metric in IN_UNIT else name
    return KeyFigure(metric, name, score_text(metric, value), "")


def _key(metric: str, estimate: Estimate, unit: str) -> KeyFigure:
    key = _key_alone(metric, estimate.value, unit)
    return replace(key, interval=_interval(metric, estimate))


def score_text(metric: str, value: float) -> str:
    """Write a score: three places for those between 0 and 1, three digits for errors in the target's unit."""
    if not np.isfinite(value):
        return "–"
    return number(value, keeps_zeros=True) if metric in IN_UNIT else fixed(value)


def _interval(metric: str, estimate: Estimate) -> str:
    if not np.isfinite(estimate.value):
        return "needs probabilities" if metric == "log_loss" else "not defined on these rows"
    if not (np.isfinite(estimate.low) and np.isfinite(estimate.high)):
        return "too few rows for an interval"
    return f"95 %: {score_text(metric, estimate.low)} to {score_text(metric, estimate.high)}"


def _baseline_sentence(scores: ScoreSet, result: RunResult, unit: str) -> str:
    if not scores.classes or scores.base_rates is None:
        return f"always answering the mean: RMSE {number(scores.baseline, keeps_zeros=True)} {unit}".rstrip()
    always = f"always answering {scores.majority_class}: accuracy {fixed(scores.baseline)}"
    event = result.event_class
    if len(scores.classes) == 2 and event in scores.classes:
        rate = float(scores.base_rates[scores.classes.index(event)])
        n = round(rate * scores.n_rows)
        base = f"base rate of {event}: {percent(n, scores.n_rows)}, {count(n)} of {count(scores.n_rows)}"
        if result.weight is not None:  # a share of weights, which no count of rows makes up
            base = f"base rate of {event}: {percent(rate, 1.0)} by weight"
        return f"{base}; {always}"
    return always


@dataclass(frozen=True, eq=False)
class ConfusionFigure:
    """True classes in rows, predicted in columns.

    Attributes
    ----------
    counts : int64 (n_classes, n_classes)
    cut : float or None
        Probability of the event class from which on it is named; None without an event class.
    weighted_accuracy : float or None
        Where `counts` does not say it: the rows have weights, or classes are summed up.
    n_summed_up : int
        How many classes the last one stands for; 0 where every class has its own row and column.
    """

    title: str
    subtitle: str
    classes: tuple[str, ...]
    counts: NDArray[np.int64]
    event_idx: int | None
    cut: float | None
    weighted_accuracy: float | None = None
    n_summed_up: int = 0

    @property
    def accuracy(self) -> float:
        if self.weighted_accuracy is not None:
            return self.weighted_accuracy
        total = int(self.counts.sum())
        return float(np.trace(self.counts)) / total if total else float("nan")

    def sentence(self) -> str:
        """What the cut-off does, in one sentence; empty without one."""
        if self.event_idx is None or self.cut is None:
            return ""
        event, k = self.classes[self.event_idx], self.event_idx
        hits, n_true, n_told = self.counts[k, k], self.counts[k].sum(), self.counts[:, k].sum()
        return (
            f"finds {count(hits)} of {count(n_true)} {event}; "
            f"{count(n_told - hits)} of {count(n_told)} named so are not"
        )


def make_confusion(name: str, result: RunResult, part: str, cut: float = 0.5) -> ConfusionFigure:
    """Count true against predicted classes; with an event class, named from probability `cut` on."""
    scores = result.scores[part]
    classes, n = scores.classes, len(scores.classes)
    event = result.event_class
    event_idx = classes.index(event) if n == 2 and event in classes else None
    predicted = scores.prediction
    if event_idx is not None and scores.proba is not None:
        is_event = scores.proba[:, event_idx] >= cut
        if cut == 0.5:  # the model's own answer, its rule for ties included
            is_event = scores.prediction == event_idx
        predicted = np.where(is_event, event_idx, 1 - event_idx)
    true, predicted = np.asarray(scores.y_true, np.int64), np.asarray(predicted, np.int64)
    subtitle = f"{count(scores.n_rows)} {PART_TEXTS[part]}"
    weighted, n_summed_up = None, 0
    if scores.weights is not None or n > MAX_CLASSES:
        weighted = float(np.average(predicted == true, weights=scores.weights))
    if scores.weights is not None:
        subtitle += ", not weighted"
    if n > MAX_CLASSES:  # 1,000 classes would be a million cells: nobody reads them, and painting takes long
        kept = np.sort(np.argsort(-np.bincount(true, minlength=n), kind="stable")[: MAX_CLASSES - 1])
        n_summed_up, place = n - len(kept), np.full(n, len(kept))
        place[kept] = np.arange(len(kept))
        true, predicted = place[true], place[predicted]
        classes = (*(classes[k] for k in kept), f"{count(n_summed_up)} others")
        subtitle += f", the {len(kept)} classes with most rows"
        n = len(classes)
    counts = np.bincount(true * n + predicted, minlength=n * n).reshape(n, n)
    cut_shown = cut if event_idx is not None and scores.proba is not None else None
    return ConfusionFigure(name, subtitle, classes, counts, event_idx, cut_shown, weighted, n_summed_up)


@dataclass(frozen=True, eq=False)
class BarsFigure:
    """Importances: a bar a column, largest first; `spreads` are standard deviations, where there are such."""

    title: str
    subtitle: str
    names: tuple[str, ...]
    values: NDArray[np.float64]
    spreads: NDArray[np.float64] | None = None

    def text(self, k: int) -> str:
        """Such as "0.123", or "0.123 ± 0.045"."""
        value = fixed(float(self.values[k]), 3)
        return value if self.spreads is None else f"{value} ± {fixed(float(self.spreads[k]), 3)}"


def make_importances(name: str, result: RunResult) -> BarsFigure:
    """Rank columns by their share of the total gain; the largest `N_SHOWN_IMPORTANCES` of them.

    Those of a model without trees by what shuffling them costs (`workbench.importances`).
    """
    order = np.argsort(-result.importances, kind="stable")[:N_SHOWN_IMPORTANCES]
    n = len(result.features)
    subtitle = "share of the total gain on training rows"
    if not result.has_trees:
        score = "accuracy" if result.classes else "R squared"
        rows = shuffled_text(result.scores)
        subtitle = f"by how much {score} falls when the column is shuffled, {rows}"
    if n > len(order):
        subtitle += f", largest {len(order)} of {count(n)} columns"
    return BarsFigure(name, subtitle, tuple(result.features[k] for k in order), result.importances[order])


@dataclass(frozen=True, eq=False)
class ScatterFigure:
    """Predicted against actual numbers."""

    title: str
    subtitle: str
    target: str
    actual: NDArray[np.float64]
    predicted: NDArray[np.float64]
    is_date: bool = False

    def text_at(self, row_idx: int) -> str:
        """What is told beside a point."""
        actual, predicted = (
            value_text(float(np.floor(values[row_idx]) if self.is_date else values[row_idx]), 5, self.is_date)
            for values in (self.actual, self.predicted)
        )
        return f"actual {actual}\npredicted {predicted}"

    def ticks(self, low: float, high: float) -> list[tuple[float, str]] | None:
        """Places and words on both axes where the target is a date, else None."""
        return date_ticks(low, high) if self.is_date else None


def make_predicted_actual(name: str, result: RunResult, part: str, is_date: bool = False) -> ScatterFigure:
    """Pair prediction and truth of one part's rows."""
    scores = result.scores[part]
    rows = f"{count(scores.n_rows)} {PART_TEXTS[part]}"
    actual, predicted = np.asarray(scores.y_true, float), np.asarray(scores.prediction, float)
    return ScatterFigure(name, rows, result.target, actual, predicted, is_date)


def class_rows(figure: ConfusionFigure) -> list[tuple[str, ...]]:
    """Return the per-class table at the figure's cut-off as texts: class, rows, precision, recall, F1."""
    from workbench.scoring import class_table

    rows: list[tuple[str, ...]] = []
    lines = class_table(figure.counts, figure.classes)
    for line in lines[:-1] if figure.n_summed_up else lines:
        numbers = [fixed(v) if np.isfinite(v) else "–" for v in (line.precision, line.recall, line.f1)]
        rows.append((line.label, count(line.n_rows), *numbers))
    return rows


def parts_of(result: Any) -> list[str]:
    """Return the parts that have scores, the one to look at first in front."""
    return [part for part in DEFAULT_PARTS if part in result.scores]
