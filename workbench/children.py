"""Work in a child process, for what cannot be asked to stop: whoever wants it to end ends the process.

A child that has done its work waits for the next, because starting one and importing the libraries in
it takes seconds. ::

    worker thread                       child
    run_in_child ------ work ---------> _serve
                 <----- taken --------- work(monitor)
    monitor.on_iteration <-- event ---- monitor.on_iteration
                         --- stop ----> answered by the next event, if there is one soon enough
                         <-- result ---
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import threading
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any

import numpy as np

from engine.apart import WorkLost
from engine.errors import FitStopped
from engine.monitor import FitMonitor, IterationEvent

POLL_S = 0.05
STOP_S = 0.4  # between asking the work to stop and ending its process
GRACE_S = 0.3  # between asking a process to end and killing it
PIECE_BYTES = 2**20  # sent at a time, between two questions to the monitor
IDLE_S = 120.0  # a child that has had no work for so long ends: it holds some 200 MB
GONE = EOFError, BrokenPipeError, ConnectionResetError

Work = Callable[[FitMonitor], Any]


class _Child:
    """A process that does one work after another."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        self.is_ready = False

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    def end(self) -> None:
        """End it, whatever it does."""
        self.connection.close()
        self._process.terminate()
        self._process.join(GRACE_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


_idle: list[_Child] = []
_lock = threading.Lock()


def run_in_child(work: Work, monitor: FitMonitor, stop_s: float = STOP_S) -> Any:
    """Return what ``work(monitor)`` returns, done in a child process.

    Parameters
    ----------
    work : callable
        Of a module, or a `functools.partial` of one; it and its result are pickled.
    monitor : FitMonitor
        Is told of the work's events, without their trees, and asked all the time. A stop is answered by the
        work itself where it asks in time; else its process is ended.
    stop_s : float
        How long that is, in seconds; 0 for work that never asks.

    Raises
    ------
    FitStopped
        The work was stopped, and nothing is left of it.
    WorkLost
        The process ended without a result.
    Exception
        What the work raised.
    """
    while True:
        child, is_reusable = _take(), False
        try:
            answer, is_reusable = _Talk(child, monitor, stop_s).run(work)
            break
        except _NotTaken:  # it ended, having waited long enough, just when it was taken
            continue
        finally:
            if is_reusable:
                _put_back(child)
            else:
                child.end()
    if isinstance(answer, BaseException):
        raise answer
    return answer


def run_unasked(work: Callable[[], Any], monitor: FitMonitor) -> Any:
    """Return ``work()``, done in a child process, for `engine.apart.use`; at a stop its process is ended."""
    return run_in_child(partial(_without_monitor, work), monitor, stop_s=0.0)


def _without_monitor(work: Callable[[], Any], monitor: FitMonitor) -> Any:
    monitor.on_iteration(IterationEvent("fitting"))
    return work()


def shut_down() -> None:
    """End the children that wait for work."""
    with _lock:
        waiting = list(_idle)
        _idle.clear()
    for child in waiting:
        child.end()


def _take() -> _Child:
    """Return the child that worked last of those that wait, or else a new one."""
    with _lock:
        while _idle:
            child = _idle.pop()
            if child.is_alive:
                return child
            child.end()
    return _Child()


def _put_back(child: _Child) -> None:
    """Keep a child that can do more: as many as were at work at once, until they end by themselves."""
    with _lock:
        ended = [other for other in _idle if not other.is_alive]
        _idle[:] = [other for other in _idle if other not in ended]
        _idle.append(child)
    for other in ended:
        other.end()


class _NotTaken(Exception):  # noqa: N818 - says what is the case
    """A child that had worked before was gone when more was sent to it."""


class _Talk:
    """One work's events, stop and end."""

    def __init__(self, child: _Child, monitor: FitMonitor, stop_s: float) -> None:
        self._child, self._monitor, self._stop_s = child, monitor, stop_s
        self._last, self._stop_at = IterationEvent("starting a process"), float("inf")

    def run(self, work: Work) -> tuple[Any, bool]:
        """Return the result, or the exception, and whether the child can do more."""
        is_waiting = self._child.is_ready
        try:
            if not is_waiting:  # a pipe is small: nothing large is sent before somebody reads
                self._await("ready")
                self._child.is_ready = True
            _send(self._child.connection, work, partial(self._ask, "taken"))
            answer = self._await("taken")
            is_waiting = False
            if answer is None:
                answer = self._await("result")
        except GONE:
            if is_waiting:
                raise _NotTaken from None
            raise WorkLost(
                "its process was ended from outside, or ran out of memory; try again, with fewer rows"
            ) from None
        return answer, self._stop_at == float("inf")

    def _await(self, wanted: str) -> Any:
        """Return the content of a message, or of an error, asking the monitor meanwhile."""
        while True:
            if self._child.connection.poll(POLL_S):
                what, content = self._child.connection.recv()
                if what in ("result", "error"):
                    return _receive(self._child.connection, partial(self._ask, wanted))
                if what == wanted:
                    return content
                self._last = content
            self._ask(wanted)
            self._last = replace(self._last, train_loss=None, val_loss=None, oob_loss=None)  # told once

    def _ask(self, wanted: str) -> None:
        is_stopped = self._monitor.on_iteration(self._last)
        if is_stopped and (wanted != "result" or self._stop_s == 0):
            raise FitStopped
        if is_stopped and self._stop_at == float("inf"):
            self._stop_at = monotonic() + self._stop_s
            self._child.connection.send("stop")
        if monotonic() > self._stop_at:
            raise FitStopped


class _Monitor:
    """What the work sees in the child."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self._is_stopped = connection, False
        self._lock = threading.Lock()  # answers by pieces ask in whatever thread they are made

    def on_iteration(self, event: IterationEvent) -> bool:
        with self._lock:
            self._connection.send(("event", replace(event, new_trees=(), so_far=None)))
            while self._connection.poll():
                self._connection.recv()  # there is but one thing to say
                self._is_stopped = True
            return self._is_stopped


def _serve(connection: Connection) -> None:
    """Do what is sent, until nobody is there to send, or nothing is sent for long."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    warnings.simplefilter("ignore")  # they have no one to read them; results tell what did not converge
    connection.send(("ready", None))
    with contextlib.suppress(*GONE):
        while connection.poll(IDLE_S):
            _do_one(connection)


def _do_one(connection: Connection) -> None:
    try:
        work = _receive(connection)
        connection.send(("taken", None))
        made = _pickled(work(_Monitor(connection)))
        what = "result"
    except GONE:
        raise
    except Exception as error:
        error.add_note(traceback.format_exc())
        what, made = "error", _pickled(error)
    connection.send((what, None))
    _send_pickled(connection, made)


def _pickled(value: Any) -> list[memoryview]:
    """Return a value as bytes, and the arrays in it as they lie in memory: copying stops all threads."""
    arrays: list[pickle.PickleBuffer] = []
    content = pickle.dumps(value, protocol=5, buffer_callback=arrays.append)
    return [memoryview(content), *(array.raw() for array in arrays)]


def _send(connection: Connection, value: Any, between: Callable[[], object]) -> None:
    """Send a value by pieces, calling a function before each: a busy process takes long to read a table."""
    _send_pickled(connection, _pickled(value), between)


def _send_pickled(
    connection: Connection, parts: list[memoryview], between: Callable[[], object] = lambda: None
) -> None:
    connection.send([part.nbytes for part in parts])
    for part in parts:
        for start in range(0, part.nbytes, PIECE_BYTES):
            between()
            connection.send_bytes(part[start : start + PIECE_BYTES])


def _receive(connection: Connection, between: Callable[[], object] = lambda: None) -> Any:
    """Return what `_send` sent."""
    # not filled with zeros, which would stop all threads for as long as a table's bytes take
    parts = [np.empty(n_bytes, np.uint8).data for n_bytes in connection.recv()]
    for part in parts:
        for start in range(0, len(part), PIECE_BYTES):
            between()
            connection.recv_bytes_into(part, start)
    return pickle.loads(parts[0], buffers=parts[1:])


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
