"""The Data panel: what is shown is what the document holds, and the other way round."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QFrame, QLineEdit, QListView, QPushButton

from workbench.datasets import make_table
from workbench.jobs import Job
from workbench.samples import load_sample
from workbench.ui import theme
from workbench.ui.forms.import_form import text_to_tokens, tokens_to_text
from workbench.ui.item_models.column_model import COLUMN_ROLE, STRENGTH_ROLE


@pytest.fixture
def panel(window, document, small_table):
    document.open_table(small_table)
    return window.docks["data"].widget()


def choose(combo: QComboBox, data) -> None:
    idx = combo.findData(data)
    assert idx >= 0, f"{combo.objectName()} does not offer {data!r}"
    combo.setCurrentIndex(idx)
    combo.activated.emit(idx)


def shown_names(panel) -> list[str]:
    return [panel.model.name(row) for row in range(panel.model.rowCount())]


def test_it_opens_empty(window):
    panel = window.docks["data"].widget()
    assert not panel._switch.shows_content
    assert panel.model.rowCount() == 0


def test_columns_are_listed_searched_and_ordered(panel):
    assert shown_names(panel) == ["size", "colour", "name", "same", "y"]
    QTest.keyClicks(panel.findChild(QLineEdit, "data.search"), "AM")
    assert shown_names(panel) == ["name", "same"]
    panel.findChild(QLineEdit, "data.search").clear()
    order = panel.findChild(QComboBox, "data.order")
    choose(order, "name")
    assert shown_names(panel) == ["colour", "name", "same", "size", "y"]
    choose(order, "missing")
    assert shown_names(panel)[:2] == ["size", "colour"]
    choose(order, "distinct")
    assert shown_names(panel)[:2] == ["name", "size"]


def test_role_is_set_for_all_selected_at_once_and_undone(panel, document):
    panel.select(["size", "same"])
    choose(panel.findChild(QComboBox, "data.role"), "ignored")
    assert [document.roles[name] for name in ("size", "same", "colour")] == ["ignored", "ignored", "feature"]
    document.undo_stack.undo()
    assert document.roles["size"] == document.roles["same"] == "feature"
    assert panel.selected_names() == ["size", "same"], "the selection stays through a change of roles"


def test_kind_is_set_and_what_is_impossible_is_said(panel, document):
    panel.select(["size"])
    choose(panel.findChild(QComboBox, "data.kind"), "category")
    assert document.table.column("size").kind == "category"
    panel.select(["colour"])
    choose(panel.findChild(QComboBox, "data.kind"), "date")
    assert document.table.column("colour").kind == "category"
    assert "colour" in document.messages[-1]
    assert panel.findChild(QComboBox, "data.kind").currentData() == "category"


def test_target_and_event_class(panel, document):
    choose(panel.findChild(QComboBox, "data.target"), "y")
    assert document.target == "y"
    event = panel.findChild(QComboBox, "data.event")
    assert event.currentText() == "yes"
    choose(event, "no")
    assert document.event_class == "no"
    document.undo_stack.undo()
    assert event.currentText() == "yes"


def test_a_numeric_target_offers_classes_and_others_do_not(panel, document):
    choose(panel.findChild(QComboBox, "data.target"), "size")
    as_classes = panel.findChild(QCheckBox, "data.as_classes")
    assert not as_classes.isHidden()
    assert not as_classes.isChecked()
    QTest.mouseClick(as_classes, Qt.MouseButton.LeftButton, pos=as_classes.rect().center() / 4)
    assert document.is_classification == as_classes.isChecked()
    choose(panel.findChild(QComboBox, "data.target"), "y")
    assert as_classes.isHidden()


def test_problems_are_named_and_ignored_with_one_click(panel, document, qtbot):
    document.set_roles(["name"], "feature")
    document.set_target("y")
    banner = panel.findChild(QFrame, "data.problems")
    qtbot.waitUntil(
        lambda: not banner.isHidden() and panel._banner_text.full_text() == "1 constant, 1 identifier-like"
    )
    assert "same" in banner.toolTip()
    QTest.mouseClick(panel.findChild(QPushButton, "data.ignore_problems"), Qt.MouseButton.LeftButton)
    assert document.roles["same"] == document.roles["name"] == "ignored"
    assert banner.isHidden()


def test_strengths_arrive_order_the_list_and_tell_a_leak_that_one_click_ignores(window, document, qtbot):
    n = 200
    table = make_table(
        "strength",
        {
            "noise": [(i * 7919) % 101 for i in range(n)],
            "copy": [i % 2 for i in range(n)],
            "y": ["a", "b"] * (n // 2),
        },
    )
    document.open_table(table)
    document.set_target("y")
    panel = window.docks["data"].widget()
    row = panel.model.row_of("copy")
    qtbot.waitUntil(lambda: (panel.model.data(panel.model.index(row), STRENGTH_ROLE) or 0) > 0.95)
    choose(panel.findChild(QComboBox, "data.order"), "strength")
    assert shown_names(panel)[0] == "copy"
    banner = panel.findChild(QFrame, "data.problems")
    qtbot.waitUntil(banner.isVisible)
    assert panel._banner_text.full_text() == "1 leaking"
    assert "copy: " in banner.toolTip()
    QTest.mouseClick(panel.findChild(QPushButton, "data.ignore_problems"), Qt.MouseButton.LeftButton)
    assert document.roles["copy"] == "ignored"
    assert banner.isHidden()


def test_three_hundred_columns_are_listed(window, document):
    document.open_table(make_table("wide", {f"c{i}": [i, i + 1, i] for i in range(300)}))
    panel = window.docks["data"].widget()
    assert panel.model.rowCount() == 300
    panel.select([f"c{i}" for i in range(300)])
    choose(panel.findChild(QComboBox, "data.role"), "ignored")
    assert set(document.roles.values()) == {"ignored"}


def test_a_kind_for_many_cells_is_read_in_a_worker(window, document, qtbot):
    """The window stays usable meanwhile; a change that comes first is kept, and the kind follows it."""
    table = make_table("big", {name: [i % 997 / 8 for i in range(30_000)] for name in ("a", "b", "c")})
    document.open_table(table)
    panel = window.docks["data"].widget()
    panel.select(["a", "b"])
    choose(panel.findChild(QComboBox, "data.kind"), "category")
    assert document.table is table, "it is still being read"
    document.set_kind(["c"], "text")
    qtbot.waitUntil(lambda: document.table.column("a").kind == "category", timeout=20_000)
    assert [column.kind for column in document.table.columns] == ["category", "category", "text"]
    assert document.undo_stack.undoText() == "Set kind of 2 columns"
    document.undo_stack.undo()
    assert [column.kind for column in document.table.columns] == ["number", "number", "text"]


def test_what_a_worker_cannot_read_is_said(window, document, qtbot):
    document.open_table(make_table("big", {"a": ["x", "y", "z"] * 20_000, "b": range(60_000)}))
    panel = window.docks["data"].widget()
    panel.select(["a", "b"])
    before = document.table
    choose(panel.findChild(QComboBox, "data.kind"), "date")
    qtbot.waitUntil(lambda: "cannot be read as" in document.messages[-1], timeout=20_000)
    assert "'a'" in document.messages[-1]
    assert document.table is before


def test_another_table_opened_meanwhile_is_left_alone(window, document, qtbot, small_table):
    document.open_table(make_table("big", {"size": [i / 8 for i in range(60_000)]}))
    panel = window.docks["data"].widget()
    panel.select(["size"])
    choose(panel.findChild(QComboBox, "data.kind"), "text")
    document.open_table(small_table)
    qtbot.waitUntil(lambda: not panel.findChildren(Job), timeout=20_000)
    assert document.table is small_table


def test_split_is_checked_and_set(panel, document):
    edits = panel._split.edits
    for name, text in {"train": "70", "validation": "20", "test": "10"}.items():
        edits[name].setText(text)
    edits["test"].editingFinished.emit()
    assert (document.split.train, document.split.validation, document.split.test) == (0.7, 0.2, 0.1)
    edits["train"].setText("90")
    edits["train"].editingFinished.emit()
    assert document.split.train == 0.7
    assert "100" in panel._split._error.text()
    document.undo_stack.undo()
    assert edits["train"].text() == "60"


def test_missing_tokens_survive_their_field():
    assert text_to_tokens(tokens_to_text(("", "NA", "n/a"))) == ("", "NA", "n/a")
    assert text_to_tokens("") == ("",)
    assert text_to_tokens(' "k.A., n/a" , -, "say ""?""", "" ,x"y') == (
        "",
        "k.A., n/a",
        "-",
        'say "?"',
        'x"y',
    )
    for tokens in (("", "k.A., n/a", '"', 'a"b,c', " "), ("", "(empty cell)"), ("", ",")):
        assert text_to_tokens(tokens_to_text(tokens)) == tokens


