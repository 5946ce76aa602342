"""Columns broken by a few texts, in the Data panel: named, asked about, cured by one click, undone."""

import html

import pytest
from PySide6.QtWidgets import QFrame, QPushButton

from tests.ui.person import Person
from workbench.ui.panels.data import DataPanel

QUESTION = "566 of 600 cells are numbers; the others say 'k.A.': is that missing?"


@pytest.fixture
def person(qtbot, window) -> Person:
    return Person(qtbot, window)


@pytest.fixture
def panel(window, document, tmp_path) -> DataPanel:
    from workbench.readers import read_table

    path = tmp_path / "t.csv"
    rows = []
    for i in range(600):
        broken = "k.A." if i >= 566 else f"{i % 484 + 0.25}"
        rows.append(f"{broken},{'-' if i % 10 == 0 else i * 37 % 101},{i * 7 % 5},same\n")
    path.write_text("a,b,y,c\n" + "".join(rows), encoding="utf-8")
    document.open_table(read_table(path))
    document.set_target("y")
    window.show()
    return window.findChild(DataPanel)


def test_one_click_at_the_reason_makes_the_column_a_number(person, panel, document):
    panel.select(["a"])
    assert panel._reason.text() == QUESTION
    reason = panel._reason
    person.wait(lambda: reason.height() >= reason.heightForWidth(reason.width()) > 20)  # read whole
    cure = person.find("data.count_missing", QPushButton)
    assert cure.isVisible()
    assert "Count 'k.A.' as missing" in html.unescape(cure.toolTip())
    person.click("data.count_missing")
    column = document.table.column("a")
    assert (column.kind, column.n_missing, column.values[1]) == ("number", 34, 1.25)
    assert document.table.options.column_tokens == {"a": (*document.table.options.missing_tokens, "k.A.")}
    panel.select(["a"])
    assert not cure.isVisible()
    document.undo_stack.undo()
    assert document.table.column("a").kind == "text"
    assert document.table.options.column_tokens == {}


def test_the_banner_names_such_columns_and_cures_all_in_one_step(person, panel, document):
    banner = person.find("data.problems", QFrame)
    words = "1 constant, 2 broken by texts"
    person.wait(lambda: not banner.isHidden() and panel._banner_text.full_text() == words)
    assert "540 of 600 cells are numbers" in banner.toolTip()
    person.click("data.cure_problems")
    assert [document.table.column(name).kind for name in "ab"] == ["number", "number"]
    assert [document.table.column(name).n_missing for name in "ab"] == [34, 60]
    person.wait(lambda: panel._banner_text.full_text() == "1 constant")
    assert not person.find("data.cure_problems", QPushButton).isVisible()
    document.undo_stack.undo()
    assert [document.table.column(name).kind for name in "ab"] == ["text", "category"]


def test_ignoring_the_others_leaves_such_columns_features(person, panel, document):
    banner = person.find("data.problems", QFrame)
    person.wait(lambda: not banner.isHidden())
    person.click("data.ignore_problems")
    assert [document.roles[name] for name in "abc"] == ["feature", "feature", "ignored"]
    assert panel._banner_text.full_text() == "2 broken by texts"
    assert not person.find("data.ignore_problems", QPushButton).isVisible()
