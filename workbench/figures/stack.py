"""`StackFigure`: the data's way through a stack, what base models said out of fold, and who was right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.figures.words import count, counted, fixed, percent
from workbench.setting_words import within

if TYPE_CHECKING:
    from engine.stacking.leakage import LeakageReport
    from workbench.datasets import Table
    from workbench.runs import ModelSpec, RunResult

Floats = NDArray[np.float64]
MAX_CASES = 16  # of who was right: with more base models only the most frequent ones are listed
CLOSE_SHARE = 0.5  # a number counts as right where it misses by at most this share of the spread


class Box(NamedTuple):
    """One station of the data's way.

    Attributes
    ----------
    title, detail : str
    setting : str
        The parameter that makes it so; "" for none.
    """

    title: str
    detail: str
    setting: str


@dataclass(frozen=True, eq=False)
class FlowFigure:
    """The data's way: columns of boxes, each joined with all boxes of the next column.

    Attributes
    ----------
    title, subtitle : str
    stages : tuple of tuple of Box
    """

    title: str
    subtitle: str
    stages: tuple[tuple[Box, ...], ...]


class Case(NamedTuple):
    """Rows on which the same base models were right.

    Attributes
    ----------
    name : str
        Such as "only SVM".
    rows : int64 (n,)
        Of the table.
    share : str
        Of all rows with out-of-fold answers that these are.
    """

    name: str
    rows: NDArray[np.int64]
    share: str


@dataclass(frozen=True, eq=False)
class StackFigure:
    """Out-of-fold answers of a trained stack.

    Attributes
    ----------
    title, subtitle : str
    heads : tuple of str
        Of the list: row, fold, the target, and every out-of-fold column.
    rows : int64 (n,)
        Of the table, those with out-of-fold answers.
    folds : int64 (n,)
    actual : tuple of str (n,)
    columns : float64 (n, n_columns)
    is_right : bool (n, n_models)
    model_of_column : int64 (n_columns,)
    models : tuple of str
    correlation : float64 (n_columns, n_columns)
        NaN beside a column that does not vary.
    scores : tuple of (str, str)
        Name and out-of-fold score of every base model and of the stack.
    weights : float64 (n_models,) or None
        Share of each base model in a linear meta-model.
    cases : tuple of Case
    leakage : str
        What the check of leaks found, in a sentence.
    is_clean : bool
        It found none.
    """

    title: str
    subtitle: str
    heads: tuple[str, ...]
    rows: NDArray[np.int64]
    folds: NDArray[np.int64]
    actual: tuple[str, ...]
    columns: Floats
    is_right: NDArray[np.bool_]
    model_of_column: NDArray[np.int64]
    models: tuple[str, ...]
    correlation: Floats
    scores: tuple[tuple[str, str], ...]
    weights: Floats | None
    cases: tuple[Case, ...]
    leakage: str
    is_clean: bool

    @property
    def column_names(self) -> tuple[str, ...]:
        return self.heads[3:]

    def text(self, row: int, column: int) -> str:
        """Write a cell of the list."""
        if column == 0:
            return count(self.rows[row] + 1)
        if column == 1:
            return count(self.folds[row] + 1)
        if column == 2:
            return self.actual[row]
        return fixed(float(self.columns[row, column - 3]))

    def order_by(self, column: int, is_descending: bool) -> NDArray[np.int64]:
        """Return the rows of the list in the order of a column; equal ones as they stand."""
        keys: Sequence[Any] = (self.rows, self.folds, np.array(self.actual))
        key = np.asarray(keys[column] if column < 3 else self.columns[:, column - 3])
        codes = np.unique(key, return_inverse=True)[1]
        return np.argsort(-codes if is_descending else codes, kind="stable")


def make_flow(name: str, spec: ModelSpec, task: str, n_rows: int, n_classes: int) -> FlowFigure:
    """Draw the way of `n_rows` training rows through a stack with these settings, trained or not."""
    from workbench.catalog import entry_of

    entry = entry_of(spec.kind)
    values: Mapping[str, Any] = spec.parameters

    def of(parameter: str) -> Any:
        return values.get(parameter, entry.parameter(task, parameter).default)

    bases, final = of("estimators"), of("final_estimator")
    names = ["Nearest neighbours", "SVM"] if bases is None else [str(model["name"]) for model in bases]
    details = ["start settings"] * 2 if bases is None else [_base_words(model, task) for model in bases]
    n_outputs = 1 if n_classes in (0, 2) else n_classes
    repeats = "" if of("n_repeats") == 1 else f", {of('n_repeats')} times"
    n_columns = n_outputs * len(names)
    meta = entry.parameter(task, "final_estimator").none_text if final is None else _kind_of(final)
    columns = [Box(counted(n_columns, "column"), "said out of fold", "")]
    if of("passthrough"):
        columns.append(Box("Table's columns", "as they are", "passthrough"))
    return FlowFigure(
        name,
        "Base models learn from all folds but one and answer that one; the meta-model learns from answers",
        (
            (Box(counted(n_rows, "row"), "for training", ""),),
            (Box(f"{of('cv')} folds", f"{of('folds')}{repeats}", "cv"),),
            tuple(Box(title, detail, "estimators") for title, detail in zip(names, details, strict=True)),
            tuple(columns),
            (Box("Meta-model", meta, "final_estimator"),),
        ),
    )


def _kind_of(model: Mapping[str, Any]) -> str:
    from workbench.catalog import entry_of

    return entry_of(model["kind"]).title


def _base_words(model: Mapping[str, Any], task: str) -> str:
    """Say what kind a base model is, and which of its settings are chosen inside each fit."""
    from workbench.catalog import entry_of

    entry = entry_of(model["kind"])
    tuned = [within(entry.label(task, name)) for name in model.get("grid", {})]
    return f"{entry.title}, tunes {' and '.join(tuned)}" if tuned else entry.title


def make_stack(name: str, result: RunResult, table: Table) -> StackFigure:
    """Make the figure of a stack that was trained on this table.

    Raises
    ------
    DataError
        It was stopped before its base models had answered.
    """
    from engine.stacking.leakage import check_leakage

    stack = result.estimator
    groups = None
    if result.group is not None:
        groups = table.column(result.group).label_codes()[0][_training_rows(result)]
    report = check_leakage(stack, groups)
    inside = np.flatnonzero(stack.oof_fold_[:, 0] >= 0)
    rows = _training_rows(result)[inside]
    said = stack.oof_predictions_[inside]
    is_right = _who_was_right(result, table, rows, said)
    columns = said[:, :, 1:] if said.shape[2] == 2 else said
    n_models, n_each = said.shape[1], columns.shape[2]
    columns = np.ascontiguousarray(columns.reshape(len(rows), -1))
    models = tuple(stack.names_of_models)
    score = "accuracy" if result.classes else "R squared"
    return StackFigure(
        title=name,
        subtitle=f"{counted(len(rows), 'training row')}, each answered by models that did not see it",
        heads=("Row", "Fold", result.target, *stack.meta_names_),
        rows=rows,
        folds=stack.oof_fold_[inside, 0],
        actual=_actual(result, table, rows),
        columns=columns,
        is_right=is_right,
        model_of_column=np.repeat(np.arange(n_models), n_each),
        models=models,
        correlation=_correlation(columns),
        scores=(
            *(
                (base, f"{score} {fixed(value)}{chosen}")
                for base, value, chosen in zip(
                    models, stack.oof_scores_.tolist(), _chosen_inside(result), strict=True
                )
            ),
            ("Stack", f"{score} {fixed(stack.oof_score_)}"),
        ),
        weights=getattr(stack, "base_weights_", None),
        cases=_cases(models, is_right, rows),
        leakage=_leakage_words(report),
        is_clean=report.is_clean,
    )


def _chosen_inside(result: RunResult) -> list[str]:
    """Say which settings were chosen for each base model on all training rows; "" where none were."""
    from workbench.catalog import entry_of
    from workbench.tuning_grids import settings_words

    stack, bases = result.estimator, result.spec.parameters.get("estimators")
    if bases is None:
        return [""] * len(stack.settings_)
    task = "classes" if result.classes else "numbers"
    told = []
    for model, values in zip(bases, stack.settings_, strict=True):
        entry = entry_of(model["kind"])
        words = settings_words([entry.parameter(task, name) for name in values], values)
        told.append(f"; {words} chosen on all rows" if words else "")
    return told


def _training_rows(result: RunResult) -> NDArray[np.int64]:
    return np.flatnonzero(result.parts == 0)


def _actual(result: RunResult, table: Table, rows: NDArray[np.int64]) -> tuple[str, ...]:
    column = table.column(result.target)
    if result.classes:
        return tuple(result.classes[code] for code in column.label_codes()[0][rows].tolist())
    return tuple(fixed(float(value)) for value in np.asarray(column.values)[rows].tolist())


def _who_was_right(
    result: RunResult, table: Table, rows: NDArray[np.int64], said: Floats
) -> NDArray[np.bool_]:
    """Return which base models were right: by their first choice, or near enough: bool (n_rows, n_models)."""
    column = table.column(result.target)
    if result.classes:
        codes = column.label_codes()[0][rows]
        return np.asarray(np.argmax(said, axis=2) == codes[:, np.newaxis])
    actual = np.asarray(column.values, np.float64)[rows]
    return np.asarray(np.abs(said[:, :, 0] - actual[:, np.newaxis]) <= CLOSE_SHARE * actual.std())


def _correlation(columns: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.atleast_2d(np.corrcoef(columns, rowvar=False))


def _cases(models: Sequence[str], is_right: NDArray[np.bool_], rows: NDArray[np.int64]) -> tuple[Case, ...]:
    """Return the rows of every case of who was right, all first, none last, the others by number."""
    found, case_of = np.unique(is_right, axis=0, return_inverse=True)
    case_of = case_of.reshape(-1)
    cases = []
    for at, right in enumerate(found):
        inside = rows[case_of == at]
        names = [model for model, is_one in zip(models, right, strict=True) if is_one]
        if len(names) == len(models):
            name = "all were right" if len(models) > 1 else f"{models[0]} was right"
        elif not names:
            name = "none was right"
        else:
            name = "only " + " and ".join(names)
        cases.append((-len(names), -len(inside), Case(name, inside, percent(len(inside), len(rows)))))
    return tuple(case for _, _, case in sorted(cases, key=lambda of: of[:2])[:MAX_CASES])


def _leakage_words(report: LeakageReport) -> str:
    looked = f"{counted(report.n_fits, 'fit')} of base models looked at, {counted(report.n_rows, 'row')}"
    if report.is_clean:
        return f"No leak: no row was answered by a model that had seen it ({looked})."
    told = []
    if report.n_seen_rows:
        told.append(f"{counted(report.n_seen_rows, 'row')} answered by a model that had seen them")
    if report.n_unasked_rows:
        told.append(f"{counted(report.n_unasked_rows, 'row')} not answered")
    if report.n_shared_groups:
        told.append(
            f"{counted(report.n_shared_groups, 'group')} on both sides of a fold; deal the rows by group"
        )
    return f"Leak: {'; '.join(told)} ({looked})."
