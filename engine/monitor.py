"""How a fit is watched and stopped: one frozen event, one method (contracts D6)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class IterationEvent:
    """One step of a fit, as told to its monitor.

    Attributes
    ----------
    phase : str
        What is being done, in plain words: "sorting", "binning", "growing", "boosting", ...
    iteration : int
        Steps done in this phase, counted from 1; 0 while a phase begins.
    n_iterations : int or None
        Steps the phase will take at most; None if unknown.
    fraction : float
        Share of the whole fit that is done, 0 to 1.
    elapsed_s : float
        Seconds since the fit began.
    train_loss, val_loss : float or None
        Loss on training and validation rows after this step.
    oob_loss : float or None
        Loss on out-of-bag rows after this step; of bags and forests that ask for it.
    new_trees : tuple of Tree
        Only the trees grown in this step; the view appends (a growing tuple would cost quadratically).
    member : int or None
        Which member of an ensemble the step belongs to.
    message : str
        A sentence for the person watching; empty most of the time.
    step_error : float or None
        Weighted error of the learner that this step added, where rows are reweighted (AdaBoost).
    so_far : callable or None
        Returns the model of the steps done by then, fitted, whatever the fit does meanwhile: any thread may
        call it, when it wants to. Of ensembles, from the first step on that can be asked.
    """

    phase: str
    iteration: int = 0
    n_iterations: int | None = None
    fraction: float = 0.0
    elapsed_s: float = 0.0
    train_loss: float | None = None
    val_loss: float | None = None
    oob_loss: float | None = None
    new_trees: Sequence[Any] = ()
    member: int | None = None
    message: str = ""
    step_error: float | None = None
    so_far: Callable[[], Any] | None = None


@runtime_checkable
class FitMonitor(Protocol):
    """Watches a fit. Its only method is called in the thread that fits."""

    def on_iteration(self, event: IterationEvent) -> bool:
        """Take note of `event`; return True to stop the fit after this step."""
        ...


class NullMonitor:
    """Watches nothing and never stops."""

    def on_iteration(self, event: IterationEvent) -> bool:
        return False


NULL_MONITOR = NullMonitor()


class SubMonitor:
    """A monitor for one part of a fit: scales its fractions into `start`..`end` of the whole.

    The part's model so far is not the whole fit's, and is not passed on.

    Parameters
    ----------
    parent : FitMonitor
        Who is told.
    start, end : float
        The part's share of the whole fit, 0 <= start <= end <= 1.
    member : int, optional
        Stamped on events that carry no member of their own.
    """

    def __init__(self, parent: FitMonitor, start: float, end: float, member: int | None = None) -> None:
        self._parent, self._start, self._span, self._member = parent, start, end - start, member
        self._began = time.perf_counter()
        self.stopped = False

    def on_iteration(self, event: IterationEvent) -> bool:
        fraction = self._start + self._span * event.fraction
        member = self._member if event.member is None else event.member
        elapsed_s = time.perf_counter() - self._began
        told = replace(event, fraction=fraction, member=member, elapsed_s=elapsed_s, so_far=None)
        self.stopped = self._parent.on_iteration(told)
        return self.stopped


class Stopwatch:
    """Seconds since a fit began, for `IterationEvent.elapsed_s`."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def elapsed_s(self) -> float:
        return time.perf_counter() - self._began


class StopWatcher:
    """Asks the monitor, from the fitting thread only; tasks in any thread see the answer."""

    def __init__(self, monitor: FitMonitor, event: IterationEvent) -> None:
        self._monitor, self._owner = monitor, threading.get_ident()
        self.event, self.is_stopped = event, False

    def tell(self, event: IterationEvent) -> None:
        """Tell the monitor of a finished tree."""
        self.event = replace(event, new_trees=())
        self.is_stopped = self._monitor.on_iteration(event) or self.is_stopped

    def poll(self) -> None:
        """Ask whether to stop, repeating the last event."""
        self.is_stopped = self._monitor.on_iteration(self.event) or self.is_stopped

    @property
    def is_owner(self) -> bool:
        """Tell whether this is the fitting thread, in which alone the monitor may be told."""
        return threading.get_ident() == self._owner

    def ask(self, _n_nodes: int, _fraction: float) -> bool:
        """Answer a growing tree; the monitor itself is asked only in the fitting thread."""
        if self.is_owner:
            self.poll()
        return self.is_stopped


class StopFlag:
    """Asks whether to stop in the thread that made it, in which a fit runs; all threads see the answer.

    Parameters
    ----------
    ask : callable
        Tells the monitor how far the work is; True stops it.
    """

    def __init__(self, ask: Callable[[], bool]) -> None:
        self._ask, self._owner, self.is_stopped = ask, threading.get_ident(), False

    def poll(self) -> None:
        """Ask; in the owner's thread only."""
        self.is_stopped = self.is_stopped or self._ask()

    def ask(self) -> bool:
        """Return whether to stop, asking where that is allowed."""
        if threading.get_ident() == self._owner:
            self.poll()
        return self.is_stopped
