"""How much two columns tell of each other: joint and conditional entropies, mutual information, in bits.

Shannon 1948; the chain rule is H(X, Y) = H(X | Y) + H(Y). Numbers are cut into ranges first, and told how.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError, ParameterError

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
EQUAL_COUNTS, EQUAL_WIDTHS = "equal counts", "equal widths"
WAYS = (EQUAL_COUNTS, EQUAL_WIDTHS)
MAX_CELLS = 1_000_000


def entropy(counts: Counts) -> float:
    """Return the entropy of counts along all axes, in bits; 0 without rows, as 0 log 0 is 0."""
    n = int(counts.sum())
    share = counts[counts > 0] / n if n else np.empty(0)
    return abs(float(-(share * np.log2(share)).sum()))  # not -0 of a single value


def entropy_of_rows(counts: Counts) -> Floats:
    """Return the entropy of each row of counts, in bits; 0 of one that is empty: float64 (n_rows,)."""
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    logarithm = np.log2(share, out=np.zeros(share.shape), where=share > 0)
    return np.asarray(np.abs((share * logarithm).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class JointCounts:
    """How many rows have each value of X beside each value of Y, and what follows from it.

    Attributes
    ----------
    counts : int64 (n_x, n_y)
    """

    counts: Counts

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def of_x(self) -> Counts:
        """Rows of each value of X."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def of_y(self) -> Counts:
        """Rows of each value of Y."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def entropy_x(self) -> float:
        """H(X)."""
        return entropy(self.of_x)

    @property
    def entropy_y(self) -> float:
        """H(Y)."""
        return entropy(self.of_y)

    @property
    def joint_entropy(self) -> float:
        """H(X, Y)."""
        return entropy(self.counts)

    @cached_property
    def y_given_each_x(self) -> Floats:
        """H(Y | X = x) for each value of X; 0 for one that no row has."""
        return entropy_of_rows(self.counts)

    @cached_property
    def x_given_each_y(self) -> Floats:
        """H(X | Y = y) for each value of Y; 0 for one that no row has."""
        return entropy_of_rows(self.counts.T)

    @property
    def y_given_x(self) -> float:
        """H(Y | X), the mean of H(Y | X = x) over the rows."""
        return float(self.of_x @ self.y_given_each_x) / max(self.n_rows, 1)

    @property
    def x_given_y(self) -> float:
        """H(X | Y), the mean of H(X | Y = y) over the rows."""
        return float(self.of_y @ self.x_given_each_y) / max(self.n_rows, 1)

    @property
    def mutual_information(self) -> float:
        """I(X; Y) = sum p(x, y) log2 p(x, y) / (p(x) p(y)), the gain of a split by X; never below 0."""
        n, x, y = self.n_rows, *np.nonzero(self.counts)
        if not n:
            return 0.0
        both = self.counts[x, y] / n
        apart = (self.of_x[x] / n) * (self.of_y[y] / n)
        return max(float((both * np.log2(both / apart)).sum()), 0.0)


def joint_counts(x: NDArray[np.integer], y: NDArray[np.integer], n_x: int, n_y: int) -> JointCounts:
    """Count rows.

    Parameters
    ----------
    x, y : int (n_rows,)
        Codes from 0; rows with a negative one lack a value and are left out.
    n_x, n_y : int
        How many codes there are.

    Raises
    ------
    DataError
        There would be more than `MAX_CELLS` cells.
    """
    if n_x * n_y > MAX_CELLS:
        raise DataError(
            f"{n_x:,} values beside {n_y:,} are over {MAX_CELLS:,} cells; choose columns of fewer values"
        )
    is_known = (x >= 0) & (y >= 0)
    cells = x[is_known].astype(np.int64) * n_y + y[is_known]
    return JointCounts(np.bincount(cells, minlength=n_x * n_y).reshape(n_x, n_y))


def cut_points(values: Floats, n_ranges: int, way: str) -> Floats:
    """Return where numbers are cut into ranges: at most ``n_ranges - 1`` different places, ascending.

    Parameters
    ----------
    values : float64 (n_rows,)
        Missing and infinite ones are passed over.
    n_ranges : int
    way : str
        `EQUAL_COUNTS`: about as many rows in each range, cut half way between values; equal values stay
        together. `EQUAL_WIDTHS`: ranges of one width from the least to the largest value.

    Raises
    ------
    ParameterError
        There is no such way, or fewer than one range is asked for.
    """
    if way not in WAYS or n_ranges < 1:
        raise ParameterError(f"{n_ranges} ranges of {way!r}; enter 1 or more, of {' or '.join(WAYS)}")
    known = np.sort(values[np.isfinite(values)])
    if not len(known):
        return np.empty(0)
    if way == EQUAL_WIDTHS:
        ends = known[0] * (1 - (shares := np.arange(1, n_ranges) / n_ranges)) + known[-1] * shares
        return np.unique(ends[(ends >= known[0]) & (ends < known[-1])])
    last = np.unique(known[np.ceil(np.arange(1, n_ranges) * len(known) / n_ranges).astype(np.int64) - 1])
    last = last[last < known[-1]]
    following = known[np.searchsorted(known, last, side="right")]
    middle = last / 2 + following / 2
    return np.asarray(np.where(middle < following, middle, last))


def cut(values: Floats, cuts: Floats) -> NDArray[np.int64]:
    """Return the range of each value, ``x <= cut`` in the lower one; -1 for missing ones."""
    return np.asarray(np.where(np.isnan(values), -1, np.searchsorted(cuts, values, side="left")))
