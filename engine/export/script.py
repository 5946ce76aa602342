"""A run as a Python script: reading, splitting, fitting and scoring on this engine's own names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.errors import ParameterError

KINDS = ("number", "category", "date")
PARTS = ("training", "validation", "test")


@dataclass(frozen=True)
class ScriptColumn:
    """One column that the run uses.

    Attributes
    ----------
    name : str
        As in the file's header; without a header its position, counted from 0, as text.
    kind : "number", "category" or "date"
        Dates become days since 1970, fractions included.
    levels : sequence of str, optional
        Levels of a category in code order, as text in the file; sorted distinct texts when omitted.
    missing_tokens : sequence of str, optional
        Texts that mean missing here, where they differ from the file's.
    day_first : bool, optional
        Of dates that end in the year: whether the day comes first or the month; omitted for dates that
        begin with the year.
    """

    name: str
    kind: str = "number"
    levels: Sequence[str] | None = None
    missing_tokens: Sequence[str] | None = None
    day_first: bool | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"the kind of column {self.name!r} is {self.kind!r}; enter one of {KINDS}")


@dataclass(frozen=True)
class ScriptSpec:
    """A run in plain words.

    Attributes
    ----------
    path : str
        The table, a text file of cells.
    features : sequence of ScriptColumn
        In the order of the model's columns; all other columns are left out.
    target : ScriptColumn
    estimator : str
        Public name in `engine`, such as "RandomForestClassifier".
    parameters : mapping of str to plain values
        Of the estimator; `random_state` among them.
    separator, decimal, thousands, encoding : str
        As the file was read; `thousands` may be empty.
    has_header : bool
    missing_tokens : sequence of str
        Texts that mean missing; "" is the empty cell.
    classes : sequence of str
        Labels in class order, as text in the file; empty for a numeric target.
    weight, group : str or None
        Columns of weights and of groups that the split keeps whole.
    fractions, seed
        Of `engine.split.split_rows`.
    uses_validation : bool
        Pass the validation part to `fit` (boosting: loss curve, early stopping).
    fits_by_group : bool
        Pass the groups to `fit` (stacks).
    title : str
        First line of the script.
    """

    path: str
    features: Sequence[ScriptColumn]
    target: ScriptColumn
    estimator: str
    parameters: Mapping[str, Any]
    separator: str = ","
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"
    has_header: bool = True
    missing_tokens: Sequence[str] = ("",)
    classes: Sequence[str] = ()
    weight: str | None = None
    group: str | None = None
    fractions: Sequence[float] = (0.6, 0.2, 0.2)
    seed: int = 0
    uses_validation: bool = False
    fits_by_group: bool = False
    title: str = field(default="A model made with Treewright")


def to_script(spec: ScriptSpec) -> str:
    """Return a Python script that reads the table, splits it, fits the model and prints its scores.

    It prints one line a part, such as "test accuracy 0.9565217391304348 (69 rows)": accuracy for
    classes, R squared for numbers, by ``estimator.score``.
    """
    blocks = [_head(spec), _reading(spec), _preparing(spec), _splitting(spec), _fitting(spec), _scoring(spec)]
    return "\n\n".join(blocks) + "\n"


# pandas 3.1 reads doubles exactly and warns of the argument that asked earlier ones to
_EXACT = """\
is_exact = tuple(int(part) for part in pd.__version__.split(".")[:2]) >= (3, 1)
exact = {} if is_exact else {"float_precision": "round_trip"}  # doubles exactly as written"""


def _head(spec: ScriptSpec) -> str:
    title = " ".join(spec.title.split()).replace("\\", "/").replace('"', "'")
    imports = "import numpy as np\nimport pandas as pd\n\nimport engine\nfrom engine.split import split_rows"
    return f'"""{title}"""\n\n{imports}'


