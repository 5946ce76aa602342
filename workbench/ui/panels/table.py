"""The rows as they are in the file: virtual, sortable, with missing cells marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QWidget

from engine.errors import DataError
from workbench.figures.words import counted
from workbench.fitting import what_differs
from workbench.node_rows import is_at_node, leaf_of_row, leaves_of_rows
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.item_models.delegates import CellDelegate
from workbench.ui.item_models.table_model import TableModel
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.sticky_table import StickyTable
from workbench.ui.widgets import ElidedLabel, column, row

if TYPE_CHECKING:
    from workbench.datasets import Table
    from workbench.runs import RunResult

LANE_KEY = "rows of a node"
MIN_WIDTH, MAX_WIDTH, N_MEASURED_ROWS, N_MEASURED_TEXTS = 56, 260, 100, 3


class TablePanel(QWidget):
    """Shows `document.table`."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.table")
        self.setProperty("look", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context, self._document = context, context.document
        self.model = TableModel(self)
        self.view = self._make_view()
        self._caption = ElidedLabel("", "caption", Qt.TextElideMode.ElideRight)
        self._words = ""  # of the table as a whole
        self._leaf_path: Any = None  # of the row that was read last
        self._sentence = ""  # its rule
        self._job: Any = None
        content = QWidget()
        head = row(theme.PANEL_PADDING, self._caption, theme.PANEL_PADDING, spacing=0)
        head.setContentsMargins(0, 6, 0, 6)
        content.setLayout(column(head, self.view, spacing=0))
        open_action = context.actions.get("action.file.open")
        empty = EmptyState("table", "No table yet", "Open a file to see its rows here.", open_action)
        self._switch = Switch(empty, content)
        self.setLayout(column(self._switch))
        context.document.table_changed.connect(self._on_table_changed)
        context.document.columns_changed.connect(self.refresh)
        self._sight = Sight(self, self._mark_node)
        for signal in (context.document.current_run_changed, context.document.run_changed):
            signal.connect(self._sight.ask)
        context.selection.changed.connect(self._sight.ask)
        self.view.selectionModel().currentRowChanged.connect(self._on_row)
        self.view.selectionModel().selectionChanged.connect(self._on_selection)
        self.model.modelReset.connect(self._on_selection)
        for signal in (self.view.clicked, self.view.first.clicked, self.view.activated):
            signal.connect(self._on_row_again)
        theme.changed.connect(self._dress)
        self._dress()
        self._on_table_changed()

    def _make_view(self) -> StickyTable:
        view = StickyTable("table.view")
        view.setAccessibleName("Table")
        view.setModel(self.model)
        view.setItemDelegate(CellDelegate(view))
        view.setShowGrid(False)
        view.setWordWrap(False)
        view.setMouseTracking(True)
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        head = view.horizontalHeader()
        head.setHighlightSections(False)
        head.setSortIndicatorClearable(True)
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        view.setSortingEnabled(True)
        view.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        view.verticalHeader().setHighlightSections(False)
        view.follow()
        return view

    def _dress(self) -> None:
        self.view.verticalHeader().setDefaultSectionSize(theme.scaled(theme.CONTROL_HEIGHT))
        self.view.setFont(theme.font(13))

    def _on_table_changed(self) -> None:
        head = self.view.horizontalHeader()
        if _holds_same_cells(self.model.table, self._document.table):  # read as other kinds only
            self.refresh()
            self.model.sort(head.sortIndicatorSection(), head.sortIndicatorOrder())
            return
        head.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.refresh()
        self._fit_columns()
        self.view.scrollToTop()

    def refresh(self) -> None:
        """Show the document's table again; scroll position and widths stay."""
        document, table = self._document, self._document.table
        self._switch.show_content(table is not None)
        across, down = self.view.horizontalScrollBar().value(), self.view.verticalScrollBar().value()
        self.model.set_table(table, document.target, tuple(document.classes))
        self.view.horizontalScrollBar().setValue(across)
        self.view.verticalScrollBar().setValue(down)
        if table is not None:
            n_missing = sum(column.n_missing for column in table.columns)
            words = [f"{table.n_rows:,} rows", f"{len(table.columns):,} columns"]
            words.append(f"{n_missing:,} missing cells" if n_missing else "no missing cells")
            self._words = ", ".join(words)
        self._say("")
        self._sight.ask()

    def _tree_result(self):
        """The current run's result where it is a single tree of this very table."""
        run, table = self._document.current_run, self._document.table
        result = run.result if run is not None else None
        if result is None or result.grown_tree is None or table is None or what_differs(result, table):
            return None
        return result

    def _mark_node(self) -> None:
        """Mark the rows of the selected node, found in the background."""
        path, result, table = self._context.selection.node_path, self._tree_result(), self._document.table
        if path != self._leaf_path:  # another node than the leaf of the row that was read
            self._leaf_path, self._sentence = None, ""
        if not path or result is None or table is None:
            self._job = None
            self.model.mark(None)
            self._say("")
            self._tell_leaves(result, table)
            return
        self._say("")
        self._job = self._context.lanes.views.submit_latest(
            LANE_KEY, lambda _monitor: is_at_node(result, table, path), "Finding the node's rows"
        )
        self._job.ended.connect(self._on_rows)

    def _on_rows(self, future) -> None:
        if future.cancelled() or self._job is None:
            return
        if isinstance(future.exception(), DataError):  # the node was cut away since
            self.model.mark(None)
            return
        rows = future.result()
        self.model.mark(rows)
        self._say(f"; {int(rows.sum()):,} rows in the selected node")

    def _on_row(self, current, _before) -> None:
        """Light the leaf of the row that the cursor is on, and read its rule as a sentence."""
        result, table = self._tree_result(), self._document.table
        if result is None or table is None or not current.isValid():
            return
        row_idx = self.model.table_row(current.row())
        self._leaf_path, self._sentence = leaf_of_row(result, table, row_idx)
        self._context.selection.select_node(self._leaf_path)
        self._say("")

    def _on_row_again(self, index) -> None:
        """Read the row under the cursor once more, where something else was selected since."""
        is_read = self._leaf_path is not None and self._context.selection.node_path == self._leaf_path
        if not is_read and self._context.selection.rows is None:
            self._on_row(index, None)

    def _on_selection(self, *_: object) -> None:
        """Let the tree light the leaves of several rows; a single one is read."""
        ranges = self.view.selectionModel().selection()
        spans = [np.arange(span.top(), span.bottom() + 1) for span in ranges.toList()]
        shown = np.unique(np.concatenate(spans)) if spans else np.zeros(0, np.intp)
        self._context.selection.select_rows(self.model.table_rows(shown) if len(shown) > 1 else None)

    def _tell_leaves(self, result: RunResult | None, table: Table | None) -> None:
        """Say in how many leaves the selected rows end."""
        rows = self._context.selection.rows
        if rows is None or result is None or table is None:
            return
        self._job = self._context.lanes.views.submit_latest(
            LANE_KEY, lambda _monitor: leaves_of_rows(result, table, rows), "Finding the rows' leaves"
        )
        self._job.ended.connect(self._on_leaves)

    def _on_leaves(self, future) -> None:
        rows = self._context.selection.rows
        if not future.cancelled() and self._job is not None and rows is not None:
            leaves = counted(len(future.result()), "leaf", "leaves")
            self._say(f"; {len(rows):,} selected rows end in {leaves}")

    def _say(self, more: str) -> None:
        self._caption.setText(self._sentence or self._words + more)

    def _fit_columns(self) -> None:
        """Give every column the room of its name and first cells; text of all rows is never measured."""
        from PySide6.QtGui import QFontMetrics

        table = self._document.table
        head, body = QFontMetrics(theme.font(11, 600)), QFontMetrics(theme.font(13))
        for idx, column_ in enumerate(table.columns if table is not None else ()):
            texts = {column_.text(row_) for row_ in range(min(table.n_rows, N_MEASURED_ROWS))}
            longest = sorted(texts, key=len)[-N_MEASURED_TEXTS:]
            width = max((body.horizontalAdvance(text) for text in longest), default=0) + 20
            width += 16 if column_.name == self._document.target else 0  # the swatch
            width = max(width, head.horizontalAdvance(column_.name) + 28, MIN_WIDTH)
            self.view.setColumnWidth(idx, min(width, theme.scaled(MAX_WIDTH)))


def _holds_same_cells(old: Table | None, new: Table | None) -> bool:
    """Tell whether two tables show the same texts in the same places."""
    if old is None or new is None or len(old.columns) != len(new.columns):
        return False
    return all(one.raw is other.raw for one, other in zip(old.columns, new.columns, strict=True))
