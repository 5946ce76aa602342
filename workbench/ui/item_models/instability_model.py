"""The inner nodes of a tree as a table, with what resampled rows would ask there."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt

from workbench.figures.instability import HEADS, TIPS, InstabilityFigure
from workbench.ui.widgets import literal

NO_INDEX = QModelIndex()
INDENT = 3 * "\N{NO-BREAK SPACE}"  # a level of the tree
TEXTS = (0, 4)  # columns that are read from the left


class InstabilityModel(QAbstractTableModel):
    """A row a node, in the order of the tree; questions are indented by depth."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.figure: InstabilityFigure | None = None

    def set_figure(self, figure: InstabilityFigure | None) -> None:
        """Show another figure; the rows stay where it is of the same tree, with more resamples."""
        before, self.figure = self.figure, figure
        is_same = before is not None and figure is not None and before.tree is figure.tree
        if is_same:
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, self.columnCount() - 1))
        else:
            self.beginResetModel()
            self.endResetModel()

    def rowCount(self, parent=NO_INDEX) -> int:
        return 0 if parent.isValid() or self.figure is None else self.figure.n_nodes

    def columnCount(self, parent=NO_INDEX) -> int:
        return 0 if parent.isValid() or self.figure is None else len(HEADS)

    def headerData(self, section, orientation, role=Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return HEADS[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return literal(TIPS[section])
        return self._alignment(section) if role == Qt.ItemDataRole.TextAlignmentRole else None

    def data(self, index, role=Qt.ItemDataRole.DisplayRole) -> Any:
        if self.figure is None or not index.isValid():
            return None
        text = self.figure.cell(index.row(), index.column())
        if role == Qt.ItemDataRole.DisplayRole:
            return text if index.column() else INDENT * self.figure.depth(index.row()) + text
        if role == Qt.ItemDataRole.ToolTipRole:
            return literal(text)
        return self._alignment(index.column()) if role == Qt.ItemDataRole.TextAlignmentRole else None

    @staticmethod
    def _alignment(column: int) -> int:
        side = Qt.AlignmentFlag.AlignLeft if column in TEXTS else Qt.AlignmentFlag.AlignRight
        return int(side | Qt.AlignmentFlag.AlignVCenter)
