"""Tables: columns with kinds and roles, and what of them goes to the engine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench.cells import TextCells
from workbench.columns import DEFAULT_MISSING_TOKENS, KIND_WORDS, KINDS, Column, Reading
from workbench.numerals import spell

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DEFAULT_MISSING_TOKENS", "KINDS", "KIND_WORDS", "ROLES", "Column", "ReadOptions", "Table",
    "default_roles", "feature_frame", "make_column", "make_table", "proposes_classes", "target_values",
]  # fmt: skip

ROLES = ("feature", "target", "weight", "group", "id", "ignored")
MAX_PROPOSED_CLASSES = 10  # whole numbers with so many values or fewer are proposed as classes (D14)


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read. None means: find it; a table's own options have everything found.

    What does not apply to a kind of file stays None (separator and encoding of a workbook).

    Attributes
    ----------
    separator : str or None
        Between cells: "," ";" tab "|" " " (any number of blanks) or any other single character.
    decimal, thousands : str or None
        Signs in numbers; thousands "" is none.
    encoding : str or None
        Such as "utf-8", "utf-16", "cp1252", "latin-1".
    has_header : bool or None
        Whether the first row holds names.
    missing_tokens : tuple of str
        Texts that mean "missing"; "" is the empty cell.
    column_tokens : mapping of str to tuple of str
        Other tokens for single columns, by name.
    day_first : bool or None
        Order of day and month in dates where both fit.
    sheet : str or None
        Of a workbook.
    """

    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    has_header: bool | None = None
    missing_tokens: tuple[str, ...] = DEFAULT_MISSING_TOKENS
    column_tokens: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    day_first: bool | None = None
    sheet: str | None = None

    def tokens_of(self, name: str) -> tuple[str, ...]:
        """Return the missing tokens of one column."""
        return self.column_tokens.get(name, self.missing_tokens)


