"""Every column's best split of one node, without growing: what candidates and their curves ask for."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.kernels.numeric import midpoint
from engine.tree.grow import WORK_BUDGET, Grower
from engine.tree.kernels import grow as kernels
from engine.tree.kernels import layout, levels, medians, thresholds
from engine.tree.kernels.impurity import purity
from engine.tree.presort import Ask, never
from engine.tree.structure import IS_MISSING, THRESHOLD


class SplitFound(NamedTuple):
    """A column's best split of a node.

    Attributes
    ----------
    kind : int
        THRESHOLD, IS_MISSING or LEVEL_SET.
    threshold : float
        NaN where the kind is not THRESHOLD.
    levels : int32 (n_levels, 2)
        Code and child of every level of a LEVEL_SET.
    missing_child : int
        -1 where no row misses the column.
    gain : float
        Decrease of the impurity.
    """

    kind: int
    threshold: float
    levels: NDArray[np.int32]
    missing_child: int
    gain: float


class NodeSearch(Grower):
    """A tree in the making whose root is the node of interest, and which stays there; see `Grower`."""

    @property
    def root_impurity(self) -> float:
        """Impurity of all rows together."""
        return float(self._nodes.records["impurity"][0])

    @property
    def root_weight(self) -> float:
        """Weight of all rows together."""
        return float(self._nodes.records["weight"][0])

    def look_at_root(self) -> None:
        """Make ready to be asked about splits of all rows together, instead of growing."""
        self._plant_root()
        kernels.begin_evaluation(
            self._sample, self._rules, self._nodes, 0, self._best, self._scratch, self._state
        )
        if self._is_absolute:
            medians.begin_medians(self._sample, self._nodes, 0, self._scratch)

    def best_split_of(self, feature: int, ask: Ask = never) -> SplitFound | None:
        """Return one column's best split of all rows together; None where it has none that is allowed.

        A search by absolute error asks now and then, and returns None when it is stopped.
        """
        best, sums, order = self._best, self._scratch.sums[layout.TOTAL], self._sample.order[feature]
        if order[0] >> 32 == order[-1] >> 32:
            return None
        best.ints[layout.BEST_FEATURE] = -1
        node_purity = purity(self._rules.criterion, sums, self._nodes.records["weight"][0])
        is_level = self._sample.is_level[feature]
        scan = levels.scan_levels if is_level else thresholds.scan_thresholds
        if self._is_absolute:
            node = (np.int32(feature), self._nodes, 0, best, self._scratch)
            self._state[layout.STATE_PASS] = self._state[layout.STATE_WALKED] = 0
            while True:
                medians.scan_medians(self._sample, self._rules, *node, self._state, WORK_BUDGET)
                if self._state[layout.STATE_PASS] == 0:
                    break
                if ask(1, 0.0):
                    return None
        else:
            scan(
                self._sample,
                self._rules,
                np.int32(feature),
                self._nodes,
                0,
                float(node_purity),
                best,
                self._scratch,
            )
        if best.ints[layout.BEST_FEATURE] < 0:
            return None
        kind, threshold = int(best.ints[layout.BEST_KIND]), np.nan
        if kind == THRESHOLD:
            lower, upper = (self._X[best.ints[k], feature] for k in (layout.BEST_LOWER, layout.BEST_UPPER))
            threshold = float(midpoint(np.float64(lower), np.float64(upper)))
        n_entries = int(best.ints[layout.BEST_ENTRIES])
        missing_child = int(best.ints[layout.BEST_MISSING])
        gain = max(float(best.gain[0]), 0.0)
        return SplitFound(kind, threshold, best.sets[:n_entries].copy(), missing_child, gain)

    def weight_of_first(self, feature: int) -> float:
        """Return the weight of the rows that take the first side of the split of numbers found last."""
        best, order = self._best.ints, self._sample.order[feature]
        kind, missing = best[layout.BEST_KIND], np.searchsorted(order, layout.MISSING_RANK << 32)
        n_first = np.searchsorted(order, (best[layout.BEST_CUT] + 1) << 32) if kind == THRESHOLD else 0
        takes_missing = kind == IS_MISSING or best[layout.BEST_MISSING] == 0
        sides = [order[:n_first], order[missing:]] if takes_missing else [order[:n_first]]
        if self._has_unit_weights:
            return float(sum(map(len, sides)))
        return float(sum(self._sample.target[side & layout.ROW_MASK, 1].sum() for side in sides))

    @cached_property
    def _has_unit_weights(self) -> bool:
        return bool(np.all(self._sample.target[:, 1] == 1))

    def gains_by_medians(self, feature: int, ask: Ask = never) -> NDArray[np.float64]:
        """Return the gain by absolute error of a cut behind each row of a column's order: (n_rows - 1,).

        For use after `look_at_root`, where the column is not constant; only cuts between different values
        mean anything. Missing values are where they help most, or with the larger side, as the rules say.
        Where `ask` stops it, the gains mean nothing.
        """
        self.best_split_of(feature, ask)
        records, found = self._nodes.records[0], self._scratch.medians
        losses, left = (found[name][: self._n_rows - 1] for name in ("right", "left"))
        order = self._sample.order[feature]
        if order[-1] >> 32 == layout.MISSING_RANK:
            weights = self._sample.target[order & layout.ROW_MASK, 1]
            present = weights[order >> 32 != layout.MISSING_RANK].sum()
            takes_left = 2 * np.cumsum(weights)[:-1] >= present
            is_level = self._rules.missing_is_level
            losses = np.where(takes_left, left, losses) if is_level else np.minimum(losses, left)
        return np.asarray(records["impurity"] - losses / records["weight"])
