"""How the variance of a forest falls with its number of trees, over training sets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError, ParameterError
from engine.monitor import FitMonitor
from workbench.bias_variance_choice import STEPS, first_values
from workbench.catalog import entry_of
from workbench.figures.words import as_typed, counted, number
from workbench.fit_basis import FitBasis, basis_of, told_change
from workbench.fitting import FitInputs
from workbench.numerals import whole_number
from workbench.told_so_far import ToldSoFar
from workbench.training_sets import (
    BOOTSTRAP,
    check_held_out,
    draws_for,
    held_out_rows,
    model_to_refit,
    training_sets,
)
from workbench.training_work import training_inputs

if TYPE_CHECKING:
    from engine.resampling.averages import AverageVariance
    from workbench.document import Document

Floats = NDArray[np.float64]
KINDS = ("forest", "extra_trees", "bagging")
N_FRESH_QUERY = 1000  # fresh rows that trees are asked about
MOST_TREES = 1000


@dataclass(frozen=True)
class AveragesSettings:
    """Which numbers of trees, and on which training sets.

    Attributes
    ----------
    n_trees : tuple of int
        Ascending; none before a person chose some.
    how : str
        As in `workbench.bias_variance`.
    n_sets : int
    seed : int
    """

    n_trees: tuple[int, ...] = ()
    how: str = BOOTSTRAP
    n_sets: int = 30
    seed: int = 0


@dataclass(frozen=True, eq=False)
class AveragesInputs:
    """What a worker is given, frozen."""

    settings: AveragesSettings
    fit: FitInputs
    name: str


@dataclass(frozen=True, eq=False)
class AveragesFound:
    """The variance of the mean of the first trees, by now or at the end.

    Attributes
    ----------
    settings : AveragesSettings
    name : str
        Of the model.
    measured : float64 (n_points,)
        For the numbers of trees of the settings.
    variance, correlation : float
        s2 of a single tree, and r of two trees of one forest.
    n_fits, n_failed : int
    stopped : bool
    rows_text : str
    table_fingerprint : str
    basis : FitBasis or None
        What was fitted; None in projects of earlier versions.
    is_classes : bool
        Variances are of the classes' probabilities, summed over the classes.
    seconds : float
    """

    settings: AveragesSettings
    name: str
    measured: Floats
    variance: float
    correlation: float
    n_fits: int
    n_failed: int = 0
    stopped: bool = False
    rows_text: str = ""
    table_fingerprint: str = ""
    is_classes: bool = False
    seconds: float = 0.0
    basis: FitBasis | None = None

    def line(self, n_trees: Any) -> Floats:
        """Return (1 - r) s2 / m + r s2 for numbers of trees m."""
        m = np.asarray(n_trees, np.float64)
        return np.asarray((1 - self.correlation) * self.variance / m + self.limit)

    @property
    def limit(self) -> float:
        """r s2: what no number of trees goes below."""
        return self.correlation * self.variance


def settings_for(document: Document) -> AveragesSettings:
    """Return what was chosen as far as it fits the table, else what is offered first."""
    chosen = document.studies.averages
    how = draws_for(document, None if chosen is None else chosen.how)
    chosen = replace(chosen or AveragesSettings(), how=how)
    run = document.current_run
    if not chosen.n_trees and run is not None and run.spec.kind in KINDS:
        parameter = entry_of(run.spec.kind).parameter(document.task, STEPS)
        chosen = replace(chosen, n_trees=tuple(first_values(document, parameter)))
    return chosen


def read_counts(text: str) -> tuple[int, ...]:
    """Return numbers of trees that a person typed, with commas or blanks between, ascending.

    Raises
    ------
    ParameterError
        One is no whole number from 1, or there are fewer than two.
    """
    read = {piece: whole_number(piece) for piece in text.replace(",", " ").split()}
    wrong = next((piece for piece, n_trees in read.items() if n_trees is None), None)
    if wrong is not None:
        raise ParameterError(f"{as_typed(wrong)} is no number of trees; enter such as 1, 2, 5, 10")
    counts = sorted({n_trees for n_trees in read.values() if n_trees is not None})
    if len(counts) < 2 or counts[0] < 1 or counts[-1] > MOST_TREES:
        raise ParameterError(f"enter two numbers of trees at least, from 1 to {MOST_TREES:,}")
    return tuple(counts)


def inputs_of(document: Document, settings: AveragesSettings) -> AveragesInputs:
    """Return what is to be done about the current model as the document stands.

    Raises
    ------
    DataError, ParameterError
        It cannot be; says why and what to do.
    """
    run = document.current_run
    if run is not None and run.spec.kind not in KINDS:
        raise DataError("it is about averages of trees; choose a random forest, extra trees or bagging")
    run = model_to_refit(document, settings.how, settings.n_sets)
    read_counts(" ".join(map(str, settings.n_trees)))
    fit = training_inputs(document, run.run_id)
    check_held_out(fit, settings.how)
    return AveragesInputs(settings, fit, run.name)


def run_averages(inputs: AveragesInputs, monitor: FitMonitor) -> AveragesFound | None:
    """Fit a forest on every training set; a stop keeps what is done, None before there are two.

    Raises
    ------
    DataError, ParameterError
        The rows or weights do not allow it, or no two fits succeeded.
    """
    from engine.resampling.averages import average_variance
    from engine.resampling.draws import FreshDraws

    began, settings, fit = perf_counter(), inputs.settings, inputs.fit
    sets, text = training_sets(fit, settings.how, settings.n_sets, settings.seed)
    if isinstance(sets, FreshDraws):
        X, text = sets.query(N_FRESH_QUERY).X, f"{text}, asked about {N_FRESH_QUERY:,} fresh rows"
    else:
        part, rows = held_out_rows(fit)
        X, text = fit.learnable().take(rows).X, f"{text}, asked about {counted(len(rows), f'{part} row')}"
    made = partial(_found_of, inputs, text, began)
    forest = entry_of(fit.spec.kind).make(fit.task, dict(fit.spec.parameters), len(fit.classes))
    found = average_variance(
        forest, sets, X, settings.n_trees, random_state=settings.seed, monitor=ToldSoFar(monitor, made)
    )
    return None if found is None else made(found)


def _found_of(inputs: AveragesInputs, text: str, began: float, found: AverageVariance) -> AveragesFound:
    fit = inputs.fit
    return AveragesFound(
        inputs.settings, inputs.name, found.measured, found.variance, found.correlation, found.n_fits,
        len(found.errors), found.stopped, text, fit.table.fingerprint, bool(fit.classes),
        perf_counter() - began, basis_of(fit, varied=STEPS),
    )  # fmt: skip


def what_changed(found: AveragesFound, document: Document, settings: AveragesSettings) -> str:
    """Say what is other now than when it was found; empty where nothing is."""
    if document.table is None or found.table_fingerprint != document.table.fingerprint:
        return "found on another table"
    if settings != found.settings:
        return "found with other settings"
    return told_change(
        "found", found.basis, lambda: basis_of(inputs_of(document, settings).fit, varied=STEPS)
    )


def how_it_ended(found: AveragesFound) -> str:
    """Such as "Random forest 1: 30 forests; two trees correlate by 0.31"."""
    words = counted(found.n_fits, "forest")
    if found.stopped:
        words = f"stopped after {words} of {found.settings.n_sets:,}"
    if found.n_failed:
        words += f", {found.n_failed:,} failed"
    if np.isfinite(found.correlation):
        words += f"; two trees correlate by {number(found.correlation)}"
    return f"{found.name}: {words}"
