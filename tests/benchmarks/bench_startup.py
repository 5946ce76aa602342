"""From a click on the program to a usable window, a table and a first tree; warm and the first time ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from tests.benchmarks.report import Report

N_RUNS = 3


def measured(*arguments: str, **environment: str) -> dict[str, float]:
    """Run `tests.benchmarks.window` in a process of its own and return what it printed."""
    command = [sys.executable, "-m", "tests.benchmarks.window", *arguments]
    env = {**os.environ, **environment}
    told = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    for line in told.stdout.splitlines():
        if line.startswith("MEASURED "):
            return json.loads(line.removeprefix("MEASURED "))
    raise RuntimeError(f"{' '.join(arguments)} measured nothing:\n{told.stderr[-2000:]}")


def run(report: Report) -> None:
    """Print both rows."""
    measured("start")  # fills the cache
    warm = [measured("start") for _ in range(N_RUNS)]
    for key, name, wanted in (
        ("key", "warm start: welcome painted and a key answered", 1.5),
        ("table", "warm start: Penguins clicked to its table", 1.5),
        ("tree", "warm start: Penguins clicked to its first tree", 4.0),
    ):
        report.line(name, median(each[key] for each in warm), "s", wanted)
    pause = max(each["pause"] for each in warm) * 1000
    report.line("longest pause, imports and kernel loading, Penguins", pause, "ms", 250)
    with tempfile.TemporaryDirectory() as folder:
        first = measured("start", TREEWRIGHT_CACHE_DIR=folder)
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()) / 2**20
    report.line("first ever start: sample to first tree on screen", first["key"] + first["tree"], "s", 20)
    report.line("first ever start: longest pause of the window", first["pause"] * 1000, "ms", 250)
    report.line("first ever start: the whole warm-up", first["warm"], "s", 90)
    report.line("cache of compiled kernels", size, "MiB", 60)
