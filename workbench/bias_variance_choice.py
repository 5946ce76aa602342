"""What is offered to be varied: the settings of the current model, and the values that are tried first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine.parameters import Parameter
from workbench.bias_variance import BiasVarianceSettings
from workbench.catalog import entry_of
from workbench.training_sets import BOOTSTRAP, FRESH, SUBSAMPLE, draws_for, knows_truth
from workbench.tuning_grids import default_values, tunable_parameters

if TYPE_CHECKING:
    from workbench.document import Document
    from workbench.runs import RunRecord

STEPS = "n_estimators"  # rounds or trees: stages of one fit
MOST_STEPS = 100  # tried first, unless the model has fewer


def offered_parameters(document: Document) -> tuple[Parameter, ...]:
    """Return the settings of the current model that can be varied, the one to begin with first."""
    run, table = document.current_run, document.table
    if run is None or table is None or entry_of(run.spec.kind).why_not(document.task):
        return ()
    kinds = [table.column(name).kind for name in document.features]
    found = tunable_parameters(
        run.spec.kind, document.task, run.spec.parameters, len(document.classes),
        has_categories=any(kind not in ("number", "date") for kind in kinds),
    )  # fmt: skip
    return tuple(sorted(found, key=lambda parameter: parameter.name != STEPS))


def first_values(document: Document, parameter: Parameter) -> tuple[Any, ...]:
    """Return the values of a setting that are tried unless a person enters others."""
    run = document.current_run
    assert run is not None
    now = run.spec.parameters.get(parameter.name, parameter.start_value)
    if parameter.name == STEPS and isinstance(now, int):
        most = min(now, MOST_STEPS)
        ladder = [step * power for power in (1, 10, 100) for step in (1, 2, 5)]
        return tuple(sorted({most, *(value for value in ladder if value < most)}))
    return default_values(parameter, now, len(document.features))


def settings_for(document: Document) -> BiasVarianceSettings:
    """Return what was chosen as far as it fits the current model and table, else what is offered first."""
    chosen = document.studies.bias_variance
    how = draws_for(document, None if chosen is None else chosen.how)
    if chosen is None:
        return _first(document, BiasVarianceSettings(how=how))
    chosen = replace(chosen, how=how)
    if not chosen.parameter:
        return chosen
    known = {parameter.name: parameter for parameter in offered_parameters(document)}
    parameter = known.get(chosen.parameter)
    if parameter is None or not all(parameter.is_legal(value) for value in chosen.values):
        return _first(document, chosen)
    return chosen


def _first(document: Document, chosen: BiasVarianceSettings) -> BiasVarianceSettings:
    offered = offered_parameters(document)
    if not offered:
        return replace(chosen, parameter="", values=())
    return replace(chosen, parameter=offered[0].name, values=first_values(document, offered[0]))


def offered_draws(document: Document) -> tuple[str, ...]:
    """Return the kinds of training sets that this table allows."""
    return (*((FRESH,) if knows_truth(document) else ()), BOOTSTRAP, SUBSAMPLE)


def value_now(document: Document, settings: BiasVarianceSettings) -> int | None:
    """Return which of the values the current model has, or which of the models it is; None: none."""
    run: RunRecord | None = document.current_run
    if run is None:
        return None
    now = run.run_id
    if settings.parameter:
        parameter = entry_of(run.spec.kind).parameter(document.task, settings.parameter)
        now = run.spec.parameters.get(settings.parameter, parameter.start_value)
    same = (at for at, value in enumerate(settings.values) if type(value) is type(now) and value == now)
    return next(same, None)