def _reading(spec: ScriptSpec) -> str:
    used = [*spec.features, spec.target]
    number = {column.name for column in used if column.kind == "number"}
    if spec.classes:
        number.discard(spec.target.name)  # numbers that are classes are labels: compared as text
    names = [column.name for column in used] + [
        name for name in (spec.weight, spec.group) if name is not None
    ]
    as_text = [name for name in dict.fromkeys(names) if name not in number and name != spec.weight]
    key: Any = str if spec.has_header else int
    tokens: Any = list(spec.missing_tokens)
    if any(column.missing_tokens is not None for column in used):
        own = {column.name: column.missing_tokens for column in used if column.missing_tokens is not None}
        tokens = {key(name): list(own.get(name, spec.missing_tokens)) for name in dict.fromkeys(names)}
    separator = r"\s+" if spec.separator == " " else spec.separator
    options = {
        "sep": separator,
        "decimal": spec.decimal,
        "thousands": spec.thousands or None,
        "encoding": spec.encoding,
        "header": 0 if spec.has_header else None,
        "dtype": {key(name): "str" for name in as_text},
        "keep_default_na": False,
        "na_values": tokens,
    }
    lines = [f"    {name}={value!r}," for name, value in options.items()]
    call = "\n".join([_EXACT, f"table = pd.read_csv(\n    {spec.path!r},", *lines, "    **exact,", ")"])
    return call if spec.has_header else call + "\ntable.columns = table.columns.astype(str)"


def _preparing(spec: ScriptSpec) -> str:
    lines = ["X = pd.DataFrame(index=table.index)"]
    for column in spec.features:
        source = f"table[{column.name!r}]"
        if column.kind == "category":
            levels = "" if column.levels is None else f", {list(column.levels)!r}"
            lines.append(f"X[{column.name!r}] = pd.Categorical({source}{levels})")
        elif column.kind == "date":
            order = ""
            if column.day_first is not None:  # cells that are no such date are missing, as in the table
                order = f", dayfirst={column.day_first!r}, format='mixed', errors='coerce'"
            days = f"(pd.to_datetime({source}{order}) - pd.Timestamp(0)) / pd.Timedelta(days=1)"
            lines.append(f"X[{column.name!r}] = {days}")
        else:
            lines.append(f"X[{column.name!r}] = {source}.astype(float)")
    target = f"table[{spec.target.name!r}]"
    if spec.classes:
        lines += [f"y = pd.Series(pd.Categorical({target}, {list(spec.classes)!r}))", "codes = y.cat.codes"]
    else:
        lines.append(f"y = codes = {target}.astype(float)")
    if spec.weight is not None:
        nothing = "-1" if spec.classes else "np.nan"  # rows without a weight are in no part
        lines.append(f"weight = table[{spec.weight!r}].to_numpy(float)")
        lines.append(f"codes = codes.where(np.isfinite(weight), {nothing})")
    return "\n".join(lines)


def _splitting(spec: ScriptSpec) -> str:
    groups = "None" if spec.group is None else f"pd.factorize(table[{spec.group!r}])[0]"
    return (
        "parts, notes = split_rows(\n"
        f"    codes, {bool(spec.classes)!r}, {groups}, {tuple(spec.fractions)!r}, seed={spec.seed!r}\n)\n"
        "train, validation, test = (np.flatnonzero(parts == part) for part in range(3))"
    )


def _fitting(spec: ScriptSpec) -> str:
    lines = [f"model = engine.{spec.estimator}("]
    lines += [f"    {name}={value!r}," for name, value in spec.parameters.items()]
    call = "model.fit(X.iloc[train], y.iloc[train]" + (", weight[train]" if spec.weight is not None else "")
    if spec.uses_validation:
        call += ", X_val=X.iloc[validation], y_val=y.iloc[validation]"
        if spec.weight is not None:
            call += ", sample_weight_val=weight[validation]"
    if spec.fits_by_group:
        call += f", groups=pd.factorize(table[{spec.group!r}])[0][train]"
    return "\n".join([*lines, ")", call + ")"])


def _scoring(spec: ScriptSpec) -> str:
    measure = "accuracy" if spec.classes else "R squared"
    weight = ", weight[rows]" if spec.weight is not None else ""
    return (
        f"for part, rows in zip({PARTS!r}, (train, validation, test)):\n"
        "    if len(rows):\n"
        f"        score = model.score(X.iloc[rows], y.iloc[rows]{weight})\n"
        f'        print(f"{{part}} {measure} {{score!r}} ({{len(rows)}} rows)")'
    )
