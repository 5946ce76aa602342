"""Grows ID3 and C4.5 trees: one branch a level for categories, two-way thresholds for numbers.

Quinlan 1986 (ID3: the largest information gain) and 1993 (C4.5: the largest gain ratio among splits whose
gain is at least the average of all that were looked at). Written with numpy: these trees are small, and no
kernel has to be compiled for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.base import TrainingData
from engine.kernels.numeric import midpoint
from engine.tree.grow import GrownTree
from engine.tree.kernels.layout import DECREASE_SLACK, TIE_SHARE, Rules
from engine.tree.presort import Ask
from engine.tree.structure import IS_MISSING, LEAF, MULTIWAY, NO_CHILD, THRESHOLD, compact

LEAST_GAIN = 1e-12  # C4.5 stops at it; ID3 goes on (D15)

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


class Split(NamedTuple):
    """A question, and the child of every row of its node.

    Attributes
    ----------
    feature, kind : int
    gain : float
        Bits.
    split_information : float
        Entropy of the branches' weights, bits.
    threshold : float
        NaN where the kind is not THRESHOLD.
    missing_child : int
        -1 where no row misses the feature.
    """

    feature: int
    kind: int
    gain: float
    split_information: float
    threshold: float
    missing_child: int

    @property
    def gain_ratio(self) -> float:
        """Gain per bit of split information (Quinlan 1993)."""
        return self.gain / self.split_information if self.split_information > 0 else 0.0


@dataclass
class _Node:
    """A node in the making: what it holds and, once it is split, its question."""

    rows: Rows
    n_rows: int
    weight: float
    depth: int
    value: Floats
    used: frozenset[int]
    split: Split | None = None
    first_child: int = NO_CHILD
    n_children: int = 0
    n_missing: int = 0
    missing_child: int = NO_CHILD
    unseen_child: int = NO_CHILD
    levels: list[tuple[int, int]] = field(default_factory=list)


class MultiwayGrower:
    """One ID3 or C4.5 tree in the making.

    Parameters
    ----------
    data : TrainingData
        Of a classification.
    rules : Rules
        Of these the limits are used; a split with one branch a level needs two branches with enough rows.
    algorithm : "id3" or "c4.5"
    """

    def __init__(self, data: TrainingData, rules: Rules, algorithm: str) -> None:
        self._X, self._y, self._w = data.X, data.y.astype(np.int64), data.sample_weight
        self._rules, self._n_classes = rules, data.n_classes
        self._uses_ratio = algorithm == "c4.5"
        # levels that training saw: each has a branch wherever its column is asked, an empty one too
        self._levels = [
            np.flatnonzero(np.bincount(column[~np.isnan(column)].astype(np.int64)))
            if spec.is_categorical
            else None
            for spec, column in zip(data.features, data.X.T, strict=True)
        ]
        self._has_branch = [  # of missing values
            rules.missing_is_level and levels is not None and bool(np.isnan(column).any())
            for levels, column in zip(self._levels, data.X.T, strict=True)
        ]
        self._nodes: list[_Node] = []
        self._root_impurity = 0.0

    def grow(self, ask: Ask, rows: Rows | None = None, used: frozenset[int] = frozenset()) -> GrownTree:
        """Grow until the rules or `ask` end it; every row is in some leaf in either case.

        Parameters
        ----------
        ask : Ask
        rows : int64 (n_rows,), optional
            Those to grow on; by default all.
        used : frozenset of int
            Categories that were asked already, above a branch.
        """
        rows = np.arange(len(self._y)) if rows is None else rows
        n_rows, n_done, is_stopped = len(rows), 0, False
        self._nodes = [self._new_node(rows, 0, np.zeros(0), used)]
        self._root_impurity = entropy(self._nodes[0].value)
        waiting = [0]
        while waiting and not is_stopped:
            number = waiting.pop()
            candidates = []
            for candidate in self._candidates(self._nodes[number]):
                is_stopped = ask(len(self._nodes), n_done / n_rows)
                if is_stopped:
                    break
                if candidate is not None:
                    candidates.append(candidate)
            best = None if is_stopped else self._choose(self._nodes[number], candidates)
            if best is None:
                n_done += self._nodes[number].n_rows
            else:
                self._apply(number, best)
                waiting.extend(reversed(range(self._nodes[number].first_child, len(self._nodes))))
        return GrownTree(compact(self._to_arrays()), is_stopped)

    def _new_node(self, rows: Rows, depth: int, of_parent: Floats, used: frozenset[int]) -> _Node:
        """Return a node; without rows it answers as its parent does."""
        sums = np.bincount(self._y[rows], weights=self._w[rows], minlength=self._n_classes)
        weight = float(sums.sum())
        value = sums / weight if len(rows) else of_parent
        return _Node(rows, len(rows), weight, depth, value, used)

    def _candidates(self, node: _Node) -> Iterator[Split | None]:
        """Yield the best split of every column that may be asked, in order; None where there is none."""
        rules, impurity = self._rules, entropy(node.value)
        is_final = impurity == 0 or node.n_rows < rules.min_samples_split
        if is_final or node.depth == rules.max_depth:
            return
        for feature in range(len(self._levels)):
            yield self._best_of(node, feature, impurity)

    def _best_of(self, node: _Node, feature: int, impurity: float) -> Split | None:
        levels = self._levels[feature]
        x = self._X[node.rows, feature].astype(np.float64)
        if levels is None:
            return self._best_threshold(node, feature, x, impurity)
        return None if feature in node.used else self._level_split(node, feature, x, levels, impurity)

    def level_split_of(self, rows: Rows, feature: int) -> Split | None:
        """Return a category's split of rows, at least one; None where the limits on leaves allow none."""
        node = self._new_node(rows, 0, np.zeros(0), frozenset())
        return self._best_of(node, feature, entropy(node.value))

    def is_eligible(self, splits: list[Split], impurity: float) -> list[bool]:
        """Tell which splits of a node may be chosen: all of ID3's, those of C4.5 that gain the average."""
        if not self._uses_ratio or not splits:
            return [True] * len(splits)
        mean = float(np.mean([split.gain for split in splits]))
        least = max(mean - TIE_SHARE * impurity, LEAST_GAIN)
        return [split.gain > least for split in splits]

    def _choose(self, node: _Node, candidates: list[Split]) -> Split | None:
        """Return the best candidate, the lowest column on a tie; None where no candidate is good enough."""
        impurity = entropy(node.value)
        is_eligible = self.is_eligible(candidates, impurity)
        best: Split | None = None
        for split in (split for split, is_one in zip(candidates, is_eligible, strict=True) if is_one):
            if best is None or self.merit(split) > self.merit(best) + TIE_SHARE * impurity:
                best = split
        if best is None:
            return None
        share = node.weight / self._rules.total_weight
        least = max(self._rules.min_decrease, self._rules.min_relative_decrease * self._root_impurity)
        return best if share * best.gain >= least - DECREASE_SLACK else None

    def merit(self, split: Split) -> float:
        """Return what the largest of is chosen: the gain, in C4.5 the gain ratio."""
        return split.gain_ratio if self._uses_ratio else split.gain

    def _class_sums(self, rows: Rows, group: Rows, n_groups: int) -> Floats:
        """Return the weight of every class in every group of rows: float64 (n_groups, n_classes)."""
        flat = np.bincount(
            group * self._n_classes + self._y[rows],
            weights=self._w[rows],
            minlength=n_groups * self._n_classes,
        )
        return np.asarray(flat.reshape(n_groups, self._n_classes))

    def _level_split(
        self, node: _Node, feature: int, x: Floats, levels: Rows, impurity: float
    ) -> Split | None:
        """Return the split with one branch a level.

        Missing values take a branch of their own, the last, or the one where they help most.
        """
        missing, n_levels = np.isnan(x), len(levels)
        if n_levels == 0:  # training saw the column in no row
            return None
        has_branch = self._has_branch[feature]
        child = np.where(missing, n_levels, np.searchsorted(levels, np.where(missing, levels[:1], x)))
        of_known = np.full(len(x), True) if has_branch else ~missing
        sums = self._class_sums(node.rows[of_known], child[of_known], n_levels + has_branch)
        counts = np.bincount(child[of_known], minlength=n_levels + has_branch)
        present = np.flatnonzero(counts)
        if len(present) < 2:
            return None
        purity, missing_child = _purity(sums), n_levels if has_branch and missing.any() else -1
        if missing.any() and not has_branch:
            extra = self._class_sums(node.rows[missing], np.zeros(missing.sum(), np.int64), 1)[0]
            gains = _purity(sums[present] + extra) - purity[present]
            missing_child = int(present[_first_best(gains, impurity * node.weight)])
            sums[missing_child] += extra
            counts[missing_child] += missing.sum()
        weights = sums.sum(axis=1)
        is_large = (counts >= self._rules.min_samples_leaf) & (weights >= self._rules.min_weight_leaf)
        if np.count_nonzero(is_large & (counts > 0)) < 2:
            return None
        total = weights.sum()
        gain = impurity + _purity(sums).sum() / total
        return Split(feature, MULTIWAY, float(gain), entropy(weights / total), np.nan, missing_child)

    def _best_threshold(self, node: _Node, feature: int, x: Floats, impurity: float) -> Split | None:
        """Return the threshold with the largest gain; missing values on the right, then left, then alone."""
        missing = np.isnan(x)
        n_missing = int(missing.sum())
        present = np.flatnonzero(~missing)
        present = present[np.argsort(x[present], kind="stable")]
        values = x[present]
        bounds = np.flatnonzero(values[:-1] != values[1:])
        one_hot = np.zeros((len(present), self._n_classes))
        one_hot[np.arange(len(present)), self._y[node.rows[present]]] = self._w[node.rows[present]]
        below = np.cumsum(one_hot, axis=0)[bounds] if len(bounds) else np.zeros((0, self._n_classes))
        extra = np.bincount(
            self._y[node.rows[missing]], weights=self._w[node.rows[missing]], minlength=self._n_classes
        )
        total = one_hot.sum(axis=0) + extra
        left, n_left, sides = below, bounds + 1, np.full(len(bounds), 1 if n_missing else -1)
        if n_missing:
            left = np.concatenate([np.stack([below, below + extra], 1).reshape(-1, self._n_classes), [extra]])
            n_left = np.append(np.stack([bounds + 1, bounds + 1 + n_missing], 1).ravel(), n_missing)
            sides = np.append(np.tile([1, 0], len(bounds)), 0)
        is_allowed = self._is_allowed(left, n_left, total, len(x))
        if not is_allowed.any():
            return None
        weight = total.sum()
        if self._rules.missing_is_level and n_missing:
            takes_left = 2 * below.sum(axis=1) >= weight - extra.sum()
            is_allowed &= np.append(np.stack([~takes_left, takes_left], 1).ravel(), True)
            if not is_allowed.any():
                return None
        gains = impurity + (_purity(left) + _purity(total - left)) / weight
        at = _first_best(np.where(is_allowed, gains, -np.inf), impurity)
        share = left[at].sum() / weight
        information = entropy(np.array([share, 1 - share]))
        if n_missing and at == len(sides) - 1:
            return Split(feature, IS_MISSING, float(gains[at]), information, np.nan, 0)
        bound = bounds[at // 2 if n_missing else at]
        threshold = _midpoint(float(values[bound]), float(values[bound + 1]))
        return Split(feature, THRESHOLD, float(gains[at]), information, threshold, int(sides[at]))

    def _is_allowed(self, left: Floats, n_left: Rows, total: Floats, n_rows: int) -> NDArray[np.bool_]:
        weights, rules = left.sum(axis=1), self._rules
        rest = total.sum() - weights
        has_rows = (n_left >= rules.min_samples_leaf) & (n_rows - n_left >= rules.min_samples_leaf)
        least = max(rules.min_weight_leaf, np.finfo(np.float64).tiny)
        return np.asarray(has_rows & (weights >= least) & (rest >= least))

    def _apply(self, number: int, split: Split) -> None:
        """Make a node's children."""
        node = self._nodes[number]
        x = self._X[node.rows, split.feature].astype(np.float64)
        missing = np.isnan(x)
        child, n_children = self._children_of(split, x, missing)
        if split.kind == MULTIWAY:
            node.levels = [(int(code), k) for code, k in self.levels_of(split)]
        used = node.used | {split.feature} if split.kind == MULTIWAY else node.used
        node.split, node.n_missing = split, int(missing.sum())
        node.first_child, node.n_children = len(self._nodes), n_children
        weights = np.bincount(child, weights=self._w[node.rows], minlength=n_children)
        larger = int(np.argmax(weights))
        node.missing_child = split.missing_child if node.n_missing else larger
        if (own := self.branch_of_missing(split)) >= 0:
            node.missing_child = own  # an empty one too
        follows_missing = split.kind == THRESHOLD or not self._rules.missing_is_level
        node.unseen_child = node.missing_child if follows_missing else larger
        if split.kind == IS_MISSING:
            node.unseen_child = 1
        for k in range(n_children):
            rows = node.rows[child == k]
            self._nodes.append(self._new_node(rows, node.depth + 1, node.value, used))
        node.rows = node.rows[:0]  # its children have them

    def branch_of_missing(self, split: Split) -> int:
        """Return the branch that a split with one branch a level has for missing values, -1: it has none."""
        levels = self._levels[split.feature]
        has_branch = split.kind == MULTIWAY and levels is not None and self._has_branch[split.feature]
        return len(levels) if has_branch and levels is not None else -1

    def levels_of(self, split: Split) -> NDArray[np.int32]:
        """Return level codes and children of a split with one branch a level, none of another's."""
        levels = self._levels[split.feature]
        if split.kind != MULTIWAY or levels is None:
            return np.empty((0, 2), np.int32)
        return np.column_stack([levels, np.arange(len(levels))]).astype(np.int32)

    def _children_of(self, split: Split, x: Floats, missing: NDArray[np.bool_]) -> tuple[Rows, int]:
        if split.kind == IS_MISSING:
            return np.where(missing, 0, 1), 2
        if split.kind == THRESHOLD:
            return np.where(missing, split.missing_child, x > split.threshold).astype(np.int64), 2
        levels = self._levels[split.feature]
        assert levels is not None
        child = np.searchsorted(levels, np.where(missing, levels[0], x))
        n_children = len(levels) + self._has_branch[split.feature]
        return np.where(missing, split.missing_child, child), n_children

    def _to_arrays(self) -> dict[str, Any]:
        nodes = self._nodes
        asked = [node.split for node in nodes]
        sizes = [len(node.levels) for node in nodes]
        return {
            "feature": [NO_CHILD if split is None else split.feature for split in asked],
            "kind": [LEAF if split is None else split.kind for split in asked],
            "threshold": [np.nan if split is None else split.threshold for split in asked],
            "level_offsets": np.concatenate([[0], np.cumsum(sizes)]),
            "level_sets": np.array([pair for node in nodes for pair in node.levels], np.int64).reshape(-1, 2),
            "first_child": [node.first_child for node in nodes],
            "n_children": [node.n_children for node in nodes],
            "missing_child": [node.missing_child for node in nodes],
            "unseen_child": [node.unseen_child for node in nodes],
            "value": np.array([node.value for node in nodes]),
            "impurity": [entropy(node.value) for node in nodes],
            "gain": [0.0 if split is None else max(split.gain, 0.0) for split in asked],
            "n_node_samples": [node.n_rows for node in nodes],
            "weighted_n_node_samples": [node.weight for node in nodes],
            "n_missing": [node.n_missing for node in nodes],
        }


def information_gain(child: Rows, y: NDArray[np.int64], w: Floats) -> float:
    """Return how many bits the branches `child` of rows tell about their classes `y`, weighted by `w`."""
    n_branches, n_classes = int(child.max()) + 1, int(y.max()) + 1
    flat = np.bincount(child * n_classes + y, weights=w, minlength=n_branches * n_classes)
    sums = np.asarray(flat, np.float64).reshape(n_branches, n_classes)
    total = sums.sum(axis=0)
    return entropy(total / total.sum()) + float(_purity(sums).sum() / total.sum())


def entropy(shares: Floats) -> float:
    """Return the entropy of shares that sum to 1, in bits."""
    known = shares[shares > 0]
    return float(max(-(known * np.log2(known)).sum(), 0.0))


def _purity(sums: Floats) -> Floats:
    """Return minus weight x entropy of class sums (n_groups, n_classes): float64 (n_groups,)."""
    weights = sums.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(sums > 0, sums * np.log2(sums / weights), 0.0)
    return np.asarray(terms.sum(axis=1))


def _first_best(merits: Floats, scale: float) -> int:
    """Return the first of those that are the largest but for rounding."""
    return int(np.flatnonzero(merits >= merits.max() - TIE_SHARE * scale)[0])


def _midpoint(lower: float, upper: float) -> float:
    """Return a number with ``lower <= number < upper``, halfway where doubles allow it."""
    return float(midpoint(lower, upper))
