"""The candidates of a node as a table."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt

from workbench.figures.splits import SplitRow
from workbench.ui import theme
from workbench.ui.widgets import literal

HEADS = ("Column", "Best question", "Gain", "On validation")
N_TEXTS = 2  # columns of words; the others are numbers
NO_INDEX = QModelIndex()


class SplitModel(QAbstractTableModel):
    """One row a column that could have been asked; what the node asks is bold."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.rows: tuple[SplitRow, ...] = ()

    def set_rows(self, rows: tuple[SplitRow, ...]) -> None:
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: QModelIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: QModelIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(HEADS)

    def headerData(self, section, orientation, role=Qt.ItemDataRole.DisplayRole):
        if orientation == Qt.Orientation.Vertical:
            return section + 1 if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return HEADS[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index, role=Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self.rows[index.row()], index.column()
        text = (
            row.column,
            row.question,
            row.gain + (" =" if row.is_tied and index.row() else ""),
            row.validation,
        )
        if role == Qt.ItemDataRole.DisplayRole:
            return text[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            tie = (
                "\nGains as much as the best; the first column in the table is taken." if row.is_tied else ""
            )
            return literal(f"{row.column} {row.question}{tie}")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.FontRole:
            return theme.font(13, 600 if row.is_taken else 400)
        return None


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignLeft if column < N_TEXTS else Qt.AlignmentFlag.AlignRight
    return int(side | Qt.AlignmentFlag.AlignVCenter)
