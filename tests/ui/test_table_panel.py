"""The table: virtual, literal, sorted with missing last both ways (case C45)."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableView, QWidget

from tests.ui.training_help import train
from workbench.datasets import Column, Table, feature_frame, make_column, make_table
from workbench.samples import load_sample
from workbench.scoring import wilson_interval
from workbench.ui import theme
from workbench.ui.item_models.table_model import (
    CLASS_ROLE,
    MARKED_ROLE,
    MISSING_ROLE,
    TableModel,
    sorted_rows,
)


def cells(model: TableModel, column: int) -> list[str]:
    return [model.index(row, column).data() for row in range(model.rowCount())]


@pytest.fixture
def model(qapp):
    made = TableModel()
    made.set_table(make_table("t", {"v": [None, 3, 2, None, 0], "w": ["b", None, "A", "c", "a"]}))
    return made


def test_sorting_puts_missing_last_both_ways_and_restores_the_file_order(model):
    model.sort(0, Qt.SortOrder.AscendingOrder)
    assert cells(model, 0) == ["0", "2", "3", "–", "–"]
    model.sort(0, Qt.SortOrder.DescendingOrder)
    assert cells(model, 0) == ["3", "2", "0", "–", "–"]
    model.sort(-1)
    assert cells(model, 0) == ["–", "3", "2", "–", "0"]


def test_levels_are_sorted_by_their_text(model):
    model.sort(1, Qt.SortOrder.AscendingOrder)
    assert cells(model, 1) == ["A", "a", "b", "c", "–"]
    model.sort(1, Qt.SortOrder.DescendingOrder)
    assert cells(model, 1) == ["c", "b", "a", "A", "–"]


def test_sorting_moves_the_view_and_never_the_table(model):
    before = model.table.column("v").values.copy()
    model.sort(0, Qt.SortOrder.DescendingOrder)
    np.testing.assert_array_equal(model.table.column("v").values, before)
    assert [model.table_row(row) for row in range(5)] == [1, 2, 4, 0, 3]
    assert [model.headerData(row, Qt.Orientation.Vertical) for row in range(5)] == ["2", "3", "5", "1", "4"]


def test_two_columns_of_one_name_are_sorted_apart(qapp):
    one, two = make_column("cv1", [1, 2, 3]), make_column("cv1", [3, 1, 2])
    model = TableModel()
    model.set_table(Table("twins", (one, two)))
    model.sort(1, Qt.SortOrder.AscendingOrder)
    assert cells(model, 1) == ["1", "2", "3"]
    assert cells(model, 0) == ["2", "3", "1"]


def test_equal_values_keep_the_order_of_the_file():
    column = make_column("x", [2, 1, 2, 1])
    assert sorted_rows(column, descending=False).tolist() == [1, 3, 0, 2]
    assert sorted_rows(column, descending=True).tolist() == [0, 2, 1, 3]


def test_text_is_literal_and_cells_tell_what_they_are(qapp):
    model = TableModel()
    table = make_table("t", {"<b>x</b> & y": ["<15.75", None, ">=19.95"]}, {"<b>x</b> & y": "category"})
    model.set_table(table, "<b>x</b> & y", ("<15.75", ">=19.95"))
    assert cells(model, 0) == ["<15.75", "–", ">=19.95"]
    assert model.headerData(0, Qt.Orientation.Horizontal) == "<b>x</b> & y"
    assert "&lt;15.75" in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert [model.index(row, 0).data(MISSING_ROLE) for row in range(3)] == [False, True, False]
    assert [model.index(row, 0).data(CLASS_ROLE) for row in range(3)] == [0, None, 1]


def test_a_million_rows_are_shown_without_touching_them(window, document):
    class Cells:
        """Refuses to be walked through: only the cells that are painted may be asked for."""

        def __init__(self) -> None:
            self.asked: set[int] = set()

        def __getitem__(self, row):
            self.asked.add(int(row))
            return str(row)

        def __len__(self):
            return 1_000_000

    raw = Cells()
    values = np.arange(1_000_000, dtype=float)
    column = Column("x", "number", "numbers", raw, values, n_distinct=1_000_000)
    document.open_table(Table("big", (column,)))
    window.views.show_view("table")
    panel = window.centre.docks["table"].widget()
    panel.view.grab()
    assert panel.model.rowCount() == 1_000_000
    panel.view.scrollToBottom()
    panel.view.grab()
    assert 999_999 in raw.asked
    assert len(raw.asked) < 1_000
    panel.view.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    assert panel.model.table_row(0) == 999_999


def test_scroll_position_stays_when_roles_change(window, document):
    document.open_table(make_table("t", {"a": range(500), "b": range(500)}))
    window.views.show_view("table")
    view = window.centre.docks["table"].widget().view
    view.verticalScrollBar().setValue(100)
    document.set_roles(["b"], "ignored")
    assert view.verticalScrollBar().value() == 100


def test_header_clicks_go_up_down_and_back(window, document):
    document.open_table(make_table("t", {"v": [2, 3, 1]}))
    window.views.show_view("table")
    panel = window.centre.docks["table"].widget()
    header = panel.view.horizontalHeader()
    seen = []
    for _ in range(3):
        header.setSortIndicator(*_next_click(header))
        seen.append(cells(panel.model, 0))
    assert seen == [["1", "2", "3"], ["3", "2", "1"], ["2", "3", "1"]]


@pytest.fixture
def wide(window, document, qtbot):
    """The Table panel's view over thirty columns, scrolled to the right end."""
    document.open_table(make_table("wide", {f"c{i}": [i * 3, i + 1, i * 2] * 40 for i in range(30)}))
    window.views.show_view("table")
    view = window.centre.docks["table"].widget().view
    qtbot.waitUntil(lambda: view.horizontalScrollBar().maximum() > 0)
    return view


