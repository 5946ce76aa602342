"""The longest pauses of the window while the Laboratory's studies of a tree run, and their stops."""

from __future__ import annotations

from tests.benchmarks.bench_startup import measured
from tests.benchmarks.report import Report

SIZES = (20_000, 1_000_000)


def run(report: Report) -> None:
    """Print a line for each study and size: the pause after the first 0.3 s."""
    for n_samples in SIZES:
        told = measured("studies", str(n_samples))
        for name in (key.removesuffix(", pause") for key in told if key.endswith(", pause")):
            first, stop = (told[f"{name}, {what}"] * 1000 for what in ("first", "stop"))
            quality = f"at first {first:.0f} ms; stopped in {stop:.0f} ms"
            pause = told[f"{name}, pause"] * 1000
            report.line(f"longest pause, {name}, {n_samples:,} x 10", pause, "ms", 50, quality=quality)
