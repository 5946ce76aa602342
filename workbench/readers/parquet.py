"""Parquet through pyarrow: types and missing cells are stated by the file; numbers keep every bit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import DataError
from workbench.cells import Lines
from workbench.columns import DEFAULT_MISSING_TOKENS
from workbench.datasets import ReadOptions, Table
from workbench.readers import memory
from workbench.readers.assembly import RawTable, make_table

_PER_DAY = {"day": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 0001-01-01 and 9999-12-31, days since 1970
_INT64 = np.iinfo(np.int64)


def read_parquet(path: Path, options: ReadOptions) -> Table:
    """Read a Parquet file. Texts in it such as "NA" are values: it has missing cells of its own.

    Raises
    ------
    DataError
        The file is no Parquet, has no rows or columns, or is too large for memory.
    """
    table = _read_file(path)
    if options.missing_tokens == DEFAULT_MISSING_TOKENS:
        options = replace(options, missing_tokens=())
    options = replace(options, separator=None, encoding=None, decimal=".", thousands="", has_header=True)
    names, cells, notes, declared = [], [], [], set()
    for name, column in zip(table.column_names, table.columns, strict=True):
        dated, n_lost, first = _within_calendar(column)
        texts = _as_texts(dated)
        if texts is None:
            notes.append(f"{name}: left out, cells of type {column.type} are no single values")
            continue
        if n_lost:
            noun = "date counts" if n_lost == 1 else "dates count"
            where = f"outside of the years 1 to 9999 (first: row {first + 1})"
            notes.append(f"{name}: {n_lost:,} {noun} as missing, {where}")
        names.append(name)
        cells.append(texts)
        if _is_text(column.type):
            declared.add(name)
    if not names:
        raise DataError(f"{path.name}: no column holds single values; choose another file")
    raw = RawTable(names, cells, Lines(noun="row"), notes, frozenset(declared))
    return make_table(raw, path, options, path.read_bytes())


def _read_file(path: Path) -> Any:
    """Return the file's table of pyarrow, once it is known to fit into memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty (0 bytes); choose a file with rows")
    try:
        with path.open("rb") as stream:  # opened by Python: any file name works on any system
            file = pq.ParquetFile(stream)
            n_rows, n_columns = file.metadata.num_rows, len(file.schema_arrow)
            if n_rows == 0 or n_columns == 0:
                raise DataError(
                    f"{path.name} holds {n_rows} rows and {n_columns} columns; choose another file"
                )
            n_bytes = sum(
                file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups)
            )
            memory.require(3 * n_bytes + 40 * n_rows * n_columns, path.name, n_rows, n_columns)
            return file.read()
    except (pa.ArrowException, OSError) as error:  # pyarrow calls a damaged page an OSError without a number
        if isinstance(error, OSError) and error.errno is not None:
            raise
        told = f"{path.name} is not a Parquet file, or it is damaged ({error})"
        raise DataError(f"{told}; save it again, or choose another file") from None


def _value_type(kind: Any) -> Any:
    import pyarrow as pa

    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    kind = _value_type(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _within_calendar(column: Any) -> tuple[Any, int, int]:
    """Empty the dates that no calendar writes; return the column, how many they are, and the first's row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = _value_type(column.type)
    if not pa.types.is_timestamp(kind) and not pa.types.is_date(kind):
        return column, 0, 0
    if kind != column.type:
        column = column.cast(kind)
    unit = "day" if pa.types.is_date32(kind) else "ms" if pa.types.is_date64(kind) else kind.unit
    counts = column.cast(pa.int32() if unit == "day" else pa.int64()).cast(pa.int64())
    low, high = (day * _PER_DAY[unit] for day in (_FIRST_DAY, _LAST_DAY + 1))
    outside = pc.or_(pc.less(counts, max(low, _INT64.min)), pc.greater(counts, min(high - 1, _INT64.max)))
    lost = np.flatnonzero(outside.fill_null(False).to_numpy(zero_copy_only=False))
    if len(lost) == 0:
        return column, 0, 0
    return pc.if_else(outside, pa.scalar(None, kind), column), len(lost), int(lost[0])


def _as_texts(column: Any) -> Any:
    """Return a column's cells as texts that read back to the same values; None for nested types."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = _value_type(column.type)
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return None
    if kind != column.type:
        column = column.cast(kind)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        column = column.cast(pa.float64())  # before it becomes text: 0.1 in float32 is another number
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
    if pa.types.is_timestamp(kind):
        column = column.cast(pa.timestamp("us"), safe=False)  # with a time zone: as UTC
    return column.cast(pa.large_string())
