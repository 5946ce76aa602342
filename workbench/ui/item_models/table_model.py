"""A virtual model over a table: cells are looked up when they are painted, a million rows cost nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt

from workbench.ui import theme
from workbench.ui.widgets import literal

if TYPE_CHECKING:
    from workbench.datasets import Column, Table

MISSING_ROLE = Qt.ItemDataRole.UserRole + 1  # bool: the cell holds no value
MARKED_ROLE = Qt.ItemDataRole.UserRole + 3  # bool: the row is in the selected node; first column only
CLASS_ROLE = Qt.ItemDataRole.UserRole + 2  # int or None: position of the cell's class, target column only
MISSING_TEXT = "\N{EN DASH}"
NO_INDEX = QModelIndex()


def sorted_rows(column: Column, descending: bool) -> NDArray[np.intp]:
    """Row numbers in the order of a column's values; rows without a value come last both ways.

    Equal values keep the order of the file. Levels go by their text.
    """
    values = column.values
    if column.has_codes:
        by_text = sorted(range(len(column.levels)), key=lambda code: column.levels[code].casefold())
        ranks = np.full(len(column.levels) + 1, np.nan)  # the last is for code -1
        ranks[by_text] = np.arange(len(by_text))
        values = ranks[values]
    return np.argsort(-values if descending else values, kind="stable")


def _alignment(column: Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.kind == "number" else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


class TableModel(QAbstractTableModel):
    """Rows and columns of a Table; sorting reorders the view and never the table.

    The order is an array of row numbers, so training sees the rows as they are in the file.
    """

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self._table: Table | None = None
        self._order: NDArray[np.intp] | None = None
        self._classes: tuple[str, ...] = ()
        self._target: str | None = None
        self._marked: NDArray[np.bool_] | None = None

    @property
    def table(self) -> Table | None:
        return self._table

    def set_table(
        self, table: Table | None, target: str | None = None, classes: tuple[str, ...] = ()
    ) -> None:
        self.beginResetModel()
        if table is None or self._table is None or table.n_rows != self._table.n_rows:
            self._order = None
        self._table, self._target, self._classes, self._marked = table, target, classes, None
        self.endResetModel()

    def mark(self, rows: NDArray[np.bool_] | None) -> None:
        """Mark rows of the table, None: none; they are of the selected node."""
        self._marked = rows
        if self._table is not None and self._table.n_rows and self._table.columns:
            last = self.index(self._table.n_rows - 1, 0)
            self.dataChanged.emit(self.index(0, 0), last, [MARKED_ROLE])

    def rowCount(self, parent=NO_INDEX) -> int:
        return 0 if parent.isValid() or self._table is None else self._table.n_rows

    def columnCount(self, parent=NO_INDEX) -> int:
        return 0 if parent.isValid() or self._table is None else len(self._table.columns)

    def table_row(self, row: int) -> int:
        """The row of the file shown at `row` of the view."""
        return row if self._order is None else int(self._order[row])

    def table_rows(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """The rows of the file shown at `rows` of the view."""
        return rows if self._order is None else self._order[rows]

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: PLR0911 - a table of roles
        if self._table is None or not index.isValid():
            return None
        column = self._table.columns[index.column()]
        row = self.table_row(index.row())
        value = column.values[row]
        is_missing = bool(value < 0 if column.has_codes else np.isnan(value))
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return MISSING_TEXT if is_missing else column.text(row)
            case Qt.ItemDataRole.ToolTipRole:
                text = column.text(row)
                return literal(f'missing: the file has "{text}"' if is_missing else text)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
        if role == MISSING_ROLE:
            return is_missing
        if role == MARKED_ROLE:
            return self._marked is not None and index.column() == 0 and bool(self._marked[row])
        if role == CLASS_ROLE and column.name == self._target and not is_missing:
            return self._class_of(column.text(row))
        return None

    def _class_of(self, text: str) -> int | None:
        return self._classes.index(text) if text in self._classes else None

    def headerData(  # noqa: PLR0911 - a table of roles
        self, section: int, orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if self._table is None:
            return None
        if role == Qt.ItemDataRole.FontRole:
            return theme.font(11, 600 if orientation == Qt.Orientation.Horizontal else 400)
        if orientation == Qt.Orientation.Vertical:
            return str(self.table_row(section) + 1) if role == Qt.ItemDataRole.DisplayRole else None
        column = self._table.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.name
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.ToolTipRole:
                return literal("\n".join([column.name, column.reason, *column.notes]))
        return None

    def sort(self, column: int, order=Qt.SortOrder.AscendingOrder) -> None:
        """Order the view by a column; column -1 is the order of the file."""
        if self._table is None:
            return
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()  # of what is selected, which stays so
        rows = [self.table_row(index.row()) for index in kept]
        if not 0 <= column < len(self._table.columns):
            self._order = None
        else:
            is_descending = order == Qt.SortOrder.DescendingOrder
            self._order = sorted_rows(self._table.columns[column], is_descending)
        if kept and self._order is not None:
            place = np.empty_like(self._order)
            place[self._order] = np.arange(len(place))
            rows = place[rows].tolist()
        moved = [self.index(row, index.column()) for row, index in zip(rows, kept, strict=True)]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()
