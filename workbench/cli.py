"""The command line without a window: fit, predict, evaluate, export."""

from __future__ import annotations

import argparse
import ast
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DataError, FitWarning, ParameterError
from engine.notes import notes_of
from workbench.catalog import CATALOG, check_parameter_values, entry_of, start_parameters
from workbench.exports import (
    MODEL_SUFFIX,
    RULES_SUFFIX,
    SQL_SUFFIX,
    export_model,
    export_rules,
    export_sql,
    load_model,
)
from workbench.project.atomic import require_writable, write_atomically
from workbench.runs import ModelSpec, RunResult, SplitSettings

if TYPE_CHECKING:
    from workbench.datasets import Table
    from workbench.scoring import ScoreSet


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all four commands."""
    parser = argparse.ArgumentParser(prog="treewright", description="Tree models on the command line.")
    commands = parser.add_subparsers(dest="command", required=True)
    fit = commands.add_parser("fit", help="train a model on a table and print its scores")
    fit.add_argument("table")
    fit.add_argument("--target", required=True, help="column to predict")
    fit.add_argument("--model", choices=tuple(CATALOG), default="tree")
    fit.add_argument("--ignore", action="append", default=[], metavar="COLUMN")
    fit.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter")
    fit.add_argument("--seed", type=int, default=0, help="of the parts and of the model")
    fit.add_argument("--out", metavar="MODEL.tree.json", help="where to write the model")
    fit.set_defaults(run=_fit)
    predict = commands.add_parser("predict", help="predict the rows of a table, matched by column name")
    predict.add_argument("model")
    predict.add_argument("table")
    predict.add_argument("--out", required=True, metavar="PREDICTIONS.csv")
    predict.set_defaults(run=_predict)
    evaluate = commands.add_parser("evaluate", help="score a model on a table that holds the target")
    evaluate.add_argument("model")
    evaluate.add_argument("table")
    evaluate.add_argument("--target", required=True)
    evaluate.set_defaults(run=_evaluate)
    export = commands.add_parser("export", help="take a model out of a project")
    export.add_argument("project")
    export.add_argument("--model", metavar="NAME", help="name in the project; the selected one if omitted")
    export.add_argument(
        "--out",
        required=True,
        metavar="MODEL.tree.json, TREE.rules.txt, TREE.sql or SCRIPT.py",
        help="its ending says as what",
    )
    export.set_defaults(run=_export)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 if it worked, 2 with a sentence on standard error if not."""
    options = make_parser().parse_args(arguments)
    try:
        options.run(options)
    except (DataError, ParameterError, OSError) as error:
        print(f"treewright: {error}", file=sys.stderr)
        return 2
    return 0


def _fit(options: argparse.Namespace) -> None:
    from workbench.datasets import default_roles, proposes_classes
    from workbench.fitting import fit_run, freeze_inputs
    from workbench.readers import read_table
    from workbench.rows_in_the_way import rows_in_the_way
    from workbench.splitting import deal_rows

    if options.out:
        require_writable(Path(options.out).absolute())
    table = read_table(options.table)
    column = table.column(options.target)
    if column.name in options.ignore:
        raise DataError(f"{column.name!r} is the target; do not ignore it")
    is_classification, reason = proposes_classes(column)
    classes = column.label_codes()[1] if is_classification else ()
    if column.n_distinct < 2:
        raise DataError(f"the target {column.name!r} has fewer than two values; choose another")
    roles = default_roles(table) | {table.column(name).name: "ignored" for name in options.ignore}
    roles[column.name] = "target"
    if "feature" not in roles.values():
        raise DataError("no column is left as feature; ignore fewer")
    spec = _spec(options, "classes" if classes else "numbers", table.n_rows)
    split = SplitSettings(seed=options.seed)  # checked with the model's parameters
    parts, notes = deal_rows(table, column.name, classes, roles, split)
    if problems := rows_in_the_way(table, roles, parts):
        raise DataError(" ".join(problems))
    inputs = freeze_inputs(table, roles, column.name, classes, parts, spec, split=split)
    warnings.filterwarnings("ignore", category=FitWarning)  # they are printed as sentences below
    result = fit_run(inputs)
    print(f"{column.name}: predicted as {'classes' if classes else 'numbers'} ({reason})")
    for note in notes:
        print(note)
    for note in notes_of(result.estimator):
        print(f"Warning: {note}")
    for scores in result.scores.values():
        print(scores_line(scores))
    if options.out:
        export_model(result, options.out)


