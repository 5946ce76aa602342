"""The unit in which squares of squares are summed, so that they are neither infinite nor nothing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def unit_of(*columns: NDArray[Any]) -> float:
    """Return a power of two near the largest of some finite numbers; 1 where all are 0.

    Dividing by it loses no digit, but of numbers that are nothing beside the largest.
    """
    largest = max(float(np.abs(column).max(initial=0.0)) for column in columns)
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest > 0 else 1.0
