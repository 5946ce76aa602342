"""What a disk can do wrong while a file is read, in words that name the file and the cure."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import DataError

ARCHIVE_DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError)
"""What reading a damaged ZIP archive raises. OSError is bzip2's and a seek to a wrong place; RuntimeError
means an encrypted member, and its subclass NotImplementedError a packing or version that is unknown."""


@contextmanager
def told_when_unreadable(path: Path) -> Iterator[None]:
    """Turn what the system says of an unreadable file into a DataError that names it.

    Raises
    ------
    DataError
        The file is missing, a folder, not permitted or on a failing disk.
    """
    try:
        yield
    except OSError as error:
        raise DataError(unreadable(path, error)) from None


def unreadable(path: Path, error: OSError) -> str:
    """Return such as "t.csv is a folder; choose a file in it"."""
    name = path.name or str(path)
    if path.is_dir():  # asked first: some systems call a folder "not permitted"
        return f"{name} is a folder; choose a file in it"
    if isinstance(error, FileNotFoundError):
        return f"{name} is not there any more (looked in {path.parent}); choose the file again"
    if isinstance(error, PermissionError):
        return f"{name} may not be read; ask for the right to read it, or copy it"
    return f"{name} cannot be read ({error.strerror or error}); copy it to another place, or choose another"
