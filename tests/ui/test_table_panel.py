"""The table: virtual, literal, sorted with missing last both ways (case C45)."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt

from workbench.datasets import Column, Table, make_column, make_table
from workbench.ui.item_models.table_model import CLASS_ROLE, MISSING_ROLE, TableModel, sorted_rows


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


def _next_click(header):
    """What a click on the first section makes of the indicator (QHeaderView::setSortIndicatorClearable)."""
    if header.sortIndicatorSection() != 0:
        return 0, Qt.SortOrder.AscendingOrder
    if header.sortIndicatorOrder() == Qt.SortOrder.AscendingOrder:
        return 0, Qt.SortOrder.DescendingOrder
    return -1, Qt.SortOrder.AscendingOrder
