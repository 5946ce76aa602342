"""What else a node could have asked: every column's best split, and how the gain runs over its thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from engine.errors import DataError
from engine.features import FeatureSpec
from engine.kernels.numeric import midpoints
from engine.monitor import StopFlag
from engine.tree.directions import NONE, bounds_of
from engine.tree.kernels.layout import (
    ABSOLUTE_ERROR,
    GINI,
    MISCLASSIFICATION,
    MISSING_RANK,
    POISSON,
    ROW_MASK,
    SQUARED_ERROR,
    TIE_SHARE,
    Rules,
)
from engine.tree.node_rows import children_of_question, describe_numbers, rows_at
from engine.tree.node_search import NodeSearch, SplitFound
from engine.tree.presort import Ask, Presorted, never, orders_of_rows
from engine.tree.structure import THRESHOLD, Path, Tree

Floats = NDArray[np.float64]
Part = tuple[NDArray[Any], Floats, Floats] | None
"""X, y and weights of the validation rows at a node; None where there is no such part."""


class Candidate(NamedTuple):
    """One column's best split of a node.

    Attributes
    ----------
    feature : int
    split : SplitFound
    gain : float
        Decrease of the impurity on training rows.
    validation_gain : float
        The same on the validation rows that reach the node; NaN where none do, or all go to one side.
    is_tied : bool
        It is as good as the best one but for rounding.
    gain_ratio : float
        What C4.5 chooses by: the gain divided by the entropy of the branch sizes; NaN for other trees.
    is_eligible : bool
        False where C4.5 passes the split over, as it gains less than the average of all columns.
    """

    feature: int
    split: SplitFound
    gain: float
    validation_gain: float
    is_tied: bool
    gain_ratio: float = np.nan
    is_eligible: bool = True


class GainCurve(NamedTuple):
    """Gain over the thresholds of a number column: both float64 (n_thresholds,), thresholds ascending.

    Missing values are where they help most at each threshold, as a level of their own with the larger side.
    """

    thresholds: Floats
    gains: Floats


@dataclass(frozen=True, eq=False)
class NodeRows:
    """A table as `candidates` looks at it.

    Attributes
    ----------
    presorted : Presorted
        The training table; kept between calls, so that no column is sorted twice.
    y, w : float64 (n_rows,)
        Targets or class indices, and weights, all positive.
    features : sequence of FeatureSpec
    rules : Rules
        The estimator's; its limits on leaves hold.
    X_val, y_val, w_val : arrays or None
        Encoded validation rows.
    algorithm : "cart", "id3" or "c4.5"
        Whose splits are looked for. Those of ID3 and C4.5 have one branch a level, and a gain in bits:
        the criterion of `rules` is the entropy.
    """

    presorted: Presorted
    y: Floats
    w: Floats
    features: Sequence[FeatureSpec]
    rules: Rules
    X_val: NDArray[Any] | None = None
    y_val: Floats | None = None
    w_val: Floats | None = None
    algorithm: str = "cart"


def candidates(tree: Tree, path: Path, data: NodeRows, ask: Ask = never) -> list[Candidate] | None:
    """Return every column's best split of a node, the largest gain first; columns without a split are absent.

    All splits are tried, also where the tree's own were drawn; those that break a direction are left out.
    Of equal gains the lowest column is first, which is the one that growing takes. For C4.5 it is the gain
    ratio that counts, and splits that gain less than the average come last. ID3 and C4.5 ask a category once
    on a path, so those asked above are absent. None when `ask` stopped it; without rows there are none.

    Raises
    ------
    DataError
        The tree has no node at `path`.
    """
    flag, rows = StopFlag(lambda: ask(0, 0.0)), rows_at(tree, path, data.presorted.X)
    if not len(rows):
        return []
    search = _search_at(tree, path, rows, data, flag)
    if search is None:
        return None
    validation = validation_rows(tree, path, data)
    if data.algorithm != "cart":
        from engine.tree.multiway_candidates import multiway_candidates

        return multiway_candidates(tree, path, data, rows, search, validation, flag)
    found = []
    for feature in range(len(data.features)):
        split = search.best_split_of(feature, lambda *_: flag.ask())
        if flag.ask():
            return None
        if split is not None:
            on_validation = _validation_gain(split, feature, data, rows, validation)
            found.append(Candidate(feature, split, split.gain, on_validation, is_tied=False))
    if not found:
        return []
    best = max(candidate.gain for candidate in found)
    slack = TIE_SHARE * search.root_impurity
    found = [c._replace(is_tied=c.gain >= best - slack) for c in found]
    return sorted(found, key=lambda c: (not c.is_tied, 0.0 if c.is_tied else -c.gain, c.feature))


def gain_curve(tree: Tree, path: Path, feature: int, data: NodeRows, ask: Ask = never) -> GainCurve | None:
    """Return the gain of every threshold of a number column at a node, limits on leaves and directions aside.

    None when `ask` stopped it.

    Raises
    ------
    DataError
        The tree has no node at `path`, or the column is categorical.
    """
    if data.presorted.is_level[feature]:
        raise DataError(f"column {data.features[feature].name!r} is categorical; it has no thresholds")
    flag = StopFlag(lambda: ask(0, 0.0))
    at_node = rows_at(tree, path, data.presorted.X)
    n_drawn = np.bincount(at_node, minlength=len(data.presorted.X))
    orders = orders_of_rows(data.presorted, n_drawn, lambda *_: flag.ask(), [feature])
    if orders is None:
        return None
    rank, rows = orders[0] >> 32, orders[0] & ROW_MASK
    n_present = int(np.count_nonzero(rank != MISSING_RANK))  # missing lies last
    ends = np.flatnonzero(np.diff(rank[:n_present]))
    if not len(ends):
        return GainCurve(np.empty(0), np.empty(0))
    values = data.presorted.X[rows, feature].astype(np.float64)
    thresholds = midpoints(values[ends], values[ends + 1])
    if data.rules.criterion == ABSOLUTE_ERROR:
        free = replace(data, rules=data.rules._replace(directions=NONE))
        search = _search_at(tree, path, at_node, free, flag)
        if search is None:
            return None
        gains = search.gains_by_medians(feature, lambda *_: flag.ask())
        if flag.ask():
            return None
        return GainCurve(thresholds, np.maximum(gains[ends], 0.0))
    sums = _sums_of(data.rules, data.y[rows], data.w[rows])
    below, total, missing = np.cumsum(sums, axis=0)[ends], sums.sum(axis=0), sums[n_present:].sum(axis=0)
    gains = _gains(data.rules.criterion, below, total)
    if n_present < len(rows):
        with_missing = _gains(data.rules.criterion, below + missing, total)
        takes_left = 2 * below[:, -1] >= total[-1] - missing[-1]
        is_level = data.rules.missing_is_level
        gains = np.where(takes_left, with_missing, gains) if is_level else np.maximum(gains, with_missing)
    return GainCurve(thresholds, np.maximum(gains, 0.0))


def _search_at(
    tree: Tree, path: Path, rows: NDArray[np.int64], data: NodeRows, flag: StopFlag
) -> NodeSearch | None:
    """Return what finds the splits of the node of `rows`; None when a stop came."""
    n_drawn = np.bincount(rows, minlength=len(data.presorted.X))
    order = orders_of_rows(data.presorted, n_drawn, lambda *_: flag.ask())
    lower, upper = (bounds[tree.node_at(path)] for bounds in bounds_of(tree, data.rules.directions))
    rules = data.rules._replace(lower=float(lower), upper=float(upper), is_random=False)
    if order is None:
        return None
    search = NodeSearch(data.presorted, order, data.y, data.w, rules, np.uint64(0))
    if flag.ask():
        return None
    search.look_at_root()
    return search


def validation_rows(tree: Tree, path: Path, data: NodeRows) -> Part:
    """Return X, y and weights of the validation rows that reach a node; None where there is no such part."""
    if data.X_val is None or data.y_val is None or data.w_val is None:
        return None
    rows = rows_at(tree, path, data.X_val)
    rows = rows[data.w_val[rows] > 0]
    return data.X_val[rows], data.y_val[rows], data.w_val[rows]


def children_of_split(
    split: SplitFound, x: Floats, missing_child: int, unseen_child: int
) -> NDArray[np.int64]:
    """Return the child of every value, NaN being missing; levels that the split does not list are unseen."""
    question = split.kind, split.threshold, split.levels
    return children_of_question(*question, x, missing_child, unseen_child)


def children_of_unknown(
    split: SplitFound, x: Floats, w: Floats, *, missing_is_level: bool
) -> tuple[int, int]:
    """Return the children of missing values and of unseen levels, as growing settles them (contracts D7).

    x, w  float64 (n_rows,)  the column and the weights of the node's training rows
    """
    is_settled = split.missing_child >= 0
    if is_settled and (split.kind == THRESHOLD or not missing_is_level):
        return split.missing_child, split.missing_child
    children = children_of_split(split, x, split.missing_child, 0)
    larger = int(np.argmax(np.bincount(children, weights=w)))
    return split.missing_child if is_settled else larger, larger


def _validation_gain(
    split: SplitFound, feature: int, data: NodeRows, training: NDArray[np.int64], validation: Part
) -> float:
    if validation is None or not len(validation[1]):
        return np.nan
    X, y, w = validation
    x, rules = X[:, feature].astype(np.float64), data.rules
    unknown = (-1, -1)
    if split.kind != THRESHOLD or np.isnan(x).any():  # else every row knows its side
        seen = data.presorted.X[training, feature].astype(np.float64)
        unknown = children_of_unknown(split, seen, data.w[training], missing_is_level=rules.missing_is_level)
    is_first = children_of_split(split, x, *unknown) == 0
    if rules.criterion == ABSOLUTE_ERROR:
        return _gain_by_medians(is_first, y, w)
    sums = _sums_of(rules, y, w)
    left = sums[is_first].sum(axis=0)
    total = sums.sum(axis=0)
    if min(left[-1], total[-1] - left[-1]) <= 0:
        return np.nan
    return float(_gains(rules.criterion, left[None], total)[0])


def _gain_by_medians(is_first: NDArray[np.bool_], y: Floats, w: Floats) -> float:
    if is_first.all() or not is_first.any():
        return np.nan
    of_sides = [describe_numbers("absolute_error", y[s], w[s])[1] * w[s].sum() for s in (is_first, ~is_first)]
    return float(describe_numbers("absolute_error", y, w)[1] - sum(of_sides) / w.sum())


def _sums_of(rules: Rules, y: Floats, w: Floats) -> Floats:
    """Return what rows add to a node's sums: weights by class or the weighted target, and last the weight."""
    if rules.criterion in (SQUARED_ERROR, POISSON):
        # squared error is the same around any centre: around the mean digits are kept
        centre = np.average(y, weights=w) if rules.criterion == SQUARED_ERROR else 0.0
        return np.column_stack([w * (y - centre), w])
    sums = np.zeros((len(y), rules.n_sums + 1))
    sums[np.arange(len(y)), y.astype(np.int64)] = sums[:, -1] = w
    return sums


def _gains(criterion: int, left: Floats, total: Floats) -> Floats:
    """Return the decrease of impurity where `total` is divided into `left` (n, n_sums + 1) and the rest."""
    parts = _purities(criterion, left) + _purities(criterion, total - left)
    return np.asarray((parts - _purities(criterion, total[None])) / total[-1])


def _purities(criterion: int, sums: Floats) -> Floats:
    """Return what `engine.tree.kernels.impurity.purity` does, for many nodes at once."""
    has_weight = sums[:, -1:] > 0  # what is left of a total may be nothing but rounding
    values, weight = np.where(has_weight, sums[:, :-1], 0.0), np.where(has_weight, sums[:, -1:], 1.0)
    if criterion == SQUARED_ERROR:
        return np.asarray((values * (values / weight)).sum(axis=1))
    values = np.maximum(values, 0.0)
    if criterion == MISCLASSIFICATION:
        return np.asarray(values.max(axis=1))
    if criterion == GINI:
        return np.asarray((values * (values / weight)).sum(axis=1))
    bits = xlogy(values, values / weight).sum(axis=1)
    return np.asarray(2 * bits if criterion == POISSON else bits / np.log(2))
