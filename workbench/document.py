"""The document: the table, what its columns mean, and the models; the truth that all views mirror.

Public mutators push undo commands; commands call ``_write_*`` of `document_state`, which alone change state
and emit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import ParameterError
from workbench import commands
from workbench.catalog import adapted_parameters, check_parameter_values, entry_of, start_parameters
from workbench.datasets import ROLES, Table, default_roles
from workbench.document_state import are_of_one_tree
from workbench.runs import ModelSpec, RunRecord, RunResult, SplitSettings
from workbench.state import DataState, Snapshot
from workbench.tree_edits import TreeEdits

if TYPE_CHECKING:
    from workbench.datasets import ReadOptions
    from workbench.project.format import ProjectDescription
    from workbench.tuning import Tuning

PROJECT_SUFFIX = ".treewright"  # a model file that was opened is not saved over
SINGLE_ROLES = ("target", "weight", "group")  # at most one column has such a role


class Document(TreeEdits):
    """What is being worked on. Signals tell what changed; properties tell what is."""

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

    def set_parameters(self, run_id: str, values: Mapping[str, Any], text: str) -> bool:
        """Change several parameters in one undo step called `text`; False where all are so already.

        Raises
        ------
        ParameterError
            A value is outside its range, or there is no such parameter; then none is changed.
        """
        spec = self.run(run_id).spec
        check_parameter_values(spec.kind, self.task, values)
        known = spec.parameters
        changed = {
            name: value
            for name, value in values.items()
            if type(known.get(name)) is not type(value) or known[name] != value
        }
        if changed:
            self.undo_stack.push(commands.SetParameters(self, text, run_id, changed))
        return bool(changed)

    def add_trained(self, text: str, title: str, spec: ModelSpec, result: RunResult) -> str:
        """Add a model that was made of trained ones, in one undo step called `text`; return its id."""
        return self._push_run(text, self._free_name(title), spec, result)

    def _push_run(self, text: str, name: str, spec: ModelSpec, result: RunResult | None = None) -> str:
        self._n_runs_made += 1
        run_id = f"run{self._n_runs_made}"
        record = RunRecord(run_id, name, spec)
        if result is not None:
            record = replace(record, state="done", result=replace(result, spec=spec))
        self.undo_stack.push(commands.AddRun(self, text, record))
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
        elif are_of_one_tree(record.result, result):
            self._validated[run_id] = validated
            if not record.result.edits:
                self._write_result(run_id, record.result)

    def attach_tuning(self, run_id: str, tuning: Tuning) -> None:
        """Keep a search for good settings with its model, in place of the one before."""
        self._write_record(replace(self.run(run_id), tuning=tuning))
        self._mark_new_results()

    # ---- studies -----------------------------------------------------------------------------

    def set_studies(self, text: str, **changes: Any) -> None:
        """Change what studies look at, in one undo step called `text`; nothing where it is so already."""
        new = replace(self.studies, **changes)
        if new != self.studies:
            self.undo_stack.push(commands.SetStudies(self, text, new))

    def attach_found(self, **found: Any) -> None:
        """Keep what a study found under its name in `Studies`, in place of what was known before."""
        self._studies = replace(self._studies, **found)
        self.studies_changed.emit()
        self._mark_new_results()

    # ---- files -------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return what a project file holds, as values that later changes leave alone."""
        return Snapshot(
            self._data, dict(self._runs), self._current_run_id, deepcopy(self.view_state), self.studies
        )

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
            description.studies,
        )
        for note in description.notes:
            self.post_message(note)


def _listing(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} columns"
