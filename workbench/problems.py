"""What is wrong with a table before a model sees it: constant, identifier-like, leaking, broken columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.columns import Column
from workbench.datasets import Table, looks_like_identifier, proposes_classes

N_BINS = 32  # of a number column, by rank
MIN_ROWS_A_BIN = 10  # fewer bins for short tables: each half must fill every bin
LEAK_STRENGTH = 0.98
MIN_ROWS_FOR_LEAK = 20  # a handful of rows is predicted by many a column
MAX_SCANNED_ROWS = 20_000  # evenly taken; more rows do not change what is weak or strong


@dataclass(frozen=True)
class Problem:
    """A column that should not be a feature, or not as it was read.

    Attributes
    ----------
    kind : str
        "constant", "identifier", "stray" or "leaks".
    column : str
    message : str
        What is wrong, in one sentence with its figures.
    """

    kind: str
    column: str
    message: str


def find_problems(
    table: Table, roles: Mapping[str, str], strengths: Mapping[str, float] | None = None
) -> tuple[Problem, ...]:
    """Name the features that are constant, only name the rows, or give the target away.

    So are those that a few texts keep from being numbers or dates (`Column.stray_texts`).

    Parameters
    ----------
    roles : mapping of column name to role
        Only columns of role "feature" are looked at; leaks need one of role "target".
    strengths : mapping of column name to float, optional
        What `column_strengths` has found for this target; None: find it.
    """
    targets = [name for name, role in roles.items() if role == "target"]
    if strengths is None:
        strengths = column_strengths(table, targets[0]) if targets else {}
    problems = []
    for column in table.columns:
        if roles.get(column.name) != "feature":
            continue
        if column.n_distinct == 0:
            problems.append(Problem("constant", column.name, "no values: every cell is missing"))
        elif column.n_distinct == 1 and column.n_missing == 0:
            problems.append(Problem("constant", column.name, f"the same value in all {len(column):,} rows"))
        elif looks_like_identifier(column):
            problems.append(Problem("identifier", column.name, _identifier_message(column)))
        elif column.stray_texts:
            problems.append(Problem("stray", column.name, column.reason))
        elif strengths.get(column.name, 0.0) >= LEAK_STRENGTH:
            share = strengths[column.name]
            message = (
                f"predicts {targets[0]} almost by itself (strength {share:.3f} of 1); "
                "does it hold the answer?"
            )
            problems.append(Problem("leaks", column.name, message))
    return tuple(problems)


def _identifier_message(column: Column) -> str:
    noun = "distinct values" if column.kind == "number" else "levels"
    n_present = len(column) - column.n_missing
    return f"identifier: {column.n_distinct:,} {noun} in {n_present:,} rows; nothing can be learned from it"


def column_strengths(table: Table, target: str) -> dict[str, float]:
    """Tell how well each other column alone predicts the target, 0 (not at all) to 1 (fully).

    The rows are put into groups by the column's value (ranks of numbers, levels of categories,
    missing as a group of its own). Each half of the rows is predicted by the other half's groups:
    by the mean for a number target, else by the most frequent class. The strength is the share of
    the variance, or of the errors of always naming the most frequent class, that this removes;
    below zero (worse than knowing nothing) counts as zero.

    Raises
    ------
    DataError
        There is no such target.
    """
    rows = _rows_to_scan(table.n_rows)
    answer = _Answer.of(table.column(target), rows)
    return {c.name: answer.strength(_groups(c, rows)) for c in table.columns if c.name != target}


def _rows_to_scan(n_rows: int) -> NDArray[np.int64]:
    if n_rows <= MAX_SCANNED_ROWS:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, MAX_SCANNED_ROWS).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Answer:
    """The target of the scanned rows, and what knowing nothing scores."""

    valid: NDArray[np.bool_]
    values: NDArray[np.float64]
    n_classes: int  # 0: a number
    half: NDArray[np.int64]  # 0 or 1 for every valid row

    @classmethod
    def of(cls, column: Column, rows: NDArray[np.int64]) -> _Answer:
        if proposes_classes(column)[0]:
            codes, levels = column.label_codes()
            codes = codes[rows]
            valid, values, n_classes = codes >= 0, codes.astype(np.float64), len(levels)
        else:
            values = column.values[rows]
            valid, n_classes = np.isfinite(values), 0
        halves = np.random.default_rng(0).permutation(int(valid.sum())) % 2
        return cls(valid, values[valid], n_classes, halves)

    def strength(self, groups: NDArray[np.int64]) -> float:
        groups = groups[self.valid]
        if len(groups) < MIN_ROWS_FOR_LEAK:
            return 0.0
        _, groups = np.unique(groups, return_inverse=True)
        n_groups = int(groups.max()) + 1
        left_over = known_nothing = 0.0
        for part in (0, 1):
            learn, judge = self.half != part, self.half == part
            base, told = self._predict(groups, n_groups, learn)
            truth = self.values[judge]
            if self.n_classes:
                left_over += float((told[groups[judge]] != truth).sum())
                known_nothing += float((base != truth).sum())
            else:
                left_over += float(((told[groups[judge]] - truth) ** 2).sum())
                known_nothing += float(((base - truth) ** 2).sum())
        return max(0.0, 1.0 - left_over / known_nothing) if known_nothing > 0 else 0.0

    def _predict(
        self, groups: NDArray[np.int64], n_groups: int, learn: NDArray[np.bool_]
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the answer for everybody, and for each group, as the rows of `learn` tell."""
        rows, values = groups[learn], self.values[learn]
        if self.n_classes == 0:
            base = float(values.mean())
            counts = np.bincount(rows, minlength=n_groups)
            sums = np.bincount(rows, weights=values, minlength=n_groups)
            return base, np.where(counts > 0, sums / np.maximum(counts, 1), base)
        overall = np.bincount(values.astype(np.int64), minlength=self.n_classes)
        base_class = float(np.argmax(overall))
        cells = rows * self.n_classes + values.astype(np.int64)
        pairs, counts = np.unique(cells, return_counts=True)  # not a table of groups x classes: may be huge
        order = np.lexsort((-pairs, counts))  # the last of a group is its most frequent, lowest class
        told = np.full(n_groups, base_class)
        told[pairs[order] // self.n_classes] = pairs[order] % self.n_classes
        return base_class, told


def _groups(column: Column, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the group of each scanned row: rank bin of numbers, level code, -1 for missing."""
    values = column.values[rows]
    if column.has_codes:
        return values.astype(np.int64)
    groups = np.full(len(values), -1, np.int64)
    present = ~np.isnan(values)
    if not present.any():
        return groups
    distinct, inverse, counts = np.unique(values[present], return_inverse=True, return_counts=True)
    n_bins = min(N_BINS, max(2, len(inverse) // MIN_ROWS_A_BIN))
    if len(distinct) <= n_bins:
        groups[present] = inverse
    else:  # equal values stay together: a bin of ranks by the middle of each value's run
        middle = np.cumsum(counts) - counts / 2
        groups[present] = (middle * n_bins / counts.sum()).astype(np.int64)[inverse]
    return groups
