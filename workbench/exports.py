"""Models as files: any as `.tree.json` (D21), single trees as rules too, both read back; trees as SQL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DataError
from workbench.catalog import CATALOG
from workbench.files import told_when_unreadable
from workbench.fitting import curve_of, what_differs
from workbench.project.atomic import write_atomically
from workbench.runs import ModelSpec, RunResult

if TYPE_CHECKING:
    from workbench.datasets import Table

MODEL_SUFFIX, RULES_SUFFIX, SQL_SUFFIX = ".tree.json", ".rules.txt", ".sql"
MODEL_SUFFIXES = (MODEL_SUFFIX, RULES_SUFFIX)
"""Endings of files that are opened as a model."""

UNNAMED_TARGET = "prediction"  # for files that do not say what their target was called


def export_model(result: RunResult, path: str | Path) -> None:
    """Write the model, whole or not at all, with the names of its target and event class.

    Task, class labels, columns and levels are part of the model itself.

    Raises
    ------
    DataError
        The file cannot be written, or the model has labels that a file cannot hold.
    """
    from engine.export.json import to_json

    metadata = {"target": result.target, "event_class": result.event_class}
    _write(path, to_json(result.estimator, metadata))


def export_rules(result: RunResult, path: str | Path, table: Table | None = None) -> None:
    """Write a single tree as rules that people read and `load_model` reads back; whole or not at all.

    Raises
    ------
    DataError
        The file cannot be written, or the model is no single tree.
    """
    _write(path, rules_of(result, table))


def export_sql(result: RunResult, path: str | Path, table: Table | None = None) -> None:
    """Write a single tree as an SQL expression, with the share of every class; whole or not at all.

    Raises
    ------
    DataError
        The file cannot be written, or the model is no single tree.
    """
    _write(path, sql_of(result, table, has_shares=True) + "\n")


def _write(path: str | Path, text: str) -> None:
    """Write a text in UTF-8, whole or not at all."""
    content = text.encode()
    write_atomically(Path(path).absolute(), lambda file: file.write(content))


def rules_of(result: RunResult, table: Table | None = None) -> str:
    """Return a single tree as the text of its rules; columns of `table` that are dates are remarked.

    Raises
    ------
    DataError
        The model is no single tree.
    """
    from engine.export.literals import quoted
    from engine.export.rules import to_rules

    remarks = [
        f"column {quoted(name)} holds dates, as days since 1970-01-01" for name in _dates(result, table)
    ]
    return to_rules(result.estimator, result.target, remarks)


def sql_of(result: RunResult, table: Table | None = None, *, has_shares: bool = False) -> str:
    """Return a single tree as an SQL expression over the columns of its table.

    Columns that are dates in `table` are compared with dates; without the table of the model's training it is
    not known which are, and the expression says that it compares days.

    Raises
    ------
    DataError
        The model is no single tree, or a name or label holds what no SQL text can.
    """
    from engine.export.sql import to_sql

    dates = _dates(result, table)
    head = ["-- Use it as a column: SELECT *, (what follows) FROM your_table. Missing cells are NULL."]
    if dates:
        head.append("-- Dates are DATE, TIMESTAMP, or text such as 2020-01-31 or 2020-01-31 18:30:00.")
    elif table is None or what_differs(result, table):
        head.append("-- Columns that are dates are compared as days since 1970-01-01.")
    return "\n".join([*head, to_sql(result.estimator, dates=dates, has_shares=has_shares)])


def _dates(result: RunResult, table: Table | None) -> list[str]:
    if table is None or what_differs(result, table):
        return []
    return [name for name in result.features if table.column(name).kind == "date"]


def load_model(path: str | Path) -> RunResult:
    """Read a model file or a file of rules; the result has no scores and no rows.

    Files that other programs or earlier versions wrote without metadata have an unnamed target.

    Raises
    ------
    DataError
        The file is missing, unreadable, damaged or no model file; names it.
    """
    path = Path(path)
    try:
        with told_when_unreadable(path):
            text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DataError(f"{path.name} is no model file: it is not text; choose another") from None
    try:
        estimator, metadata = _read(path, text)
    except DataError as error:
        raise DataError(f"{path.name}: {error}") from None
    return _bare_result(estimator, metadata)


def _read(path: Path, text: str) -> tuple[Any, dict[str, Any]]:
    if path.name.endswith(RULES_SUFFIX):
        from engine.export.rules_reader import read_rules

        estimator, target = read_rules(text)
        return estimator, {"target": target}
    from engine.export.json import read_json

    return read_json(text)


def _bare_result(estimator: Any, metadata: dict[str, Any]) -> RunResult:
    name = type(estimator).__name__
    key, task = next(
        (key, task)
        for key, entry in CATALOG.items()
        for task in ("classes", "numbers")
        if entry.estimator_name(task) == name
    )
    known = {parameter.name for parameter in CATALOG[key].parameters(task)}
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name in known}
    classes = tuple(str(label) for label in estimator.classes_) if task == "classes" else ()
    target, event = metadata.get("target"), metadata.get("event_class")
    if len(classes) == 2 and event not in classes:
        event = classes[1]
    return RunResult(
        estimator=estimator,
        spec=ModelSpec(key, parameters),
        features=tuple(feature.name for feature in estimator.features_),
        target=target if isinstance(target, str) and target else UNNAMED_TARGET,
        classes=classes,
        parts=np.empty(0, np.uint8),
        scores={},
        importances=np.asarray(estimator.feature_importances_, np.float64),
        seconds=0.0,
        n_rounds=len(getattr(estimator, "estimators_", (None,))),
        stopped=bool(estimator.stopped_),
        table_fingerprint="",
        curve=curve_of(estimator, key, task),
        event_class=event if len(classes) == 2 else None,
        grown_tree=getattr(estimator, "tree_", None),
    )
