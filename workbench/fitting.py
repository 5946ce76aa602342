"""What a training does, without Qt: frozen inputs in, a result out. Runs in a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine import pieces
from engine.errors import DataError, FitStopped
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent
from workbench.catalog import entry_of
from workbench.importances import gains_of, importances_of
from workbench.runs import NO_PART, PARTS, Curve, ModelSpec, RunResult, SplitSettings
from workbench.scoring import ScoreSet, score_classes, score_decisions, score_numbers

if TYPE_CHECKING:
    import pandas as pd

    from workbench.datasets import Table

STEP_ROWS = 2**16  # predicted between two questions to the monitor: well under a second
PATIENCE = 1e8  # work of slow answers that a stopped model is still given: see `engine.pieces`


@dataclass(frozen=True, eq=False)
class FitInputs:
    """All that a training looks at, frozen when it is asked for.

    Attributes
    ----------
    classes : tuple of str
        Labels in order; empty for a number target.
    parts : uint8 (n_rows,)
        0 training, 1 validation, 2 test, 255 none.
    weight : str or None
        Column with the weights of rows.
    group : str or None
        Column whose equal values are never split between parts or folds.
    split : SplitSettings
        What dealt the rows into `parts`.
    """

    table: Table
    features: tuple[str, ...]
    target: str
    classes: tuple[str, ...]
    parts: NDArray[np.uint8]
    spec: ModelSpec
    event_class: str | None = None
    weight: str | None = None
    group: str | None = None
    split: SplitSettings = field(default_factory=SplitSettings)

    @property
    def task(self) -> str:
        return "classes" if self.classes else "numbers"

    def rows_of(self, part: str) -> NDArray[np.int64]:
        return np.flatnonzero(self.parts == PARTS.index(part))

    def learnable(self) -> Learnable:
        """Return the features, target and weights of all rows."""
        from workbench.datasets import feature_frame

        column = self.table.column(self.target)
        y = column.label_codes()[0] if self.classes else column.values
        weights = None if self.weight is None else self.table.column(self.weight).values
        groups = None if self.group is None else self.table.column(self.group).label_codes()[0]
        return Learnable(feature_frame(self.table, self.features), y, weights, self.classes, groups)


@dataclass(frozen=True, eq=False)
class Learnable:
    """Features (a frame), target (class codes or numbers), weights and group codes of the same rows."""

    X: pd.DataFrame
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    classes: tuple[str, ...]
    groups: NDArray[Any] | None = None

    def take(self, rows: NDArray[np.int64]) -> Learnable:
        weights, groups = (None if of is None else of[rows] for of in (self.weights, self.groups))
        return Learnable(self.X.iloc[rows], self.y[rows], weights, self.classes, groups)

    @property
    def labels(self) -> Any:
        """The target as an estimator takes it: numbers, or labels of which all classes are known."""
        if not self.classes:
            return self.y
        import pandas as pd

        categories = pd.Index(self.classes, dtype=object)
        return pd.Series(pd.Categorical.from_codes(self.y.astype(np.int64), categories=categories))


@dataclass(frozen=True, eq=False)
class SoFar:
    """A model in training, after the rounds or trees that were done at some moment.

    Attributes
    ----------
    inputs : FitInputs
    make : callable
        Returns the fitted estimator; see `engine.monitor.IterationEvent.so_far`.
    """

    inputs: FitInputs
    make: Callable[[], Any]

    def result(self) -> RunResult:
        """Return it as a result without scores or losses; for a worker."""
        return _unscored(self.make(), self.inputs)


def fit_run(inputs: FitInputs, monitor: FitMonitor = NULL_MONITOR) -> RunResult:
    """Train, score every part, and return the result.

    Raises
    ------
    DataError, ParameterError
        The table or the settings do not allow it; says why and what to do.
    FitStopped
        It was stopped, and of such a model nothing is left.
    """
    began = perf_counter()
    monitor.on_iteration(IterationEvent("preparing the table"))
    everything = inputs.learnable()
    monitor.on_iteration(IterationEvent("preparing the table"))
    training, validation = (everything.take(inputs.rows_of(part)) for part in PARTS[:2])
    entry = entry_of(inputs.spec.kind)
    estimator = entry.make(inputs.task, dict(inputs.spec.parameters), len(inputs.classes))
    monitor.on_iteration(IterationEvent("preparing the table"))  # again: these imports took time
    sees_validation = entry.has_curve and len(validation.y) > 0
    fit_estimator(estimator, training, validation if sees_validation else None, monitor)
    if estimator.stopped_ and entry.fits_whole:
        raise FitStopped
    why_ended: str = getattr(estimator, "why_ended_", "")
    if why_ended and not rounds_of(estimator):
        raise DataError(f"{why_ended}; let the trees ask more questions, or add columns")
    return result_of(estimator, inputs, everything, monitor, perf_counter() - began)


def result_of(
    estimator: Any,
    inputs: FitInputs,
    everything: Learnable,
    monitor: FitMonitor = NULL_MONITOR,
    seconds: float = 0.0,
) -> RunResult:
    """Return the result of a fitted estimator, every part scored.

    A model that was stopped is kept with its scores; without any, and without importances, where it answers
    so slowly that a stop would have to wait for them.
    """
    result = replace(
        _unscored(estimator, inputs),
        seconds=seconds,
        curve=curve_of(estimator, inputs.spec.kind, inputs.task),
    )
    try:
        with pieces.asking(_Patience(monitor).is_over):
            return replace(
                result,
                scores=score_parts(estimator, inputs, everything, monitor),
                importances=importances_of(estimator, inputs, everything, monitor),
            )
    except FitStopped:
        return result


class _Patience:
    """Passes a stop over until slow answers have taken so much work more."""

    def __init__(self, monitor: FitMonitor) -> None:
        self._monitor, self._left = monitor, PATIENCE

    def is_over(self, work: float) -> bool:
        if self._monitor.on_iteration(IterationEvent("scoring", fraction=1.0)):
            self._left -= work
        return self._left < 0


def _unscored(estimator: Any, inputs: FitInputs) -> RunResult:
    return RunResult(
        estimator=estimator,
        spec=inputs.spec,
        features=inputs.features,
        target=inputs.target,
        classes=inputs.classes,
        parts=inputs.parts,
        scores={},
        importances=gains_of(estimator, len(inputs.features)),
        seconds=0.0,
        n_rounds=rounds_of(estimator),
        stopped=bool(estimator.stopped_),
        table_fingerprint=inputs.table.fingerprint,
        event_class=inputs.event_class,
        grown_tree=getattr(estimator, "tree_", None),
        split=inputs.split,
        weight=inputs.weight,
        group=inputs.group,
    )


def rounds_of(estimator: Any) -> int:
    """Return how many trees, rounds or epochs there are; 1 of other models."""
    if hasattr(estimator, "members_"):
        return max(int(max(estimator.n_epochs_)), 0 if estimator.is_constant_ and estimator.stopped_ else 1)
    if hasattr(estimator, "n_epochs_"):
        return int(estimator.n_epochs_)
    return len(getattr(estimator, "estimators_", (None,)))


def fit_estimator(
    estimator: Any, training: Learnable, validation: Learnable | None, monitor: FitMonitor
) -> None:
    """Fit in place."""
    extra: dict[str, Any] = {}
    if validation is not None:
        extra = {
            "X_val": validation.X,
            "y_val": validation.labels,
            "sample_weight_val": validation.weights,
        }
    if training.groups is not None and hasattr(estimator, "folds"):  # a stack, which deals rows itself
        extra["groups"] = training.groups
    estimator.fit(training.X, training.labels, training.weights, monitor=monitor, **extra)


def score_parts(
    estimator: Any, inputs: FitInputs, everything: Learnable, monitor: FitMonitor = NULL_MONITOR
) -> dict[str, ScoreSet]:
    """Score every part that has rows of positive weight, weighted where there is a weight column."""
    scores = {}
    for part in PARTS:
        rows = everything.take(inputs.rows_of(part))
        if len(rows.y) and (rows.weights is None or np.any(rows.weights > 0)):
            scores[part] = score_rows(estimator, rows, part, monitor)
    return scores


def score_rows(estimator: Any, rows: Learnable, part: str, monitor: FitMonitor = NULL_MONITOR) -> ScoreSet:
    """Score a fitted estimator on rows with a known target, by their weights."""
    if rows.classes:
        values = predict_in_steps(lambda X: class_values(estimator, X)[1], rows.X, monitor)
        score = score_classes if estimator.has_probabilities else score_decisions
        return score(part, rows.y, values, rows.classes, rows.weights)
    return score_numbers(part, rows.y, predict_in_steps(estimator.predict, rows.X, monitor), rows.weights)


def class_values(estimator: Any, X: pd.DataFrame) -> tuple[str, NDArray[np.float64]]:
    """Return what a model tells of classes, "probability" or "decision value", and it: a column a class."""
    if estimator.has_probabilities:
        return "probability", np.asarray(estimator.predict_proba(X), np.float64)
    values = np.asarray(estimator.decision_function(X), np.float64)
    return "decision value", np.column_stack([-values, values]) if values.ndim == 1 else values


def predict_in_steps(
    predict: Callable[[pd.DataFrame], NDArray[Any]], X: pd.DataFrame, monitor: FitMonitor
) -> NDArray[Any]:
    """Predict the rows of a frame, asking the monitor in between; its stop is passed over.

    A model that was stopped is kept with its scores. Who wants no result at all lets the monitor raise.
    """
    steps = []
    for start in range(0, max(len(X), 1), STEP_ROWS):
        monitor.on_iteration(IterationEvent("scoring", fraction=1.0))
        steps.append(predict(X.iloc[start : start + STEP_ROWS]))
    return np.concatenate(steps) if len(steps) > 1 else steps[0]


def inputs_of_result(result: RunResult, table: Table) -> FitInputs:
    """Return what a result was trained on, for scoring it anew on the same rows."""
    return FitInputs(
        table=table,
        features=result.features,
        target=result.target,
        classes=result.classes,
        parts=result.parts,
        spec=result.spec,
        event_class=result.event_class,
        weight=result.weight,
        group=result.group,
        split=result.split,
    )


def rows_of_parts(result: RunResult, table: Table) -> dict[str, tuple[NDArray[Any], ...]]:
    """Return encoded rows, targets and weights of training and validation, where they have weight."""
    from engine.features import encode

    inputs = inputs_of_result(result, table)
    everything = inputs.learnable()
    found: dict[str, tuple[NDArray[Any], ...]] = {}
    for part in ("train", "validation"):
        rows = everything.take(inputs.rows_of(part))
        weights = np.ones(len(rows.y)) if rows.weights is None else rows.weights
        if np.any(weights > 0):
            X = encode(rows.X, result.feature_specs)
            found[part] = (X, np.asarray(rows.y, np.float64), weights)
    return found


def what_differs(result: RunResult, table: Table | None) -> str:
    """Say how a table is not the one that a result was trained on; empty where it is.

    The same file read differently since, or columns of another kind now, make other rows of it: then the
    model can be neither scored anew nor drawn over them.
    """
    if table is None or table.fingerprint != result.table_fingerprint:
        return "the model was trained on another table"
    if table.n_rows != len(result.parts):
        return f"the table was read differently: it had {len(result.parts):,} rows, now {table.n_rows:,}"
    used = (*result.features, result.target, *filter(None, (result.weight, result.group)))
    if gone := next((name for name in used if name not in table.names), None):
        return f"the table was read differently: it has no column {gone!r} any more"
    for spec in result.feature_specs:
        column = table.column(spec.name)
        if spec.is_categorical == (column.kind in ("number", "date")):
            was = "categories" if spec.is_categorical else "numbers"
            return f"column {spec.name!r} holds no {was} any more, as it did in training"
        if spec.is_categorical and spec.levels != column.levels:
            return f"column {spec.name!r} is read with other levels than in training"
    return _what_differs_in_rows(result, table)


def _what_differs_in_rows(result: RunResult, table: Table) -> str:
    target, is_used = table.column(result.target), result.parts != NO_PART
    has_labels = target.kind not in ("number", "date")
    if has_labels and not result.is_classification:
        return f"column {target.name!r} holds no numbers any more, as it did in training"
    if has_labels and target.levels != result.classes:
        return f"column {target.name!r} has other classes than in training"
    for name in filter(None, (target.name, result.weight)):
        values = np.asarray(table.column(name).values, np.float64)
        is_missing = values < 0 if table.column(name).has_codes else ~np.isfinite(values)
        if np.any(is_missing & is_used):
            return f"column {name!r} has missing cells now that it did not have in training"
    return ""


def _with_role(roles: dict[str, str], wanted: str) -> str | None:
    return next((name for name, role in roles.items() if role == wanted), None)


def freeze_inputs(
    table: Table,
    roles: dict[str, str],
    target: str,
    classes: Sequence[str],
    parts: NDArray[np.uint8],
    spec: ModelSpec,
    event_class: str | None = None,
    split: SplitSettings | None = None,
) -> FitInputs:
    """Return the inputs of a training on a table with these roles."""
    return FitInputs(
        table=table,
        features=tuple(name for name, role in roles.items() if role == "feature"),
        target=target,
        classes=tuple(classes),
        parts=parts,
        spec=ModelSpec(spec.kind, dict(spec.parameters)),
        event_class=event_class,
        weight=_with_role(roles, "weight"),
        group=_with_role(roles, "group"),
        split=split or SplitSettings(),
    )


def curve_of(estimator: Any, kind: str, task: str) -> Curve | None:
    """Return the loss after every round; None where the kind of model has no such curve."""
    entry = entry_of(kind)
    if not entry.has_curve or entry.has_members:  # which have a curve each
        return None
    validation = np.asarray(estimator.val_loss_, np.float64)
    best = int(getattr(estimator, f"best_{entry.step_name}_")) if len(validation) > 1 else 0
    name = entry.curve_name(task, estimator.get_params(deep=False))
    return Curve(np.asarray(estimator.train_loss_, np.float64), validation, name, best or None)
