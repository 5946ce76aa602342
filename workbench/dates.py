"""Texts that are dates: one format for a whole column, days since 1970 as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMATS = ("year-month-day", "day-month-year", "month-day-year")
_TIME = (
    r"(?:[T ]\s*(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:[.,]\d+)?))?"
    r"\s*(?:Z|UTC|\+00:?00)?)?$"
)
_YEAR_FIRST = r"^(?P<a>\d{4})(?P<s>[-/.])(?P<b>\d{1,2})[-/.](?P<c>\d{1,2})" + _TIME
_YEAR_LAST = r"^(?P<a>\d{1,2})(?P<s>[-/.])(?P<b>\d{1,2})[-/.](?P<c>\d{4}|\d{2})" + _TIME


@dataclass(frozen=True, eq=False)
class DateReading:
    """How a column's texts read as dates.

    Attributes
    ----------
    days : float64 (n_texts,)
        Days since 1970-01-01, fractions for the time of day; NaN where the text is no such date.
    format : str
        One of `FORMATS`.
    fits_both_orders : bool
        Day and month could change places in every text, and the sign between them does not tell.
    is_ambiguous : bool
        They could, and nobody said which comes first.
    """

    days: NDArray[np.float64]
    format: str
    fits_both_orders: bool = False
    is_ambiguous: bool = False


def parse(texts: Any, day_first: bool | None = None) -> DateReading:
    """Read texts as dates in the one format that fits most of them.

    Parameters
    ----------
    texts : pyarrow.StringArray (n_texts,)
        Without blanks around.
    day_first : bool or None
        Settles day and month where both orders fit; None: day first, marked as ambiguous unless
        the sign is a point, which only day-first dates wear.
    """
    if len(texts) == 0:
        return DateReading(np.empty(0), FORMATS[0])
    year_first = _fields(texts, _YEAR_FIRST)
    days = _days(year_first["a"], year_first["b"], year_first["c"], year_first)
    year_last = _fields(texts, _YEAR_LAST)
    if not np.isfinite(year_last["a"]).any():
        return DateReading(days, FORMATS[0])
    years = _full_years(year_last["c"])
    by_day = _days(years, year_last["b"], year_last["a"], year_last)
    by_month = _days(years, year_last["a"], year_last["b"], year_last)
    n_year, n_day, n_month = (int(np.isfinite(d).sum()) for d in (days, by_day, by_month))
    if n_year > max(n_day, n_month):
        return DateReading(days, FORMATS[0])
    if n_day == n_month:  # nothing but habit tells them apart
        chosen_day = True if day_first is None else day_first
        swaps = np.isfinite(by_day) & (by_day != by_month)
        fits_both = not year_last["has_point"].all() and bool(swaps.any())
    else:
        chosen_day, fits_both = n_day > n_month, False
    chosen, form = (by_day, FORMATS[1]) if chosen_day else (by_month, FORMATS[2])
    return DateReading(chosen, form, fits_both, fits_both and day_first is None)


def days_to_text(days: float) -> str:
    """Return ISO text of days since 1970; with the time of day where it is not midnight."""
    whole, rest = divmod(float(days), 1.0)
    date = str(np.datetime64(int(whole), "D"))
    seconds = round(rest * 86400)
    if seconds == 0:
        return date
    hours, minutes = divmod(seconds // 60, 60)
    text = f"{date} {hours:02d}:{minutes:02d}"
    return text if seconds % 60 == 0 else f"{text}:{seconds % 60:02d}"


def days_of_text(text: str) -> float:
    """Return days since 1970 of one date as text; NaN where it is none."""
    import pyarrow as pa

    return float(parse(pa.array([text.strip()], pa.string())).days[0])


def _fields(texts: Any, pattern: str) -> dict[str, NDArray[Any]]:
    import pyarrow.compute as pc

    found = pc.extract_regex(texts, pattern)
    fields: dict[str, NDArray[Any]] = {}
    for name in ("a", "b", "c", "hour", "minute", "second"):
        part = pc.struct_field(found, name)
        fields[name] = _to_float(pc.replace_substring(part, ",", "."))
    signs = pc.struct_field(found, "s")
    is_point = pc.equal(signs, ".").fill_null(True)
    fields["has_point"] = np.array(is_point.to_numpy(zero_copy_only=False), np.bool_)
    return fields


def _to_float(parts: Any) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    is_empty = pc.equal(parts, "")
    filled = pc.if_else(pc.or_kleene(is_empty, pc.is_null(parts)), pa.scalar(None, parts.type), parts)
    return np.array(pc.cast(filled, pa.float64()).to_numpy(zero_copy_only=False), np.float64)


def _full_years(years: NDArray[np.float64]) -> NDArray[np.float64]:
    """Two-digit years as POSIX reads them: 69-99 are 1969-1999, 00-68 are 2000-2068."""
    return np.where(years < 69, years + 2000, np.where(years < 100, years + 1900, years))


def _days(
    year: NDArray[np.float64],
    month: NDArray[np.float64],
    day: NDArray[np.float64],
    fields: dict[str, NDArray[Any]],
) -> NDArray[np.float64]:
    days = np.full(len(year), np.nan)
    valid = np.isfinite(year) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    y, m, d = year[valid].astype(int), month[valid].astype(int), day[valid].astype(int)
    first = (y - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (m - 1)
    dates = first.astype("datetime64[D]") + (d - 1)
    exists = dates.astype("datetime64[M]") == first  # 30 February runs into March
    time = np.nan_to_num(fields["hour"]) / 24 + np.nan_to_num(fields["minute"]) / 1440
    time = time + np.nan_to_num(fields["second"]) / 86400
    whole = dates.astype("datetime64[D]").astype(np.int64).astype(np.float64)
    days[valid] = np.where(exists, whole + time[valid], np.nan)
    return days
