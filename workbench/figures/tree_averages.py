"""`AveragesFigure`: the variance of a mean of trees against their number, beside the line of theory."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.figures.fits_at_places import fits_told
from workbench.figures.words import count, number

if TYPE_CHECKING:
    from workbench.tree_averages import AveragesFound

Floats = NDArray[np.float64]
N_LINE = 200  # places at which the line is drawn
FORMULA = "(1 − r) s² / m + r s²"


@dataclass(frozen=True, eq=False)
class AveragesFigure:
    """Measured variances, and the line that one tree's variance and two trees' correlation give.

    Attributes
    ----------
    title, subtitle, remark : str
        The remark has s² and r.
    score_name : str
    n_trees : int64 (n_points,)
    measured : float64 (n_points,)
    at_points : float64 (n_points,)
        The line at the same numbers of trees.
    line_x, line_y : float64 (n_line,)
        The line between the smallest and the largest number; none where r is not known.
    limit : float
        What no number of trees goes below.
    """

    title: str
    subtitle: str
    remark: str
    score_name: str
    n_trees: NDArray[np.int64]
    measured: Floats
    at_points: Floats
    line_x: Floats
    line_y: Floats
    limit: float

    def point_at(self, n_trees: float) -> int:
        """Return the point nearest to a number of trees, by their ratio."""
        return int(np.argmin(np.abs(np.log(self.n_trees) - np.log(max(n_trees, 0.5)))))

    def story(self, at: int) -> str:
        """What is told of a point."""
        told = f"{count(int(self.n_trees[at]))} trees\nmeasured {number(float(self.measured[at]))}"
        line = float(self.at_points[at])
        return told if np.isnan(line) else f"{told}\nby the line {number(line)}"

    def to_csv(self) -> str:
        """Return every number of trees as a line: measured variance, and that of the line."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["trees", "measured variance", "by the line", "limit"])
        for n, *values in zip(self.n_trees.tolist(), self.measured, self.at_points, strict=True):
            told = ["" if np.isnan(value) else repr(float(value)) for value in (*values, self.limit)]
            writer.writerow([n, *told])
        return text.getvalue()


def make_averages(found: AveragesFound, *, is_running: bool = False, remark: str = "") -> AveragesFigure:
    """Make the figure of what was found; `remark` says what is other now."""
    counts = np.array(found.settings.n_trees, np.int64)
    is_known = bool(np.isfinite(found.correlation))
    line_x = np.geomspace(counts[0], counts[-1], N_LINE) if is_known else np.empty(0)
    what = f"s² = {number(found.variance)} of one tree"
    if is_known:
        what += f", r = {number(found.correlation)} of two, never below r s² = {number(found.limit)}"
    score = "variance, summed over the classes' probabilities" if found.is_classes else "variance"
    return AveragesFigure(
        f"Variance of {found.name} by its number of trees", fits_told(found, is_running, remark), what,
        score, counts, found.measured, found.line(counts), line_x, found.line(line_x), found.limit,
    )  # fmt: skip
