"""The document: the table, what its columns mean, and the models; the truth that all views mirror.

Public mutators push undo commands; commands call ``_write_*``, which alone change state and emit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack

from engine.errors import DataError, ParameterError
from workbench import commands, editing
from workbench.catalog import adapted_parameters, entry_of, start_parameters
from workbench.datasets import ROLES, Table, default_roles
from workbench.figures.words import counted
from workbench.runs import ModelSpec, RunRecord, RunResult, SplitSettings
from workbench.state import DataState, Snapshot

if TYPE_CHECKING:
    from workbench.datasets import ReadOptions
    from workbench.project.format import ProjectDescription

PROJECT_SUFFIX = ".treewright"  # a model file that was opened is not saved over
GROW_BELOW = "Grow below"
SINGLE_ROLES = ("target", "weight", "group")  # at most one column has such a role


class Document(QObject):
    """What is being worked on. Signals tell what changed; properties tell what is."""

    table_changed = Signal()
    columns_changed = Signal()
    run_added = Signal(str)
    run_removed = Signal(str)
    run_changed = Signal(str)
    parameter_changed = Signal(str, str)
    current_run_changed = Signal(str)
    dirty_changed = Signal(bool)
    message_posted = Signal(str)

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

    # ---- the table ---------------------------------------------------------------------------

    def open_table(self, table: Table) -> None:
        """Begin with a table: models, undo steps and the project's path are dropped."""
        roles = default_roles(table)
        if table.sample is not None:
            from workbench.samples import find_sample

            roles[find_sample(table.sample).target] = "target"
        self._reset(DataState(table, roles), {}, None, None)

    def reread(self, options: ReadOptions) -> None:
        """Read the table's file again, differently, and take what it gives.

        A window reads in a worker instead, and calls `take_reread` with the table.

        Raises
        ------
        DataError
            The file cannot be read so, or the table did not come from a file.
        """
        from workbench.readers import read_again

        self.take_reread(read_again(self._table(), options))

    def take_reread(self, again: Table) -> None:
        """Put another reading of the same file (`readers.read_again`) in place; columns keep their roles."""
        roles = {name: self.roles.get(name, role) for name, role in default_roles(again).items()}
        self._push_data("Read the file differently", table=again, roles=roles)

    def set_column_tokens(
        self, names: Iterable[str], tokens: tuple[str, ...] | None, made: Table | None = None
    ) -> None:
        """Let other texts mean "missing" in some columns; None: those of the whole table (C08).

        `made` is the table so changed (`Table.with_column_tokens`), where a worker has made it.
        """
        names = list(names)
        changed = made or self._table().with_column_tokens(names, tokens)
        if changed is not self.table:
            self._push_data(f"Set missing values of {_listing(names)}", table=changed)

    def set_kind(self, names: Iterable[str], kind: str, made: Table | None = None) -> None:
        """Read columns as another kind; raises DataError where the cells cannot be read so.

        `made` is the table so changed (`Table.with_kind`), where a worker has made it.
        """
        names = list(names)
        before = self._table()
        changed = made or before.with_kind(names, kind)
        if changed is not before:
            self._push_data(f"Set kind of {_listing(names)}", table=changed)
            for note in changed.notes:
                if note not in before.notes:
                    self.post_message(note)

    def set_roles(self, names: Iterable[str], role: str) -> None:
        """Give columns a role; a second target, weight or group column makes the first a feature.

        Raises
        ------
        ParameterError
            There is no such role, or several columns are to be what only one can be.
        """
        names = list(names)
        if role not in ROLES:
            raise ParameterError(f"the role is {role!r}; choose one of {', '.join(ROLES)}")
        if role in SINGLE_ROLES and len(names) > 1:
            raise ParameterError(f"{_listing(names)} cannot all be the {role}; choose one column")
        table, roles = self._table(), self.roles
        if role in SINGLE_ROLES:
            roles = {name: "feature" if old == role else old for name, old in roles.items()}
        roles.update({table.column(name).name: role for name in names})
        if roles != self.roles:
            self._push_data(f"Use {_listing(names)} as {role}", roles=roles)

    def set_target(self, name: str) -> None:
        """Predict this column."""
        if name != self.target:
            self.set_roles([name], "target")

    def set_as_classes(self, flag: bool) -> None:
        """Predict a number column's values as classes, or as numbers."""
        if flag != self.is_classification:
            self._push_data("Predict classes" if flag else "Predict numbers", as_classes=flag)

    def set_event_class(self, label: str) -> None:
        """Choose the class that a two-class target is about; raises ParameterError for another."""
        if label not in self.classes:
            raise ParameterError(f"the event is {label!r}; choose one of {', '.join(self.classes)}")
        if label != self.event_class:
            self._push_data(f"Set event to {label}", event_class=label)

    def set_split(self, split: SplitSettings) -> None:
        """Deal the rows into other parts; trained models keep the parts they were trained on."""
        if split != self.split:
            self._push_data("Change the parts", split=split)

    def _table(self) -> Table:
        if self.table is None:
            raise DataError("no table is open; open a file or a sample first")
        return self.table

    def _push_data(self, text: str, **changes: Any) -> None:
        old_notes, new = self.split_notes, replace(self._data, **changes)
        specs = self._specs_for(new) if new.task != self.task else {}
        self.undo_stack.push(commands.SetData(self, text, new, specs))
        for note in self.split_notes:
            if note not in old_notes:
                self.post_message(note)

    def _specs_for(self, data: DataState) -> dict[str, ModelSpec]:
        """Return the parameters that every model's kind has for the task of `data`."""
        assert data.table is not None
        return {
            run_id: ModelSpec(
                spec.kind, adapted_parameters(spec.kind, data.task, data.table.n_rows, spec.parameters)
            )
            for run_id, spec in ((record.run_id, record.spec) for record in self._runs.values())
        }

    # ---- models ------------------------------------------------------------------------------

    def add_run(self, kind: str) -> str:
        """Add a model with the form's start values and select it; return its id."""
        entry, table = entry_of(kind), self._table()
        spec = ModelSpec(kind, start_parameters(kind, self.task, table.n_rows))
        return self._push_run(f"Add {entry.title.lower()}", self._free_name(entry.title), spec)

    def duplicate_run(self, run_id: str) -> str:
        """Add a model with the same settings, not trained; return its id."""
        record = self.run(run_id)
        return self._push_run(f"Duplicate {record.name}", self._free_name(record.name), record.spec)

    def rename_run(self, run_id: str, name: str) -> None:
        name = name.strip()
        if not name:
            raise ParameterError("the name is empty; enter a name for the model")
        if name != self.run(run_id).name:
            self.undo_stack.push(commands.RenameRun(self, run_id, name))

    def delete_run(self, run_id: str) -> None:
        self.run(run_id)
        self.undo_stack.push(commands.DeleteRun(self, run_id))

    def set_parameter(self, run_id: str, name: str, value: Any) -> None:
        """Change one parameter; changes of the same one in a row are one undo step.

        Raises
        ------
        ParameterError
            The value is outside its range, or there is no such parameter.
        """
        record = self.run(run_id)
        parameter = entry_of(record.spec.kind).parameter(self.task, name)
        parameter.check(value)
        old = record.spec.parameters.get(name)
        if type(old) is not type(value) or old != value:
            label = parameter.label or name
            self.undo_stack.push(commands.SetParameter(self, run_id, name, value, label))

    def prune(self, run_id: str, path: Sequence[int]) -> None:
        """Make the node at `path` of a single tree a leaf; scores are computed anew.

        Raises
        ------
        DataError
            The model is not a trained single tree, or has no inner node there.
        """
        self._edit(run_id, "Prune", editing.prune, tuple(path))

    def expand(self, run_id: str, path: Sequence[int]) -> None:
        """Put back what was pruned, split, grown or sent elsewhere by hand at the node at `path`.

        Raises
        ------
        DataError
            Nothing was changed there.
        """
        self._edit(run_id, "Put back", editing.expand, tuple(path))

    def flip_missing(self, run_id: str, path: Sequence[int]) -> None:
        """Send missing values to the other side at the node at `path` of a single tree.

        Raises
        ------
        DataError
            The model is not a trained single tree, or no such choice is made there.
        """
        self._edit(run_id, "Send missing to the other side", editing.flip_missing, tuple(path))
        result = self.run(run_id).result
        assert result is not None
        self.post_message(f"{editing.missing_sentence(result, tuple(path))}; Undo takes it back.")

    def grow_below(self, run_id: str, path: Sequence[int]) -> None:
        """Grow all below the node at `path` of a single tree anew, with the settings of its training.

        Raises
        ------
        DataError
            The model is not a trained single tree, or nothing else grows there.
        """
        self._edit(run_id, GROW_BELOW, editing.grow_below, tuple(path))

    def take_edited(
        self,
        run_id: str,
        before: RunResult,
        after: RunResult,
        text: str,
        merges: commands.CommandId | None = None,
    ) -> None:
        """Put `before`, changed by hand in a worker, in place as one undo step; see `tree_editor`.

        Raises
        ------
        DataError
            The model has another result by now, is being trained or is gone.
        """
        record = self.untrained(run_id)
        if record.result is not before:
            raise DataError(f"{record.name} was changed in the meantime; make the change again")
        self._push_edit(record, text, after, merges=merges)

    def force_split(
        self, run_id: str, path: Sequence[int], feature: str, answer: float | Sequence[str] | None
    ) -> None:
        """Let the node at `path` of a single tree ask about `feature`.

        Parameters
        ----------
        answer : float, sequence of str, or None
            Threshold, the levels of the first side, or None to ask whether the value is missing.

        Raises
        ------
        DataError
            The model is not a trained single tree, or all rows would go to one side.
        ParameterError
            The answer is none to a question about this column.
        """
        self._edit(run_id, "Force a split", editing.force_split, tuple(path), feature, answer)

    def prune_to(self, run_id: str, alpha: float | None) -> None:
        """Prune a single tree to a price of a leaf (cost-complexity), None: not so any more.

        Prices in a row are one undo step, as a slider sets them.

        Raises
        ------
        DataError
            The model is not a trained single tree.
        """
        self._edit(run_id, "Prune to a price", editing.prune_to, alpha, merges=commands.CommandId.PRUNE_TO)

    def prune_by_rule(self, run_id: str, rule: str) -> None:
        """Prune a single tree by "reduced_error", "pessimistic" or "merge"; one undo step.

        Raises
        ------
        DataError
            The model is not a trained single tree, or the rule cuts nothing or cannot be used.
        """
        text = editing.RULES[rule]
        self._edit(run_id, text[0].upper() + text[1:], editing.prune_by_rule, rule)

    def _edit(
        self,
        run_id: str,
        text: str,
        edit: Callable[..., RunResult],
        *how: Any,
        merges: commands.CommandId | None = None,
    ) -> None:
        record = self.untrained(run_id)
        self._push_edit(record, text, edit(record.result, self._table(), *how), merges=merges)

    def untrained(self, run_id: str) -> RunRecord:
        """Return a model whose tree can be changed now; raises DataError while it is being trained."""
        record = self.run(run_id)
        if record.is_training:
            raise DataError(f"{record.name} is being trained; stop it before changing its tree by hand")
        return record

    def _push_edit(
        self, record: RunRecord, text: str, result: RunResult, *, merges: commands.CommandId | None = None
    ) -> None:
        self.undo_stack.push(commands.EditTree(self, text, record.run_id, result, merges))
        leaves = counted(result.trees[0].n_leaves, "leaf", "leaves")
        self.post_message(f"{record.name} was changed by hand and has {leaves} now; Undo takes it back.")

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

    def _push_run(self, text: str, name: str, spec: ModelSpec) -> str:
        self._n_runs_made += 1
        run_id = f"run{self._n_runs_made}"
        self.undo_stack.push(commands.AddRun(self, text, RunRecord(run_id, name, spec)))
        return run_id

    def _free_name(self, title: str) -> str:
        stem = title.rstrip("0123456789 ") or title
        taken = {record.name for record in self._runs.values()}
        number = 1
        while f"{stem} {number}" in taken:
            number += 1
        return f"{stem} {number}"

    # ---- training (used by the Trainer; running is not undoable) ---------------------------------

    def begin_training(self, run_id: str, state: str = "training") -> None:
        """Mark a model as queued or in training; its last result stays in sight."""
        self._write_record(replace(self.run(run_id), state=state, error=None))

    def apply_result(self, run_id: str, result: RunResult) -> None:
        """Take over what a training made."""
        state = "stopped" if result.stopped else "done"
        self._write_record(replace(self.run(run_id), state=state, result=result, error=None))
        self._mark_new_results()

    def fail_training(self, run_id: str, error: str | None) -> None:
        """Go back to before the training; with a reason, the model is marked as failed."""
        record = self.run(run_id).settled()
        self._write_record(record if error is None else replace(record, state="failed", error=error))

    def attach_cross_validation(self, run_id: str, result: RunResult, cv: Any) -> None:
        """Add the cross-validation of a training, unless the model was trained anew since.

        It tells of the tree as grown: one that is pruned meanwhile has it again when that is taken back.
        """
        record = self._runs.get(run_id)
        if record is None or record.result is None:
            return
        validated = replace(result, cv=cv)
        if record.result is result:
            self._write_record(replace(record, result=validated))
            self._mark_new_results()
        elif _are_of_one_tree(record.result, result):
            self._validated[run_id] = validated
            if not record.result.edits:
                self._write_result(run_id, record.result)

    # ---- files -------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return what a project file holds, as values that later changes leave alone."""
        return Snapshot(self._data, dict(self._runs), self._current_run_id, deepcopy(self.view_state))

    def mark_saved(self, path: Path, saved: Snapshot | None = None) -> None:
        """Take note that `saved` was written to `path`; None: the project as it stands.

        What was changed since the snapshot was taken stays a change that is not saved.
        """
        is_renamed, was_dirty = path != self._path, self._was_dirty
        self._path = path
        if saved is None or saved.holds_work_of(self.snapshot()):
            self._has_new_results = False
            self.undo_stack.setClean()
        else:
            self.undo_stack.resetClean()  # no step of the stack is what the file holds
        self._tell_dirty()
        if is_renamed and was_dirty == self._was_dirty:
            self.dirty_changed.emit(was_dirty)  # titles hold the file's name beside the mark

    def restore(self, description: ProjectDescription) -> None:
        """Become the project that a file describes; the undo stack begins anew."""
        self._reset(
            description.data,
            {record.run_id: record for record in description.runs},
            description.current_run_id,
            description.path if description.path.suffix == PROJECT_SUFFIX else None,
            description.view_state,
        )
        for note in description.notes:
            self.post_message(note)

    # ---- the only places that change state ---------------------------------------------------

    def _reset(
        self,
        data: DataState,
        runs: dict[str, RunRecord],
        current: str | None,
        path: Path | None,
        view_state: Mapping[str, Any] | None = None,
    ) -> None:
        for run_id in list(self._runs):
            self._write_run_removed(run_id)
        self.undo_stack.clear()
        self._data, self._path = data, path
        self.view_state, self._has_new_results = dict(view_state or {}), False
        self._validated = {}
        self._n_runs_made = max((int(run_id.removeprefix("run")) for run_id in runs), default=0)
        self.table_changed.emit()
        self.columns_changed.emit()
        for record in runs.values():
            self._runs[record.run_id] = record
            self.run_added.emit(record.run_id)
        self.select_run(current)
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
        record = self._runs[run_id]
        self._runs[run_id] = replace(record, spec=record.spec.with_parameter(name, value))
        self.parameter_changed.emit(run_id, name)
        self.run_changed.emit(run_id)

    def _write_result(self, run_id: str, result: RunResult) -> None:
        """Put a tree changed by hand in place, or the tree as grown, then with its cross-validation."""
        before = self._runs[run_id].result
        if before is not None and before.cv is not None:
            self._validated[run_id] = before
        known = self._validated.get(run_id)
        if known is not None and not result.edits and _are_of_one_tree(known, result):
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


def _are_of_one_tree(one: RunResult, other: RunResult) -> bool:
    return one.grown_tree is not None and one.grown_tree is other.grown_tree


def _listing(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} columns"
