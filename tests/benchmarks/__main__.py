"""`make bench`: every figure, one line each; `python -m tests.benchmarks stop pauses` for some of them."""

from __future__ import annotations

from argparse import ArgumentParser
from importlib import import_module

from tests.benchmarks.report import Report

ALL = (
    "startup", "pauses", "columns", "stop", "apart", "boosting", "trees", "forests", "drag", "quality",
    "deep_ensemble", "stacking", "first_tree", "resampling", "studies",
)  # fmt: skip


def main() -> None:
    """Run the benchmarks named on the command line, or all."""
    parser = ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(ALL)}; all if none"
    )
    parser.add_argument(
        "--rows", type=int, metavar="N", help="train boosting, forests and what is stopped on N rows at most"
    )
    given = parser.parse_args()
    if unknown := set(given.names) - set(ALL):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; choose from {', '.join(ALL)}")
    report = Report(given.rows)
    for name in given.names or ALL:
        import_module(f"tests.benchmarks.bench_{name}").run(report)


if __name__ == "__main__":
    main()
