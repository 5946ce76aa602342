"""The longest pause of the window while a model trains: a 5 ms heartbeat, the maximum of three runs."""

from __future__ import annotations

from tests.benchmarks.bench_startup import N_RUNS, measured
from tests.benchmarks.report import Report

SIZES = ((20_000, 20, N_RUNS), (1_000_000, 28, 1))


def run(report: Report) -> None:
    """Print a line for each kind and size: pauses from the first progress event on, and before it."""
    for n_samples, n_features, n_runs in SIZES:
        for kind in ("tree", "forest", "boosting", "networks", "svm", "neighbors", "stacking"):
            runs = [measured("pause", kind, str(n_samples), str(n_features)) for _ in range(n_runs)]
            size = f"{n_samples:,} x {n_features}"
            before = max(each["before"] for each in runs) * 1000
            end = max(each["end"] for each in runs) * 1000
            during = max(each["during"] for each in runs) * 1000
            work = max(each["work"] for each in runs) * 1000
            quality = f"before the first event {before:.0f} ms; with the end {end:.0f} ms"
            quality += f", of which the window's own work at most {work:.0f} ms"
            report.line(f"longest pause, {kind}, {size}", during, "ms", 50, quality=quality)
