"""Rows selected in the table: one is read, several light their leaves on the tree with counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from tests.ui.training_help import train
from workbench.datasets import feature_frame
from workbench.samples import load_sample

LEFT = Qt.MouseButton.LeftButton
NO_KEY, CTRL, SHIFT = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


class Rows:
    """The table with a tree of Penguins beside it."""

    def __init__(self, qtbot, session) -> None:
        self.qtbot, self.session, self.document = qtbot, session, session.document
        self.document.open_table(load_sample("penguins"))
        train(qtbot, session, "tree")
        self.table = session.window.findChild(QWidget, "panel.table")
        self.tree = session.window.findChild(QWidget, "panel.tree")
        self.selection = session.window.context.selection
        self.show("table")

    def show(self, name: str) -> None:
        self.session.window.centre.show_view(name)
        panel = self.table if name == "table" else self.tree
        self.qtbot.waitUntil(lambda: not panel.visibleRegion().isEmpty())

    def click(self, row: int, modifiers=NO_KEY) -> None:
        view = self.table.view
        index = view.model().index(row, 1)
        view.scrollTo(index)
        QTest.mouseClick(view.viewport(), LEFT, modifiers, view.visualRect(index).center())

    def counts(self, rows) -> dict[int, int]:
        """How many of the rows end in every leaf, asked of the estimator."""
        result = self.document.current_run.result
        frame = feature_frame(self.document.table, result.features)
        return dict(Counter(int(leaf) for leaf in result.estimator.apply(frame.iloc[list(rows)])))

    def wait_for_light(self, rows) -> None:
        lit, expected = self.tree.lit.item, self.counts(rows)
        self.qtbot.waitUntil(lambda: lit.counts == expected, timeout=30_000)


@pytest.fixture
def rows(qtbot, session):
    made = Rows(qtbot, session)
    yield made
    vars(made).clear()  # pytest keeps what a fixture gave longer than the window may live


def test_several_rows_light_their_leaves_with_counts(rows):
    rows.click(2)
    rows.click(6, SHIFT)
    rows.click(4, CTRL)  # no longer
    rows.click(200, CTRL)
    wanted = [2, 3, 5, 6, 200]
    assert rows.selection.rows.tolist() == wanted
    assert rows.selection.node_path is None, "a node and rows are not selected at once"
    expected = rows.counts(wanted)
    told = f"344 rows, 8 columns, 19 missing cells; 5 selected rows end in {len(expected)} leaves"
    rows.qtbot.waitUntil(lambda: rows.table._caption.full_text() == told, timeout=30_000)
    rows.show("tree")
    rows.wait_for_light(wanted)
    canvas = rows.tree.canvas
    assert rows.tree._subtitle.full_text() == f"5 selected rows end in {len(expected)} leaves"
    for leaf, n in expected.items():
        assert canvas.told_of(leaf).endswith(f"{n} of 5 selected rows")
    ways = {0, *expected}
    for leaf in expected:
        node = leaf
        while node > 0:
            node = int(canvas.figure.parent[node])
            ways.add(node)
    assert canvas.item.lit == ways
    lit = canvas.grab().toImage()
    rows.selection.select_rows(None)
    unlit = canvas.grab().toImage()
    for node in canvas.item.nodes:
        card = canvas.mapFromScene(canvas.item.card_rect(int(node))).boundingRect()
        edge = [(card.left() + dx, card.center().y()) for dx in range(-2, 3)]
        is_outlined = any(lit.pixelColor(*place) != unlit.pixelColor(*place) for place in edge)
        assert is_outlined == (int(node) in expected)


def test_a_closed_branch_tells_the_rows_that_end_in_it(rows):
    rows.table.view.selectAll()
    rows.show("tree")
    rows.wait_for_light(range(344))
    canvas, n_at = rows.tree.canvas, rows.counts(range(344))
    canvas.set_open(0, False)
    assert rows.tree.lit.item.shown_counts() == {0: 344}
    assert canvas.told_of(0).endswith("344 of 344 selected rows")
    canvas.open_all()
    assert rows.tree.lit.item.shown_counts() == n_at


def test_what_is_lit_follows_the_tree_and_another_model(rows):
    rows.click(0)
    rows.click(300, SHIFT)
    rows.show("tree")
    rows.wait_for_light(range(301))
    rows.session.window.context.editor.prune(rows.document.current_run_id, (0,))
    rows.wait_for_light(range(301))
    assert len(rows.tree.lit.item.counts) == 3
    rows.document.undo_stack.undo()
    rows.wait_for_light(range(301))
    train(rows.qtbot, rows.session, "tree", max_depth=1)
    rows.wait_for_light(range(301))
    assert len(rows.tree.lit.item.counts) == 2


@pytest.mark.parametrize("how", ["a node", "a single row", "another table"])
def test_lights_go_out(rows, how):
    rows.click(0)
    rows.click(9, SHIFT)
    rows.show("tree")
    rows.wait_for_light(range(10))
    if how == "a node":
        rows.selection.select_node((0,))
    elif how == "a single row":
        rows.show("table")
        rows.click(9)
        assert rows.table._caption.full_text().startswith("Row 10: ")
        rows.show("tree")
    else:
        rows.document.open_table(load_sample("iris"))
    assert rows.selection.rows is None
    rows.qtbot.waitUntil(lambda: rows.tree.lit.item.counts == {})
    assert rows.tree.canvas.item.lit == set()


def test_a_click_on_the_row_under_the_cursor_reads_it_again(rows):
    rows.click(3)
    leaf = rows.selection.node_path
    assert leaf
    rows.selection.select_node((1,))
    rows.click(3)
    assert rows.selection.node_path == leaf
    assert rows.table._caption.full_text().startswith("Row 4: ")
    rows.selection.select_node((1,))
    QTest.keyClick(rows.table.view, Qt.Key.Key_Return)
    assert rows.selection.node_path == leaf


def test_a_row_that_was_chosen_before_there_was_a_tree_is_read_by_a_click(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    session.window.centre.show_view("table")
    table = session.window.findChild(QWidget, "panel.table")
    place = table.view.visualRect(table.model.index(5, 1)).center()
    QTest.mouseClick(table.view.viewport(), LEFT, pos=place)
    train(qtbot, session, "tree")
    QTest.mouseClick(table.view.viewport(), LEFT, pos=place)
    assert session.window.context.selection.node_path
    assert table._caption.full_text().startswith("Row 6: ")


def test_selected_rows_stay_selected_when_the_table_is_sorted(rows):
    rows.click(2)
    rows.click(4, SHIFT)
    view, model = rows.table.view, rows.table.model
    for column, order in ((2, Qt.SortOrder.DescendingOrder), (5, Qt.SortOrder.AscendingOrder), (-1, 0)):
        view.sortByColumn(column, Qt.SortOrder(order))
        shown = [index.row() for index in view.selectionModel().selectedRows()]
        assert sorted(model.table_row(row) for row in shown) == [2, 3, 4]
        assert sorted(rows.selection.rows.tolist()) == [2, 3, 4]


def test_rows_selected_in_a_sorted_table_are_those_of_the_file(rows):
    rows.table.view.sortByColumn(2, Qt.SortOrder.AscendingOrder)
    model, marked = rows.table.model, QItemSelectionModel.SelectionFlag
    for row in (0, 1, 7):
        rows.table.view.selectionModel().select(model.index(row, 0), marked.Select | marked.Rows)
    lengths = rows.document.table.column("bill_length_mm").values
    lowest = np.argsort(lengths, kind="stable")[[0, 1, 7]]
    assert sorted(rows.selection.rows.tolist()) == sorted(lowest.tolist())


def test_no_node_stays_selected_when_another_model_is_looked_at(rows):
    first = rows.document.current_run_id
    rows.selection.select_node((0, 1))
    train(rows.qtbot, rows.session, "forest", n_estimators=5)
    assert rows.selection.node_path is None
    rows.selection.select_tree(3)
    rows.document.select_run(first)
    assert (rows.selection.node_path, rows.selection.tree_idx) == (None, 0)
