"""Splits by a statistic of a category, asked as questions about its levels; see `engine.boosting.ordered`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from engine.boosting.grown import Node, Split
from engine.boosting.ordered import EVERYWHERE, Statistic


def level_split(
    statistic: Statistic, column: int, cut: float, between: tuple[float, float], is_low: NDArray[np.uint8],
    gain: float, rows: NDArray[np.int32],
) -> Split:  # fmt: skip
    """Ask some rows for the levels whose statistics are on either side of a cut, instead of for it."""
    asked = statistic.question(cut, between)
    codes_left = is_low if asked.is_low_left else 1 - is_low
    return Split(
        statistic.feature, asked.kind, math.nan, asked.levels, statistic.n_missing(rows), asked.goes_left,
        gain, column, codes_left, cut, asked.unknown_child,
    )  # fmt: skip


def hand_on_between(node: Node, left: Node, right: Node, is_of_statistic: bool) -> None:
    """Tell the children of a split node which bins of columns of statistics can come to them."""
    left.between = right.between = node.between
    if node.split is not None and is_of_statistic:
        column, cut = node.split.column, node.split.cut
        low, high = (left, right) if node.split.codes_left[0] else (right, left)
        above, below = node.between.get(column, EVERYWHERE)
        low.between = node.between | {column: (above, cut)}
        high.between = node.between | {column: (cut, below)}
