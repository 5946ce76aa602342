"""The joint counts of two columns as a table, with their sums."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt

from workbench.figures.information import InformationFigure
from workbench.ui import theme
from workbench.ui.widgets import literal

NO_INDEX = QModelIndex()
SUM = "sum"


class JointModel(QAbstractTableModel):
    """A row a value of X, a column a value of Y; the last ones are the sums."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.figure: InformationFigure | None = None

    def set_figure(self, figure: InformationFigure | None) -> None:
        self.beginResetModel()
        self.figure = figure
        self.endResetModel()

    def rowCount(self, parent=NO_INDEX) -> int:
        return 0 if parent.isValid() or self.figure is None else len(self.figure.x.labels) + 1

    def columnCount(self, parent=NO_INDEX) -> int:
        return 0 if parent.isValid() or self.figure is None else len(self.figure.y.labels) + 1

    def _is_sum(self, index: QModelIndex) -> bool:
        return index.row() == self.rowCount() - 1 or index.column() == self.columnCount() - 1

    def data(self, index, role=Qt.ItemDataRole.DisplayRole) -> Any:
        if self.figure is None or not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.figure.cell_text(index.row(), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.FontRole:
            return theme.font(13, 600 if self._is_sum(index) else 400)
        if role == Qt.ItemDataRole.ToolTipRole:
            return literal(self._story(index))
        return None

    def _story(self, index: QModelIndex) -> str:
        assert self.figure is not None
        at = ((self.figure.x, index.row()), (self.figure.y, index.column()))
        values = [f"{side.name}: {side.labels[k]}" for side, k in at if k < len(side.labels)]
        return "\n".join([*values, f"{self.figure.cell_text(index.row(), index.column())} rows"])

    def headerData(self, section, orientation, role=Qt.ItemDataRole.DisplayRole) -> Any:
        if self.figure is None:
            return None
        side = self.figure.y if orientation == Qt.Orientation.Horizontal else self.figure.x
        text = side.labels[section] if section < len(side.labels) else SUM
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if role == Qt.ItemDataRole.ToolTipRole:
            return literal(f"{side.name}: {text}" if text != SUM else "sum of all values")
        return None
