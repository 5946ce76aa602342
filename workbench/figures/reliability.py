"""Reliability diagrams and interval coverage: whether a model knows how sure it is, on rows of one part."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.monitor import NULL_MONITOR, FitMonitor
from engine.reliability import Coverage, interval_coverage, reliability, tells_intervals
from workbench.figures.scores import PART_TEXTS
from workbench.figures.words import count, counted, fixed, number, percent
from workbench.scoring import Estimate, wilson_interval

if TYPE_CHECKING:
    from workbench.datasets import Table
    from workbench.runs import RunResult

Floats = NDArray[np.float64]
NAMED = -1  # in place of a class: whichever one the model names
WEIGHTED = ", by weight"


@dataclass(frozen=True, eq=False)
class ShareFigure:
    """Shares that were promised against shares that were found; on the diagonal both are the same.

    Attributes
    ----------
    title, subtitle : str
    x_name, y_name : str
    promised, found : float64 (n_points,)
    low, high : float64 (n_points,)
        95 % intervals of what was found, Wilson's.
    """

    title: str
    subtitle: str
    x_name: str
    y_name: str
    promised: Floats
    found: Floats
    low: Floats
    high: Floats

    @property
    def n_points(self) -> int:
        return len(self.promised)

    def point_at(self, x: float) -> int:
        """Return the point nearest to a promised share."""
        return int(np.argmin(abs(self.promised - x)))

    def story(self, k: int) -> str:
        """What is told of a point."""
        raise NotImplementedError

    def told(self) -> str:
        """What stands below the picture."""
        raise NotImplementedError

    def table(self) -> list[list[Any]]:
        """Return heads and a line for every point."""
        raise NotImplementedError

    def to_csv(self) -> str:
        """Return every point as a line."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.table())
        return text.getvalue()

    def _interval_text(self, k: int) -> str:
        return f"95 %: {fixed(self.low[k], 2)} to {fixed(self.high[k], 2)}"


@dataclass(frozen=True, eq=False)
class ReliabilityFigure(ShareFigure):
    """How often a class came true against how probable it was said to be, in bins of probability.

    Attributes
    ----------
    lower_edges, upper_edges : float64 (n_points,)
        Of the bins that have rows.
    n_rows : int64 (n_points,)
    calibration_error : float
    is_weighted : bool
    """

    lower_edges: Floats
    upper_edges: Floats
    n_rows: NDArray[np.int64]
    calibration_error: float
    is_weighted: bool

    def story(self, k: int) -> str:
        n, share = int(self.n_rows[k]), float(self.found[k])
        came = f"{percent(share, 1.0)}{WEIGHTED}, of {counted(n, 'row')}"
        if not self.is_weighted:
            came = f"{percent(share, 1.0)}, {count(round(share * n))} of {count(n)}"
        return (
            f"probability {fixed(self.lower_edges[k], 1)} to {fixed(self.upper_edges[k], 1)}, "
            f"mean {fixed(self.promised[k])}\ncame true: {came}\n{self._interval_text(k)}"
        )

    def told(self) -> str:
        by = "the weight of its rows" if self.is_weighted else "its rows"
        return (
            f"Expected calibration error {fixed(self.calibration_error)}: the mean distance of the points "
            f"from the diagonal, each counted by {by} (Naeini and others 2015); 0 is perfect. With few rows "
            "in a bin a point moves by chance alone, as its bar of 95 % shows."
        )

    def table(self) -> list[list[Any]]:
        heads = ["probability above", "up to", "rows", "mean probability", "share", "share from", "share to"]
        columns = (
            self.lower_edges,
            self.upper_edges,
            self.n_rows,
            self.promised,
            self.found,
            self.low,
            self.high,
        )
        return [heads, *([value.item() for value in line] for line in zip(*columns, strict=True))]


@dataclass(frozen=True, eq=False)
class CoverageFigure(ShareFigure):
    """How many rows lie in intervals against how many are meant to.

    Attributes
    ----------
    mean_width : float64 (n_points,)
    n_rows : int
    unit : str
        Of the target; empty where it is not known.
    source : str
        What the intervals are.
    is_stopped : bool
        Not all rows were counted.
    """

    mean_width: Floats
    n_rows: int
    unit: str
    source: str
    is_stopped: bool = False

    def width_text(self, k: int) -> str:
        return f"{number(self.mean_width[k])} {self.unit}".rstrip()

    def story(self, k: int) -> str:
        return (
            f"intervals of {_level(self.promised[k])} hold {_share(self.found[k])} "
            f"of {counted(self.n_rows, 'row')}\n"
            f"{self._interval_text(k)}\nmean width {self.width_text(k)}"
        )

    def told(self) -> str:
        at = int(np.argmin(abs(self.promised - 0.9)))
        return (
            f"Intervals of {_level(self.promised[at])} hold {_share(self.found[at])} of the rows and are "
            f"{self.width_text(at)} wide in the mean. {self.source} Below the diagonal a model is surer than "
            "it should be."
        )

    def table(self) -> list[list[Any]]:
        heads = ["nominal", "covered", "covered from", "covered to", "mean width", "rows"]
        columns = (self.promised, self.found, self.low, self.high, self.mean_width)
        lines = ([float(value) for value in line] for line in zip(*columns, strict=True))
        return [heads, *([*line, self.n_rows] for line in lines)]


