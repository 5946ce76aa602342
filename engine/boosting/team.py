"""A team of threads that grows a tree: one leads, the others help until they are dismissed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

import numpy as np

from engine.boosting.kernels import team as kernels
from engine.jit import is_compiling
from engine.parallel import beside, resolve_jobs

PATIENCE = 100_000  # looks, of about 2 ns each, before a thread gives its core away
"""A tree's next order comes after 20 to 200 microseconds. Sleeping sooner, a thread would be woken for most
of them; sleeping later, it would take time from others who wait for a core."""


class Team:
    """Threads that do what one of them orders, see `engine.boosting.kernels.team`.

    Parameters
    ----------
    n_jobs : int or None
        Threads at most. There are no more than cores, as those who wait keep theirs busy, and one with the
        compiler switched off: shared words are then not read and written in one step.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.n_threads = min(resolve_jobs(n_jobs), os.cpu_count() or 1) if is_compiling() else 1
        self._orders = np.zeros(kernels.LEFT + self.n_threads * kernels.WORDS_A_LINE, np.int64)
        self._is_wanted = Event()

    @contextmanager
    def at(self, desk: kernels.Desk, is_short: bool = False) -> Iterator[None]:
        """Let the others help at a desk while the block runs, unless it is too short to call them."""
        self._desk = desk
        self._orders[kernels.LEFT] = 0
        with beside(self._help, 1 if is_short else self.n_threads):
            try:
                yield
            finally:
                kernels.dismiss(self._orders)
                self._is_wanted.set()

    def _help(self, thread: int) -> None:
        while not kernels.serve(thread, self._orders, self._desk, PATIENCE):
            self._is_wanted.clear()
            if self._orders[kernels.LEFT] == 0:
                self._is_wanted.wait()

    def lead(self, work: Callable[..., Any], *arguments: int) -> Any:
        """Run a kernel that gives orders; return what it does."""
        if not self._is_wanted.is_set():
            self._is_wanted.set()  # who sleeps through this order helps with the next one
        return work(self._orders, self._desk, *arguments)
