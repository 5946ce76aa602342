"""`BiasVarianceFigure`: noise, bias and variance of the error over the values of a setting, or by model."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.figures.tuning import ValueAxis
from workbench.figures.words import count, counted, number

if TYPE_CHECKING:
    from workbench.bias_variance import BiasVarianceFound
    from workbench.setting_reach import Reach

Floats = NDArray[np.float64]
ERROR, BIAS, VARIANCE, NOISE = "error", "bias", "variance", "noise"


class Series(NamedTuple):
    """One part of the error, of every value.

    Attributes
    ----------
    key : "error", "bias", "variance" or "noise"
    name : str
    values : float64 (n_values,)
        NaN where there is none yet.
    """

    key: str
    name: str
    values: Floats


@dataclass(frozen=True, eq=False)
class BiasVarianceFigure:
    """Lines over the values of a setting that has an order, bars beside each other for others.

    Attributes
    ----------
    title, subtitle : str
    score_name : str
        What the parts are parts of.
    x : ValueAxis
    series : tuple of Series
        The error first, then its parts.
    more : mapping of str to float64 (n_values,)
        What is told and exported besides, by name.
    n_fits : int64 (n_values,)
    errors : mapping of int to str
    best : int or None
        The value with the smallest error.
    now : int or None
        The value of the model as it is set.
    is_share : bool
        Parts are shares of rows.
    is_running : bool
    reach : Reach or None
        How far the curve's ends can be moved; None where it has none.
    """

    title: str
    subtitle: str
    score_name: str
    x: ValueAxis
    series: tuple[Series, ...]
    more: Mapping[str, Floats]
    n_fits: NDArray[np.int64]
    errors: Mapping[int, str]
    best: int | None
    now: int | None
    is_share: bool
    is_running: bool
    reach: Reach | None = None

    @property
    def n_settings(self) -> int:
        return len(self.n_fits)

    @property
    def at_x(self) -> NDArray[np.int64]:
        """Place of every value."""
        return self.x.place

    def setting_at(self, x: float, _y: float = 0.0) -> int:
        """Return the value nearest to a place."""
        return int(np.argmin(np.abs(self.x.place - x)))

    def is_beyond(self, x: float) -> bool:
        """Tell whether a place is that of a value beyond the ends, which was not tried."""
        return self.reach is not None and not -0.5 <= x <= self.n_settings - 0.5

    def story_beyond(self, x: float) -> str:
        """What is told of a value that was not tried."""
        assert self.reach is not None
        place = min(max(round(x), self.reach.lowest), self.reach.highest)
        return f"{self.x.name} {self.reach.word(place)}\nnot tried: drag the curve's end here"

    def ends_text(self, first: int, last: int) -> str:
        """Say what the curve goes from and to: "Depth from 1 to 15"."""
        assert self.reach is not None
        low, high = self.reach.word(first), self.reach.word(last)
        return f"{self.x.name} {low}" if first == last else f"{self.x.name} from {low} to {high}"

    def step(self, setting: int, right: int, _up: int) -> int:
        """Return the value so many places beside another, at most the last one that way."""
        return self.setting_at(min(max(int(self.x.place[setting]) + right, 0), self.n_settings - 1))

    def part_text(self, value: float) -> str:
        """Write a part: a share in percent, or a number."""
        return f"{100 * value:.1f} %" if self.is_share else number(value)

    def setting_text(self, setting: int) -> str:
        """Such as "Depth 4", or a model's name."""
        word = self.x.words[self.x.place[setting]]
        return f"{self.x.name} {word}" if self.x.name != "model" else word

    def story(self, setting: int) -> str:
        """What is told of a value: its error and the parts, or why there are none."""
        told = [self.setting_text(setting)]
        if self.n_fits[setting]:
            told += [f"{each.name} {self.part_text(each.values[setting])}" for each in self.series]
            told += [f"{name} {self.part_text(values[setting])}" for name, values in self.more.items()]
            told.append(f"over {counted(int(self.n_fits[setting]), 'fit')}")
        elif setting not in self.errors:
            told.append("not done yet" if self.is_running else "not done: it was stopped before")
        if setting in self.errors:
            told.append(f"failed: {self.errors[setting]}")
        if setting == self.best:
            told.append("smallest error")
        if setting == self.now:
            told.append("as the model is set now" if self.x.name != "model" else "the current model")
        return "\n".join(told)

    def to_csv(self) -> str:
        """Return every value as a line: the error, its parts, the fits, and why some failed."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = {each.name: each.values for each in self.series} | dict(self.more)
        writer.writerow([self.x.name, *columns, "fits", "failed"])
        for setting in np.argsort(self.x.place).tolist():
            parts = [values[setting] for values in columns.values()]
            written = ["" if np.isnan(part) else repr(float(part)) for part in parts]
            word = self.x.words[self.x.place[setting]]
            writer.writerow([word, *written, int(self.n_fits[setting]), self.errors.get(setting, "")])
        return text.getvalue()


def make_bias_variance(
    found: BiasVarianceFound, *, now: int | None = None, is_running: bool = False, remark: str = "",
    reach: Reach | None = None,
) -> BiasVarianceFigure:  # fmt: skip
    """Make the figure of what was found.

    Parameters
    ----------
    now : int, optional
        The value that the current model has.
    is_running : bool
        More fits are to come.
    remark : str
        What is other now than when it was found.
    reach : Reach, optional
        How far the curve's ends can be moved.
    """
    is_classes = found.task == "classes"
    more = {}
    if is_classes:
        more = {
            "variance that adds": found.means["unbiased"],
            "variance that takes away": found.means["biased"],
        }
    return BiasVarianceFigure(
        title=found.name, subtitle=_subtitle(found, is_running, remark),
        score_name="share of wrong rows" if is_classes else "mean squared error",
        x=found.axis, series=_series(found), more=more, n_fits=found.n_fits, errors=dict(found.errors),
        best=found.best, now=now, is_share=is_classes, is_running=is_running,
        reach=reach,
    )  # fmt: skip


def _series(found: BiasVarianceFound) -> tuple[Series, ...]:
    """Return the error and its parts; of classes variance is what it adds in all, which may be below 0."""
    means = found.means
    is_classes = found.task == "classes"
    variance = means["unbiased"] - means["biased"] if is_classes else means["variance"]
    bias = "bias" if is_classes else "bias²"
    error = "wrong rows" if is_classes else "squared error"
    parts = [Series(ERROR, error, means["error"])]
    if not found.is_truth_known:
        return (
            *parts,
            Series(BIAS, f"{bias} and noise", means["bias"]),
            Series(VARIANCE, "variance", variance),
        )
    noise = means["error"] - means["bias"] - variance if is_classes else means["noise"]
    return (
        *parts, Series(BIAS, bias, means["bias"]), Series(VARIANCE, "variance", variance),
        Series(NOISE, "noise", noise),
    )  # fmt: skip


def _subtitle(found: BiasVarianceFound, is_running: bool, remark: str) -> str:
    told, n_done = [found.rows_text], found.n_done
    n_sets = found.settings.n_sets
    if is_running:
        told.append(f"{count(n_done)} done")
    elif n_done < n_sets:
        told.append(f"stopped after {count(n_done)}" if found.stopped else f"{count(n_done)} without failure")
    if found.is_truth_known:
        told.append("bias against the truth, which is known")
    else:
        told.append("the truth is not known: bias holds the noise too")
    if found.is_staged:
        told.append("steps of one fit a training set")
    if remark:
        told.append(remark)
    return ", ".join(told)
