"""Undo commands: small, against the document, which alone changes state and tells about it."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QUndoCommand

from workbench.figures.words import counted

if TYPE_CHECKING:
    from workbench.document_state import DocumentState
    from workbench.runs import ModelSpec, RunRecord, RunResult
    from workbench.state import DataState
    from workbench.studies import Studies


class CommandId(IntEnum):
    """Commands that merge with their like."""

    SET_PARAMETER = 1
    PRUNE_TO = 2
    STEP_SPLITS = 3


class DocumentCommand(QUndoCommand):
    """A step that knows its document without keeping it alive.

    With a strong reference document, stack and steps were one cycle: Python's collector then freed steps that
    the stack was still to delete, and the process died.
    """

    def __init__(self, document: DocumentState, text: str) -> None:
        super().__init__(text)
        self._document = weakref.ref(document)

    @property
    def document(self) -> DocumentState:
        document = self._document()
        assert document is not None  # its stack, which owns this step, lives no longer than it
        return document


class SetData(DocumentCommand):
    """Change kinds, roles, target, split or the reading of the table, and with the task all parameters."""

    def __init__(
        self, document: DocumentState, text: str, new: DataState, specs: Mapping[str, ModelSpec] | None = None
    ) -> None:
        super().__init__(document, text)
        self.old, self.new = document.data, new
        self.new_specs = dict(specs or {})
        self.old_specs = {run_id: document.run(run_id).spec for run_id in self.new_specs}

    def redo(self) -> None:
        self.document._write_data(self.new, self.new_specs)

    def undo(self) -> None:
        self.document._write_data(self.old, self.old_specs)


class AddRun(DocumentCommand):
    """Put a model into the list; undone and redone with whatever training made of it."""

    def __init__(self, document: DocumentState, text: str, record: RunRecord) -> None:
        super().__init__(document, text)
        self.record = record
        self._was_undone = False

    def redo(self) -> None:
        self.document._write_run_added(self.record, None)
        if self._was_undone:
            self.document.post_message(f"{self.record.name} is back.")

    def undo(self) -> None:
        self.record = self.document._write_run_removed(self.record.run_id).settled()
        self._was_undone = True
        self.document.post_message(f"{self.record.name} is gone; Redo brings it back.")


class DeleteRun(DocumentCommand):
    """Take a model out of the list."""

    def __init__(self, document: DocumentState, run_id: str) -> None:
        super().__init__(document, f"Delete {document.runs[run_id].name}")
        self.run_id = run_id
        self.position = list(document.runs).index(run_id)
        self.record: RunRecord | None = None

    def redo(self) -> None:
        self.record = self.document._write_run_removed(self.run_id).settled()
        self.document.post_message(f"{self.record.name} is gone; Undo brings it back.")

    def undo(self) -> None:
        assert self.record is not None
        self.document._write_run_added(self.record, self.position)
        self.document.post_message(f"{self.record.name} is back.")


class RenameRun(DocumentCommand):
    """Give a model another name."""

    def __init__(self, document: DocumentState, run_id: str, name: str) -> None:
        super().__init__(document, f"Rename to {name}")
        self.run_id, self.new = run_id, name
        self.old = document.runs[run_id].name

    def redo(self) -> None:
        self.document._write_name(self.run_id, self.new)

    def undo(self) -> None:
        self.document._write_name(self.run_id, self.old)


class SetStudies(DocumentCommand):
    """Change what a study looks at, and how."""

    def __init__(self, document: DocumentState, text: str, new: Studies) -> None:
        super().__init__(document, text)
        self.old, self.new = document.studies, new

    def redo(self) -> None:
        self.document._write_studies(self.new)

    def undo(self) -> None:
        self.document._write_studies(self.old)


class SetParameter(DocumentCommand):
    """Change one hyperparameter; a drag on its field becomes one undo step."""

    def __init__(self, document: DocumentState, run_id: str, name: str, value: Any, label: str) -> None:
        super().__init__(document, f"Set {label.lower()}")
        self.key, self.new = (run_id, name), value
        self.old = document.parameter(run_id, name)

    def redo(self) -> None:
        self.document._write_parameter(*self.key, self.new)

    def undo(self) -> None:
        self.document._write_parameter(*self.key, self.old)

    def id(self) -> int:
        return CommandId.SET_PARAMETER

    def mergeWith(self, later: QUndoCommand) -> bool:
        if not isinstance(later, SetParameter) or later.key != self.key:
            return False
        self.new = later.new
        # dragged back: nothing left to undo
        self.setObsolete(type(self.new) is type(self.old) and self.new == self.old)
        return True


class SetParameters(DocumentCommand):
    """Change several hyperparameters at once."""

    def __init__(self, document: DocumentState, text: str, run_id: str, values: Mapping[str, Any]) -> None:
        super().__init__(document, text)
        self.run_id, self.new = run_id, dict(values)
        known = document.runs[run_id].spec.parameters
        self.old = {name: known[name] for name in self.new}

    def redo(self) -> None:
        self.document._write_parameters(self.run_id, self.new)

    def undo(self) -> None:
        self.document._write_parameters(self.run_id, self.old)


class EditTree(DocumentCommand):
    """Change a single tree by hand; a drag of the price of a leaf, or steps through the splits, are one undo
    step.

    If the model was trained anew in between, there is nothing left that could be undone: the command
    then does nothing and leaves the stack.
    """

    def __init__(
        self, document: DocumentState, text: str, run_id: str, new: RunResult, merges: CommandId | None = None
    ) -> None:
        super().__init__(document, text)
        self.run_id, self.new, self.merges = run_id, new, merges
        old = document.runs[run_id].result
        assert old is not None
        self.old = old
        self._was_undone = False

    def redo(self) -> None:
        self._swap(self.old, self.new)

    def undo(self) -> None:
        self._was_undone = True
        self._swap(self.new, self.old)

    def id(self) -> int:
        return -1 if self.merges is None else self.merges

    def mergeWith(self, later: QUndoCommand) -> bool:
        if not isinstance(later, EditTree) or later.run_id != self.run_id or later.old is not self.new:
            return False
        self.new = later.new
        self.setObsolete(self.new.edits == self.old.edits)  # dragged back: nothing left to undo
        return True

    def _swap(self, expected: RunResult, wanted: RunResult) -> None:
        now = self.document.runs[self.run_id].result
        if now is None or now.grown_tree is not expected.grown_tree:
            self.setObsolete(True)
        else:
            self.document._write_result(self.run_id, wanted)
            if self._was_undone:  # what was said when it was made is true no longer
                leaves = counted(wanted.trees[0].n_leaves, "leaf", "leaves")
                self.document.post_message(f"{self.document.runs[self.run_id].name} has {leaves} again.")


class SetRounds(DocumentCommand):
    """Give an ensemble fewer rounds or trees, or more of them, and the setting that says how many.

    If the model was trained anew in between, there is nothing left that could be undone: the command
    then does nothing and leaves the stack.
    """

    def __init__(self, document: DocumentState, text: str, run_id: str, new: RunResult, name: str) -> None:
        super().__init__(document, text)
        record = document.runs[run_id]
        assert record.result is not None
        self.run_id, self.name = run_id, name
        self.old, self.new = record.result, new
        self.old_value, self.new_value = record.spec.parameters.get(name), new.spec.parameters[name]

    def redo(self) -> None:
        self.old = self._swap(self.old, self.new, self.new_value)

    def undo(self) -> None:
        self.new = self._swap(self.new, self.old, self.old_value)

    def _swap(self, expected: RunResult, wanted: RunResult, value: Any) -> RunResult:
        """Put a result in place of another; return that one, with what was found out about it since."""
        record = self.document.runs[self.run_id]
        if record.result is None or record.result.estimator is not expected.estimator:
            self.setObsolete(True)
            return expected
        self.document._write_record(
            replace(record, spec=record.spec.with_parameter(self.name, value), result=wanted)
        )
        return record.result
