"""Background work without locks: jobs, and the lanes they run in.

The worker only fills a queue; a `Job`, in the GUI thread, empties it.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Event
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from engine import apart, parallel, pieces
from engine.monitor import FitMonitor, IterationEvent
from workbench import children
from workbench.children import run_in_child

PUMP_INTERVAL_MS = 33  # 30 Hz: views never flood
ENOUGH_FRACTION = 0.02  # below this the time left is a guess, so none is shown
PREPARING_PHASES = ("sorting", "binning")  # their iterations are columns, not the fit's own steps

Work = Callable[[FitMonitor], Any]
"""What a job does: called in the worker with the job as monitor; its return value is the result."""


@dataclass(frozen=True)
class Progress:
    """How far a job is.

    Attributes
    ----------
    fraction : float
        0 to 1.
    text : str
        Such as "round 37 of 100, 12 s left"; "waiting" before it begins.
    """

    fraction: float = 0.0
    text: str = "waiting"


class Job(QObject):
    """One piece of background work.

    Parameters
    ----------
    work : callable
        ``work(monitor)``; looks only at what it was given, returns a new object.
    title : str
        What is being done, for the status line.
    step_name : str
        What one iteration is called: "round", "tree", "fold"; "" tells no steps.
    tick_ms : int
        How often events and the end are looked for.
    """

    advanced = Signal(list)  # the IterationEvents since the last tick, in order, never empty
    ended = Signal(object)  # the finished Future: result, error or cancellation; always last, once

    def __init__(
        self, work: Work, parent: QObject | None = None, *, title: str = "", step_name: str = "",
        tick_ms: int = PUMP_INTERVAL_MS,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.title, self.step_name = title, step_name
        self.progress = Progress()
        self._work, self._stop = work, Event()
        self._events: SimpleQueue[IterationEvent] = SimpleQueue()
        self._future: Future[Any] | None = None
        self._is_superseded = self._is_silenced = False
        self.is_told = False  # `ended` was emitted
        self._pump = QTimer(self, interval=tick_ms)
        self._pump.timeout.connect(self._drain)

    @property
    def future(self) -> Future[Any] | None:
        """The Future of the work; None before `start`."""
        return self._future

    @property
    def is_over(self) -> bool:
        """True once the worker has finished (`ended` may still be to come)."""
        return self._future is not None and self._future.done()

    def start(self, lane: Lane) -> None:
        """Queue the work in a lane."""
        self._future = lane.submit(self._work, self)
        self._pump.start()

    def request_stop(self) -> None:
        """Ask the work to end after its current step; work that is still queued never starts."""
        self._stop.set()
        if self._future is not None:
            self._future.cancel()

    def supersede(self) -> None:
        """Stop, and end as cancelled whatever comes out: a newer request took this one's place."""
        self._is_superseded = True
        self.request_stop()

    def silence(self) -> None:
        """Stop, and emit nothing any more: the program is quitting."""
        self._is_silenced = True
        self._pump.stop()
        self.request_stop()

    def release(self) -> None:
        """Forget the work and its result, after the end."""
        self._work, self._future = _nothing, _cancelled_future()

    def on_iteration(self, event: IterationEvent) -> bool:
        """Take note of an event; the only method that the worker may call (FitMonitor).

        Raises
        ------
        CancelledError
            Nobody wants the result any more: unlike after a stop, nothing is worth keeping, so the work
            need not be rounded off.
        """
        if self._is_superseded or self._is_silenced:
            raise CancelledError
        self._events.put(event)
        return self._stop.is_set()

    def go_on_or_leave(self, _work: float) -> None:
        """Leave, by CancelledError, work that nobody wants any more; from any thread.

        What is answered after a stop goes on: it belongs to a model that is kept.
        """
        if self._is_superseded or self._is_silenced:
            raise CancelledError

    def _drain(self) -> None:
        assert self._future is not None
        is_over = self._future.done()  # read first, so that the last events cannot be lost
        batch = self._take_events()
        if batch and not self._is_superseded:
            self.progress = describe_progress(batch[-1], self.step_name)
            self.advanced.emit(batch)
        if is_over and not self._is_silenced:
            self._pump.stop()
            self.is_told = True
            self.ended.emit(_cancelled_future() if self._is_superseded else self._future)

    def _take_events(self) -> list[IterationEvent]:
        batch = []
        try:
            while True:
                batch.append(self._events.get_nowait())
        except Empty:
            return batch


def describe_progress(event: IterationEvent, step_name: str) -> Progress:
    """Return an event in words: "round 37 of 100, 12 s left"."""
    parts = []
    if step_name and event.iteration > 0 and event.phase not in PREPARING_PHASES:
        total = f" of {event.n_iterations:,}" if event.n_iterations else ""
        parts.append(f"{step_name} {event.iteration:,}{total}")
    else:
        parts.append(event.message or event.phase)
    if ENOUGH_FRACTION <= event.fraction < 1.0:
        parts.append(f"{_time_text(event.elapsed_s * (1 / event.fraction - 1))} left")
    return Progress(event.fraction, ", ".join(parts))


