"""Writing a file so that a crash at any moment leaves the old one or the new one, whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from workbench.platform import sync_folder


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let ``write(file)`` fill a temporary file beside `path`, then put it in place of `path`.

    Raises
    ------
    OSError
        The folder cannot be written or the disk is full; the old file is untouched.
    """
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
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
