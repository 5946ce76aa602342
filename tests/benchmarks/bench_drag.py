"""How long a frame of tree and surface takes while the price slider is dragged by the mouse."""

from __future__ import annotations

from tests.benchmarks.bench_startup import N_RUNS, measured
from tests.benchmarks.report import Report

SIZES = ((2_000, 5), (100_000, 28))
LONGEST_FRAME_MS = 50.0  # 20 a second


def run(report: Report) -> None:
    """Print three lines a size, the best of three runs: others share the machine."""
    for n_samples, n_features in SIZES:
        runs = [measured("drag", str(n_samples), str(n_features)) for _ in range(N_RUNS)]
        best = max(runs, key=lambda each: min(each["tree"], each["surface"]))
        size = f"{n_samples:,} x {n_features}, {best['leaves']:.0f} leaves"
        quality = f"100 places in {best['seconds']:.1f} s, scored {best['settled']:.1f} s after it"
        for view in ("tree", "surface"):
            ours = 1000 / max(best[view], 1e-3)
            report.line(f"drag, a frame of the {view}, {size}", ours, "ms", LONGEST_FRAME_MS, quality=quality)
        report.line(f"drag, longest pause, {size}", 1000 * best["pause"], "ms", 100)
