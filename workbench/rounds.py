"""Ensembles by rounds: looked at after their first ones, cut to them, and gone on with."""

from __future__ import annotations

import copy
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DataError
from engine.monitor import NULL_MONITOR, FitMonitor
from workbench.catalog import entry_of
from workbench.figures.words import count
from workbench.fitting import curve_of, fit_estimator, inputs_of_result, result_of, score_parts, what_differs
from workbench.runs import PARTS, RunResult

if TYPE_CHECKING:
    from workbench.datasets import Table

COUNT = "n_estimators"  # the parameter that says how many rounds or trees there are
NEEDS_ROUNDS = "this model was not trained in rounds; choose a forest or boosting"


def has_rounds(result: RunResult | None) -> bool:
    """Tell whether a model has several rounds or trees, and can be cut to the first of them."""
    return result is not None and result.n_rounds > 1 and hasattr(result.estimator, "truncate")


def can_go_on(result: RunResult | None) -> bool:
    """Tell whether rounds or trees can be added to a model without training it anew."""
    if result is None or result.n_rounds < 1 or not hasattr(result.estimator, "estimators_"):
        return False
    return "warm_start" in result.estimator.get_params(deep=False)


def trees_a_round(result: RunResult) -> int:
    """How many trees a round adds: one for each class in boosting of more than two classes, else one."""
    members = result.estimator.estimators_
    return len(members[0]) if members and isinstance(members[0], tuple) else 1


def unit_of(result: RunResult) -> str:
    """What a step of a model's training is called: "round" or "tree"."""
    return entry_of(result.spec.kind).step_name or "round"


def stage_text(result: RunResult, n_rounds: int) -> str:
    """Such as "first 37 of 100 rounds"."""
    return f"first {count(n_rounds)} of {count(result.n_rounds)} {unit_of(result)}s"


def looked_at(result: RunResult, n_rounds: int) -> RunResult:
    """Return a result that answers as its first rounds do, with all else of the whole; at once.

    Raises
    ------
    DataError
        It has no rounds, or not so many.
    """
    from engine.staged import first_rounds

    _check(result, n_rounds)
    return replace(result, estimator=first_rounds(result.estimator, n_rounds), n_rounds=n_rounds)


def keep_rounds(
    result: RunResult, table: Table, n_rounds: int, monitor: FitMonitor = NULL_MONITOR
) -> RunResult:
    """Return the result of the first rounds alone, with their scores, losses and importances.

    Its setting of how many there are says so too: training anew with it makes the same model.

    Raises
    ------
    DataError
        It has no rounds, or not so many, or the table is not the one it was trained on.
    """
    _check(result, n_rounds)
    _check_table(result, table)
    estimator = result.estimator.truncate(n_rounds)
    estimator.set_params(**{COUNT: n_rounds})
    inputs = inputs_of_result(result, table)
    return replace(
        result,
        estimator=estimator,
        spec=result.spec.with_parameter(COUNT, n_rounds),
        n_rounds=n_rounds,
        importances=np.asarray(estimator.feature_importances_, np.float64),
        scores=score_parts(estimator, inputs, inputs.learnable(), monitor),
        curve=curve_of(estimator, result.spec.kind, inputs.task),
        stopped=False,
        cv=None,  # of all the rounds
        n_test_looks=result.n_test_looks + 1,
    )


def add_rounds(result: RunResult, table: Table, n_more: int, monitor: FitMonitor = NULL_MONITOR) -> RunResult:
    """Return the result of a training that goes on for so many more rounds or trees.

    Raises
    ------
    DataError
        The model cannot go on, or the table is not the one it was trained on.
    """
    if not can_go_on(result):
        raise DataError("this kind of model cannot go on with its training; train it anew with more rounds")
    _check_table(result, table)
    began, n_rounds = perf_counter(), result.n_rounds + n_more
    spec = result.spec.with_parameter(COUNT, n_rounds)
    inputs = replace(inputs_of_result(result, table), spec=spec)
    everything = inputs.learnable()
    training, validation = (everything.take(inputs.rows_of(part)) for part in PARTS[:2])
    sees_validation = entry_of(spec.kind).has_curve and len(validation.y) > 0
    estimator = _copied(result.estimator)
    estimator.set_params(**{COUNT: n_rounds, "warm_start": True})
    fit_estimator(estimator, training, validation if sees_validation else None, monitor)
    estimator.set_params(warm_start=result.estimator.warm_start)
    made = result_of(estimator, inputs, everything, monitor)
    return replace(made, seconds=result.seconds + perf_counter() - began, n_test_looks=result.n_test_looks)


def why_none_added(before: RunResult, after: RunResult) -> str:
    """Say why a training that went on has added nothing, and what helps; "" where it has."""
    if after.n_rounds > before.n_rounds:
        return ""
    said = f"no {unit_of(after)} was added: "
    if after.stopped:
        return f"{said}it was stopped before the first was done."
    if why := getattr(after.estimator, "why_ended_", ""):
        return f"{said}{why}; train it anew with other settings."
    return f"{said}none is better on the validation rows; switch Stop early off and train it anew."


def _copied(estimator: Any) -> Any:
    """Return a copy whose lists can grow without those of the model on screen."""
    copied = copy.copy(estimator)
    for name, value in vars(copied).items():
        if isinstance(value, list):
            setattr(copied, name, list(value))
    return copied


def _check(result: RunResult, n_rounds: int) -> None:
    if not has_rounds(result):
        raise DataError(NEEDS_ROUNDS)
    if not 1 <= n_rounds <= result.n_rounds:
        raise DataError(
            f"{n_rounds} {unit_of(result)}s were asked for; choose from 1 to {result.n_rounds:,} of them"
        )


def _check_table(result: RunResult, table: Table) -> None:
    if difference := what_differs(result, table):
        raise DataError(f"{difference}, so it cannot be scored anew; undo that, or train the model again")
