"""Workbooks: XLSX, XLS, XLSB and ODS through calamine. Cells become the texts a person would type."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DataError
from workbench.cells import Lines, TextCells
from workbench.datasets import ReadOptions, Table
from workbench.files import ARCHIVE_DAMAGE
from workbench.numerals import spell
from workbench.readers import memory
from workbench.readers.assembly import RawTable, make_table, name_columns

_BYTES_PER_XML_BYTE = 6  # a cell of 30 bytes of XML becomes a Python object, a text and a value
_XML_BYTES_PER_CELL = 30
_UNPACKED = 10  # what one packed byte of a workbook becomes, where the file does not tell


def read_excel(path: Path, options: ReadOptions) -> Table:
    """Read one sheet of a workbook (`options.sheet`, else the first that holds something).

    Raises
    ------
    DataError
        The file is no workbook, has no such sheet, holds nothing, or is too large for memory.
    """
    if path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty (0 bytes); choose a workbook with a header and rows")
    _check_size(path)
    data = path.read_bytes()
    rows, sheet, sheets = _read_sheet(data, path.name, options.sheet)
    others = [name for name in sheets if name != sheet]
    notes = [f"sheet '{sheet}' of {len(sheets)}; the others: {', '.join(others)}"] if others else []
    numbered = [(i, row) for i, row in enumerate(rows, start=1) if any(cell != "" for cell in row)]
    if not numbered:
        raise DataError(f"{path.name}, sheet '{sheet}': no cell holds anything; choose another sheet")
    filled = [[_as_text(cell) for cell in row] for _, row in numbered]
    columns = [list(column) for column in zip(*filled, strict=True)]
    kept = [column for column in columns if any(cell is not None for cell in column)]
    has_header = options.has_header
    if has_header is None:
        has_header = name_columns(
            [column[0] or "" for column in kept], [[c or "" for c in column[1:1001]] for column in kept]
        )
    first = 1 if has_header else 0
    if len(filled) == first:
        raise DataError(f"{path.name}, sheet '{sheet}' holds a header but no rows; choose another sheet")
    names = [(column[0] or "") if has_header else f"column {i}" for i, column in enumerate(kept, start=1)]
    starts = np.array([i for i, _ in numbered[first:]], np.int64)
    n_dropped = int(starts[-1]) - (numbered[0][0] - 1) - len(numbered)
    if n_dropped:
        notes.append(f"{n_dropped:,} empty row{'s' if n_dropped > 1 else ''} dropped")
    cells: list[Any] = [TextCells.from_texts(column[first:]) for column in kept]
    options = replace(
        options, sheet=sheet, has_header=has_header, separator=None, encoding=None,
        decimal=options.decimal or ".", thousands=options.thousands or "",
    )  # fmt: skip
    raw = RawTable(names, cells, Lines(starts=starts, noun="row"), notes, sheets=sheets)
    return make_table(raw, path, options, data)


def _read_sheet(
    data: bytes, file_name: str, wanted: str | None
) -> tuple[list[list[Any]], str, tuple[str, ...]]:
    """Return the cells of a sheet, its name, and the names of all sheets."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        names = list(book.sheet_names)
        if wanted is not None and wanted not in names:
            raise DataError(f"{file_name} has no sheet '{wanted}'; it has {', '.join(names)}")
        rows: list[list[Any]] = []
        sheet = wanted or ""
        for sheet in [wanted] if wanted is not None else names:
            rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)
            if rows:
                break
    except CalamineError as error:
        raise _damaged(file_name, error) from None
    return rows, sheet, tuple(names)


def _damaged(file_name: str, error: Exception) -> DataError:
    return DataError(
        f"{file_name} is not a workbook, or it is damaged or locked ({error}); save it again as XLSX"
    )


def _as_text(cell: Any) -> str | None:
    if cell == "" or cell is None:
        return None
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return spell(cell)
    if isinstance(cell, dt.datetime):
        return cell.date().isoformat() if cell.time() == dt.time(0) else cell.isoformat(" ")
    if isinstance(cell, (dt.date, dt.time)):
        return cell.isoformat()
    return str(cell)


def _check_size(path: Path) -> None:
    n_bytes = path.stat().st_size * _UNPACKED
    if zipfile.is_zipfile(path):
        try:
            with zipfile.ZipFile(path) as archive:
                n_bytes = sum(item.file_size for item in archive.infolist())
        except ARCHIVE_DAMAGE as error:
            raise _damaged(path.name, error) from None
    n_cells = n_bytes // _XML_BYTES_PER_CELL
    memory.require_cells(n_bytes * _BYTES_PER_XML_BYTE, path.name, n_cells)
