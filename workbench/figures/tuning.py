"""`TuningFigure`: how good settings are over the values of one or two parameters, and which to take."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.parameters import Parameter
from engine.tuning.search import are_same
from workbench.figures.words import count, counted, number
from workbench.tuning_grids import value_words

if TYPE_CHECKING:
    from workbench.tuning import Tuning

Floats = NDArray[np.float64]
FAR = 50  # the others would be flat beside it
BEST, ONE_SE = "best", "one standard error"


class ValueAxis(NamedTuple):
    """The values of a parameter at equal distances, numbers by size, "no limit" last.

    Attributes
    ----------
    name : str
    words : tuple of str
        Of the values, in the order of their places.
    place : int64 (n_values,)
        Place of each value in the order in which it was given.
    is_ordered : bool
        Numbers, which a line may join.
    """

    name: str
    words: tuple[str, ...]
    place: NDArray[np.int64]
    is_ordered: bool


@dataclass(frozen=True, eq=False)
class TuningFigure:
    """A curve over one parameter, or a map over two. Settings are numbered as in `Search`.

    Attributes
    ----------
    title, subtitle : str
    score_name : str
        What is drawn of a setting.
    x : ValueAxis
    y : ValueAxis or None
        None for a curve.
    at_x, at_y : int64 (n_settings,)
        Places of every setting; `at_y` is 0 for a curve.
    mean, spread : float64 (n_settings,)
        Mean over the folds and its standard error; NaN where there is none yet, or it failed.
    folds : float64 (n_settings, n_folds)
    errors : mapping of int to str
        Why settings failed.
    best, one_se, now : int or None
        The setting of the best mean, the simplest within one standard error of it, and the model's own.
    is_share : bool
        Scores are shares of rows.
    is_running : bool
    far : tuple of int
        Settings so much worse than the others, as where a model diverged, that they would flatten them.
    """

    title: str
    subtitle: str
    score_name: str
    x: ValueAxis
    y: ValueAxis | None
    at_x: NDArray[np.int64]
    at_y: NDArray[np.int64]
    mean: Floats
    spread: Floats
    folds: Floats
    errors: Mapping[int, str]
    best: int | None
    one_se: int | None
    now: int | None
    is_share: bool
    is_running: bool
    far: tuple[int, ...] = ()

    @property
    def near(self) -> NDArray[np.bool_]:
        """Which settings have a score and are not `far`: bool (n_settings,)."""
        has_score = np.isfinite(self.mean)
        has_score[list(self.far)] = False
        return has_score

    @property
    def far_text(self) -> str:
        """Which settings are out of the picture; empty for none."""
        if not self.far:
            return ""
        worst = self.score_text(self.mean[list(self.far)][np.argmax(self.distance[list(self.far)])])
        if len(self.far) == 1:
            return f"{self.setting_text(self.far[0])} is far beyond: {worst}"
        return f"{counted(len(self.far), 'setting')} are far beyond, up to {worst}"

    @property
    def distance(self) -> Floats:
        """How much worse every setting is than the best: float64 (n_settings,)."""
        return np.abs(self.mean - (np.nan if self.best is None else self.mean[self.best]))

    @property
    def n_settings(self) -> int:
        return len(self.mean)

    def setting_at(self, x: float, y: float = 0.0) -> int:
        """Return the setting nearest to a place."""
        return int(np.argmin((self.at_x - x) ** 2 + (self.at_y - y) ** 2))

    def step(self, setting: int, right: int, up: int) -> int:
        """Return the setting so many places beside another, at most the last one that way."""
        last_y = 0 if self.y is None else len(self.y.words) - 1
        x = min(max(int(self.at_x[setting]) + right, 0), len(self.x.words) - 1)
        return self.setting_at(x, min(max(int(self.at_y[setting]) + up, 0), last_y))

    def score_text(self, value: float) -> str:
        """Write a score: a share in percent, or a number."""
        return f"{100 * value:.1f} %" if self.is_share else number(value)

    def setting_text(self, setting: int) -> str:
        """Such as "Depth 4, Rows per leaf 5"."""
        told = [f"{self.x.name} {self.x.words[self.at_x[setting]]}"]
        if self.y is not None:
            told.append(f"{self.y.name} {self.y.words[self.at_y[setting]]}")
        return ", ".join(told)

    def mark_text(self, setting: int) -> str:
        """What a setting is chosen as; empty for most."""
        marks = [name for name, at in ((BEST, self.best), (ONE_SE, self.one_se)) if at == setting]
        return ", ".join(marks)

    def story(self, setting: int) -> str:
        """What is told of a setting: its values, score and folds, or why there is none."""
        told = [self.setting_text(setting)]
        if setting in self.errors:
            told.append(f"failed in {self.errors[setting]}")
        elif np.isnan(self.mean[setting]):
            told.append("not tried yet" if self.is_running else "not tried: it was stopped before")
        else:
            mean, spread = self.score_text(self.mean[setting]), self.score_text(self.spread[setting])
            told.append(f"{self.score_name} {mean} ± {spread}")
            told.append(f"folds: {', '.join(self.score_text(value) for value in self.folds[setting])}")
        if mark := self.mark_text(setting):
            told.append(mark)
        if setting == self.now:
            told.append("as the model is set now")
        return "\n".join(told)

    def to_csv(self) -> str:
        """Return every setting as a line: values, mean, standard error, folds, and why it failed."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        names = [self.x.name, *([] if self.y is None else [self.y.name])]
        folds = [f"fold {k + 1}" for k in range(self.folds.shape[1])]
        writer.writerow([*names, self.score_name, "standard error", *folds, "chosen as", "failed"])
        for setting in range(self.n_settings):
            values = [self.x.words[self.at_x[setting]]]
            if self.y is not None:
                values.append(self.y.words[self.at_y[setting]])
            scores = [self.mean[setting], self.spread[setting], *self.folds[setting]]
            told = ["" if np.isnan(score) else repr(float(score)) for score in scores]
            writer.writerow([*values, *told, self.mark_text(setting), self.errors.get(setting, "")])
        return text.getvalue()


