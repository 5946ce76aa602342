"""Reads the rules of `engine.export.rules` back: the same tree, so the same answers to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import engine
from engine.errors import DataError
from engine.export.model_check import check_parameters_of
from engine.export.rules import FIRST_LINE
from engine.export.rules_cursor import Cursor, cursors
from engine.export.rules_tree import KINDS, Answer, Condition, Line, build_tree
from engine.features import FeatureSpec
from engine.inspection import impurity_importances
from engine.tree.structure import THRESHOLD, Tree


@dataclass
class _Head:
    """What stands above the tree."""

    target: str = ""
    labels: list[Any] | None = None
    algorithm: str = "cart"
    criterion: str = ""
    has_names: bool = True
    features: list[FeatureSpec] = field(default_factory=list)
    number_of: dict[str, int] = field(default_factory=dict)  # of every column, by its name
    codes_of: list[dict[Any, int]] = field(default_factory=list)  # of a category's levels and their types


def read_rules(text: str) -> tuple[Any, str]:
    """Return the model that a text of rules holds, and the name of its target.

    The model's `tree_` has every number of the one written, and its predictions are equal to the last bit.
    Of its hyperparameters the algorithm and the criterion are known, the others have their defaults.

    Parameters
    ----------
    text : str
        As `engine.export.rules.to_rules` writes it, changed by hand as it may be.

    Returns
    -------
    model : DecisionTreeClassifier or DecisionTreeRegressor
    target : str

    Raises
    ------
    DataError
        The text is no rules; says which line is wrong, and in what.
    """
    lines = cursors(text)
    head = _read_head(lines)
    nodes = [_read_node(cursor, head) for cursor in lines]
    if not nodes:
        raise DataError(
            "the rules end before their tree: after the line 'tree' one begins with '0 all rows:'"
        )
    tree = build_tree(nodes, head.features)
    return _model(head, tree), head.target


def _read_head(lines: Iterator[Cursor]) -> _Head:
    head, cursor = _Head(), next(lines, None)
    if cursor is None or not cursor.takes("Treewright rules"):
        raise DataError(f"these are no rules: the first line is not {FIRST_LINE!r}")
    version = cursor.count()
    if version != 1:
        raise cursor.error(f"the rules have version {version}, this program reads 1; update the program")
    cursor.end()
    has_target = False
    for cursor in lines:
        if cursor.takes("tree"):
            cursor.end()
            if not has_target:
                raise cursor.error("the line that begins with 'predicts' is missing above the tree")
            if not head.features:
                raise cursor.error("no line above the tree begins with 'column'")
            return head
        if cursor.takes("predicts"):
            has_target = True
            _read_target(cursor, head)
        elif cursor.takes("grown by"):
            _read_origin(cursor, head)
        elif cursor.takes("column"):
            spec = _read_column(cursor, head)
            head.number_of[spec.name] = len(head.features)
            head.features.append(spec)
            head.codes_of.append({(type(level), level): k for k, level in enumerate(spec.levels or ())})
        else:
            raise cursor.wrong("'predicts', 'grown by', 'column' or 'tree'")
        cursor.end()
    raise DataError("the rules have no tree: the line 'tree' is missing")


def _read_target(cursor: Cursor, head: _Head) -> None:
    target = cursor.text()
    if target is None:
        raise cursor.wrong("the target's name in double quotes")
    cursor.require(":")
    head.target = target
    head.labels = None if cursor.takes("numbers") else cursor.literals()
    if head.labels is not None:
        _refuse_repeated(cursor, head.labels, "the class")


def _read_origin(cursor: Cursor, head: _Head) -> None:
    words = []
    for sign in ("", "with"):
        cursor.require(*filter(None, [sign]))
        word = cursor.text()
        if word is None:
            raise cursor.wrong("a word in double quotes")
        words.append(word)
    head.algorithm, head.criterion = words
    if cursor.takes("on columns by position"):
        head.has_names = False


def _read_column(cursor: Cursor, head: _Head) -> FeatureSpec:
    name = cursor.name()
    if name in head.number_of:
        raise cursor.error(f"there is a column {name!r} already")
    cursor.require(":")
    if cursor.takes("number"):
        return FeatureSpec(name)
    kind = "levels" if cursor.takes("category") else "ordered_levels" if cursor.takes("ordered") else None
    if kind is None:
        raise cursor.wrong("'number', 'category' or 'ordered'")
    levels = cursor.literals() if cursor.rest else []
    _refuse_repeated(cursor, levels, "the level")
    return FeatureSpec(name, **{kind: tuple(levels)})


def _refuse_repeated(cursor: Cursor, values: Sequence[Any], what: str) -> None:
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            raise cursor.error(f"{what} {value!r} is named twice")
        seen.add(value)


def _read_node(cursor: Cursor, head: _Head) -> Line:
    depth = cursor.count()
    while cursor.takes("|"):
        pass
    if depth == 0:
        cursor.require("all", "rows")
        condition = Condition("")
    else:
        condition = _read_condition(cursor, head)
    cursor.require(":")
    answer = _read_answer(cursor, head.labels)
    cursor.end()
    return Line(cursor.number, depth, condition, answer)


def _read_condition(cursor: Cursor, head: _Head) -> Condition:
    name = cursor.name()
    feature = head.number_of.get(name)
    if feature is None:
        raise cursor.error(f"no line above the tree describes a column {name!r}")
    if cursor.takes("is"):
        negation = "not " if cursor.takes("not") else ""
        cursor.require("missing")
        return Condition(f"{negation}missing", feature)
    sign = next((sign for sign in KINDS if cursor.takes(sign)), None)
    if sign is None:
        raise cursor.wrong("'<=', '>', 'in', '=', 'is missing' or 'is not missing'")
    spec, threshold = head.features[feature], np.nan
    codes: tuple[int, ...] = ()
    if KINDS[sign] == THRESHOLD:
        if spec.levels is not None:
            raise cursor.error(f"column {name!r} is a category, so it has no {sign!r}; name its levels")
        threshold = cursor.float()
        if not np.isfinite(threshold):
            raise cursor.error(f"{threshold} is no threshold; write a finite number")
    else:
        if spec.levels is None:
            raise cursor.error(f"column {name!r} is no category, so no levels can be named")
        codes = _codes(cursor, name, head.codes_of[feature])
    takes = [False, False]
    while cursor.takes("or"):
        which = 0 if cursor.takes("missing") else 1 if cursor.takes("unknown") else None
        if which is None:
            raise cursor.wrong("'missing' or 'unknown'")
        takes[which] = True
    if takes[1] and KINDS[sign] == THRESHOLD:
        raise cursor.error(f"column {name!r} is no category, so there are no unknown levels")
    return Condition(sign, feature, threshold, codes, *takes)


def _codes(cursor: Cursor, name: str, code_of: dict[Any, int]) -> tuple[int, ...]:
    if cursor.takes("nothing"):
        return ()
    codes = []
    for level in cursor.literals():
        if (type(level), level) not in code_of:
            raise cursor.error(f"column {name!r} has no level {level!r} in the line that describes it")
        codes.append(code_of[type(level), level])
    return tuple(codes)


def _read_answer(cursor: Cursor, labels: Sequence[Any] | None) -> Answer:
    if labels is None:
        value = [cursor.float()]
    else:
        label, value = cursor.literal(), []
        cursor.require("[")
        while not value or cursor.takes(","):
            value.append(cursor.float())
        cursor.require("]")
        if len(value) != len(labels):
            raise cursor.error(f"{len(value)} shares for {len(labels)} classes; give one to each")
        if not all(0 <= share < np.inf for share in value):
            raise cursor.error("a share of a class is negative or no finite number")
        largest = labels[int(np.argmax(value))]
        if (type(label), label) != (type(largest), largest):
            raise cursor.error(
                f"it says {label!r}, but by its shares the answer is {largest!r}; change one of them"
            )
    cursor.require(",")
    n_rows = cursor.count()
    cursor.require("rows" if n_rows != 1 else "row")
    found: dict[str, Any] = {"weight": float(n_rows)}
    while cursor.takes(","):
        word = next((word for word in ("weight", "impurity", "gain") if cursor.takes(word)), None)
        if word is not None:
            found[word] = cursor.float()
        else:
            found["n_missing"] = cursor.count()
            cursor.require("missing")
    return Answer(tuple(value), n_rows, **found)


def _model(head: _Head, tree: Tree) -> Any:
    is_classifier = head.labels is not None
    kind: Callable[..., Any] = (
        engine.DecisionTreeClassifier if is_classifier else engine.DecisionTreeRegressor
    )
    settings = {"criterion": head.criterion} if head.criterion else {}
    if head.algorithm != "cart":
        settings["algorithm"] = head.algorithm
    try:
        model = kind(**settings)
        check_parameters_of(model)
    except (ValueError, TypeError) as error:
        raise DataError(f"the line 'grown by' of the rules is wrong: {error}") from None
    model.features_, model.n_features_in_ = tuple(head.features), len(head.features)
    model.seed_, model.stopped_, model.tree_, model.n_outputs_ = 0, False, tree, 1
    model.feature_importances_ = impurity_importances([tree], len(head.features))
    if head.has_names:
        model.feature_names_in_ = np.array([spec.name for spec in head.features], dtype=object)
    if head.labels is not None:
        model.classes_ = _label_array(head.labels)
    return model


def _label_array(labels: list[Any]) -> np.ndarray[Any, Any]:
    """Return the labels as an array whose items are of their types."""
    if len({type(label) for label in labels}) == 1 and not isinstance(labels[0], str):
        array = np.array(labels)
        if array.dtype.kind in "bif":
            return array
    array = np.empty(len(labels), object)
    array[:] = labels
    return array
