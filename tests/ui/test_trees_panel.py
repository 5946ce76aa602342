"""The Trees view: sorted by a click, opened with mouse and keyboard, and following the slider."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QTableView, QWidget

from tests.ui.person import LEFT
from tests.ui.training_help import train
from workbench.samples import load_sample
from workbench.ui import theme


def panel_of(session):
    return session.window.findChild(QWidget, "panel.trees")


@pytest.fixture
def table(qtbot, session):
    """A forest's trees, with their out-of-bag errors."""
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "forest", n_estimators=7)
    session.window.centre.show_view("trees")
    panel = panel_of(session)
    qtbot.waitUntil(lambda: panel.model.figure is not None and panel.model.figure.has_errors, timeout=60_000)
    return session.window.findChild(QTableView, "trees.table")


def click(table, row):
    QTest.mouseClick(table.viewport(), LEFT, pos=table.visualRect(table.model().index(row, 1)).center())


def shown(session):
    return session.window.findChild(QWidget, "panel.tree").canvas.figure.tree


def test_a_click_on_a_head_sorts_and_the_tree_shown_stays(session, table):
    model, result = panel_of(session).model, session.document.current_run.result
    click(table, 2)
    head = table.horizontalHeader()
    at = model.figure.heads.index("Leaves")
    QTest.mouseClick(head.viewport(), LEFT, pos=head.rect().topLeft() + _middle(head, at))
    leaves = [tree.n_leaves for tree in result.trees]
    assert [leaves[k] for k in model.order] in (sorted(leaves), sorted(leaves, reverse=True))
    assert model.order[table.currentIndex().row()] == 2
    assert shown(session) == result.trees[2]


def _middle(head, section):
    return QPoint(head.sectionViewportPosition(section) + head.sectionSize(section) // 2, head.height() // 2)


def test_the_row_under_the_cursor_is_the_tree_shown(session, table):
    result, selection = session.document.current_run.result, session.window.context.selection
    click(table, 4)
    assert selection.tree_idx == 4
    assert shown(session) == result.trees[4]
    table.setFocus()
    QTest.keyClick(table, Qt.Key.Key_Up)
    assert shown(session) == result.trees[3]
    selection.select_tree(6)  # as the Tree view's own number does
    assert table.currentIndex().row() == 6


def test_enter_and_a_double_click_open_a_tree(qtbot, session, table):
    centre = session.window.centre
    centre.arrange_as_tabs()
    for act in (
        lambda: QTest.keyClick(table, Qt.Key.Key_Return),
        lambda: QTest.mouseDClick(
            table.viewport(), LEFT, pos=table.visualRect(table.currentIndex()).center()
        ),
    ):
        centre.show_view("trees")
        qtbot.waitUntil(lambda: centre.names_in_front() == ["trees"])
        click(table, 5)
        act()
        qtbot.waitUntil(lambda: centre.names_in_front() == ["tree"])
        assert shown(session) == session.document.current_run.result.trees[5]


def test_it_follows_the_slider_and_greys_later_trees(session, table):
    slider = session.window.findChild(QWidget, "rounds.slider")
    slider.setValue(3)
    model = panel_of(session).model
    assert model.order[table.currentIndex().row()] == 2
    grey = [model.data(model.index(k, 0), Qt.ItemDataRole.ForegroundRole) is not None for k in range(7)]
    assert grey == [False] * 3 + [True] * 4
    assert model.data(model.index(5, 0), Qt.ItemDataRole.ForegroundRole) == theme.tokens().colour("text3")


def test_undo_of_kept_trees_lists_them_again(qtbot, session, table):
    document, model = session.document, panel_of(session).model
    document.keep_rounds(document.current_run_id, 2)
    qtbot.waitUntil(lambda: model.figure is not None and model.rowCount() == 2)
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: model.rowCount() == 7)
    np.testing.assert_array_equal(model.order, np.arange(7))


def test_a_single_tree_says_what_is_listed_here(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    session.window.centre.show_view("trees")
    assert not panel_of(session)._switch.shows_content
    assert panel_of(session)._empty.button.text() == "Add Forest"
