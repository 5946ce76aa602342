"""`VarianceSurfaceFigure`: how far fits on different training sets lie apart over two columns."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.figures.axis import Axis
from workbench.figures.bootstrap import HistogramFigure
from workbench.figures.fits_at_places import DartsFigure, PlacedFits, answers_at, darts_at, fits_told
from workbench.figures.regions import far_cells
from workbench.figures.surface import Points, prediction_text
from workbench.figures.words import counted, number

if TYPE_CHECKING:
    from workbench.variance_surface import VarianceSurfaceFound

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class VarianceSurfaceFigure:
    """The standard deviation of fits over two columns; drawn as a `SurfaceFigure` of numbers is.

    Attributes
    ----------
    title, subtitle, held_text : str
    x, y : Axis
    mapped : float64 (n_y, n_x)
        Standard deviation of the fits.
    mean : float64 (n_y, n_x)
    truth : float64 (n_y, n_x) or None
        None where it is not known.
    n_fits : int
    quantity : str
        What colours stand for, with its unit.
    points : Points
        Training rows.
    classes : tuple of str
        Of the rows; empty for numbers.
    event_idx : int or None
    is_date : bool
        Fits say dates, and the deviation is in days.
    at : int
        The cell whose answers are shown; x runs fastest.
    answers : HistogramFigure
        Of the fits there.
    darts : DartsFigure or None
        Of this place and a second one, if one is looked at.
    second : int or None
        The cell of that.
    """

    title: str
    subtitle: str
    held_text: str
    x: Axis
    y: Axis
    mapped: Floats
    mean: Floats
    truth: Floats | None
    n_fits: int
    quantity: str
    points: Points
    classes: tuple[str, ...]
    event_idx: int | None
    is_date: bool
    at: int
    answers: HistogramFigure
    darts: DartsFigure | None = None
    second: int | None = None
    is_map = True
    is_of_target = False

    @property
    def range(self) -> tuple[float, float]:
        """From 0, where all fits agree, to the largest deviation."""
        return 0.0, float(self.mapped.max()) or 1.0

    @cached_property
    def is_empty(self) -> NDArray[np.bool_]:
        """Cells far from every training row: (n_y, n_x)."""
        return far_cells(self.x, self.y, self.points)

    def cell_at(self, x: float, y: float) -> int | None:
        """Return the cell under a drawn position; None outside."""
        column, row = self.x.cell_at(x), self.y.cell_at(y)
        return None if column is None or row is None else row * len(self.x.values) + column

    def position(self, cell: int) -> tuple[float, float]:
        """Return the middle of a cell as it is drawn."""
        row, column = divmod(cell, len(self.x.values))
        x, y = self.x.edges[column : column + 2], self.y.edges[row : row + 2]
        return float(x.mean()), float(y.mean())

    def step(self, right: int, up: int, *, of_second: bool = False) -> int:
        """Return the cell so many beside and above the one that is shown, or the second one."""
        cell = self.second if of_second and self.second is not None else self.at
        row, column = divmod(cell, len(self.x.values))
        row, column = (
            min(max(at, 0), len(axis.values) - 1)
            for at, axis in ((row + up, self.y), (column + right, self.x))
        )
        return row * len(self.x.values) + column

    def text_at(self, x: float, y: float) -> str:
        """What is told under the pointer: the spread, the mean, and the truth where it is known."""
        cell = self.cell_at(x, y)
        if cell is None:
            return ""
        at = divmod(cell, len(self.x.values))
        unit = " days" if self.is_date else ""
        told = [f"{self.x.name}: {self.x.text(at[1])}", f"{self.y.name}: {self.y.text(at[0])}"]
        told.append(f"standard deviation {number(float(self.mapped[at]))}{unit}")
        told.append(f"mean {prediction_text(float(self.mean[at]), self.is_date)}")
        if self.truth is not None:
            told.append(f"truth {prediction_text(float(self.truth[at]), self.is_date)}")
        return "\n".join([*told, counted(self.n_fits, "fit")])

    def to_csv(self) -> str:
        """Return every cell as a line, x running fastest; the truth where it is known."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = [("mean", self.mean), ("standard deviation", self.mapped)]
        if self.truth is not None:
            columns.append(("truth", self.truth))
        writer.writerow([self.x.name, self.y.name, *(name for name, _ in columns), "fits"])
        x, y = self.x.spelled(), self.y.spelled()
        values = np.column_stack([part.ravel() for _, part in columns]).tolist()
        for cell, line in enumerate(values):
            row, column = divmod(cell, len(x))
            writer.writerow([x[column], y[row], *map(repr, line), self.n_fits])
        return text.getvalue()


def make_variance_surface(
    found: VarianceSurfaceFound,
    at: int | None = None,
    second: int | None = None,
    *,
    is_running: bool = False,
    remark: str = "",
) -> VarianceSurfaceFigure:
    """Make the figure of at least one fit; the parameters are those of `make_many_fits`."""
    shape = len(found.y.values), len(found.x.values)
    n_cells = shape[0] * shape[1]
    at = found.cell_at_share(0.5) if at is None else min(max(at, 0), n_cells - 1)
    second = None if second is None else min(max(second, 0), n_cells - 1)

    def place(cell: int) -> str:
        row, column = divmod(cell, shape[1])
        return f"{found.x.name} {found.x.text(column)}, {found.y.name} {found.y.text(row)}"

    def values(cell: int) -> str:
        row, column = divmod(cell, shape[1])
        return f"{found.x.text(column)} and {found.y.text(row)}"  # "23, 1,390" would be three numbers

    fits = PlacedFits(found.answers, found.truth, found.quantity, bool(found.classes), place, values)
    return VarianceSurfaceFigure(
        f"{found.name}, standard deviation of its fits", fits_told(found, is_running, remark),
        found.held_text, found.x, found.y, found.deviation.reshape(shape), found.mean.reshape(shape),
        found.truth.reshape(shape) if len(found.truth) else None, found.n_fits, found.deviation_name,
        found.points, found.classes, found.event_idx, found.is_date, at, answers_at(fits, at),
        None if second is None else darts_at(fits, at, second), second,
    )  # fmt: skip
