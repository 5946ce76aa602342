"""A few texts that keep a column of numbers or dates from being one, such as "k.A.": are they missing?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.cell_facts import CellFacts

MIN_READ_SHARE = 0.8  # of the present cells are numbers, or dates of one format
MIN_READ_CELLS = 10
MAX_STRAY_TEXTS = 5
MAX_CODES = 10  # up to so many distinct numbers beside a word may be codes: 1, 2, 3, X
_SAY_MISSING = frozenset({
    "k.a", "ka", "k. a", "keine angabe", "unbekannt", "fehlt", "n.a", "na", "n/a", "n. a", "n.d", "nd", "n/d",
    "n.v", "nv", "none", "null", "nil", "nan", "missing", "unknown", "unk", "not available", "no data",
    "not known", "inconnu", "desconocido", "s/d", "n.b", "onbekend", "void", "blank", "empty", "leer", "tbd",
})  # fmt: skip


@dataclass(frozen=True)
class StrayTexts:
    """The texts, the most frequent first, and the question that they raise, one sentence."""

    texts: tuple[str, ...]
    question: str


def find_stray_texts(facts: CellFacts) -> StrayTexts | None:
    """Find texts without which a column would be of numbers or dates; None: there is no such doubt.

    A text with a digit ("A1", "3+", ">100") tells a value, so it is no such text; nor is any beside codes:
    numbers with leading zeros, or a handful of numbers beside words that do not say "missing".
    """
    if facts.reading.is_text:
        return None  # the file states texts: they would stay so without these
    for what, is_read in (("numbers", facts.is_number), ("dates", np.isfinite(facts.dates.days))):
        stray = facts.is_present & ~is_read
        n_read = int(facts.counts[is_read].sum())
        is_few = 0 < stray.sum() <= MAX_STRAY_TEXTS
        if not is_few or n_read < MIN_READ_CELLS or facts.share(is_read) < MIN_READ_SHARE:
            continue
        order = np.flatnonzero(stray)[np.argsort(-facts.counts[stray], kind="stable")]
        texts = tuple(dict.fromkeys(facts.texts[int(text_idx)].as_py() for text_idx in order))
        if not _tells_values(texts) and not (what == "numbers" and _are_codes(facts, is_read, texts)):
            return StrayTexts(texts, _question(facts, n_read, what, texts))
    return None


def _tells_values(texts: tuple[str, ...]) -> bool:
    return any(char.isdigit() for text in texts for char in text)


def _are_codes(facts: CellFacts, is_read: NDArray[np.bool_], texts: tuple[str, ...]) -> bool:
    if (is_read & (facts.has_leading_zero | facts.is_inexact_integer)).any():
        return True
    return len(facts.distinct_numbers) <= MAX_CODES and not all(_says_missing(text) for text in texts)


def _says_missing(text: str) -> bool:
    has_letters = any(char.isalpha() for char in text)
    return not has_letters or text.casefold().strip("().-<>[] ") in _SAY_MISSING


def _question(facts: CellFacts, n_read: int, what: str, texts: tuple[str, ...]) -> str:
    told = " or ".join(f"'{text}'" for text in texts)
    others = "the others say" if facts.n_present - n_read > 1 else "the other says"
    return f"{n_read:,} of {facts.n_present:,} cells are {what}; {others} {told}: is that missing?"
