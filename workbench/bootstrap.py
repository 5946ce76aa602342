"""The bootstrap of a statistic of the table: what is asked for, on which rows, and what was found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.bootstrap.expression import Expression, parse, renamed
from engine.bootstrap.statistics import AreaUnderCurve, OfColumns, OfRows, Statistic, least_risk_share
from engine.errors import DataError, ParameterError
from workbench.figures.words import count, counted, number
from workbench.scoring import ScoreSet, accuracy, auc, log_loss, score_numbers

if TYPE_CHECKING:
    from workbench.columns import Column
    from workbench.datasets import Table
    from workbench.document import Document

Floats = NDArray[np.float64]
MEAN, MEDIAN, QUANTILE, CORRELATION = "mean", "median", "quantile", "correlation"
AUC, SHARE, SCORE, EXPRESSION = "auc", "least_risk_share", "score", "expression"
TITLES = {
    MEAN: "Mean", MEDIAN: "Median", QUANTILE: "Quantile", CORRELATION: "Correlation",
    AUC: "ROC area of a column", SHARE: "Share of least risk", SCORE: "Score of a model",
    EXPRESSION: "Expression",
}  # fmt: skip
N_COLUMNS = {MEAN: 1, MEDIAN: 1, QUANTILE: 1, CORRELATION: 2, AUC: 2, SHARE: 2, SCORE: 0, EXPRESSION: 0}
METRIC_TITLES = {
    "accuracy": "Accuracy", "auc": "ROC area", "log_loss": "Log loss",
    "rmse": "RMSE", "mae": "MAE", "r2": "R²",
}  # fmt: skip
MAX_REPLICATES, MIN_ROWS = 1_000_000, 2
KNOWN_LAW = "two_assets"  # the sample whose distribution is known


@dataclass(frozen=True)
class BootstrapSettings:
    """What is bootstrapped, and how.

    Attributes
    ----------
    statistic : str
        A key of `TITLES`.
    first, second : str
        Its columns; of the ROC area the score, then the two classes.
    share : float
        Of a quantile.
    expression : str
    run_id, metric : str
        The model whose score it is.
    n_replicates : int
    level : float
        Of the intervals.
    seed : int
    """

    statistic: str = MEAN
    first: str = ""
    second: str = ""
    share: float = 0.9
    expression: str = ""
    run_id: str = ""
    metric: str = ""
    n_replicates: int = 1000
    level: float = 0.95
    seed: int = 0

    def draws_as(self, other: BootstrapSettings) -> bool:
        """Tell whether both find the same replicates: the level is looked at afterwards."""
        return replace(self, level=other.level) == other


@dataclass(frozen=True, eq=False)
class BootstrapInputs:
    """A statistic over rows, frozen: what a worker is given.

    Attributes
    ----------
    settings : BootstrapSettings
    statistic : Statistic
    name : str
        In words: "mean of bill_length_mm".
    rows_text : str
        Which rows, and how many were left out.
    table_fingerprint : str
    fresh : Expression or None
        Where the distribution that the table was drawn from is known: the statistic of columns x and y.
    truth : float
        Its value in that distribution; NaN where it is not known.
    """

    settings: BootstrapSettings
    statistic: Statistic
    name: str
    rows_text: str
    table_fingerprint: str
    fresh: Expression | None = None
    truth: float = np.nan


def in_a_sentence(settings: BootstrapSettings, name: str) -> str:
    """Return a statistic's name as it stands in a sentence: an expression has no article."""
    return name if settings.statistic == EXPRESSION else f"the {name}"


def first_bootstrap(table: Table, target: str | None) -> BootstrapSettings:
    """Return what is offered first: the mean of a number column, or on two assets the share of least risk."""
    if _has_known_law(table):
        return BootstrapSettings(SHARE, "x", "y")
    names = number_columns(table)
    first = target if target in names else next(iter(names), "")
    return BootstrapSettings(MEAN, first, next((name for name in names if name != first), first))


def number_columns(table: Table) -> tuple[str, ...]:
    """Return the names of columns that one can count with."""
    return tuple(column.name for column in table.columns if not column.has_codes)


def class_columns(table: Table) -> tuple[str, ...]:
    """Return the names of columns that have two values."""
    return tuple(column.name for column in table.columns if column.n_distinct == 2)


def with_fitting_column(settings: BootstrapSettings, table: Table, target: str | None) -> BootstrapSettings:
    """Choose the second column anew where a statistic cannot take it: the ROC area is of two classes."""
    if N_COLUMNS[settings.statistic] < 2:
        return settings
    offered = class_columns(table) if settings.statistic == AUC else number_columns(table)
    if settings.second in offered:
        return settings
    others = [name for name in offered if name != settings.first] or list(offered)
    return replace(settings, second=target if target in others else next(iter(others), ""))


