"""Does a table fit into memory? Estimated before anything of its size is allocated."""

from __future__ import annotations

from engine.errors import DataError
from workbench.platform import available_bytes

_SHARE = 0.8  # of the free memory that a table may take


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