def _spec(options: argparse.Namespace, task: str, n_rows: int) -> ModelSpec:
    if why := entry_of(options.model).why_not(task):
        raise ParameterError(why)
    values = start_parameters(options.model, task, n_rows)
    if "random_state" in values:
        values["random_state"] = options.seed
    for text in options.set:
        name, sign, value = text.partition("=")
        if not sign:
            raise ParameterError(f"--set {text!r} has no '='; write NAME=VALUE")
        values[entry_of(options.model).parameter(task, name).name] = _value(value)
    check_parameter_values(options.model, task, values)
    return ModelSpec(options.model, values)


def _value(text: str) -> Any:
    """Read a number, True, False or None; anything else is a choice's name."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _predict(options: argparse.Namespace) -> None:
    from workbench.apply import apply_model, save_predictions
    from workbench.readers import read_table

    require_writable(Path(options.out).absolute())
    table = read_table(options.table)
    applied = apply_model(load_model(options.model), table)
    for line in applied.report:
        print(line)
    save_predictions(applied, table, options.out)
    print(f"{table.n_rows:,} rows predicted: {options.out}")


def _evaluate(options: argparse.Namespace) -> None:
    from workbench.readers import read_table

    print(scores_line(score_on_table(load_model(options.model), read_table(options.table), options.target)))


def score_on_table(result: RunResult, table: Table, target: str) -> ScoreSet:
    """Score a model on all rows of a table that have a target.

    Raises
    ------
    DataError
        A column is missing, or the target holds a class that the model does not know.
    """
    from workbench.apply import apply_model
    from workbench.datasets import target_values
    from workbench.scoring import score_classes, score_decisions, score_numbers

    y, is_valid = target_values(table, target, as_classes=bool(result.classes))
    predictions = dict(apply_model(result, table).predictions)
    if not is_valid.any():
        raise DataError(f"no row of {table.name} has a value of {target!r}")
    if not result.classes:
        (prediction,) = predictions.values()
        return score_numbers(table.name, y[is_valid], prediction[is_valid])
    unknown = sorted(set(y[is_valid]) - set(result.classes))
    if unknown:
        raise DataError(f"column {target!r} holds {unknown[0]!r}, a class that the model does not know")
    code_of = {label: code for code, label in enumerate(result.classes)}
    codes = np.array([code_of[label] for label in y[is_valid]])
    what, score = (
        ("probability", score_classes) if result.has_probabilities else ("decision value", score_decisions)
    )
    values = np.column_stack([predictions[f"{what} of {label}"] for label in result.classes])
    return score(table.name, codes, values[is_valid], result.classes)


def scores_line(scores: ScoreSet) -> str:
    """Return such as "test, 69 rows: accuracy 0.957 (0.880 to 0.985), ..."."""
    told = ", ".join(
        f"{name.replace('_', ' ')} {found.value:.4g} ({found.low:.4g} to {found.high:.4g})"
        for name, found in scores.metrics.items()
    )
    return f"{scores.part}, {scores.n_rows:,} rows: {told}"


def _export(options: argparse.Namespace) -> None:
    from workbench.document import Document
    from workbench.project import load_project
    from workbench.scripts import make_script

    out = Path(options.out).absolute()
    endings = (MODEL_SUFFIX, RULES_SUFFIX, SQL_SUFFIX, ".py")
    if not out.name.endswith(endings):
        raise DataError(f"{out.name} ends in none of {', '.join(endings)}; choose one of them")
    require_writable(out)
    document = Document()
    document.restore(load_project(options.project))
    names = {record.name: record for record in document.runs.values()}
    record = document.current_run if options.model is None else names.get(options.model)
    if record is None or record.result is None:
        raise DataError(f"there is no trained model {options.model or ''!r}; there are {', '.join(names)}")
    if out.suffix == ".py":
        script = make_script(document, record.run_id).encode()
        write_atomically(out, lambda file: file.write(script))
    elif out.name.endswith(RULES_SUFFIX):
        export_rules(record.result, out, document.table)
    elif out.name.endswith(SQL_SUFFIX):
        export_sql(record.result, out, document.table)
    else:
        export_model(record.result, out)
