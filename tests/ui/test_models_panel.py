"""The Models panel mirrors the document's runs."""

from __future__ import annotations

import html

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListView, QPushButton

from workbench.figures.scores import WHY_PARTS_DIFFER
from workbench.ui.item_models.run_model import RUN_ROLE


@pytest.fixture
def panel(window, document, small_table):
    document.open_table(small_table)
    document.set_target("y")
    return window.docks["models"].widget()


def names(panel) -> list[str]:
    model = panel.list.model()
    return [model.index(row).data() for row in range(model.rowCount())]


def click(panel, name):
    QTest.mouseClick(panel.findChild(QPushButton, name), Qt.MouseButton.LeftButton)


def test_it_opens_empty_and_waits_for_a_target(window, document, small_table):
    document.open_table(small_table)
    panel = window.docks["models"].widget()
    assert names(panel) == []
    assert not panel.findChild(QPushButton, "models.add_tree").isEnabled()
    document.set_target("y")
    assert panel.findChild(QPushButton, "models.add_tree").isEnabled()


def test_models_are_added_and_the_new_one_is_current(panel, document):
    for kind in ("tree", "forest", "boosting"):
        click(panel, f"models.add_{kind}")
    assert names(panel) == ["Decision tree 1", "Random forest 1", "Gradient boosting 1"]
    assert [run.spec.kind for run in document.runs.values()] == ["tree", "forest", "boosting"]
    assert panel.list.currentIndex().row() == 2
    panel.list.setCurrentIndex(panel.list.model().index(0))
    assert document.current_run.spec.kind == "tree"
    document.undo_stack.undo()
    assert names(panel) == ["Decision tree 1", "Random forest 1"]


def test_a_model_is_renamed_in_place(panel, document, window, qtbot):
    click(panel, "models.add_tree")
    window.actions_["action.model.rename"].trigger()
    editor = panel.list.findChild(QLineEdit)
    editor.setText("  <b>First</b> ")
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: document.current_run.name == "<b>First</b>")
    document.undo_stack.undo()
    assert names(panel) == ["Decision tree 1"]


def test_an_empty_name_is_refused(panel, document):
    click(panel, "models.add_tree")
    model = panel.list.model()
    assert not model.setData(model.index(0), "   ")
    assert document.current_run.name == "Decision tree 1"


def test_duplicate_and_delete(panel, document, window):
    click(panel, "models.add_tree")
    window.actions_["action.model.duplicate"].trigger()
    assert names(panel) == ["Decision tree 1", "Decision tree 2"]
    panel.list.setFocus()
    QTest.keyClick(panel.list, Qt.Key.Key_Delete)
    assert names(panel) == ["Decision tree 1"]
    document.undo_stack.undo()
    assert names(panel) == ["Decision tree 1", "Decision tree 2"]
    window.actions_["action.model.delete"].trigger()
    window.actions_["action.model.delete"].trigger()
    assert names(panel) == []
    assert not window.actions_["action.model.delete"].isEnabled()


def test_training_shows_its_state_and_score(panel, document, session, qtbot):
    click(panel, "models.add_tree")
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        session.window.actions_["action.model.train"].trigger()
    index = panel.list.model().index(0)
    assert index.data(RUN_ROLE).state == "done"
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Decision tree 1, trained"


def test_the_list_says_why_nothing_can_be_added_and_what_was_changed_by_hand(qtbot, session, window):
    from workbench.samples import load_sample

    document = session.document
    document.open_table(load_sample("penguins"))
    target, hint = document.target, window.findChild(QLabel, "models.hint")
    document.set_roles([target], "feature")
    assert hint.isVisible()
    assert hint.text() == "Choose what to predict above; then add a model and train it."
    document.set_target(target)
    assert hint.text() == "No model yet. Add one:"
    run_id = document.add_run("tree")
    assert not hint.isVisible()
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        session.trainer.train(run_id)
    model = window.findChild(QListView, "models.list").model()

    def tip():
        return html.unescape(model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole))

    assert WHY_PARTS_DIFFER in tip()
    assert "by hand" not in tip()
    document.prune(run_id, (0,))
    assert "Pruned by hand at 1 node." in tip()
    n_leaves = document.run(run_id).result.trees[0].n_leaves
    assert f"changed by hand and has {n_leaves} leaves now; Undo takes it back" in document.messages[-1]
    document.undo_stack.undo()
    n_leaves = document.run(run_id).result.trees[0].n_leaves
    assert document.messages[-1] == f"{document.run(run_id).name} has {n_leaves} leaves again."
    assert window.findChild(QLabel, "models.scored").text() == "scores of validation rows"


def test_a_list_painted_before_it_hears_of_a_deletion_still_paints(session, panel, document, qtbot):
    """The trainer hears first that a model is gone; who repaints the window then asks for the old rows."""
    click(panel, "models.add_tree")
    run_id = document.current_run_id
    painted = []
    session.trainer.ended.connect(lambda _run_id: painted.append(panel.list.grab().isNull()))
    assert session.trainer.train(run_id)
    document.undo_stack.undo()
    assert painted == [False]
    assert names(panel) == []
    qtbot.waitUntil(lambda: not session.lanes.live_jobs)


def test_progress_is_painted_with_the_next_event_and_not_in_the_middle_of_a_signal(window, qtbot):
    bar = window.docks["jobs"].widget().bar
    painted = []

    class Watch(QObject):
        def eventFilter(self, _watched, event):
            if event.type() == QEvent.Type.Paint:
                painted.append(bar.value())
            return False

    window.docks["jobs"].show()
    bar.show()
    QApplication.processEvents()
    watch = Watch()
    bar.installEventFilter(watch)
    bar.show_fraction(0.5)
    assert painted == []
    qtbot.waitUntil(lambda: painted == [500])
