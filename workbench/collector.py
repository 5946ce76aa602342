"""Collects reference cycles in the window's thread alone, and never those made by imports.

Python collects in whichever thread happens to allocate. In a worker that may delete a widget there,
which Qt does not survive; and once the libraries are imported a full collection looks at 200,000 objects
that live as long as the program and stops every thread for 150 ms. Kernels and arrays are no part of
this: they are freed by their counts.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

INTERVAL_MS = 200
FULL_EVERY = 50  # ticks


class Collector(QObject):
    """Takes the place of Python's automatic collection between `start` and `stop`.

    Parameters
    ----------
    is_busy : callable
        Whether background work is under way: a full collection waits until it has ended.
    """

    def __init__(self, is_busy: Callable[[], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_busy = is_busy
        self._n_modules = 0
        self._n_ticks = 0
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.collect)

    def start(self) -> None:
        """Switch the automatic collection off and collect by the clock instead."""
        gc.disable()
        self._keep_imports()
        self._timer.start()

    def stop(self) -> None:
        """Give the work back to Python."""
        self._timer.stop()
        gc.unfreeze()
        gc.enable()

    def collect(self) -> None:
        """Collect young cycles, and now and then, while nothing else is to do, all of them."""
        self._n_ticks += 1
        if len(sys.modules) != self._n_modules:
            self._keep_imports()
        elif self._n_ticks % FULL_EVERY == 0 and not self._is_busy():
            gc.collect()
        else:
            gc.collect(1)

    def _keep_imports(self) -> None:
        # What an import made stays: collections need not look at it again.
        self._n_modules = len(sys.modules)
        gc.freeze()
