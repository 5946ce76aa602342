"""Separated text: CSV and its relatives. Every cell is read as text first, exactly as it stands."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DataError
from workbench.cells import Lines
from workbench.datasets import ReadOptions, Table
from workbench.readers import memory
from workbench.readers.assembly import RawTable, make_table, name_columns
from workbench.readers.encodings import decode
from workbench.readers.layout import find_layout, records

_SAMPLE_BYTES = 1 << 18


@dataclass(frozen=True, eq=False)
class _Grid:
    """All records of a file, the first one apart."""

    first: list[str]
    columns: list[Any]  # pyarrow ChunkedArrays of strings, without the first record
    notes: list[str]


def read_separated(path: Path, options: ReadOptions) -> Table:
    """Read separated text.

    Raises
    ------
    DataError
        The file is empty, only a header, no text, too large for memory, or a row has too many cells.
    """
    _check_size(path, options)
    data = path.read_bytes()
    decoded = decode(data, path.name, options.encoding)
    text = decoded.utf8
    if not text.strip():
        raise DataError(f"{path.name} is empty; choose a file with a header and rows")
    layout = find_layout(_sample_of(text), options.separator)
    separator = layout.separator
    options = replace(options, encoding=decoded.encoding, separator=separator)
    text = _blank_lines(text, layout.n_skipped)
    if not text.strip():
        raise DataError(f"{path.name} holds no more than a separator line; choose a file with rows")
    if separator == " ":
        text = _single_blanks(text)
    grid = _split(text, separator, path.name)
    if layout.n_skipped:
        noun = "line" if layout.n_skipped == 1 else "lines"
        grid.notes.append(f"{layout.n_skipped} {noun} above the header left out")
    has_header = options.has_header
    if has_header is None:
        sample = [column.slice(0, 1000).to_pylist() for column in grid.columns]
        has_header = name_columns(grid.first, sample)
    options = replace(options, has_header=has_header)
    raw = _with_header(grid, has_header, path.name)
    lines = _lines(text, separator, 1 if has_header else 0, len(raw.cells[0]), path.name)
    raw, lines = _drop_empty_rows(raw, lines)
    if len(raw.cells[0]) == 0:
        raise DataError(f"{path.name} holds a header but no rows; choose a file with rows below its header")
    return make_table(replace(raw, lines=lines), path, options, data)


def _sample_of(text: bytes) -> str:
    head = text[:_SAMPLE_BYTES]
    if len(text) > _SAMPLE_BYTES:
        head = head[: max(head.rfind(b"\n"), head.rfind(b"\r"), 1)]
    return head.decode("utf-8", errors="ignore").removeprefix("\ufeff")


def _blank_lines(text: bytes, n_lines: int) -> bytes:
    """Empty the first lines, so that the lines of the others stay what they are in the file."""
    if n_lines == 0:
        return text
    end = b"\n" if b"\n" in text else b"\r"
    return end * n_lines + text.split(end, n_lines)[n_lines]


def _check_size(path: Path, options: ReadOptions) -> None:
    """Estimate rows, columns and memory from the beginning of the file; refuse what does not fit."""
    size = path.stat().st_size
    if size == 0:
        raise DataError(f"{path.name} is empty (0 bytes); choose a file with a header and rows")
    with path.open("rb") as file:
        head = file.read(_SAMPLE_BYTES)
    sample = _sample_of(head) if b"\x00" not in head else head.replace(b"\x00", b"").decode("latin-1")
    rows = records(sample, find_layout(sample, options.separator).separator)
    n_columns = max((len(cells) for _, cells in rows), default=1)
    n_lines = max(head.count(b"\n"), head.count(b"\r"), 1)
    n_rows = round(size / len(head) * n_lines)
    # the bytes, pyarrow's copy and the distinct texts; a cell's offset, code, value and temporaries
    memory.require(3 * size + 20 * n_rows * n_columns, path.name, n_rows, n_columns)


def _single_blanks(text: bytes) -> bytes:
    if b'"' in text:
        return text
    text = re.sub(rb"[ \t]+", b" ", text)
    return re.sub(rb"(?m)^ | (?=\r?$)", b"", text)


def _split(text: bytes, separator: str, file_name: str) -> _Grid:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    first = next(_iterate(text, separator, file_name))
    names = [str(i) for i in range(len(first))]
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(text),
            read_options=arrow_csv.ReadOptions(column_names=names, block_size=1 << 22),
            parse_options=arrow_csv.ParseOptions(
                delimiter=separator,
                newlines_in_values=b'"' in text,
                ignore_empty_lines=len(names) > 1,  # in a single column an empty line is a missing cell
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return _split_ragged(text, separator, file_name)
    _check_quotes_closed(text, table, separator, file_name)
    return _Grid(first, [column.slice(1) for column in table.columns], [])


def _check_quotes_closed(text: bytes, table: Any, separator: str, file_name: str) -> None:
    """Refuse a file whose last cell runs to the end because its quotation mark is never closed."""
    if text.count(b'"') % 2 == 0 or table.num_rows == 0:
        return
    last = [column[-1].as_py() for column in table.columns]
    if any("\n" in cell for cell in last):
        *_, (line, _) = _iterate_with_lines(text, separator, file_name)
        raise DataError(f"{file_name}, line {line}: a quotation mark is never closed; close or remove it")


def _iterate(text: bytes, separator: str, file_name: str) -> Iterator[list[str]]:
    """Yield the records, slowly but with every oddity; empty lines are left out."""
    for _, record in _iterate_with_lines(text, separator, file_name):
        yield record


def _iterate_with_lines(text: bytes, separator: str, file_name: str) -> Iterator[tuple[int, list[str]]]:
    stream = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8", errors="replace", newline="")
    reader = csv.reader(stream, delimiter=separator)
    line = 1
    try:
        for record in reader:
            if record:
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(
            f"{file_name}, line {line}: a cell is longer than {csv.field_size_limit():,} characters "
            f"({error}); look for a quotation mark that is never closed"
        ) from None


def _split_ragged(text: bytes, separator: str, file_name: str) -> _Grid:
    """Split a file whose rows differ in length: short rows are filled up, long ones refused."""
    import pyarrow as pa

    records = list(_iterate_with_lines(text, separator, file_name))
    first, rows = records[0][1], records[1:]
    if rows and all(len(record) == len(first) + 1 for _, record in rows):
        first = ["row name", *first]  # R leaves the header of the row names out
    width, short = len(first), []
    for line, record in rows:
        if any(cell.strip() for cell in record[width:]):
            raise DataError(
                f"{file_name}, line {line}: {len(record)} cells where the first row has {width}; put "
                "cells that hold the separator in quotation marks, or choose another separator"
            )
        if len(record) < width:
            short.append(line)
        record.extend([""] * (width - len(record)))
    columns = [pa.chunked_array([pa.array([r[i] for _, r in rows], pa.string())]) for i in range(width)]
    notes = []
    if short:
        count = "1 row is" if len(short) == 1 else f"{len(short):,} rows are"
        notes.append(f"{count} shorter than the first (line {short[0]}); the cells that lack count as empty")
    return _Grid(first, columns, notes)


def _with_header(grid: _Grid, has_header: bool, file_name: str) -> RawTable:
    import pyarrow as pa

    lines = Lines()
    if has_header:
        names = grid.first
        if all(name.startswith(" ") for name in names[1:]):  # "a, b, c": the blank belongs to the comma
            names = [name.strip() for name in names]
        return _without_empty_columns(RawTable(names, grid.columns, lines, grid.notes))
    names = [f"column {i}" for i in range(1, len(grid.first) + 1)]
    columns = [
        pa.chunked_array([pa.array([cell], pa.string()), *column.chunks])
        for cell, column in zip(grid.first, grid.columns, strict=True)
    ]
    return RawTable(names, columns, lines, grid.notes)


def _without_empty_columns(raw: RawTable) -> RawTable:
    """Leave out columns without a name and without any cell, as separators at the end of lines make."""
    import pyarrow.compute as pc

    empty = [
        not name.strip() and len(column) > 0 and not pc.any(pc.not_equal(column, "")).as_py()
        for name, column in zip(raw.names, raw.cells, strict=True)
    ]
    if not any(empty) or all(empty):
        return raw
    count = "1 column" if sum(empty) == 1 else f"{sum(empty)} columns"
    return replace(
        raw,
        names=[name for name, is_empty in zip(raw.names, empty, strict=True) if not is_empty],
        cells=[column for column, is_empty in zip(raw.cells, empty, strict=True) if not is_empty],
        notes=[*raw.notes, f"{count} without name and cells left out"],
    )


def _lines(text: bytes, separator: str, n_header: int, n_rows: int, file_name: str) -> Lines:
    """Find the line of every row; only where rows and lines do not run together is the file read again."""
    body = text.rstrip(b"\r\n")
    n_lines = body.count(b"\n") + 1 if b"\n" in body else body.count(b"\r") + 1
    if n_lines == n_rows + n_header:
        return Lines(first=n_header + 1)
    starts = [line for line, _ in _iterate_with_lines(text, separator, file_name)][n_header:]
    return Lines(starts=np.array(starts, np.int64)) if len(starts) == n_rows else Lines()


def _drop_empty_rows(raw: RawTable, lines: Lines) -> tuple[RawTable, Lines]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(raw.cells) < 2 or len(raw.cells[0]) == 0:
        return raw, lines
    empty = np.ones(len(raw.cells[0]), np.bool_)
    for column in raw.cells:
        empty &= pc.equal(pc.utf8_trim_whitespace(column), "").to_numpy(zero_copy_only=False).astype(bool)
        if not empty.any():
            return raw, lines
    kept = np.flatnonzero(~empty)
    starts = np.array([lines.of(int(row)) for row in kept], np.int64)
    count = f"{int(empty.sum()):,} empty row{'s' if empty.sum() > 1 else ''} dropped"
    cells = [column.filter(pa.array(~empty)) for column in raw.cells]
    where = f"{count} (first: {lines.phrase(int(np.argmax(empty)))})"
    return replace(raw, cells=cells, notes=[*raw.notes, where]), Lines(starts=starts)
