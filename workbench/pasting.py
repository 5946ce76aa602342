"""Settings as other libraries write them, in a dict, JSON or keywords: read and checked, never run."""

from __future__ import annotations

import ast
import json
import math
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.errors import DataError
from engine.parameters import Parameter
from workbench.catalog import SEARCH_TERMS, entry_of

MAX_LETTERS = 100_000
HOW = "paste a dict, JSON or keywords such as num_leaves=31, eta=0.1"
_PAIR = re.compile(r"^[\s,{-]*[\"']?([A-Za-z_][\w.-]*)[\"']?\s*[=:]\s*(.+)$")
_AFTER_A_PAIR = ",}" + string.whitespace
_UNREADABLE = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)
"""What Python's own reader raises for texts that are no values, or nested too deep."""
MAX_TOLD_LETTERS = 60  # of a name, or of a value that is refused

SYNONYMS = {  # further names in LightGBM, XGBoost, CatBoost and scikit-learn; the tables hold one of each
    "num_iterations": "n_estimators", "num_iteration": "n_estimators", "num_boost_round": "n_estimators",
    "num_round": "n_estimators", "num_rounds": "n_estimators", "nrounds": "n_estimators",
    "max_iter": "n_estimators", "iterations": "n_estimators",
    "eta": "learning_rate", "shrinkage_rate": "learning_rate",
    "num_leaf": "max_leaf_nodes", "max_leaf": "max_leaf_nodes",
    "min_data_in_leaf": "min_samples_leaf", "min_data": "min_samples_leaf",
    "min_data_per_leaf": "min_samples_leaf", "min_child_samples": "min_samples_leaf",
    "lambda": "reg_lambda", "lambda_l2": "reg_lambda", "l2": "reg_lambda",
    "alpha": "reg_alpha", "lambda_l1": "reg_alpha", "l1": "reg_alpha",
    "min_split_gain": "gamma", "min_gain_to_split": "gamma", "min_split_loss": "gamma",
    "min_sum_hessian_in_leaf": "min_child_weight", "min_sum_hessian": "min_child_weight",
    "bagging": "subsample", "sub_row": "subsample", "bagging_fraction": "subsample",
    "feature_fraction": "colsample_bytree", "sub_feature": "colsample_bytree", "rsm": "colsample_bytree",
    "feature_fraction_bynode": "max_features", "colsample_bynode": "max_features",
    "early_stopping_rounds": "n_iter_no_change", "early_stopping_round": "n_iter_no_change",
    "od_wait": "n_iter_no_change", "bagging_seed": "random_state", "random_seed": "random_state",
    "num_threads": "n_jobs", "nthread": "n_jobs", "thread_count": "n_jobs",
}  # fmt: skip

NO_LIMIT = {  # what other libraries write for "no limit", by our name
    "max_depth": (-1, 0), "max_leaf_nodes": (-1, 0), "n_jobs": (-1, 0),
}  # fmt: skip

STOPS = "early_stopping"  # whoever names its patience wants it
ONLY_EARLY = "it counts where a training stops early; paste early_stopping_rounds with it"
LOSS_NAMES = ("loss", "objective", "loss_function")

PATIENCE = "n_iter_no_change"


def _called(**words: str) -> dict[str, str]:
    """Return our name of a choice by each of the words, parted by spaces, that others have for it."""
    return {word: ours for ours, theirs in words.items() for word in theirs.split()}


WORDS = {  # what they call a choice, by our name; in small letters, without underscores
    "growth": _called(leaf="lossguide leafwise", depth="depthwise", oblivious="symmetrictree"),
    "criterion": _called(squared_error="mse", absolute_error="mae", entropy="logloss"),
    "categorical": _called(ordered="borders buckets binarizedtargetmeanvalue floattargetmeanvalue"),
    "loss": _called(
        log_loss="binary binary:logistic multi:softmax multi:softprob multiclass multiclassova softmax ova "
        "logloss crossentropy deviance",
        squared_error="regression regressionl2 l2 mse rmse l2root reg:squarederror reg:linear ls "
        "meansquarederror rootmeansquarederror",
        absolute_error="regressionl1 l1 mae reg:absoluteerror lad meanabsoluteerror",
        quantile="reg:quantileerror",
        poisson="count:poisson",
    ),
    "scoring": _called(
        rmse="l2 mse l2root regression meansquarederror rootmeansquarederror negmeansquarederror "
        "negrootmeansquarederror",
        mae="l1 meanabsoluteerror negmeanabsoluteerror",
        auc="rocauc",
        accuracy="error binaryerror multierror merror",  # the same round is best by either
        log_loss="logloss mlogloss binarylogloss multilogloss multiclass neglogloss crossentropy",
    ),
}

