"""The command palette finds enabled commands and runs them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from workbench.ui.actions import ActionSet
from workbench.ui.command_palette import match_score


def listed(window) -> list[str]:
    model = window.palette_.model
    return [model.index(row).data() for row in range(model.rowCount())]


def test_better_matches_come_first():
    scores = [match_score("tr", text) for text in ("Train", "Add Tree", "Retry", "Text larger", "Quit")]
    assert scores[0] < scores[1] < scores[2] < scores[3]
    assert scores[4] is None
    assert match_score("", "anything") == 0


def test_it_runs_the_chosen_command_and_closes(window):
    window.actions_["action.view.palette"].trigger()
    assert window.palette_.isVisible()
    QTest.keyClicks(window.palette_.edit, "dark app")
    assert listed(window) == ["Dark Appearance"]
    QTest.keyClick(window.palette_.edit, Qt.Key.Key_Return)
    assert window.palette_.isHidden()
    assert window.actions_["action.view.theme_dark"].isChecked()


def test_disabled_commands_are_not_offered(window, document, small_table):
    window.palette_.open()
    assert "Train" not in listed(window)
    assert "Search Commands" not in listed(window)
    window.palette_.hide()
    document.open_table(small_table)
    document.set_target("y")
    window.palette_.open()
    assert "Train" in listed(window)


def test_what_nothing_is_called_is_said_right_below(qtbot, window):
    window.palette_.open()
    height = window.palette_.height()
    QTest.keyClicks(window.palette_.edit, "zzqqy")
    told = window.palette_.nothing
    qtbot.waitUntil(told.isVisible)
    assert window.palette_.height() < height / 2  # no empty list
    assert told.geometry().bottom() < window.palette_.height()
    window.palette_.edit.clear()
    assert window.palette_.height() == height


def test_arrows_move_and_escape_closes(window):
    window.palette_.open()
    edit, view = window.palette_.edit, window.palette_.list
    assert view.currentIndex().row() == 0
    QTest.keyClick(edit, Qt.Key.Key_Down)
    assert view.currentIndex().row() == 1
    QTest.keyClick(edit, Qt.Key.Key_Up)
    QTest.keyClick(edit, Qt.Key.Key_Up)
    assert view.currentIndex().row() == window.palette_.model.rowCount() - 1
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    assert window.palette_.isHidden()


def test_action_names_are_unique_and_well_formed(window):
    actions: ActionSet = window.actions_
    names = [action.objectName() for action in actions]
    assert len(names) == len(set(names))
    assert all(len(name.split(".")) == 3 and name.startswith("action.") for name in names)
    with pytest.raises(ValueError, match="taken"):
        actions.add("action.file.open", "Again")
    with pytest.raises(ValueError, match="action"):
        actions.add("file.open", "Wrong form")


def test_no_two_commands_share_a_shortcut(window, document, small_table):
    document.open_table(small_table)
    keys = [a.shortcut().toString() for a in window.actions_ if not a.shortcut().isEmpty()]
    assert sorted(keys) == sorted(set(keys))


def test_settings_are_found_by_every_name_and_take_the_keyboard(window, document, small_table):
    """Contracts D22: other libraries' names too."""
    document.open_table(small_table)
    document.set_target("y")
    document.add_run("boosting")
    window.palette_.open()
    QTest.keyClicks(window.palette_.edit, "eta")
    assert listed(window)[0] == "Learning rate (learning_rate)"
    for typed, wanted in {
        "num_leaves": "max_leaf_nodes",
        "iterations": "n_estimators",
        "n_trees": "n_estimators",
        "minbucket": "min_samples_leaf",
        "min child samples": "min_samples_leaf",
        "thread_count": "n_jobs",
    }.items():
        window.palette_.edit.setText(typed)
        assert listed(window)[0].endswith(f"({wanted})"), typed
    window.docks["settings"].hide()
    window.palette_.edit.setText("thread_count")
    QTest.keyClick(window.palette_.edit, Qt.Key.Key_Return)
    assert window.palette_.isHidden()
    row = window.docks["settings"].widget().form.row("n_jobs")
    assert window.docks["settings"].isVisible()
    assert row.isVisible()  # its group was folded
    assert row.field.isAncestorOf(QApplication.focusWidget())
    window.palette_.open()
    assert not any(text.endswith(")") for text in listed(window))  # settings only when looked for


def test_without_a_model_no_setting_is_offered(window):
    window.palette_.open()
    window.palette_.edit.setText("learning_rate")
    assert not any("learning_rate" in text for text in listed(window))


def test_a_search_without_a_hit_says_so(window):
    window.palette_.open()
    QTest.keyClicks(window.palette_.edit, "xyzzy")
    told = window.findChild(QLabel, "palette.nothing")
    assert told.isVisible()
    assert told.text() == "No command and no setting is called “xyzzy”."
    QTest.keyClick(window.palette_.edit, Qt.Key.Key_Return)  # does nothing, and closes
    window.palette_.open()
    QTest.keyClicks(window.palette_.edit, "dark app")
    assert not told.isVisible()
    assert window.palette_.list.isVisible()
    window.palette_.hide()
