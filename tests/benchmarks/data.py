"""The speed data of all benchmarks: reproducible, skewed, rounded, with interactions."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def speed_table(n_samples: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return X, float32 (n_samples, 28), and y, int64 0 or 1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 28), dtype=np.float32)
    X[:, ::4] = np.abs(X[:, ::4]) ** 1.5
    X[:, [3, 10, 17, 24]] = np.round(X[:, [3, 10, 17, 24]] * 2) / 2
    x = X.T
    z = x[0] * x[1] + np.sin(2 * x[2]) + 0.7 * x[4] - 0.5 * x[5] ** 2 + x[6] * x[7] * (x[8] > 0)
    z = z + 0.5 * np.tanh(3 * x[9]) + 0.3 * x[10:16].sum(axis=0)
    return X, (z + rng.logistic(size=n_samples) > np.median(z)).astype(np.int64)


def wide_table(folder: Path) -> Path:
    """Write a CSV of 5,000 rows: 200 numbers, 60 categories, 20 codes, 19 dates and the answer."""
    import pyarrow
    from pyarrow import csv

    rng, n_rows = np.random.default_rng(0), 5000
    columns = {f"number {i}": rng.normal(size=n_rows).round(4) for i in range(200)}
    words = np.array([f"level {i}" for i in range(40)])
    columns |= {f"word {i}": words[rng.integers(0, 2 + i % 38, n_rows)] for i in range(60)}
    columns |= {f"code {i}": rng.integers(0, 1000, n_rows) for i in range(20)}
    start = np.datetime64("2015-01-01")
    columns |= {f"day {i}": (start + rng.integers(0, 3000, n_rows)).astype(str) for i in range(19)}
    columns["answer"] = np.array(["no", "yes"])[rng.integers(0, 2, n_rows)]
    path = folder / "wide.csv"
    csv.write_csv(pyarrow.table(columns), path)
    return path