def inputs_of(document: Document, settings: BootstrapSettings) -> BootstrapInputs:
    """Return a statistic over the rows of the document as it stands.

    Raises
    ------
    DataError, ParameterError
        It cannot be worked out of this table; says why and what to do.
    """
    table = document.table
    if table is None:
        raise DataError("no table is open; open a file or a sample first")
    _check(settings)
    if settings.statistic == SCORE:
        return _of_model(document, settings)
    if settings.statistic == AUC:
        made = _of_classes(document, table, settings)
    else:
        made = _of_columns(table, settings)
    if made.statistic.n_rows < MIN_ROWS:
        raise DataError(
            f"{counted(made.statistic.n_rows, 'row')} of {count(table.n_rows)} have all values; "
            f"at least {MIN_ROWS} are needed to resample"
        )
    weight = next((name for name, role in document.roles.items() if role == "weight"), None)
    if weight is not None:
        made = replace(made, rows_text=f"{made.rows_text}, each counted once, whatever its {weight}")
    return made


def _check(settings: BootstrapSettings) -> None:
    n = settings.n_replicates
    if not 2 <= n <= MAX_REPLICATES:
        raise ParameterError(f"the number of resamples is {n:,}; enter one from 2 to {MAX_REPLICATES:,}")
    if not 0 < settings.level < 1:
        raise ParameterError(f"the level is {100 * settings.level:g} %; enter one between 0 and 100")
    if not 0 <= settings.share <= 1:
        raise ParameterError(f"the share of the quantile is {settings.share:g}; enter one from 0 to 1")


def _number_column(table: Table, name: str) -> Floats:
    if name not in table.names:
        raise DataError(f"the table has no column {name!r}; choose one" if name else "choose a column")
    column = table.column(name)
    if column.has_codes:
        kind = "texts" if column.kind == "text" else "categories"
        raise DataError(f"column {name!r} holds {kind}; choose one of numbers")
    return np.asarray(column.values, np.float64)


def _rows_text(table: Table, n_kept: int, names: Sequence[str]) -> str:
    """Say which rows are drawn, and as what numbers columns count that are not written as numbers."""
    told = [counted(n_kept, "row")]
    if n_kept < table.n_rows:
        chosen = [table.column(name) for name in names]
        is_any_infinite = any(not column.has_codes and np.isinf(column.values).any() for column in chosen)
        why = "missing or infinite" if is_any_infinite else "missing"
        told.append(f"{count(table.n_rows - n_kept)} left out as a value is {why}")
    for column in map(table.column, dict.fromkeys(names)):
        if column.kind == "date":
            told.append(f"{column.name} in days since 1970")
        elif column.kind == "yes_no":
            told.append(f"{column.name} 1 where {column.levels[1]}, else 0")
    return ", ".join(told)


def _of_columns(table: Table, settings: BootstrapSettings) -> BootstrapInputs:
    kind = settings.statistic
    if kind == EXPRESSION:
        expression, name = parse(settings.expression, table.names), settings.expression.strip()
        chosen = expression.columns
        columns = {used: _number_column(table, used) for used in chosen}
    else:
        chosen = (settings.first, settings.second)[: N_COLUMNS[kind]]
        expression = _named_expression(settings)
        columns = {letter: _number_column(table, used) for letter, used in zip("ab", chosen, strict=False)}
        name = _name_of(settings)
    is_kept = np.all([np.isfinite(values) for values in columns.values()], axis=0)
    kept = {used: values[is_kept] for used, values in columns.items()}
    made = BootstrapInputs(
        settings, OfColumns(expression, kept), name,
        _rows_text(table, int(is_kept.sum()), chosen), table.fingerprint,
    )  # fmt: skip
    return _with_known_law(made, expression) if _has_known_law(table) else made


def _named_expression(settings: BootstrapSettings) -> Expression:
    """Return a statistic over columns called a and b."""
    texts = {
        MEAN: "mean(a)",
        MEDIAN: "median(a)",
        QUANTILE: f"quantile(a, {settings.share!r})",
        CORRELATION: "corr(a, b)",
        SHARE: least_risk_share("a", "b"),
    }
    return parse(texts[settings.statistic], ("a", "b"))


def _name_of(settings: BootstrapSettings) -> str:
    first, second = settings.first, settings.second
    return {
        MEAN: f"mean of {first}",
        MEDIAN: f"median of {first}",
        QUANTILE: f"{number(settings.share)} quantile of {first}",
        CORRELATION: f"correlation of {first} and {second}",
        SHARE: f"share of {first} beside {second} of least risk",
    }[settings.statistic]


def _of_classes(document: Document, table: Table, settings: BootstrapSettings) -> BootstrapInputs:
    score = _number_column(table, settings.first)
    if settings.second not in table.names:
        raise DataError("choose a column of two classes")
    column = table.column(settings.second)
    if column.n_distinct != 2:
        values = counted(column.n_distinct, "value")
        raise DataError(f"column {column.name!r} has {values}; choose one that has two")
    is_known, is_second, labels = _two_classes(column)
    event = document.event_class if column.name == document.target else None
    is_event = ~is_second if event == labels[0] else is_second
    is_kept = np.isfinite(score) & is_known
    statistic = AreaUnderCurve(score[is_kept], is_event[is_kept])
    name = f"ROC area of {settings.first} for {column.name} {labels[0 if event == labels[0] else 1]}"
    rows = _rows_text(table, int(is_kept.sum()), (settings.first,))
    return BootstrapInputs(settings, statistic, name, rows, table.fingerprint)


