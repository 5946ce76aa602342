"""What a study tells while it works: its own value of what the engine has found, made in the worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

from engine.monitor import FitMonitor, IterationEvent

TELL_S = 0.15  # between two values: of many rows one takes a while


class ToldSoFar:
    """A monitor that passes events on with another value so far.

    Parameters
    ----------
    monitor : FitMonitor
    make : callable
        Returns a study's value of the engine's; None where that is nothing to look at yet.
    """

    def __init__(self, monitor: FitMonitor, make: Callable[[Any], Any]) -> None:
        self._monitor, self._make = monitor, make
        self._told: Callable[[], Any] | None = None
        self._made_of: object = None
        self._next = 0.0

    def on_iteration(self, event: IterationEvent) -> bool:
        so_far = event.so_far
        if so_far is not None and so_far is not self._made_of and perf_counter() >= self._next:
            self._made_of = so_far
            known = so_far()
            found = None if known is None else self._make(known)
            self._told = None if found is None else partial(_the_value, found)
            self._next = perf_counter() + TELL_S
        return self._monitor.on_iteration(replace(event, so_far=self._told))


def _the_value(found: Any) -> Any:
    return found