def make_tuning(
    name: str, tuning: Tuning, now: Mapping[str, Any], *, is_running: bool = False, remark: str = ""
) -> TuningFigure:
    """Make the figure of a search.

    Parameters
    ----------
    name : str
        The model's name.
    now : mapping
        The model's settings as they are.
    is_running : bool
        More settings are to come.
    remark : str
        What is other now than when the settings were tried.
    """
    search, scoring = tuning.search, tuning.scoring
    mean = scoring.drawn(search.means)
    axes = [
        value_axis(parameter, values)
        for parameter, values in zip(tuning.parameters, search.values, strict=True)
    ]
    places = np.meshgrid(*(axis.place for axis in axes), indexing="ij")
    at_x = places[0].ravel()
    at_y = places[1].ravel() if len(axes) > 1 else np.zeros_like(at_x)
    return TuningFigure(
        title=name,
        subtitle=_subtitle(tuning, axes[0].is_ordered, is_running, remark),
        score_name=scoring.axis,
        x=axes[0],
        y=axes[1] if len(axes) > 1 else None,
        at_x=at_x,
        at_y=at_y,
        mean=mean,
        spread=search.standard_errors,
        folds=scoring.drawn(search.fold_scores),
        errors=dict(search.errors),
        best=search.best,
        one_se=search.one_standard_error,
        now=_setting_now(tuning, now),
        is_share=scoring.is_share,
        is_running=is_running,
        far=_far_off(mean, search.standard_errors, search.best),
    )


def _far_off(mean: Floats, spread: Floats, best: int | None) -> tuple[int, ...]:
    """Return the settings that are `FAR` times as far from the best as the middle one, or the spread, is."""
    if best is None:
        return ()
    distance = np.abs(mean - mean[best])
    known = np.isfinite(distance)
    reach = max(np.percentile(of[known], 50, method="lower") for of in (distance, spread))
    is_far = known & (distance > FAR * reach) & (reach > 0)
    return tuple(np.flatnonzero(is_far).tolist())


def value_axis(parameter: Parameter, values: Sequence[Any]) -> ValueAxis:
    """Return the axis of a parameter's values."""
    is_ordered = all(
        value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)) for value in values
    )
    sizes = [np.inf if value is None else float(value) for value in values] if is_ordered else []
    order = np.argsort(sizes, kind="stable") if is_ordered else np.arange(len(values))
    place = np.empty(len(values), np.int64)
    place[order] = np.arange(len(values))
    words = tuple(value_words(parameter, values[at]) for at in order)
    return ValueAxis(parameter.label or parameter.name, words, place, is_ordered)


def _subtitle(tuning: Tuning, is_ordered: bool, is_running: bool, remark: str) -> str:
    search, told = tuning.search, [tuning.rows_text]
    if len(search.names) == 1:
        told.append(f"{'band' if is_ordered else 'bars'} of one standard error")
    if is_running:
        told.append(f"{count(search.n_over)} of {counted(search.n_settings, 'setting')} tried")
    elif search.stopped:
        told.append(f"stopped after {count(search.n_over)} of {counted(search.n_settings, 'setting')}")
    if search.errors:
        told.append(f"{count(len(search.errors))} failed")
    if remark:
        told.append(remark)
    return ", ".join(told)


def _setting_now(tuning: Tuning, now: Mapping[str, Any]) -> int | None:
    for setting, values in enumerate(tuning.search.settings):
        if all(are_same(now.get(name), value) for name, value in values.items()):
            return setting
    return None
