"""A statistic in writing, such as `mean(a) / mean(b)`: read against a white list, never run as code.

The text is parsed with `ast`, and every node becomes one of the few kinds below or is refused by its place in
the text. Columns are values of rows, what `mean` and its like make of them are numbers; a statistic is a
number. All arithmetic is numpy's on float64, so no text within the limits can take long.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from engine.errors import ParameterError

Floats = NDArray[np.float64]
MAX_LENGTH, MAX_DEPTH, MAX_EXPONENT = 500, 40, 100
QUOTED = re.compile(r"`([^`]*)`")


def deviations(x: Floats) -> Floats:
    """Return values less their mean, exactly 0 where all are the same: their mean may be off by a bit."""
    from_first = x - x[..., :1]
    return np.asarray(from_first - from_first.mean(axis=-1, keepdims=True))


def mean(x: Floats) -> Floats:
    """Return the mean along the last axis, of equal values exactly that value."""
    first = x[..., :1]
    found = first + (x - first).mean(axis=-1, keepdims=True)
    # a difference of huge values may be infinite where their mean is not
    return found if np.isfinite(found).all() else np.asarray(x.mean(axis=-1, keepdims=True))


def variance(x: Floats) -> Floats:
    """Return the variance along the last axis, divided by n - 1; NaN of one value."""
    return covariance(x, x)


def covariance(x: Floats, y: Floats) -> Floats:
    """Return the covariance along the last axis, divided by n - 1; NaN of one value."""
    x, y = np.broadcast_arrays(x, y)
    products = (deviations(x) * deviations(y)).sum(axis=-1, keepdims=True)
    return np.asarray(products / (x.shape[-1] - 1)) if x.shape[-1] > 1 else np.full_like(products, np.nan)


def correlation(x: Floats, y: Floats) -> Floats:
    """Return Pearson's correlation along the last axis; NaN where a side is constant."""
    x, y = np.broadcast_arrays(x, y)
    dx, dy = deviations(x), deviations(y)
    dx, dy = (d / np.abs(d).max(axis=-1, keepdims=True) for d in (dx, dy))  # squares stay in range
    product = (dx * dy).sum(axis=-1, keepdims=True)
    # one root, so that a column correlates with itself by exactly 1
    both = np.sqrt((dx * dx).sum(axis=-1, keepdims=True) * (dy * dy).sum(axis=-1, keepdims=True))
    return np.asarray(np.clip(product / both, -1.0, 1.0))


SUMMARIES: dict[str, Callable[[Floats], Floats]] = {
    "mean": mean,
    "median": lambda x: np.median(x, axis=-1, keepdims=True),
    "sd": lambda x: np.sqrt(variance(x)),
    "var": variance,
    "min": lambda x: x.min(axis=-1, keepdims=True),
    "max": lambda x: x.max(axis=-1, keepdims=True),
    "sum": lambda x: x.sum(axis=-1, keepdims=True),
}
PAIRS: dict[str, Callable[[Floats, Floats], Floats]] = {"cov": covariance, "corr": correlation}
BY_VALUE: dict[str, Callable[[Floats], Floats]] = {
    "sqrt": np.sqrt, "log": np.log, "exp": np.exp, "abs": np.abs,
}  # fmt: skip
QUANTILE = "quantile"
FUNCTIONS = (*SUMMARIES, QUANTILE, *PAIRS, *BY_VALUE)
OPERATIONS: dict[type[ast.operator], Callable[[Floats, Floats], Floats]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.true_divide, ast.Pow: np.power,
}  # fmt: skip
Columns = Mapping[str, Floats]


class _Part(NamedTuple):
    """A part of an expression: how it is worked out, and whether it is a value of every row."""

    work_out: Callable[[Columns], Floats]
    is_of_rows: bool


@dataclass(frozen=True, eq=False)
class Expression:
    """A statistic that was read from a text.

    Attributes
    ----------
    text : str
    columns : tuple of str
        Names of the columns in it, in the order of their first place.
    """

    text: str
    columns: tuple[str, ...]
    _part: _Part

    def of(self, columns: Columns) -> Floats:
        """Return the statistic of each of several samples; where it is not defined, NaN or infinite.

        Parameters
        ----------
        columns : mapping of str to float64 (n_samples, n_rows)
            Without missing values.
        """
        n_samples = len(next(iter(columns.values())))
        with np.errstate(all="ignore"):
            found = self._part.work_out(columns)
        return np.broadcast_to(found, (n_samples, 1))[:, 0].astype(np.float64)


