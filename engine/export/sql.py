"""A single tree as one SQL expression, ``CASE ... END AS "prediction"``.

One WHEN a leaf, without nesting: databases limit how deep an expression goes (SQLite: 1,000). A leaf's whole
rule would name every question above it, too, so that a tree of 1,100 questions in a row had conditions of
that length. But CASE takes the first WHEN that holds, and that spares most of it:

The leaves stand in the order of a walk that goes into a node's branches one after the other, the one with the
most leaves last. Let every WHEN so far have caught exactly the rows of its leaf. Then of the rows that are
left none goes into a branch that was walked already, so at each node where the way to the next leaf takes the
last branch all rows that come there go that way, and the question need not be asked. What is left to ask are
the branches on the way that are not the last of their node. The leaves at least double with every such branch
on the way up, so a leaf asks log2(leaves) of them at most, and the last leaf none: it is the ELSE.

The conditions on one column are merged into one interval or one set of levels. They hold in three-valued
logic: a comparison with NULL is not true, so where missing values belong to a leaf, ``IS NULL OR`` says so.

Numbers are written so that they read back as the same double. SQLite before 3.43 misses the last bit of some
beyond 1e25 and below 1e-25, whatever their digits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.errors import DataError
from engine.export.literals import plain_value
from engine.features import FeatureSpec
from engine.tree.node_rows import children_of
from engine.tree.structure import LEAF, Tree

EXACT_DIGITS = 15  # as a decimal with more, a database may round twice on the way to a double
SECONDS_A_DAY = 86400


class _Asked(NamedTuple):
    """The table that is asked: its columns of dates, and how false and true are written beside its names."""

    dates: frozenset[str]
    truths: tuple[str, str]


def to_sql(
    estimator: Any, *, dates: Collection[str] = (), has_shares: bool = False, name: str = "prediction"
) -> str:
    """Return a fitted single tree as an SQL expression with a name, to stand in a SELECT.

    The columns are those of the table the tree was trained on, in double quotes. Missing cells are NULL; a
    level that training never saw goes where `predict` sends it. The SQL is standard (PostgreSQL, SQLite,
    DuckDB and others); MySQL needs the modes ANSI_QUOTES and NO_BACKSLASH_ESCAPES. A row is compared with
    every WHEN above its own, so trees of thousands of leaves take their time.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted; pruned or changed by hand as it may be.
    dates : collection of str
        Columns that are days since 1970 to the tree and dates in the table: as DATE, TIMESTAMP or text such
        as 2020-01-31 or 2020-01-31 18:30:00. They are compared to the microsecond.
    has_shares : bool
        Add a column for the share of every class.
    name : str
        Of the prediction.

    Raises
    ------
    DataError
        It is not a fitted single tree, or has labels, levels or values that SQL has no words for.
    """
    tree = getattr(estimator, "tree_", None)
    if not isinstance(tree, Tree):
        raise DataError(
            f"{type(estimator).__name__} is not a fitted single tree; only a decision tree is one SQL "
            "expression"
        )
    names = {spec.name.lower() for spec in estimator.features_}
    # in SQLite TRUE is the column of that name, where there is one
    truths = ("(1 = 0)", "(1 = 1)") if names & {"false", "true"} else ("FALSE", "TRUE")
    rules = list(_leaf_rules(tree, estimator.features_, _Asked(frozenset(dates), truths)))
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return _case(rules, [_value(float(value)) for value in tree.value[:, 0]], name)
    labels = [_value(plain_value(label, "the target"), truths) for label in classes.tolist()]
    columns = [_case(rules, [labels[k] for k in np.argmax(tree.value, axis=1)], name)]
    if has_shares:
        for k, title in enumerate(share_names(classes.tolist())):
            columns.append(_case(rules, [_value(float(share)) for share in tree.value[:, k]], title))
    return ",\n".join(columns)


def share_names(labels: Sequence[Any]) -> list[str]:
    """Return the names of the columns with the classes' shares, different for all."""
    names = [f"share of {label}" for label in labels]
    return [name if names.count(name) == 1 else f"{name} ({k + 1})" for k, name in enumerate(names)]