def _level(share: float) -> str:
    return f"{round(100 * share)} %"


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"


def class_choices(result: RunResult) -> tuple[int, ...]:
    """Return the classes that a diagram can be of, and NAMED; empty without probabilities.

    The one to begin with is first: the event class of two, of more the one that is named.
    """
    if not result.classes or not any(scores.proba is not None for scores in result.scores.values()):
        return ()
    if len(result.classes) == 2 and result.event_class in result.classes:
        event = result.classes.index(result.event_class)
        return event, 1 - event, NAMED
    return NAMED, *range(len(result.classes))


def choice_text(result: RunResult, class_idx: int) -> str:
    """Return what one of the `class_choices` is called."""
    return "the class it names" if class_idx == NAMED else result.classes[class_idx]


def make_reliability(name: str, result: RunResult, part: str, class_idx: int) -> ReliabilityFigure:
    """Make the diagram of one of the `class_choices` on one part's rows."""
    scores, of = result.scores[part], choice_text(result, class_idx)
    assert scores.proba is not None
    if class_idx == NAMED:
        p, happened = scores.proba.max(axis=1), scores.prediction == scores.y_true
    else:
        p, happened = scores.proba[:, class_idx], scores.y_true == class_idx
    found = reliability(np.clip(p, 0.0, 1.0), happened, scores.weights)
    has_rows = found.n_rows > 0
    intervals = _intervals(found.observed[has_rows], found.n_effective[has_rows])
    bins = f"{len(found.n_rows)} bins of probability"
    return ReliabilityFigure(
        title=f"{name}: reliability of its probabilities",
        subtitle=f"{of}, {count(int(found.n_rows.sum()))} {PART_TEXTS[part]} in {bins}",
        x_name=f"probability of {of}",
        y_name="share that came true",
        promised=found.predicted[has_rows],
        found=found.observed[has_rows],
        low=np.array([interval.low for interval in intervals]),
        high=np.array([interval.high for interval in intervals]),
        lower_edges=found.edges[:-1][has_rows],
        upper_edges=found.edges[1:][has_rows],
        n_rows=found.n_rows[has_rows],
        calibration_error=found.calibration_error,
        is_weighted=scores.weights is not None,
    )


def _intervals(shares: Floats, n_effective: Sequence[float] | Floats) -> list[Estimate]:
    """Return Wilson's interval of every share; those of all or none are so to the last bit."""
    found = []
    for share, n in zip(shares, n_effective, strict=True):
        hits = 0.0 if share <= 0 else n if share >= 1 else share * n
        found.append(wilson_interval(float(hits), float(n)))
    return found


def can_cover(result: RunResult | None) -> bool:
    """Tell whether a model tells intervals of numbers, or what to make them of."""
    return result is not None and not result.classes and tells_intervals(result.estimator)


def look_at_coverage(
    name: str, result: RunResult, table: Table, part: str, unit: str = "", monitor: FitMonitor = NULL_MONITOR
) -> CoverageFigure | None:
    """Count how many of one part's rows lie in the model's intervals; in a worker.

    None where the model does not know its standard deviation.
    """
    from workbench.fitting import inputs_of_result

    inputs = inputs_of_result(result, table)
    rows = inputs.learnable().take(inputs.rows_of(part))
    found = interval_coverage(
        result.estimator, rows.X, np.asarray(rows.y, np.float64), rows.weights, monitor=monitor
    )
    return None if found is None else make_coverage(name, result, part, found, unit)


def make_coverage(name: str, result: RunResult, part: str, found: Coverage, unit: str = "") -> CoverageFigure:
    """Make the picture of what was counted."""
    intervals = _intervals(found.covered, np.full(len(found.covered), found.n_effective))
    rows = f"{count(found.n_rows)} {PART_TEXTS[part]}"
    rows = f"the first {rows}: it was stopped" if found.stopped else rows
    has_own = hasattr(result.estimator, "predict_interval")
    return CoverageFigure(
        title=f"{name}: coverage of its intervals",
        subtitle=rows if result.weight is None else f"{rows}{WEIGHTED}",
        x_name="share of rows that intervals are meant to hold",
        y_name="share they hold",
        promised=found.nominal,
        found=found.covered,
        low=np.array([interval.low for interval in intervals]),
        high=np.array([interval.high for interval in intervals]),
        mean_width=found.mean_width,
        n_rows=found.n_rows,
        unit=unit,
        source="They are quantiles of the networks' mixture."
        if has_own
        else "They are those of a normal distribution with the standard deviation that the model tells.",
        is_stopped=found.stopped,
    )
