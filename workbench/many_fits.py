"""One model fitted on many training sets, and what each fit says along one column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError, ParameterError
from engine.monitor import FitMonitor
from workbench.bias_variance import BOOTSTRAP, FRESH, check_draws, knows_truth, training_sets
from workbench.catalog import check_parameter_values, entry_of
from workbench.figures.axis import Axis, make_axis
from workbench.figures.held import Held, held_sentence, held_values
from workbench.figures.words import counted
from workbench.fitting import FitInputs
from workbench.readiness import check_ready
from workbench.told_so_far import ToldSoFar
from workbench.training_work import training_inputs

if TYPE_CHECKING:
    import pandas as pd

    from engine.features import FeatureSpec
    from engine.resampling.refits import Refits
    from workbench.document import Document

Floats = NDArray[np.float64]
N_CELLS = 240
FEWEST = 2  # fits that have a band


@dataclass(frozen=True)
class ManyFitsSettings:
    """Along which column fits are drawn, and how their training sets are.

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
    """

    column: str = ""
    label: str = ""
    how: str = BOOTSTRAP
    n_sets: int = 50
    seed: int = 0


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


def settings_for(document: Document) -> ManyFitsSettings:
    """Return what was chosen as far as it fits the table, else what is offered first."""
    chosen = document.studies.many_fits
    if chosen is None:
        chosen = ManyFitsSettings(how=FRESH if knows_truth(document) else BOOTSTRAP)
    if chosen.column not in document.features:
        chosen = replace(chosen, column=next(iter(document.features), ""))
    if chosen.label not in document.classes:
        first = document.event_class if document.event_class in document.classes else None
        chosen = replace(chosen, label=first or next(iter(document.classes), ""))
    if chosen.how == FRESH and not knows_truth(document):
        chosen = replace(chosen, how=BOOTSTRAP)
    return chosen


def inputs_of(document: Document, settings: ManyFitsSettings) -> ManyFitsInputs:
    """Return what is to be done about the current model as the document stands.

    Raises
    ------
    DataError, ParameterError
        It cannot be; says why and what to do.
    """
    if problems := check_ready(document):
        raise DataError(" ".join(problems))
    run = document.current_run
    if run is None:
        raise DataError("there is no model; add one")
    if why := entry_of(run.spec.kind).why_not(document.task):
        raise ParameterError(why)
    check_parameter_values(run.spec.kind, document.task, run.spec.parameters)
    check_draws(document, settings.how, settings.n_sets)
    if settings.column not in document.features:
        raise DataError(f"{settings.column!r} is no column that the model is given; choose one")
    if document.classes and settings.label not in document.classes:
        raise DataError(f"there is no class {settings.label!r}; choose one")
    return ManyFitsInputs(settings, training_inputs(document, run.run_id), run.name)


def run_many_fits(inputs: ManyFitsInputs, monitor: FitMonitor) -> ManyFitsFound:
    """Fit on every training set and ask along the column; a stop keeps what is done.

    Raises
    ------
    DataError, ParameterError
        The rows or weights do not allow it, or no fit succeeded.
    """
    from engine.resampling.draws import FreshDraws
    from engine.resampling.refits import refit

    began, settings, fit = perf_counter(), inputs.settings, inputs.fit
    sets, rows_text = training_sets(fit, settings.how, settings.n_sets, settings.seed)
    grid = _Grid(fit, settings.column)
    X: Any = grid.frame()
    truth = np.empty(0)
    if isinstance(sets, FreshDraws):
        X = grid.numbers(sets.columns)
        truth = _of_class(sets.expected(X), inputs, sets.classes)

    def made(refits: Refits) -> ManyFitsFound:
        return _found_of(inputs, grid, refits, truth, rows_text, perf_counter() - began)

    estimator = entry_of(fit.spec.kind).make(fit.task, dict(fit.spec.parameters), len(fit.classes))
    return made(refit(estimator, sets, X, random_state=settings.seed, monitor=ToldSoFar(monitor, made)))


class _Grid:
    """Rows that differ in one column alone; the others are held at typical values of the training rows."""

    def __init__(self, fit: FitInputs, column: str) -> None:
        from engine.features import encode, learn_features
        from workbench.datasets import feature_frame

        self._frame = feature_frame(fit.table, fit.features)
        self._specs: tuple[FeatureSpec, ...] = learn_features(self._frame)
        encoded = np.array(encode(self._frame, self._specs), np.float64)
        dates = frozenset(name for name in fit.features if fit.table.column(name).kind == "date")
        rows = fit.rows_of("train")
        self._held: tuple[Held, ...] = held_values(self._specs, encoded[rows], dates)
        at = fit.features.index(column)
        self.x: Axis = make_axis(self._specs[at], at, encoded[:, at], N_CELLS, column in dates)
        self.points = self.x.places(encoded[rows, at], rows)

    @property
    def held_text(self) -> str:
        return held_sentence([held for at, held in enumerate(self._held) if at != self.x.feature])

    def _column(self, at: int) -> Floats:
        """Return a column's encoded value in each cell."""
        return self.x.values if at == self.x.feature else np.full(len(self.x.values), self._held[at].encoded)

    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame like the table's."""
        import pandas as pd

        data: dict[str, Any] = {}
        for at, spec in enumerate(self._specs):
            values = self._column(at)
            if spec.is_categorical:
                codes = np.where(np.isnan(values), -1, values).astype(np.int64)
                data[spec.name] = pd.Categorical.from_codes(codes, self._frame[spec.name].cat.categories)
            else:
                data[spec.name] = values
        return pd.DataFrame(data)

    def numbers(self, names: tuple[str, ...]) -> Floats:
        """Return the rows as numbers, columns in the order of `names`."""
        known = [spec.name for spec in self._specs]
        return np.column_stack([self._column(known.index(name)) for name in names])


def _of_class(answer: Floats, inputs: ManyFitsInputs, classes: NDArray[Any] | None) -> Floats:
    """Return numbers as they are, of class probabilities those of the class that is drawn."""
    if classes is None:
        return answer
    return np.asarray(answer[..., classes.tolist().index(inputs.settings.label)])


def _found_of(
    inputs: ManyFitsInputs, grid: _Grid, refits: Refits, truth: Floats, rows_text: str, seconds: float
) -> ManyFitsFound:
    fit, settings = inputs.fit, inputs.settings
    rows = fit.rows_of("train")
    target = np.asarray(fit.table.column(fit.target).values, np.float64)[rows] if not fit.classes else None
    nothing = np.empty(0)
    return ManyFitsFound(
        settings, inputs.name, f"probability of {settings.label}" if fit.classes else fit.target, grid.x,
        _of_class(refits.done, inputs, refits.classes), truth, nothing if target is None else grid.points,
        nothing if target is None else target, grid.held_text, rows_text, len(refits.errors),
        refits.stopped, fit.table.fingerprint, bool(fit.classes), seconds,
    )  # fmt: skip


def what_changed(found: ManyFitsFound, document: Document, settings: ManyFitsSettings) -> str:
    """Say what is other now than when the fits were made; empty where nothing is."""
    if document.table is None or found.table_fingerprint != document.table.fingerprint:
        return "fitted on another table"
    return "" if settings == found.settings else "fitted with other settings"


def how_it_ended(found: ManyFitsFound) -> str:
    """Such as "Tree 1: 50 fits along bill_length_mm"."""
    words = f"{counted(len(found.curves), 'fit')} along {found.x.name}"
    if found.stopped:
        words = f"stopped after {words}"
    if found.n_failed:
        words += f", {found.n_failed:,} failed"
    return f"{found.name}: {words}"