def _case(rules: list[tuple[int, str]], answers: Sequence[str], name: str) -> str:
    *others, (last, _nothing) = rules
    if not others:
        return f"{answers[last]} AS {_identifier(name)}"
    lines = [f"  WHEN {condition} THEN {answers[leaf]}" for leaf, condition in others]
    return "\n".join(["CASE", *lines, f"  ELSE {answers[last]}", f"END AS {_identifier(name)}"])


def _leaf_rules(tree: Tree, features: Sequence[FeatureSpec], table: _Asked) -> Iterator[tuple[int, str]]:
    """Yield leaves and the conditions left to ask, up to the leaf that takes all rows that are left."""
    n_leaves = _leaves_below(tree)
    asked: dict[int, _Interval | _Levels] = {}
    waiting = [(0, asked)]
    while waiting:
        node, asked = waiting.pop()
        if tree.kind[node] == LEAF:
            condition = " AND ".join(filter(None, (state.text() for state in asked.values())))
            yield node, condition
            if not condition:  # it takes all rows that are left
                return
            continue
        first, feature = int(tree.first_child[node]), int(tree.feature[node])
        *others, last = sorted(range(int(tree.n_children[node])), key=lambda k: n_leaves[first + k])
        waiting.append((first + last, asked))
        branches = (asked.get(feature) or _state_of(features[feature], table)).branches(tree, node)
        for child in reversed(others):
            if branches[child].is_possible:
                waiting.append((first + child, asked | {feature: branches[child]}))


def _leaves_below(tree: Tree) -> list[int]:
    n_leaves = tree.is_leaf.astype(np.int64)
    for node in reversed(range(tree.n_nodes)):
        if not n_leaves[node]:
            n_leaves[node] = sum(n_leaves[child] for child in tree.children(node))
    found: list[int] = n_leaves.tolist()
    return found


def _state_of(spec: FeatureSpec, table: _Asked) -> _Interval | _Levels:
    known = spec.levels if spec.levels is not None else spec.ordered_levels
    if known is None:
        return _Interval(_identifier(spec.name), spec.name in table.dates)
    codes = np.arange(len(known), dtype=np.float64)
    # a level of an ordered column that training never saw has no place in the order: it counts as missing
    unseen = dtypes.UNSEEN_LEVEL if spec.levels is not None else math.nan
    values = np.append(codes, [unseen, math.nan])
    words = [_value(plain_value(level, f"column {spec.name!r}"), table.truths) for level in known]
    return _Levels(_identifier(spec.name), words, values, np.arange(len(values)))


class _Interval:
    """What is asked of a column of numbers: ``lower < x <= upper``, or missing."""

    def __init__(self, column: str, is_date: bool) -> None:
        self._column, self._is_date = column, is_date
        self._lower, self._upper = -math.inf, math.inf
        self._takes_known, self._takes_missing = True, True

    @property
    def is_possible(self) -> bool:
        return self._has_known or self._takes_missing

    @property
    def _has_known(self) -> bool:
        return self._takes_known and self._lower < self._upper

    def branches(self, tree: Tree, node: int) -> list[_Interval]:
        """Return what is asked of the column in each branch of a node."""
        return [self._narrowed(tree, node, child) for child in range(int(tree.n_children[node]))]

    def _narrowed(self, tree: Tree, node: int, child: int) -> _Interval:
        state = _Interval(self._column, self._is_date)
        state.__dict__.update(self.__dict__)
        threshold = float(tree.threshold[node])
        if math.isnan(threshold):
            state._takes_known &= child == 1
        elif child == 0:
            state._upper = min(self._upper, threshold)
        else:
            state._lower = max(self._lower, threshold)
        state._takes_missing &= bool(children_of(tree, node, np.array([math.nan]))[0] == child)
        return state

    def text(self) -> str:
        column = self._column
        if not self._has_known:
            return f"{column} IS NULL"
        bounds = [
            f"{column} {sign} {self._bound(bound)}"
            for sign, bound in ((">", self._lower), ("<=", self._upper))
            if math.isfinite(bound)
        ]
        if not bounds:
            return "" if self._takes_missing else f"{column} IS NOT NULL"
        within = " AND ".join(bounds)
        if not self._takes_missing:
            return within
        return f"({column} IS NULL OR {within if len(bounds) == 1 else f'({within})'})"

    def _bound(self, threshold: float) -> str:
        return _date(threshold) if self._is_date else _value(threshold)


