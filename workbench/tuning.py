"""What a search for good settings of a model does, without Qt: frozen inputs in, a value out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from engine.errors import DataError
from engine.monitor import FitMonitor
from engine.parameters import Parameter
from engine.tuning.search import Search
from workbench.catalog import entry_of
from workbench.crossvalidation import N_FOLDS, folds_of
from workbench.fitting import FitInputs, Learnable, score_rows
from workbench.runs import ModelSpec, SplitSettings

if TYPE_CHECKING:
    from workbench.document import Document


@dataclass(frozen=True)
class Scoring:
    """What settings are compared by.

    Attributes
    ----------
    metric : str
        As in `workbench.scoring`.
    title, axis : str
        For the list, and on the axis; what is drawn.
    sign, offset : float
        What is drawn is ``offset + sign * metric``.
    is_better_low : bool
        Of what is drawn.
    is_share : bool
        Drawn as a share of rows.
    for_two : bool
        For two classes only.
    """

    metric: str
    title: str
    axis: str
    sign: float = 1.0
    offset: float = 0.0
    is_better_low: bool = True
    is_share: bool = False

    def score(self, value: float) -> float:
        """Return a metric's value as a score, of which more is better."""
        drawn = self.offset + self.sign * value
        return -drawn if self.is_better_low else drawn

    def drawn(self, score: Any) -> Any:
        """Return what is drawn of scores."""
        return -score if self.is_better_low else score


SCORINGS: dict[str, tuple[Scoring, ...]] = {
    "classes": (
        Scoring("accuracy", "Wrong rows", "wrong rows", sign=-1.0, offset=1.0, is_share=True),
        Scoring("log_loss", "Log loss", "log loss"),
        Scoring("auc", "ROC area", "area under the ROC curve", is_better_low=False),
    ),
    "numbers": (
        Scoring("rmse", "RMSE", "root mean squared error"),
        Scoring("mae", "MAE", "mean absolute error"),
        Scoring("r2", "R²", "R²", is_better_low=False),
    ),
}


def scoring_of(task: str, metric: str) -> Scoring:
    """Return what a metric is called and how it is drawn; raises KeyError where a task has none such."""
    found = {scoring.metric: scoring for scoring in SCORINGS[task]}
    return found[metric]


class Plan(NamedTuple):
    """What is to be tried: values by parameter, and the metric by which they are compared."""

    grid: dict[str, tuple[Any, ...]]
    metric: str

    @property
    def n_settings(self) -> int:
        return int(np.prod([len(values) for values in self.grid.values()]))


@dataclass(frozen=True, eq=False)
class Tuning:
    """A search and what it was about.

    Attributes
    ----------
    search : Search
    spec : ModelSpec
        The model's settings when it began; those that are tuned have other values in it.
    task : str
        "classes" or "numbers".
    metric : str
    features : tuple of str
    target : str
    n_rows : int
        Training rows.
    weight, group : str or None
        Columns that had these roles.
    table_fingerprint : str
    split : SplitSettings
    seconds : float
    """

    search: Search
    spec: ModelSpec
    task: str
    metric: str
    features: tuple[str, ...]
    target: str
    n_rows: int
    weight: str | None
    group: str | None
    table_fingerprint: str
    split: SplitSettings
    seconds: float = 0.0

    @property
    def plan(self) -> Plan:
        return Plan(dict(zip(self.search.names, self.search.values, strict=True)), self.metric)

    @property
    def scoring(self) -> Scoring:
        return scoring_of(self.task, self.metric)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """What is tuned, from the table of the kind."""
        entry = entry_of(self.spec.kind)
        return tuple(entry.parameter(self.task, name) for name in self.search.names)

    @property
    def rows_text(self) -> str:
        """Which rows were trained on and asked, for the caption."""
        of_weight = f", weighted by column {self.weight}" if self.weight is not None else ""
        whole = f", column {self.group} kept whole" if self.group is not None else ""
        return f"{self.search.n_folds} folds of the {self.n_rows:,} training rows{of_weight}{whole}"


