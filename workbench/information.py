"""Two columns of a table side by side: how they are cut into values, and how many rows have which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError, ParameterError
from engine.information import EQUAL_COUNTS, WAYS, JointCounts, cut, cut_points, joint_counts
from workbench.dates import days_of_text
from workbench.figures.words import as_typed, counted, value_text
from workbench.numerals import whole_number

if TYPE_CHECKING:
    from workbench.columns import Column
    from workbench.datasets import Table

OWN = "own cuts"
ALL_WAYS = (*WAYS, OWN)
MAX_RANGES = 100
CUT_DIGITS = 5


@dataclass(frozen=True)
class Cutting:
    """How a column of numbers or dates is cut into ranges.

    Attributes
    ----------
    way : str
        One of `ALL_WAYS`.
    n_ranges : int
        For equal counts and equal widths.
    cuts : tuple of float
        A person's own, ascending.
    """

    way: str = EQUAL_COUNTS
    n_ranges: int = 4
    cuts: tuple[float, ...] = ()


@dataclass(frozen=True)
class InformationSettings:
    """Which two columns are looked at, and how those of numbers are cut."""

    x: str
    y: str
    x_cutting: Cutting = field(default_factory=Cutting)
    y_cutting: Cutting = field(default_factory=Cutting)


class Side(NamedTuple):
    """One of the two columns: its values' names, and how it was cut; empty where it was not."""

    name: str
    labels: tuple[str, ...]
    how: str


@dataclass(frozen=True, eq=False)
class Joint:
    """Two columns counted against each other.

    Attributes
    ----------
    x, y : Side
    joint : JointCounts
        Every row once, whatever its weight.
    n_left_out : int
        Rows that lack a value in one of them.
    """

    x: Side
    y: Side
    joint: JointCounts
    n_left_out: int


def is_cut(column: Column) -> bool:
    """Tell whether a column's values are cut into ranges."""
    return column.kind in ("number", "date")


def first_settings(table: Table, target: str | None) -> InformationSettings | None:
    """Return what is looked at first: the target and the first other column; None of fewer than two."""
    names = list(table.names)
    if len(names) < 2:
        return None
    y = target if target in names else names[-1]
    return InformationSettings(next(name for name in names if name != y), y)


def count_jointly(table: Table, settings: InformationSettings) -> Joint:
    """Count the rows of a table.

    Raises
    ------
    DataError
        A column is gone, or they have too many values.
    """
    known = set(table.names)
    for name in (settings.x, settings.y):
        if name not in known:
            raise DataError(f"the table has no column {name!r} any more; choose another")
    x_codes, x = _side(table.column(settings.x), settings.x_cutting)
    y_codes, y = _side(table.column(settings.y), settings.y_cutting)
    joint = joint_counts(x_codes, y_codes, len(x.labels), len(y.labels))
    return Joint(x, y, joint, table.n_rows - joint.n_rows)


def _side(column: Column, cutting: Cutting) -> tuple[NDArray[np.int64], Side]:
    if not is_cut(column):
        codes, labels = column.label_codes()
        return codes, Side(column.name, labels, "")
    is_own = cutting.way == OWN
    values = np.asarray(column.values, np.float64)
    cuts = np.array(cutting.cuts) if is_own else cut_points(values, cutting.n_ranges, cutting.way)
    texts = _cut_texts(cuts, column.kind == "date")
    at = f"cut at {', '.join(texts)}" if texts else "in one range"
    how = at if is_own else f"{at}: {counted(cutting.n_ranges, 'range')} of {cutting.way}"
    if not is_own and len(cuts) + 1 < cutting.n_ranges:
        how += f", of which equal values leave {len(cuts) + 1}"
    return cut(values, cuts), Side(column.name, range_labels(texts), how)


def _cut_texts(cuts: NDArray[np.float64], is_date: bool) -> list[str]:
    """Write cuts with as many digits as it takes to tell them apart."""
    for digits in range(CUT_DIGITS, 18):
        texts = [value_text(float(at), digits, is_date) for at in cuts]
        if len(set(texts)) == len(texts):
            break
    return texts if len(cuts) else []


def range_labels(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the ranges between cuts: "≤ 3", "3 to 7", "> 7"."""
    if not texts:
        return ("all",)
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return (f"≤ {texts[0]}", *between, f"> {texts[-1]}")


def read_cutting(way: str, text: str, is_date: bool) -> Cutting:
    """Read what a person entered: a number of ranges, or cuts with commas or blanks between them.

    Raises
    ------
    ParameterError
        It is neither; says what to enter.
    """
    words = text.replace(";", " ").replace(",", " ").replace("\N{MINUS SIGN}", "-").split()
    if way != OWN:
        n_ranges = whole_number(words[0]) if len(words) == 1 else None
        if n_ranges is None or not 1 <= n_ranges <= MAX_RANGES:
            raise ParameterError(
                f"{as_typed(text)} is no number of ranges; enter a whole number from 1 to {MAX_RANGES}"
            )
        return Cutting(way, n_ranges)
    try:
        cuts = [days_of_text(word) if is_date else float(word) for word in words]
    except ValueError:
        cuts = [np.nan]
    if not cuts or not np.isfinite(cuts).all() or len(cuts) >= MAX_RANGES:
        example = "dates such as 2020-09-15" if is_date else "numbers such as 3.5 7"
        raise ParameterError(f"{as_typed(text)} is no list of cuts; enter {example} with blanks between them")
    return Cutting(OWN, 4, tuple(sorted(set(cuts))))


def cutting_text(cutting: Cutting, is_date: bool) -> str:
    """Write a cutting as it is entered."""
    if cutting.way != OWN:
        return str(cutting.n_ranges)
    cuts = cutting.cuts
    return " ".join(value_text(at, is_date=True) if is_date else f"{at!r}".removesuffix(".0") for at in cuts)
