"""Numbers and counts as pictures write them: three significant digits, a true minus, percent with counts."""

from __future__ import annotations

import math

from workbench.dates import days_to_text

MINUS = "\u2212"
MOST_QUOTED = 36  # letters of what somebody typed


def sentence(clause: str) -> str:
    """Make a clause a sentence: a capital first, a full stop last."""
    return f"{clause[0].upper()}{clause[1:]}."


def number(value: float, digits: int = 3, keeps_zeros: bool = False) -> str:
    """Write `value` with `digits` significant digits, grouped thousands and U+2212 for minus.

    Zeros at the end of decimals are left out, but where numbers that were measured stand below each other.

    >>> number(1234567.0), number(-0.01234), number(5.0), number(5.0, keeps_zeros=True)
    ('1,230,000', '−0.0123', '5', '5.00')
    """
    if math.isnan(value):
        return "missing"
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -5 < exponent < 15:
        decimals = max(digits - 1 - exponent, 0)
        text = f"{round(value, digits - 1 - exponent):,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text and not keeps_zeros else text
    else:
        text = f"{value:.{digits - 1}e}"
    return text.replace("-", MINUS)


def value_text(value: float, digits: int = 3, is_date: bool = False) -> str:
    """Write a column's value: a date as one, a whole number below 10,000 plain, as it may be a year.

    >>> value_text(2008.0, 4), value_text(52310.0, 4), value_text(18520.0, 4, is_date=True)
    ('2008', '52,310', '2020-09-15')
    """
    if is_date and math.isfinite(value):
        return days_to_text(value)
    text = number(value, digits)
    return text.replace(",", "") if abs(value) < 10_000 and float(value).is_integer() else text


def signed(value: float, digits: int = 3) -> str:
    """Write `value` with its sign, plus too."""
    return ("+" if value > 0 else "") + number(value, digits)


def fixed(value: float, decimals: int = 3) -> str:
    """Write a score: always `decimals` places, so that a column of them lines up."""
    if not math.isfinite(value):
        return number(value)
    return f"{value:,.{decimals}f}".replace("-", MINUS)


def as_typed(text: str) -> str:
    """Quote what somebody typed or pasted, of a long text its beginning.

    >>> as_typed("3x"), as_typed("9" * 5000)
    ("'3x'", "'99999999999999999999999999999999999…'")
    """
    return repr(text if len(text) <= MOST_QUOTED else f"{text[: MOST_QUOTED - 1]}…")


def percent(part: float, whole: float) -> str:
    """Write a share without its count: "78 %"; shares that are not quite all or none stay so."""
    if whole <= 0:
        return "0 %"
    share = 100.0 * part / whole
    if 99.5 <= share < 100:
        return "> 99 %"
    if 0 < share < 0.5:
        return "< 1 %"
    return f"{share:.0f} %"


def count(n: float) -> str:
    """Write a whole number with grouped thousands."""
    return f"{int(n):,}"


def counted(n: float, noun: str, plural: str | None = None) -> str:
    """Write "1 row" or "12 rows"."""
    return f"{count(n)} {noun if n == 1 else plural or noun + 's'}"
