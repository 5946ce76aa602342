"""A table view whose first column stays in sight while the others are scrolled sideways."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSignalBlocker, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from workbench.ui import theme

MAX_SHARE = 0.5  # a first column wider than this share of the view scrolls away like the others


class StickyTable(QTableView):
    """Row numbers and header stay by themselves; the first column is a second view over this one.

    The second view shares model, selection and vertical position, and is there only while the first
    column is scrolled out of sight.
    """

    def __init__(self, object_name: str) -> None:
        super().__init__()
        self.setObjectName(object_name)
        self.setTabKeyNavigation(False)  # Tab leaves the table; arrows move in it
        self.first = _FirstColumn(self)
        self.first.setObjectName(f"{object_name}.first")
        for view in (self, self.first):  # cut names say that they are cut
            view.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.horizontalScrollBar().valueChanged.connect(self._place)
        self.horizontalHeader().geometriesChanged.connect(self._place)
        self.horizontalHeader().sectionResized.connect(self._place)
        self.verticalHeader().geometriesChanged.connect(self._place)
        theme.changed.connect(self._place)

    def follow(self) -> None:
        """Take over model, selection, delegate and looks; call it when they are set."""
        self.first.follow()
        self._place()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._place()

    def scrollTo(self, index, hint=QAbstractItemView.ScrollHint.EnsureVisible) -> None:
        bar = self.horizontalScrollBar()
        before, was_kept = bar.value(), self.first.isVisible()
        super().scrollTo(index, hint)
        if was_kept and index.column() == 0:
            bar.setValue(before)  # it is in sight already
        elif self.first.isVisible():  # not below the first column
            bar.setValue(bar.value() - max(0, self.first.width() - self.visualRect(index).left()))

    def _place(self, *_: object) -> None:
        head, width = self.horizontalHeader(), self.columnWidth(0)
        is_needed = head.offset() > 0 and 0 < width <= MAX_SHARE * self.viewport().width()
        self.first.setVisible(is_needed)
        if is_needed:
            frame = self.frameWidth()
            height = head.height() + self.viewport().height()
            self.first.setColumnWidth(0, width)
            self.first.setGeometry(self.verticalHeader().width() + frame, frame, width + 1, height)
            self.first.horizontalHeader().setFixedHeight(head.height())
            self.first.verticalHeader().setDefaultSectionSize(self.verticalHeader().defaultSectionSize())
            self.first.setFont(self.font())
            self.first.verticalScrollBar().setValue(self.verticalScrollBar().value())
            self.first.raise_()


class _FirstColumn(QTableView):
    """As wide as the first column, so the others are out of its sight."""

    def __init__(self, table: StickyTable) -> None:
        super().__init__(table)
        self._table = table
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # before the proxy, which would take it over
        self.setFocusProxy(table)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hide()

    def follow(self) -> None:
        table = self._table
        self.setModel(table.model())
        self.setSelectionModel(table.selectionModel())
        self.setItemDelegate(table.itemDelegate())
        self.setVerticalScrollMode(table.verticalScrollMode())
        head, mine = table.horizontalHeader(), self.horizontalHeader()
        mine.setHighlightSections(False)
        mine.setSectionsClickable(True)
        mine.setSortIndicatorShown(True)
        mine.setSortIndicatorClearable(head.isSortIndicatorClearable())
        mine.sortIndicatorChanged.connect(self._sort)
        head.sortIndicatorChanged.connect(self._show_sort)
        self._show_sort(head.sortIndicatorSection(), head.sortIndicatorOrder())
        table.verticalScrollBar().valueChanged.connect(self.verticalScrollBar().setValue)

    def _sort(self, section: int, order: Qt.SortOrder) -> None:
        self._table.horizontalHeader().setSortIndicator(section, order)

    def _show_sort(self, section: int, order: Qt.SortOrder) -> None:
        mine = self.horizontalHeader()
        with QSignalBlocker(mine):
            mine.setSortIndicator(section, order)
        mine.viewport().update()

    def scrollTo(self, index, hint=QAbstractItemView.ScrollHint.EnsureVisible) -> None:
        """Stay: the table scrolls, and this view with it."""

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel:
            return self._table.viewportEvent(event)
        return super().viewportEvent(event)

    def paintEvent(self, event) -> None:
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setPen(theme.tokens().colour("border"))
        right = self.viewport().width() - 1
        painter.drawLine(right, 0, right, self.viewport().height())
        painter.end()
