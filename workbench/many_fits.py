"""One model fitted on many training sets, and what each fit says along one column.

Over two columns the same fits are in `workbench.variance_surface`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from engine.monitor import FitMonitor
from workbench.catalog import entry_of
from workbench.figures.axis import Axis
from workbench.figures.words import counted
from workbench.fit_basis import FitBasis, basis_of, told_change
from workbench.fitting import FitInputs
from workbench.query_grid import QueryGrid
from workbench.told_so_far import ToldSoFar
from workbench.training_sets import BOOTSTRAP, draws_for, model_to_refit, training_sets
from workbench.training_work import training_inputs

if TYPE_CHECKING:
    from engine.resampling.draws import TrainingSets
    from engine.resampling.refits import Refits
    from workbench.document import Document
    from workbench.variance_surface import VarianceSurfaceFound

Floats = NDArray[np.float64]
N_CELLS = 240
FEWEST = 2  # fits that have a band


@dataclass(frozen=True)
class ManyFitsSettings:
    """Along which column, or over which two, fits are drawn, and how their training sets are.

    Attributes
    ----------
    column : str
        A feature.
    label : str
        Of classes the one whose probability is drawn; "" for numbers.
    how : str
        As in `workbench.bias_variance`.
    n_sets : int
    seed : int
    second_column : str
        Another feature, upward in a map; "" for lines along the first one.
    """

    column: str = ""
    label: str = ""
    how: str = BOOTSTRAP
    n_sets: int = 50
    seed: int = 0
    second_column: str = ""


@dataclass(frozen=True, eq=False)
class ManyFitsInputs:
    """What a worker is given, frozen."""

    settings: ManyFitsSettings
    fit: FitInputs
    name: str


@dataclass(frozen=True, eq=False)
class ManyFitsFound:
    """What the fits say, by now or at the end.

    Attributes
    ----------
    settings : ManyFitsSettings
    name : str
        Of the model.
    quantity : str
        What is drawn: the target, or "probability of Adelie".
    x : Axis
    curves : float64 (n_fits, n_cells)
    truth : float64 (n_cells,)
        Empty where it is not known.
    points_x, points_y : float64 (n_points,)
        Training rows; none of classes.
    held_text : str
        At which values the other columns are held.
    rows_text : str
    n_failed : int
    stopped : bool
    table_fingerprint : str
    basis : FitBasis or None
        What was fitted; None in projects of earlier versions.
    is_classes : bool
    seconds : float
    """

    settings: ManyFitsSettings
    name: str
    quantity: str
    x: Axis
    curves: Floats
    truth: Floats
    points_x: Floats
    points_y: Floats
    held_text: str
    rows_text: str
    n_failed: int = 0
    stopped: bool = False
    table_fingerprint: str = ""
    is_classes: bool = False
    seconds: float = 0.0
    basis: FitBasis | None = None

    @property
    def n_fits(self) -> int:
        return len(self.curves)

    @property
    def where(self) -> str:
        """Such as "along bill_length_mm"."""
        return f"along {self.x.name}"

    def cell_at_share(self, share: float) -> int:
        """Return the cell so far from the lower end: 0 to 1."""
        n_cells = len(self.x.values)
        return min(int(share * n_cells), n_cells - 1)


def settings_for(document: Document) -> ManyFitsSettings:
    """Return what was chosen as far as it fits the table, else what is offered first."""
    chosen = document.studies.many_fits
    how = draws_for(document, None if chosen is None else chosen.how)
    chosen = replace(chosen or ManyFitsSettings(), how=how)
    if chosen.column not in document.features:
        chosen = replace(chosen, column=next(iter(document.features), ""))
    if chosen.second_column not in document.features or chosen.second_column == chosen.column:
        chosen = replace(chosen, second_column="")
    if chosen.label not in document.classes:
        first = document.event_class if document.event_class in document.classes else None
        chosen = replace(chosen, label=first or next(iter(document.classes), ""))
    return chosen


def inputs_of(document: Document, settings: ManyFitsSettings) -> ManyFitsInputs:
    """Return what is to be done about the current model as the document stands.

    Raises
    ------
    DataError, ParameterError
        It cannot be; says why and what to do.
    """
    run = model_to_refit(document, settings.how, settings.n_sets)
    if settings.column not in document.features:
        raise DataError(f"{settings.column!r} is no column that the model is given; choose one")
    if settings.second_column:
        _check_second(document, settings)
    if document.classes and settings.label not in document.classes:
        raise DataError(f"there is no class {settings.label!r}; choose one")
    return ManyFitsInputs(settings, training_inputs(document, run.run_id), run.name)


def _check_second(document: Document, settings: ManyFitsSettings) -> None:
    second = settings.second_column
    if second not in document.features:
        raise DataError(f"{second!r} is no column that the model is given; choose another, or none")
    if second == settings.column:
        raise DataError(f"{second!r} is the first column too; choose another, or none")


def run_many_fits(inputs: ManyFitsInputs, monitor: FitMonitor) -> ManyFitsFound:
    """Fit on every training set and ask along the column; a stop keeps what is done.

    Raises
    ------
    DataError, ParameterError
        The rows or weights do not allow it, or no fit succeeded.
    """
    from engine.resampling.refits import refit

    began, settings, fit = perf_counter(), inputs.settings, inputs.fit
    sets, rows_text = training_sets(fit, settings.how, settings.n_sets, settings.seed)
    grid = QueryGrid(fit, {settings.column: N_CELLS})
    X, truth = cells_and_truth(inputs, grid, sets)
    points = _points(fit, grid)
    words = grid.rows_told(rows_text, len(points[0]))

    def made(refits: Refits) -> ManyFitsFound:
        return _found_of(inputs, grid, refits, truth, points, words, perf_counter() - began)

    told = ToldSoFar(monitor, made)
    return made(refit(estimator_of(fit), sets, X, random_state=settings.seed, monitor=told))


def estimator_of(fit: FitInputs) -> Any:
    """Make the unfitted model that a run describes."""
    return entry_of(fit.spec.kind).make(fit.task, dict(fit.spec.parameters), len(fit.classes))


def cells_and_truth(inputs: ManyFitsInputs, grid: QueryGrid, sets: TrainingSets) -> tuple[Any, Floats]:
    """Return the rows that fits are asked about, and what is true there; that is empty where nobody knows."""
    from engine.resampling.draws import FreshDraws

    if not isinstance(sets, FreshDraws):
        return grid.frame(), np.empty(0)
    X = grid.numbers(sets.columns)
    return X, _of_class(sets.expected(X), inputs, sets.classes)


def quantity_of(inputs: ManyFitsInputs) -> str:
    """Name what the fits say: the target, of dates with its unit, or the probability of a class."""
    fit = inputs.fit
    if fit.classes:
        return f"probability of {inputs.settings.label}"
    is_date = fit.table.column(fit.target).kind == "date"
    return f"{fit.target} (days since 1970-01-01)" if is_date else fit.target


def _of_class(answer: Floats, inputs: ManyFitsInputs, classes: NDArray[Any] | None) -> Floats:
    """Return numbers as they are, of class probabilities those of the class that is drawn."""
    if classes is None:
        return answer
    return np.asarray(answer[..., classes.tolist().index(inputs.settings.label)])


def _points(fit: FitInputs, grid: QueryGrid) -> tuple[Floats, Floats]:
    """Return place and target of the training rows that are drawn: of many every k-th, of classes none."""
    if fit.classes:
        return np.empty(0), np.empty(0)
    rows, (places,) = grid.drawn()
    return places, np.asarray(fit.table.column(fit.target).values, np.float64)[rows]


def _found_of(
    inputs: ManyFitsInputs, grid: QueryGrid, refits: Refits, truth: Floats, points: tuple[Floats, Floats],
    rows_text: str, seconds: float,
) -> ManyFitsFound:  # fmt: skip
    fit, settings, (x,) = inputs.fit, inputs.settings, grid.axes
    return ManyFitsFound(
        settings, inputs.name, quantity_of(inputs), x, _of_class(refits.done, inputs, refits.classes), truth,
        *points, grid.held_text, rows_text, len(refits.errors), refits.stopped, fit.table.fingerprint,
        bool(fit.classes), seconds, basis_of(fit),
    )  # fmt: skip


def what_changed(
    found: ManyFitsFound | VarianceSurfaceFound, document: Document, settings: ManyFitsSettings
) -> str:
    """Say what is other now than when the fits were made; empty where nothing is."""
    if document.table is None or found.table_fingerprint != document.table.fingerprint:
        return "fitted on another table"
    if settings != found.settings:
        return "fitted with other settings"
    return told_change("fitted", found.basis, lambda: basis_of(inputs_of(document, settings).fit))


def how_it_ended(found: ManyFitsFound | VarianceSurfaceFound) -> str:
    """Such as "Tree 1: 50 fits along bill_length_mm"."""
    words = f"{counted(found.n_fits, 'fit')} {found.where}"
    if found.stopped:
        words = f"stopped after {words}"
    if found.n_failed:
        words += f", {found.n_failed:,} failed"
    return f"{found.name}: {words}"