def _time_text(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _nothing(_monitor: FitMonitor) -> None:
    """Stand in for work that is done and forgotten."""


def _cancelled_future() -> Future[Any]:
    future: Future[Any] = Future()
    future.cancel()
    return future


class Lane:
    """A queue of work with `n_workers` threads, whose fits that ask nobody run in child processes."""

    def __init__(self, name: str, n_workers: int = 1) -> None:
        self._pool = ThreadPoolExecutor(n_workers, thread_name_prefix=f"lane-{name}")
        self._untold: list[Job] = []  # jobs whose end was not emitted yet

    @property
    def live_jobs(self) -> list[Job]:
        """Jobs that are queued or running, in the order of their start."""
        return [job for job in self._untold if not job.is_over]

    @property
    def is_quiet(self) -> bool:
        """Every job is over and has told it."""
        return all(job.is_told for job in self._untold)

    def submit(self, work: Work, job: Job) -> Future[Any]:
        """Queue ``work(job)``."""
        self._untold = [*(other for other in self._untold if not other.is_told), job]
        return self._pool.submit(self._run, work, job)

    def _run(self, work: Work, job: Job) -> Any:
        with apart.use(children.run_unasked), pieces.asking(job.go_on_or_leave):
            return work(job)

    def shut_down(self, deadline: float) -> bool:
        """Stop all jobs and wait until `deadline` (of `time.monotonic`); tell whether all ended."""
        futures = [job.future for job in self.live_jobs if job.future is not None]
        for job in self._untold:
            if not job.is_told:
                job.silence()  # also those that are over but have not told it yet
        all_ended = not wait(futures, max(0.0, deadline - monotonic())).not_done
        self._pool.shutdown(wait=all_ended, cancel_futures=True)
        return all_ended


class ViewLane(Lane):
    """Work for pictures: of all requests with one key only the latest is worth doing."""

    def __init__(self, name: str = "views") -> None:
        super().__init__(name, n_workers=1)
        self._latest: dict[str, Job] = {}

    def submit_latest(
        self, key: str, function: Work, title: str = "", tick_ms: int = PUMP_INTERVAL_MS
    ) -> Job:
        """Start ``function(monitor)`` and supersede the unfinished request of the same key.

        A superseded job ends as cancelled (``future.cancelled()``), even if its work was done.
        """
        if (previous := self._latest.get(key)) is not None:
            previous.supersede()
        job = Job(function, title=title, tick_ms=tick_ms)
        self._latest[key] = job
        job.ended.connect(lambda _future: self._forget(key, job))
        job.start(self)
        return job

    def _forget(self, key: str, job: Job) -> None:
        if self._latest.get(key) is job:
            del self._latest[key]


class ProcessLane(Lane):
    """Work that cannot ask a monitor: runs in a spawned child process, ended within 1 s of a stop.

    The work and its result cross the process border, so the work is a module-level function.
    """

    def _run(self, work: Work, job: Job) -> Any:
        return run_in_child(work, job)


class Lanes:
    """The lanes: `fit` (one at a time), `views`, `finer` and `studies` (latest wins), `process`, `files`,
    `edits`, `searches`, `resamples`, `refits`.

    `finer` draws in more cells what `views` has drawn: that may take long, and no other picture waits for it.
    `studies` looks long at a finished model, such as by folds: no picture of `views` waits for it.
    `files` writes what is saved, one after the other: a save waits for no picture and no training.
    `edits` changes trees by hand, one after the other, for who waits for nothing else.
    `searches` tunes settings, which may take long: neither a training nor a study waits for it.
    `resamples` bootstraps statistics of the table, whatever else is trained or searched meanwhile.
    `refits` fits models on many training sets, which may take long.
    """

    def __init__(self) -> None:
        self.fit = Lane("fit")
        self.views = ViewLane()
        self.finer = ViewLane("finer")
        self.studies = ViewLane("studies")
        self.process = ProcessLane("process")
        self.files = Lane("files")
        self.edits = Lane("edits")
        self.searches = Lane("searches")
        self.resamples = Lane("resamples")
        self.refits = Lane("refits")
        self._all = (
            self.fit, self.views, self.finer, self.studies, self.process, self.files, self.edits,
            self.searches, self.resamples, self.refits,
        )  # fmt: skip

    @property
    def live_jobs(self) -> list[Job]:
        return [job for lane in self._all for job in lane.live_jobs]

    @property
    def are_quiet(self) -> bool:
        """No job runs, waits or has still to tell its end."""
        return all(lane.is_quiet for lane in self._all)

    def shut_down(self, timeout_s: float = 3.0) -> bool:
        """Stop everything and wait; no job emits anything after this call began.

        Returns False if work is still running after `timeout_s` (a call that cannot be interrupted,
        such as an import): the caller then ends the process with `platform.leave_at_once`.
        """
        for job in self.live_jobs:
            job.silence()
        deadline = monotonic() + timeout_s
        ended = [lane.shut_down(deadline) for lane in self._all]  # every lane is told, whatever one says
        if all_ended := all(ended):
            parallel.shut_down()
        children.shut_down()  # last, as tasks of a pool may have given theirs back a moment ago
        return all_ended
