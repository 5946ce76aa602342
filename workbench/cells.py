"""The cells of one column exactly as the file holds them, stored once per distinct text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TextCells:
    """A column of texts: the distinct ones, and for every row which of them it holds.

    A column of a million rows costs 4 bytes a row and each text once, and whatever is to be found
    out about the texts (is it a number, a date, a missing token) is asked once per distinct text.

    Attributes
    ----------
    distinct : pyarrow.StringArray (n_texts,)
        The distinct texts in order of first appearance.
    codes : int32 (n_rows,)
        Position in `distinct`; -1 where the row has no such cell.
    """

    distinct: Any
    codes: NDArray[np.int32]

    @classmethod
    def from_texts(cls, texts: Iterable[str | None]) -> TextCells:
        """Build from texts; None where a row has no cell."""
        import pyarrow as pa

        return cls.from_arrow(pa.chunked_array([pa.array(texts, pa.string())]))

    @classmethod
    def from_arrow(cls, texts: Any) -> TextCells:
        """Build from a pyarrow ChunkedArray of strings (nulls: no cell)."""
        import pyarrow as pa

        if not pa.types.is_large_string(texts.type):
            texts = texts.cast(pa.large_string())  # one block may pass 2 GiB
        encoded = texts.combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):  # older versions keep the chunks
            encoded = pa.concat_arrays(encoded.chunks) if encoded.num_chunks else pa.array([], texts.type)
        encoded = encoded.dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        codes.setflags(write=False)
        return cls(encoded.dictionary, codes)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> str | None:
        code = int(self.codes[row])
        return None if code < 0 else str(self.distinct[code].as_py())

    def __iter__(self) -> Iterator[str | None]:
        return iter(self.to_objects())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.to_objects()

    def to_objects(self) -> NDArray[np.object_]:
        """Return all cells as an object array (n_rows,) of str or None."""
        table = np.empty(len(self.distinct) + 1, object)
        table[:-1] = self.distinct.to_pylist()
        return table[self.codes]  # code -1 takes the last entry: None

    def counts(self) -> NDArray[np.int64]:
        """Return how many rows hold each distinct text, int64 (n_texts,)."""
        present = self.codes[self.codes >= 0]
        return np.bincount(present, minlength=len(self.distinct)).astype(np.int64)

    def to_list(self, rows: slice) -> list[str | None]:
        """Return the cells of some rows."""
        import pyarrow as pa

        codes = self.codes[rows]
        texts: list[str | None] = self.distinct.take(pa.array(codes, mask=codes < 0)).to_pylist()
        return texts


def as_text_cells(raw: Any) -> TextCells:
    """Return `raw` (TextCells, or any sequence of str or None) as TextCells."""
    if isinstance(raw, TextCells):
        return raw
    return TextCells.from_texts([None if cell is None else str(cell) for cell in raw])


@dataclass(frozen=True, eq=False)
class Lines:
    """Where a row stands in its file.

    Attributes
    ----------
    first : int
        Line (or sheet row) of the first row of data, counted from 1; 0 for tables without lines.
    starts : int64 (n_rows,) or None
        The line of every row when rows do not follow line by line (quoted line breaks, empty lines).
    noun : str
        What to call it: "line", "row".
    """

    first: int = 0
    starts: NDArray[np.int64] | None = None
    noun: str = "line"

    def of(self, row: int) -> int:
        """Return the line of data row `row` (counted from 0)."""
        if self.starts is not None:
            return int(self.starts[row])
        return row + self.first if self.first else row + 1

    def phrase(self, row: int) -> str:
        """Return such as "line 150002"."""
        return f"{self.noun} {self.of(row)}"
