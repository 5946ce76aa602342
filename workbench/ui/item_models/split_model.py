"""The candidates of a node as a table."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, Qt

from workbench.figures.splits import SplitRow
from workbench.ui import theme
from workbench.ui.widgets import literal

HEADS = ("Column", "Best question", "Gain", "On validation")
RATIO_HEADS = ("Column", "Best question", "Gain", "Gain ratio", "On validation")  # of C4.5
SHORT_HEADS = {"Best question": "Question", "On validation": "Validation"}
N_TEXTS = 2  # columns of words; the others are numbers
NO_INDEX = QModelIndex()


class SplitModel(QAbstractTableModel):
    """One row a column that could have been asked; what the node asks is bold."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.rows: tuple[SplitRow, ...] = ()
        self._heads: tuple[str, ...] = HEADS
        self._is_short = False

    def set_rows(self, rows: tuple[SplitRow, ...]) -> None:
        self.beginResetModel()
        self.rows = rows
        self._heads = RATIO_HEADS if any(row.ratio for row in rows) else HEADS
        self.endResetModel()

    def shorten(self, is_short: bool) -> None:
        """Leave to the tool tips where missing values go, for want of width."""
        if is_short != self._is_short:
            self._is_short = is_short
            if self.rows:
                last = self.index(len(self.rows) - 1, len(self._heads) - 1)
                self.dataChanged.emit(self.index(0, 0), last)
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._heads) - 1)

    def rowCount(self, parent: QModelIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: QModelIndex = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._heads)

    def headerData(self, section, orientation, role=Qt.ItemDataRole.DisplayRole):
        if orientation == Qt.Orientation.Vertical:
            return section + 1 if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        head = self._heads[section]
        return SHORT_HEADS.get(head, head) if self._is_short else head

    def data(self, index, role=Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row, column = self.rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._texts(row, index.row() > 0)[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return literal(f"{row.column} {row.full_question}{_remark(row)}")
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        return _look(row, role)

    def _texts(self, row: SplitRow, is_below_best: bool) -> tuple[str, ...]:
        tie = "= " if row.is_tied and is_below_best else ""
        question = row.question if self._is_short else row.full_question
        if self._heads is HEADS:
            return row.column, question, tie + row.gain, row.validation
        return row.column, question, row.gain, tie + row.ratio, row.validation


def _look(row: SplitRow, role: int) -> Any:
    if role == Qt.ItemDataRole.FontRole:
        return theme.font(13, 600 if row.is_taken else 400)
    is_grey = role == Qt.ItemDataRole.ForegroundRole and not row.is_eligible
    return theme.tokens().colour("text3") if is_grey else None


def _remark(row: SplitRow) -> str:
    if not row.is_eligible:
        return "\nPassed over: it gains less than the columns on average, which C4.5 asks for."
    if row.is_tied:
        return "\nAs good as the best; the first column in the table is taken."
    return ""


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignLeft if column < N_TEXTS else Qt.AlignmentFlag.AlignRight
    return int(side | Qt.AlignmentFlag.AlignVCenter)
