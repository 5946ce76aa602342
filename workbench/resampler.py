"""The resampler: bootstraps a statistic in the background, and brings what it found into the document."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from workbench.bootstrap import BootstrapInputs, in_a_sentence
from workbench.bootstrap_work import BootstrapFound, run_bootstrap
from workbench.figures.words import counted
from workbench.jobs import Job, Lanes
from workbench.log import LOG, describe
from workbench.training import release
from workbench.training_words import told

if TYPE_CHECKING:
    from workbench.document import Document


class Resampler(QObject):
    """Runs one bootstrap at a time; what is done by then is there to be looked at, and stays after a stop."""

    advanced = Signal()  # more is there to be looked at, or it began or ended
    crashed = Signal(str, str)  # title, details: an error that is ours, not the user's

    def __init__(self, document: Document, lanes: Lanes, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document, self._lanes = document, lanes
        self._job: Job | None = None
        self._so_far: BootstrapFound | None = None
        self._is_dropped = False  # nobody wants the one under way any more
        document.table_changed.connect(self._on_table_changed)

    @property
    def current_job(self) -> Job | None:
        return self._job

    @property
    def shown(self) -> BootstrapFound | None:
        """What is to be seen: the one under way, once a resample is done; else the last one."""
        return self._so_far if self._job is not None else self._document.studies.found

    def start(self, inputs: BootstrapInputs) -> None:
        """Bootstrap a statistic; nothing while another one is under way."""
        if self._job is not None:
            return
        self._job = Job(
            partial(run_bootstrap, inputs),
            self,
            title=f"Bootstrap of {in_a_sentence(inputs.settings, inputs.name)}",
        )
        self._so_far = None
        self._job.advanced.connect(self._on_advanced)
        self._job.ended.connect(self._on_ended)
        self._job.start(self._lanes.resamples)
        self.advanced.emit()

    def stop(self) -> None:
        """End it; resamples that are done stay."""
        if self._job is not None:
            self._job.request_stop()

    def _on_advanced(self, events: list[Any]) -> None:
        known = [event.so_far for event in events if event.so_far is not None]
        if known:
            self._so_far = known[-1]()
        self.advanced.emit()

    def _on_ended(self, future: Future[BootstrapFound]) -> None:
        assert self._job is not None
        release(self._job)
        self._job, self._so_far = None, None
        error = None if future.cancelled() else future.exception()
        if error is not None:
            self._tell_error(error)
        elif self._is_dropped:
            self._is_dropped = False
        elif future.cancelled() or not len(future.result().bootstrap.replicates):
            self._document.post_message("Stopped before any resample was done.")
        else:
            self._document.attach_found(found=future.result())
            self._document.post_message(how_it_ended(future.result()))
        self.advanced.emit()

    def _tell_error(self, error: BaseException) -> None:
        is_users, text = told(error)
        self._document.post_message(f"There is no bootstrap: {text}")
        if not is_users:
            details = describe(error)
            LOG.error("a bootstrap ended by an error\n%s", details)
            self.crashed.emit("The bootstrap ended by an error", details)

    def _on_table_changed(self) -> None:
        """Leave what is asked about another table."""
        if self._job is not None:
            self._is_dropped = True
            self._job.supersede()


def how_it_ended(found: BootstrapFound) -> str:
    """Such as "Bootstrap of the mean of x: 1,000 resamples"."""
    made = found.bootstrap
    words = counted(len(made.replicates), "resample")
    if made.stopped:
        words = f"stopped after {words} of {made.n_wanted:,}"
    if made.n_undefined:
        words += f", {made.n_undefined:,} without a value"
    return f"Bootstrap of {found.spoken}: {words}"
