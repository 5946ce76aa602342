"""A single tree as rules that people read, and that read back exactly.

A text has a head and one line a node, each below the node it belongs to, its children in order::

    Treewright rules 1
    predicts "species": "Adelie", "Chinstrap", "Gentoo"
    grown by "cart" with "gini"
    column flipper_length_mm: number
    column island: category "Biscoe", "Dream", "Torgersen"
    tree
    0 all rows: "Adelie" [0.44, 0.2, 0.36], 333 rows, impurity 0.63, gain 0.31
    1   flipper_length_mm <= 206.5 or missing: "Adelie" [0.7, 0.3, 0.0], 208 rows, ...
    2   |   island in "Torgersen": "Adelie" [1.0, 0.0, 0.0], 47 rows
    2   |   island in "Biscoe", "Dream" or missing or unknown: ...
    1   flipper_length_mm > 206.5: "Gentoo" ...

The number in front is the depth; the bars behind it are for the eye, and end after `MAX_BARS` of them, so
that a deep tree's text grows with its nodes. A branch with ``or missing`` takes missing values, one with
``or unknown`` the levels that no branch names (contracts D7). ``in`` belongs to questions of two branches,
``=`` to those with a branch a level, and a branch that no level takes says ``nothing``. Texts are JSON
strings, numbers are written by repr, and a column's name goes without quotes where it is a plain word. Lines
that are empty or begin with ``#`` are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from engine.errors import DataError
from engine.export.literals import literal, plain_value, quoted
from engine.features import FeatureSpec
from engine.tree.structure import IS_MISSING, LEVEL_SET, THRESHOLD, Tree

FIRST_LINE = "Treewright rules 1"
MAX_BARS = 24
KEYWORDS = frozenset(
    {"all", "rows", "in", "is", "not", "or", "missing", "unknown", "nothing", "true", "false"}
)
PLAIN_NAME = re.compile(r"[^\W\d]\w*")


def to_rules(estimator: Any, target: str = "", remarks: Sequence[str] = ()) -> str:
    """Return a fitted single tree as the text of its rules; `engine.export.rules_reader` reads it back.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted; pruned or changed by hand as it may be.
    target : str, optional
        What is predicted.
    remarks : sequence of str, optional
        Lines for the reader, each without a line's end, which are passed over when the rules are read back.

    Raises
    ------
    DataError
        It is not a fitted single tree, or has labels or levels that are neither text nor numbers nor yes-no
        values.
    """
    tree = getattr(estimator, "tree_", None)
    if not isinstance(tree, Tree):
        raise DataError(
            f"{type(estimator).__name__} is not a fitted single tree; only a decision tree has rules"
        )
    classes = getattr(estimator, "classes_", None)
    labels = None if classes is None else [plain_value(label, "the target") for label in classes.tolist()]
    features: Sequence[FeatureSpec] = estimator.features_
    head = [FIRST_LINE, _target_line(target, labels), _origin_line(estimator)]
    head += [_column_line(spec) for spec in features]
    head += [f"# {remark}" for remark in remarks]
    return "\n".join([*head, "tree", *_node_lines(tree, features, labels)]) + "\n"


def name_word(name: str) -> str:
    """Return a column's name as rules write it: in quotes unless it is a plain word."""
    is_plain = PLAIN_NAME.fullmatch(name) and name.isprintable() and name not in KEYWORDS
    return name if is_plain else quoted(name)


def _target_line(target: str, labels: Sequence[Any] | None) -> str:
    said = "numbers" if labels is None else ", ".join(map(literal, labels))
    return f"predicts {quoted(target)}: {said}"


def _origin_line(estimator: Any) -> str:
    algorithm = getattr(estimator, "algorithm", "cart")
    criterion = estimator.criterion if algorithm == "cart" else "entropy"  # which these leave out
    place = "" if hasattr(estimator, "feature_names_in_") else " on columns by position"
    return f"grown by {quoted(algorithm)} with {quoted(criterion)}{place}"


def _column_line(spec: FeatureSpec) -> str:
    kind, levels = "number", None
    if spec.levels is not None:
        kind, levels = "category", spec.levels
    elif spec.ordered_levels is not None:
        kind, levels = "ordered", spec.ordered_levels
    words = [literal(plain_value(level, f"column {spec.name!r}")) for level in levels or ()]
    return f"column {name_word(spec.name)}: {kind}" + (f" {', '.join(words)}" if words else "")


def _node_lines(tree: Tree, features: Sequence[FeatureSpec], labels: Sequence[Any] | None) -> Iterator[str]:
    waiting = [(0, 0, "all rows")]
    while waiting:
        node, depth, condition = waiting.pop()
        bars = "|   " * min(depth - 1, MAX_BARS) if depth else ""
        gap = " " * max(4 - len(str(depth)), 1) if depth else " "
        yield f"{depth}{gap}{bars}{condition}: {_answer(tree, node, labels)}"
        conditions = branch_conditions(tree, node, features)
        first = int(tree.first_child[node])
        waiting.extend((first + k, depth + 1, conditions[k]) for k in reversed(range(len(conditions))))


def branch_conditions(tree: Tree, node: int, features: Sequence[FeatureSpec]) -> list[str]:
    """Return what a row has to be for each branch of a node; empty at a leaf."""
    n_children = int(tree.n_children[node])
    if n_children == 0:
        return []
    spec, kind = features[int(tree.feature[node])], int(tree.kind[node])
    name = name_word(spec.name)
    if kind == IS_MISSING:
        return [f"{name} is missing", f"{name} is not missing"]
    if kind == THRESHOLD:
        threshold = repr(float(tree.threshold[node]))
        texts = [f"{name} <= {threshold}", f"{name} > {threshold}"]
    else:
        named: list[list[str]] = [[] for _ in range(n_children)]
        for code, child in tree.levels(node).tolist():
            named[child].append(literal(plain_value((spec.levels or ())[code], f"column {spec.name!r}")))
        sign = "in" if kind == LEVEL_SET else "="
        texts = [f"{name} {sign} {', '.join(words) or 'nothing'}" for words in named]
        texts[int(tree.missing_child[node])] += " or missing"
        texts[int(tree.unseen_child[node])] += " or unknown"
        return texts
    texts[int(tree.missing_child[node])] += " or missing"
    return texts


def _answer(tree: Tree, node: int, labels: Sequence[Any] | None) -> str:
    """Return a node's value, and the numbers that describe it: those that are usual are left out."""
    value = tree.value[node].tolist()
    if labels is None:
        said = repr(value[0])
    else:
        said = f"{literal(labels[int(np.argmax(value))])} [{', '.join(map(repr, value))}]"
    n_rows, weight = int(tree.n_node_samples[node]), float(tree.weighted_n_node_samples[node])
    parts = [said, f"{n_rows} row{'' if n_rows == 1 else 's'}"]
    if weight != n_rows:
        parts.append(f"weight {weight!r}")
    for word, number in (("impurity", tree.impurity[node]), ("gain", tree.gain[node])):
        if number != 0:
            parts.append(f"{word} {float(number)!r}")
    if tree.n_missing[node]:
        parts.append(f"{int(tree.n_missing[node])} missing")
    return ", ".join(parts)
