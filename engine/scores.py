"""Scores that several kinds of models tell of themselves."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

Floats = NDArray[np.float64]


def r_squared(y: Floats, predicted: Floats, weights: Floats) -> float:
    """Return R squared of some rows: NaN of fewer than two, minus infinity where errors dwarf the spread."""
    if len(y) < 2:
        return math.nan
    with np.errstate(over="ignore"):
        return float(r2_score(y, predicted, sample_weight=weights))
