"""The one module with calls that only some systems have."""

from __future__ import annotations

import ctypes
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


def available_bytes() -> int | None:
    """Return the memory that is free for us, in bytes; None where the system does not tell."""
    if sys.platform == "win32":
        return _available_on_windows()
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return None
    return None


def _available_on_windows() -> int | None:  # pragma: no cover - runs on Windows only
    class _Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *(
                (name, ctypes.c_ulonglong)
                for name in ("total", "free", "page_total", "page_free", "v", "w", "x")
            ),
        )

    status = _Status(length=ctypes.sizeof(_Status))
    if not ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):  # type: ignore[attr-defined,unused-ignore]
        return None
    return int(status.free)
