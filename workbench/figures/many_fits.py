"""`ManyFitsFigure`: curves of fits on different training sets, their mean, and their answers at one place.

Over two columns see `workbench.figures.variance_surface`.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.figures.axis import Axis
from workbench.figures.bootstrap import HistogramFigure
from workbench.figures.fits_at_places import DartsFigure, PlacedFits, answers_at, darts_at, fits_told
from workbench.figures.spans import apart, mean_and_deviation
from workbench.figures.words import count, counted, number

if TYPE_CHECKING:
    from workbench.many_fits import ManyFitsFound

Floats = NDArray[np.float64]
MOST_CURVES = 60  # drawn; every k-th of more, and the legend says so


@dataclass(frozen=True, eq=False)
class ManyFitsFigure:
    """Fits along a column.

    Attributes
    ----------
    title, subtitle, held_text : str
    quantity : str
    x : Axis
    curves : float64 (n_drawn, n_cells)
    n_fits : int
        Of which these are some.
    mean, spread : float64 (n_cells,)
        Over all fits; `spread` is their standard deviation.
    truth : float64 (n_cells,)
        Empty where it is not known.
    points_x, points_y : float64 (n_points,)
    at : int
        The cell whose answers are shown.
    answers : HistogramFigure
        Of the fits there.
    is_classes : bool
        Probabilities, from 0 to 1.
    darts : DartsFigure or None
        Of this place and a second one, if one is looked at.
    second : int or None
        The cell of that.
    """

    title: str
    subtitle: str
    held_text: str
    quantity: str
    x: Axis
    curves: Floats
    n_fits: int
    mean: Floats
    spread: Floats
    truth: Floats
    points_x: Floats
    points_y: Floats
    at: int
    answers: HistogramFigure
    is_classes: bool
    darts: DartsFigure | None = None
    second: int | None = None

    @property
    def band(self) -> tuple[Floats, Floats]:
        """One standard deviation below and above the mean; of probabilities within 0 and 1."""
        low, high = self.mean - self.spread, self.mean + self.spread
        return (np.maximum(low, 0.0), np.minimum(high, 1.0)) if self.is_classes else (low, high)

    @property
    def range(self) -> tuple[float, float]:
        """What is drawn lies between these."""
        if self.is_classes:
            return 0.0, 1.0
        seen = np.concatenate([self.curves.ravel(), *self.band, self.truth, self.points_y])
        seen = seen[np.isfinite(seen)]
        return apart(float(seen.min()), float(seen.max()))

    @property
    def curves_text(self) -> str:
        """What the legend says of the curves."""
        if len(self.curves) == self.n_fits:
            return counted(self.n_fits, "fit")
        return f"{count(len(self.curves))} of {counted(self.n_fits, 'fit')}"

    def step(self, right: int, *, of_second: bool = False) -> int:
        """Return the cell so many beside the one that is shown, or the second one."""
        at = self.second if of_second and self.second is not None else self.at
        return min(max(at + right, 0), len(self.x.values) - 1)

    def text_at(self, cell: int) -> str:
        """What is told at a place: mean, spread, and the truth where it is known."""
        mean, spread = number(float(self.mean[cell])), number(float(self.spread[cell]))
        told = [f"{self.x.name} {self.x.text(cell)}", f"mean {mean} ± {spread}"]
        if len(self.truth):
            told.append(f"truth {number(float(self.truth[cell]))}")
        return "\n".join(told)

    def to_csv(self, curves: Floats) -> str:
        """Return every cell as a line: value, mean, standard deviation, truth, and every fit's answer."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        fits = [f"fit {k + 1}" for k in range(len(curves))]
        writer.writerow([self.x.name, "mean", "standard deviation", "truth", *fits])
        for cell, value in enumerate(self.x.spelled()):
            truth = repr(float(self.truth[cell])) if len(self.truth) else ""
            numbers = [repr(float(of)) for of in (self.mean[cell], self.spread[cell])]
            writer.writerow([value, *numbers, truth, *(repr(float(of)) for of in curves[:, cell])])
        return text.getvalue()


def make_many_fits(
    found: ManyFitsFound,
    at: int | None = None,
    second: int | None = None,
    *,
    is_running: bool = False,
    remark: str = "",
) -> ManyFitsFigure:
    """Make the figure of at least one fit.

    Parameters
    ----------
    at : int, optional
        The cell whose answers are shown; by default the middle one.
    second : int, optional
        A second cell, whose answers are shown against those of the first.
    remark : str
        What is other now than when the fits were made.
    """
    n_cells = len(found.x.values)
    at = n_cells // 2 if at is None else min(max(at, 0), n_cells - 1)
    second = None if second is None else min(max(second, 0), n_cells - 1)
    step = -(-len(found.curves) // MOST_CURVES)

    def place(cell: int) -> str:
        return f"{found.x.name} {found.x.text(cell)}"

    fits = PlacedFits(found.curves, found.truth, found.quantity, found.is_classes, place, place)
    mean, deviation = mean_and_deviation(found.curves)
    return ManyFitsFigure(
        found.name, fits_told(found, is_running, remark), found.held_text, found.quantity, found.x,
        found.curves[::step], len(found.curves), mean, deviation, found.truth, found.points_x,
        found.points_y, at, answers_at(fits, at), found.is_classes,
        None if second is None else darts_at(fits, at, second), second,
    )  # fmt: skip
