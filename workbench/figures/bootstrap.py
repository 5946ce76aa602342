"""`BootstrapFigure`: histograms of resamples and of fresh samples where there are any, with intervals."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.bootstrap.intervals import KINDS, Interval
from workbench.figures.words import count, counted, number

if TYPE_CHECKING:
    from workbench.bootstrap_work import BootstrapFound

Floats = NDArray[np.float64]
MIN_BINS, MAX_BINS = 10, 40
DIGITS = 4
MARGIN = 0.06  # of half the axis, on both sides
TITLES = {"percentile": "Percentile", "basic": "Basic", "BCa": "BCa"}


class NamedInterval(NamedTuple):
    """An interval and what it is called."""

    name: str
    interval: Interval

    @property
    def text(self) -> str:
        """Such as "0.52 to 0.71", or why there is none."""
        low, high, why = self.interval
        return f"none: {why}" if why else f"{number(low, DIGITS)} to {number(high, DIGITS)}"


@dataclass(frozen=True, eq=False)
class HistogramFigure:
    """Values of many samples.

    Attributes
    ----------
    title, subtitle, x_name : str
    edges : float64 (n_bins + 1,)
    counts : int64 (n_bins,)
    span : (float, float)
        Ends of the axis; the same for histograms that stand side by side.
    value, truth : float
        Of the rows themselves, and in the distribution they are from; NaN where there is none.
    intervals : tuple of NamedInterval
        Those that there are.
    value_name, samples_name : str
        What the value is, and what is counted.
    """

    title: str
    subtitle: str
    x_name: str
    edges: Floats
    counts: NDArray[np.int64]
    span: tuple[float, float]
    value: float
    truth: float
    intervals: tuple[NamedInterval, ...] = ()
    value_name: str = "value"
    samples_name: str = "samples"

    def bin_at(self, x: float) -> int | None:
        """Return the bin at a place; None outside."""
        at = int(np.searchsorted(self.edges, x, side="right")) - 1
        return at if 0 <= at < len(self.counts) else None

    def story(self, at: int) -> str:
        """What is told of a bin."""
        low, high = (number(float(edge), DIGITS) for edge in self.edges[at : at + 2])
        return f"{low} to {high}\n{counted(int(self.counts[at]), 'sample')}"


@dataclass(frozen=True, eq=False)
class BootstrapFigure:
    """A statistic's resamples.

    Attributes
    ----------
    resamples : HistogramFigure
    fresh : HistogramFigure or None
        Of samples from the known distribution, on the same axis.
    lines : tuple of (str, str)
        Names and texts of what was found: value, standard error, bias, intervals.
    """

    resamples: HistogramFigure
    fresh: HistogramFigure | None
    lines: tuple[tuple[str, str], ...]
    found: BootstrapFound
    level: float

    def to_csv(self) -> str:
        """Return what was found, then the value of every resample and fresh sample."""
        found, made = self.found, self.found.bootstrap
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["statistic", found.name])
        writer.writerow(["rows", found.rows_text])
        writer.writerow(["resamples", len(made.replicates)])
        writer.writerow(["without a value", made.n_undefined])
        writer.writerow(["seed", made.seed])
        named = {"value": made.value, "standard error": made.standard_error, "bias": made.bias}
        for name, value in (named | {"truth": found.truth}).items():
            writer.writerow([name, _cell(value)])
        for kind in KINDS:
            low, high, why = made.interval(kind, self.level)
            writer.writerow([f"{kind} interval, {100 * self.level:g} %", _cell(low), _cell(high), why])
        writer.writerow([])
        writer.writerow(["resample", "fresh sample"])
        n = max(len(made.replicates), len(found.repeated))
        columns = [
            [_cell(x) for x in values] + [""] * (n - len(values))
            for values in (made.replicates, found.repeated)
        ]
        writer.writerows(zip(*columns, strict=True))
        return text.getvalue()


def _cell(value: float) -> str:
    return repr(float(value)) if np.isfinite(value) else ""


def make_bootstrap(
    found: BootstrapFound, level: float, *, is_running: bool = False, remark: str = ""
) -> BootstrapFigure:
    """Make the figure of what was found by now.

    Parameters
    ----------
    level : float
        Of the intervals.
    remark : str
        What is other now than when it was found.
    """
    made = found.bootstrap
    fresh = found.repeated[np.isfinite(found.repeated)]
    edges = _edges(np.concatenate([made.defined, fresh]))
    intervals = tuple(NamedInterval(TITLES[kind], made.interval(kind, level)) for kind in KINDS)
    ends = [end for named in intervals for end in named.interval[:2]]
    span = _span([*edges[[0, -1]], made.value, found.truth, *ends])
    resamples = HistogramFigure(
        f"Bootstrap of {found.spoken}", _subtitle(found, is_running, remark), found.name, edges,
        np.histogram(made.defined, edges)[0], span, made.value, found.truth,
        tuple(each for each in intervals if not each.interval.why),
    )  # fmt: skip
    of_fresh = None
    if len(found.repeated):
        samples = counted(len(found.repeated), "fresh sample")
        told = f"{samples} of {counted(made.n_rows, 'row')}, seed {made.seed}"
        of_fresh = HistogramFigure(
            "Repeated sampling", told, found.name, edges, np.histogram(fresh, edges)[0], span, np.nan,
            found.truth,
        )  # fmt: skip
    lines = _lines(found, intervals, level, is_running)
    return BootstrapFigure(resamples, of_fresh, lines, found, level)


def _edges(values: Floats) -> Floats:
    """Return the edges of bins that hold all values: more of them the more values there are."""
    if not len(values):
        return np.linspace(0.0, 1.0, MIN_BINS + 1)
    low, high = float(values.min()), float(values.max())
    half = abs(low) / 2 or 0.5
    if high - low <= 1e-12 * abs(low):  # a constant, but for rounding
        low, high = low - half, high + half
    shares = np.linspace(0.0, 1.0, int(np.clip(np.sqrt(len(values)), MIN_BINS, MAX_BINS)) + 1)
    return np.asarray(low * (1 - shares) + high * shares)  # a difference of both may be infinite


def _span(places: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis that shows everything, with a margin."""
    known = np.array(places)[np.isfinite(places)]
    low, high = float(known.min()), float(known.max())
    side = MARGIN * (high / 2 - low / 2) or 0.5
    return low - side, high + side


