"""Does a table fit into memory? Estimated before anything of its size is allocated."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from engine.errors import DataError

_SHARE = 0.8  # of the free memory that a table may take


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


def require_cells(n_bytes: float, file_name: str, n_cells: int) -> None:
    """As `require`, where only the number of cells is known before reading."""
    _require(n_bytes, file_name, f"about {n_cells:,} cells")


def require(n_bytes: float, file_name: str, n_rows: int, n_columns: int) -> None:
    """Refuse a table that does not fit.

    Parameters
    ----------
    n_bytes : float
        Estimate of what reading it takes at its peak.

    Raises
    ------
    DataError
        Naming the file, its size, the estimate in GB, what is free, and the cure.
    """
    _require(n_bytes, file_name, f"about {n_rows:,} rows and {n_columns:,} columns")


def _require(n_bytes: float, file_name: str, what: str) -> None:
    free = available_bytes()
    if free is not None and n_bytes > _SHARE * free:
        raise DataError(
            f"{file_name} holds {what} and needs about "
            f"{n_bytes / 1e9:,.1f} GB of memory, but only {free / 1e9:,.1f} GB are free; "
            "close other programs, or save fewer rows or columns to the file"
        )
