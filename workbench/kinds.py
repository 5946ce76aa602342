"""What a column's cells are: guessed from all rows, with the reason; and reading them as any kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench import dates, numerals
from workbench.cell_facts import CellFacts
from workbench.cells import TextCells, as_text_cells
from workbench.columns import KIND_WORDS, Column, Reading, refuse_kind
from workbench.stray_texts import find_stray_texts

MAX_ODD_SHARE = 0.01  # a number column may hold this share of other texts; each is reported
MAX_ODD_TEXTS = 5
MAX_SMALL_LEVELS = 10  # up to so many distinct texts are levels however few the rows
MAX_LEVEL_SHARE = 0.5  # above it, texts are hardly ever repeated: free text or an identifier
_YES_NO = (
    ("no", "yes"), ("n", "y"), ("false", "true"), ("f", "t"), ("off", "on"), ("nein", "ja"),
    ("falsch", "wahr"), ("non", "oui"), ("faux", "vrai"), ("no", "sí"), ("no", "si"), ("nee", "ja"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Values:
    values: NDArray[Any]
    n_distinct: int
    n_missing: int
    levels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_column(name: str, cells: TextCells, reading: Reading, kind: str | None = None) -> Column:
    """Make a column of cells.

    Parameters
    ----------
    cells : TextCells (n_rows,)
    kind : str or None
        One of `KINDS`; None: guess from all rows.

    Raises
    ------
    DataError
        The cells cannot be read as `kind`.
    """
    facts = CellFacts(cells, reading)
    if kind is not None and kind not in facts.choices:
        raise refuse_kind(name, kind, facts.choices)
    guessed, reason = guess_kind(facts)
    kind = kind or guessed
    stray = find_stray_texts(facts) if guessed in ("category", "text") else None
    if stray is not None:
        reason = stray.question
    if guessed != kind:
        reason = f"chosen by hand; found as {KIND_WORDS[guessed]}: {reason}"
    read = _READERS[kind](facts)
    return Column(
        name=name,
        kind=kind,
        reason=reason,
        raw=cells,
        values=read.values,
        levels=read.levels,
        n_missing=read.n_missing,
        n_distinct=read.n_distinct,
        notes=_missing_notes(facts) + read.notes,
        kind_choices=facts.choices,
        reading=reading,
        fits_both_orders=kind == "date" and facts.dates.fits_both_orders,
        is_kind_chosen=kind != guessed,
        stray_texts=stray.texts if stray is not None and kind == guessed else (),
    )


def date_format(column: Column) -> str:
    """Return the format in which a date column's cells are read, one of `dates.FORMATS`."""
    return CellFacts(as_text_cells(column.raw), column.reading).dates.format


def guess_kind(facts: CellFacts) -> tuple[str, str]:
    """Return the kind that fits all rows of a column, and the reason in one sentence."""
    if facts.n_present == 0:
        return "number", "no values: every cell is missing"
    if facts.reading.is_text:
        return _guess_text_kind(facts)
    as_code = _why_code(facts)
    if as_code is not None:
        return as_code
    if facts.share(facts.is_number) == 1.0 or _is_number_with_odd_cells(facts):
        return "number", _why_number(facts)
    if facts.share(np.isfinite(facts.dates.days)) == 1.0:
        return "date", _why_date(facts)
    return _guess_text_kind(facts)


def _guess_text_kind(facts: CellFacts) -> tuple[str, str]:
    levels = facts.levels[0]
    if _yes_no_order(levels) is not None:
        return "yes_no", f"only '{levels[0]}' and '{levels[1]}'"
    if len(levels) <= MAX_SMALL_LEVELS or len(levels) <= MAX_LEVEL_SHARE * facts.n_present:
        return "category", f"text with {_count(len(levels), 'distinct value')} in {facts.n_present:,} cells"
    return "text", f"{len(levels):,} distinct texts in {facts.n_present:,} cells, hardly ever repeated"


