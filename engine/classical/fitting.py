"""The fit proper of a classical model, as work for another process: it imports no more than it must."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from engine import parallel


def fit_pipeline(
    pipeline: Pipeline, X: NDArray[Any], target: NDArray[Any], sample_weight: NDArray[np.float64]
) -> Pipeline:
    """Return a pipeline that is fitted to an encoded table, every step of it by weight.

    BLAS gets one thread, in this process and for good: products by several have other bits.
    """
    parallel.limit_blas()
    weights = {f"{step}__sample_weight": sample_weight for step in pipeline.named_steps}
    return pipeline.fit(X, target, **weights)
