"""The distinct texts of a column, and what each of them can be read as."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench import dates, numerals
from workbench.cells import TextCells
from workbench.columns import KINDS, Reading

_MAX_SPELLINGS = 16  # more distinct texts than that are no two levels, however they are spelled


class CellFacts:
    """What is known about the distinct texts of a column; each question is answered once.

    All arrays have one entry per distinct text of `cells`.
    """

    def __init__(self, cells: TextCells, reading: Reading) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self.cells, self.reading = cells, reading
        self.counts = cells.counts()
        self.texts = pc.utf8_trim_whitespace(cells.distinct)
        tokens = pa.array(reading.missing_tokens, self.texts.type)
        self.is_token = np.array(pc.is_in(self.texts, tokens).to_numpy(zero_copy_only=False), np.bool_)
        self.is_token &= self.counts > 0
        self.is_present = ~self.is_token & (self.counts > 0)
        self.n_present = int(self.counts[self.is_present].sum())
        self.n_missing = len(cells) - self.n_present

    @cached_property
    def numbers(self) -> NDArray[np.float64]:
        values = numerals.parse(self.texts, self.reading.style)
        values[~self.is_present] = np.nan
        return values

    @cached_property
    def is_number(self) -> NDArray[np.bool_]:
        return ~np.isnan(self.numbers)

    @cached_property
    def dates(self) -> dates.DateReading:
        wanted = self.is_present & ~self.is_number  # no text is both
        days = np.full(len(wanted), np.nan)
        reading = dates.parse(self.pick(wanted), self.reading.day_first)
        days[wanted] = reading.days
        return replace(reading, days=days)

    @cached_property
    def distinct_numbers(self) -> NDArray[np.float64]:
        return np.unique(self.numbers[self.is_number])

    @cached_property
    def has_leading_zero(self) -> NDArray[np.bool_]:
        return numerals.has_leading_zero(self.texts)

    @cached_property
    def is_inexact_integer(self) -> NDArray[np.bool_]:
        return numerals.is_inexact_integer(self.texts)

    @cached_property
    def is_ambiguous(self) -> bool:
        return numerals.is_ambiguous(self.present_texts)

    @cached_property
    def present_texts(self) -> Any:
        """The texts that are no missing tokens, pyarrow.StringArray."""
        return self.pick(self.is_present)

    def pick(self, mask: NDArray[np.bool_]) -> Any:
        import pyarrow as pa

        return self.texts.filter(pa.array(mask))

    def share(self, mask: NDArray[np.bool_]) -> float:
        """Return the share of present cells whose text is in `mask`."""
        return float(self.counts[mask].sum()) / self.n_present if self.n_present else 0.0

    def first_row(self, text_idx: int) -> int:
        return int(np.argmax(self.cells.codes == text_idx))

    def spread(self, per_text: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Return one value per row from one per text; `missing` where the row has no cell."""
        values = np.append(per_text, np.array([missing], per_text.dtype))[self.cells.codes]
        values.setflags(write=False)
        return np.asarray(values)

    @cached_property
    def levels(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """The levels in order, and each text's level (-1: missing)."""
        return _levels(self)

    @cached_property
    def choices(self) -> tuple[str, ...]:
        possible = {
            "number": self.n_present == 0 or bool(self.is_number.any()),
            "date": bool(np.isfinite(self.dates.days).any()),
            "yes_no": 0 < self.is_present.sum() <= _MAX_SPELLINGS and len(self.levels[0]) <= 2,
        }
        return tuple(kind for kind in KINDS if possible.get(kind, True))


def _levels(facts: CellFacts) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    present = np.flatnonzero(facts.is_present)
    texts: list[str] = facts.present_texts.to_pylist()
    is_numeric = bool(facts.is_number[present].all())
    is_code = facts.has_leading_zero | facts.is_inexact_integer
    if is_numeric and not is_code[present].any():
        numbers = facts.numbers[present] + 0.0  # -0.0 and 0.0 are one level
        order, inverse = np.unique(numbers, return_inverse=True)
        spelling: dict[int, str] = {}
        for text, group in zip(texts, inverse.tolist(), strict=True):
            known = spelling.setdefault(group, text)
            if known != text or text.startswith("-0"):
                spelling[group] = numerals.spell(float(order[group]))
        levels = tuple(spelling[group] for group in range(len(order)))
    else:
        levels = tuple(sorted(set(texts)))
        place = {level: code for code, level in enumerate(levels)}
        inverse = np.array([place[text] for text in texts], np.int64)
    codes = np.full(len(facts.texts), -1, np.int32)
    codes[present] = inverse
    return levels, codes
