"""The command `treewright`: opens the window, on a file, a sample or an experiment if one is named."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from workbench.experiments import EXPERIMENTS

SUBCOMMANDS = ("fit", "predict", "evaluate", "export")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the window's own arguments."""
    parser = argparse.ArgumentParser(prog="treewright", description="A desktop workbench for tree models.")
    parser.add_argument(
        "file", nargs="?", help="a table, a .treewright project, or a model: .tree.json or .rules.txt"
    )
    parser.add_argument("--sample", metavar="KEY", help="open a sample table, such as penguins")
    keys = [experiment.key for experiment in EXPERIMENTS]
    parser.add_argument(
        "--experiment", metavar="KEY", choices=keys, help=f"open a ready experiment: {', '.join(keys)}"
    )
    parser.add_argument("--warm-up", action="store_true", help="compile all kernels into the cache, then end")
    parser.add_argument("--version", action="store_true", help="print the version and end")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments and arguments[0] in SUBCOMMANDS:
        from workbench import cli

        return cli.main(arguments)
    options = make_parser().parse_args(arguments)
    if options.version:
        from importlib.metadata import version

        print(version("treewright"))
        return 0
    if options.warm_up:
        from engine import warmup
        from workbench.platform import lower_priority

        lower_priority()
        return warmup.main()
    from workbench.ui.application import run

    return run(options.file, options.sample, options.experiment)


if __name__ == "__main__":
    sys.exit(main())
