"""One line a figure, and whether the machine was idle when it was measured."""

from __future__ import annotations

import os

HEADER = f"{'name':<58}{'ours':>12}{'wanted':>12}{'peer':>12}{'ratio':>8}  quality"
BUSY_LOAD = 0.3


def load_average() -> float:
    """One-minute load average, 0 where the system has none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


class Report:
    """Prints benchmark lines; knows whether the machine was idle when it began."""

    def __init__(self, n_rows: int | None = None) -> None:
        load = load_average()
        self._is_busy, self._n_rows = load > BUSY_LOAD, n_rows
        print(f"load average {load:.2f}: {'not idle' if self._is_busy else 'idle'}")
        print(HEADER)

    def at_most(self, n_rows: int) -> int:
        """Return the rows to train on: so many, or fewer if the command line asks for fewer."""
        return n_rows if self._n_rows is None else min(n_rows, self._n_rows)

    def line(
        self, name: str, ours: float, unit: str, wanted: float | None = None, peer: float | None = None,
        quality: str = "",
    ) -> None:  # fmt: skip
        """Print one figure; a miss of what is wanted is marked."""
        mark = " MISSED" if wanted is not None and ours > wanted else ""
        busy = " (not idle)" if self._is_busy else ""
        wanted_text = "" if wanted is None else f"{wanted:.4g} {unit}"
        peer_text = "" if peer is None else f"{peer:.4g} {unit}"
        ratio_text = "" if peer is None else f"{ours / peer:.2f}"
        ours_text = f"{ours:.4g} {unit}"
        figures = f"{name:<58}{ours_text:>12}{wanted_text:>12}{peer_text:>12}{ratio_text:>8}"
        print(f"{figures}  {quality}{mark}{busy}", flush=True)
