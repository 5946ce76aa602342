"""The out-of-fold answers of a stack as a sortable list of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt

from workbench.figures.stack import StackFigure
from workbench.ui import theme
from workbench.ui.widgets import literal

NO_INDEX = QModelIndex()
N_FIRST = 3  # columns before the out-of-fold ones


class StackModel(QAbstractTableModel):
    """One row a training row; answers of base models that were wrong are in the colour of errors."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.figure: StackFigure | None = None
        self.order = np.empty(0, np.int64)
        self._sorted_by = 0, Qt.SortOrder.AscendingOrder

    def set_figure(self, figure: StackFigure | None) -> None:
        self.beginResetModel()
        self.figure = figure
        self._put_in_order()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; what is selected stays so."""
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        places = [(int(self.order[index.row()]), index.column()) for index in before]
        self._sorted_by = max(column, 0), order
        self._put_in_order()
        rank = np.argsort(self.order)
        self.changePersistentIndexList(before, [self.index(int(rank[at]), k) for at, k in places])
        self.layoutChanged.emit()

    def _put_in_order(self) -> None:
        if self.figure is None:
            self.order = np.empty(0, np.int64)
            return
        column = min(self._sorted_by[0], len(self.figure.heads) - 1)
        self.order = self.figure.order_by(column, self._sorted_by[1] == Qt.SortOrder.DescendingOrder)

    def table_rows(self, places: list[int]) -> np.ndarray:
        """Return the rows of the table that stand at places of the list."""
        assert self.figure is not None
        return np.sort(self.figure.rows[self.order[places]])

    def places_of(self, table_rows: np.ndarray) -> np.ndarray:
        """Return where rows of the table stand in the list; those that are not in it are left out."""
        assert self.figure is not None
        return np.flatnonzero(np.isin(self.figure.rows[self.order], table_rows))

    def rowCount(self, parent: QModelIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() or self.figure is None else len(self.figure.rows)

    def columnCount(self, parent: QModelIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() or self.figure is None else len(self.figure.heads)

    def headerData(self, section, orientation, role=Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Vertical or self.figure is None:
            return None
        if role == Qt.ItemDataRole.ToolTipRole:
            return literal(self.figure.heads[section])
        return self.figure.heads[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index, role=Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self.figure is None:
            return None
        at = int(self.order[index.row()])
        if role == Qt.ItemDataRole.DisplayRole:
            return self.figure.text(at, index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignLeft if index.column() == 2 else Qt.AlignmentFlag.AlignRight
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        if index.column() >= N_FIRST:
            return self._of_answer(at, index.column() - N_FIRST, role)
        return None

    def _of_answer(self, at: int, column: int, role: int) -> Any:
        figure = self.figure
        assert figure is not None
        model = int(figure.model_of_column[column])
        is_right = bool(figure.is_right[at, model])
        if role == Qt.ItemDataRole.ForegroundRole and not is_right:
            return theme.tokens().colour("danger")
        if role == Qt.ItemDataRole.ToolTipRole:
            return literal(f"{figure.models[model]} was {'right' if is_right else 'wrong'}, out of fold")
        return None
