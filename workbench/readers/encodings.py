"""Bytes to text: byte-order marks, UTF-8, Windows-1252; bytes that are no text."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from engine.errors import DataError

ENCODINGS = ("utf-8", "utf-16", "cp1252", "latin-1", "iso8859-15", "cp1250", "cp1251", "mac-roman", "cp437",
             "shift_jis", "gb18030", "big5", "euc-kr")  # fmt: skip
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NO_TEXT_BYTES = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


class EncodingUnknown(DataError):  # noqa: N818 - says what is the case
    """The bytes are no text in the encodings that were tried; another may fit."""


@dataclass(frozen=True)
class Decoded:
    """A file's text as UTF-8 bytes without a mark, and the encoding it came in."""

    utf8: bytes
    encoding: str


def decode(data: bytes, file_name: str, encoding: str | None = None) -> Decoded:
    """Turn a file's bytes into UTF-8.

    Parameters
    ----------
    encoding : str or None
        None: a byte-order mark decides, else UTF-8 if the bytes are valid, else Windows-1252.

    Raises
    ------
    EncodingUnknown
        The bytes fit no encoding; names file, byte offset and line.
    DataError
        The bytes are no text at all.
    """
    if encoding is not None:
        return _decode_as(data, file_name, encoding)
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _decode_as(data, file_name, name)
    if data.count(b"\x00", 0, 4096):
        return _decode_with_zeros(data, file_name)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        in_utf8 = error
    else:
        return Decoded(_check_text(data, file_name), "utf-8")
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError as error:
        raise EncodingUnknown(
            f"{file_name}: the bytes are neither UTF-8 (byte {in_utf8.start:,}) nor Windows-1252 "
            f"({_place(data, error.start)}); choose the encoding, or save the file as UTF-8"
        ) from None
    return Decoded(_check_text(text.encode("utf-8"), file_name), "cp1252")


def _decode_as(data: bytes, file_name: str, encoding: str) -> Decoded:
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        raise DataError(f"{file_name}: there is no encoding {encoding!r}; choose one of the list") from None
    if name == "utf-8" and data.startswith(codecs.BOM_UTF8):
        data = data[len(codecs.BOM_UTF8) :]
    try:
        text = data.decode(name)
    except UnicodeDecodeError as error:
        raise EncodingUnknown(
            f"{file_name}: the bytes are not {encoding} ({_place(data, error.start)}); "
            "choose another encoding"
        ) from None
    return Decoded(_check_text(text.removeprefix("\ufeff").encode("utf-8"), file_name), encoding)


def _decode_with_zeros(data: bytes, file_name: str) -> Decoded:
    """UTF-16 without a mark has a zero in every other byte of western text."""
    head = data[:4096]
    even, odd = head[::2].count(0), head[1::2].count(0)
    name = "utf-16-le" if odd > 10 * even else "utf-16-be" if even > 10 * odd else ""
    if name and max(even, odd) > 0.3 * len(head) / 2:
        return _decode_as(data, file_name, name)
    raise _binary(file_name, data.index(b"\x00"))


def _check_text(utf8: bytes, file_name: str) -> bytes:
    found = _NO_TEXT_BYTES.search(utf8)
    if found:
        raise _binary(file_name, found.start())
    return utf8


def _binary(file_name: str, offset: int) -> DataError:
    return DataError(
        f"{file_name} is not a text file: byte {offset:,} is a control character; open a table "
        "(CSV or other separated text, XLSX, Parquet)"
    )


def _place(data: bytes, offset: int) -> str:
    line = data.count(b"\n", 0, offset) + 1
    return f"byte 0x{data[offset]:02X} at offset {offset:,}, line {line:,}"
