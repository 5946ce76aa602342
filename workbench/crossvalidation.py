"""Repeated stratified cross-validation over the rows that are not test rows (D31).

The interval is the corrected resampled t interval: folds share training rows, so the variance over
the J scores is multiplied by 1/J + n_fold/n_rest instead of 1/J (Nadeau and Bengio 2003, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError, ParameterError
from engine.folds import dealt_in_turn, group_numbers, shuffled_by_target
from engine.monitor import FitMonitor, IterationEvent, SubMonitor
from workbench.catalog import entry_of
from workbench.fitting import FitInputs, Learnable, fit_estimator, score_rows
from workbench.scoring import SCORE_RANGES, Estimate

N_FOLDS, N_REPEATS = 5, 2
MAX_ROWS = 5000  # from here on one split is told apart well enough from another


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Scores over folds.

    Attributes
    ----------
    n_folds, n_repeats, n_rows : int
    rows_text : str
        Which rows: for the caption.
    fold_scores : dict of metric to float64 (n_done,)
        In the order the folds were done; fewer than n_folds x n_repeats when stopped.
    metrics : dict of metric to Estimate
        Mean over the folds with its 95 % interval.
    stopped : bool
    """

    n_folds: int
    n_repeats: int
    n_rows: int
    rows_text: str
    fold_scores: dict[str, NDArray[np.float64]]
    metrics: dict[str, Estimate]
    stopped: bool


def is_wanted(inputs: FitInputs) -> bool:
    """Tell whether this table is small enough to need it and large enough to have it."""
    n_rows = int(np.count_nonzero(inputs.parts <= 1))
    return inputs.table.n_rows < MAX_ROWS and n_rows >= 2 * N_FOLDS


def cross_validate(inputs: FitInputs, monitor: FitMonitor) -> CrossValidation:
    """Train on all folds but one and score the one, for every fold of every repeat.

    Early stopping, where it is switched on, takes its validation rows out of the training folds.

    Raises
    ------
    DataError
        The rows or settings do not allow a fold's training; names the fold.
    """
    rows = np.flatnonzero(inputs.parts <= 1)
    learnable, groups = inputs.learnable().take(rows), _groups(inputs, rows)
    scores: dict[str, list[float]] = {}
    n_all, stopped = N_FOLDS * N_REPEATS, False
    for n_done, (inside, outside) in enumerate(_folds(learnable, groups), start=1):
        part = SubMonitor(monitor, (n_done - 1) / n_all, n_done / n_all, member=n_done)
        fold = f"fold {n_done} of {n_all}"
        told = _Quiet(part, fold)
        estimator = entry_of(inputs.spec.kind).make(
            inputs.task, dict(inputs.spec.parameters), len(inputs.classes)
        )
        training = learnable.take(inside)
        try:
            fit_estimator(estimator, training, None, told)
        except (DataError, ParameterError) as error:
            raise DataError(f"{fold}, trained on {len(training.y):,} rows: {error}") from error
        if estimator.stopped_ and told.stopped:
            stopped = True  # a fold cut short says nothing about the whole training
            break
        for metric, value in _fold_scores(estimator, learnable.take(outside)).items():
            scores.setdefault(metric, []).append(value)
        event = IterationEvent("cross-validating", n_done, n_all, n_done / n_all)
        if monitor.on_iteration(event) and n_done < n_all:
            stopped = True
            break
    fold_scores = {metric: np.array(values) for metric, values in scores.items()}
    return CrossValidation(
        n_folds=N_FOLDS,
        n_repeats=N_REPEATS,
        n_rows=len(rows),
        rows_text=f"{len(rows):,} training and validation rows"
        + (f", weighted by column {inputs.weight}" if inputs.weight is not None else "")
        + _groups_text(inputs, groups),
        fold_scores=fold_scores,
        metrics={metric: _within_range(metric, resampled_interval(v)) for metric, v in fold_scores.items()},
        stopped=stopped,
    )


def _fold_scores(estimator: Any, rows: Learnable) -> dict[str, float]:
    """Return a fold's scores; none where no row has weight."""
    if rows.weights is not None and not np.any(rows.weights > 0):
        return {}
    return {metric: found.value for metric, found in score_rows(estimator, rows, "fold").metrics.items()}


