"""The Splits view while the window is busy: quick nodes, candidates, edits, another training, removal."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QTableView, QWidget

from tests.ui.training_help import train
from workbench.samples import load_sample


@pytest.mark.parametrize("ending", ["remove", "switch", "close"])
def test_quick_nodes_candidates_and_edits_while_another_model_trains(qtbot, session, ending):
    session.window.show()
    document, selection = session.document, session.window.context.selection
    document.open_table(load_sample("penguins"))
    run_id = train(qtbot, session, "tree")
    session.window.centre.show_view("splits")
    panel = session.window.findChild(QWidget, "panel.splits")
    qtbot.waitUntil(lambda: panel._study is not None, timeout=60_000)
    table = panel.findChild(QTableView, "splits.table")
    before = document.run(run_id).result.trees
    other = document.add_run("boosting")
    document.set_parameter(other, "n_estimators", 300)
    session.trainer.train(other)
    document.select_run(run_id)
    actions = session.window.context.actions
    for path in ((), (0,), (1,), (0, 0), ()) * 3:
        selection.select_node(path)
        QApplication.processEvents()
        table.selectRow(1)
        actions["action.tree.force_candidate"].trigger()
        actions["action.edit.undo"].trigger()
        actions["action.edit.redo"].trigger()
        QApplication.processEvents()
    if ending == "remove":
        selection.select_node((1,))
        document.delete_run(run_id)
        assert run_id not in document.runs
    elif ending == "switch":
        selection.select_node((1,))
        document.select_run(other)
        document.select_run(run_id)
        qtbot.waitUntil(lambda: not session.window.context.editor.is_busy, timeout=60_000)
        while document.undo_stack.canUndo() and document.run(run_id).result.trees != before:
            actions["action.edit.undo"].trigger()
            qtbot.waitUntil(lambda: not session.window.context.editor.is_busy, timeout=60_000)
        assert document.run(run_id).result.trees == before
        selection.select_node(())
        qtbot.waitUntil(lambda: panel._study is not None and panel._study.path == (), timeout=60_000)
        qtbot.waitUntil(lambda: panel._study.tree == before[0], timeout=60_000)
    else:
        selection.select_node((1,))
        session.window.close()
        qtbot.waitUntil(lambda: session.window.findChild(QMessageBox) is not None, timeout=60_000)
        discard = session.window.findChild(QMessageBox).button(QMessageBox.StandardButton.Discard)
        QTest.mouseClick(discard, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not session.window.isVisible(), timeout=60_000)
