"""What a split forced by hand can ask at one node: the columns that differ among its training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine.tree.structure import IS_MISSING, LEVEL_SET, MULTIWAY, THRESHOLD
from workbench.editing import EACH_LEVEL, editable, training_rows
from workbench.figures.held import level_names
from workbench.figures.tree import date_columns

if TYPE_CHECKING:
    from engine.features import FeatureSpec
    from engine.tree.candidates import Candidate
    from engine.tree.structure import Path, Tree
    from workbench.datasets import Table
    from workbench.runs import RunResult


@dataclass(frozen=True)
class Choice:
    """A column that can be asked about.

    Attributes
    ----------
    name : str
    levels : tuple of str
        Those that the node's rows have, in the order of their codes; none for numbers.
    low, middle, high : float
        Least value, a threshold to begin with, and largest value; NaN for categories, and where all known
        values are alike.
    is_date : bool
        Values are days since 1970-01-01.
    n_missing : int
        Rows that miss it; 0 where no row, or every row, does.
    """

    name: str
    levels: tuple[str, ...] = ()
    low: float = np.nan
    middle: float = np.nan
    high: float = np.nan
    is_date: bool = False
    n_missing: int = 0

    @property
    def has_values(self) -> bool:
        """Its known values differ, so that they can be asked about."""
        return bool(self.levels) or not np.isnan(self.low)


@dataclass(frozen=True)
class Choices:
    """The columns that differ at a node, and which of them it asks about now; 0 where it asks none."""

    columns: tuple[Choice, ...]
    current: int
    n_rows: int

    def starting_at(self, name: str, threshold: float | None = None) -> Choices:
        """Return the same with another column, and a threshold of it, to begin with, where there is one."""
        at = next((k for k, choice in enumerate(self.columns) if choice.name == name), None)
        if at is None:
            return self
        columns = list(self.columns)
        if threshold is not None:
            columns[at] = replace(columns[at], middle=threshold)
        return Choices(tuple(columns), at, self.n_rows)


def choices_at(result: RunResult | None, table: Table, path: Path) -> Choices:
    """Return what a forced split can ask at the node at `path` of a single tree.

    Raises
    ------
    DataError
        As for `editing.prune`.
    """
    from engine.tree.node_rows import rows_at

    result = editable(result, table)
    tree, data = result.tree(0), training_rows(result, table)
    rows, dates = rows_at(tree, path, data.X), date_columns(table)
    made = [
        _choice(spec, data.X[rows, feature].astype(np.float64), spec.name in dates)
        for feature, spec in enumerate(data.features)
    ]
    columns = [choice for choice in made if choice is not None]
    asked = int(tree.feature[tree.node_at(path)])
    names = [choice.name for choice in columns]
    name = data.features[asked].name if asked >= 0 else ""
    return Choices(tuple(columns), names.index(name) if name in names else 0, len(rows))


def can_force(candidate: Candidate, tree: Tree, node: int) -> bool:
    """Tell whether a candidate is a question that the node does not ask already."""
    split = candidate.split
    asks_column = int(tree.feature[node]) == candidate.feature and int(tree.kind[node]) == split.kind
    if not asks_column or split.kind == IS_MISSING:
        return not asks_column
    if split.missing_child >= 0 and int(tree.missing_child[node]) != split.missing_child:
        return True
    if split.kind == MULTIWAY:
        return False
    if split.kind == THRESHOLD:
        return float(tree.threshold[node]) != split.threshold
    return not np.array_equal(tree.levels(node), split.levels)


def answer_of(candidate: Candidate, spec: FeatureSpec) -> float | str | tuple[str, ...] | None:
    """Return a candidate's question as `editing.force_split` takes it."""
    split = candidate.split
    if split.kind == IS_MISSING:
        return None
    if split.kind == THRESHOLD:
        return split.threshold
    if split.kind == MULTIWAY:
        return EACH_LEVEL
    levels = spec.levels or ()
    return tuple(levels[code] for code in split.levels[split.levels[:, 1] == 0, 0])


def missing_side_of(candidate: Candidate) -> int | None:
    """Return the side that a candidate's question gives missing values; None where that is not to be said.

    Limits on leaves may have kept them from where they help most.
    """
    split = candidate.split
    is_said = split.kind in (THRESHOLD, LEVEL_SET) and split.missing_child >= 0
    return split.missing_child if is_said else None


def _choice(spec: FeatureSpec, x: NDArray[np.float64], is_date: bool) -> Choice | None:
    known = x[~np.isnan(x)]
    n_missing = len(x) - len(known) if len(known) else 0
    if len(known) == 0 or known.min() == known.max():
        return Choice(spec.name, n_missing=n_missing) if n_missing else None
    if spec.is_categorical:
        names = level_names(spec)
        levels = tuple(names[code] for code in np.unique(known).astype(np.int64))
        return Choice(spec.name, levels, n_missing=n_missing)
    low, high = float(known.min()), float(known.max())
    return Choice(spec.name, (), low, _middle(known, low, high), high, is_date, n_missing)


def _middle(known: NDArray[np.float64], low: float, high: float) -> float:
    """Return a number between the least and the largest value, near the median, in few digits."""
    middle: float = float(np.median(known))
    tried: Sequence[float] = (float(f"{middle:.4g}"), middle, (low + high) / 2)
    return next((value for value in tried if low <= value < high), low)
