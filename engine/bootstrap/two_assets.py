"""Returns of two assets whose distribution is known, to compare the bootstrap with repeated sampling.

James, Witten, Hastie, Tibshirani, An Introduction to Statistical Learning, figure 5.10: normal with
variances 1 and 1.25 and covariance 0.5, so that the share of the first asset that varies least is 0.6.
Means are 0.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
VARIANCE_X, VARIANCE_Y, COVARIANCE = 1.0, 1.25, 0.5
SHARE = (VARIANCE_Y - COVARIANCE) / (VARIANCE_X + VARIANCE_Y - 2 * COVARIANCE)
CORRELATION = COVARIANCE / sqrt(VARIANCE_X * VARIANCE_Y)


def draw(rng: np.random.Generator, n_samples: int, n_rows: int) -> tuple[Floats, Floats]:
    """Return both assets' returns in each sample: twice float64 (n_samples, n_rows)."""
    first, second = rng.standard_normal((2, n_samples, n_rows))
    slope = COVARIANCE / VARIANCE_X
    x = sqrt(VARIANCE_X) * first
    return x, slope * x + sqrt(VARIANCE_Y - slope * COVARIANCE) * second


def standard_deviation(is_first: bool) -> float:
    """Return the standard deviation of an asset."""
    return sqrt(VARIANCE_X if is_first else VARIANCE_Y)


def quantile(is_first: bool, share: float) -> float:
    """Return the value below which so large a share of an asset's returns is."""
    from scipy.special import ndtri

    return standard_deviation(is_first) * float(ndtri(share))
