"""`Held`: the columns that a picture does not show, each held at one value."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.features import FeatureSpec
from workbench.figures.words import counted, value_text

Floats = NDArray[np.float64]
TYPICAL_DIGITS, CHOSEN_DIGITS = 4, 12


@dataclass(frozen=True, eq=False)
class Held:
    """A column that is held at one value.

    Attributes
    ----------
    name : str
    encoded : float
        What the model is given: a number, a level's code, NaN for missing.
    text : str
    is_typical : bool
        Nobody has chosen it: it is the median or the most frequent level.
    is_date : bool
        `encoded` is days since 1970-01-01.
    """

    name: str
    encoded: float
    text: str
    is_typical: bool = True
    is_date: bool = False


def held_values(
    specs: Sequence[FeatureSpec], encoded: Floats, dates: Collection[str] = ()
) -> tuple[Held, ...]:
    """Return a typical value of every column: the median in four digits, or the most frequent level.

    Of levels that are equally frequent the first. Of the columns named in `dates` the median's day.
    """
    held = []
    for feature, spec in enumerate(specs):
        column = encoded[:, feature]
        known = column[np.isfinite(column) & (column >= 0 if spec.is_categorical else True)]
        levels = level_names(spec)
        is_date = spec.name in dates
        if len(known) == 0:
            held.append(Held(spec.name, np.nan, "missing", is_date=is_date))
        elif levels:
            code = int(np.argmax(np.bincount(known.astype(np.int64))))
            held.append(Held(spec.name, float(code), levels[code]))
        else:
            middle = float(np.median(known))
            middle = float(np.floor(middle)) if is_date else _as_written(middle)
            text = value_text(middle, TYPICAL_DIGITS, is_date)
            held.append(Held(spec.name, middle, text, is_date=is_date))
    return tuple(held)


def _as_written(value: float) -> float:
    """Round to the digits that are written: the picture is of the very value that it states."""
    return float(f"{value:.{TYPICAL_DIGITS - 1}e}")


def hold(held: Sequence[Held], specs: Sequence[FeatureSpec], chosen: Mapping[str, Any]) -> tuple[Held, ...]:
    """Return the held values with those that somebody chose: a number, a level's name, None for missing.

    A level that the column does not have, or a word where a number belongs, leaves the typical value: the
    choice may come from a project whose table has changed since.
    """
    found = []
    for given, spec in zip(held, specs, strict=True):
        found.append(_chosen(given, spec, chosen[given.name]) if given.name in chosen else given)
    return tuple(found)


def as_chosen(held: Sequence[Held], specs: Sequence[FeatureSpec]) -> dict[str, Any]:
    """Return held values as `hold` takes them, for a model that may number levels otherwise."""
    chosen: dict[str, Any] = {}
    for given, spec in zip(held, specs, strict=True):
        levels = level_names(spec)
        if np.isnan(given.encoded):
            chosen[given.name] = None
        else:
            chosen[given.name] = levels[int(given.encoded)] if levels else given.encoded
    return chosen


def _chosen(typical: Held, spec: FeatureSpec, value: Any) -> Held:
    is_date = typical.is_date
    if value is None:
        return Held(typical.name, np.nan, "missing", is_typical=False, is_date=is_date)
    levels = level_names(spec)
    if levels:
        if str(value) not in levels:
            return typical
        return Held(typical.name, float(levels.index(str(value))), str(value), is_typical=False)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
        return typical
    text = value_text(float(value), CHOSEN_DIGITS, is_date)
    return Held(typical.name, float(value), text, is_typical=False, is_date=is_date)


def level_names(spec: FeatureSpec) -> tuple[str, ...]:
    """Return the names of a column's levels in the order of their codes; none for numbers."""
    levels = spec.levels if spec.levels is not None else spec.ordered_levels
    return () if levels is None else tuple(str(level) for level in levels)


def held_sentence(held: Sequence[Held], n_named: int = 6) -> str:
    """What is written under the title: "held: island Biscoe, body_mass_g 4050".

    Where there are more columns than are named, those with a chosen value come first.
    """
    if not held:
        return ""
    if len(held) > n_named:
        held = sorted(held, key=lambda h: h.is_typical)
    named = ", ".join(f"{h.name} {h.text}" for h in held[:n_named])
    more = len(held) - n_named
    return f"held: {named}" + (f" and {counted(more, 'other')} at typical values" if more > 0 else "")
