"""Where errors come from: noise, bias and variance over training sets, along a setting or by model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError, ParameterError
from engine.monitor import FitMonitor
from workbench.catalog import check_parameter_values, entry_of
from workbench.figures.tuning import ValueAxis, value_axis
from workbench.figures.words import counted, sentence
from workbench.fit_basis import FitBasis, basis_of, told_change
from workbench.fitting import FitInputs
from workbench.known_values import KnownValue, KnownValues, key_of, with_curve
from workbench.runs import ModelSpec
from workbench.told_so_far import ToldSoFar
from workbench.training_sets import (
    BOOTSTRAP,
    FRESH,
    check_draws,
    check_held_out,
    current_model,
    held_out_rows,
    model_to_refit,
    training_sets,
)
from workbench.training_work import training_inputs

if TYPE_CHECKING:
    from engine.resampling.along import SettingCurve
    from engine.resampling.draws import QueryRows, TrainingSets
    from workbench.document import Document

Floats = NDArray[np.float64]
N_FRESH_QUERY = 2000  # fresh rows that models are asked about
PARTS = {
    "classes": ("error", "bias", "variance", "noise", "unbiased", "biased"),
    "numbers": ("error", "bias", "variance", "noise"),
}


@dataclass(frozen=True)
class BiasVarianceSettings:
    """What is varied, and on which training sets.

    Attributes
    ----------
    parameter : str
        Of the current model; "" compares the models of the list as they are set.
    values : tuple
        Of the parameter.
    how : str
        A key of `TITLES`.
    n_sets : int
        Training sets.
    seed : int
    """

    parameter: str = ""
    values: tuple[Any, ...] = ()
    how: str = BOOTSTRAP
    n_sets: int = 30
    seed: int = 0


@dataclass(frozen=True, eq=False)
class BiasVarianceInputs:
    """What a worker is given, frozen.

    Attributes
    ----------
    settings : BiasVarianceSettings
    fit : FitInputs
        Of the current model.
    specs : tuple of ModelSpec
        The models that are compared, or the current one alone.
    axis : ValueAxis
        What is varied.
    name : str
        In words: "Depth of Tree 1", "3 models".
    known : KnownValues or None
        What needs no fit again, from a study that differs in its values alone.
    """

    settings: BiasVarianceSettings
    fit: FitInputs
    specs: tuple[ModelSpec, ...]
    axis: ValueAxis
    name: str
    known: KnownValues | None = None


@dataclass(frozen=True, eq=False)
class BiasVarianceFound:
    """The parts of the error of each value, by now or at the end.

    Attributes
    ----------
    settings, axis, name
        As in `BiasVarianceInputs`.
    task : str
        "classes" or "numbers".
    means : mapping of str to float64 (n_values,)
        By `PARTS`; NaN where fewer than two fits are done, and of noise that is not known.
    n_fits : int64 (n_values,)
    errors : mapping of int to str
        Why fits failed, by value.
    is_truth_known : bool
        False: bias holds the noise too.
    is_staged : bool
        The values are stages of one fit a training set.
    stopped : bool
    rows_text : str
        Which rows models were trained on and asked about.
    table_fingerprint : str
    basis : FitBasis or None
        What was fitted; None in projects of earlier versions.
    seconds : float
    known : KnownValues or None
        Of values of one setting, also those that are not among these any more; not in files.
    """

    settings: BiasVarianceSettings
    axis: ValueAxis
    name: str
    task: str
    means: Mapping[str, Floats]
    n_fits: NDArray[np.int64]
    errors: Mapping[int, str] = field(default_factory=dict)
    is_truth_known: bool = False
    is_staged: bool = False
    stopped: bool = False
    rows_text: str = ""
    table_fingerprint: str = ""
    seconds: float = 0.0
    known: KnownValues | None = None
    basis: FitBasis | None = None

    @property
    def best(self) -> int | None:
        """The value with the smallest error, the first of equals; None while none is known."""
        errors = self.means["error"]
        return None if np.isnan(errors).all() else int(np.nanargmin(errors))

    @property
    def is_any_done(self) -> bool:
        return bool(self.n_fits.any())

    @property
    def n_done(self) -> int:
        """Training sets that are done: where values were added, of those."""
        is_left = self.n_fits < self.settings.n_sets
        is_left[list(self.errors)] = False
        return int((self.n_fits[is_left] if is_left.any() else self.n_fits).max(initial=0))


def inputs_of(document: Document, settings: BiasVarianceSettings) -> BiasVarianceInputs:
    """Return what is to be done with the document as it stands.

    Raises
    ------
    DataError, ParameterError
        It cannot be; says why and what to do.
    """
    if settings.parameter:
        run = model_to_refit(document, settings.how, settings.n_sets)
    else:
        run = current_model(document)
        check_draws(document, settings.how, settings.n_sets)
    fit = training_inputs(document, run.run_id)
    check_held_out(fit, settings.how)
    if not settings.parameter:
        return _of_models(document, settings, fit)
    if not settings.values:
        raise ParameterError("there is no value to try; enter some")
    parameter = entry_of(run.spec.kind).parameter(document.task, settings.parameter)
    for value in settings.values:
        parameter.check(value)
    axis = value_axis(parameter, settings.values)
    found = document.studies.parts
    known = None if found is None else found.known
    if known is not None and not known.hold_for(fit, settings):
        known = None
    return BiasVarianceInputs(settings, fit, (run.spec,), axis, f"{axis.name} of {run.name}", known)


def _of_models(document: Document, settings: BiasVarianceSettings, fit: FitInputs) -> BiasVarianceInputs:
    runs = [run for run in document.runs.values() if not entry_of(run.spec.kind).why_not(document.task)]
    for run in runs:
        try:
            check_parameter_values(run.spec.kind, document.task, run.spec.parameters)
        except ParameterError as error:
            raise ParameterError(f"{run.name}: {error}") from error
    names = tuple(run.name for run in runs)
    axis = ValueAxis("model", names, np.arange(len(runs)), is_ordered=False)
    values = tuple(run.run_id for run in runs)
    specs = tuple(run.spec for run in runs)
    return BiasVarianceInputs(replace(settings, values=values), fit, specs, axis, counted(len(runs), "model"))


def run_bias_variance(inputs: BiasVarianceInputs, monitor: FitMonitor) -> BiasVarianceFound:
    """Fit every value's model on every training set, but those that are known; a stop keeps what is done.

    Raises
    ------
    DataError, ParameterError
        The rows or weights do not allow it, or no fit succeeded.
    """
    from engine.resampling.along import decompose_along
    from engine.resampling.refits import check_some_done

    began, settings = perf_counter(), inputs.settings
    states = _states(inputs)
    left = [at for at, state in enumerate(states) if state is None or not state.is_over]
    known = found_before(inputs)
    if not left and known is not None:
        return known
    sets, query, rows_text = _rows(inputs)

    def found(curve: SettingCurve) -> BiasVarianceFound:
        return _found_of(inputs, curve, rows_text, perf_counter() - began)

    make = partial(_make, inputs)
    curve = decompose_along(
        make({settings.parameter: settings.values[0]}), sets, query, settings.parameter,
        [settings.values[at] for at in left], make=make,
        begun=[None if (state := states[at]) is None else state.begun for at in left],
        may_fail=True, random_state=settings.seed, monitor=ToldSoFar(monitor, found),
    )  # fmt: skip
    done = found(curve)
    if not curve.stopped:
        check_some_done(done.errors, len(settings.values), len(settings.values))
    return done


def _states(inputs: BiasVarianceInputs) -> list[KnownValue | None]:
    """Return what is known of each value."""
    known = inputs.known
    return [None if known is None else known.get(value) for value in inputs.settings.values]


def found_already(document: Document, settings: BiasVarianceSettings) -> BiasVarianceFound | None:
    """Return what would be found where it needs no fit, as of fewer values than were; else None."""
    try:
        inputs = inputs_of(document, settings)
    except (DataError, ParameterError):
        return None
    is_whole = all(state is not None and state.is_over for state in _states(inputs))
    return found_before(inputs) if is_whole else None


def found_before(inputs: BiasVarianceInputs) -> BiasVarianceFound | None:
    """Return what is known before any fit; None where nothing is."""
    return None if inputs.known is None else _found_of(inputs, None, inputs.known.rows_text, 0.0)


def _make(inputs: BiasVarianceInputs, setting: Mapping[str, Any]) -> Any:
    """Return the estimator of a value."""
    name, value = inputs.settings.parameter, setting[inputs.settings.parameter]
    spec = inputs.specs[0] if name else inputs.specs[inputs.settings.values.index(value)]
    parameters = {**spec.parameters, name: value} if name else dict(spec.parameters)
    return entry_of(spec.kind).make(inputs.fit.task, parameters, len(inputs.fit.classes))


def _rows(inputs: BiasVarianceInputs) -> tuple[TrainingSets, QueryRows, str]:
    from engine.resampling.draws import FreshDraws, QueryRows

    settings, fit = inputs.settings, inputs.fit
    sets, text = training_sets(fit, settings.how, settings.n_sets, settings.seed)
    if isinstance(sets, FreshDraws):
        return sets, sets.query(N_FRESH_QUERY), f"{text}, asked about {N_FRESH_QUERY:,} fresh rows"
    part, asked = held_out_rows(fit)
    held_out = fit.learnable().take(asked)
    text += f", asked about {counted(len(asked), f'{part} row')}"
    return sets, QueryRows(held_out.X, held_out.labels, held_out.weights), text


def _found_of(
    inputs: BiasVarianceInputs, curve: SettingCurve | None, rows_text: str, seconds: float
) -> BiasVarianceFound:
    """Return what is known and what a curve of the other values says."""
    task, settings, known = inputs.fit.task, inputs.settings, inputs.known
    of = {} if known is None else dict(known.of)
    is_staged = known is not None and known.is_staged
    if curve is not None:
        of, is_staged = with_curve(of, curve, PARTS[task]), curve.is_staged
    states = [of.get(key_of(value)) for value in settings.values]
    means = {
        part: np.array([np.nan if state is None else state.means.get(part, np.nan) for state in states])
        for part in PARTS[task]
    }
    n_fits = np.array([0 if state is None else state.n_fits for state in states], np.int64)
    errors = {at: state.error for at, state in enumerate(states) if state is not None and state.error}
    kept = None
    if settings.parameter:  # what failed is tried again
        whole = {key: state for key, state in of.items() if not state.error}
        kept = KnownValues(inputs.fit, settings, whole, is_staged, rows_text)
    return BiasVarianceFound(
        settings, inputs.axis, inputs.name, task, means, n_fits, errors, settings.how == FRESH, is_staged,
        curve is not None and curve.stopped, rows_text, inputs.fit.table.fingerprint, seconds, kept,
        _basis(inputs),
    )  # fmt: skip


def what_changed(found: BiasVarianceFound, document: Document, settings: BiasVarianceSettings) -> str:
    """Say what is other now than when it was found; empty where nothing is."""
    if document.table is None or found.table_fingerprint != document.table.fingerprint:
        return "found on another table"
    is_same = settings == found.settings or (
        not settings.parameter and replace(settings, values=found.settings.values) == found.settings
    )
    if not is_same:
        return "found with other settings"
    return told_change("found", found.basis, lambda: _basis(inputs_of(document, settings)))


def _basis(inputs: BiasVarianceInputs) -> FitBasis:
    return basis_of(inputs.fit, inputs.specs, inputs.settings.parameter)


def how_it_ended(found: BiasVarianceFound) -> str:
    """Such as "Depth of Tree 1: 30 training sets; the smallest error is at 5"."""
    words = counted(found.n_done, "training set")
    if found.stopped:
        words = f"stopped after {words} of {found.settings.n_sets:,}"
    if found.errors:
        words += f", {counted(len(found.errors), 'value')} failed"
    if found.best is not None:
        words += f"; the smallest error is at {found.axis.words[found.axis.place[found.best]]}"
    return sentence(f"{found.name}: {words}").removesuffix(".")
