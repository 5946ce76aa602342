"""What fits of a model on different training sets say at one place, and at two against each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.figures.bootstrap import HistogramFigure
from workbench.figures.spans import apart, bin_edges, mean_and_deviation
from workbench.figures.words import count, counted, number

if TYPE_CHECKING:
    from workbench.many_fits import ManyFitsFound
    from workbench.tree_averages import AveragesFound
    from workbench.variance_surface import VarianceSurfaceFound

Floats = NDArray[np.float64]
MIN_BINS, MAX_BINS = 6, 30
N_RINGS = 3  # of darts: 1, 2 and 3 spreads
MARGIN = 0.08  # of the answers' range, on both sides


@dataclass(frozen=True, eq=False)
class DartsFigure:
    """Every fit's answers at two places as one throw; the target is the truth, where it is known.

    Attributes
    ----------
    title, subtitle : str
    x_name, y_name : str
        What is answered at the first and at the second place.
    throws : float64 (n_fits, 2)
    mean : float64 (2,)
    truth : float64 (2,) or None
    spread : float
        Root of the mean of both variances: the first ring about the target, or the mean.
    """

    title: str
    subtitle: str
    x_name: str
    y_name: str
    throws: Floats
    mean: Floats
    truth: Floats | None
    spread: float

    @property
    def centre(self) -> Floats:
        """What the rings are about."""
        return self.mean if self.truth is None else self.truth

    @property
    def reach(self) -> float:
        """How far from the centre something is drawn, along either axis."""
        furthest = max(float(np.abs(self.throws - self.centre).max()), N_RINGS * self.spread)
        largest = float(np.abs(self.centre).max())
        low, high = apart(largest - furthest, largest + furthest)
        return (high - low) / 2


class PlacedFits(NamedTuple):
    """Fits and the places that they were asked about.

    Attributes
    ----------
    answers : float64 (n_fits, n_cells)
    truth : float64 (n_cells,)
        Empty where it is not known.
    quantity : str
        What the answers are.
    is_classes : bool
        Probabilities, from 0 to 1.
    place, values : callable
        Return where a cell is, in words; `values` shorter, where names do not fit.
    """

    answers: Floats
    truth: Floats
    quantity: str
    is_classes: bool
    place: Callable[[int], str]
    values: Callable[[int], str]


def fits_told(
    found: ManyFitsFound | VarianceSurfaceFound | AveragesFound, is_running: bool, remark: str
) -> str:
    """Say on what fits were made, how many are there, and what is other now."""
    told = [found.rows_text]
    if is_running:
        told.append(f"{count(found.n_fits)} done")
    elif found.stopped:
        told.append(f"stopped after {count(found.n_fits)}")
    if found.n_failed:
        told.append(f"{count(found.n_failed)} failed")
    return ", ".join([*told, remark] if remark else told)


def answers_at(fits: PlacedFits, at: int) -> HistogramFigure:
    """Make the histogram of what all fits say in a cell."""
    values = fits.answers[:, at]
    mean, deviation = map(float, mean_and_deviation(values))
    truth = float(fits.truth[at]) if len(fits.truth) else float("nan")
    marks = [value for value in (mean, truth) if np.isfinite(value)]
    low, high = float(min([values.min(), *marks])), float(max([values.max(), *marks]))
    if fits.is_classes:
        low, high = 0.0, 1.0
    n_bins = int(np.clip(round(np.sqrt(len(values)) * 1.5), MIN_BINS, MAX_BINS))
    edges = bin_edges(low, high, n_bins)
    low, high = map(float, edges[[0, -1]])
    counts, _ = np.histogram(np.clip(values, low, high), edges)  # probabilities may be a bit above 1
    margin = 0.02 if fits.is_classes else MARGIN * (high - low)
    bias = "" if np.isnan(truth) else f", bias {number(mean - truth)}"
    return HistogramFigure(
        f"At {fits.place(at)}",
        f"{counted(len(values), 'fit')}, standard deviation {number(deviation)}{bias}",
        fits.quantity, edges, counts.astype(np.int64), (low - margin, high + margin), mean, truth,
        value_name="mean", samples_name="fits",
    )  # fmt: skip


def darts_at(fits: PlacedFits, at: int, second: int) -> DartsFigure:
    """Make the picture of what all fits say in two cells."""
    throws = fits.answers[:, [at, second]]
    mean, deviations = mean_and_deviation(throws)
    truth = fits.truth[[at, second]] if len(fits.truth) else None
    told = f"{counted(len(throws), 'fit')}, standard deviations " + " and ".join(
        number(float(of)) for of in deviations
    )
    if truth is not None:
        told += f", bias {number(float(mean[0] - truth[0]))} and {number(float(mean[1] - truth[1]))}"
    x_name, y_name = (f"{fits.quantity} at {fits.values(cell)}" for cell in (at, second))
    spread = float(np.sqrt((deviations**2).mean()))
    return DartsFigure("Two places against each other", told, x_name, y_name, throws, mean, truth, spread)
