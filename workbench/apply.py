"""Applying a model to another table: columns by name, levels by name, and a report of what differs."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.columns import KIND_WORDS, Column
from workbench.datasets import ReadOptions, Table, column_notes
from workbench.fitting import class_values
from workbench.project.atomic import write_atomically

if TYPE_CHECKING:
    import pandas as pd

    from workbench.runs import RunResult

MAX_TOLD_LEVELS = 5
LOST_NOTE = " is no "  # in a column's notes on cells that its kind cannot read
_CHUNK_ROWS = 65536
_CODE = re.compile(r"[+-]?0\d")


@dataclass(frozen=True, eq=False)
class Applied:
    """Predictions for a table.

    Attributes
    ----------
    predictions : tuple of (str, ndarray (n_rows,))
        Names and columns: the predicted label (object array of str) and one probability per class
        (float64); or the predicted number (float64).
    report : tuple of str
        What differs from the training table: unseen levels with rows and names, columns not used.
    has_unseen : bool (n_rows,)
        Rows with a level that training never saw.
    """

    predictions: tuple[tuple[str, NDArray[Any]], ...]
    report: tuple[str, ...]
    has_unseen: NDArray[np.bool_]


def read_like(path: str | Path, options: ReadOptions, kinds: Mapping[str, str] | None = None) -> Table:
    """Read a file to predict as the training table was read (C08).

    The training table's missing tokens, date order and, for separated text, its number signs hold
    again; separator, encoding and header are found anew, since they belong to the file. Where these
    signs leave cells of a number column unread, and the signs found in the file leave fewer, those are taken.

    Parameters
    ----------
    options : ReadOptions
        Of the training table.
    kinds : mapping of column name to kind, or None
        Of the training table's columns; a column that cannot be read so keeps the kind found.

    Raises
    ------
    DataError
        The file cannot be read as a table.
    """
    from workbench.readers import read_table

    kinds = kinds or {}
    found = ReadOptions(
        missing_tokens=options.missing_tokens,
        column_tokens=options.column_tokens,
        day_first=options.day_first,
    )
    if not options.separator:  # workbooks and Parquet have no signs to pass on
        return _in_kinds(read_table(path, found), kinds)
    # a thousands sign that training did without may turn up
    as_trained = replace(found, decimal=options.decimal, thousands=options.thousands or None)
    table = _in_kinds(read_table(path, as_trained), kinds)
    n_lost = _n_unread(table, kinds)
    if n_lost:
        other = _in_kinds(read_table(path, found), kinds)
        if _n_unread(other, kinds) < n_lost:
            return other
    return table


def _n_unread(table: Table, kinds: Mapping[str, str]) -> int:
    """Count the cells of number columns that are texts under the signs in force."""
    columns = [column for column in table.columns if kinds.get(column.name) == "number"]
    return sum(
        len(column.raw) - column.n_missing if column.kind != "number" else n_lost_cells(column)
        for column in columns
    )


def n_lost_cells(column: Column) -> int:
    """Count the cells of a number or date column that hold something else and count as missing."""
    if not any(LOST_NOTE in note for note in column.notes):
        return 0
    return column.n_missing - column.with_kind("text").n_missing


def _in_kinds(table: Table, kinds: Mapping[str, str]) -> Table:
    for column in table.columns:
        kind = kinds.get(column.name, column.kind)
        if kind != column.kind and kind in column.kind_choices:
            table = table.replace_column(column.with_kind(kind))
    return table


def apply_model(result: RunResult, table: Table) -> Applied:
    """Predict every row of a table.

    Parameters
    ----------
    result : RunResult
        Its `estimator`, `features`, `target` and `classes` are used.
    table : Table

    Raises
    ------
    DataError
        A needed column is missing, holds no numbers where the model needs them, or infinite values;
        the message names it.
    """
    missing = [name for name in result.features if name not in table.names]
    if missing:
        listed = ", ".join(repr(name) for name in missing)
        noun = "column" if len(missing) == 1 else "columns"
        raise DataError(
            f"the table '{table.name}' lacks the {noun} {listed}, which the model needs; "
            "add or rename, then apply again"
        )
    report: list[str] = []
    has_unseen = np.zeros(table.n_rows, np.bool_)
    data: dict[str, Any] = {}
    for name, spec in zip(result.features, result.estimator.features_, strict=True):
        column = table.column(name)
        if spec.is_categorical:
            data[name] = _match_levels(column, spec.levels, report, has_unseen)
        else:
            data[name] = _as_numbers(column, report)
    used = {*result.features, result.target}
    extra = [name for name in table.names if name not in used]
    if result.target in table.names:
        report.append(f"column '{result.target}' is what the model predicts; it was not looked at")
    if extra:
        noun = "column was" if len(extra) == 1 else "columns were"
        report.append(f"{len(extra):,} {noun} not used: {_listing(extra)}")
    return Applied(_predict(result, _frame(data, table.n_rows)), tuple(report), has_unseen)


def _frame(data: Mapping[str, Any], n_rows: int) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(data, index=pd.RangeIndex(n_rows))


def _match_levels(
    column: Column, known: tuple[Any, ...], report: list[str], has_unseen: NDArray[np.bool_]
) -> Any:
    """Return the column as a category with its levels spelled as in training; report unseen ones."""
    import pandas as pd

    codes, levels = column.label_codes()
    names = _respell(levels, tuple(map(str, known)))
    present = np.bincount(codes[codes >= 0], minlength=len(levels))
    seen = set(known)
    unseen = [i for i, name in enumerate(names) if name not in seen and present[i]]
    if unseen:
        rows = np.isin(codes, unseen)
        has_unseen |= rows
        noun = "row holds" if rows.sum() == 1 else "rows hold"
        told = _listing([f"'{names[i]}' ({present[i]:,})" for i in unseen])
        report.append(
            f"column '{column.name}': {int(rows.sum()):,} {noun} levels unknown to the model: {told}"
        )
    return pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype=object))


def _respell(levels: tuple[str, ...], known: tuple[str, ...]) -> list[str]:
    """Spell levels that are numbers as training spelled them: "1.0" is "1" if training knew "1"."""
    by_value = {value: name for name in known if (value := _number(name)) is not None}
    names: list[str] = []
    for level in levels:
        value = None if level in known else _number(level)
        names.append(level if value is None else by_value.get(value, level))
    return names if len(set(names)) == len(names) else list(levels)


def _number(text: str) -> float | None:
    if _CODE.match(text):  # 01 is a code, not the number 1
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _as_numbers(column: Column, report: list[str]) -> NDArray[np.float64]:
    if column.kind in ("number", "date"):
        if n_lost := n_lost_cells(column):
            report.append(_lost_sentence(column, n_lost))
            report.extend(note for note in column_notes(column) if LOST_NOTE in note)
        return np.array(column.values)
    if "number" not in column.kind_choices:
        raise DataError(
            f"column '{column.name}' holds numbers in the training table but is "
            f"{KIND_WORDS[column.kind]} here (first cell '{column.text(0)}'); "
            "give it numbers, then apply again"
        )
    as_number = column.with_kind("number")
    n_lost = as_number.n_missing - column.n_missing
    if n_lost:
        report.append(_lost_sentence(column, n_lost))
    report.extend(note for note in column_notes(as_number) if note not in column_notes(column))
    return np.array(as_number.values)


def _lost_sentence(column: Column, n_lost: int) -> str:
    noun = "cell is" if n_lost == 1 else "cells are"
    what = "date" if column.kind == "date" else "number"
    return f"column '{column.name}': {n_lost:,} {noun} no {what} and counted as missing"


def _predict(result: RunResult, frame: pd.DataFrame) -> tuple[tuple[str, NDArray[Any]], ...]:
    if not result.classes:
        return ((f"predicted {result.target}", np.asarray(result.estimator.predict(frame), np.float64)),)
    what, values = class_values(result.estimator, frame)
    labels = np.array([str(label) for label in result.estimator.classes_], object)
    predicted = np.array([str(label) for label in result.estimator.predict(frame)], object)
    columns = [(f"{what} of {label}", values[:, i]) for i, label in enumerate(labels)]
    return ((f"predicted {result.target}", predicted), *columns)


def save_predictions(applied: Applied, table: Table, path: str | Path) -> None:
    """Write the table's own cells, exactly as they were read, and the predictions behind them, as CSV.

    UTF-8; separator and decimal sign are those of the table's file (comma and point for workbooks and
    Parquet). The file appears whole or not at all.

    Raises
    ------
    DataError
        The file cannot be written.
    """
    path = Path(path)
    options = table.options
    separator = options.separator if options.separator in (",", ";", "\t", "|", ":") else ","
    decimal = options.decimal if options.separator else "."
    columns = list(applied.predictions)
    if applied.has_unseen.any():
        columns.append(("unknown level", np.where(applied.has_unseen, "yes", "no").astype(object)))
    header = [*table.names, *_free_names([name for name, _ in columns], set(table.names))]

    def write(file: BinaryIO) -> None:
        text = io.TextIOWrapper(file, newline="", encoding="utf-8")
        writer = csv.writer(text, delimiter=separator, lineterminator="\n")
        writer.writerow(header)
        for start in range(0, table.n_rows, _CHUNK_ROWS):
            writer.writerows(_rows(table, columns, slice(start, start + _CHUNK_ROWS), decimal or "."))
        text.detach()  # flushes, and leaves the file open to its owner

    write_atomically(path.absolute(), write)


def _rows(table: Table, columns: list[tuple[str, NDArray[Any]]], rows: slice, decimal: str) -> Any:
    own = [["" if cell is None else cell for cell in _cells(column, rows)] for column in table.columns]
    predicted = [[_spell(value, decimal) for value in values[rows].tolist()] for _, values in columns]
    return zip(*own, *predicted, strict=True)


def _cells(column: Column, rows: slice) -> Any:
    from workbench.cells import as_text_cells

    return as_text_cells(column.raw).to_list(rows)


def _spell(value: Any, decimal: str) -> str:
    if isinstance(value, float):
        return repr(value).replace(".", decimal)
    return str(value)


def _free_names(names: list[str], taken: set[str]) -> list[str]:
    free = []
    for name in names:
        number, candidate = 2, name
        while candidate in taken:
            candidate, number = f"{name} ({number})", number + 1
        taken.add(candidate)
        free.append(candidate)
    return free


def _listing(items: list[str]) -> str:
    shown = ", ".join(items[:MAX_TOLD_LEVELS])
    more = len(items) - MAX_TOLD_LEVELS
    return f"{shown} and {more:,} more" if more > 0 else shown