def test_the_keyboard_reaches_the_list(panel):
    view = panel.findChild(QListView, "data.columns")
    view.setFocus()
    view.setCurrentIndex(panel.model.index(0))
    QTest.keyClick(view, Qt.Key.Key_Down)
    assert panel.selected_names() == ["colour"]


def test_missing_cells_of_every_column_of_penguins_are_told_beside_its_name(window, document):
    document.open_table(load_sample("penguins"))
    panel = window.docks["data"].widget()
    view = panel.findChild(QListView, "data.columns")
    delegate, pixmap = view.itemDelegate(), QPixmap(view.viewport().size())
    told = {}
    for row in range(panel.model.rowCount()):
        index = panel.model.index(row)
        name = index.data(COLUMN_ROLE).name
        end = 32 + QFontMetrics(theme.font(13)).horizontalAdvance(name)  # of the name: after padding and icon
        painter, rect = QPainter(pixmap), view.visualRect(index).adjusted(8, 0, -8, 0)
        right = rect.right() - 16 - 8 - 24 - 8  # role and strength
        told[name] = delegate._paint_caption(painter, rect, index, right, end) < right
        painter.end()
    gaps = {column.name for column in document.table.columns if column.n_missing}
    assert {name for name, is_told in told.items() if is_told} == gaps
    assert "flipper_length_mm" in gaps
