"""The average of trained models of the document, taken as they are: nothing is trained anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.errors import DataError
from engine.monitor import NULL_MONITOR, FitMonitor
from workbench.catalog import entry_of, start_parameters
from workbench.fitting import fit_estimator, inputs_of_result, result_of, what_differs
from workbench.model_choice import model_data, with_free_name
from workbench.runs import ModelSpec, RunRecord, RunResult

if TYPE_CHECKING:
    import numpy as np

    from workbench.datasets import Table

KIND = "averaging"


def why_no_average(records: Sequence[RunRecord], table: Table | None) -> str:
    """Say why some models cannot be averaged; empty where they can."""
    results = [record.result for record in records if record.result is not None]
    if len(results) < 2 or len(results) < len(records):
        return "Select two trained models or more in the list."
    first = results[0]
    for record, result in zip(records, results, strict=True):
        if difference := what_differs(result, table):
            return f"{record.name}: {difference}; undo that, or train it again."
        if (result.target, result.classes) != (first.target, first.classes):
            return f"{record.name} predicts {result.target}, {records[0].name} {first.target}."
        if not _same(result.parts, first.parts):
            return f"{record.name} was trained on other rows than {records[0].name}; train one of them again."
    return ""


def _same(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> bool:
    return first.shape == second.shape and bool((first == second).all())


def average_spec(records: Sequence[RunRecord], task: str, n_rows: int) -> ModelSpec:
    """Return settings with which training makes the same average of copies of these models."""
    models: list[dict[str, Any]] = []
    for record in records:
        assert record.result is not None
        spec = record.result.spec
        taken = [str(model["name"]) for model in models]
        models.append(with_free_name(model_data(spec.kind, spec.parameters, record.name), taken))
    return ModelSpec(KIND, start_parameters(KIND, task, n_rows) | {"estimators": models})


def average_runs(records: Sequence[RunRecord], table: Table, monitor: FitMonitor = NULL_MONITOR) -> RunResult:
    """Return the mean of what trained models say as a result of its own, every part scored.

    Raises
    ------
    DataError
        They cannot be averaged, see `why_no_average`.
    """
    if why := why_no_average(records, table):
        raise DataError(why)
    results = [record.result for record in records if record.result is not None]
    task = "classes" if results[0].classes else "numbers"
    spec = average_spec(records, task, table.n_rows)
    features = dict.fromkeys(name for result in results for name in result.features)
    inputs = replace(inputs_of_result(results[0], table), spec=spec, features=tuple(features))
    named = [
        (model["name"], result.estimator)
        for model, result in zip(spec.parameters["estimators"], results, strict=True)
    ]
    estimator = entry_of(KIND).make(task, {"estimators": named, "prefit": True, "random_state": 0})
    everything = inputs.learnable()
    fit_estimator(estimator, everything.take(inputs.rows_of("train")), None, monitor)
    return result_of(estimator, inputs, everything, monitor)
