"""A part of the Scores view: columns shuffled among the rows that trees did not draw, on request."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from engine.errors import DataError, FitStopped
from workbench.figures.out_of_bag import OutOfBagLook, can_look, look_out_of_bag
from workbench.fitting import what_differs
from workbench.runs import RunResult
from workbench.ui.context import Context
from workbench.ui.plots.scores import ImportancesPlot
from workbench.ui.widgets import ActionButton, Label, button, column, row

KEY, ACTION = "columns shuffled out of bag", "action.scores.shuffle"
TITLE = "More about its trees"
HELP = (
    "How much more wrong each tree is about the rows it did not draw when one column's values are shuffled "
    "among them. Unlike the share of the gain, this favours no column for having many values."
)


class OutOfBagBox(QWidget):
    """Absent where the model's trees left no rows out."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("scores.more")
        self._context = context
        self._run: tuple[str, RunResult] | None = None
        self._can_look = False
        self._known: tuple[RunResult, OutOfBagLook] | None = None
        self._asked: RunResult | None = None
        self._job: Any = None
        action = context.actions.add(
            ACTION, "Shuffle Columns Out of Bag", None, self.ask,
            tip="Measure what each column matters on the rows that trees did not draw",
        )  # fmt: skip
        self.start = ActionButton(action, "quiet")
        self.start.setObjectName("scores.shuffle")
        self.stop = button("Stop", "quiet", self._stop, "scores.shuffle_stop")
        self._progress, self.alike = Label("", "secondary"), Label("", "secondary", wrap=True)
        self._progress.setObjectName("scores.shuffle_progress")
        self.alike.setObjectName("scores.alike")
        self.plot = ImportancesPlot()
        self.plot.setObjectName("scores.shuffled")
        help_text = Label(HELP, "caption", wrap=True)
        buttons = row(self.start, self.stop, 8, self._progress, -1)
        self.setLayout(column(Label(TITLE, "name"), help_text, buttons, self.plot, self.alike, spacing=8))
        self.show_run("", None)

    def show_run(self, name: str, result: RunResult | None) -> None:
        """Follow the model of the view."""
        if self._run is None or self._run[1] is not result:
            self._can_look = can_look(result)
        self._run = None if result is None else (name, result)
        if self._asked is not None and self._asked is not result:
            self._job.supersede()
            self._asked = self._job = None
        self._refresh()

    def _refresh(self) -> None:
        result, table = None if self._run is None else self._run[1], self._context.document.table
        can = (
            result is not None and can_look(result) and table is not None and not what_differs(result, table)
        )
        self.setVisible(can)
        is_busy, is_known = self._asked is not None, self._known is not None and self._known[0] is result
        self._context.actions.enable(ACTION, can and not is_busy)
        self.start.setVisible(not is_busy)
        for widget in (self.stop, self._progress):
            widget.setVisible(is_busy)
        for widget in (self.plot, self.alike):
            widget.setVisible(is_known)
        if is_known and self._known is not None:
            if self.plot.figure is not self._known[1].importances:
                self.plot.set_figure(self._known[1].importances)
            self.alike.setText(self._known[1].alike)

    def ask(self) -> None:
        """Begin in a worker; what was found before stays in sight."""
        table = self._context.document.table
        if self._run is None or table is None or self._asked is not None:
            return
        name, result = self._run
        self._asked = result
        self._progress.setText("")
        self._job = self._context.lanes.studies.submit_latest(
            KEY,
            lambda monitor: (result, look_out_of_bag(name, result, table, monitor)),
            "Shuffling columns out of bag",
        )
        self._job.advanced.connect(self._on_advanced)
        self._job.ended.connect(self._on_ended)
        self._refresh()

    def _stop(self) -> None:
        if self._job is not None:
            self._job.request_stop()

    def _on_advanced(self, events: list) -> None:
        if self._asked is not None:
            self._progress.setText(f"tree {events[-1].iteration:,} of {events[-1].n_iterations:,}")

    def _on_ended(self, future) -> None:
        if self._job is None or future is not self._job.future:
            return  # of a model that is not looked at any more
        self._asked = self._job = None
        if not future.cancelled():
            if isinstance(future.exception(), DataError | MemoryError):
                self._context.document.post_message(f"Nothing could be shuffled: {future.exception()}")
            elif not isinstance(future.exception(), FitStopped):
                self._known = future.result()
        self._refresh()
