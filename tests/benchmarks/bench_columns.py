"""300 columns of 5,000 rows in the Data panel: opened, ordered, filtered, and all of them changed at once."""

from __future__ import annotations

from statistics import median

from tests.benchmarks.bench_startup import N_RUNS, measured
from tests.benchmarks.report import Report


def run(report: Report) -> None:
    """Print how long opening takes, and the longest pause of each thing done."""
    runs = [measured("columns") for _ in range(N_RUNS)]
    opened = median(each["painted"] for each in runs)
    report.line("300 columns x 5,000 rows: read table to painted panel", opened, "s", 1)
    for name in runs[0]:
        if name != "painted":
            pause = max(each[name] for each in runs) * 1000
            report.line(f"300 columns, longest pause: {name}", pause, "ms", 250)
