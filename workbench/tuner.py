"""The tuner: searches for good settings in the background, and brings what it found into the document."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from PySide6.QtCore import QObject, Signal

from engine.errors import FitStopped, ParameterError
from engine.monitor import FitMonitor
from workbench.catalog import check_parameter_values
from workbench.figures.words import counted
from workbench.fitting import FitInputs
from workbench.jobs import Job, Lanes
from workbench.log import LOG, describe
from workbench.readiness import check_ready
from workbench.training import Trainer, release
from workbench.training_words import told
from workbench.training_work import training_inputs
from workbench.tuning import Plan, Tuning, tune_run, tuning_of

if TYPE_CHECKING:
    from workbench.document import Document


class _Search(NamedTuple):
    """The one that runs."""

    run_id: str
    job: Job
    inputs: FitInputs
    plan: Plan


class Tuner(QObject):
    """Runs one search at a time; what is done by then is there to be looked at, and stays after a stop."""

    started = Signal(str)
    advanced = Signal(str)
    ended = Signal(str)
    crashed = Signal(str, str)  # title, details: an error that is ours, not the user's

    def __init__(
        self, document: Document, lanes: Lanes, trainer: Trainer, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document, self._lanes, self._trainer = document, lanes, trainer
        self._now: _Search | None = None
        self._so_far: Tuning | None = None
        document.run_removed.connect(self._on_run_removed)

    @property
    def current_run_id(self) -> str | None:
        """The model that is tuned now."""
        return None if self._now is None else self._now.run_id

    @property
    def current_job(self) -> Job | None:
        return None if self._now is None else self._now.job

    @property
    def current_plan(self) -> Plan | None:
        """What is tried now."""
        return None if self._now is None else self._now.plan

    def shown(self, run_id: str) -> Tuning | None:
        """What is to be seen of a model: the search under way, once a setting is done; else the last one."""
        if self.current_run_id == run_id:
            return self._so_far
        record = self._document.runs.get(run_id)
        return None if record is None else record.tuning

    def start(self, run_id: str, plan: Plan) -> bool:
        """Try every setting of a plan with the document as it stands now.

        Returns False, and posts the reason as a message, if that is not possible.
        """
        document, record = self._document, self._document.run(run_id)
        problems = check_ready(document)
        if self._now is not None:
            name = document.run(self._now.run_id).name
            problems = [f"{name} is being tuned; stop that, or wait for its end."]
        if not problems:
            try:
                check_parameter_values(record.spec.kind, document.task, record.spec.parameters)
            except ParameterError as error:
                problems = [f"{record.name} cannot be tuned: {error}"]
        if problems:
            document.post_message(" ".join(problems))
            return False
        self._start(run_id, plan)
        return True

    def stop(self) -> None:
        """End the search; settings that are done stay."""
        if self._now is not None:
            self._now.job.request_stop()

    def _start(self, run_id: str, plan: Plan) -> None:
        inputs = training_inputs(self._document, run_id)
        wait = self._trainer.waiting_for_kernels(inputs)
        job = Job(partial(_work, inputs, plan, wait), self, title=f"Tuning {self._document.run(run_id).name}")
        self._now, self._so_far = _Search(run_id, job, inputs, plan), None
        job.advanced.connect(self._on_advanced)
        job.ended.connect(partial(self._on_ended, self._now))
        job.start(self._lanes.searches)
        self.started.emit(run_id)

    def _on_advanced(self, events: list[Any]) -> None:
        assert self._now is not None
        searches = [event.so_far() for event in events if event.so_far is not None]
        if searches and searches[-1].n_over:
            self._so_far = tuning_of(self._now.inputs, self._now.plan, searches[-1])
        self.advanced.emit(self._now.run_id)

    def _on_ended(self, search: _Search, future: Future[Any]) -> None:
        release(search.job)
        if self._now is not search:
            return  # its model was deleted meanwhile
        so_far, self._now, self._so_far = self._so_far, None, None
        if future.cancelled() or isinstance(future.exception(), FitStopped):
            found = None if so_far is None else replace(so_far, search=replace(so_far.search, stopped=True))
            self._take(search.run_id, found)
        elif (error := future.exception()) is not None:
            self._take_error(search.run_id, error)
        else:
            self._take(search.run_id, future.result())
        self.ended.emit(search.run_id)

    def _take(self, run_id: str, tuning: Tuning | None) -> None:
        name = self._document.run(run_id).name
        if tuning is None or not tuning.search.n_over:
            self._document.post_message(f"{name}: stopped before any setting was done.")
            return
        self._document.attach_tuning(run_id, tuning)
        self._document.post_message(f"{name}: {how_it_ended(tuning)}")

    def _take_error(self, run_id: str, error: BaseException) -> None:
        name, (is_users, text) = self._document.run(run_id).name, told(error)
        self._document.post_message(f"{name} could not be tuned: {text}")
        if not is_users:
            details = describe(error)
            LOG.error("tuning ended by an error\n%s", details)
            self.crashed.emit(f"{name} could not be tuned", details)

    def _on_run_removed(self, run_id: str) -> None:
        if self._now is not None and self._now.run_id == run_id:
            self._now.job.supersede()
            self._now = self._so_far = None
            self.ended.emit(run_id)


def how_it_ended(tuning: Tuning) -> str:
    """Such as "10 settings tried, 1 failed; best is depth 4"."""
    search = tuning.search
    words = f"{counted(search.n_over, 'setting')} tried"
    if search.stopped:
        words = f"stopped after {counted(search.n_over, 'setting')} of {search.n_settings:,}"
    if search.errors:
        words += f", {len(search.errors):,} failed"
    if search.best is None:
        return f"{words}; none has a score"
    return f"{words}; best is {setting_words(tuning, search.best)}"


def setting_words(tuning: Tuning, setting: int) -> str:
    """Such as "depth 4, rows per leaf 5"."""
    from workbench.tuning_grids import settings_words

    return settings_words(tuning.parameters, tuning.search.settings[setting])


def _work(
    inputs: FitInputs, plan: Plan, wait: Callable[[FitMonitor], None] | None, monitor: FitMonitor
) -> Tuning:
    if wait is not None:
        wait(monitor)
    return tune_run(inputs, plan, monitor)
