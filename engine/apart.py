"""Where work runs that cannot be asked to stop: here, unless the caller has a place in which it can be ended.

The compiled fits of other libraries ask nobody. Whoever has to be able to end them, such as a window with a
Stop button, gives them a place of their own, another process for instance, with `use`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from engine.monitor import FitMonitor

Result = TypeVar("Result")
Runner = Callable[[Callable[[], Any], FitMonitor], Any]
"""``runner(work, monitor)`` returns ``work()``, done elsewhere, and asks the monitor all the time, in the
calling thread; it raises FitStopped where that says stop, and WorkLost where the place is gone."""

_runner: ContextVar[Runner | None] = ContextVar("runner", default=None)


class WorkLost(Exception):  # noqa: N818 - says what is the case
    """The place where work was done is gone, with all that was there, and nobody here has ended it."""


@contextmanager
def use(runner: Runner) -> Iterator[None]:
    """Let `run` calls inside the block, and in tasks begun there, go through `runner`."""
    token = _runner.set(runner)
    try:
        yield
    finally:
        _runner.reset(token)


def run(work: Callable[[], Result], monitor: FitMonitor) -> Result:
    """Return ``work()``, done in the place of `use` if there is one.

    Parameters
    ----------
    work : callable
        Of a module, or a `functools.partial` of one, since it may have to be pickled, and its result too.
    monitor : FitMonitor
        Asked meanwhile where that is possible.

    Raises
    ------
    FitStopped
        The monitor said stop, and nothing is left of the work.
    WorkLost
        See there.
    """
    runner = _runner.get()
    if runner is None:
        return work()
    made: Result = runner(work, monitor)
    return made
