"""What a document holds: signals tell what changed, properties what is; nowhere else does it change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from engine.errors import DataError
from workbench.datasets import Table
from workbench.runs import ModelSpec, RunRecord, RunResult, SplitSettings
from workbench.state import DataState
from workbench.studies import Studies


class DocumentState(QObject):
    """State of a document, what is asked of it, and the only places that write it."""

    table_changed = Signal()
    columns_changed = Signal()
    run_added = Signal(str)
    run_removed = Signal(str)
    run_changed = Signal(str)
    parameter_changed = Signal(str, str)
    current_run_changed = Signal(str)
    dirty_changed = Signal(bool)
    message_posted = Signal(str)
    studies_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.undo_stack = QUndoStack(self)
        self.undo_stack.cleanChanged.connect(self._tell_dirty)
        self.messages: list[str] = []
        self.view_state: dict[str, Any] = {}
        self._path: Path | None = None
        self._data = DataState()
        self._runs: dict[str, RunRecord] = {}
        self._current_run_id: str | None = None
        self._n_runs_made = 0
        self._validated: dict[str, RunResult] = {}  # a single tree as grown, with its cross-validation
        self._has_new_results = self._was_dirty = False
        self._studies = Studies()

    # ---- state -------------------------------------------------------------------------------

    @property
    def data(self) -> DataState:
        """The table and all that is known about it, as one value."""
        return self._data

    @property
    def table(self) -> Table | None:
        return self._data.table

    @property
    def roles(self) -> dict[str, str]:
        return dict(self._data.roles or {})

    @property
    def target(self) -> str | None:
        return self._data.target

    @property
    def features(self) -> list[str]:
        return self._data.features

    @property
    def is_classification(self) -> bool:
        """True when the target is classes; False without a target."""
        return self._data.is_classification

    @property
    def task(self) -> str:
        """ "classes" or "numbers"; classes until a target says otherwise."""
        return self._data.task

    @property
    def classes(self) -> tuple[str, ...]:
        """Labels of the target in their order, spelled as in the file; empty for a number target."""
        return self._data.classes

    @property
    def event_class(self) -> str | None:
        """The class that a two-class target is about; None for other targets."""
        return self._data.event

    @property
    def split(self) -> SplitSettings:
        return self._data.split

    @property
    def parts(self) -> NDArray[np.uint8] | None:
        """Part of each row: 0 training, 1 validation, 2 test, 255 none; None without a target."""
        return self._data.parts

    @property
    def split_notes(self) -> tuple[str, ...]:
        """What dealing the rows into parts has to say: rows left out and why, small classes."""
        return self._data.split_notes

    @property
    def runs(self) -> dict[str, RunRecord]:
        """The models by id, in the order of the list."""
        return dict(self._runs)

    @property
    def current_run_id(self) -> str | None:
        return self._current_run_id

    @property
    def current_run(self) -> RunRecord | None:
        return self._runs.get(self._current_run_id or "")

    @property
    def path(self) -> Path | None:
        """Where the project was saved last."""
        return self._path

    @property
    def is_empty(self) -> bool:
        """True when there is nothing to look at: no table, and no model from a file."""
        return self.table is None and not self._runs

    @property
    def name(self) -> str:
        """What the document is called: its file, else its table, else its first model."""
        if self._path is not None:
            return self._path.name
        if self.table is not None:
            return self.table.name
        return next((record.name for record in self._runs.values()), "")

    @property
    def studies(self) -> Studies:
        """What is looked at apart from models."""
        return self._studies

    @property
    def is_dirty(self) -> bool:
        """True when something would be lost by closing: a change, or a training not saved yet.

        With no table and no model there is nothing to lose, nor to save.
        """
        return not self.is_empty and (not self.undo_stack.isClean() or self._has_new_results)

    def parameter(self, run_id: str, name: str) -> Any:
        return self.run(run_id).spec.parameters[name]

    def run(self, run_id: str) -> RunRecord:
        """Return a model; raises DataError if there is none of this id."""
        if run_id not in self._runs:
            raise DataError(f"there is no model {run_id!r}; it was deleted")
        return self._runs[run_id]

    def would_lose_edits(self, run_id: str) -> bool:
        """True when training this model anew throws away changes made by hand."""
        result = self.run(run_id).result
        return result is not None and bool(result.edits)

    def select_run(self, run_id: str | None) -> None:
        """Look at a model; not undoable."""
        if run_id is not None:
            self.run(run_id)
        if run_id != self._current_run_id:
            self._current_run_id = run_id
            self.current_run_changed.emit(run_id or "")

    def set_view_state(self, key: str, value: Any) -> None:
        """Remember how a view stands, as JSON values; saved with the project, not undoable."""
        self.view_state[key] = value

    def post_message(self, text: str) -> None:
        """Say a sentence in the status line."""
        self.messages.append(text)
        self.message_posted.emit(text)

    def _table(self) -> Table:
        if self.table is None:
            raise DataError("no table is open; open a file or a sample first")
        return self.table

    # ---- the only places that change state ---------------------------------------------------

    def _reset(
        self,
        data: DataState,
        runs: dict[str, RunRecord],
        current: str | None,
        path: Path | None,
        view_state: Mapping[str, Any] | None = None,
        studies: Studies | None = None,
    ) -> None:
        for run_id in list(self._runs):
            self._write_run_removed(run_id)
        self.undo_stack.clear()
        self._data, self._path = data, path
        self.view_state, self._has_new_results = dict(view_state or {}), False
        self._validated = {}
        self._studies = studies or Studies()
        self._n_runs_made = max((int(run_id.removeprefix("run")) for run_id in runs), default=0)
        self.table_changed.emit()
        self.columns_changed.emit()
        for record in runs.values():
            self._runs[record.run_id] = record
            self.run_added.emit(record.run_id)
        self.select_run(current)
        self.studies_changed.emit()
        self._tell_dirty()

    def _write_data(self, new: DataState, specs: Mapping[str, ModelSpec]) -> None:
        is_other_table = new.table is not self._data.table
        self._data = new
        for run_id, spec in specs.items():  # before anybody looks: parameters go with the task
            self._runs[run_id] = replace(self._runs[run_id], spec=spec)
        if is_other_table:
            self.table_changed.emit()
        self.columns_changed.emit()
        for run_id in specs:
            self.run_changed.emit(run_id)

    def _write_run_added(self, record: RunRecord, position: int | None) -> None:
        items = list(self._runs.items())
        items.insert(len(items) if position is None else position, (record.run_id, record))
        self._runs = dict(items)
        self.run_added.emit(record.run_id)
        self.select_run(record.run_id)
        self._tell_dirty()

    def _write_run_removed(self, run_id: str) -> RunRecord:
        ids = list(self._runs)
        position = ids.index(run_id)
        record = self._runs.pop(run_id)
        self.run_removed.emit(run_id)
        if self._current_run_id == run_id:
            remaining = ids[:position] + ids[position + 1 :]
            self.select_run(remaining[min(position, len(remaining) - 1)] if remaining else None)
        self._tell_dirty()
        return record

    def _write_name(self, run_id: str, name: str) -> None:
        self._write_record(replace(self._runs[run_id], name=name))

    def _write_parameter(self, run_id: str, name: str, value: Any) -> None:
        self._write_parameters(run_id, {name: value})

    def _write_parameters(self, run_id: str, values: Mapping[str, Any]) -> None:
        record = self._runs[run_id]
        spec = replace(record.spec, parameters={**record.spec.parameters, **values})
        self._runs[run_id] = replace(record, spec=spec)
        for name in values:
            self.parameter_changed.emit(run_id, name)
        self.run_changed.emit(run_id)

    def _write_studies(self, studies: Studies) -> None:
        """Take other settings; what was found stays."""
        now = self._studies
        self._studies = replace(
            studies, found=now.found, parts=now.parts, curves=now.curves, variances=now.variances
        )
        self.studies_changed.emit()

    def _write_result(self, run_id: str, result: RunResult) -> None:
        """Put a tree changed by hand in place, or the tree as grown, then with its cross-validation."""
        before = self._runs[run_id].result
        if before is not None and before.cv is not None:
            self._validated[run_id] = before
        known = self._validated.get(run_id)
        if known is not None and not result.edits and are_of_one_tree(known, result):
            result = replace(result, cv=known.cv)
        self._write_record(replace(self._runs[run_id], result=result))

    def _write_record(self, record: RunRecord) -> None:
        self._runs[record.run_id] = record
        self.run_changed.emit(record.run_id)

    def _mark_new_results(self) -> None:
        self._has_new_results = True
        self._tell_dirty()

    def _tell_dirty(self) -> None:
        if self.is_dirty != self._was_dirty:
            self._was_dirty = self.is_dirty
            self.dirty_changed.emit(self._was_dirty)


def are_of_one_tree(one: RunResult, other: RunResult) -> bool:
    """Tell whether two results are changes of the same grown tree."""
    return one.grown_tree is not None and one.grown_tree is other.grown_tree
