"""The list of a table's columns: filtered by search, ordered by what the person asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt

from workbench.ui.widgets import literal

if TYPE_CHECKING:
    from workbench.datasets import Column, Table

COLUMN_ROLE = Qt.ItemDataRole.UserRole + 1  # the Column
ROLE_ROLE = Qt.ItemDataRole.UserRole + 2  # str: feature, target, ...
STRENGTH_ROLE = Qt.ItemDataRole.UserRole + 3  # float or None
PROBLEM_ROLE = Qt.ItemDataRole.UserRole + 4  # str: what is wrong with it, or ""
CAPTION_ROLE = Qt.ItemDataRole.UserRole + 5  # str: the figure of the present order
ORDERS = {
    "file": "File",
    "name": "Name",
    "missing": "Missing",
    "distinct": "Distinct",
    "strength": "Strength",
}
NO_INDEX = QModelIndex()


class ColumnModel(QAbstractListModel):
    """One row a column."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self._table: Table | None = None
        self._roles: Mapping[str, str] = {}
        self._strengths: Mapping[str, float] = {}
        self._problems: Mapping[str, str] = {}
        self._search, self._order = "", "file"
        self._shown: list[Column] = []

    def set_table(self, table: Table | None, roles: Mapping[str, str]) -> None:
        """Show another table, or the same with other kinds and roles."""
        is_same = table is not None and self._table is not None and table.names == self._table.names
        self._table, self._roles = table, dict(roles)
        shown = self._arranged()
        if is_same and [c.name for c in shown] == [c.name for c in self._shown]:
            self._shown = shown  # selection and scroll position stay
            self._repaint()
        else:
            self._reset(shown)

    def set_strengths(self, strengths: Mapping[str, float]) -> None:
        self._strengths = dict(strengths)
        if self._order == "strength":
            self._reset(self._arranged())
        else:
            self._repaint()

    def set_problems(self, problems: Mapping[str, str]) -> None:
        self._problems = dict(problems)
        self._repaint()

    def set_search(self, text: str) -> None:
        self._search = text.strip().casefold()
        self._reset(self._arranged())

    def set_order(self, order: str) -> None:
        self._order = order
        self._reset(self._arranged())

    @property
    def order(self) -> str:
        return self._order

    def _arranged(self) -> list[Column]:
        if self._table is None:
            return []
        keys = {
            "name": lambda column: column.name.casefold(),
            "missing": lambda column: -column.n_missing,
            "distinct": lambda column: -column.n_distinct,
            "strength": lambda column: -self._strengths.get(column.name, -1.0),
        }
        found = [column for column in self._table.columns if self._search in column.name.casefold()]
        return sorted(found, key=keys[self._order]) if self._order in keys else found

    def _reset(self, shown: list[Column]) -> None:
        self.beginResetModel()
        self._shown = shown
        self.endResetModel()

    def _repaint(self) -> None:
        if self._shown:
            self.dataChanged.emit(self.index(0), self.index(len(self._shown) - 1))

    def rowCount(self, parent=NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._shown)

    def name(self, row: int) -> str:
        return self._shown[row].name

    def row_of(self, name: str) -> int:
        """The row of a column; -1 while the search hides it."""
        return next((row for row, column in enumerate(self._shown) if column.name == name), -1)

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        column = self._shown[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.name
            case Qt.ItemDataRole.ToolTipRole:
                return literal(self._tip(column))
            case Qt.ItemDataRole.AccessibleTextRole:
                return f"{column.name}, {column.kind}, {self._roles.get(column.name, 'feature')}"
        values = {
            COLUMN_ROLE: column,
            ROLE_ROLE: self._roles.get(column.name, "feature"),
            STRENGTH_ROLE: self._strengths.get(column.name),
            PROBLEM_ROLE: self._problems.get(column.name, ""),
            CAPTION_ROLE: self._caption(column),
        }
        return values.get(role)

    def _caption(self, column: Column) -> str:
        if self._order == "distinct":
            return f"{column.n_distinct:,} distinct"
        if self._order == "strength" and column.name in self._strengths:
            return f"{self._strengths[column.name]:.2f}"
        return f"{column.n_missing:,} missing" if column.n_missing else ""

    def _tip(self, column: Column) -> str:
        lines = [column.name, f"Read as {column.kind.replace('_', ' or ')}: {column.reason}"]
        lines.append(f"{column.n_distinct:,} distinct values, {column.n_missing:,} missing")
        if column.name in self._strengths:
            strength = self._strengths[column.name]
            lines.append(f"Strength alone: {strength:.3g} (0 tells nothing, 1 tells the target)")
        lines += column.notes
        if column.name in self._problems:
            lines.append(self._problems[column.name])
        return "\n".join(lines)
