"""One model fitted on many training sets, and how far the fits lie apart over two columns."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, prod
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from engine.monitor import FitMonitor
from workbench.figures.axis import Axis
from workbench.figures.surface import Points
from workbench.figures.surface_inputs import TRAINING, event_idx_of, targets_of
from workbench.figures.uncertainty import EPISTEMIC, quantity_text
from workbench.figures.words import count, counted
from workbench.fit_basis import FitBasis, basis_of
from workbench.fitting import FitInputs
from workbench.many_fits import ManyFitsInputs, ManyFitsSettings, cells_and_truth, estimator_of, quantity_of
from workbench.query_grid import QueryGrid
from workbench.told_so_far import ToldSoFar
from workbench.training_sets import training_sets

if TYPE_CHECKING:
    from engine.resampling.spread import Spread

Floats = NDArray[np.float64]
N_SIDE, LEAST_SIDE = 60, 20  # cells of numbers along a side: fewer where memory asks for it
MAX_BYTES = 64_000_000  # of what all fits say: it is kept, so that any place can be looked at


@dataclass(frozen=True, eq=False)
class VarianceSurfaceFound:
    """What the fits say over two columns, by now or at the end. Cells: x runs fastest.

    Attributes
    ----------
    settings : ManyFitsSettings
    name : str
        Of the model.
    quantity : str
        What the fits say: the target, or "probability of Adelie".
    deviation_name : str
        What their standard deviation is of, with its unit.
    x, y : Axis
    answers : float64 (n_fits, n_cells)
    mean, deviation : float64 (n_cells,)
        Of the fits; the standard deviation in the unit of what they say.
    truth : float64 (n_cells,)
        Empty where it is not known.
    points : Points
        Training rows.
    classes : tuple of str
        Empty for numbers.
    event_idx : int or None
    held_text : str
        At which values the other columns are held.
    rows_text : str
        The training sets, and the cells.
    is_date : bool
        The target is a date, in days.
    n_failed : int
    stopped : bool
    table_fingerprint : str
    basis : FitBasis or None
        What was fitted; None in projects of earlier versions.
    seconds : float
    """

    settings: ManyFitsSettings
    name: str
    quantity: str
    deviation_name: str
    x: Axis
    y: Axis
    answers: Floats
    mean: Floats
    deviation: Floats
    truth: Floats
    points: Points
    classes: tuple[str, ...]
    event_idx: int | None
    held_text: str
    rows_text: str
    is_date: bool = False
    n_failed: int = 0
    stopped: bool = False
    table_fingerprint: str = ""
    seconds: float = 0.0
    basis: FitBasis | None = None

    @property
    def n_fits(self) -> int:
        return len(self.answers)

    @property
    def where(self) -> str:
        """Such as "over bill_length_mm and island"."""
        return f"over {self.x.name} and {self.y.name}"

    def cell_at_share(self, share: float) -> int:
        """Return the cell so far from the lower ends of both axes: 0 to 1."""
        n_x, n_y = len(self.x.values), len(self.y.values)
        return min(int(share * n_y), n_y - 1) * n_x + min(int(share * n_x), n_x - 1)


def run_variance_surface(inputs: ManyFitsInputs, monitor: FitMonitor) -> VarianceSurfaceFound:
    """Fit on every training set and ask over both columns; a stop keeps what is done.

    Raises
    ------
    DataError, ParameterError
        The rows or weights do not allow it, levels or training sets are too many for the memory a picture
        may take, or no fit succeeded.
    """
    from engine.resampling.spread import refit_spread

    began, settings, fit = perf_counter(), inputs.settings, inputs.fit
    sets, rows_text = training_sets(fit, settings.how, settings.n_sets, settings.seed)
    grid = QueryGrid(fit, _cells_along(fit, settings))
    X, truth = cells_and_truth(inputs, grid, sets)
    points = _points(fit, grid)
    words = f"{grid.rows_told(rows_text, len(points.rows))}, {_cells_text(grid)}"

    def made(spread: Spread) -> VarianceSurfaceFound:
        return _found_of(inputs, grid, spread, truth, points, words, perf_counter() - began)

    found = refit_spread(
        estimator_of(fit), sets, X, settings.label or None, random_state=settings.seed,
        monitor=ToldSoFar(monitor, made),
    )  # fmt: skip
    return made(found)


def _cells_text(grid: QueryGrid) -> str:
    n_x, n_y = (len(axis.values) for axis in grid.axes)
    return f"{count(n_x)} x {count(n_y)} cells"


def _cells_along(fit: FitInputs, settings: ManyFitsSettings) -> dict[str, int]:
    """Return the cells along both columns; of numbers as many as memory allows, up to `N_SIDE`.

    Raises
    ------
    DataError
        Not even a coarse picture does.
    """
    names = (settings.column, settings.second_column)
    levels = {name: _n_levels(fit, name) for name in names}
    room = MAX_BYTES // (8 * max(settings.n_sets, len(fit.features)))
    n_places = prod(n for n in levels.values() if n)
    n_numbers = sum(not n for n in levels.values())
    side = isqrt(room) if n_numbers == 2 else room // n_places
    if side < (LEAST_SIDE if n_numbers else 1):
        raise DataError(
            f"{names[0]} by {names[1]} are too many cells for {counted(settings.n_sets, 'training set')}; "
            "choose fewer of these, or columns with fewer levels"
        )
    return {name: n or min(side, N_SIDE) for name, n in levels.items()}


def _n_levels(fit: FitInputs, name: str) -> int:
    """Return how many places a category has, one for missing too; 0 of numbers."""
    column = fit.table.column(name)
    return 0 if column.kind in ("number", "date") else len(column.levels) + 1


def _points(fit: FitInputs, grid: QueryGrid) -> Points:
    """Return the training rows as the surface draws them: of many every k-th."""
    rows, (x, y) = grid.drawn()
    codes, values = targets_of(fit.table, fit.target, fit.classes)
    parts = np.full(len(rows), TRAINING, np.uint8)
    return Points(rows, x, y, codes[rows], values[rows], parts, np.zeros(len(rows), bool))


def _found_of(
    inputs: ManyFitsInputs, grid: QueryGrid, spread: Spread, truth: Floats, points: Points, rows_text: str,
    seconds: float,
) -> VarianceSurfaceFound:  # fmt: skip
    fit, (x, y) = inputs.fit, grid.axes
    is_date = fit.table.column(fit.target).kind == "date" and not fit.classes
    return VarianceSurfaceFound(
        inputs.settings, inputs.name, quantity_of(inputs), _deviation_name(inputs, is_date), x, y,
        spread.answers, spread.mean, spread.deviation, truth, points, fit.classes, event_idx_of(fit),
        grid.held_text, rows_text, is_date, len(spread.errors), spread.stopped, fit.table.fingerprint,
        seconds, basis_of(fit),
    )  # fmt: skip


def _deviation_name(inputs: ManyFitsInputs, is_date: bool) -> str:
    if is_date:
        return quantity_text(inputs.fit.target, EPISTEMIC, is_classes=False, is_date=True)
    return f"{quantity_of(inputs)} (standard deviation)"
