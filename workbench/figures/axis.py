"""`Axis`: one side of a picture, divided into cells with a value each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.features import FeatureSpec
from workbench.figures.words import value_text

Floats = NDArray[np.float64]
N_CELLS = 320  # a side: finer than the pixels of a panel on most screens
MAX_DATES = 6  # on an axis
MARGIN = 0.04  # of the data's range, on both sides


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis: cells with a value each.

    Attributes
    ----------
    name : str
    feature : int
        The column's position in the model.
    values : float64 (n_cells,)
        Encoded value at each cell's centre: numbers, or level codes with NaN for missing.
    edges : float64 (n_cells + 1,)
        Where the cells end on the drawn axis: numbers, or whole numbers less a half.
    labels : tuple of str
        Of a category: a name for every cell; empty for numbers.
    is_date : bool
        Values are days since 1970-01-01 and are written as dates.
    """

    name: str
    feature: int
    values: Floats
    edges: Floats
    labels: tuple[str, ...] = ()
    is_date: bool = False

    @property
    def is_category(self) -> bool:
        return bool(self.labels)

    @property
    def low(self) -> float:
        return float(self.edges[0])

    @property
    def high(self) -> float:
        return float(self.edges[-1])

    def cell_at(self, position: float) -> int | None:
        """Return the cell under a drawn position; None outside."""
        cell = int(np.searchsorted(self.edges, position, side="right")) - 1
        if position == self.high:
            cell = len(self.values) - 1
        return cell if 0 <= cell < len(self.values) and position >= self.low else None

    def places(self, encoded: Floats, rows: NDArray[np.int64]) -> Floats:
        """Return where encoded values are drawn; categories are spread within their cell by row."""
        if not self.is_category:
            return encoded
        code = np.where(np.isnan(encoded), float(len(self.labels) - 1), encoded)
        # a fixed scatter: the same row stands at the same place in every picture; each column has a step
        # of its own, or rows of two categories would stand on a line
        step = 0.6180339887498949 + 0.7548776662466927 * self.feature
        return np.asarray(code + ((rows * step + 0.37 * self.feature) % 1.0 - 0.5) * 0.6)

    def text(self, cell: int) -> str:
        """The value of a cell in words."""
        if self.is_category:
            return self.labels[cell]
        value = float(self.values[cell])
        return value_text(float(np.floor(value)) if self.is_date else value, 4, self.is_date)

    def spelled(self) -> list[str]:
        """Every cell's value as tables write it: levels and dates in words, numbers to the last bit."""
        if self.is_category or self.is_date:
            return [self.text(cell) for cell in range(len(self.values))]
        return [repr(value) for value in self.values.tolist()]


def date_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Places and words of at most six dates between two days: years at their first day, months, or days."""
    days = np.arange(np.ceil(low), np.floor(high) + 1).astype("datetime64[D]")
    for unit in ("Y", "M", "D"):
        firsts = np.unique(days.astype(f"datetime64[{unit}]")).astype("datetime64[D]")
        firsts = firsts[np.isin(firsts, days)]
        if len(firsts) >= 3 or unit == "D":
            break
    shown = firsts[:: max(-(-len(firsts) // MAX_DATES), 1)]
    return [(float(day.astype(np.int64)), str(day.astype(f"datetime64[{unit}]"))) for day in shown]


def number_axis(name: str, feature: int, low: float, high: float, n_cells: int = N_CELLS) -> Axis:
    """Make an axis of `n_cells` equal cells; their values are the centres."""
    edges: Floats = np.linspace(low, high, n_cells + 1, dtype=np.float64)
    return Axis(name, feature, edges[:-1] * 0.5 + edges[1:] * 0.5, edges)


def category_axis(name: str, feature: int, levels: Sequence[Any], has_missing: bool) -> Axis:
    """Make an axis with a cell for every level, and one for missing where rows miss it."""
    labels = [str(level) for level in levels] + (["missing"] if has_missing else [])
    codes = np.arange(len(levels), dtype=np.float64)
    values = np.append(codes, np.nan) if has_missing else codes
    edges: Floats = np.arange(len(labels) + 1, dtype=np.float64) - np.float64(0.5)
    return Axis(name, feature, values, edges, tuple(labels))


def make_axis(
    spec: FeatureSpec, feature: int, encoded: Floats, n_cells: int = N_CELLS, is_date: bool = False
) -> Axis:
    """Make the axis of a model's column from its encoded values in the table."""
    levels = spec.levels if spec.levels is not None else spec.ordered_levels
    if levels is not None:
        return category_axis(spec.name, feature, levels, bool(np.isnan(encoded).any()))
    known = encoded[np.isfinite(encoded)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    margin = MARGIN * (high - low) or 0.5
    axis = number_axis(spec.name, feature, low - margin, high + margin, n_cells)
    return replace(axis, is_date=is_date)
