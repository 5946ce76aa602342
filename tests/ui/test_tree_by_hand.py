"""Growing below a node, forcing a split and sending missing values elsewhere, by mouse, menu and keyboard."""

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QLineEdit, QListWidget, QMenu, QWidget

from tests.ui.training_help import train
from workbench.samples import load_sample
from workbench.ui.inputs import ComboBox

LEFT = Qt.MouseButton.LeftButton
CTRL = Qt.KeyboardModifier.ControlModifier


def open_tree(qtbot, session):
    session.window.show()
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    session.window.actions_["action.view.tree"].trigger()
    return session.window.findChild(QWidget, "panel.tree")


def choose_in_menu(panel, path, name):
    """Ask for a card's menu with the right button, and click an entry."""
    canvas = panel.canvas
    rect = canvas.item.card_rect(canvas.figure.tree.node_at(path))
    canvas.ensureVisible(rect)
    point = canvas.mapFromScene(rect.center())
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, canvas.viewport().mapToGlobal(point))
    QApplication.sendEvent(canvas.viewport(), event)
    assert canvas.selected_path == path
    menu = next(menu for menu in panel.findChildren(QMenu) if menu.isVisible())
    entry = next(action for action in menu.actions() if action.objectName() == f"action.tree.{name}")
    assert entry.isEnabled()
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(entry).center())


def run_in_palette(window, words):
    window.actions_["action.view.palette"].trigger()
    QTest.keyClicks(window.palette_.edit, words)
    QTest.keyClick(window.palette_.edit, Qt.Key.Key_Return)


def test_missing_goes_to_the_other_side_by_the_menu_and_back_by_undo(qtbot, session):
    panel = open_tree(qtbot, session)
    before = panel.canvas.figure.tree
    inner = np.flatnonzero(~before.is_leaf)
    node = int(inner[np.argmax(before.n_missing[inner])])
    path = before.path_to(node)
    choose_in_menu(panel, path, "flip_missing")
    after = panel.canvas.figure.tree
    assert after.missing_child[node] == 1 - before.missing_child[node]
    assert panel.canvas.figure.edited == {path}
    session.window.actions_["action.edit.undo"].trigger()
    assert panel.canvas.figure.tree == before
    session.window.actions_["action.edit.redo"].trigger()
    assert panel.canvas.figure.tree == after


def test_what_was_pruned_grows_again_by_the_menu_and_by_the_keyboard(qtbot, session):
    panel = open_tree(qtbot, session)
    before, path = panel.canvas.figure.tree, (0,)
    choose_in_menu(panel, path, "prune")
    assert panel.canvas.figure.tree.n_nodes < before.n_nodes
    choose_in_menu(panel, path, "grow")
    qtbot.waitUntil(lambda: panel.canvas.figure.tree == before)
    QTest.keyClick(panel.canvas, Qt.Key.Key_Delete)
    assert panel.canvas.figure.tree.n_nodes < before.n_nodes
    run_in_palette(session.window, "grow below")
    qtbot.waitUntil(lambda: panel.canvas.figure.tree == before)
    run_in_palette(session.window, "grow below")
    messages = session.document.messages
    qtbot.waitUntil(lambda: "nothing else grows below this node" in messages[-1])


def test_what_grows_while_the_tree_changes_is_told_and_dropped(qtbot, session):
    panel = open_tree(qtbot, session)
    document = session.document
    document.prune(document.current_run_id, (0,))
    document.prune(document.current_run_id, (1,))
    session.window.context.selection.select_node((0,))
    session.window.actions_["action.tree.grow"].trigger()
    document.prune(document.current_run_id, ())
    qtbot.waitUntil(lambda: "was changed in the meantime" in document.messages[-1])
    assert panel.canvas.figure.tree.n_nodes == 1


def test_a_threshold_is_forced_by_the_keyboard(qtbot, session):
    panel = open_tree(qtbot, session)
    before = panel.canvas.figure.tree
    QTest.keyClick(panel.canvas, Qt.Key.Key_Down)
    run_in_palette(session.window, "force a split")
    dialog = session.window.findChild(QDialog, "split")
    column, threshold = (
        dialog.findChild(ComboBox, "split.column"),
        dialog.findChild(QLineEdit, "split.threshold"),
    )
    column.setFocus()
    QTest.keyClicks(column, "body")
    assert column.currentText() == "body_mass_g"
    for text, told in (("heavy", "is no number"), ("9", "all go to one side")):
        threshold.selectAll()
        QTest.keyClicks(threshold, text)
        QTest.keyClick(threshold, Qt.Key.Key_Return)
        error = dialog.findChild(QLabel, "split.error")
        assert dialog.isVisible()
        assert error.isVisible()
        assert told in error.text()
    threshold.selectAll()
    QTest.keyClicks(threshold, "4200.5")
    QTest.keyClick(threshold, Qt.Key.Key_Return)
    after = panel.canvas.figure
    assert (after.tree.n_nodes, after.tree.threshold[0]) == (3, 4200.5)
    assert after.rule(0).name.startswith("body_mass_g")
    assert session.document.undo_stack.undoText() == "Force a split"
    session.window.actions_["action.edit.undo"].trigger()
    assert panel.canvas.figure.tree == before


def test_levels_are_forced_by_the_mouse(qtbot, session):
    panel = open_tree(qtbot, session)
    before = panel.canvas.figure.tree
    choose_in_menu(panel, (1,), "force_split")
    dialog = session.window.findChild(QDialog, "split")
    column, levels = dialog.findChild(ComboBox, "split.column"), dialog.findChild(QListWidget, "split.levels")
    column.setCurrentIndex(column.findText("island"))
    assert levels.isVisible()
    names = [levels.item(place).text() for place in range(levels.count())]
    assert levels.item(0).checkState() == Qt.CheckState.Checked
    for place in (0, len(names) - 1):
        rect = levels.visualItemRect(levels.item(place))
        QTest.mouseClick(levels.viewport(), LEFT, pos=rect.topLeft() + QPoint(12, rect.height() // 2))
    QTest.mouseClick(dialog.findChild(QWidget, "split.split"), LEFT)
    figure = panel.canvas.figure
    node = figure.tree.node_at((1,))
    spec = figure.features[figure.tree.feature[node]]
    assert spec.name == "island"
    chosen = [spec.levels[code] for code, child in figure.tree.levels(node).tolist() if child == 0]
    assert chosen == names[-1:]
    assert figure.edited == {(1,)}
    session.window.actions_["action.edit.undo"].trigger()
    assert panel.canvas.figure.tree == before
