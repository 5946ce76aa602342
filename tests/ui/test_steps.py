"""Growing one split and taking it back, and changes by hand that take long, in the window."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QDialog, QLabel, QMessageBox, QToolButton, QWidget

from engine.tree.best_first import first_splits, split_order
from tests.ui.test_tree_by_hand import choose_in_menu, open_tree, run_in_palette
from tests.workbench.making import HeldLane
from workbench import tree_editor
from workbench.ui.inputs import ComboBox

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def slow(monkeypatch):
    """Every table is too large to be changed at once."""
    monkeypatch.setattr(tree_editor, "SMALL_CELLS", 0)


@pytest.fixture(autouse=True)
def settled(qtbot, session):
    """What a test set off is over before its window goes, unless the test closed that itself."""
    yield
    qtbot.waitUntil(lambda: session.lanes.are_quiet or not session.window.isVisible(), timeout=60_000)


def press(session, key):
    """Press a key wherever the focus is; a window that is not active hears of no shortcut."""
    window = session.window
    window.activateWindow()
    QApplication.processEvents()
    QTest.keyClick(QApplication.focusWidget() or window, key)


def says(panel):
    return panel.findChild(QLabel, "tree.splits").text()


def shown(qtbot, panel, text):
    qtbot.waitUntil(lambda: says(panel) == text, timeout=20_000)
    return panel.canvas.figure.tree


def test_splits_go_and_come_by_button_key_menu_palette_and_undo(qtbot, session):
    panel = open_tree(qtbot, session)
    grown = panel.canvas.figure.tree
    n = len(split_order(grown))
    shown(qtbot, panel, f"{n} of {n} splits")
    on, back = (panel.findChild(QToolButton, f"tree.step_{which}") for which in ("on", "back"))
    assert not on.isEnabled()
    QTest.mouseClick(back, LEFT)
    assert shown(qtbot, panel, f"{n - 1} of {n} splits") == first_splits(grown, n - 1)
    press(session, Qt.Key.Key_F7)
    assert shown(qtbot, panel, f"{n - 2} of {n} splits") == first_splits(grown, n - 2)
    run_in_palette(session.window, "take one split back")
    assert shown(qtbot, panel, f"{n - 3} of {n} splits") == first_splits(grown, n - 3)
    QTest.mouseClick(on, LEFT)
    shown(qtbot, panel, f"{n - 2} of {n} splits")
    press(session, Qt.Key.Key_F8)
    shown(qtbot, panel, f"{n - 1} of {n} splits")
    choose_in_menu(panel, (), "step_back")
    assert shown(qtbot, panel, f"{n - 2} of {n} splits") == first_splits(grown, n - 2)
    for _ in range(n - 2):
        assert back.isEnabled()
        QTest.mouseClick(back, LEFT)
    assert shown(qtbot, panel, f"0 of {n} splits").n_nodes == 1
    assert not back.isEnabled()
    session.window.actions_["action.edit.undo"].trigger()
    assert shown(qtbot, panel, f"{n} of {n} splits") == grown
    session.window.actions_["action.edit.redo"].trigger()
    shown(qtbot, panel, f"0 of {n} splits")


def test_the_surface_the_scores_and_the_mark_on_the_curve_follow_each_step(qtbot, session):
    panel = open_tree(qtbot, session)
    document, window = session.document, session.window
    surface, pruning = (window.findChild(QWidget, f"panel.{name}") for name in ("surface", "pruning"))
    for name in ("surface", "pruning"):
        window.centre.show_view(name)
    qtbot.waitUntil(lambda: pruning.figure is not None and surface.plot.figure is not None, timeout=20_000)
    run_id = document.current_run_id
    grown = panel.canvas.figure.tree
    for _ in range(grown.n_leaves - 1):
        press(session, Qt.Key.Key_F7)
    assert panel.canvas.figure.tree.n_nodes == 1
    for k in range(1, 4):
        before = surface.plot.figure
        press(session, Qt.Key.Key_F8)
        qtbot.waitUntil(lambda before=before: surface.plot.figure is not before, timeout=20_000)
        result = document.run(run_id).result
        assert result.trees[0] == first_splits(grown, k)
        assert pruning.figure.here.n_leaves == k + 1
        n_right = round(result.scores["train"].accuracy.value * result.scores["train"].n_rows)
        leaf_rows = result.trees[0].n_node_samples * result.trees[0].value.max(axis=1)
        assert n_right == round(leaf_rows[result.trees[0].is_leaf].sum())
    pruning.plot.stop_asked.emit(len(pruning.figure.stops) - 1)  # a click on the curve: as grown
    qtbot.waitUntil(lambda: panel.canvas.figure.tree == grown, timeout=20_000)
    assert document.run(run_id).result.edits == ()


def test_the_surface_keeps_its_axes_while_the_tree_is_changed(qtbot, session):
    open_tree(qtbot, session)
    document, window = session.document, session.window
    window.centre.show_view("surface")
    surface = window.findChild(QWidget, "panel.surface")
    qtbot.waitUntil(lambda: surface.figure is not None, timeout=20_000)
    axes = surface.figure.x.name, surface.figure.y.name
    assert axes == ("flipper_length_mm", "bill_length_mm")

    def axes_after(change):
        before = surface.figure
        change()
        qtbot.waitUntil(lambda: surface.figure is not before, timeout=20_000)
        return surface.figure.x.name, surface.figure.y.name

    run_id = document.current_run_id
    for change in (
        lambda: document.prune(run_id, (0,)),  # bill_length_mm gains nothing any more
        lambda: document.force_split(run_id, (0,), "island", ["Biscoe", "Dream"]),
        lambda: document.prune(run_id, ()),
    ):
        assert axes_after(change) == axes


def test_other_changes_by_hand_stay_while_splits_go_and_come(qtbot, session):
    panel = open_tree(qtbot, session)
    document = session.document
    document.force_split(document.current_run_id, (0,), "body_mass_g", 4000.0)
    document.prune(document.current_run_id, (1,))
    qtbot.waitUntil(lambda: says(panel).startswith("2 of "), timeout=20_000)
    n_all = int(says(panel).split()[2])
    for _ in range(n_all - 2):
        press(session, Qt.Key.Key_F8)
    tree = panel.canvas.figure.tree
    assert tree.threshold[tree.node_at((0,))] == 4000.0
    assert not tree.is_leaf[tree.node_at((1,))]
    assert "changes by hand stay" in session.window.actions_["action.tree.step_on"].toolTip()


# ---- changes that take long ------------------------------------------------------------------------


def test_clicking_fast_loses_nothing_and_the_window_says_what_it_does(qtbot, session, slow):
    panel = open_tree(qtbot, session)
    window, document = session.window, session.document
    grown = panel.canvas.figure.tree
    n, held = len(split_order(grown)), HeldLane(session.lanes.edits)
    for _ in range(3):
        press(session, Qt.Key.Key_F7)
    window.context.selection.select_node((0,))
    window.actions_["action.tree.prune"].trigger()
    assert panel.canvas.figure.tree is grown
    qtbot.waitUntil(
        lambda: window.status._job.full_text() == "Taking splits back, 2 more to do; Escape stops it"
    )
    assert window.actions_["action.model.stop"].isEnabled()
    assert not window.actions_["action.edit.redo"].isEnabled()
    assert document.undo_stack.count() == 1  # the model's own
    held.let_go()
    qtbot.waitUntil(lambda: not window.context.editor.is_busy, timeout=20_000)
    result = document.run(document.current_run_id).result
    assert [edit.kind for edit in result.edits] == ["splits", "prune"]
    assert result.edits[0].n_splits == n - 3
    qtbot.waitUntil(lambda: panel.canvas.figure.tree is result.trees[0])
    assert not window.actions_["action.model.stop"].isEnabled()
    assert window.status._job.isHidden()


@pytest.mark.parametrize("how", ["escape", "stop", "undo"])
def test_a_change_under_way_is_stopped(qtbot, session, slow, how):
    panel = open_tree(qtbot, session)
    window, document = session.window, session.document
    grown, held = panel.canvas.figure.tree, HeldLane(session.lanes.edits)
    window.context.selection.select_node(())
    window.actions_["action.tree.prune"].trigger()
    if how == "escape":
        press(session, Qt.Key.Key_Escape)
    else:
        window.actions_["action.model.stop" if how == "stop" else "action.edit.undo"].trigger()
    assert not window.context.editor.is_busy
    assert document.messages[-1] == "Pruning was stopped; the tree is as it was."
    held.let_go()
    qtbot.waitUntil(lambda: not session.lanes.live_jobs, timeout=20_000)
    assert panel.canvas.figure.tree is grown
    assert document.undo_stack.count() == 1


def test_the_window_may_close_while_a_tree_changes(qtbot, session, slow):
    open_tree(qtbot, session)
    held = HeldLane(session.lanes.edits)
    session.window.context.selection.select_node((0,))
    session.window.actions_["action.tree.grow"].trigger()
    session.window.actions_["action.tree.prune"].trigger()
    assert session.window.context.editor.is_busy
    held.let_go()
    session.window._may_close = True
    session.window.close()
    assert session.shut_down()


def test_the_split_dialog_waits_for_its_split(qtbot, session, slow):
    open_tree(qtbot, session)
    held = HeldLane(session.lanes.edits)
    session.window.context.selection.select_node(())
    session.window.actions_["action.tree.force_split"].trigger()
    qtbot.waitUntil(lambda: session.window.findChild(QDialog, "split") is not None, timeout=20_000)
    dialog = session.window.findChild(QDialog, "split")
    split = dialog.findChild(QWidget, "split.split")
    QTest.mouseClick(split, LEFT)
    assert not split.isEnabled()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)  # leaves it, and the change is not made
    assert not session.window.context.editor.is_busy
    held.let_go()
    qtbot.waitUntil(lambda: not session.lanes.live_jobs, timeout=20_000)
    assert session.document.undo_stack.count() == 1


# ---- missing as the question ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sex", "body_mass_g"])
def test_whether_a_value_is_missing_is_forced_in_the_dialog(qtbot, session, name):
    panel = open_tree(qtbot, session)
    choose_in_menu(panel, (), "force_split")
    dialog = session.window.findChild(QDialog, "split")
    column = dialog.findChild(ComboBox, "split.column")
    column.setCurrentIndex(column.findText(name))
    box = dialog.findChild(QCheckBox, "split.is_missing")
    assert box.isVisible()
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert not dialog.findChild(QWidget, "split.threshold").isVisible()
    assert not dialog.findChild(QWidget, "split.levels").isVisible()
    QTest.keyClick(box, Qt.Key.Key_Return)
    figure = panel.canvas.figure
    assert figure.rule(0).name.startswith(name)
    assert figure.tree.n_nodes == 3
    X = session.document.table.column(name)
    train = session.document.run(session.document.current_run_id).result.parts == 0
    values = np.asarray(X.values, float)[train]
    assert figure.tree.n_node_samples[1] == np.sum((values < 0) if X.has_codes else np.isnan(values))
    session.window.actions_["action.edit.undo"].trigger()
    assert panel.canvas.figure.tree.n_nodes > 3


# ---- training again ----------------------------------------------------------------------------------


def test_changes_made_again_are_undone_and_the_tree_is_pruned_by_its_curve(qtbot, session):
    panel = open_tree(qtbot, session)
    document, window = session.document, session.window
    run_id = document.current_run_id
    document.force_split(run_id, (0,), "body_mass_g", 4000.0)
    window.models.train()
    box = window.findChild(QMessageBox, "prompt.retrain")
    with qtbot.waitSignal(session.trainer.ended, timeout=20_000):
        next(b for b in box.buttons() if b.text() == "Train and Change Again").click()
    changed = panel.canvas.figure.tree
    assert changed.threshold[changed.node_at((0,))] == 4000.0
    assert document.undo_stack.undoText() == "Make changes again"
    window.centre.show_view("pruning")
    pruning = window.findChild(QWidget, "panel.pruning")
    qtbot.waitUntil(lambda: pruning.figure is not None and pruning.figure.best is not None, timeout=20_000)
    pruning.slider.setValue(1)
    tree = document.run(run_id).result.trees[0]
    assert tree.threshold[tree.node_at((0,))] == 4000.0
    for _ in range(2):
        window.actions_["action.edit.undo"].trigger()
    assert document.run(run_id).result.trees[0] is document.run(run_id).result.grown_tree
    assert panel.canvas.figure.tree == document.run(run_id).result.grown_tree
