"""What confused somebody who met the program for the first time, each as it is told now."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from tests.ui.person import Person
from workbench.datasets import make_table
from workbench.ui.widgets import ElidedLabel, Label


@pytest.fixture
def person(qtbot, window) -> Person:
    return Person(qtbot, window)


def test_the_window_opens_and_returns_within_the_screen(session, window, settings):
    room = QGuiApplication.primaryScreen().availableGeometry()  # offscreen: 800 x 800
    assert room.width() < 1440, "the first size must not fit, or this tests nothing"
    window.hide()
    settings.remove("window/geometry")
    window._restore_size()
    assert (window.width(), window.height()) == (room.width() - 8, room.height() - 40)
    assert room.contains(QRect(window.pos(), window.size()))
    window.resize(1300, 1000)  # as remembered on a larger screen
    settings.setValue("window/geometry", window.saveGeometry())
    window._restore_size()
    assert room.contains(QRect(window.pos(), window.size()))


def test_notes_of_a_table_without_a_file_are_counted_and_can_be_read(person, window, document, small_table):
    from dataclasses import replace

    document.open_table(replace(small_table, notes=("size: 1 cell holds no number",)))
    strip = person.find("data.import.change", QPushButton)
    assert strip.text() == "Notes"
    person.click("data.import.change")
    assert person.find("data.import.notes", Label).text() == "size: 1 cell holds no number"
    assert person.find("data.import.notes").isVisible()
    assert not person.find("data.import.separator").isVisible(), "there is no file to read again"
    document.open_table(make_table("plain", {"a": [1, 2, 3]}))
    assert not strip.isVisible(), "nothing to read"


def test_one_note_is_singular(person, window, document, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,y\n" + "".join(f"0{1 + i % 9}/0{1 + i % 7}/2020,{i}\n" for i in range(60)))
    window.files.open_path(str(path))
    person.wait(lambda: document.table is not None)
    assert len(document.table.notes) == 1
    assert window.status.message == "Opened t: 60 rows, 2 columns, 1 note on the import"


def test_the_bar_names_the_project_beside_the_table(person, window, document, small_table, tmp_path, dialogs):
    document.open_table(small_table)
    name = person.find("toolbar.name", ElidedLabel)
    assert name.full_text() == "small"
    for file in ("work.treewright", "copy.treewright"):  # the second finds nothing changed
        dialogs.answers = [tmp_path / file]
        window.actions_["action.file.save_as"].trigger()
        person.wait(lambda: not window.files.is_saving)
        assert name.full_text() == f"small – {file}"
        assert window.windowTitle() == f"{file}[*] – Treewright"