XGBOOST_WORDS = {"eta", "lambda", "booster", "tree_method"}  # beside them alpha is a shrinkage
BY_ALPHA = ("quantile", "huber")  # losses that have an alpha of their own


@dataclass(frozen=True)
class Pasted:
    """What a text would set.

    Attributes
    ----------
    values : dict
        Our names to the values, in the order of the text.
    told : tuple of str
        Such as "num_leaves: Leaves per tree 31", one for each of `values`.
    unknown : tuple of str
        Names that the model has no setting for.
    refused : tuple of str
        Settings whose value is not legal, each with what is.
    """

    values: dict[str, Any] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def read_pairs(text: str) -> dict[str, Any]:
    """Read names and values from a dict, JSON, keywords, a call such as ``LGBMClassifier(num_leaves=31)``, or
    lines of ``name = value``. Nothing of it is run.

    Raises
    ------
    DataError
        There is no name with a value in it.
    """
    text = text.strip("\ufeff" + string.whitespace).removesuffix(";")
    if len(text) > MAX_LETTERS:
        raise DataError(f"the text has {len(text):,} letters, which are no settings; {HOW}")
    for read in (_read_json, _read_python, _read_lines):
        pairs = read(text)
        if pairs:
            return {str(name): value for name, value in pairs.items()}
    raise DataError(f"no name with a value was found; {HOW}")


