"""`BootstrapFigure`: histograms of resamples and of fresh samples where there are any, with intervals."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.bootstrap.intervals import KINDS, Interval
from workbench.figures.spans import bin_edges
from workbench.figures.words import MINUS, count, counted, number

if TYPE_CHECKING:
    from workbench.bootstrap_work import BootstrapFound

Floats = NDArray[np.float64]
MIN_BINS, MAX_BINS = 10, 40
DIGITS, MOST_DIGITS = 4, 15
MARGIN = 0.06  # of half the axis, on both sides
DRAWABLE = 1e300  # beyond it a difference of two places may be infinite
TITLES = {"percentile": "Percentile", "basic": "Basic", "BCa": "BCa"}


class NamedInterval(NamedTuple):
    """An interval and what it is called."""

    name: str
    interval: Interval

    @property
    def text(self) -> str:
        """Such as "0.52 to 0.71", or why there is none."""
        return self.text_with(DIGITS)

    def in_units(self, unit: float) -> NamedInterval:
        """Return it with its ends counted in a unit."""
        low, high, why = self.interval
        return self._replace(interval=Interval(low / unit, high / unit, why))

    def text_with(self, digits: int) -> str:
        """Return the text with so many digits."""
        low, high, why = self.interval
        return f"none: {why}" if why else " to ".join(_alike((low, high), digits))


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
    beside : (int, int)
        Samples of the highest bar, and number of intervals, of a histogram that this one stands beside.
    unit : float
        What all places above are counted in; above 1 for numbers near the largest that there are.
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
    beside: tuple[int, int] = (0, 0)
    unit: float = 1.0

    @property
    def highest(self) -> int:
        """Samples of the highest bar, of a histogram beside this one too."""
        return max(int(self.counts.max(initial=1)), self.beside[0])

    @property
    def n_above(self) -> int:
        """Lines of intervals above the bars, of a histogram beside this one too."""
        return max(len(self.intervals), self.beside[1])

    def bin_at(self, x: float) -> int | None:
        """Return the bin at a place; None outside."""
        at = int(np.searchsorted(self.edges, x, side="right")) - 1
        return at if 0 <= at < len(self.counts) else None

    def story(self, at: int) -> str:
        """What is told of a bin."""
        low, high = map(float, self.edges[at : at + 2])
        digits = _digits(max(abs(low), abs(high)), high - low)
        of_axis = "" if self.unit == 1 else f", in {self.unit:g}"
        samples = counted(int(self.counts[at]), "sample")
        return f"{number(low, digits)} to {number(high, digits)}{of_axis}\n{samples}"


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
    intervals = tuple(NamedInterval(TITLES[kind], made.interval(kind, level)) for kind in KINDS)
    ends = [end for named in intervals for end in named.interval[:2]]
    values = np.concatenate([made.defined, fresh])
    unit = _unit(np.concatenate([values, ends, [made.value]]))
    edges = _edges(values / unit)
    span = _span([*edges[[0, -1]], made.value / unit, found.truth / unit, *(end / unit for end in ends)])
    known = tuple(each.in_units(unit) for each in intervals if not each.interval.why)
    counts, of_fresh = (np.histogram(samples / unit, edges)[0] for samples in (made.defined, fresh))
    x_name = found.name if unit == 1 else f"{found.name}, in {unit:g}"
    resamples = HistogramFigure(
        f"Bootstrap of {found.spoken}", _subtitle(found, is_running, remark), x_name, edges, counts,
        span, made.value / unit, found.truth / unit, known, beside=(int(of_fresh.max()), 0), unit=unit,
    )  # fmt: skip
    beside = None
    if len(found.repeated):
        samples = counted(len(found.repeated), "fresh sample")
        told = f"{samples} of {counted(made.n_rows, 'row')}, seed {made.seed}"
        beside = HistogramFigure(
            "Repeated sampling", told, x_name, edges, of_fresh, span, np.nan, found.truth / unit,
            beside=(int(counts.max()), len(known)), unit=unit,
        )  # fmt: skip
    lines = _lines(found, intervals, level, is_running)
    return BootstrapFigure(resamples, beside, lines, found, level)


def _unit(places: Floats) -> float:
    """Return in what the numbers on the axis are counted, so that their differences are numbers too."""
    known = places[np.isfinite(places)]
    return DRAWABLE if np.abs(known).max(initial=0.0) > DRAWABLE else 1.0


def _edges(values: Floats) -> Floats:
    """Return the edges of bins that hold all values: more of them the more values there are."""
    if not len(values):
        return np.linspace(0.0, 1.0, MIN_BINS + 1)
    n_bins = int(np.clip(np.sqrt(len(values)), MIN_BINS, MAX_BINS))
    return bin_edges(float(values.min()), float(values.max()), n_bins)


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


def _digits(value: float, step: float) -> int:
    """Return with how many digits values are written that differ by steps: 2,008.03, not 2,008 each."""
    if step == 0 and float(value).is_integer() and abs(value) < 10**MOST_DIGITS:
        return MOST_DIGITS
    if not (np.isfinite(value) and np.isfinite(step) and value and step > 0):
        return DIGITS
    places = floor(log10(abs(value))) - floor(log10(step))
    return int(np.clip(places + 2, DIGITS, MOST_DIGITS))


def _lines(
    found: BootstrapFound, intervals: tuple[NamedInterval, ...], level: float, is_running: bool
) -> tuple[tuple[str, str], ...]:
    made = found.bootstrap
    digits = _digits(made.value, made.standard_error)
    told = [
        (each, "to come" if each.interval.why and is_running else each.text_with(digits))
        for each in intervals
    ]
    lines = [
        ("Value", _number(made.value, digits)),
        ("Standard error", _number(made.standard_error)),
        ("Bias", _number(made.bias)),
        *((f"{each.name}, {100 * level:g} %", text) for each, text in told),
    ]
    fresh = found.repeated[np.isfinite(found.repeated)]
    if len(fresh) > 1:
        lines.append(("Fresh standard error", _number(float(fresh.std(ddof=1)))))
        lines.append(("Fresh mean", _number(float(fresh.mean()), digits)))
    if np.isfinite(found.truth):
        lines.append(("Truth", _number(found.truth, digits)))
    return tuple(lines)


def _alike(values: Sequence[float], digits: int) -> list[str]:
    """Write values that belong together with as many decimals each: 119.52 and 121.50, not 121.5."""
    texts = [number(value, digits) for value in values]
    if any("e" in text or "∞" in text for text in texts):
        return texts
    decimals = max(len(text.partition(".")[2]) for text in texts)
    return [f"{value:,.{decimals}f}".replace("-", MINUS) if value else "0" for value in values]


def _number(value: float, digits: int = DIGITS) -> str:
    return number(value, digits) if np.isfinite(value) else "not defined"