def _why_code(facts: CellFacts) -> tuple[str, str] | None:
    """Tell whether the cells look like numbers but would lose something as such."""
    if facts.share(facts.is_number) < 1.0 - MAX_ODD_SHARE:
        return None
    zeros = np.flatnonzero(facts.has_leading_zero & facts.is_present)
    if len(zeros):
        example = facts.texts[int(zeros[0])].as_py()
        n_levels = len(facts.levels[0])
        is_small = n_levels <= MAX_SMALL_LEVELS or n_levels <= MAX_LEVEL_SHARE * facts.n_present
        reason = f"codes such as {example}: as numbers they would lose their leading zeros"
        return ("category" if is_small else "text"), reason
    large = np.flatnonzero(facts.is_inexact_integer & facts.is_present)
    if len(large):
        example = facts.texts[int(large[0])].as_py()
        return "text", f"whole numbers above 2^53 such as {example}, which numbers could not hold exactly"
    return None


def _is_number_with_odd_cells(facts: CellFacts) -> bool:
    odd = facts.is_present & ~facts.is_number
    return bool(facts.share(odd) <= MAX_ODD_SHARE and odd.sum() <= MAX_ODD_TEXTS)


def _why_number(facts: CellFacts) -> str:
    n_odd = int(facts.counts[facts.is_present & ~facts.is_number].sum())
    if n_odd:
        return (
            f"{facts.n_present - n_odd:,} of {facts.n_present:,} cells are numbers; "
            f"the other {_count(n_odd, 'cell')} {'counts' if n_odd == 1 else 'count'} as missing"
        )
    values = facts.distinct_numbers
    n_distinct = len(values)
    if facts.is_ambiguous:
        return _ambiguous_note(facts)
    if n_distinct <= 10 and bool((values == np.floor(values)).all()):
        return (
            f"whole numbers with {_count(n_distinct, 'distinct value')}; make it a category if they are codes"
        )
    return f"{_every_cell(facts)} is a number"


def _ambiguous_note(facts: CellFacts) -> str:
    example = facts.present_texts[0].as_py()
    read = float(numerals.parse(facts.present_texts.slice(0, 1), facts.reading.style)[0])
    sign = "," if "," in example else "."
    as_decimal, as_thousands = float(example.replace(",", ".")), float(example.replace(sign, ""))
    if read == as_decimal:
        other, partner = as_thousands, "." if sign == "," else ","
        cure = f"set decimal sign '{partner}' and thousands sign '{sign}' to switch"
    else:
        other, cure = as_decimal, f"set decimal sign '{sign}' and no thousands sign to switch"
    return (
        f"ambiguous: {example} could be {numerals.spell(read)} or {numerals.spell(other)}; "
        f"read as {numerals.spell(read)}, {cure}"
    )


def _why_date(facts: CellFacts) -> str:
    reading = facts.dates
    if reading.is_ambiguous:
        example = facts.present_texts[0].as_py()
        note = (
            f"dates, ambiguous: {example} is read as {reading.format}; switch the order if months come first"
        )
        return note
    return f"{_every_cell(facts)} is a date, {reading.format}"


def _every_cell(facts: CellFacts) -> str:
    return "every cell that is not missing" if facts.n_missing else "every cell"


def _yes_no_order(levels: tuple[str, ...]) -> tuple[str, str] | None:
    """Return (no, yes) when the two levels are such words."""
    if len(levels) != 2:
        return None
    lowered = {level.casefold(): level for level in levels}
    for no, yes in _YES_NO:
        if set(lowered) == {no, yes}:
            return lowered[no], lowered[yes]
    return None


def _read_numbers(facts: CellFacts) -> _Values:
    values = facts.spread(facts.numbers, np.nan)
    n_missing = int(np.isnan(values).sum())
    notes = _odd_notes(facts, facts.is_present & ~facts.is_number, "is no number")
    n_infinite = int(facts.counts[np.isinf(facts.numbers)].sum())
    if n_infinite:
        notes += (f"{_count(n_infinite, 'infinite value')}; treat as missing or replace before training",)
    if facts.is_inexact_integer.any():
        notes += ("whole numbers above 2^53 are not exact as numbers",)
    zeros = facts.has_leading_zero & facts.is_present
    if zeros.any():
        notes += (f"leading zeros of {_count(int(facts.counts[zeros].sum()), 'cell')} are lost as numbers",)
    if facts.is_ambiguous:
        notes += (_ambiguous_note(facts),)
    return _Values(values, len(facts.distinct_numbers), n_missing, (), notes)


