"""What is done to a tree by hand: each gesture by mouse, by keyboard, and undone; one selection for all."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QTableView, QWidget

from engine.tree.pruning_rules import pessimistic_prune
from tests.ui.person import Person
from tests.ui.test_tree_by_hand import CTRL, LEFT, choose_in_menu, open_tree, run_in_palette
from workbench.ui.item_models.table_model import MARKED_ROLE
from workbench.ui.sight import is_in_sight


def key(widget, key_):
    QTest.keyClick(widget, key_)


def undo(qtbot, window):
    Person(qtbot, window).press(Qt.Key.Key_Z, CTRL)


def click_card(canvas, path):
    rect = canvas.item.card_rect(canvas.figure.tree.node_at(path))
    canvas.ensureVisible(rect)
    QTest.mouseClick(canvas.viewport(), LEFT, pos=canvas.mapFromScene(rect.center()))
    assert canvas.selected_path == path


def show(qtbot, session, name):
    session.window.actions_[f"action.view.{name}"].trigger()
    panel = session.window.findChild(QWidget, f"panel.{name}")
    qtbot.waitUntil(lambda: is_in_sight(panel))
    return panel


def test_cuts_are_put_back_by_the_menu_and_by_the_keyboard_and_undone(qtbot, session):
    panel, window, document = open_tree(qtbot, session), session.window, session.document
    grown = panel.canvas.figure.tree
    for put_back in (
        lambda: choose_in_menu(panel, (0,), "restore"),
        lambda: run_in_palette(window, "put back"),
    ):
        click_card(panel.canvas, (0,))
        key(panel.canvas, Qt.Key.Key_Delete)
        cut = panel.canvas.figure.tree
        assert cut.is_leaf[cut.node_at((0,))]
        put_back()
        assert panel.canvas.figure.tree == grown
        undo(qtbot, window)
        assert panel.canvas.figure.tree == cut
        undo(qtbot, window)
        assert panel.canvas.figure.tree == grown
    assert document.undo_stack.index() == document.undo_stack.count() - 2
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)


def test_missing_values_and_growing_follow_the_keyboard_and_are_undone(qtbot, session):
    panel, window = open_tree(qtbot, session), session.window
    grown = panel.canvas.figure.tree
    inner = np.flatnonzero(~grown.is_leaf)
    node = int(inner[np.argmax(grown.n_missing[inner])])
    click_card(panel.canvas, grown.path_to(node))
    run_in_palette(window, "send missing")
    assert panel.canvas.figure.tree.missing_child[node] == 1 - grown.missing_child[node]
    undo(qtbot, window)
    assert panel.canvas.figure.tree == grown
    click_card(panel.canvas, (0,))
    key(panel.canvas, Qt.Key.Key_Delete)
    cut = panel.canvas.figure.tree
    run_in_palette(window, "grow below")
    qtbot.waitUntil(lambda: panel.canvas.figure.tree == grown)
    undo(qtbot, window)
    assert panel.canvas.figure.tree == cut
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)


def test_rules_prune_by_mouse_and_by_the_keyboard_and_are_undone(qtbot, session):
    panel, window = open_tree(qtbot, session), session.window
    grown = panel.canvas.figure.tree
    right = pessimistic_prune(grown)
    assert right != grown
    pruning = show(qtbot, session, "pruning")
    qtbot.waitUntil(lambda: pruning.figure is not None, timeout=60_000)
    QTest.mouseClick(pruning.findChild(QPushButton, "pruning.by_rule"), LEFT)
    menu = QApplication.activePopupWidget()
    entry = next(action for action in menu.actions() if action.objectName() == "action.tree.pessimistic")
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(entry).center())
    assert panel.canvas.figure.tree == right
    undo(qtbot, window)
    assert panel.canvas.figure.tree == grown
    run_in_palette(window, "expected errors")
    assert panel.canvas.figure.tree == right
    undo(qtbot, window)
    assert panel.canvas.figure.tree == grown
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)


@pytest.mark.parametrize("device", ["mouse", "keyboard"])
def test_one_selection_goes_from_node_to_rows_and_box_and_from_row_to_leaf(qtbot, session, device):
    tree_panel = open_tree(qtbot, session)
    canvas, selection = tree_panel.canvas, session.window.context.selection
    figure = canvas.figure
    if device == "mouse":
        click_card(canvas, (0,))
    else:
        for _ in range(2):
            key(canvas, Qt.Key.Key_Down)
    assert selection.node_path == (0,)
    surface = show(qtbot, session, "surface")
    qtbot.waitUntil(lambda: surface.figure is not None and surface.plot.node_box.isVisible(), timeout=60_000)
    x, _y = surface.plot.node_box.getData()
    assert surface.figure.x.feature == figure.tree.feature[0]
    inside = surface.figure.x.values <= figure.tree.threshold[0]
    assert x.max() == surface.figure.x.edges[np.count_nonzero(inside)]

    table = show(qtbot, session, "table")
    rows = table.model
    qtbot.waitUntil(lambda: rows.index(0, 0).data(MARKED_ROLE) is not None, timeout=60_000)
    qtbot.waitUntil(lambda: "rows in the selected node" in table._caption.full_text(), timeout=60_000)
    index = rows.index(2, 1)
    if device == "mouse":
        QTest.mouseClick(table.view.viewport(), LEFT, pos=table.view.visualRect(index).center())
    else:
        table.view.setCurrentIndex(rows.index(1, 1))
        key(table.view, Qt.Key.Key_Down)
    assert table.view.currentIndex().row() == 2
    assert table._caption.full_text().startswith("Row 3: ")
    path = selection.node_path
    assert figure.tree.is_leaf[figure.tree.node_at(path)]
    assert canvas.selected_path == path


@pytest.mark.parametrize("device", ["mouse", "keyboard"])
def test_a_candidate_shows_its_curve(qtbot, session, device):
    open_tree(qtbot, session)
    panel = show(qtbot, session, "splits")
    qtbot.waitUntil(lambda: panel.figure is not None, timeout=60_000)
    table = panel.findChild(QTableView, "splits.table")
    place = next(k for k, row in enumerate(panel.figure.rows) if k and row.feature in panel.figure.curves)
    if device == "mouse":
        pos = table.visualRect(panel.model.index(place, 0)).center()
        QTest.mouseClick(table.viewport(), LEFT, pos=pos)
    else:
        table.setFocus()
        for _ in range(place):
            key(table, Qt.Key.Key_Down)
    assert panel.plot.header.texts[0].endswith(f"gain over {panel.figure.rows[place].column}")
