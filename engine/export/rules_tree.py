"""Puts the lines of rules together: which branches belong to which question, and whether they fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from engine.errors import DataError
from engine.export.rules import name_word
from engine.features import FeatureSpec
from engine.tree.structure import IS_MISSING, LEAF, LEVEL_SET, MULTIWAY, NO_CHILD, THRESHOLD, Tree

KINDS = {"<=": THRESHOLD, ">": THRESHOLD, "in": LEVEL_SET, "=": MULTIWAY}
"""Signs of conditions, and the kinds of the nodes above them."""


class Condition(NamedTuple):
    """What a line says of the rows that come to its node.

    Attributes
    ----------
    sign : str
        "<=", ">", "in", "=", "missing" or "not missing"; "" at the root.
    feature : int
    threshold : float
    codes : tuple of int
    takes_missing, takes_unknown : bool
    """

    sign: str
    feature: int = -1
    threshold: float = np.nan
    codes: tuple[int, ...] = ()
    takes_missing: bool = False
    takes_unknown: bool = False


class Answer(NamedTuple):
    """What a line says of its node."""

    value: tuple[float, ...]
    n_rows: int
    weight: float
    impurity: float = 0.0
    gain: float = 0.0
    n_missing: int = 0


class Line(NamedTuple):
    """One node's line; `number` is where it stands in the text, from 1."""

    number: int
    depth: int
    condition: Condition
    answer: Answer


def build_tree(lines: list[Line], features: Sequence[FeatureSpec]) -> Tree:
    """Return the tree of its lines, a node each, parents first.

    Raises
    ------
    DataError
        They do not make a tree; names the line and what is wrong with it.
    """
    children = _children_of_lines(lines)
    order, first = [0], {}
    waiting = [0]
    while waiting:  # a node's children get adjacent numbers when it is visited, as in `structure.compact`
        at = waiting.pop()
        first[at] = len(order) if children[at] else NO_CHILD
        order.extend(children[at])
        waiting.extend(reversed(children[at]))
    questions = [_question([lines[k] for k in children[at]], lines[at], features) for at in order]
    answers = [lines[at].answer for at in order]
    sizes = [len(question["levels"]) for question in questions]
    level_sets = [pair for question in questions for pair in question["levels"]]
    arrays: dict[str, Any] = {name: [question[name] for question in questions] for name in _NO_QUESTION}
    del arrays["levels"]
    arrays |= {
        "first_child": [first[at] for at in order],
        "n_children": [len(children[at]) for at in order],
        "level_offsets": np.concatenate([[0], np.cumsum(sizes)]),
        "level_sets": np.array(level_sets, np.int64).reshape(-1, 2),
        "value": np.array([answer.value for answer in answers]),
        "impurity": [answer.impurity for answer in answers],
        "gain": [answer.gain for answer in answers],
        "n_node_samples": [answer.n_rows for answer in answers],
        "weighted_n_node_samples": [answer.weight for answer in answers],
        "n_missing": [answer.n_missing for answer in answers],
    }
    return Tree.from_arrays(arrays)


def _children_of_lines(lines: list[Line]) -> list[list[int]]:
    """Return which lines are right below each line."""
    children: list[list[int]] = [[] for _ in lines]
    above: list[int] = []  # the line that is open at every depth
    for at, line in enumerate(lines):
        if (line.depth == 0) != (at == 0):
            what = "is not 0 in the tree's first line" if at == 0 else "is 0, which only the first line has"
            raise _told(line, f"the depth {what}")
        if line.depth > len(above):
            raise _told(
                line, f"the depth goes from {len(above) - 1} to {line.depth}; a step down is one deeper"
            )
        del above[line.depth :]
        if above:
            children[above[-1]].append(at)
        above.append(at)
    return children


def _told(line: Line, complaint: str) -> DataError:
    return DataError(f"line {line.number} of the rules: {complaint}")


_NO_QUESTION: dict[str, Any] = {
    "feature": -1, "kind": LEAF, "threshold": np.nan, "missing_child": NO_CHILD, "unseen_child": NO_CHILD,
    "levels": [],
}  # fmt: skip


def _question(branches: list[Line], line: Line, features: Sequence[FeatureSpec]) -> dict[str, Any]:
    """Return what a node asks, from what its branches take."""
    if not branches:
        return _NO_QUESTION
    first = branches[0].condition
    spec = features[first.feature]
    for branch in branches:
        if branch.condition.feature != first.feature:
            raise _told(
                branch,
                f"the branches of line {line.number} ask about different columns; this one has to ask about "
                f"{name_word(spec.name)} too",
            )
    _require_signs(branches, line, name_word(spec.name))
    if first.sign == "missing":
        return _NO_QUESTION | {
            "feature": first.feature, "kind": IS_MISSING, "missing_child": 0, "unseen_child": 1,
        }  # fmt: skip
    missing_child = _the_one(branches, line, "takes_missing", "or missing")
    question = _NO_QUESTION | {
        "feature": first.feature, "kind": KINDS[first.sign], "threshold": first.threshold,
        "missing_child": missing_child, "unseen_child": missing_child,
    }  # fmt: skip
    if question["kind"] == THRESHOLD:
        _require_one_threshold(*branches)
        return question
    unseen_child = _the_one(branches, line, "takes_unknown", "or unknown")
    return question | {"unseen_child": unseen_child, "levels": _levels_of(branches, spec)}


def _require_signs(branches: list[Line], line: Line, name: str) -> None:
    """Check that a node's branches belong to one question."""
    first = branches[0].condition
    threshold = repr(first.threshold)
    signs: tuple[str, ...]
    if first.sign in ("missing", "not missing"):
        signs, wanted = ("missing", "not missing"), f"'{name} is missing' and '{name} is not missing'"
    elif first.sign in ("<=", ">"):
        signs, wanted = ("<=", ">"), f"'{name} <= {threshold}' and '{name} > {threshold}'"
    elif first.sign == "in":
        signs, wanted = ("in", "in"), f"'{name} in …' twice"
    else:
        signs, wanted = ("=",) * len(branches), f"'{name} = …' in all"
    if tuple(branch.condition.sign for branch in branches) != signs:
        n_branches = f"{len(branches)} branch" + ("" if len(branches) == 1 else "es")
        raise _told(line, f"its {n_branches} make no question; expected {wanted}, in this order")


def _require_one_threshold(yes: Line, no: Line) -> None:
    thresholds = yes.condition.threshold, no.condition.threshold
    if thresholds[0] != thresholds[1]:
        raise _told(
            no,
            f"the threshold is {thresholds[1]!r}, but in line {yes.number} {thresholds[0]!r}; write one in "
            "both",
        )


def _the_one(branches: list[Line], line: Line, attribute: str, words: str) -> int:
    """Return which branch has a flag, exactly one."""
    having = [k for k, branch in enumerate(branches) if getattr(branch.condition, attribute)]
    if len(having) != 1:
        raise _told(line, f"{len(having)} of its branches have '{words}'; give it to exactly one")
    return having[0]


def _levels_of(branches: list[Line], spec: FeatureSpec) -> list[tuple[int, int]]:
    taken: dict[int, int] = {}
    for k, branch in enumerate(branches):
        for code in branch.condition.codes:
            if code in taken:
                raise _told(
                    branch, f"the level {(spec.levels or ())[code]!r} is taken by another branch already"
                )
            taken[code] = k
    return sorted(taken.items())
