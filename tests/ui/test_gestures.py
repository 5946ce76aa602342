"""What is done to a tree by hand: each gesture by mouse, by keyboard, and undone; one selection for all."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QTableView, QWidget

from engine.tree.cost_complexity import prune_at
from engine.tree.pruning_rules import pessimistic_prune
from tests.ui.person import Person
from tests.ui.test_tree_by_hand import CTRL, LEFT, choose_in_menu, open_tree, run_in_palette
from tests.ui.training_help import train
from workbench import editing
from workbench.samples import load_sample
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


def open_pruning(qtbot, session):
    """The Pruning view of a tree on Penguins that can be cut at many prices, with its folds."""
    session.window.show()
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree", max_depth=None, min_samples_leaf=1)
    panel = show(qtbot, session, "pruning")
    qtbot.waitUntil(lambda: panel.figure is not None and panel.figure.best is not None, timeout=60_000)
    return panel


def use(qtbot, button, device):
    """Press a button as a hand does: with the mouse, or with the space bar, where Tab may come to it."""
    if device == "mouse":
        QTest.mouseClick(button, LEFT)
        return
    window = button.window()
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    button.setFocus()
    assert QApplication.focusWidget() is button
    key(button, Qt.Key.Key_Space)


@pytest.mark.parametrize("device", ["mouse", "keyboard"])
@pytest.mark.parametrize("mark", ["best", "one_standard_error"])
def test_a_mark_of_the_curve_prunes_and_is_undone(qtbot, session, mark, device):
    pruning, document = open_pruning(qtbot, session), session.document
    figure = pruning.figure
    grown = document.current_run.result.trees[0]
    stop = figure.stops[figure.best if mark == "best" else figure.one_se]
    use(qtbot, pruning.findChild(QPushButton, f"pruning.{mark}"), device)
    pruned = document.current_run.result.trees[0]
    assert pruned == prune_at(grown, stop.alpha)
    assert pruned.n_leaves == stop.n_leaves < grown.n_leaves
    undo(qtbot, session.window)
    assert document.current_run.result.trees[0] is grown
    assert pruning.slider.value() == pruning.slider.maximum()
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)


@pytest.mark.parametrize("device", ["mouse", "keyboard"])
def test_a_place_on_the_curve_prunes_and_is_undone(qtbot, session, device):
    pruning, document = open_pruning(qtbot, session), session.document
    figure = pruning.figure
    grown = document.current_run.result.trees[0]
    if device == "mouse":
        place = pruning.plot.plot.vb.mapViewToScene(QPointF(0.0, figure.lines[0].y[-1]))  # of one leaf
        qtbot.mouseClick(pruning.plot.viewport(), LEFT, pos=pruning.plot.mapFromScene(place))
        stop = figure.stops[0]
    else:
        pruning.slider.setFocus()
        key(pruning.slider, Qt.Key.Key_Left)
        stop = figure.stops[-2]
    assert document.current_run.result.trees[0] == prune_at(grown, stop.alpha)
    undo(qtbot, session.window)
    assert document.current_run.result.trees[0] is grown
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)


@pytest.mark.parametrize("device", ["mouse", "keyboard"])
def test_a_large_table_is_cross_validated_when_it_is_asked_for(qtbot, session, monkeypatch, device):
    monkeypatch.setattr("workbench.ui.panels.pruning.MAX_ROWS", 0)
    session.window.show()
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    panel = show(qtbot, session, "pruning")
    qtbot.waitUntil(lambda: panel.figure is not None, timeout=60_000)
    ask, best = (panel.findChild(QPushButton, f"pruning.{name}") for name in ("cross_validate", "best"))
    assert panel.figure.best is None
    assert ask.isVisible()
    assert not best.isVisible()
    use(qtbot, ask, device)
    qtbot.waitUntil(lambda: panel.figure.best is not None, timeout=60_000)
    qtbot.waitUntil(best.isVisible)
    assert not ask.isVisible()


def test_the_price_of_a_cut_is_told_on_the_way_with_the_arrow_keys(qtbot, session):
    panel = open_tree(qtbot, session)
    qtbot.waitUntil(lambda: panel._prices is not None, timeout=30_000)
    grown, canvas = panel.canvas.figure.tree, panel.canvas
    for path in ((), (0,)):
        key(canvas, Qt.Key.Key_Down)
        assert canvas.selected_path == path
        told = panel._subtitle.full_text()
        before = session.document.current_run.result
        cut = editing.prune(before, session.document.table, path)
        assert told.startswith(f"Cut here: −{grown.n_leaves - cut.trees[0].n_leaves} lea")
        for part, words in (("train", "training"), ("validation", "validation")):
            wrong = [100 * (1 - result.scores[part].accuracy.value) for result in (before, cut)]
            assert f"{wrong[0]:.1f} → {wrong[1]:.1f} % in {words}" in told
    assert panel.canvas.figure.tree is grown


@pytest.mark.parametrize("device", ["mouse", "keyboard"])
def test_changes_are_made_again_on_the_tree_trained_anew_and_undone(qtbot, session, device):
    panel = open_tree(qtbot, session)
    window, document = session.window, session.document
    click_card(panel.canvas, (0,))
    key(panel.canvas, Qt.Key.Key_Delete)
    cut = panel.canvas.figure.tree
    if device == "mouse":
        QTest.mouseClick(window.findChild(QPushButton, "settings.train"), LEFT)
    else:
        Person(qtbot, window).press(Qt.Key.Key_R, CTRL)
    box = window.findChild(QMessageBox, "prompt.retrain")
    keep = next(b for b in box.buttons() if b.text().replace("&", "") == "Train and Change Again")
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        use(qtbot, keep, device)
    assert panel.canvas.figure.tree == cut
    assert "1 change by hand made again" in document.messages[-1]
    undo(qtbot, window)
    grown = document.current_run.result.grown_tree
    assert panel.canvas.figure.tree is document.current_run.result.trees[0] is grown
    assert not grown.is_leaf[grown.node_at((0,))]
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