def _read_dates(facts: CellFacts) -> _Values:
    days = facts.dates.days
    values = facts.spread(days, np.nan)
    notes = _odd_notes(facts, facts.is_present & np.isnan(days), f"is no {facts.dates.format} date")
    if facts.dates.is_ambiguous:
        notes += (_why_date(facts),)
    n_distinct = len(np.unique(days[np.isfinite(days)]))
    return _Values(values, n_distinct, int(np.isnan(values).sum()), (), notes)


def _read_yes_no(facts: CellFacts) -> _Values:
    levels, codes = facts.levels
    order = _yes_no_order(levels) or levels
    swapped = np.array([order.index(level) for level in levels] + [-1])[codes]
    values = facts.spread(np.where(swapped < 0, np.nan, swapped).astype(np.float64), np.nan)
    return _Values(values, len(levels), facts.n_missing, tuple(order))


def _read_levels(facts: CellFacts) -> _Values:
    levels, codes = facts.levels
    notes: tuple[str, ...]
    if facts.share(facts.is_number) >= 1.0 - MAX_ODD_SHARE:  # nearly a number: say what was in the way
        notes = _odd_notes(facts, facts.is_present & ~facts.is_number, "is no number")
    else:
        notes = _date_conflict_notes(facts)
    return _Values(facts.spread(codes, -1), len(levels), facts.n_missing, levels, notes)


def _date_conflict_notes(facts: CellFacts) -> tuple[str, ...]:
    """Say which cells keep a column of dates from having one format."""
    days = facts.dates.days
    odd = facts.is_present & np.isnan(days)
    if not odd.any() or not np.isfinite(days).any():
        return ()
    alone = dates.parse(facts.pick(odd), facts.reading.day_first)
    if not np.isfinite(alone.days).all():
        return ()
    first, other = int(np.argmax(np.isfinite(days))), int(np.argmax(odd))
    lines = facts.reading.lines
    where = sorted((facts.first_row(text_idx), text_idx) for text_idx in (first, other))
    told = " and ".join(f"{lines.phrase(row)} ('{facts.texts[i].as_py()}')" for row, i in where)
    return (f"no single date format fits: {told} disagree, so the column stays text",)


def _odd_notes(facts: CellFacts, odd: NDArray[np.bool_], what: str) -> tuple[str, ...]:
    notes = []
    for text_idx in np.flatnonzero(odd)[:MAX_ODD_TEXTS]:
        row = facts.first_row(int(text_idx))
        count = int(facts.counts[text_idx])
        more = f" and {count - 1:,} more" if count > 1 else ""
        text = facts.texts[int(text_idx)].as_py()
        notes.append(f"{facts.reading.lines.phrase(row)}{more}: '{text}' {what}")
    n_more = int(odd.sum()) - len(notes)
    if n_more > 0:
        notes.append(f"{_count(n_more, 'more text')} of this sort")
    return tuple(notes)


def _missing_notes(facts: CellFacts) -> tuple[str, ...]:
    """Say which tokens were taken as missing, and how often."""
    counts: dict[str, int] = {}
    n_absent = int((facts.cells.codes < 0).sum())
    for text_idx in np.flatnonzero(facts.is_token):
        token = facts.texts[int(text_idx)].as_py() or "empty"
        counts[token] = counts.get(token, 0) + int(facts.counts[text_idx])
    if n_absent:
        counts["empty"] = counts.get("empty", 0) + n_absent
    if not counts:
        return ()
    order = sorted(counts, key=lambda token: (token == "empty", -counts[token]))
    told = ", ".join(f"{token if token == 'empty' else repr(token)} {counts[token]:,}" for token in order)
    return (f"{sum(counts.values()):,} missing: {told}",)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


_READERS: dict[str, Callable[[CellFacts], _Values]] = {
    "number": _read_numbers,
    "category": _read_levels,
    "yes_no": _read_yes_no,
    "date": _read_dates,
    "text": _read_levels,
}