def _subtitle(found: BootstrapFound, is_running: bool, remark: str) -> str:
    made = found.bootstrap
    n = len(made.replicates)
    told = [found.rows_text]
    if is_running or n < made.n_wanted:
        told.append(f"{count(n)} of {counted(made.n_wanted, 'resample')}")
    else:
        told.append(counted(n, "resample"))
    if made.n_undefined:
        told.append(f"{count(made.n_undefined)} without a value")
    told.append(f"seed {made.seed}")
    if made.stopped and not is_running:
        told.append("stopped")
    if remark:
        told.append(remark)
    return ", ".join(told)


def _lines(
    found: BootstrapFound, intervals: tuple[NamedInterval, ...], level: float, is_running: bool
) -> tuple[tuple[str, str], ...]:
    made = found.bootstrap
    told = [(each, "to come" if each.interval.why and is_running else each.text) for each in intervals]
    lines = [
        ("Value", _number(made.value)),
        ("Standard error", _number(made.standard_error)),
        ("Bias", _number(made.bias)),
        *((f"{each.name}, {100 * level:g} %", text) for each, text in told),
    ]
    fresh = found.repeated[np.isfinite(found.repeated)]
    if len(fresh) > 1:
        lines.append(("Fresh standard error", _number(float(fresh.std(ddof=1)))))
        lines.append(("Fresh mean", _number(float(fresh.mean()))))
    if np.isfinite(found.truth):
        lines.append(("Truth", _number(found.truth)))
    return tuple(lines)


def _number(value: float) -> str:
    return number(value, DIGITS) if np.isfinite(value) else "not defined"
