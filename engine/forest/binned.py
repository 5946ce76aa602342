"""Trees whose thresholds lie between bins: on codes, or by the exact kernels on a table of codes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.binning import BinnedTable
from engine.forest.kernels import binned as kernels
from engine.tree.grow import WORK_BUDGET, Grower
from engine.tree.kernels import layout
from engine.tree.presort import Ask, Presorted
from engine.tree.structure import THRESHOLD, Tree


class BinnedGrower(Grower):
    """One tree in the making, on codes.

    Parameters
    ----------
    binned : BinnedTable
        Numbers alone, in codes of one byte.
    rows : int64 (n_rows,)
        Rows to grow on, all of positive weight.
    columns : intp (n_columns,)
        Columns that the tree may ask about.
    y, w : float64 (n_samples,)
        Target or class index, and weight.
    rules : layout.Rules
        Of so many columns; any criterion but absolute error.
    seed : uint64
    """

    def __init__(
        self, binned: BinnedTable, rows: NDArray[np.int64], columns: NDArray[np.intp],
        y: NDArray[np.float64], w: NDArray[np.float64], rules: layout.Rules, seed: np.uint64,
    ) -> None:  # fmt: skip
        is_level = np.zeros(binned.n_features, np.uint8)
        codes = dtypes.as_input(binned.codes[rows])  # rows that were drawn alone: fewer to keep in the cache
        order = np.arange(len(rows))[None, :]
        super().__init__(Presorted(codes, order, is_level), order, y[rows], w[rows], rules, seed)
        self.rows_aside = 0
        self._thresholds = binned.thresholds
        self._scratch = self._scratch._replace(features=columns.astype(dtypes.NODE_DTYPE))
        is_number = rules.criterion in (layout.SQUARED_ERROR, layout.POISSON)
        n_channels = 3 if is_number else 1 + rules.n_sums
        self._binned = kernels.Binned(
            codes,
            dtypes.as_input(binned.n_bins),
            np.zeros((kernels.COLUMNS_AT_ONCE, kernels.N_CODES, n_channels)),
            np.zeros((kernels.COLUMNS_AT_ONCE, kernels.N_WORDS), np.int64),
        )

    def _grow_in_one_kernel(self, ask: Ask) -> bool:
        while self._state[layout.STATE_PHASE] != layout.DONE:
            self._make_room()
            kernels.grow_binned(
                self._binned, self._sample, self._rules, self._nodes, self._best, self._scratch, self._state,
                self._stack, self._random_state, WORK_BUDGET,
            )  # fmt: skip
            if ask(int(self._state[layout.STATE_NODES]), self._fraction()):
                break
        return bool(self._state[layout.STATE_PHASE] != layout.DONE)

    def _fill_thresholds(self, arrays: dict[str, Any]) -> None:
        codes = (arrays["lower"].astype(np.int64) + arrays["upper"]) // 2
        _write_thresholds(arrays["feature"], arrays["kind"], codes, self._thresholds, arrays["threshold"])


def codes_as_numbers(X: NDArray[Any], binned: BinnedTable) -> NDArray[np.float32]:
    """Return the codes as a table for the exact kernels, missing as NaN; categories have their own codes."""
    table = binned.codes.astype(np.float32)
    table[np.isnan(X)] = np.nan
    return dtypes.as_input(table)


def between_bins(tree: Tree, binned: BinnedTable) -> Tree:
    """Return a tree grown on `codes_as_numbers` with thresholds of the table itself."""
    threshold = tree.threshold.copy()
    is_number = tree.kind == THRESHOLD
    codes = np.zeros(tree.n_nodes, np.int64)
    codes[is_number] = np.floor(threshold[is_number])
    _write_thresholds(tree.feature, tree.kind, codes, binned.thresholds, threshold)
    return replace(tree, threshold=threshold)


def _write_thresholds(
    feature: NDArray[Any], kind: NDArray[Any], codes: NDArray[np.int64],
    thresholds: tuple[NDArray[np.float64], ...], threshold: NDArray[np.float64],
) -> None:  # fmt: skip
    """Write the upper end of a bin as the threshold of every node that has one."""
    nodes = np.flatnonzero(kind == THRESHOLD)
    starts = np.cumsum([0, *map(len, thresholds)])[:-1]
    joined = np.concatenate(thresholds)
    threshold[nodes] = joined[starts[feature[nodes]] + codes[nodes]]
