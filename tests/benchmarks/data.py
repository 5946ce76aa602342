"""The speed data of all benchmarks: reproducible, skewed, rounded, with interactions."""

from __future__ import annotations

import numpy as np


def speed_table(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return X, float32 (n_samples, 28), and y, int64 0 or 1."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, 28), dtype=np.float32)
    X[:, ::4] = np.abs(X[:, ::4]) ** 1.5
    X[:, [3, 10, 17, 24]] = np.round(X[:, [3, 10, 17, 24]] * 2) / 2
    x = X.T
    z = x[0] * x[1] + np.sin(2 * x[2]) + 0.7 * x[4] - 0.5 * x[5] ** 2 + x[6] * x[7] * (x[8] > 0)
    z = z + 0.5 * np.tanh(3 * x[9]) + 0.3 * x[10:16].sum(axis=0)
    return X, (z + rng.logistic(size=n_samples) > np.median(z)).astype(np.int64)
