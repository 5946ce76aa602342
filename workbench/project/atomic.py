"""Writing a file so that a crash at any moment leaves the old one or the new one, whole."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from engine.errors import DataError
from workbench.platform import sync_folder


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let ``write(file)`` fill a temporary file beside `path`, then put it in place of `path`.

    Raises
    ------
    DataError
        `path` is a folder, its folder cannot be written, or the disk is full; the old file is untouched.
    """
    try:
        _write(path, write)
    except OSError as error:
        raise _unwritable(path, error) from None


def require_writable(path: Path) -> None:
    """Raise now what `write_atomically` would raise of this place: before work that takes long.

    Raises
    ------
    DataError
        `path` is a folder, or its folder cannot be written.
    """
    try:
        _refuse_folder(path)
        handle, name = _temporary_beside(path)
        os.close(handle)
        Path(name).unlink()
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> DataError:
    told = error.strerror or error
    return DataError(f"{path.name or path} cannot be written ({told}); choose another folder or name")


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))


def _temporary_beside(path: Path) -> tuple[int, str]:
    return tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)


def _write(path: Path, write: Callable[[BinaryIO], object]) -> None:
    _refuse_folder(path)
    handle, name = _temporary_beside(path)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_mode_for(path))
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _mode_for(path: Path) -> int:
    """Keep the rights of the file that is replaced; a new file gets the usual ones."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
