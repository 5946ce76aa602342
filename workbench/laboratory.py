"""The laboratory: fits models on many training sets in the background, and brings what it found."""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from engine.errors import DataError, FitStopped, ParameterError
from engine.monitor import FitMonitor
from workbench.bias_variance import (
    BiasVarianceFound,
    BiasVarianceInputs,
    BiasVarianceSettings,
    how_it_ended,
    inputs_of,
    run_bias_variance,
)
from workbench.catalog_entry import LARGE_ROWS
from workbench.jobs import Job, Lanes
from workbench.log import LOG, describe
from workbench.training import Trainer, release
from workbench.training_words import told

if TYPE_CHECKING:
    from workbench.document import Document


class Laboratory(QObject):
    """Runs one study of bias and variance at a time; what is done by then stays after a stop."""

    advanced = Signal()  # more is there to be looked at, or it began or ended
    crashed = Signal(str, str)  # title, details: an error that is ours, not the user's

    def __init__(
        self, document: Document, lanes: Lanes, trainer: Trainer, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document, self._lanes, self._trainer = document, lanes, trainer
        self._job: Job | None = None
        self._so_far: BiasVarianceFound | None = None
        document.table_changed.connect(self._on_table_changed)

    @property
    def current_job(self) -> Job | None:
        return self._job

    @property
    def shown(self) -> BiasVarianceFound | None:
        """What is to be seen: the study under way, once two fits are done; else the last one."""
        return self._so_far if self._job is not None else self._document.studies.parts

    def start(self, settings: BiasVarianceSettings) -> bool:
        """Begin with the document as it stands; False, and the reason as a message, if it cannot be."""
        if self._job is not None:
            return False
        try:
            inputs = inputs_of(self._document, settings)
        except (DataError, ParameterError) as error:
            self._document.post_message(f"Bias and variance cannot be found: {error}")
            return False
        waits = [self._trainer.waiting_for(spec.kind, LARGE_ROWS) for spec in inputs.specs]
        work = partial(_work, inputs, tuple(wait for wait in waits if wait is not None))
        self._job = Job(work, self, title=f"Bias and variance, {inputs.name}", step_name="fit")
        self._so_far = None
        self._job.advanced.connect(self._on_advanced)
        self._job.ended.connect(partial(self._on_ended, self._job))
        self._job.start(self._lanes.refits)
        self.advanced.emit()
        return True

    def stop(self) -> None:
        """End it; fits that are done stay."""
        if self._job is not None:
            self._job.request_stop()

    def _on_advanced(self, events: list[Any]) -> None:
        known = [event.so_far for event in events if event.so_far is not None]
        if known:
            found = known[-1]()
            self._so_far = found if found.is_any_done else None
        self.advanced.emit()

    def _on_ended(self, job: Job, future: Future[BiasVarianceFound]) -> None:
        release(job)
        if self._job is not job:
            return  # its table is gone
        self._job = self._so_far = None
        if future.cancelled() or isinstance(future.exception(), FitStopped):
            self._document.post_message("Stopped before any value had two fits.")
        elif (error := future.exception()) is not None:
            self._tell_error(error)
        elif not future.result().is_any_done:
            self._document.post_message("Stopped before any value had two fits.")
        else:
            self._document.attach_bias_variance(future.result())
            self._document.post_message(f"{how_it_ended(future.result())}.")
        self.advanced.emit()

    def _tell_error(self, error: BaseException) -> None:
        is_users, text = told(error)
        self._document.post_message(f"Bias and variance cannot be found: {text}")
        if not is_users:
            details = describe(error)
            LOG.error("a study of bias and variance ended by an error\n%s", details)
            self.crashed.emit("The study of bias and variance ended by an error", details)

    def _on_table_changed(self) -> None:
        """Leave what is asked about another table."""
        if self._job is not None:
            self._job.supersede()
            self._job = self._so_far = None
            self.advanced.emit()


def _work(inputs: BiasVarianceInputs, waits: tuple[Any, ...], monitor: FitMonitor) -> BiasVarianceFound:
    for wait in waits:
        wait(monitor)
    return run_bias_variance(inputs, monitor)
