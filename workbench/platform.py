"""The one module with calls that only some systems have."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def sync_folder(folder: Path) -> None:
    """Make a rename inside `folder` survive a power cut, where the system lets folders be flushed."""
    if os.name != "posix":
        return  # Windows cannot open a folder for flushing; its rename is flushed with the file
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def lower_priority() -> None:
    """Let other processes, such as the window, go first; nothing where the system has no such call."""
    if hasattr(os, "nice"):
        os.nice(10)


def leave_at_once(code: int) -> NoReturn:
    """End the process without waiting for threads, once everything worth keeping is written.

    For quitting while a worker is inside a call that cannot be interrupted, such as an import.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
