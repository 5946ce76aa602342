"""The form written from parameter tables: groups, help, changed marks, errors, what is absent."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLineEdit,
    QStyle,
    QStyleOptionComboBox,
    QToolButton,
    QWidget,
)

from engine.parameters import Parameter
from workbench.catalog import CATALOG, start_parameters
from workbench.samples import load_sample
from workbench.setting_words import parse_number, parse_sizes
from workbench.ui import theme
from workbench.ui.forms.parameter_form import Context, ParameterForm

DEPTH = Parameter(
    "max_depth", None, "int", minimum=1, allows_none=True, none_text="no limit", label="Depth",
    help="Questions from the root to a leaf.", group="Size", form_default=5,
    aliases={"xgboost": "max_depth", "catboost": "depth"},
)  # fmt: skip
RATE = Parameter("learning_rate", 0.1, "float", minimum=0, open_minimum=True, maximum=1, group="Size")
EARLY = Parameter("early_stopping", False, "bool", group="Stopping")
PATIENCE = Parameter(
    "n_iter_no_change",
    10,
    "int",
    minimum=1,
    unit="rounds",
    group="Stopping",
    applies_when={"early_stopping": (True,)},
)
LOSS = Parameter("criterion", "gini", "choice", choices=("gini", "log_loss"), group="More")
COLUMNS = Parameter(
    "max_features", "sqrt", "number_or_choice", minimum=0, open_minimum=True, choices=("sqrt", "log2"),
    allows_none=True, none_text="all", group="Sampling",
)  # fmt: skip
HIDDEN = Parameter("random_state", None, "int", allows_none=True, in_form=False)
TABLE = (DEPTH, RATE, EARLY, PATIENCE, LOSS, COLUMNS, HIDDEN)
STARTS = {p.name: p.start_value for p in TABLE}


@pytest.fixture
def form(qtbot):
    made = ParameterForm("settings")
    made.set_parameters(TABLE)
    made.set_values(STARTS, STARTS)
    qtbot.addWidget(made)
    made.resize(320, 600)
    made.show()
    made.told = []
    made.edited.connect(lambda name, value: made.told.append((name, value)))
    return made


def edit_of(form, name) -> QLineEdit:
    return form.row(name).field.findChild(QLineEdit)


def type_in(form, name, text):
    edit = edit_of(form, name)
    edit.setFocus()
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Backspace)
    QTest.keyClicks(edit, text)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def test_what_does_not_apply_or_is_set_elsewhere_is_absent(form):
    assert form.names == ("max_depth", "learning_rate", "max_features", "early_stopping", "criterion")
    form.set_values({**STARTS, "early_stopping": True}, STARTS)
    assert "n_iter_no_change" in form.names
    assert "random_state" not in form.names


def test_what_is_about_categories_is_absent_where_all_columns_are_numbers(form):
    levels = Parameter(
        "categorical", "partition", "choice", choices=("partition", "ordered"), needs_categories=True
    )
    form.set_parameters((*TABLE, levels))
    starts = {**STARTS, "categorical": "partition"}
    for columns, is_there in (((("a", True),), False), ((("a", True), ("b", False)), True)):
        form.set_values(starts, starts, Context(columns))
        assert ("categorical" in form.names) == is_there


def test_how_categories_are_split_is_chosen_where_the_table_has_some(session):
    document = session.document
    document.open_table(load_sample("iris"))
    document.add_run("boosting")
    form = session.window.findChild(QWidget, "panel.settings").form
    assert "categorical" not in form.names
    document.open_table(load_sample("penguins"))
    run_id = document.add_run("boosting")
    document.select_run(run_id)
    assert "categorical" in form.names
    form.open_group("More")
    box = form.row("categorical").field.findChild(QComboBox)
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_Down)
    assert document.run(run_id).spec.parameters["categorical"] == "ordered"
    document.undo_stack.undo()
    assert document.run(run_id).spec.parameters["categorical"] == "partition"


def test_a_legal_number_is_told_once(form):
    type_in(form, "max_depth", "7")
    assert form.told == [("max_depth", 7)]
    edit_of(form, "max_depth").editingFinished.emit()
    assert form.told == [("max_depth", 7)]


def test_an_empty_number_is_none_where_that_is_legal(form):
    type_in(form, "max_depth", "")
    assert form.told == [("max_depth", None)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_depth", "0"),
        ("max_depth", "2.5"),
        ("learning_rate", "abc"),
        ("learning_rate", "1.5"),
        ("learning_rate", "nan"),
        ("learning_rate", ""),
    ],
)
def test_an_illegal_value_is_refused_under_its_field(form, name, text):
    type_in(form, name, text)
    assert form.told == []
    assert form.row(name).error().startswith("Enter ")
    assert form.row(name).parameter.legal_text in form.row(name).error()


def test_changed_values_bear_a_dot_and_reset_returns(form):
    assert not form.row("max_depth").is_changed
    form.set_values({**STARTS, "max_depth": 9}, STARTS)
    assert form.row("max_depth").is_changed
    QTest.mouseClick(form.row("max_depth").findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert form.told == [("max_depth", 5)]


def test_the_wheel_never_changes_a_field(form):
    form.open_group("More")
    for name in ("max_depth", "criterion", "max_features"):
        field = form.row(name).field
        target = field.findChild(QComboBox) or field.findChild(QLineEdit)
        before = field.value_text()
        target.setFocus()
        event = QWheelEvent(
            QPointF(5, 5), QPointF(5, 5), QPoint(0, 0), QPoint(0, -120), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(target, event)
        assert field.value_text() == before
    assert form.told == []


def test_choices_and_numbers_of_one_field(form):
    box = form.row("max_features").field.findChild(QComboBox)
    assert [box.itemText(i) for i in range(box.count())] == ["sqrt", "log2", "all", "a number"]
    box.activated.emit(2)
    assert form.told[-1] == ("max_features", None)
    box.setCurrentIndex(3)
    box.activated.emit(3)
    type_in(form, "max_features", "0.5")
    assert form.told[-1] == ("max_features", 0.5)
    form.set_values({**STARTS, "max_features": 3}, STARTS)
    assert form.row("max_features").field.value_text() == "3"


def test_tool_tips_know_other_libraries_and_show_text_literally(form):
    tip = form.row("max_depth").field.toolTip()
    assert "CatBoost: depth" in tip
    assert "max_depth" in tip
    assert form.row("max_depth").field.accessibleDescription() == DEPTH.help


def test_more_is_closed_until_asked(form):
    assert not form.row("criterion").isVisible()
    form.open_group("More")
    assert form.row("criterion").isVisible()


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [(DEPTH, "12", 12), (DEPTH, "12.0", 12), (RATE, "0.25", 0.25), (RATE, "1e-3", 0.001), (COLUMNS, "3", 3),
     (COLUMNS, "3.0", 3), (COLUMNS, "1.0", 1.0), (COLUMNS, "1", 1),
     (COLUMNS, "0.5", 0.5), (RATE, "\N{MINUS SIGN}2", -2.0), (DEPTH, "five", "five")],
)  # fmt: skip
def test_numbers_are_read_as_typed(parameter, text, value):
    read = parse_number(parameter, text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("kind", CATALOG)
@pytest.mark.parametrize("text_scale", [100, 150])
def test_every_word_of_a_list_stands_whole(qtbot, kind, text_scale):
    theme.set_text_scale(text_scale)
    form, start = ParameterForm("settings"), start_parameters(kind, "classes", 300)
    qtbot.addWidget(form)
    form.set_parameters(CATALOG[kind].parameters("classes"))
    form.set_values(start, start)
    form.resize(theme.scaled(320), 900)
    form.show()
    boxes = [box for box in form.findChildren(QComboBox) if box.count()]
    assert boxes
    for box in boxes:
        option = QStyleOptionComboBox()
        box.initStyleOption(option)
        parts = (QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, box)
        room = box.style().subControlRect(*parts).width()
        texts = [box.itemText(place) for place in range(box.count())]
        cut = [text for text in texts if box.fontMetrics().horizontalAdvance(text) > room]
        assert not cut, f"{cut} do not fit {room} px"


@pytest.mark.parametrize("text", ["9" * 5000, "10, x", "1.5"])
def test_what_is_no_list_of_sizes_stays_a_text(text):
    assert parse_sizes(text) == text
    assert parse_sizes("(100, 50)") == (100, 50)


@pytest.mark.parametrize("text", ["9007199254740993", "99999999999999999999999999"])
def test_a_long_seed_is_the_one_that_was_typed(text):
    seed = Parameter("random_state", 0, "int", 0, has_any_size=True)
    assert parse_number(seed, text) == int(text)
    assert seed.is_legal(parse_number(seed, text))
    assert not seed.is_legal(parse_number(seed, "9" * 5000))