def test_the_first_column_and_the_row_numbers_stay_while_scrolling_sideways(wide):
    first = wide.findChild(QTableView, "table.view.first")
    assert not first.isVisible(), "at the left end there is nothing to keep"
    at = wide.verticalHeader().width()
    wide.horizontalScrollBar().setValue(wide.horizontalScrollBar().maximum())
    assert first.isVisible()
    assert wide.verticalHeader().isVisible()
    assert abs(first.x() - at) <= 1
    assert first.columnWidth(0) == wide.columnWidth(0)
    assert first.viewport().width() - first.columnWidth(0) in (0, 1), "no second column is in sight"
    wide.verticalScrollBar().setValue(57)
    assert first.rowAt(2) == wide.rowAt(2) == 57
    assert first.indexAt(QPoint(5, 5)).column() == 0
    border = first.grab().toImage().pixelColor(first.width() - 1, first.height() // 2)
    assert border == theme.tokens().colour("border"), "a line tells where the others begin"
    wide.setColumnWidth(0, 120)
    assert first.columnWidth(0) == 120
    wide.horizontalScrollBar().setValue(0)
    assert not first.isVisible()


def test_the_kept_column_selects_sorts_and_scrolls_the_table(wide, document, window):
    first = wide.findChild(QTableView, "table.view.first")
    end = wide.horizontalScrollBar().maximum()
    wide.horizontalScrollBar().setValue(end)
    place = first.visualRect(first.model().index(3, 0)).center()
    QTest.mouseClick(first.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert [index.row() for index in wide.selectionModel().selectedRows()] == [3]
    assert wide.horizontalScrollBar().value() == end, "a click does not scroll sideways"
    wide.scrollTo(wide.model().index(3, 4))
    assert wide.visualRect(wide.model().index(3, 4)).left() >= first.columnWidth(0), "not below the first"
    head = first.horizontalHeader()
    middle = QPoint(head.sectionSize(0) // 2, head.height() // 2)
    for expected in ([0, 0], [1, 1], [0, 1]):
        QTest.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=middle)
        rows = [wide.model().index(row, 0).data() for row in range(2)]
        assert rows == [str(value) for value in expected]
        assert wide.horizontalHeader().sortIndicatorSection() == head.sortIndicatorSection()


def test_a_first_column_wider_than_half_of_the_view_scrolls_away(wide):
    wide.setColumnWidth(0, wide.viewport().width() // 2 + 10)
    wide.horizontalScrollBar().setValue(wide.horizontalScrollBar().maximum())
    assert not wide.findChild(QTableView, "table.view.first").isVisible()


def test_another_kind_keeps_place_widths_and_order(wide, document):
    wide.setColumnWidth(4, 137)
    wide.sortByColumn(5, Qt.SortOrder.DescendingOrder)
    wide.verticalScrollBar().setValue(20)
    assert wide.model().index(0, 5).data() == "15"
    document.set_kind(["c5"], "category")
    assert wide.columnWidth(4) == 137
    assert wide.verticalScrollBar().value() == 20
    assert wide.model().index(0, 5).data() == "6", "levels are ordered by their text: 6, 15, 10"
    assert wide.horizontalHeader().sortIndicatorSection() == 5


def _next_click(header):
    """What a click on the first section makes of the indicator (QHeaderView::setSortIndicatorClearable)."""
    if header.sortIndicatorSection() != 0:
        return 0, Qt.SortOrder.AscendingOrder
    if header.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder:
        return 0, Qt.SortOrder.DescendingOrder
    return -1, Qt.SortOrder.AscendingOrder


def test_a_node_marks_its_rows_and_a_row_lights_its_leaf(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    run_id = train(qtbot, session, "tree")
    session.window.centre.show_view("table")
    panel = session.window.findChild(QWidget, "panel.table")
    result, selection = session.document.run(run_id).result, session.window.context.selection
    tree, model = result.trees[0], panel.model
    threshold, flipper = tree.threshold[0], session.document.table.column("flipper_length_mm").values
    assert result.features[tree.feature[0]] == "flipper_length_mm"

    def marks():
        return np.array([bool(model.index(row, 0).data(MARKED_ROLE)) for row in range(model.rowCount())])

    assert not marks().any()
    selection.select_node((0,))
    goes = (flipper <= threshold) | (np.isnan(flipper) & (tree.missing_child[0] == 0))
    qtbot.waitUntil(lambda: marks().any(), timeout=30_000)
    np.testing.assert_array_equal(marks(), goes)
    assert panel._caption.full_text().endswith(f"; {goes.sum()} rows in the selected node")
    frame = feature_frame(session.document.table, result.features)
    for row in (0, 200, 343):
        panel.view.selectRow(row)
        panel.view.setCurrentIndex(model.index(row, 1))
        leaf = int(result.estimator.apply(frame.iloc[[row]])[0])
        assert selection.node_path == tree.path_to(leaf)
        told = panel._caption.full_text()
        top, n = int(np.argmax(tree.value[leaf])), int(tree.n_node_samples[leaf])
        n_hits = round(float(tree.value[leaf, top]) * n)
        assert told.startswith(f"Row {row + 1}: ")
        share = wilson_interval(n_hits, n)
        assert told.endswith(
            f"{result.classes[top]} {100 * n_hits / n:.0f} %, {n_hits} of {n} training rows, 95 % interval "
            f"{100 * share.low:.0f} to {100 * share.high:.0f} %"
        )
        assert "flipper_length_mm" in told
    selection.select_node(())
    assert not marks().any()
    assert panel._caption.full_text() == "344 rows, 8 columns, 19 missing cells"
