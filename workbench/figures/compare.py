"""`CompareFigure`: all runs in one table, scores and only those settings that differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.catalog import entry_of
from workbench.catalog_entry import TASKS
from workbench.figures.scores import METRIC_TEXTS, SHORT_PARTS, score_text
from workbench.figures.training import TrainingFigure, make_line, make_training_figure
from workbench.figures.words import MINUS, count, number

if TYPE_CHECKING:
    from workbench.runs import ModelSpec, RunRecord

STATE_TEXTS = {
    "new": "not trained",
    "queued": "waiting",
    "training": "training",
    "done": "trained",
    "stopped": "stopped by hand",
    "failed": "failed",
}
METRICS = {"classes": ("accuracy", "auc", "log_loss"), "numbers": ("r2", "rmse", "mae")}
NEVER_SHOWN = ("random_state", "categorical_features", "n_jobs")


@dataclass(frozen=True)
class CompareRow:
    """One run: its name, kind, state and the texts of the table's other columns."""

    run_id: str
    name: str
    kind: str
    state: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class CompareFigure:
    """The table.

    Attributes
    ----------
    part : str
        Whose rows the scores are of.
    columns : tuple of str
        Heads of `cells`: scores first, then the settings that differ.
    n_scores : int
        How many of the columns are scores.
    rows : tuple of CompareRow
    best : tuple of frozenset of int
        Rows with the best value of each score; none where fewer than two models have it, or where models
        predict different columns.
    """

    part: str
    columns: tuple[str, ...]
    n_scores: int
    rows: tuple[CompareRow, ...]
    best: tuple[frozenset[int], ...]


def make_compare(runs: Mapping[str, RunRecord], task: str, part: str = "validation") -> CompareFigure:
    """Make the table of all runs.

    Parameters
    ----------
    runs : mapping of run id to RunRecord
    task : str
        "classes" or "numbers": which scores are shown while no model is trained. Trained models have
        the scores of their own task, whatever table is open.
    part : str
        Scores are of these rows; a run without them has dashes.
    """
    trained = [record.result for record in runs.values() if record.result is not None]
    tasks = {"classes" if result.classes else "numbers" for result in trained} or {task}
    metrics = tuple(metric for name in TASKS if name in tasks for metric in METRICS[name])
    specs = {run_id: _shown_spec(record) for run_id, record in runs.items()}
    settings = differing_settings(list(specs.values()))
    is_mixed = len({result.target for result in trained}) > 1
    rows = []
    for run_id, record in runs.items():
        scores = record.result.scores.get(part) if record.result is not None else None
        texts = [
            score_text(m, scores.metrics[m].value) if scores is not None and m in scores.metrics else "–"
            for m in metrics
        ]
        is_old = record.is_outdated and not record.is_training
        state = STATE_TEXTS[record.state] + (", settings changed since" if is_old else "")
        spec = specs[run_id]
        values = [
            setting_text(spec.parameters[s]) if spec.kind in kinds and s in spec.parameters else ""
            for s, kinds in settings.items()
        ]
        kind = entry_of(record.spec.kind).title
        if is_mixed and record.result is not None:
            kind = f"{kind} for {record.result.target}"
        rows.append(CompareRow(run_id, record.name, kind, state, (*texts, *values)))
    heads = [f"{METRIC_TEXTS[m]}, {SHORT_PARTS[part]}" for m in metrics]
    labels = [_label(setting, kinds, runs, task) for setting, kinds in settings.items()]
    best = tuple(frozenset() if is_mixed else _best(runs, part, metric) for metric in metrics)
    return CompareFigure(part, (*heads, *labels), len(metrics), tuple(rows), best)


def _shown_spec(record: RunRecord) -> ModelSpec:
    """Return the settings that the scores belong to: those the model was trained with, if it is."""
    return record.spec if record.result is None else record.result.spec


def differing_settings(specs: Sequence[Any]) -> dict[str, set[str]]:
    """Return the parameters in which two models of one kind disagree, and the kinds in which they do.

    Between kinds nothing is compared: the kind itself is a column, and a forest's trees are no rounds. Nor is
    a setting with nothing: a model of classes has no loss to choose, one of numbers may.
    """
    names: dict[str, set[str]] = {}
    for kind in {spec.kind for spec in specs}:
        same_kind = [spec.parameters for spec in specs if spec.kind == kind]
        for name in {name for parameters in same_kind for name in parameters} - set(NEVER_SHOWN):
            if len({repr(parameters[name]) for parameters in same_kind if name in parameters}) > 1:
                names.setdefault(name, set()).add(kind)
    order = [name for spec in specs for name in spec.parameters]
    return {name: names[name] for name in dict.fromkeys(order) if name in names}


def setting_text(value: Any) -> str:
    """Write a parameter's value."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value).replace("-", MINUS)
    return number(value, 4) if isinstance(value, float) else str(value)


def _label(name: str, kinds: set[str], runs: Mapping[str, RunRecord], task: str) -> str:
    """What the settings of these kinds call it; "Trees / Rounds" where they do not agree."""
    labels = []
    for record in runs.values():
        if record.spec.kind in kinds and name in record.spec.parameters:
            own_task = task if record.result is None else ("classes" if record.result.classes else "numbers")
            labels.append(entry_of(record.spec.kind).label(own_task, name))
    return " / ".join(dict.fromkeys(labels))


def _best(runs: Mapping[str, RunRecord], part: str, metric: str) -> frozenset[int]:
    values = [
        record.result.scores[part].metrics[metric].value
        if record.result is not None
        and part in record.result.scores
        and metric in record.result.scores[part].metrics
        else np.nan
        for record in runs.values()
    ]
    if np.count_nonzero(np.isfinite(values)) < 2:
        return frozenset()
    best = np.nanmin(values) if metric in ("log_loss", "rmse", "mae") else np.nanmax(values)
    return frozenset(np.flatnonzero(np.isclose(values, best, rtol=1e-12, atol=0)).tolist())


def overlaid_curves(
    records: Sequence[RunRecord], title: str = "Curves of the selected models"
) -> TrainingFigure | None:
    """Lay the curves of several runs over one another; None where none has a curve.

    Each run has a colour; its validation curve is drawn through, its training curve dashed.
    """
    lines, units, steps = [], [], []
    for place, record in enumerate(records):
        curve = record.result.curve if record.result is not None else None
        if curve is None:
            continue
        units.append(curve.unit)
        steps.append(entry_of(record.spec.kind).step_name)
        has_validation = len(curve.validation) > 0
        role = f"run {place}"
        train = make_line(role, f"{record.name}, training", curve.train)
        lines.append(replace(train, is_dashed=has_validation, colour=place))
        if has_validation:
            validation = make_line(role, f"{record.name}, validation", curve.validation)
            lines.append(replace(validation, colour=place))
    if not lines:
        return None
    subtitle = "solid: validation, dotted: training"
    y_label, x_label = (" and ".join(dict.fromkeys(names)) for names in (units, steps))
    return make_training_figure(lines, y_label, title=title, subtitle=subtitle, x_label=x_label)
