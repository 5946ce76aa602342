"""What tests of study windows share: opening one, and doing to its parts what a person does."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QToolButton, QWidget

from workbench.ui import file_dialogs

LEFT = Qt.MouseButton.LeftButton


def open_study(session, name):
    """Choose a study in the menu; its window."""
    session.window.actions_[f"action.study.{name}"].trigger()
    return session.window.studies.window_of(name)


def open_refits(qtbot, session, name):
    """Open a window of fits, and wait for its fields where there is a model."""
    dialog = open_study(session, name)
    qtbot.waitUntil(dialog.isVisible)
    if session.document.current_run is not None:
        qtbot.waitUntil(lambda: part(dialog, QLineEdit, "count").text() != "")
    return dialog


def part(dialog, kind, name):
    """The part of a study's window that is called so."""
    return dialog.findChild(kind, f"{dialog.objectName().removeprefix('study.')}.{name}")


def choose(dialog, name, text):
    """Choose an item of a list."""
    box = part(dialog, QComboBox, name)
    box.setCurrentText(text)
    box.activated.emit(box.currentIndex())


def enter(dialog, name, text, *, end=Qt.Key.Key_Tab):
    """Type into a field in place of what stands there, and end with a key or none; the field."""
    found = part(dialog, QWidget, name)
    edit = found if isinstance(found, QLineEdit) else found.focusProxy()
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, text)
    if end is not None:
        QTest.keyClick(edit, end)
    return edit


def save_into(folder, monkeypatch):
    """Let every file that is asked for be saved into a folder under the name that is proposed."""

    def answer(_parent, _title, _filters, proposal, _suffix, then):
        then(str(folder / proposal))

    monkeypatch.setattr(file_dialogs, "ask_save", answer)


def exported(dialog, folder, monkeypatch):
    """Press the buttons of table and picture; the files: .csv, .png."""
    before = set(folder.iterdir())
    save_into(folder, monkeypatch)
    for name in ("csv", "export"):
        QTest.mouseClick(part(dialog, QToolButton, name), LEFT)
    made = sorted(set(folder.iterdir()) - before)
    assert [path.suffix for path in made] == [".csv", ".png"]
    assert made[1].stat().st_size > 1000
    return made
