"""Reading files into tables: separated text, workbooks, Parquet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.errors import DataError
from workbench.datasets import ReadOptions, Table
from workbench.files import told_when_unreadable

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".tab", ".dat", ".data")
SHEET_SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
PARQUET_SUFFIXES = (".parquet", ".pq")
SUFFIXES = TEXT_SUFFIXES + SHEET_SUFFIXES + PARQUET_SUFFIXES


def read_table(path: str | Path, options: ReadOptions | None = None) -> Table:
    """Read a table from a file; the kind of file is told by its ending, else taken as text.

    Parameters
    ----------
    path : str or Path
    options : ReadOptions or None
        What is None in it is found from the file.

    Raises
    ------
    DataError
        The file is missing, unreadable, empty, no table, or too large for memory; the message names the file,
        the place in it, and what to do.
    """
    path = Path(path)
    options = options or ReadOptions()
    with told_when_unreadable(path):
        path.open("rb").close()  # before a reader judges what it cannot open
        return _reader_of(path)(path, options)


def read_again(table: Table, options: ReadOptions) -> Table:
    """Read a table's file differently; kinds chosen by hand stay where the cells can still be read so.

    Raises
    ------
    DataError
        The table did not come from a file, or the file cannot be read; see `read_table`.
    """
    if table.path is None:
        raise DataError(f"{table.name} is a sample table, so there is no file to read differently")
    again = read_table(table.path, options)
    chosen = {column.name: column.kind for column in table.columns if column.is_kind_chosen}
    return again.replace_columns(
        [
            column.with_kind(chosen[column.name])
            for column in again.columns
            if chosen.get(column.name, column.kind) != column.kind
            and chosen[column.name] in column.kind_choices
        ]
    )


def _reader_of(path: Path) -> Callable[[Path, ReadOptions], Table]:
    # imported on demand: the window opens before pyarrow is loaded
    suffix = path.suffix.lower()
    if suffix in SHEET_SUFFIXES:
        from workbench.readers.excel import read_excel

        return read_excel
    if suffix in PARQUET_SUFFIXES:
        from workbench.readers.parquet import read_parquet

        return read_parquet
    from workbench.readers.separated import read_separated

    return read_separated