def _two_classes(column: Column) -> tuple[NDArray[np.bool_], NDArray[np.bool_], tuple[str, str]]:
    """Return which rows have a value, which the second of its two, and both as they are in the file."""
    values = column.values
    is_known = values >= 0 if column.has_codes else np.isfinite(values)
    first, second = np.unique(values[is_known])
    is_second = np.asarray(values == second)
    texts = column.text(int(np.argmax(values == first))), column.text(int(np.argmax(is_second)))
    return np.asarray(is_known), is_second, texts


# ---- the score of a model ------------------------------------------------------------------------


def metrics_of(scores: ScoreSet) -> dict[str, Callable[[NDArray[np.int64]], float]]:
    """Return what a model can be scored by, each as a function of rows of the part; NaN of no weight."""
    made: dict[str, Callable[[NDArray[np.int64]], float]]
    if not scores.classes:
        made = {metric: partial(_number_score, scores, metric) for metric in ("rmse", "mae", "r2")}
    else:
        made = {"accuracy": partial(_accuracy, scores)}
        if scores.proba is not None:
            made |= {"auc": partial(_by_proba, auc, scores), "log_loss": partial(_by_proba, log_loss, scores)}
    if scores.weights is None:
        return made
    return {metric: partial(_where_any_counts, scores.weights, score) for metric, score in made.items()}


def _where_any_counts(
    weights: Floats, score: Callable[[NDArray[np.int64]], float], rows: NDArray[np.int64]
) -> float:
    """Return a score of drawn rows; NaN where all of them have weight 0, as rows of few weights may."""
    return score(rows) if weights[rows].any() else np.nan


def _weights(scores: ScoreSet, rows: NDArray[np.int64]) -> Floats | None:
    return None if scores.weights is None else scores.weights[rows]


def _number_score(scores: ScoreSet, metric: str, rows: NDArray[np.int64]) -> float:
    found = score_numbers("", scores.y_true[rows], scores.prediction[rows], _weights(scores, rows))
    return found.metrics[metric].value


def _accuracy(scores: ScoreSet, rows: NDArray[np.int64]) -> float:
    return accuracy((scores.y_true == scores.prediction)[rows], _weights(scores, rows)).value


def _by_proba(metric: Callable[..., Any], scores: ScoreSet, rows: NDArray[np.int64]) -> float:
    assert scores.proba is not None
    return float(metric(scores.y_true[rows], scores.proba[rows], _weights(scores, rows)).value)


def _of_model(document: Document, settings: BootstrapSettings) -> BootstrapInputs:
    record = document.runs.get(settings.run_id)
    if record is None:
        raise DataError("choose a model")
    scores = None if record.result is None else record.result.scores.get("test")
    if record.result is None or scores is None:
        raise DataError(f"{record.name} has no score on test rows; train it, with a test part")
    if len(scores.y_true) != scores.n_rows:
        raise DataError(f"the rows that {record.name} was scored on are not there; train it again")
    metrics = metrics_of(scores)
    if settings.metric not in metrics:
        told = ", ".join(METRIC_TITLES[metric] for metric in metrics)
        raise DataError(f"choose what {record.name} is scored by: {told}")
    if scores.n_rows < MIN_ROWS:
        raise DataError(f"{record.name} has {counted(scores.n_rows, 'test row')}; give the test part more")
    statistic = OfRows(metrics[settings.metric], scores.n_rows)
    title = METRIC_TITLES[settings.metric]
    name = f"{title if title[:2].isupper() else title.lower()} of {record.name}"
    rows = f"{counted(scores.n_rows, 'test row')}, the model as it is"
    if record.result.weight is not None:
        rows += f", drawn with equal chance, scored by weight {record.result.weight}"
    return BootstrapInputs(settings, statistic, name, rows, record.result.table_fingerprint)


# ---- where the truth is known --------------------------------------------------------------------


def _has_known_law(table: Table) -> bool:
    return table.sample == KNOWN_LAW


def _with_known_law(made: BootstrapInputs, expression: Expression) -> BootstrapInputs:
    """Add what repeated sampling takes: the columns of the table are those of the distribution."""
    settings = made.settings
    if settings.statistic == EXPRESSION:
        return replace(made, fresh=expression)
    chosen = dict(zip("ab", (settings.first, settings.second), strict=True))
    letters = {letter: chosen[letter] for letter in expression.columns}
    return replace(made, fresh=renamed(expression, letters), truth=_truth(settings))


def _truth(settings: BootstrapSettings) -> float:
    from engine.bootstrap import two_assets

    is_x, is_same = settings.first == "x", settings.first == settings.second
    if settings.statistic in (MEAN, MEDIAN):
        return 0.0
    if settings.statistic == QUANTILE:
        return two_assets.quantile(is_x, settings.share)
    if settings.statistic == CORRELATION:
        return 1.0 if is_same else two_assets.CORRELATION
    return np.nan if is_same else two_assets.SHARE if is_x else 1 - two_assets.SHARE