def _read_json(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _read_python(text: str) -> dict[str, Any] | None:
    for candidate in (text, f"dict({text})", f"dict({text.rstrip(',')})"):
        try:
            statement = ast.parse(candidate).body[-1]
        except (*_UNREADABLE, IndexError):
            continue
        if isinstance(statement, (ast.Expr, ast.Assign)) and (pairs := _pairs_of(statement.value)):
            return pairs
    return None


def _pairs_of(node: ast.expr) -> dict[str, Any]:
    if isinstance(node, ast.Call):
        given = [(word.arg, word.value) for word in node.keywords if word.arg]
        pairs = {name: _value_of(value) for name, value in given}
        for argument in node.args:
            pairs |= _pairs_of(argument)
        return pairs
    if isinstance(node, ast.Dict):
        both = zip(node.keys, node.values, strict=True)
        return {
            key.value: _value_of(value)
            for key, value in both
            if isinstance(key, ast.Constant) and isinstance(key.value, str)
        }
    return {}


def _value_of(node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except _UNREADABLE:
        pass
    try:
        return ast.unparse(node)  # a name or an expression: kept as its text, which no setting takes
    except RecursionError:
        return "a long expression"


def _read_lines(text: str) -> dict[str, Any]:
    pieces = text.splitlines() if "\n" in text else text.split(",")
    pairs = (piece.split("#")[0].rstrip(_AFTER_A_PAIR) for piece in pieces)
    found = [match for pair in pairs if (match := _PAIR.match(pair))]
    return {match[1]: _value_of_text(match[2]) for match in found}


def _value_of_text(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except _UNREADABLE:
        return text.strip("\"'")


def match_settings(
    kind: str, task: str, pairs: Mapping[str, Any], now: Mapping[str, Any] | None = None
) -> Pasted:
    """Find our settings for names and values of other libraries.

    A name of our own comes first, then those that the tables hold, then further ones. Where a setting only
    acts beside a value of another, that is set too, unless the text sets it otherwise.

    Parameters
    ----------
    kind : str
        A key of the catalog.
    task : str
        "classes" or "numbers".
    pairs : mapping
        As `read_pairs` gives them.
    now : mapping, optional
        The settings that hold without these, where they are not the defaults.
    """
    table = {p.name: p for p in entry_of(kind).parameters(task) if p.in_form}
    values: dict[str, Any] = {}
    told: dict[str, str] = {}
    unknown, refused = [], []
    for name, given in pairs.items():
        parameter = _parameter_of(_meant(name, pairs, now or {}), table)
        if parameter is None:
            unknown.append(_shortened(name))
            continue
        value = _our_value(parameter, given)
        if not parameter.is_legal(value):
            refused.append(f"{_shortened(name)} = {_shortened(repr(given))}: enter {parameter.legal_text}")
            continue
        if _needs_early_stopping(parameter, value, pairs, now or {}):
            refused.append(f"{_shortened(name)} = {_shortened(repr(given))}: {ONLY_EARLY}")
            continue
        values[parameter.name] = value
        told[parameter.name] = f"{_shortened(name)}: {setting_text(parameter, value)}"
    for name in list(values):
        for other, legal in table[name].applies_when.items():
            acts = other == STOPS or values[name] != table[name].default
            if other not in table or other in values or not acts:
                continue
            if (now or {}).get(other, table[other].default) not in legal:
                default = table[other].default
                wanted = default if default in legal else next(v for v in legal if table[other].is_legal(v))
                values[other] = wanted
                told[other] = f"for {name}: {setting_text(table[other], wanted)}"
    return Pasted(values, tuple(told[name] for name in values), tuple(unknown), tuple(refused))


def setting_text(parameter: Parameter, value: Any) -> str:
    """Such as "Leaves per tree 31", "Depth per tree no limit", "Stop early on"."""
    if value is None:
        shown = parameter.none_text or "none"
    elif isinstance(value, bool):
        shown = "on" if value else "off"
    else:
        shown = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{parameter.label or parameter.name} {shown}"


def _meant(name: str, pairs: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Tell XGBoost's alpha, a shrinkage, from that of losses."""
    losses = [now.get("loss", ""), *(given for other, given in pairs.items() if other in LOSS_NAMES)]
    is_of_loss = any(word in str(loss).lower() for loss in losses for word in BY_ALPHA)
    return "reg_alpha" if name == "alpha" and not is_of_loss and XGBOOST_WORDS & pairs.keys() else name


def _needs_early_stopping(
    parameter: Parameter, value: Any, pairs: Mapping[str, Any], now: Mapping[str, Any]
) -> bool:
    """Tell whether a setting such as a metric would do nothing, as nothing stops the training early.

    LightGBM and XGBoost only print a metric; patience is what stops.
    """
    if STOPS not in parameter.applies_when or parameter.name == PATIENCE or value == parameter.default:
        return False
    if STOPS in pairs:
        return pairs[STOPS] is False
    has_patience = any(SYNONYMS.get(name, name) == PATIENCE for name in pairs)
    return not has_patience and not now.get(STOPS, False)


def _parameter_of(name: str, table: Mapping[str, Parameter]) -> Parameter | None:
    wanted = name.strip().removeprefix("--").replace("-", "_")
    if wanted in table:
        return table[wanted]
    for parameter in table.values():
        if wanted in parameter.aliases.values() or wanted in SEARCH_TERMS.get(parameter.name, ()):
            return parameter
    return table.get(SYNONYMS.get(wanted, ""))


def _our_value(parameter: Parameter, given: Any) -> Any:
    if isinstance(given, str):
        choices = {choice.lower(): choice for choice in parameter.choices if isinstance(choice, str)}
        given = WORDS.get(parameter.name, {}).get(given.lower().replace("_", ""), given)
        given = choices.get(given.lower(), given)
        given = {"true": True, "false": False, "none": None, "null": None}.get(str(given).lower(), given)
    if given in NO_LIMIT.get(parameter.name, ()) and not isinstance(given, bool) and parameter.allows_none:
        return None
    if isinstance(given, float) and parameter.kind == "int" and given.is_integer():
        return int(given)
    if isinstance(given, int) and not isinstance(given, bool) and parameter.kind == "float":
        return _as_float(given)
    if parameter.kind == "bool" and given in (0, 1):
        return bool(given)
    return given


def _as_float(whole: int) -> float:
    try:
        return float(whole)
    except OverflowError:
        return math.inf if whole > 0 else -math.inf


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_TOLD_LETTERS else f"{text[: MAX_TOLD_LETTERS - 1]}…"
