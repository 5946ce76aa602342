"""The list of the document's models: name editable in place, state and headline score beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt

from workbench.editing import alpha_of
from workbench.figures.scores import WHY_PARTS_DIFFER
from workbench.figures.words import counted, number
from workbench.ui.widgets import literal

if TYPE_CHECKING:
    from workbench.document import Document
    from workbench.runs import RunRecord, RunResult

RUN_ROLE = Qt.ItemDataRole.UserRole + 1  # the RunRecord
STATE_WORDS = {
    "new": "not trained",
    "queued": "waiting",
    "training": "training",
    "done": "trained",
    "stopped": "stopped",
    "failed": "failed",
}
NO_INDEX = QModelIndex()


class RunModel(QAbstractListModel):
    """Mirrors `document.runs`; an edited name goes back as a rename.

    It keeps the records it told of: a list that is painted before this model hears of a change would
    else ask for models that are gone.
    """

    def __init__(self, document: Document, parent=None) -> None:
        super().__init__(parent)
        self._document = document
        self._runs = list(document.runs.values())
        document.run_added.connect(self.refresh)
        document.run_removed.connect(self.refresh)
        document.table_changed.connect(self.refresh)
        document.run_changed.connect(self._on_run_changed)

    def refresh(self, *_: object) -> None:
        self.beginResetModel()
        self._runs = list(self._document.runs.values())
        self.endResetModel()

    def _on_run_changed(self, run_id: str) -> None:
        row, run = self.row_of(run_id), self._document.runs.get(run_id)
        if row >= 0 and run is not None:
            self._runs[row] = run
            self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent=NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._runs)

    def run_id(self, row: int) -> str:
        return self._runs[row].run_id

    def row_of(self, run_id: str | None) -> int:
        return next((row for row, run in enumerate(self._runs) if run.run_id == run_id), -1)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        run = self._runs[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return run.name
        if role == RUN_ROLE:
            return run
        if role == Qt.ItemDataRole.ToolTipRole:
            words = [run.name, STATE_WORDS[run.state].capitalize(), run.error or "", *_remarks(run)]
            return literal("\n".join(word for word in words if word))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{run.name}, {STATE_WORDS[run.state]}"
        return None

    def setData(self, index: QModelIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        name = str(value).strip()
        if role != Qt.ItemDataRole.EditRole or not name:
            return False
        run_id = self.run_id(index.row())
        if run_id not in self._document.runs:
            return False  # deleted while its name was being edited
        if name != self._document.run(run_id).name:
            self._document.rename_run(run_id, name)
        return True

    def flags(self, index: QModelIndex) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsEditable


def _remarks(run: RunRecord) -> list[str]:
    """What the list cannot say beside the name: whose score it is, and what was changed by hand."""
    result = run.result
    if result is None:
        return []
    predicts = [f"Predicts {result.target}."]
    scored = [WHY_PARTS_DIFFER] if "validation" in result.scores else []
    n_cut = sum(edit.kind == "prune" for edit in result.edits)
    cut = [f"Pruned by hand at {counted(n_cut, 'node')}."] if n_cut else []
    alpha = alpha_of(result)
    priced = [] if alpha is None else [f"Pruned to a price of {number(alpha)} a leaf."]
    steps = [edit.n_splits for edit in result.edits if edit.kind == "splits"][-1:]
    grown = [f"Grown step by step to {counted(n_splits, 'split')}." for n_splits in steps]
    return [*predicts, *scored, *cut, *_other_edits(result), *priced, *grown]


def _other_edits(result: RunResult) -> list[str]:
    words = {
        "force_split": "Split by hand at {}.",
        "regrow": "Grown anew below {}.",
        "set_missing": "Missing values sent to another side at {}.",
    }
    nodes = {kind: {edit.path for edit in result.edits if edit.kind == kind} for kind in words}
    return [text.format(counted(len(nodes[kind]), "node")) for kind, text in words.items() if nodes[kind]]
