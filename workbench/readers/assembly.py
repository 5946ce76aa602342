"""From cells to a table: names, number style, kinds, import report. Shared by all readers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DataError
from workbench import dates, numerals
from workbench.cells import Lines, TextCells
from workbench.columns import Reading
from workbench.datasets import ReadOptions, Table, column_notes
from workbench.kinds import read_column

_STYLE_SAMPLE = 1000  # distinct texts a column that tell the number style, and as many with rare signs
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")  # shown by no font, refused in text files
_WORKERS = 2  # pyarrow works outside the interpreter lock; each worker holds one column's temporaries


@dataclass(frozen=True, eq=False)
class RawTable:
    """What a reader hands over: names and cells, nothing interpreted.

    Attributes
    ----------
    names : list of str
        As in the file; not yet made unique.
    cells : list
        TextCells, or pyarrow ChunkedArrays of strings, of one length.
    lines : Lines
    notes : list of str
        What the reader had to put up with.
    text_names : frozenset of str
        Columns that the file itself states to be texts (Parquet).
    sheets : tuple of str
        Names of a workbook's sheets.
    """

    names: list[str]
    cells: list[Any]
    lines: Lines
    notes: list[str]
    text_names: frozenset[str] = frozenset()
    sheets: tuple[str, ...] = ()


def make_table(raw: RawTable, path: Path, options: ReadOptions, data: bytes) -> Table:
    """Interpret the cells of a file.

    Parameters
    ----------
    raw : RawTable
    options : ReadOptions
        `decimal` and `thousands` None: find them.
    data : bytes
        The file, for its fingerprint.
    """
    names, notes = unique_names(raw.names)
    with ThreadPoolExecutor(_WORKERS) as pool:
        cells = list(pool.map(_as_cells, raw.cells))
        style = _style_for(names, cells, options)
        options = replace(options, decimal=style.decimal, thousands=style.thousands)

        def read(name: str, column: TextCells, name_in_file: str) -> Any:
            is_text = name_in_file in raw.text_names
            reading = Reading(options.tokens_of(name), style, options.day_first, raw.lines, is_text)
            return read_column(name, column, reading)

        columns = tuple(pool.map(read, names, cells, raw.names))
    told = [note for column in columns for note in column_notes(column)]
    return Table(
        name=path.stem,
        columns=columns,
        path=path,
        options=options,
        n_rows=len(cells[0]) if cells else 0,
        notes=(*raw.notes, *notes, *told),
        fingerprint=hashlib.sha256(data).hexdigest(),
        modified_ns=path.stat().st_mtime_ns,
        sheets=raw.sheets,
    )


def _as_cells(column: Any) -> TextCells:
    return column if isinstance(column, TextCells) else TextCells.from_arrow(column)


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names without gaps, repeats and control characters, and notes that say what was changed."""
    notes: list[str] = []
    readable = [_CONTROL.sub("", name) for name in names]
    taken = set(readable)
    seen: set[str] = set()
    unique = []
    for position, (original, stripped) in enumerate(zip(names, readable, strict=True), start=1):
        name = stripped if stripped.strip() else f"column {position}"
        if not stripped.strip():
            notes.append(f"column {position} has no name; it is called '{name}'")
        elif name != original:
            notes.append(f"the name of column {position} holds control characters; it is called '{name}'")
        if name in seen:
            number = 2
            while f"{name} ({number})" in taken | seen:
                number += 1
            notes.append(
                f"the name '{name}' occurs again in column {position}; it is called '{name} ({number})'"
            )
            name = f"{name} ({number})"
        seen.add(name)
        unique.append(name)
    return unique, notes


def _style_for(names: list[str], cells: list[TextCells], options: ReadOptions) -> numerals.NumberStyle:
    if options.decimal is not None and options.decimal == options.thousands:
        raise DataError(f"'{options.decimal}' cannot be both decimal and thousands sign; change one of them")
    if options.decimal is not None and options.thousands is not None:
        return numerals.NumberStyle(options.decimal, options.thousands)
    samples = [
        _style_sample(column, options.tokens_of(name)) for name, column in zip(names, cells, strict=True)
    ]
    return numerals.find_style(samples, options.separator or "", options.decimal, options.thousands)


def _style_sample(cells: TextCells, tokens: tuple[str, ...]) -> tuple[Any, NDArray[np.int64]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    counts = cells.counts()
    texts = pc.utf8_trim_whitespace(cells.distinct)
    is_token = pc.is_in(texts, pa.array(tokens, texts.type)).to_numpy(zero_copy_only=False)
    present = np.flatnonzero((counts > 0) & ~is_token.astype(bool))
    if len(present) > 2 * _STYLE_SAMPLE:
        telling = pc.match_substring_regex(texts, r"[,'’\s]").to_numpy(zero_copy_only=False)[present]
        parts = (present[telling.astype(bool)], present[~telling.astype(bool)])
        present = np.concatenate([part[:: max(1, len(part) // _STYLE_SAMPLE)] for part in parts])
    return texts.take(pa.array(present)), counts[present]


def name_columns(first: list[str], sample: list[list[str]]) -> bool:
    """Tell whether a file's first row holds names rather than data.

    Parameters
    ----------
    first : list of str
    sample : list of list of str
        The cells of each column in the following rows.
    """
    if holds_values(first).any():
        return False
    if not sample or not sample[0]:
        return True
    for cells in sample:
        filled = [cell for cell in cells if cell]
        if filled and float(np.mean(holds_values(filled))) > 0.5:
            return True  # a word above values
    is_distinct = len(set(first)) == len(first) and sum(not name.strip() for name in first) <= 1
    return is_distinct and not any(name in cells for name, cells in zip(first, sample, strict=True))


def holds_values(texts: list[str]) -> NDArray[np.bool_]:
    """Tell which texts are numbers, however written, or dates."""
    import pyarrow as pa
    import pyarrow.compute as pc

    stripped = pc.utf8_trim_whitespace(pa.array(texts, pa.string()))
    is_value = np.isfinite(dates.parse(stripped).days)
    for style in (numerals.NumberStyle(".", ","), numerals.NumberStyle(",", ".")):
        is_value |= numerals.is_number(stripped, style)
    return is_value
