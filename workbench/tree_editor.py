"""The tree editor: changes a single tree by hand in a worker, in the order in which they were asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from engine.errors import DataError, ParameterError
from engine.monitor import NULL_MONITOR, FitMonitor
from workbench import editing, rounds, steps
from workbench.commands import CommandId
from workbench.jobs import Job, Lanes
from workbench.runs import RunResult
from workbench.tree_edits import GROW_BELOW, KEEP_ROUNDS

if TYPE_CHECKING:
    from engine.tree.structure import Path
    from workbench.datasets import Table
    from workbench.document import Document
    from workbench.training import Trainer

SMALL_CELLS = 20_000  # of a table: changed and scored at once, in less than a person notices
PATIENCE_MS = 100  # what takes no longer is not told

REFUSALS = (DataError, ParameterError)

Then = Callable[[Exception | None], object]
"""Told of a change: None once it is made, or why it was refused."""


@dataclass(frozen=True, eq=False)
class Request:
    """One change that was asked for.

    Attributes
    ----------
    title : str
        What is being done, for the status line.
    text : str
        What the undo step is called.
    work : callable
        ``work(result, table, monitor)`` returns the changed result.
    n_steps : int
        Of a step through the splits: how many more, negative for fewer.
    merges : CommandId or None
        With its like in a row it is one undo step.
    tell : callable or None
        Returns what is said of the changed result.
    then : callable or None
        See `Then`; without it a refusal is posted as a message.
    is_long : bool
        A worker does it even where the table is small.
    """

    run_id: str
    title: str
    text: str
    work: Callable[[RunResult, Table, FitMonitor], RunResult]
    n_steps: int = 0
    merges: CommandId | None = None
    tell: Callable[[RunResult], str] | None = None
    then: Then | None = None
    is_long: bool = False


def is_small(result: RunResult, table: Table) -> bool:
    """Tell whether a tree of this table is changed and scored in less than a person notices."""
    return table.n_rows * len(result.features) <= SMALL_CELLS


class TreeEditor(QObject):
    """Queues changes of single trees; each begins with what the one before left, and is an undo step.

    Small tables are changed at once. A step through the splits that waits takes in those that follow it, so
    that a key held down does not fall behind.
    """

    changed = Signal()  # what is under way is another, or nothing
    telling_changed = Signal()  # it takes long enough to be told of, or is over

    def __init__(
        self, document: Document, lanes: Lanes, trainer: Trainer, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._document, self._lanes, self._trainer = document, lanes, trainer
        self._waiting: deque[Request] = deque()
        self._now: tuple[Request, RunResult, Job] | None = None
        self._patience = QTimer(self, singleShot=True, interval=PATIENCE_MS)
        self._patience.timeout.connect(self._begin_telling)
        self.is_telling = False
        document.run_removed.connect(self._on_run_removed)
        document.table_changed.connect(self._drop_all)

    @property
    def is_busy(self) -> bool:
        """A change is under way."""
        return self._now is not None

    @property
    def title(self) -> str:
        """What is being done now; empty when nothing is."""
        if self._now is None:
            return ""
        more = f", {len(self._waiting)} more to do" if self._waiting else ""
        return f"{self._now[0].title}{more}"

    # ---- what can be asked for -------------------------------------------------------------------

    def prune(self, run_id: str, path: Path) -> None:
        """Make the node a leaf."""
        self._ask(Request(run_id, "Pruning", "Prune", _on(editing.prune, path)))

    def restore(self, run_id: str, path: Path) -> None:
        """Put back what was changed by hand at the node."""
        self._ask(Request(run_id, "Putting back", "Put back", _on(editing.expand, path)))

    def flip_missing(self, run_id: str, path: Path) -> None:
        """Send missing values to the other side at the node."""
        self._ask(
            Request(
                run_id, "Sending missing values to the other side", "Send missing to the other side",
                _on(editing.flip_missing, path),
                tell=lambda result: f"{editing.missing_sentence(result, path)}; Undo takes it back.",
            )
        )  # fmt: skip

    def grow_below(self, run_id: str, path: Path) -> None:
        """Grow all below the node anew."""
        work = _on(editing.grow_below, path)
        self._ask(Request(run_id, "Growing below a node", GROW_BELOW, work, is_long=True))

    def force_split(
        self, run_id: str, path: Path, feature: str, answer: float | Sequence[str] | None,
        then: Then | None = None, missing_child: int | None = None,
    ) -> None:  # fmt: skip
        """Let the node ask about `feature`; `answer` and `missing_child` as in `editing.force_split`."""
        work = _on(editing.force_split, path, feature, answer, missing_child)
        self._ask(Request(run_id, "Splitting", "Force a split", work, then=then))

    def prune_by_rule(self, run_id: str, rule: str) -> None:
        """Prune by one of `editing.RULES`."""
        text = editing.RULES[rule]
        work = _on(editing.prune_by_rule, rule)
        self._ask(Request(run_id, "Pruning", text[0].upper() + text[1:], work))

    def step_splits(self, run_id: str, n_more: int) -> None:
        """Add splits in best-first order, or take the last ones back; steps in a row are one undo step."""
        last = self._waiting[-1] if self._waiting else None
        if last is not None and last.run_id == run_id and last.n_steps:
            self._waiting.pop()
            n_more += last.n_steps
        if n_more:
            title = "Growing splits" if n_more > 0 else "Taking splits back"
            work = _on(steps.step_splits, n_more)
            text, merges = "Grow or take back splits", CommandId.STEP_SPLITS
            self._ask(Request(run_id, title, text, work, n_steps=n_more, merges=merges))
        else:
            self.changed.emit()

    def keep_rounds(self, run_id: str, n_rounds: int) -> None:
        """Keep the first rounds or trees of an ensemble alone."""
        work = _on(rounds.keep_rounds, n_rounds)
        self._ask(Request(run_id, "Scoring the first rounds", KEEP_ROUNDS, work))

    def stop(self) -> None:
        """Stop what is under way and forget what waits; the tree stays as it is."""
        if self._now is not None:
            title = self._now[0].title
            self._drop_all()
            self._document.post_message(f"{title} was stopped; the tree is as it was.")

    def take_back_last(self) -> None:
        """Forget the change that was asked for last and is not made yet: what Undo means meanwhile."""
        if self._waiting:
            request = self._waiting.pop()
            self._refuse(request, DataError(f"{request.title} was taken back before it began"))
            self.changed.emit()
        else:
            self.stop()

    # ---- one after another -----------------------------------------------------------------------

    def _ask(self, request: Request) -> None:
        self._waiting.append(request)
        if self._now is None:
            self._start_next()
        else:
            self.changed.emit()

    def _start_next(self) -> None:
        while self._waiting and self._now is None:
            self._start(self._waiting.popleft())
        self.changed.emit()
        if self._now is None:
            self._end_telling()

    def _start(self, request: Request) -> None:
        table, document = self._document.table, self._document
        try:
            before = document.untrained(request.run_id).result
            if before is None or table is None:
                raise DataError(
                    "this model is not trained yet, or no table is open; there is no tree to change"
                )
        except DataError as error:
            self._refuse(request, error)
            return
        if not request.is_long and is_small(before, table):
            try:
                result = request.work(before, table, NULL_MONITOR)
            except REFUSALS as error:
                self._refuse(request, error)
            else:
                self._take(request, before, result)
            return
        job = Job(partial(request.work, before, table), title=request.title)
        self._now = (request, before, job)
        if not self.is_telling:
            self._patience.start()
        job.ended.connect(partial(self._on_ended, job))
        job.start(self._lanes.edits)

    def _on_ended(self, job: Job, future: Future[Any]) -> None:
        job.ended.disconnect()  # it holds the job, which holds this
        job.release()
        if self._now is None or self._now[2] is not job:
            return  # stopped
        (request, before, _job), self._now = self._now, None
        error = future.exception()
        try:
            if isinstance(error, REFUSALS):  # not raised again: it would hold all that is on the stack
                self._refuse(request, error)
            else:
                self._trainer.hand_over(partial(self._take, request, before, future.result()))
        finally:
            self._start_next()

    def _take(self, request: Request, before: RunResult, result: RunResult) -> None:
        try:
            self._document.take_edited(request.run_id, before, result, request.text, request.merges)
        except DataError as error:
            self._refuse(request, error)
            return
        if request.tell is not None:
            self._document.post_message(request.tell(result))
        if request.then is not None:
            request.then(None)

    def _refuse(self, request: Request, error: Exception) -> None:
        if request.then is not None:
            request.then(error)
        else:
            self._document.post_message(str(error))

    # ---- ending ----------------------------------------------------------------------------------

    def _drop_all(self) -> None:
        dropped, self._waiting = list(self._waiting), deque()
        if self._now is not None:
            request, _before, job = self._now
            self._now = None
            job.supersede()
            dropped.insert(0, request)
        for request in dropped:
            if request.then is not None:
                request.then(DataError("this was stopped; the tree is as it was"))
        if dropped:
            self._end_telling()
            self.changed.emit()

    def _on_run_removed(self, run_id: str) -> None:
        self._waiting = deque(request for request in self._waiting if request.run_id != run_id)
        if self._now is not None and self._now[0].run_id == run_id:
            (_request, _before, job), self._now = self._now, None
            job.supersede()
            self._start_next()

    def _begin_telling(self) -> None:
        self.is_telling = True
        self.telling_changed.emit()

    def _end_telling(self) -> None:
        self._patience.stop()
        if self.is_telling:
            self.is_telling = False
            self.telling_changed.emit()


def _on(edit: Callable[..., RunResult], *how: Any) -> Callable[[RunResult, Any, FitMonitor], RunResult]:
    return lambda result, table, monitor: edit(result, table, *how, monitor=monitor)
