"""`make bench`: every figure, one line each; `python -m tests.benchmarks stop pauses` for some of them."""

from __future__ import annotations

import sys
from importlib import import_module

from tests.benchmarks.report import Report

ALL = ("startup", "pauses", "columns", "stop", "engine", "trees", "forests", "drag")


def main() -> None:
    """Run the benchmarks named on the command line, or all."""
    names = sys.argv[1:] or ALL
    report = Report()
    for name in names:
        import_module(f"tests.benchmarks.bench_{name}").run(report)


if __name__ == "__main__":
    main()
