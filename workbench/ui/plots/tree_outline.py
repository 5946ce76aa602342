"""The tree as an outline: the same nodes as text, for reading, searching and screen readers."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt

from workbench.figures.tree import TreeFigure
from workbench.ui.widgets import literal

HEADS = ("Node", "Rows")


class OutlineModel(QAbstractItemModel):
    """Nodes by their number in the figure's tree; texts are made when a row is shown."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.figure: Any = None  # a TreeFigure once one is shown

    def set_figure(self, figure: TreeFigure | None) -> None:
        self.beginResetModel()
        self.figure = figure
        self.endResetModel()

    def node_of(self, index: QModelIndex) -> int | None:
        return int(index.internalId()) if index.isValid() else None

    def index_of(self, node: int) -> QModelIndex:
        """The index of a node."""
        parent = int(self.figure.parent[node])
        row = 0 if parent < 0 else node - int(self.figure.tree.first_child[parent])
        return self.createIndex(row, 0, node)

    def index(self, row, column, parent=QModelIndex()):  # noqa: B008 - Qt's own default
        if self.figure is None or not 0 <= column < len(HEADS) or not 0 <= row < self.rowCount(parent):
            return QModelIndex()
        node = 0 if not parent.isValid() else int(self.figure.tree.first_child[parent.internalId()]) + row
        return self.createIndex(row, column, node)

    def parent(self, index):
        if self.figure is None or not index.isValid():
            return QModelIndex()
        parent = int(self.figure.parent[index.internalId()])
        return QModelIndex() if parent < 0 else self.index_of(parent)

    def rowCount(self, parent=QModelIndex()):  # noqa: B008 - Qt's own default
        if self.figure is None or parent.column() > 0:
            return 0
        return int(self.figure.tree.n_children[parent.internalId()]) if parent.isValid() else 1

    def columnCount(self, parent=QModelIndex()):  # noqa: B008 - Qt's own default
        return len(HEADS)

    def headerData(self, section, orientation, role=Qt.ItemDataRole.DisplayRole):
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return HEADS[section]
        return None

    def data(self, index, role=Qt.ItemDataRole.DisplayRole):
        if not index.isValid():
            return None
        node, column = int(index.internalId()), index.column()
        if role == Qt.ItemDataRole.TextAlignmentRole and column == 1:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ToolTipRole:
            return literal(self.figure.story(node))
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if column == 0:
            return self._name(node)
        return f"{int(self.figure.tree.n_node_samples[node]):,}"

    def _name(self, node: int) -> str:
        way = "" if node == 0 else f"{self.figure.branch(node)}: "
        return way + (self.figure.rule(node).text or self.figure.prediction(node))
