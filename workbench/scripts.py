"""A trained model as a Python script that makes it again on the engine's own names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.errors import DataError
from workbench.catalog import entry_of
from workbench.catalog_entry import CatalogEntry
from workbench.fitting import what_differs
from workbench.model_choice import task_of
from workbench.runs import ModelSpec

if TYPE_CHECKING:
    from engine.export.script import ScriptColumn
    from workbench.columns import Column
    from workbench.document import Document
    from workbench.runs import RunResult


def make_script(document: Document, run_id: str) -> str:
    """Return a script that reads the table, splits it, trains the model and prints its scores.

    Raises
    ------
    DataError
        The model is not trained, was changed by hand, or was trained on another table.
    """
    from engine.export.script import ScriptSpec, to_script

    record, table = document.run(run_id), document.table
    result = record.result
    if result is None:
        raise DataError(f"{record.name} is not trained yet; train it first")
    difference = what_differs(result, table)
    if table is None or difference:
        raise DataError(f"{record.name} cannot be repeated: {difference}; undo that, or train it again")
    if result.edits:
        raise DataError(
            f"{record.name} was changed by hand, which no script repeats; export the model instead"
        )
    if getattr(result.estimator, "prefit", False):
        raise DataError(
            f"{record.name} is the average of models as they were, which no script repeats; train it, and "
            "copies of these models are averaged"
        )
    task, options = "classes" if result.classes else "numbers", table.options
    entry = entry_of(result.spec.kind)
    spec = ScriptSpec(
        path=_path(document),
        features=[_script_column(document, result, name) for name in result.features],
        target=_script_column(document, result, result.target),
        estimator=entry.estimator_name(task),
        parameters=_parameters(entry, task, result),
        separator=options.separator or ",",
        decimal=options.decimal or ".",
        thousands=options.thousands or "",
        encoding=options.encoding or "utf-8",
        has_header=options.has_header is not False,
        missing_tokens=options.missing_tokens,
        classes=result.classes,
        weight=result.weight,
        group=result.group,
        fits_by_group=result.group is not None and hasattr(result.estimator, "folds"),
        fractions=(result.split.train, result.split.validation, result.split.test),
        seed=result.split.seed,
        uses_validation=entry.has_curve and "validation" in result.scores,
        title=f"{record.name}: {result.target} of {table.name}, made with Treewright",
    )
    return to_script(spec)


class _Code(str):
    """Text that a script holds as it is."""

    def __repr__(self) -> str:
        return str(self)


def _parameters(entry: CatalogEntry, task: str, result: RunResult) -> dict[str, Any]:
    """Return parameters whose repr is Python, models inside them too."""
    found = entry.applying(task, result.spec.parameters, len(result.classes))
    for parameter in entry.parameters(task):
        value = found.get(parameter.name)
        if parameter.kind == "model" and value is not None:
            found[parameter.name] = _code_of(value, task_of(parameter, task), result)
        elif parameter.kind == "models" and value is not None:
            learns = task_of(parameter, task)
            found[parameter.name] = [(str(model["name"]), _code_of(model, learns, result)) for model in value]
    return found


def _code_of(model: Mapping[str, Any], task: str, result: RunResult) -> _Code:
    entry = entry_of(model["kind"])
    inner = replace(result, spec=ModelSpec(model["kind"], model["parameters"]))
    words = [f"{name}={value!r}" for name, value in _parameters(entry, task, inner).items()]
    return _Code(f"engine.{entry.estimator_name(task)}({', '.join(words)})")


def _path(document: Document) -> str:
    table = document.table
    assert table is not None
    if table.path is not None:
        if table.options.separator is None:
            raise DataError(f"{table.path.name} is not a text file; save the table as CSV and open that")
        return str(table.path)
    if table.sample is None:
        raise DataError(
            "the table came from no file, so a script cannot read it; save it as CSV and open that"
        )
    from workbench import resources
    from workbench.samples import find_sample

    return str(resources.path("samples", find_sample(table.sample).file))


def _script_column(document: Document, result: RunResult, name: str) -> ScriptColumn:
    from engine.export.script import ScriptColumn

    assert document.table is not None
    column = document.table.column(name)
    is_target = name == result.target
    if column.kind in ("number", "date"):
        kind, levels = column.kind, None
    else:
        kind, levels = "category", None if is_target else column.levels
    if is_target and result.classes and kind != "category":
        kind = "category"  # labels are texts, spelled as in the file
    return ScriptColumn(name, kind, levels, _own_tokens(document, column), _day_first(column))


def _day_first(column: Column) -> bool | None:
    """Return the order of day and month in a date column's cells; None where the year comes first."""
    if column.kind != "date":
        return None
    from workbench.kinds import date_format

    return {"day-month-year": True, "month-day-year": False}.get(date_format(column))


def _own_tokens(document: Document, column: Column) -> tuple[str, ...] | None:
    assert document.table is not None
    return document.table.options.column_tokens.get(column.name)