def parse(text: str, names: Sequence[str]) -> Expression:
    """Read a statistic.

    Parameters
    ----------
    text : str
        Numbers, names of columns (between back ticks where they are no plain words), ``+ - * / **``,
        brackets and `FUNCTIONS`.
    names : sequence of str
        Columns there are.

    Raises
    ------
    ParameterError
        The text is none; says where, and what to write.
    """
    if not text.strip():
        raise ParameterError("the expression is empty; enter one such as mean(a) / mean(b)")
    if len(text) > MAX_LENGTH:
        raise ParameterError(
            f"the expression has {len(text):,} characters; enter one of at most {MAX_LENGTH}"
        )
    return _Reader(text, names).read()


class _Reader:
    """Reads one text; places are told in characters of the text as it was written, from 1."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        self._text, self._names = text, names
        self._plain, self._places, self._quoted = self._without_quotes(text)
        self._used: dict[str, None] = {}

    def _without_quotes(self, text: str) -> tuple[str, list[int], dict[str, str]]:
        """Put plain words for quoted names; return that, the places of its characters, and the names."""
        plain, places, quoted, end = "", list[int](), dict[str, str](), 0
        for found in QUOTED.finditer(text):
            word = f"quoted_{len(quoted)}"
            while word in text or word in self._names:
                word += "_"
            quoted[word] = found.group(1)
            plain += text[end : found.start()] + word
            places += [*range(end, found.start()), *[found.start()] * len(word)]
            end = found.end()
        if "`" in text[end:]:
            self._refuse_at(end + text[end:].index("`"), "a back tick is not closed; put one on both sides")
        return plain + text[end:], [*places, *range(end, len(text) + 1)], quoted

    def read(self) -> Expression:
        try:
            tree = ast.parse(self._plain.lstrip(), mode="eval").body
        except SyntaxError as error:
            place = self._place(error.lineno or 1, (error.offset or 1) - 1)
            is_open = "never closed" in (error.msg or "")
            why = "this bracket is not closed" if is_open else f"it cannot be read here; {self._hint(place)}"
            self._refuse_at(place, why)
        except (ValueError, RecursionError, MemoryError):
            raise ParameterError(
                "the expression cannot be read; write numbers, columns and functions"
            ) from None
        part = self._part(tree, 0)
        if part.is_of_rows:
            self._refuse(tree, "it has a value for every row; make one number of them, such as by mean( )")
        if not self._used:
            self._refuse(tree, "it asks for no column; enter one such as mean(a)")
        return Expression(self._text, tuple(self._used), part)

    def _hint(self, place: int) -> str:
        rest = self._text[place : place + 1]
        if rest in ("=", "<", ">", "!"):
            return "comparisons are not known"
        return "check brackets, and write names that are no plain words between back ticks, as in mean(`a b`)"

    # -- places

    def _place(self, line: int, column: int) -> int:
        """Return where a place of the plain text is in the text as written."""
        lead = len(self._plain) - len(self._plain.lstrip())
        lines = self._plain.lstrip().split("\n")
        before = sum(len(other) + 1 for other in lines[: line - 1])
        return self._places[min(lead + before + max(column, 0), len(self._places) - 1)]

    def _start(self, node: ast.expr) -> int:
        lines = self._plain.lstrip().split("\n")
        of_line = lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="ignore")
        return self._place(node.lineno, len(of_line))

    def _refuse(self, node: ast.expr, why: str) -> NoReturn:
        self._refuse_at(self._start(node), why)

    def _refuse_at(self, place: int, why: str) -> NoReturn:
        shown = self._text[place : place + 12].split("\n")[0]
        where = f"at character {place + 1}, {shown!r}" if shown else "at its end"
        raise ParameterError(f"the expression is wrong {where}: {why}")

    # -- parts

    def _part(self, node: ast.expr, depth: int) -> _Part:
        if depth > MAX_DEPTH:
            self._refuse(node, f"brackets and signs are more than {MAX_DEPTH} deep; write it more simply")
        if isinstance(node, ast.Constant):
            return self._number(node)
        if isinstance(node, ast.Name):
            return self._column(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            return self._signed(node, depth)
        if isinstance(node, ast.BinOp):
            return self._operation(node, depth)
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        self._refuse(
            node, "this is not known; write numbers, columns, + - * / ** and " + ", ".join(FUNCTIONS)
        )

    def _number(self, node: ast.Constant) -> _Part:
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            self._refuse(node, "this is no number; write columns without quotes or between back ticks")
        try:
            value = float(node.value)
        except OverflowError:
            value = math.inf
        if not math.isfinite(value):
            self._refuse(node, "the number is too large")
        constant = np.array([[value]])
        return _Part(lambda _columns: constant, False)

    def _column(self, node: ast.Name) -> _Part:
        name = self._name_of(node)
        if name not in self._names:
            what = f"it is a function; write {name}( )" if name in FUNCTIONS else "there is no such column"
            self._refuse(node, f"{what}; columns are {_listing(self._names)}")
        self._used[name] = None
        return _Part(lambda columns: columns[name], True)

    def _name_of(self, node: ast.Name) -> str:
        """Return a name as it was written: Python's own has other signs for some of its letters."""
        line = self._plain.lstrip().split("\n")[node.lineno - 1].encode()
        written = line[node.col_offset : node.end_col_offset].decode()
        return self._quoted.get(written, written)

    def _signed(self, node: ast.UnaryOp, depth: int) -> _Part:
        part = self._part(node.operand, depth + 1)
        if isinstance(node.op, ast.UAdd):
            return part
        return _Part(lambda columns: -part.work_out(columns), part.is_of_rows)

    def _operation(self, node: ast.BinOp, depth: int) -> _Part:
        operation = OPERATIONS.get(type(node.op))
        if operation is None:
            power = "write ** for a power" if isinstance(node.op, ast.BitXor) else "write + - * / or **"
            self._refuse(node, f"an operation in it is not known; {power}")
        left, right = self._part(node.left, depth + 1), self._part(node.right, depth + 1)
        if isinstance(node.op, ast.Pow) and not right.is_of_rows:
            exponent = _constant(node.right)
            if exponent is not None and abs(exponent) > MAX_EXPONENT:
                self._refuse(node.right, f"the exponent is larger than {MAX_EXPONENT}")
        return _Part(
            lambda columns: operation(left.work_out(columns), right.work_out(columns)),
            left.is_of_rows or right.is_of_rows,
        )

    def _call(self, node: ast.Call, depth: int) -> _Part:
        name = self._name_of(node.func) if isinstance(node.func, ast.Name) else ""
        if name not in FUNCTIONS:
            self._refuse(node, f"there is no such function; there are {', '.join(FUNCTIONS)}")
        n_wanted = 2 if name in PAIRS or name == QUANTILE else 1
        if node.keywords or len(node.args) != n_wanted or any(isinstance(a, ast.Starred) for a in node.args):
            example = f"{name}(a, 0.9)" if name == QUANTILE else f"{name}({'a, b' if n_wanted == 2 else 'a'})"
            self._refuse(node, f"{name} is written as {example}")
        if name == QUANTILE:
            return self._quantile(node, depth)
        parts = [self._part(argument, depth + 1) for argument in node.args]
        if name in BY_VALUE:
            function = BY_VALUE[name]
            return _Part(lambda columns: function(parts[0].work_out(columns)), parts[0].is_of_rows)
        self._need_rows(name, node.args, parts)
        if name in PAIRS:
            pair = PAIRS[name]
            return _Part(lambda columns: pair(*(part.work_out(columns) for part in parts)), False)
        summary = SUMMARIES[name]
        return _Part(lambda columns: summary(parts[0].work_out(columns)), False)

    def _quantile(self, node: ast.Call, depth: int) -> _Part:
        part, share = self._part(node.args[0], depth + 1), _constant(node.args[1])
        self._need_rows(QUANTILE, node.args[:1], [part])
        if share is None or not 0 <= share <= 1:
            self._refuse(node.args[1], "the share of a quantile is a number from 0 to 1, such as 0.9")
        return _Part(
            lambda columns: np.quantile(part.work_out(columns), share, axis=-1, keepdims=True), False
        )

    def _need_rows(self, name: str, nodes: Sequence[ast.expr], parts: Sequence[_Part]) -> None:
        for node, part in zip(nodes, parts, strict=True):
            if not part.is_of_rows:
                self._refuse(node, f"{name} is taken of a column, and this is one number already")


def _constant(node: Any) -> float | None:
    """Return the number that a node is, with its sign; None where it is none."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _constant(node.operand)
        return value if value is None or isinstance(node.op, ast.UAdd) else -value
    is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return float(node.value) if is_number else None


def renamed(expression: Expression, names: Mapping[str, str]) -> Expression:
    """Return the same statistic of columns by other names, given by those that it has."""

    def work_out(columns: Columns) -> Floats:
        return expression._part.work_out({name: columns[other] for name, other in names.items()})

    columns = tuple(dict.fromkeys(names[name] for name in expression.columns))
    return Expression(expression.text, columns, _Part(work_out, False))


def quoted(name: str) -> str:
    """Return a column's name as an expression holds it.

    >>> quoted("bill_length"), quoted("bill length")
    ('bill_length', '`bill length`')
    """
    import keyword

    is_plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    return name if is_plain else f"`{name}`"


def _listing(names: Sequence[str]) -> str:
    shown = ", ".join(quoted(name) for name in names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown or "none"
