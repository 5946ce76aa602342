"""Leaves' rows, block of rows by block: what is told of a block's rows stays in the cache for all leaves.

Leaf by leaf, every leaf would fetch nearly all anew, and two threads would write to the same cache lines.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.boosting.kernels import partition as kernels
from engine.boosting.team import Team

BLOCK = 32768  # rows; fixed, so sums have the same bits everywhere
MOST_BOUNDS = 2**20
N_SUMS = 3  # gradients, hessians, weights

Floats = NDArray[np.float64]
Meanwhile = Callable[[], None] | None


class RowBlocks:
    """Where the rows of each block stand in each of some nodes.

    Parameters
    ----------
    sample_indices : int32 (n_rows_grown_on,)
    stretches : int64 (n_nodes, 2)
        From where up to where each node's rows stand, which ascend; no two nodes have one in common.

    Attributes
    ----------
    n_blocks : int
    """

    def __init__(self, sample_indices: NDArray[np.int32], stretches: NDArray[np.int64]) -> None:
        self._rows, self._stretches = sample_indices, stretches
        last = sample_indices[stretches[:, 1] - 1]
        n_rows = int(last.max(initial=-1)) + 1
        self.n_blocks = min(-(-n_rows // BLOCK), max(1, MOST_BOUNDS // max(len(stretches), 1)))
        self._block = -(-n_rows // max(self.n_blocks, 1))
        self._bounds = np.empty((self.n_blocks, len(stretches), 2), dtypes.COUNT_DTYPE)

    def sums(
        self, gradients: Floats, hessians: Floats, weights: Floats, team: Team, meanwhile: Meanwhile = None
    ) -> Floats:
        """Return each node's sums, block by block: float64 (n_nodes, 3).

        Parameters
        ----------
        gradients, hessians, weights : float64 (n_rows,)
            Weights may be empty, if all are 1.
        """
        sums = np.empty((*self._bounds.shape[:2], N_SUMS))
        derivatives = (gradients, hessians, weights, sums)
        blocks = (team.shared, self._block, self._rows, self._stretches, self._bounds, *derivatives)
        team.together(lambda _thread: kernels.sum_blocks(*blocks), meanwhile)
        return np.asarray(sums.sum(axis=0))

    def add_values(
        self, values: Floats, class_idx: int, raw: Floats, team: Team, meanwhile: Meanwhile = None
    ) -> None:
        """Add each node's value to its rows' raw predictions; the nodes' sums are known by then.

        Parameters
        ----------
        values : float64 (n_nodes,)
        raw : float64 (n_rows, n_raw)
            Column `class_idx` changes.
        """
        blocks = (team.shared, self._rows, self._bounds, values, class_idx, raw)
        team.together(lambda _thread: kernels.add_to_blocks(*blocks), meanwhile)
