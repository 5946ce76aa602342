"""The command that averages the models selected in the list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from PySide6.QtCore import QObject

from engine.errors import DataError
from workbench.averages import average_runs, average_spec, why_no_average
from workbench.runs import RunRecord, RunResult
from workbench.ui.context import Context

AVERAGE_KEY = "average of models"
ACTION = "action.model.average"


class AverageCommand(QObject):
    """Adds its action to the window's set when it is made.

    Parameters
    ----------
    selected : callable
        Returns the ids of the models that are selected.
    """

    def __init__(self, context: Context, selected: Callable[[], Sequence[str]], parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._selected = context, selected
        tip = "Make a model of the mean of the selected models' answers, as they are"
        context.actions.add(ACTION, "Average Models", None, self.average, "averaging", tip=tip)

    def refresh(self, *_: object) -> None:
        """Switch the action on where the selected models can be averaged; else its tip says why not."""
        why = why_no_average(self._records(), self._context.document.table)
        self._context.actions.enable(ACTION, not why, why)

    def _records(self) -> list[RunRecord]:
        runs = self._context.document.runs
        return [runs[run_id] for run_id in self._selected() if run_id in runs]

    def average(self) -> None:
        """Average the selected models in the background; the new model is one undo step."""
        records, table = self._records(), self._context.document.table
        if table is None:
            return
        if why := why_no_average(records, table):
            self._context.document.post_message(why)
            return
        job = self._context.lanes.studies.submit_latest(
            AVERAGE_KEY, lambda monitor: (records, average_runs(records, table, monitor)), "Averaging models"
        )
        job.ended.connect(self._on_ended)

    def _on_ended(self, future: Future[tuple[list[RunRecord], RunResult]]) -> None:
        if future.cancelled():
            return
        document, error = self._context.document, future.exception()
        if isinstance(error, DataError):
            document.post_message(f"The models were not averaged: {error}")
            return
        records, result = future.result()
        if document.table is None or why_no_average(records, document.table):
            return  # the table has changed meanwhile
        task = "classes" if result.classes else "numbers"
        spec = average_spec(records, task, document.table.n_rows)
        document.add_trained("Average models", "Averaging", spec, result)
        document.post_message("Averaged " + ", ".join(record.name for record in records))