def tune_run(inputs: FitInputs, plan: Plan, monitor: FitMonitor) -> Tuning:
    """Try every setting of a plan on folds of the training rows (D12); a stop keeps what is done.

    The folds are those of the pruning curve: by class, or by fifths of a number, with whole groups.

    Raises
    ------
    DataError, ParameterError
        The rows, groups or weights do not allow it; says why and what to do.
    """
    from engine.tuning.tune import tune

    began = perf_counter()
    rows = inputs.rows_of("train")
    learnable = inputs.learnable().take(rows)
    if len(rows) < 2 * N_FOLDS:
        raise DataError(
            f"there are {len(rows)} training rows, too few for {N_FOLDS} folds; give the training part more"
        )
    make = partial(_make, inputs.spec, inputs.task, len(inputs.classes))
    search = tune(
        make({}), learnable.X, learnable.labels, plan.grid, learnable.weights,
        folds=folds_of(inputs, rows, learnable),
        scoring=FoldScorer(scoring_of(inputs.task, plan.metric), learnable.classes),
        simpler=_orders(inputs, plan), make=make, monitor=monitor,
    )  # fmt: skip
    return replace(tuning_of(inputs, plan, search), seconds=perf_counter() - began)


def tuning_of(inputs: FitInputs, plan: Plan, search: Search) -> Tuning:
    """Return a search with what it is about."""
    return Tuning(
        search, inputs.spec, inputs.task, plan.metric, inputs.features, inputs.target,
        len(inputs.rows_of("train")), inputs.weight, inputs.group, inputs.table.fingerprint, inputs.split,
    )  # fmt: skip


def _make(spec: ModelSpec, task: str, n_classes: int, setting: Mapping[str, Any]) -> Any:
    """Return an estimator with a setting's values, without parameters that have no effect beside them."""
    return entry_of(spec.kind).make(task, {**spec.parameters, **setting}, n_classes)


def _orders(inputs: FitInputs, plan: Plan) -> dict[str, str]:
    """Return which values are the simpler ones; none where they have no common order."""
    entry = entry_of(inputs.spec.kind)
    ways = {name: entry.parameter(inputs.task, name) for name in plan.grid}
    return {
        name: parameter.simpler
        for name, parameter in ways.items()
        if parameter.simpler and not _mixes_units(parameter, plan.grid[name])
    }


def _mixes_units(parameter: Parameter, values: Sequence[Any]) -> bool:
    """Tell whether counts stand beside shares, or numbers beside one that is worked out from the table."""
    kinds = {type(value) for value in values if isinstance(value, (int, float))}
    if parameter.kind == "float":
        return None in values and len(values) > 1
    return parameter.kind == "number_or_choice" and len(kinds) > 1


class FoldScorer(NamedTuple):
    """Scores a model on a fold as the Scores view does; a value, so that it can go to a child process."""

    scoring: Scoring
    classes: tuple[str, ...]

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        codes = y.cat.codes.to_numpy() if self.classes else np.asarray(y)
        rows = Learnable(X, codes, sample_weight, self.classes)
        value = score_rows(estimator, rows, "fold").metrics[self.scoring.metric].value
        return self.scoring.score(value)


def what_changed(tuning: Tuning, document: Document, spec: ModelSpec) -> str:
    """Say what is other now than when the settings were tried; empty where nothing is."""
    table = document.table
    if table is None or table.fingerprint != tuning.table_fingerprint:
        return "tried on another table"
    if document.target != tuning.target or document.task != tuning.task:
        return f"tried for predicting {tuning.target}"
    if tuple(document.features) != tuning.features:
        return "tried with other columns"
    roles = document.roles
    now = tuple(next((name for name, role in roles.items() if role == r), None) for r in ("weight", "group"))
    if now != (tuning.weight, tuning.group) or document.split != tuning.split:
        return "tried on other training rows"
    entry, names = entry_of(spec.kind), tuning.search.names
    before, after = (
        {name: value for name, value in entry.applying(tuning.task, settings).items() if name not in names}
        for settings in (tuning.spec.parameters, spec.parameters)
    )
    others = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if not others:
        return ""
    labels = [entry.parameter(tuning.task, name).label or name for name in others]
    return (
        f"tried with another {labels[0]}" if len(labels) == 1 else f"tried with {len(labels)} other settings"
    )
