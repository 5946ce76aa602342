"""The Information window: chosen columns, cuts, undo, what is missing, files; by mouse and keyboard."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit

from engine.information import EQUAL_WIDTHS
from tests.ui.study_help import choose, enter, exported, open_study, part
from workbench.datasets import make_table
from workbench.information import OWN, InformationSettings
from workbench.samples import load_sample
from workbench.ui.information_dialog import FITTED


@pytest.fixture
def penguins(session):
    """The table; a fixture that returned the window would keep it alive after the test."""
    session.document.open_table(load_sample("penguins"))


def opened(qtbot, session):
    dialog = open_study(session, "information")
    qtbot.waitUntil(lambda: dialog.figure is not None)
    return dialog


def choose_anew(qtbot, dialog, name, text):
    before = dialog.figure
    choose(dialog, name, text)
    qtbot.waitUntil(lambda: dialog.figure is not before and dialog.figure is not None)


def test_it_can_be_opened_once_there_is_a_table(session):
    action = session.window.actions_["action.study.information"]
    assert not action.isEnabled()
    session.document.open_table(load_sample("xor"))
    assert action.isEnabled()
    menus = [entry.menu().actions() for entry in session.window.menuBar().actions()]
    assert any(action in menu for menu in menus)


def test_the_target_and_another_column_are_counted(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    assert (dialog.figure.x.name, dialog.figure.y.name) == ("island", "species")
    assert dialog.arithmetic.toPlainText().startswith("H(X) = −")
    model = dialog.model
    assert model.index(3, 3).data() == "344"
    assert model.headerData(0, Qt.Orientation.Vertical) == "Biscoe"
    assert model.headerData(3, Qt.Orientation.Horizontal) == "sum"
    assert dialog.plot.texts_[0].toPlainText().startswith("H(X,Y) = ")


def test_a_column_of_numbers_is_cut_as_one_says(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    assert not part(dialog, QComboBox, "x.way").isVisible()
    assert not part(dialog, QLabel, "x.unit").isVisible()
    choose_anew(qtbot, dialog, "x.column", "bill_length_mm")
    assert part(dialog, QComboBox, "x.way").isVisible()
    assert part(dialog, QLabel, "x.unit").isVisible()
    assert len(dialog.figure.x.labels) == 4
    assert "2 left out" in dialog.figure.subtitle
    choose_anew(qtbot, dialog, "x.way", "Equal widths")
    enter(dialog, "x.ranges", "3", end=Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(dialog.figure.x.labels) == 3)
    choose_anew(qtbot, dialog, "x.way", "Own cuts")
    assert not part(dialog, QLabel, "x.unit").isVisible()
    enter(dialog, "x.ranges", "40 45", end=Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.figure.x.labels == ("≤ 40", "40 to 45", "> 45"))
    stack = session.document.undo_stack
    assert [stack.text(k) for k in range(stack.count())] == [
        "Look at bill_length_mm", *["Cut bill_length_mm"] * 4
    ]  # fmt: skip
    QTest.keyClick(dialog, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: session.document.studies.information.x_cutting.way == OWN)
    stack.undo()
    stack.undo()
    qtbot.waitUntil(lambda: part(dialog, QLineEdit, "x.ranges").text() == "4")
    assert session.document.studies.information.x_cutting.way == EQUAL_WIDTHS


def test_what_cannot_be_read_is_said(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    choose_anew(qtbot, dialog, "x.column", "bill_length_mm")
    enter(dialog, "x.ranges", "many", end=Qt.Key.Key_Return)
    error = part(dialog, QLabel, "error")
    assert "enter a whole number from 1 to 100" in error.text()
    assert session.document.studies.information.x_cutting.n_ranges == 4
    enter(dialog, "x.ranges", "2", end=Qt.Key.Key_Return)
    assert not error.isVisible()


def test_too_many_values_are_said(qtbot, session):
    names = [f"v{k}" for k in range(1200)]
    session.document.open_table(make_table("t", {"a": names, "b": names, "c": ["u", "v"] * 600}))
    dialog = opened(qtbot, session)
    box = part(dialog, QComboBox, "y.column")
    box.setCurrentText("b")
    box.activated.emit(1)
    error = part(dialog, QLabel, "error")
    qtbot.waitUntil(error.isVisible)
    assert "choose columns of fewer values" in error.text()
    assert dialog.figure is None
    session.document.undo_stack.undo()
    qtbot.waitUntil(lambda: dialog.figure is not None)
    assert not error.isVisible()


def test_another_table_is_followed(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    session.document.open_table(load_sample("rain_and_clouds"))
    qtbot.waitUntil(lambda: dialog.figure is not None and dialog.figure.x.name == "raining")
    session.document.open_table(make_table("one", {"a": [1, 2]}))
    qtbot.waitUntil(lambda: dialog.figure is None)


def test_tables_and_pictures_are_saved(session, qtbot, penguins, tmp_path, monkeypatch):
    dialog = opened(qtbot, session)
    exported(dialog, tmp_path, monkeypatch)
    assert (tmp_path / "information.csv").read_text("utf-8") == dialog.figure.to_csv()


def test_escape_closes_it_and_it_opens_again(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert opened(qtbot, session) is dialog


def test_of_very_many_values_the_longest_are_measured_and_columns_are_alike(qtbot, session):
    levels = [f"level {k}" for k in range(2 * FITTED)]
    table = make_table("levels", {"id": levels, "half": ["a", "b"] * FITTED})
    session.document.open_table(table)
    session.document.set_studies("Look at", information=InformationSettings("half", "id"))
    dialog = opened(qtbot, session)
    widths = {dialog.table.columnWidth(k) for k in range(2 * FITTED + 1)}
    assert len(widths) == 1
    assert widths.pop() > dialog.table.fontMetrics().horizontalAdvance("level 599")
    session.document.set_studies("Look at", information=InformationSettings("id", "half"))
    qtbot.waitUntil(lambda: dialog.figure.x.name == "id")
    header, n_columns = dialog.table.verticalHeader(), dialog.table.model().columnCount()
    assert header.width() > dialog.table.fontMetrics().horizontalAdvance("level 599")
    assert n_columns == 3
    dialog.close()
