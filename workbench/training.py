"""The trainer: starts fits and the cross-validation after them, and brings results into the document."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, SignalInstance

from engine.errors import FitStopped, ParameterError
from engine.monitor import FitMonitor
from workbench import crossvalidation
from workbench.catalog import CATALOG, check_parameter_values, entry_of
from workbench.fitting import (
    FitInputs,
    SoFar,
    inputs_of_result,
    what_differs,
)
from workbench.jobs import Job, Lanes
from workbench.log import LOG, describe
from workbench.readiness import check_ready
from workbench.rounds import can_go_on, why_none_added
from workbench.runs import RunResult
from workbench.training_words import (
    constant_warning,
    edits_sentence,
    how_it_ended,
    notes_sentence,
    told,
)
from workbench.training_work import MoreRounds, do_training, training_inputs
from workbench.turns import Turns

if TYPE_CHECKING:
    from workbench.document import Document
    from workbench.warmup import WarmUp

CHANGE_AGAIN = "Make changes again"


class Trainer(QObject):
    """Trains models of a document, one at a time, in the fit lane.

    After a training of a small table its cross-validation follows in the same lane (D31); another
    training goes first, the cross-validation then begins anew.
    """

    started = Signal(str)
    advanced = Signal(str, list)
    ended = Signal(str)
    cross_validation_started = Signal(str)
    cross_validation_advanced = Signal(str, list)
    cross_validation_ended = Signal(str)
    crashed = Signal(str, str)  # title, details: an error that is ours, not the user's

    def __init__(
        self,
        document: Document,
        lanes: Lanes,
        parent: QObject | None = None,
        *,
        warm_up: WarmUp | None = None,
    ) -> None:
        super().__init__(parent)
        self._document, self._lanes, self._warm_up = document, lanes, warm_up
        self._jobs: dict[str, Job] = {}  # of models, queued ones too, in the order of their start
        self._so_far: dict[str, SoFar] = {}
        self._cv: tuple[str, Job] | None = None
        self._cv_waiting: dict[str, tuple[RunResult, FitInputs]] = {}
        self.cross_validates = True
        self._turns, self._is_handing_over = Turns(self), False
        document.run_removed.connect(self._on_run_removed)

    @property
    def current_job(self) -> Job | None:
        """The training that runs or is next; None when there is none."""
        return next(iter(self._jobs.values()), None)

    @property
    def current_run_id(self) -> str | None:
        """Model of `current_job`."""
        return next(iter(self._jobs), None)

    @property
    def work_signals(self) -> tuple[SignalInstance, ...]:
        """Every signal that tells of work begun, gone on or ended."""
        return (
            self.started,
            self.advanced,
            self.ended,
            self.cross_validation_started,
            self.cross_validation_advanced,
            self.cross_validation_ended,
        )

    @property
    def cross_validation_job(self) -> Job | None:
        return None if self._cv is None else self._cv[1]

    def train(self, run_id: str, *, keeps_edits: bool = False) -> bool:
        """Train a model with the document as it stands now; later changes do not reach the training.

        Returns False, and posts the reason as a message, if that is not possible. A model with
        changes made by hand loses them: ask first (`Document.would_lose_edits`). With `keeps_edits` those
        that still hold are made again on the new tree, as one undo step.
        """
        document, record = self._document, self._document.run(run_id)
        if run_id in self._jobs:
            document.post_message(f"{record.name} is being trained already.")
            return False
        problems = check_ready(document)
        why = entry_of(record.spec.kind).why_not(document.task)
        if not problems and why:
            problems = [f"{record.name} cannot be trained: {why}."]
        if not problems:
            try:
                check_parameter_values(record.spec.kind, document.task, record.spec.parameters)
            except ParameterError as error:
                problems = [f"{record.name} cannot be trained: {error}"]
        if problems:
            document.post_message(" ".join(problems))
            return False
        edits = record.result.edits if keeps_edits and record.result is not None else ()
        self._start(run_id, training_inputs(document, run_id), edits)
        return True

    def add_rounds(self, run_id: str, n_more: int) -> bool:
        """Go on with a model's training for more rounds or trees; the result is one undo step.

        Returns False, and posts the reason as a message, if that is not possible.
        """
        document, record, table = self._document, self._document.run(run_id), self._document.table
        problem = ""
        if run_id in self._jobs:
            problem = f"{record.name} is being trained already."
        elif table is None or record.result is None or not can_go_on(record.result):
            problem = f"{record.name} cannot go on with its training; train it anew with more rounds."
        elif difference := what_differs(record.result, table):
            problem = f"{record.name} cannot go on: {difference}; undo that, or train it again."
        if problem or table is None or record.result is None:
            document.post_message(problem)
            return False
        before = record.result
        self._start(run_id, inputs_of_result(before, table), (), MoreRounds(before, n_more))
        return True

    def trains(self, run_id: str | None) -> bool:
        """Tell whether a model is in training or waits for it, until the views have its result."""
        return run_id in self._jobs

    def so_far(self, run_id: str | None) -> SoFar | None:
        """What a model in training is by now; None where its kind cannot tell, or nothing is there yet."""
        return None if run_id is None else self._so_far.get(run_id)

    def stop(self, run_id: str | None = None) -> None:
        """Stop a model's training (None: the one that runs), or else the cross-validation."""
        job = self.current_job if run_id is None else self._jobs.get(run_id)
        if job is not None:
            job.request_stop()
        elif self._cv is not None and run_id in (None, self._cv[0]):
            self.stop_cross_validation()

    def stop_cross_validation(self) -> None:
        """Stop the cross-validation under way and forget those waiting."""
        self._cv_waiting.clear()
        if self._cv is not None:
            self._cv[1].request_stop()

    def _start(
        self, run_id: str, inputs: FitInputs, edits: tuple[Any, ...], more: MoreRounds | None = None
    ) -> None:
        entry, document = CATALOG[inputs.spec.kind], self._document
        self._cv_waiting.pop(run_id, None)
        self._put_off_cross_validation()
        wait = self.waiting_for_kernels(inputs)
        title = f"Training {document.run(run_id).name}"
        job = Job(
            partial(do_training, inputs, wait, edits, more), self, title=title, step_name=entry.step_name
        )
        self._jobs[run_id] = job
        job.advanced.connect(lambda events: self._on_advanced(run_id, job, inputs, events))
        job.ended.connect(lambda future: self._on_ended(run_id, job, inputs, edits, more, future))
        is_first = len(self._jobs) == 1
        document.begin_training(run_id, "training" if is_first else "queued")
        job.start(self._lanes.fit)
        if is_first:
            self.started.emit(run_id)

    def waiting_for_kernels(self, inputs: FitInputs) -> Callable[[FitMonitor], None] | None:
        """Return what a worker calls before it trains: waits until all that this needs is compiled."""
        return self.waiting_for(inputs.spec.kind, inputs.table.n_rows)

    def waiting_for(self, kind: str, n_rows: int) -> Callable[[FitMonitor], None] | None:
        """As `waiting_for_kernels`, of a kind of model and so many rows."""
        step = CATALOG[kind].warm_up_of(n_rows)
        if self._warm_up is None or not step:
            return None
        return partial(self._warm_up.wait_until_warm, step)

    def _on_advanced(self, run_id: str, job: Job, inputs: FitInputs, events: list[Any]) -> None:
        if self._jobs.get(run_id) is job:
            told = [event.so_far for event in events if event.so_far is not None and event.iteration > 0]
            known = self._so_far.get(run_id)
            if told and (known is None or known.make is not told[-1]):
                self._so_far[run_id] = SoFar(inputs, told[-1])
            if self._document.run(run_id).state == "queued":
                self._document.begin_training(run_id)
                self.started.emit(run_id)
            self.advanced.emit(run_id, events)

    def _on_ended(
        self,
        run_id: str,
        job: Job,
        inputs: FitInputs,
        edits: tuple[Any, ...],
        more: MoreRounds | None,
        future: Future[Any],
    ) -> None:
        release(job)
        if self._jobs.get(run_id) is not job:
            self._start_cross_validation()  # the model was deleted meanwhile
            return
        self._so_far.pop(run_id, None)
        name = self._document.run(run_id).name
        if future.cancelled() or isinstance(future.exception(), FitStopped):
            self._document.fail_training(run_id, None)
            self._document.post_message(f"{name}: stopped before there was anything to keep.")
        elif (error := future.exception()) is not None:
            self._take_error(run_id, name, error)
        else:
            self._take_result(run_id, name, inputs, edits, more, *future.result())
            self._turns.add(partial(self._tell_end, run_id, job))
            return
        self._tell_end(run_id, job)

    def _tell_end(self, run_id: str, job: Job) -> None:
        if self._jobs.get(run_id) is job:  # else its model was deleted and the end told; it may train anew
            del self._jobs[run_id]
            self.ended.emit(run_id)
        self._start_cross_validation()

    def in_turn(self, refresh: Callable[[], object]) -> None:
        """Refresh a view: at once, or while a result is handed over in a turn of its own.

        All views at once would stop the window for longer than a person does not notice. `ended` follows
        when all have had their turn.
        """
        if self._is_handing_over:
            self._turns.add(refresh)
        else:
            refresh()

    def drop_turns(self) -> None:
        """Let views do nothing more of what waits for its turn: the program is quitting."""
        self._turns.clear()

    def hand_over(self, write: Callable[[], object]) -> None:
        """Write to the document what a worker made; views take it one a turn."""
        self._is_handing_over = True
        try:
            write()
        finally:
            self._is_handing_over = False

    def _take_error(self, run_id: str, name: str, error: BaseException) -> None:
        is_users, text = told(error)
        self._document.fail_training(run_id, text)
        self._document.post_message(f"{name} could not be trained: {text}")
        if not is_users:
            self._report("training", f"{name} could not be trained", error)

    def _take_result(
        self,
        run_id: str,
        name: str,
        inputs: FitInputs,
        edits: tuple[Any, ...],
        more: MoreRounds | None,
        result: RunResult,
        changed: RunResult,
    ) -> None:
        self.hand_over(partial(self._write_result, run_id, result, changed, more))
        if more is not None and (why := why_none_added(more.before, result)):
            self._document.post_message(f"{name}: {why}")
            return
        how = how_it_ended(result)
        remarks = constant_warning(result) + notes_sentence(result) + edits_sentence(edits, changed)
        self._document.post_message(f"{name}: {how}, {result.seconds:.1f} s.{remarks}")
        is_whole = bool(result.scores) and not result.stopped
        if self.cross_validates and is_whole and crossvalidation.is_wanted(inputs):
            self._cv_waiting[run_id] = (result, inputs)

    def _write_result(
        self, run_id: str, result: RunResult, changed: RunResult, more: MoreRounds | None
    ) -> None:
        """Put the tree as grown in place, then the changes by hand that were made again."""
        if more is not None:
            self._document.take_more_rounds(run_id, more.before, result)
            return
        self._document.apply_result(run_id, result)
        if changed is not result:
            self._document.take_edited(run_id, result, changed, CHANGE_AGAIN)

    def _start_cross_validation(self) -> None:
        if self._jobs or self._cv is not None or not self._cv_waiting:
            return
        run_id = next(iter(self._cv_waiting))
        result, inputs = self._cv_waiting[run_id]
        title = f"Cross-validating {self._document.run(run_id).name}"
        job = Job(
            partial(crossvalidation.cross_validate, inputs),
            self,
            title=title,
            step_name="fold",
        )
        self._cv = (run_id, job)
        job.advanced.connect(lambda events: self.cross_validation_advanced.emit(run_id, events))
        job.ended.connect(lambda future: self._on_cross_validation_ended(run_id, result, job, future))
        job.start(self._lanes.fit)
        self.cross_validation_started.emit(run_id)

    def _on_cross_validation_ended(
        self, run_id: str, result: RunResult, job: Job, future: Future[Any]
    ) -> None:
        self._cv = None
        release(job)
        was_put_off = future.cancelled()
        if not was_put_off:
            self._cv_waiting.pop(run_id, None)
            if (error := future.exception()) is None:
                self._document.attach_cross_validation(run_id, result, future.result())
            elif not isinstance(error, FitStopped):
                self._take_fold_error(run_id, error)
        self.cross_validation_ended.emit(run_id)
        self._start_cross_validation()

    def _take_fold_error(self, run_id: str, error: BaseException) -> None:
        """Say that there is no cross-validation, why, and what to do."""
        record = self._document.runs.get(run_id)
        if record is None:
            return  # it was deleted meanwhile
        name, (is_users, text) = record.name, told(error)
        self._document.post_message(
            f"{name} was not cross-validated: {text.rstrip('.')}. Its other scores stand; to have this one "
            "too, train it again with more rows or other settings."
        )
        if not is_users:
            self._report("cross-validation", f"{name} could not be cross-validated", error)

    def _report(self, what: str, title: str, error: BaseException) -> None:
        """Log an error that is ours, and tell it with its details."""
        details = describe(error)
        LOG.error("%s ended by an error\n%s", what, details)
        self.crashed.emit(title, details)

    def _put_off_cross_validation(self) -> None:
        if self._cv is not None:
            self._cv[1].supersede()  # it stays among those waiting

    def _on_run_removed(self, run_id: str) -> None:
        self._cv_waiting.pop(run_id, None)
        if self._cv is not None and self._cv[0] == run_id:
            self._cv[1].supersede()
        self._so_far.pop(run_id, None)
        job = self._jobs.pop(run_id, None)
        if job is not None:
            job.supersede()
            self.ended.emit(run_id)


def release(job: Job) -> None:
    """Let go of all that a job holds. The small object itself stays the trainer's until that ends.

    Not `deleteLater`: a trainer that is destroyed with such an event still in the queue takes the
    process down, and without a parent a worker thread might drop the last reference.
    """
    job.advanced.disconnect()
    job.ended.disconnect()
    job.release()
