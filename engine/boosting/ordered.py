"""Ordered target statistics: levels as numbers that know nothing of their own row's target.

A level's mean target, with the table's mean counting as one row more, makes a number of a category. If a
row's own target were in it, rare levels would give it away, so the rows are put into a random order and each
is told the mean of those before it (Prokhorenkova et al. 2018, section 3.2). New rows are told that of all.

    order         a1    b0    a0    a1     b1           afterwards
    told, 0.6 at  0.6   0.6   0.8   0.533  0.3          a 0.65, b 0.533
    first

Trees are grown on what the rows are told. The cuts lie between the levels' means of all rows, so every cut
divides the levels: a split is written into the `Tree` as a question about the column itself, "is it one of
these levels?", which everything that reads trees understands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.base import TrainingData
from engine.binning import code_dtype, code_numbers, find_thresholds
from engine.boosting.kernels.ordered import tell_in_order
from engine.boosting.kernels.splitting import mark_levels
from engine.features import FeatureSpec
from engine.tree.structure import LEVEL_SET, Tree

PRIOR_ROWS = 1.0  # rows of mean weight that the prior counts as
PERMUTATION_KEY = (0, 0)  # of the seed: rounds have keys of one number
FEWEST_KINDS = 3  # with two kinds of rows there is one question, and nothing that a statistic could add
ROW_CHUNK = 2**18  # rows between two questions to the monitor, about 10 ms
EVERYWHERE = (-1.0, np.inf)  # codes from above the first number up to the second

Floats = NDArray[np.float64]


class Told(NamedTuple):
    """Ordered statistics of one column.

    Attributes
    ----------
    rows : float64 (n_rows,)
        What each row is told of those of its level before it.
    levels : float64 (n_levels + 1,)
        What new rows are told, by level and, last, where it is missing; the prior for levels without rows.
    prior : float
        Weighted mean target.
    """

    rows: Floats
    levels: Floats
    prior: float


def ordered_statistics(
    codes: NDArray[np.int64], n_levels: int, y: Floats, sample_weight: Floats, order: NDArray[np.int64],
    ask: Callable[[], None] = lambda: None,
) -> Told:  # fmt: skip
    """Return (sum of w y before + a prior) / (sum of w before + a) for each row, a being the mean weight.

    So where no weights are given the prior counts as one row, and multiplying all weights changes nothing.

    Parameters
    ----------
    codes : int64 (n_rows,)
        Level of every row; `n_levels` where it is missing, which is a level like another.
    y, sample_weight : float64 (n_rows,)
    order : int64 (n_rows,)
        A permutation of the rows.
    ask : callable
        Called every few milliseconds of work; raises to end it.
    """
    prior, prior_weight = (
        float(np.average(y, weights=sample_weight)),
        PRIOR_ROWS * float(sample_weight.mean()),
    )
    sums, sum_weights, rows = np.zeros(n_levels + 1), np.zeros(n_levels + 1), np.empty(len(y))
    order, codes, y, sample_weight = map(dtypes.as_input, (order, codes, y, sample_weight))
    for start in range(0, len(y), ROW_CHUNK):
        stop = min(start + ROW_CHUNK, len(y))
        tell_in_order(
            order, start, stop, codes, y, sample_weight, prior, prior_weight, sums, sum_weights, rows
        )
        ask()
    return Told(rows, (sums + prior_weight * prior) / (sum_weights + prior_weight), prior)


@dataclass(frozen=True)
class Statistic:
    """A categorical column as a column of numbers: the bins of its levels' means, from 0 on.

    Attributes
    ----------
    feature : int
        The column of the table.
    codes : int64 (n_levels + 1,)
        Bin of every level's mean, last that of missing; -1 for those that no training row has. No bin is
        without one.
    unknown : int
        Bin of rows of which nothing is known: of missing where training rows missed it, else the prior's.
    is_missing : bool (n_rows,)
        Which training rows miss it.
    """

    feature: int
    codes: NDArray[np.int64]
    unknown: int
    is_missing: NDArray[np.bool_]

    @property
    def n_codes(self) -> int:
        return int(self.codes.max()) + 1

    def n_missing(self, rows: NDArray[np.int32]) -> int:
        """Return how many of some rows miss the column."""
        return int(np.count_nonzero(self.is_missing[rows])) if self.codes[-1] >= 0 else 0

    def question(self, cut: float, between: tuple[float, float]) -> Question:
        """Return "is the bin at most `cut`?" as a question about levels, of those in bins `between`.

        Yes is the side of fewer levels, as where levels are split by gradients.
        """
        low, high = between
        n_levels = len(self.codes) - 1
        here = np.flatnonzero((self.codes > low) & (self.codes <= high))
        here = here[np.argsort(self.codes[here], kind="stable")]
        n_low = int(np.count_nonzero(self.codes[here] <= cut))
        goes_left = np.zeros(n_levels + 1, np.uint8)
        kind = int(mark_levels(here, len(here), n_low, n_levels, goes_left))
        is_low_left = bool(goes_left[here[0]])
        levels = np.sort(here[here < n_levels]) if kind == LEVEL_SET else np.empty(0, np.int64)
        unknown_is_left = is_low_left == (self.unknown <= cut)
        return Question(kind, levels, goes_left, is_low_left, 0 if unknown_is_left else 1)


class Question(NamedTuple):
    """A cut of a statistic, asked of the column's levels.

    Attributes
    ----------
    kind : LEVEL_SET or IS_MISSING
    levels : int64 (n_named,)
        Codes of the levels that the question names, ascending.
    goes_left : uint8 (n_levels + 1,)
        1 for levels, and last for missing, that answer yes.
    is_low_left : bool
        Bins up to the cut answer yes.
    unknown_child : int
        Where missing values and unseen levels go.
    """

    kind: int
    levels: NDArray[np.int64]
    goes_left: NDArray[np.uint8]
    is_low_left: bool
    unknown_child: int


@dataclass(frozen=True)
class OrderedTable:
    """A training table with statistics in place of categories.

    Attributes
    ----------
    X : float64 (n_rows, n_columns)
        The table; categories are bins of what each row is told. Those for the second and further classes
        stand in columns after all others.
    features : tuple of FeatureSpec
        Of the columns of `X`.
    statistics : mapping
        Column of `X` to its statistic.
    columns : int64 (n_raw, n_features)
        Column of `X` that stands for a column of the table in the trees of each raw prediction.
    """

    X: Floats
    features: tuple[FeatureSpec, ...]
    statistics: Mapping[int, Statistic]
    columns: NDArray[np.int64]

    def as_grown(self, tree: Tree, raw_idx: int) -> Tree:
        """Return a tree of raw prediction `raw_idx` as it was grown: it asks about the columns of `X`."""
        columns = self.columns[raw_idx]
        feature, kind, missing_child = tree.feature.copy(), tree.kind.copy(), tree.missing_child
        level_sets = []
        for node in range(tree.n_nodes):
            listed = tree.levels(node)
            if feature[node] >= 0:
                feature[node] = columns[feature[node]]
                statistic = self.statistics.get(int(feature[node]))
                if statistic is not None:
                    children = np.full(statistic.n_codes, tree.unseen_child[node], dtypes.LEVEL_DTYPE)
                    codes = statistic.codes[listed[:, 0]]
                    children[codes[codes >= 0]] = listed[codes >= 0, 1]
                    if statistic.codes[-1] >= 0:
                        children[statistic.codes[-1]] = missing_child[node]
                    listed = np.column_stack([np.arange(len(children)), children])
                    kind[node] = LEVEL_SET
            level_sets.append(listed)
        return replace(
            tree,
            feature=feature,
            kind=kind,
            level_offsets=np.cumsum([0, *map(len, level_sets)]),
            level_sets=np.concatenate(level_sets),
        )


def order_table(
    data: TrainingData, n_raw: int, max_bins: int, seed: int, ask: Callable[[], None] = lambda: None
) -> OrderedTable | None:
    """Return the table with statistics in place of its categories of three kinds of rows or more.

    With one raw prediction the statistics are of the target (the second class); with one for each class
    every class has its own, of which rows are it, in the same order of rows. None where there is no such
    column.
    """
    ordered = []
    for f, spec in enumerate(data.features):
        n_rows_of_kind = np.bincount(_kinds(data.X[:, f], len(spec.levels))) if spec.levels else np.zeros(0)
        if np.count_nonzero(n_rows_of_kind) >= FEWEST_KINDS:
            ordered.append(f)
        ask()
    if not ordered:
        return None
    n_features = data.n_features
    X = np.empty((data.n_rows, n_features + (n_raw - 1) * len(ordered)))
    for start in range(0, data.n_rows, ROW_CHUNK):
        X[start : start + ROW_CHUNK, :n_features] = data.X[start : start + ROW_CHUNK]
        ask()
    columns = np.tile(np.arange(n_features), (n_raw, 1))
    columns[1:, ordered] = n_features + np.arange((n_raw - 1) * len(ordered)).reshape(n_raw - 1, len(ordered))
    features = list(data.features) + [FeatureSpec("")] * (X.shape[1] - n_features)
    statistics = {}
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=PERMUTATION_KEY))
    order = generator.permutation(data.n_rows)
    for f in ordered:
        n_levels = len(data.features[f].levels or ())
        kinds = _kinds(data.X[:, f], n_levels)
        for raw_idx in range(n_raw):
            y = data.y if n_raw == 1 else dtypes.as_input(data.y == raw_idx, dtypes.Y_DTYPE)
            column = int(columns[raw_idx, f])
            told = ordered_statistics(kinds, n_levels, y, data.sample_weight, order, ask)
            statistics[column], X[:, column] = _in_bins(f, kinds, told, max_bins)
            features[column] = FeatureSpec(data.features[f].name)
            ask()
    return OrderedTable(dtypes.as_input(X), tuple(features), statistics, columns)


def _kinds(values: Floats, n_levels: int) -> NDArray[np.int64]:
    """Return the level of every row, `n_levels` where it is missing."""
    return np.where(np.isnan(values), n_levels, values).astype(np.int64)


def _in_bins(
    feature: int, kinds: NDArray[np.int64], told: Told, max_bins: int
) -> tuple[Statistic, NDArray[Any]]:
    """Return a column's statistic, and the bin of what each row is told."""
    n_rows = np.bincount(kinds, minlength=len(told.levels))
    ascending = np.argsort(told.levels, kind="stable")
    cuts = find_thresholds(np.repeat(told.levels[ascending], n_rows[ascending]), max_bins)
    codes = np.where(n_rows > 0, np.searchsorted(cuts, told.levels), -1)
    unknown = codes[-1] if n_rows[-1] else np.searchsorted(cuts, told.prior)
    bins = np.empty(len(kinds), code_dtype((), max_bins))
    code_numbers(told.rows, cuts, 0, bins)
    return Statistic(feature, codes, int(unknown), kinds == len(codes) - 1), bins
