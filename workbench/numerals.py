"""Texts that are numbers: finding decimal and thousands signs, and reading them exactly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXACT_LIMIT = 2**53  # above it float64 skips integers
MOST_DIGITS = 18  # of a whole number that somebody types


@dataclass(frozen=True)
class NumberStyle:
    """How numbers are written: decimal sign, and thousands sign ("" = none)."""

    decimal: str = "."
    thousands: str = ""

    def describe(self) -> str:
        grouping = f"thousands sign '{self.thousands}'" if self.thousands else "no thousands sign"
        return f"decimal sign '{self.decimal}', {grouping}"


PLAIN = NumberStyle()
STYLES = (
    NumberStyle(".", ""),
    NumberStyle(",", ""),
    NumberStyle(".", ","),
    NumberStyle(",", "."),
    NumberStyle(",", " "),
    NumberStyle(".", " "),
    NumberStyle(".", "'"),
    NumberStyle(",", "'"),
)
_INFINITE = r"(?i)^[+-]?(?:inf|infinity|∞)$"


def _pattern(style: NumberStyle) -> str:
    decimal = re.escape(style.decimal)
    whole = r"\d+"
    if style.thousands:
        whole = rf"(?:\d{{1,3}}(?:{_sign_class(style.thousands)}\d{{3}})+|\d+)"
    return rf"^[+-]?(?:{whole}(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?$"


def _sign_class(thousands: str) -> str:
    if thousands == " ":
        return "[ \u00a0\u202f\u2009]"  # blank, no-break, narrow no-break, thin
    return "['’]" if thousands == "'" else re.escape(thousands)


def plain_signs(texts: Any) -> Any:
    """Return pyarrow `texts` with a typographic minus (U+2212) as "-"."""
    import pyarrow.compute as pc

    return pc.replace_substring(texts, "−", "-")


def is_number(texts: Any, style: NumberStyle) -> NDArray[np.bool_]:
    """Tell which texts are finite or infinite numbers in this style.

    Parameters
    ----------
    texts : pyarrow.StringArray (n_texts,)
        Without blanks around.
    """
    import pyarrow.compute as pc

    texts = plain_signs(texts)
    found = pc.match_substring_regex(texts, _pattern(style))
    return _to_numpy(pc.or_(found, pc.match_substring_regex(texts, _INFINITE)))


def parse(texts: Any, style: NumberStyle) -> NDArray[np.float64]:
    """Return the numbers, to the nearest float64; NaN where the text is no number.

    Parameters
    ----------
    texts : pyarrow.StringArray (n_texts,)
        Without blanks around.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = plain_signs(texts)
    finite = pc.match_substring_regex(texts, _pattern(style))
    numerals = pc.if_else(finite, texts, pa.scalar(None, texts.type))
    if style.thousands:
        numerals = pc.replace_substring_regex(numerals, _sign_class(style.thousands), "")
    if style.decimal != ".":
        numerals = pc.replace_substring(numerals, style.decimal, ".")
    numerals = pc.replace_substring_regex(numerals, r"^\+", "")
    values = np.array(pc.cast(numerals, pa.float64()).to_numpy(zero_copy_only=False), np.float64)
    others = np.flatnonzero(np.isnan(values))
    rest = texts.take(pa.array(others))
    infinite = _to_numpy(pc.match_substring_regex(rest, _INFINITE))
    negative = _to_numpy(pc.starts_with(rest, "-"))
    values[others[infinite]] = np.where(negative[infinite], -np.inf, np.inf)
    return values


def has_leading_zero(texts: Any) -> NDArray[np.bool_]:
    """Tell which texts are codes such as 01067, whose zeros a number would lose."""
    import pyarrow.compute as pc

    return _to_numpy(pc.match_substring_regex(texts, r"^[+-]?0\d+$"))


def is_inexact_integer(texts: Any) -> NDArray[np.bool_]:
    """Tell which texts are whole numbers above 2^53 in size, which float64 cannot tell apart."""
    import pyarrow.compute as pc

    found = _to_numpy(pc.match_substring_regex(texts, r"^[+-]?\d{16,}$"))
    for i in np.flatnonzero(found):
        found[i] = abs(int(texts[int(i)].as_py())) > EXACT_LIMIT
    return found


def is_ambiguous(texts: Any) -> bool:
    """Tell whether every text reads both as thousands and as decimals, such as 1.250 or 2,500."""
    import pyarrow.compute as pc

    pattern = r"^[+-]?[1-9]\d{0,2}[.,]\d{3}$"
    if not _to_numpy(pc.match_substring_regex(texts.slice(0, 1), pattern)).any():
        return False
    found = _to_numpy(pc.match_substring_regex(texts, pattern))
    points = _to_numpy(pc.match_substring(texts, "."))
    return bool(len(found) and found.all() and (points.all() or not points.any()))


def find_style(
    columns: Sequence[tuple[Any, NDArray[np.int64]]],
    separator: str,
    decimal: str | None = None,
    thousands: str | None = None,
) -> NumberStyle:
    """Find the signs that make most cells of a table numbers; the simplest style among equals.

    Parameters
    ----------
    columns : sequence of (pyarrow.StringArray, int64 (n_texts,))
        The distinct texts of each column, missing tokens left out, and their counts.
    separator : str
        In a file separated by commas, quoted "1,250" is rather a thousand; elsewhere a decimal.
    decimal, thousands : str or None
        Given: only styles with this sign are tried.
    """
    order = list(STYLES)
    if separator == ",":
        order[1], order[2] = order[2], order[1]
    order = [
        style for style in order if decimal in (None, style.decimal) and thousands in (None, style.thousands)
    ] or [NumberStyle(decimal or ("," if thousands == "." else "."), thousands or "")]
    simplest = [_share(texts, counts, order[0]) for texts, counts in columns]
    others = [column for column, share in zip(columns, simplest, strict=True) if share < 1.0]
    if not any(_share(*column, style) for column in others for style in order[1:]):
        return order[0]  # no other style makes a number of what the simplest does not read
    scores = [sum(_share(*column, style) for column in columns) for style in order]
    return order[int(np.argmax(scores))]


def _share(texts: Any, counts: NDArray[np.int64], style: NumberStyle) -> float:
    """Return the share of cells that are numbers; 0 below 0.9: a few odd cells do not unmake a column."""
    share = float(counts[is_number(texts, style)].sum()) / max(float(counts.sum()), 1.0)
    return share if share >= 0.9 else 0.0


def whole_number(text: str) -> int | None:
    """Return what a text of digits counts; None where it is none, or longer than any number that is meant.

    >>> whole_number("1,000"), whole_number(" 7 "), whole_number("-1"), whole_number("9" * 5000)
    (1000, 7, None, None)
    """
    digits = text.strip().replace(",", "")
    # Python refuses to read thousands of digits, and nothing here is counted in more than these
    return int(digits) if digits.isdecimal() and len(digits) <= MOST_DIGITS else None


def spell(value: float) -> str:
    """Return the shortest text of a number: no ".0", no minus before zero."""
    if value == 0:
        return "0"
    return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(float(value))


def _to_numpy(mask: Any) -> NDArray[np.bool_]:
    return np.array(mask.fill_null(False).to_numpy(zero_copy_only=False), np.bool_)
