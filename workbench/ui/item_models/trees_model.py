"""The trees of an ensemble as a sortable table."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt

from workbench.figures.trees import TreesFigure
from workbench.ui import theme
from workbench.ui.widgets import literal

NO_INDEX = QModelIndex()
ARROW_ROOM = 4 * "\N{NO-BREAK SPACE}"  # the sort arrow is drawn over the end of a head


class TreesModel(QAbstractTableModel):
    """One row a tree; those after the round that is looked at are grey."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.figure: TreesFigure | None = None
        self.order = np.empty(0, np.int64)
        self._n_seen = 0
        self._sorted_by = 0, Qt.SortOrder.AscendingOrder

    def set_figure(self, figure: TreesFigure | None) -> None:
        self.beginResetModel()
        self.figure = figure
        self._n_seen = 0 if figure is None else figure.n_trees
        self._put_in_order()
        self.endResetModel()

    def set_seen(self, n_trees: int) -> None:
        """Take how many trees the round that is looked at has."""
        if n_trees != self._n_seen:
            self._n_seen = n_trees
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.ForegroundRole])

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; trees keep their numbers."""
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        trees = [(int(self.order[index.row()]), index.column()) for index in before]
        self._sorted_by = column, order
        self._put_in_order()
        after = [self.index(self.row_of(tree), at) for tree, at in trees]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _put_in_order(self) -> None:
        if self.figure is None:
            self.order = np.empty(0, np.int64)
            return
        column = min(max(self._sorted_by[0], 0), len(self.figure.heads) - 1)
        self.order = self.figure.order_by(column, self._sorted_by[1] == Qt.SortOrder.DescendingOrder)

    def row_of(self, tree_idx: int) -> int:
        """Row of a tree; -1 where it is none."""
        found = np.flatnonzero(self.order == tree_idx)
        return int(found[0]) if len(found) else -1

    def rowCount(self, parent: QModelIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() or self.figure is None else self.figure.n_trees

    def columnCount(self, parent: QModelIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() or self.figure is None else len(self.figure.heads)

    def headerData(self, section, orientation, role=Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Vertical or self.figure is None:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return literal(self.figure.tips[section])
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return self.figure.heads[section] + (ARROW_ROOM if section == self._sorted_by[0] else "")

    def data(self, index, role=Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self.figure is None:
            return None
        tree_idx = int(self.order[index.row()])
        if role == Qt.ItemDataRole.DisplayRole:
            return self.figure.texts[index.column()][tree_idx]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Qt.ItemDataRole.ForegroundRole and tree_idx >= self._n_seen:
            return theme.tokens().colour("text3")
        return None

    def _alignment(self, column: int) -> int:
        is_text = self.figure is not None and self.figure.heads[column] == "Adds to"
        side = Qt.AlignmentFlag.AlignLeft if is_text else Qt.AlignmentFlag.AlignRight
        return int(side | Qt.AlignmentFlag.AlignVCenter)
