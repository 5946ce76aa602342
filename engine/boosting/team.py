"""A team of threads: whoever calls the others, and those who wait for calls while a model is trained."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.boosting.kernels import calls as kernels
from engine.boosting.kernels import team as orders
from engine.jit import is_compiling
from engine.parallel import beside, resolve_jobs

PATIENCE = 100_000  # looks, of about 2 ns each, before a thread gives its core away
"""The next call, or a tree's next order, comes after 20 to 200 microseconds. Sleeping sooner, a thread would
be woken for most of them; sleeping later, it would take time from others who wait for a core."""
CALL_PATIENCE = 2_000_000  # of 0.25 ns each, for a call: Python works up to half a millisecond between two
LOOKS_AT_BEGIN, FEWEST_LOOKS = 400_000, 4_000  # likewise, before the caller begins alone
Result = TypeVar("Result")


def cache_lines(n: int) -> NDArray[np.int64]:
    """Return words of which those of two lines are never in one cache line: int64 (n, 8), zero."""
    n_words = n * kernels.WORDS_A_LINE
    memory = np.zeros(n_words + kernels.WORDS_A_LINE, np.int64)
    first = -(memory.ctypes.data // memory.itemsize) % kernels.WORDS_A_LINE
    return memory[first : first + n_words].reshape(n, kernels.WORDS_A_LINE)


class Team:
    """Threads that take part in what one of them does.

    Parameters
    ----------
    n_jobs : int or None
        Threads at most. There are no more than cores, as those who wait keep theirs busy, and one with the
        compiler switched off: shared words are then not read and written in one step.

    Attributes
    ----------
    shared : int64 (8,)
        From where kernels take the pieces of one work, see `kernels.calls.take`.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.n_threads = min(resolve_jobs(n_jobs), os.cpu_count() or 1) if is_compiling() else 1
        self.shared = cache_lines(1)[0]
        self._calls = cache_lines(self.n_threads).ravel()
        self._bells = [Event() for _ in range(self.n_threads)]
        self._work: Callable[[int], None] = _nothing
        self._looks, self._is_together, self._errors = 0, False, list[BaseException]()

    @contextmanager
    def at_work(self, is_short: bool = False) -> Iterator[None]:
        """Have the others wait for calls while the block runs, unless it is too short to need them."""
        self._calls[:] = kernels.WAITS
        with beside(self._wait, 1 if is_short else self.n_threads) as n_others:
            self._looks = LOOKS_AT_BEGIN if n_others else 0
            try:
                yield
            finally:
                self._looks = 0
                kernels.dismiss(self._calls)
                self.ring()

    def together(
        self,
        work: Callable[[int], None],
        meanwhile: Callable[[], None] | None = None,
        dismiss: Callable[[], None] | None = None,
    ) -> None:
        """Call ``work(0)`` here and ``work(thread)`` in the others, as far as they come before it is done.

        Inside such a work there is nobody left to call.

        Parameters
        ----------
        work : callable
            Takes pieces of what is to be done until none is left; from `shared`, or says there that it began.
        meanwhile : callable, optional
            What the calling thread does first, in Python.
        dismiss : callable, optional
            Called once the calling thread's part is over, however it ended: lets the others end theirs.
        """
        with self._others_called(work, dismiss):
            if meanwhile is not None:
                meanwhile()
            work(0)
        if self._errors:
            raise self._errors.pop()

    @contextmanager
    def _others_called(
        self, work: Callable[[int], None], dismiss: Callable[[], None] | None
    ) -> Iterator[None]:
        if self._is_together:
            self.shared[kernels.NEXT] = 0
            yield
            return
        self._is_together, self._work = True, work
        self._errors.clear()  # those of a work that failed here as well
        try:  # an interrupt from the keyboard may come as soon as the others are called
            self.ring()
            has_come = kernels.call(self._calls, self.shared, self._looks)
            if self._looks:  # the others may be busy elsewhere for long
                self._looks = LOOKS_AT_BEGIN if has_come else max(self._looks // 2, FEWEST_LOOKS)
            yield
        finally:
            if dismiss is not None:
                dismiss()
            kernels.wait_for_all(self._calls)
            self._is_together = False

    def ring(self) -> None:
        """Wake those who sleep over their waiting."""
        for bell in self._bells:
            if not bell.is_set():
                bell.set()

    def sleep(self, thread: int, is_wanted: Callable[[], bool]) -> None:
        """Let a thread sleep until it is rung for, unless it is wanted by now."""
        self._bells[thread].clear()
        if not is_wanted():
            self._bells[thread].wait()

    def _wait(self, thread: int) -> None:
        word = thread * kernels.WORDS_A_LINE
        while True:
            told = kernels.wait_for_call(self._calls, thread, CALL_PATIENCE)
            if told == kernels.IS_DISMISSED:
                return
            if told != kernels.WORKS:
                self.sleep(thread, lambda: bool(self._calls[word] != kernels.WAITS))
                continue
            try:
                self._work(thread)
            except BaseException as error:
                self._errors.append(error)
            finally:
                kernels.end_work(self._calls, thread)


def _nothing(_thread: int) -> None:
    """Be no work."""


class Orders:
    """What one thread of a team has all of them do at a desk, order by order, see `kernels.team`."""

    def __init__(self, team: Team) -> None:
        self._team = team
        self._words = cache_lines(orders.LEFT // kernels.WORDS_A_LINE + team.n_threads).ravel()

    def at(self, desk: orders.Desk, leading: Callable[[], Result]) -> Result:
        """Return what `leading` does, which gives the orders; the others are at the desk as long."""
        self._desk, found = desk, list[Result]()
        self._words[orders.LEFT] = 0

        def work(thread: int) -> None:
            if thread > 0:
                self._follow(thread)
            else:
                found.append(leading())

        self._team.together(work, dismiss=self._dismiss)
        return found[0]

    def give(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Run a kernel that gives orders; return what it does."""
        self._team.ring()  # who sleeps through this order helps with the next one
        return work(self._words, self._desk, *arguments)

    def _dismiss(self) -> None:
        orders.dismiss(self._words)
        self._team.ring()

    def _follow(self, thread: int) -> None:
        while not orders.serve(thread, self._words, self._desk, self._team.shared, PATIENCE):
            self._team.sleep(thread, lambda: bool(self._words[orders.LEFT] != 0))