class _Levels:
    """What is asked of a column of levels: which may be, of the known ones, all others, and missing.

    `taken` are places in `values`, ascending: the codes, then that of an unknown level, then missing.
    """

    def __init__(
        self, column: str, words: list[str], values: NDArray[np.float64], taken: NDArray[np.int64]
    ) -> None:
        self._column, self._words, self._values, self._taken = column, words, values, taken

    @property
    def is_possible(self) -> bool:
        return len(self._taken) > 0

    def branches(self, tree: Tree, node: int) -> list[_Levels]:
        """Return what is asked of the column in each branch of a node."""
        child = children_of(tree, node, self._values[self._taken])
        by_child = np.argsort(child, kind="stable")
        bounds = np.searchsorted(child[by_child], np.arange(int(tree.n_children[node]) + 1))
        return [
            _Levels(self._column, self._words, self._values, self._taken[by_child[start:stop]])
            for start, stop in pairwise(bounds.tolist())
        ]

    def text(self) -> str:
        column, n_known = self._column, len(self._words)
        takes_unseen, takes_missing = (place in self._taken[-2:] for place in (n_known, n_known + 1))
        named = self._taken[self._taken < n_known]
        if takes_unseen:
            named = np.setdiff1d(np.arange(n_known), named)
            if not len(named):
                return "" if takes_missing else f"{column} IS NOT NULL"
        if not len(named):
            return f"{column} IS NULL"
        words = [self._words[code] for code in named.tolist()]
        if len(words) == 1:
            within = f"{column} {'<>' if takes_unseen else '='} {words[0]}"
        else:
            within = f"{column} {'NOT IN' if takes_unseen else 'IN'} ({', '.join(words)})"
        return f"({column} IS NULL OR {within})" if takes_missing else within


def _identifier(name: str) -> str:
    _refuse_nul(name)
    return '"' + name.replace('"', '""') + '"'


def _refuse_nul(text: str) -> None:
    if "\0" in text:
        raise DataError(f"{text!r} holds the sign with number 0, which ends an SQL text; rename it first")


def _value(value: str | bool | int | float, truths: tuple[str, str] = ("FALSE", "TRUE")) -> str:
    """Return a literal; numbers read back as the same double."""
    if isinstance(value, str):
        _refuse_nul(value)
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bool):
        return truths[value]
    if isinstance(value, int):
        return repr(value)
    if not math.isfinite(value):
        raise DataError(
            f"the tree holds the value {value!r}, for which SQL has no word; export another format"
        )
    text = repr(value)
    n_digits = len(Decimal(text).normalize().as_tuple().digits)
    # 17 digits of the value itself: the fewest that are unique may lie at the edge of what rounds to it
    return text if n_digits <= EXACT_DIGITS else f"{value:.16e}"


def _date(days: float) -> str:
    """Return a moment as text that is compared alike as text and as a time, to the microsecond."""
    microseconds = round(days * SECONDS_A_DAY * 1_000_000)
    moment = str(np.datetime64(microseconds, "us")).replace("T", " ")
    return f"'{moment.removesuffix('.000000')}'"
