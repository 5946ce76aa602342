"""Rules and SQL of a single tree by menu, keyboard and a node's own menu; rules open again."""

import numpy as np
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton

from tests.engine.test_export_sql import run_sql
from tests.ui.test_tree_by_hand import LEFT, choose_in_menu, open_tree, run_in_palette
from tests.ui.training_help import train
from workbench.apply import apply_model
from workbench.datasets import make_table
from workbench.samples import load_sample

TREE_ONLY = ("export_rules", "export_sql", "copy_sql")


def click_in_file_menu(window, name):
    """Open the File menu with the mouse and click an entry."""
    bar = window.menuBar()
    QTest.mouseClick(bar, LEFT, pos=bar.actionGeometry(bar.actions()[0]).center())
    menu = next(menu for menu in window.findChildren(QMenu) if menu.isVisible())
    action = window.actions_[f"action.model.{name}"]
    assert action.isEnabled()
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(action).center())
    menu.close()


def test_rules_are_exported_by_the_menu_and_open_as_the_same_model(qtbot, session, tmp_path, dialogs):
    open_tree(qtbot, session)
    document, path = session.document, tmp_path / "Bäume 🌳" / "pinguine.rules.txt"
    path.parent.mkdir()
    before = document.current_run.result
    expected = apply_model(before, document.table).predictions
    table = document.table
    dialogs.answers = [path, path]
    click_in_file_menu(session.window, "export_rules")
    assert dialogs.asked == ["Export Rules"]
    assert document.messages[-1].endswith("to pinguine.rules.txt")
    assert path.read_text(encoding="utf-8").startswith("Treewright rules 1\n")
    document.open_table(make_table("other", {"a": [1, 2, 3]}))
    session.window.actions_["action.file.open"].trigger()
    qtbot.waitUntil(lambda: document.current_run is not None)
    assert document.current_run.name == "pinguine"
    again = document.current_run.result
    assert again.trees == before.trees
    for (_, ours), (_, theirs) in zip(expected, apply_model(again, table).predictions, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_sql_is_exported_and_copied_and_computes_the_predictions(qtbot, session, tmp_path, dialogs):
    open_tree(qtbot, session)
    document, path = session.document, tmp_path / "größe.sql"
    table, result = document.table, document.current_run.result
    dialogs.answers = [path]
    run_in_palette(session.window, "export sql")
    cells = {}
    for column in table.columns:
        texts = [
            column.text(row) if column.text(row) not in ("", "NA") else None for row in range(table.n_rows)
        ]
        cells[column.name] = [float(t) if t and column.kind == "number" else t for t in texts]
    (_, expected), *shares = apply_model(result, table).predictions
    predicted, *found = run_sql(path.read_text(encoding="utf-8"), cells)
    assert predicted == list(expected)
    assert [share.tolist() for _name, share in shares] == found
    click_in_file_menu(session.window, "copy_sql")
    (predicted,) = run_sql(QApplication.clipboard().text(), cells)
    assert predicted == list(expected)
    assert document.messages[-1].startswith("Copied ")


def test_the_rule_of_a_node_is_copied_by_its_menu_and_by_the_keyboard(qtbot, session):
    panel = open_tree(qtbot, session)
    tree = panel.canvas.figure.tree
    leaf = tree.path_to(int(np.flatnonzero(tree.is_leaf)[0]))
    choose_in_menu(panel, leaf, "copy_rule")
    told = QApplication.clipboard().text()
    assert " → " in told
    assert "training rows, 95 % interval" in told
    session.window.context.selection.select_node(())
    run_in_palette(session.window, "copy rule")
    assert QApplication.clipboard().text().startswith("every row → ")
    assert QApplication.clipboard().text() != told


def test_ensembles_have_no_rules(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    actions = session.window.actions_
    assert not any(actions[f"action.model.{name}"].isEnabled() for name in TREE_ONLY)
    train(qtbot, session, "forest", n_estimators=2)
    assert not any(actions[f"action.model.{name}"].isEnabled() for name in TREE_ONLY)
    train(qtbot, session, "tree")
    assert all(actions[f"action.model.{name}"].isEnabled() for name in TREE_ONLY)


def test_a_folder_that_is_gone_is_told_with_a_way_out(qtbot, session, tmp_path, dialogs):
    open_tree(qtbot, session)
    dialogs.answers = [tmp_path / "nowhere" / "t.rules.txt", tmp_path / "t.rules.txt"]
    run_in_palette(session.window, "export rules")
    notice = session.window.notice
    assert "The tree was not written: t.rules.txt" in notice.text
    QTest.mouseClick(notice.findChild(QPushButton, "notice.mend"), LEFT)
    assert (tmp_path / "t.rules.txt").exists()