def resampled_interval(values: NDArray[np.float64], n_folds: int = N_FOLDS) -> Estimate:
    """Return the mean of fold scores with its corrected 95 % interval; NaN scores are left out."""
    values = values[np.isfinite(values)]
    if len(values) < 2:
        return Estimate(float(values.mean()) if len(values) else np.nan, np.nan, np.nan)
    from scipy.stats import t

    inflated = 1 / len(values) + 1 / (n_folds - 1)
    half = float(t.ppf(0.975, len(values) - 1)) * sqrt(inflated) * float(np.std(values, ddof=1))
    mean = float(values.mean())
    return Estimate(mean, mean - half, mean + half)


def _within_range(metric: str, found: Estimate) -> Estimate:
    """Cut an interval off where the metric's range ends: the t interval knows nothing of it."""
    lowest, highest = SCORE_RANGES[metric]
    return Estimate(found.value, max(lowest, found.low), min(highest, found.high))


class _Quiet:
    """Asks whether to stop and names the fold, without passing on its trees and steps."""

    def __init__(self, monitor: SubMonitor, fold: str) -> None:
        self._monitor, self._fold, self.stopped = monitor, fold, False

    def on_iteration(self, event: IterationEvent) -> bool:
        told = IterationEvent("cross-validating", fraction=event.fraction, message=self._fold)
        self.stopped = self._monitor.on_iteration(told)
        return self.stopped


def _folds(learnable: Learnable, groups: NDArray[Any] | None) -> Any:
    """Yield (inside, outside) row numbers of every fold of every repeat."""
    for repeat in range(N_REPEATS):
        fold_of = _fold_numbers(learnable, groups, repeat)
        for fold in range(N_FOLDS):
            yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)


def folds_of(inputs: FitInputs, rows: NDArray[np.int64], learnable: Learnable) -> NDArray[np.int64]:
    """Return a fold for each of the listed rows, `learnable` being what they hold: int64 (n_listed,).

    Raises
    ------
    DataError
        There are fewer groups than folds.
    """
    groups = _groups(inputs, rows)
    if groups is not None and (n_groups := len(np.unique(groups))) < N_FOLDS:
        raise DataError(
            f"the rows are of {n_groups} groups (column {inputs.group!r}), too few for {N_FOLDS} folds; give "
            "that column another role"
        )
    return _fold_numbers(learnable, groups, repeat=0)


def _fold_numbers(learnable: Learnable, groups: NDArray[Any] | None, repeat: int) -> NDArray[np.int64]:
    """Deal rows into folds, stratified by class or by fifths of a number target; groups are kept whole."""
    if groups is None or len(np.unique(groups)) < N_FOLDS:
        return _deal_folds(learnable, np.random.default_rng(repeat))
    from sklearn.model_selection import GroupKFold

    fold_of = np.empty(len(learnable.y), np.int64)
    splits = GroupKFold(N_FOLDS, shuffle=True, random_state=repeat).split(learnable.y, groups=groups)
    for fold, (_inside, outside) in enumerate(splits):
        fold_of[outside] = fold
    return fold_of


def _deal_folds(learnable: Learnable, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a fold for every row: rows in random order, sorted by target, are dealt out in turn.

    So each class, and each stretch of a number target, is spread evenly, rare classes too.
    """
    by_target = shuffled_by_target(learnable.y, rng)
    if learnable.classes:
        return dealt_in_turn(by_target, N_FOLDS)
    fold_of = np.empty(len(by_target), np.int64)
    for start in range(0, len(by_target), N_FOLDS):  # within each run of neighbours in random order
        block = by_target[start : start + N_FOLDS]
        fold_of[block] = rng.permutation(N_FOLDS)[: len(block)]
    return fold_of


def _groups(inputs: FitInputs, rows: NDArray[np.int64]) -> NDArray[Any] | None:
    """Return group numbers, those without a group being groups of their own; None without such a column."""
    if inputs.group is None:
        return None
    return group_numbers(inputs.table.column(inputs.group).label_codes()[0][rows], len(rows))


def _groups_text(inputs: FitInputs, groups: NDArray[Any] | None) -> str:
    """Say whether rows of one group stay in one fold."""
    if groups is None:
        return ""
    if (n_groups := len(np.unique(groups))) < N_FOLDS:
        return (
            f", column {inputs.group} not kept whole: its {n_groups} groups are too few for {N_FOLDS} folds"
        )
    return f", column {inputs.group} kept whole"
