"""Leaves' rows, block of rows by block: what is told of a block's rows stays in the cache for all leaves.

Leaf by leaf, every leaf would fetch nearly all anew, and two threads would write to the same cache lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.boosting.kernels import partition as kernels
from engine.parallel import for_chunks

if TYPE_CHECKING:
    from engine.boosting.grown import Node

BLOCK = 32768  # rows; fixed, so sums have the same bits everywhere
MOST_BOUNDS = 2**20
N_SUMS = 3  # gradients, hessians, weights

Floats = NDArray[np.float64]


class RowBlocks:
    """Where the rows of each block stand in each of some nodes.

    Parameters
    ----------
    sample_indices : int32 (n_rows_grown_on,)
    nodes : sequence of Node
        Nodes without rows in common; each holds its rows in ascending order.

    Attributes
    ----------
    n_blocks : int
    """

    def __init__(self, sample_indices: NDArray[np.int32], nodes: Sequence[Node]) -> None:
        self._rows = sample_indices
        stretches = [(node.start, node.stop) for node in nodes]
        self._stretches = np.array(stretches, dtypes.COUNT_DTYPE).reshape(-1, 2)
        last = sample_indices[self._stretches[:, 1] - 1]
        n_rows = int(last.max(initial=-1)) + 1
        self.n_blocks = min(-(-n_rows // BLOCK), max(1, MOST_BOUNDS // max(len(nodes), 1)))
        self._block = -(-n_rows // max(self.n_blocks, 1))
        self._bounds: dict[int, NDArray[np.int64]] = {}
        self._is_small = int((self._stretches[:, 1] - self._stretches[:, 0]).sum()) <= BLOCK

    def sums(self, gradients: Floats, hessians: Floats, weights: Floats, n_jobs: int | None) -> Floats:
        """Return each node's sums, block by block: float64 (n_nodes, 3).

        Parameters
        ----------
        gradients, hessians, weights : float64 (n_rows,)
            Weights may be empty, if all are 1.
        """
        sums = np.zeros((self.n_blocks, len(self._stretches), N_SUMS))

        def add(block: int, _start: int, _stop: int) -> None:
            kernels.sum_block(self._rows, self._bounds_of(block), gradients, hessians, weights, sums[block])

        for_chunks(add, self.n_blocks, 1, 1 if self._is_small else n_jobs)
        return np.asarray(sums.sum(axis=0))

    def add_values(self, values: Floats, class_idx: int, raw: Floats, n_jobs: int | None) -> None:
        """Add each node's value to its rows' raw predictions.

        Parameters
        ----------
        values : float64 (n_nodes,)
        raw : float64 (n_rows, n_raw)
            Column `class_idx` changes.
        """

        def add(block: int, _start: int, _stop: int) -> None:
            kernels.add_to_block(self._rows, self._bounds_of(block), values, class_idx, raw)

        for_chunks(add, self.n_blocks, 1, 1 if self._is_small else n_jobs)

    def _bounds_of(self, block: int) -> NDArray[np.int64]:
        """Where the block's rows stand in each node, found once: int64 (n_nodes, 2)."""
        if block not in self._bounds:
            bounds = np.empty((len(self._stretches), 2), dtypes.COUNT_DTYPE)
            first = block * self._block
            kernels.find_bounds(self._rows, self._stretches, first, first + self._block, bounds)
            self._bounds[block] = bounds
        return self._bounds[block]
