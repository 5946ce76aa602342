"""What studies in the background share: one of a kind runs at a time, live, and a stop keeps what is done."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from engine.errors import DataError, FitStopped, ParameterError
from engine.monitor import FitMonitor
from workbench.jobs import Job, Lanes
from workbench.log import LOG, describe
from workbench.training import release
from workbench.training_words import told

if TYPE_CHECKING:
    from workbench.document import Document


class StudyRunner(QObject):
    """Runs one study at a time in the background; a subclass says what it does, and where it is kept."""

    advanced = Signal()  # more is there to be looked at, or it began or ended
    crashed = Signal(str, str)  # title, details: an error that is ours, not the user's

    subject = ""  # begins a sentence: "Bias and variance"
    join = ", "  # between it and what is studied
    lane = "refits"  # of `Lanes`
    step_name = ""  # what one step is called
    nothing = ""  # said of a stop before anything was there

    def __init__(self, document: Document, lanes: Lanes, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._lanes = document, lanes
        self._job: Job | None = None
        self._so_far: Any = None
        self._next: Callable[[], object] | None = None  # what is begun once the job has ended
        document.table_changed.connect(self.drop)

    @property
    def current_job(self) -> Job | None:
        return self._job

    def stop(self) -> None:
        """End it; what is done stays."""
        self._next = None
        if self._job is not None:
            self._job.request_stop()

    def drop(self) -> None:
        """Leave what nobody wants any more."""
        self._next = None
        if self._job is not None:
            self._job.supersede()
            self._job = self._so_far = None
            self.advanced.emit()

    def go_on(self, settings: Any) -> None:
        """Begin with other settings; what runs is ended first, and what it has found is kept."""
        if self._job is None:
            self.start(settings)
        else:
            self._next = partial(self.start, settings)
            self._job.request_stop()

    # -- what a subclass says

    def start(self, settings: Any) -> bool:
        """Begin with the document as it stands; False, and the reason as a message, if it cannot be."""
        raise NotImplementedError

    def _is_any_done(self, found: Any) -> bool:
        """Tell whether there is something to look at."""
        raise NotImplementedError

    def _known_at_start(self) -> Any:
        """Return what is to be seen before a step is done; None where nothing is."""
        return None

    def _keep(self, found: Any) -> str:
        """Put what was found into the document; returns how it ended, in words."""
        raise NotImplementedError

    # -- the work

    def _begin(self, prepare: Callable[[], tuple[Callable[[FitMonitor], Any], str]]) -> bool:
        """Start the work that `prepare` returns with its name; False, and a message why, if it cannot be."""
        if self._job is not None:
            return False
        try:
            work, name = prepare()
        except (DataError, ParameterError) as error:
            self._document.post_message(f"{self.subject} cannot be found: {error}")
            return False
        self._job = Job(work, self, title=f"{self.subject}{self.join}{name}", step_name=self.step_name)
        self._so_far = self._known_at_start()
        self._job.advanced.connect(self._on_advanced)
        self._job.ended.connect(partial(self._on_ended, self._job))
        self._job.start(getattr(self._lanes, self.lane))
        self.advanced.emit()
        return True

    def _on_advanced(self, events: list[Any]) -> None:
        known = [event.so_far for event in events if event.so_far is not None]
        if known:
            found = known[-1]()
            self._so_far = found if self._is_any_done(found) else None
        self.advanced.emit()

    def _on_ended(self, job: Job, future: Future[Any]) -> None:
        release(job)
        if self._job is not job:
            return  # nobody wants it any more
        self._job = self._so_far = None
        follow, self._next = self._next, None
        if future.cancelled() or isinstance(future.exception(), FitStopped):
            self._say(self.nothing, follow)
        elif (error := future.exception()) is not None:
            self._tell_error(error)
        elif not self._is_any_done(future.result()):
            self._say(self.nothing, follow)
        else:
            self._say(f"{self._keep(future.result())}.", follow)
        if follow is not None:
            follow()
        self.advanced.emit()

    def _say(self, text: str, follow: Callable[[], object] | None) -> None:
        """Say how it ended, unless it goes on at once."""
        if follow is None:
            self._document.post_message(text)

    def _tell_error(self, error: BaseException) -> None:
        is_users, text = told(error)
        self._document.post_message(f"{self.subject} cannot be found: {text}")
        if not is_users:
            details = describe(error)
            LOG.error("a study ended by an error\n%s", details)
            self.crashed.emit(f"{self.subject} ended by an error", details)
