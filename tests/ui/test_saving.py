"""Saving in a worker: the window goes on, changes made meanwhile stay unsaved, closing waits."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMessageBox

from tests.ui.person import CTRL, Person, prompt_of
from tests.workbench.making import HeldLane
from workbench.project import load_project


@pytest.fixture
def person(qtbot, window) -> Person:
    return Person(qtbot, window)


@pytest.fixture
def slow_disk(session, qtbot):
    held = HeldLane(session.lanes.files)
    yield held
    held.let_go()
    qtbot.waitUntil(lambda: bool(held.ended))


@pytest.fixture
def project(document, small_table, tmp_path):
    """A project that was saved once and changed since; its path."""
    document.open_table(small_table)
    document.set_target("y")
    path = tmp_path / "p.treewright"
    document.mark_saved(path)
    document.set_roles(["size"], "ignored")
    return path


def test_the_window_answers_while_a_save_is_written(person, window, document, project, slow_disk):
    person.press(Qt.Key.Key_S, CTRL)
    assert window.files.is_saving
    assert window.status.message == "Saving p.treewright"
    assert not project.exists()
    assert document.is_dirty
    person.click("models.add_tree")
    assert len(document.runs) == 1
    slow_disk.let_go()
    person.wait(lambda: not window.files.is_saving)
    assert project.exists()


def test_what_is_changed_while_saving_stays_unsaved(person, window, document, project, slow_disk):
    person.press(Qt.Key.Key_S, CTRL)
    document.set_roles(["colour"], "ignored")
    document.set_view_state("late", True)
    slow_disk.let_go()
    person.wait(lambda: not window.files.is_saving)
    assert window.isWindowModified(), "the change came after the save had begun"
    saved = load_project(project)
    assert (saved.data.roles["size"], saved.data.roles["colour"]) == ("ignored", "feature")
    assert "late" not in saved.view_state
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.is_dirty, "the step that was clean before is not what the file holds now"
    document.undo_stack.redo()
    person.press(Qt.Key.Key_S, CTRL)
    person.wait(lambda: not window.files.is_saving)
    assert not window.isWindowModified()


def test_without_changes_meanwhile_nothing_is_unsaved(person, window, document, project, slow_disk):
    person.press(Qt.Key.Key_S, CTRL)
    document.set_roles(["colour"], "ignored")
    document.undo_stack.undo()
    slow_disk.let_go()
    person.wait(lambda: not window.files.is_saving)
    assert not document.is_dirty


def test_a_second_save_follows_the_first(person, window, document, project, slow_disk):
    person.press(Qt.Key.Key_S, CTRL)
    document.set_roles(["colour"], "ignored")
    person.press(Qt.Key.Key_S, CTRL)
    slow_disk.let_go()
    person.wait(lambda: not window.files.is_saving)
    assert load_project(project).data.roles["colour"] == "ignored"
    assert not document.is_dirty


def test_closing_waits_for_the_save(person, window, document, project, slow_disk):
    person.press(Qt.Key.Key_S, CTRL)
    window.close()
    assert window.isVisible()
    assert prompt_of(window) is None, "what is being saved is not asked about"
    slow_disk.let_go()
    person.wait(lambda: not window.isVisible())
    assert load_project(project).data.roles["size"] == "ignored"


def test_closing_after_a_change_made_while_saving_asks(person, window, document, project, slow_disk):
    person.press(Qt.Key.Key_S, CTRL)
    document.set_roles(["colour"], "ignored")
    window.close()
    slow_disk.let_go()
    person.wait(lambda: prompt_of(window) is not None)
    assert window.isVisible()
    QTest.mouseClick(prompt_of(window).button(QMessageBox.StandardButton.Cancel), Qt.MouseButton.LeftButton)


def test_a_save_that_fails_says_so_and_neither_closes_nor_counts(
    person, window, document, small_table, tmp_path, slow_disk
):
    document.open_table(small_table)
    document.set_target("y")
    document.mark_saved(tmp_path / "gone" / "p.treewright")
    document.set_roles(["size"], "ignored")
    person.press(Qt.Key.Key_S, CTRL)
    window.close()
    slow_disk.let_go()
    person.wait(lambda: not window.files.is_saving)
    notice = person.find("notice.text", QLabel)
    assert notice.isVisible()
    told = "p.treewright cannot be written (No such file or directory); choose another folder or name"
    assert notice.text() == told
    assert person.find("notice.mend").text() == "Save As"
    assert window.isVisible()
    assert document.is_dirty


def test_a_cancelled_save_dialog_does_not_close_the_window_later(
    person, window, document, small_table, tmp_path, dialogs
):
    document.open_table(small_table)
    document.set_target("y")
    dialogs.answers = [None, tmp_path / "later.treewright"]
    window.close()
    QTest.mouseClick(prompt_of(window).button(QMessageBox.StandardButton.Save), Qt.MouseButton.LeftButton)
    person.press(Qt.Key.Key_S, CTRL)
    person.wait(lambda: not window.files.is_saving)
    assert (tmp_path / "later.treewright").exists()
    assert window.isVisible(), "the wish to close was given up with the dialog"


def test_opening_another_sample_waits_for_the_save(person, window, document, project, slow_disk):
    person.press(Qt.Key.Key_S, CTRL)
    window.files.open_sample("xor")
    slow_disk.let_go()
    person.wait(lambda: document.table is not None and document.table.sample == "xor")
    assert load_project(project).data.roles["size"] == "ignored"
    assert document.path is None
