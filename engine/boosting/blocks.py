"""Leaves' rows, block of rows by block: what a block holds of gradients or predictions stays in the cache.

Leaf by leaf, every leaf would fetch nearly all of it anew, and two threads would write to the same cache lines.
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
    """

    def __init__(self, sample_indices: NDArray[np.int32], nodes: Sequence[Node]) -> None:
        self._rows = sample_indices
        stretches = np.array([(node.start, node.stop) for node in nodes], dtypes.COUNT_DTYPE).reshape(-1, 2)
        last = sample_indices[stretches[:, 1] - 1]
        n_rows = int(last.max(initial=-1)) + 1
        n_blocks = min(-(-n_rows // BLOCK), max(1, MOST_BOUNDS // max(len(nodes), 1)))
        self._block = -(-n_rows // max(n_blocks, 1))
        self._bounds = np.empty((len(nodes), n_blocks + 1), dtypes.COUNT_DTYPE)
        kernels.find_bounds(sample_indices, stretches, self._block, self._bounds)
        self._is_small = int((stretches[:, 1] - stretches[:, 0]).sum()) <= BLOCK

    def sums(self, gradients: Floats, hessians: Floats, weights: Floats, n_jobs: int | None) -> Floats:
        """Return each node's sums, block by block: float64 (n_nodes, 3).

        Parameters
        ----------
        gradients, hessians, weights : float64 (n_rows,)
            Weights may be empty, if all are 1.
        """
        n_nodes, n_blocks = len(self._bounds), self._bounds.shape[1] - 1
        sums = np.zeros((n_blocks, n_nodes, N_SUMS))

        def add(block: int, _start: int, _stop: int) -> None:
            kernels.sum_block(self._rows, self._bounds, block, gradients, hessians, weights, sums[block])

        for_chunks(add, n_blocks, 1, 1 if self._is_small else n_jobs)
        return sums.sum(axis=0)

    def add_values(self, values: Floats, class_idx: int, raw: Floats, n_jobs: int | None) -> None:
        """Add each node's value to column `class_idx` of its rows' raw predictions, float64 (n_rows, n_raw)."""

        def add(block: int, _start: int, _stop: int) -> None:
            kernels.add_to_block(self._rows, self._bounds, block, values, class_idx, raw)

        for_chunks(add, self._bounds.shape[1] - 1, 1, 1 if self._is_small else n_jobs)
