"""One column of a table: its cells, what they are read as, and why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.cells import Lines, as_text_cells
from workbench.numerals import PLAIN, NumberStyle

KINDS = ("number", "category", "yes_no", "date", "text")
KIND_WORDS = {
    "number": "number",
    "category": "category",
    "yes_no": "yes or no",
    "date": "date",
    "text": "text",
}
DEFAULT_MISSING_TOKENS = (
    "", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", "?",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Reading:
    """How the cells of one column are to be understood.

    Attributes
    ----------
    missing_tokens : tuple of str
        Texts that mean "missing"; "" is the empty cell.
    style : NumberStyle
        Decimal and thousands sign.
    day_first : bool or None
        Order of day and month where both fit; None: find it.
    lines : Lines
        Where each row stands in the file, for messages.
    is_text : bool
        The file itself states that these are texts, so digits are not guessed to be numbers.
    """

    missing_tokens: tuple[str, ...] = DEFAULT_MISSING_TOKENS
    style: NumberStyle = PLAIN
    day_first: bool | None = None
    lines: Lines = field(default_factory=Lines)
    is_text: bool = False


@dataclass(frozen=True, eq=False)
class Column:
    """One column, immutable.

    Attributes
    ----------
    name : str
    kind : str
        One of `KINDS`.
    reason : str
        Why this kind, one sentence.
    raw : TextCells, or a sequence of str or None (n_rows,)
        The cells exactly as in the file.
    values : ndarray (n_rows,)
        float64 with NaN for missing (number; date: days since 1970-01-01; yes_no: 0 or 1), or
        int32 codes into `levels` with -1 for missing (category, text).
    levels : tuple of str
        Of category, text and yes_no (the no first, then the yes); else empty.
    n_missing, n_distinct : int
        Rows without a value; distinct values among the others.
    notes : tuple of str
        What the reader of this column should know: missing tokens met, odd cells with their line ...
    kind_choices : tuple of str
        The kinds that this column's cells can be read as.
    reading : Reading
        How the cells are understood.
    fits_both_orders : bool
        Of a date column: day and month could change places in every cell, so the order is the user's.
    is_kind_chosen : bool
        The kind is the user's, and another than would be guessed.
    stray_texts : tuple of str
        Texts that alone keep the cells from being numbers or dates, and may mean "missing"; the reason
        asks. As missing tokens they cure it.
    """

    name: str
    kind: str
    reason: str
    raw: Any
    values: NDArray[Any]
    levels: tuple[str, ...] = ()
    n_missing: int = 0
    n_distinct: int = 0
    notes: tuple[str, ...] = ()
    kind_choices: tuple[str, ...] = KINDS
    reading: Reading = field(default_factory=Reading, repr=False)
    fits_both_orders: bool = False
    is_kind_chosen: bool = False
    stray_texts: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def has_codes(self) -> bool:
        """True when `values` are codes into `levels` (category and text)."""
        return self.kind in ("category", "text")

    def text(self, row: int) -> str:
        """Return the cell of a row as in the file, "" where there is none."""
        cell = self.raw[row]
        return "" if cell is None else str(cell)

    def with_kind(self, kind: str) -> Column:
        """Return this column read as another kind.

        Raises
        ------
        DataError
            Its cells cannot be read so; the message says which are possible.
        """
        from workbench.kinds import read_column

        return read_column(self.name, as_text_cells(self.raw), self.reading, kind)

    def with_missing_tokens(self, tokens: tuple[str, ...]) -> Column:
        """Return this column with other texts counted as missing; its kind is guessed again."""
        from workbench.kinds import read_column

        return read_column(self.name, as_text_cells(self.raw), replace(self.reading, missing_tokens=tokens))

    def label_codes(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Return the rows as codes of labels (-1: missing) and the labels in their order.

        A number column's labels are its distinct values in ascending order, spelled as in the file.
        """
        if self.has_codes:
            return self.values.astype(np.int64), self.levels
        if self.kind == "yes_no":
            return np.where(np.isnan(self.values), -1, self.values).astype(np.int64), self.levels
        as_category = self.with_kind("category")
        return as_category.values.astype(np.int64), as_category.levels


def refuse_kind(name: str, kind: str, choices: tuple[str, ...]) -> DataError:
    """Make the error for a kind that a column's cells cannot be read as."""
    possible = ", ".join(KIND_WORDS[choice] for choice in choices)
    return DataError(
        f"column {name!r} cannot be read as {KIND_WORDS.get(kind, kind)!r}; its cells can be: {possible}"
    )