@dataclass(frozen=True, eq=False)
class Table:
    """A table as read, immutable.

    Attributes
    ----------
    name : str
    columns : tuple of Column
        All of `n_rows` rows, with distinct names.
    path : Path or None
        The file it came from.
    sample : str or None
        Key of the sample it came from.
    options : ReadOptions
        How it was read, everything found filled in.
    n_rows : int
    notes : tuple of str
        The import report; a note about one column begins with its name.
    fingerprint : str
        SHA-256 of the file's bytes, or the sample's name.
    modified_ns : int
        When the file was last changed, nanoseconds since 1970; 0 without a file.
    sheets : tuple of str
        Names of the workbook's sheets, of which `options.sheet` was read; empty for other files.
    """

    name: str
    columns: tuple[Column, ...]
    path: Path | None = None
    sample: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)
    n_rows: int = -1
    notes: tuple[str, ...] = ()
    fingerprint: str = ""
    modified_ns: int = 0
    sheets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.n_rows < 0:
            object.__setattr__(self, "n_rows", len(self.columns[0]) if self.columns else 0)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """Return a column by name.

        Raises
        ------
        DataError
            No column has this name.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise DataError(f"the table {self.name!r} has no column {name!r}; it has {', '.join(self.names)}")

    def replace_column(self, column: Column) -> Table:
        """Return a table in which `column` stands in for the one of its name; its notes follow."""
        return self.replace_columns([column])

    def replace_columns(self, columns: Sequence[Column]) -> Table:
        """Return a table in which `columns` stand in for those of their names; their notes follow."""
        new = {column.name: column for column in columns}
        gone = {note for name in new for note in column_notes(self.column(name))}
        notes = tuple(note for note in self.notes if note not in gone)
        told = tuple(note for column in new.values() for note in column_notes(column))
        kept = tuple(new.get(column.name, column) for column in self.columns)
        return replace(self, columns=kept, notes=notes + told)

    def with_kind(self, names: Sequence[str], kind: str) -> Table:
        """Return a table in which some columns are read as another kind.

        Raises
        ------
        DataError
            A column's cells cannot be read so, or no column has this name.
        """
        columns = [column for column in map(self.column, names) if column.kind != kind]
        return self.replace_columns([column.with_kind(kind) for column in columns]) if columns else self

    def with_column_tokens(self, names: str | Sequence[str], tokens: tuple[str, ...] | None) -> Table:
        """Return a table in which other texts mean "missing" in one or some columns (C08).

        The choice enters `options`, so that it is saved and holds for prediction files. None gives the
        tokens of the whole table back.

        Raises
        ------
        DataError
            No column has this name.
        """
        names = [names] if isinstance(names, str) else names
        names = [name for name in names if self.options.column_tokens.get(name) != tokens]
        if not names:
            return self
        own = {key: value for key, value in self.options.column_tokens.items() if key not in names}
        if tokens is not None:
            own |= dict.fromkeys(names, tokens)
        options = replace(self.options, column_tokens=own)
        columns = [self.column(name).with_missing_tokens(options.tokens_of(name)) for name in names]
        return replace(self.replace_columns(columns), options=options)


def column_notes(column: Column) -> tuple[str, ...]:
    """Return a column's notes as they stand in a table's import report."""
    return tuple(f"{column.name}: {note}" for note in column.notes)


def make_column(name: str, values: Iterable[Any], kind: str | None = None) -> Column:
    """Make a column of Python values (None or NaN: missing), by hand or for tests."""
    from workbench.kinds import read_column

    texts = [_as_text(value) for value in values]
    return read_column(name, TextCells.from_texts(texts), Reading(missing_tokens=("",)), kind)


def make_table(
    name: str, columns: Mapping[str, Iterable[Any]], kinds: Mapping[str, str] | None = None
) -> Table:
    """Make a table of Python values, by hand or for tests."""
    made = tuple(make_column(key, values, (kinds or {}).get(key)) for key, values in columns.items())
    notes = tuple(note for column in made for note in column_notes(column))
    return Table(name, made, notes=notes, fingerprint=name)


def _as_text(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return spell(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def default_roles(table: Table) -> dict[str, str]:
    """Return a role for every column: identifiers become "id", columns without values "ignored"."""
    roles = {}
    for column in table.columns:
        if column.n_distinct == 0:
            roles[column.name] = "ignored"
        else:
            roles[column.name] = "id" if looks_like_identifier(column) else "feature"
    return roles


_IDENTIFIER_NAME = re.compile(
    r"(?i:(^|[\W_])(id|nr|no|key|uuid|index|idx|number)$)"  # "id", "row_nr"
    r"|(?i:^id([\W_]|$))|^id[A-Z0-9]"  # "id_row", "idRow", not "idle"
    r"|[a-z]I[Dd]$"  # "rowID"
    r"|(?i:(user|customer|client|account|order|item|product|patient|subject|person|record|row|sample)id$)"
)  # names that only end so, "bid" or "grid", are measured things


def looks_like_identifier(column: Column) -> bool:
    """Tell whether a column only names its rows.

    Texts that hardly ever repeat; or whole numbers, all distinct, that count the rows or whose
    column is named like an identifier.
    """
    n_present = len(column) - column.n_missing
    if n_present <= MAX_PROPOSED_CLASSES:
        return False
    if column.kind == "text":
        return not column.stray_texts and column.n_distinct > 0.95 * n_present
    if column.kind != "number" or column.n_distinct < n_present or column.n_missing:
        return False
    values = column.values
    if not bool((values == np.floor(values)).all()):
        return False
    if bool((np.diff(values) == 1).all()):
        return True
    return _IDENTIFIER_NAME.search(column.name) is not None


def feature_frame(
    table: Table, names: Sequence[str], rows: slice | NDArray[np.intp] = slice(None)
) -> pd.DataFrame:
    """Return columns as a frame for the engine (D8).

    Numbers and dates (days since 1970-01-01) as float64 with NaN; category, text and yes-no as
    unordered categories whose categories are the column's levels. `rows` are those wanted, by default all.

    Raises
    ------
    DataError
        No column has one of the names.
    """
    import pandas as pd

    data: dict[str, Any] = {}
    for name in names:
        column = table.column(name)
        if column.kind in ("number", "date"):
            data[name] = np.array(column.values[rows])  # a copy: pandas refuses to own read-only memory
        else:
            codes, levels = column.label_codes()
            data[name] = pd.Categorical.from_codes(codes[rows], categories=pd.Index(levels, dtype=object))
    return pd.DataFrame(data, index=pd.RangeIndex(table.n_rows)[rows])


def target_values(table: Table, name: str, as_classes: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the target for the engine.

    Returns
    -------
    values : object array of str (as_classes) or float64 (n_rows,)
        Labels spelled as in the file. Rows that are not valid hold "" or NaN.
    valid : bool (n_rows,)
        Rows with a target; infinite numbers are not valid.

    Raises
    ------
    DataError
        The column is not numeric and `as_classes` is False, or there is no such column.
    """
    column = table.column(name)
    if as_classes:
        codes, levels = column.label_codes()
        labels = np.array([*levels, ""], dtype=object)
        return labels[codes], codes >= 0
    if column.kind not in ("number", "date"):
        raise DataError(
            f"column {name!r} is {KIND_WORDS[column.kind]}, so it cannot be predicted as a number; "
            "use it as classes or change its kind to number"
        )
    return column.values, np.isfinite(column.values)


def proposes_classes(column: Column) -> tuple[bool, str]:
    """Tell whether a target is proposed as classes, and why (D14)."""
    if column.kind == "date":
        return False, "dates are predicted as numbers of days"
    if column.kind != "number":
        return True, f"{KIND_WORDS[column.kind]} columns are always classes"
    finite = column.values[np.isfinite(column.values)]
    is_whole = bool((finite == np.floor(finite)).all())
    if len(finite) and is_whole and column.n_distinct <= MAX_PROPOSED_CLASSES:
        return True, f"whole numbers with only {column.n_distinct} distinct values"
    if is_whole:
        return (
            False,
            f"whole numbers with {column.n_distinct:,} distinct values, more than {MAX_PROPOSED_CLASSES}",
        )
    return False, "numbers with fractions"
