"""Presets and pasted settings: told before they are set, by mouse and keyboard, as one undo step."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QMenu, QPlainTextEdit, QPushButton

from tests.ui.person import CTRL, LEFT, SHIFT, Person
from tests.ui.test_theme import contrast
from workbench.catalog import entry_of
from workbench.pasting import setting_text
from workbench.presets import presets_of
from workbench.samples import load_sample
from workbench.ui import theme


@pytest.fixture
def run_id(session):
    session.document.open_table(load_sample("penguins"))
    return session.document.add_run("boosting")


def menu_of(session):
    return session.window.findChild(QMenu, "settings.presets_menu")


def dialog_of(session):
    return session.window.findChild(QDialog, "paste")


def test_the_menu_lists_what_a_preset_sets_and_a_click_sets_it_in_one_step(session, run_id):
    document, n_steps = session.document, session.document.undo_stack.count()
    before = document.run(run_id).spec
    QTest.mouseClick(session.window.findChild(QPushButton, "settings.presets"), LEFT)
    menu = menu_of(session)
    texts = [action.text() for action in menu.actions()]
    table = {p.name: p for p in _parameters(document)}
    for preset, values in presets_of("boosting", "classes"):
        at = texts.index(preset.title)
        listed = ""
        for text in texts[at + 1 :]:
            if not text.startswith("    "):
                break
            listed += f"{text.strip()}, "
        assert listed == "".join(f"{setting_text(table[n], v)}, " for n, v in values.items())
        assert len(values) >= 3
    careful = menu.actions()[texts.index("Careful")]
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(careful).center())
    values = presets_of("boosting", "classes")[1][1]
    assert values.items() <= document.run(run_id).spec.parameters.items()
    assert document.undo_stack.count() == n_steps + 1
    document.undo_stack.undo()
    assert document.run(run_id).spec == before


def test_without_its_button_in_sight_the_menu_opens_in_the_middle(qtbot, session, run_id):
    window = session.window
    window.resize(1024, 700)  # the settings are folded away
    qtbot.waitUntil(lambda: not window.docks["settings"].isVisible())
    window.context.actions["action.settings.presets"].trigger()
    menu = menu_of(session)
    middle = menu.geometry().center().x() - window.mapToGlobal(QPoint(0, 0)).x()
    assert abs(middle - window.width() / 2) <= 1
    assert menu.geometry().bottom() <= window.mapToGlobal(QPoint(0, window.height())).y()


def _parameters(document):
    return entry_of("boosting").parameters(document.task)


def test_a_preset_is_chosen_with_the_keyboard(qtbot, session, run_id):
    person = Person(qtbot, session.window)
    person.press(Qt.Key.Key_P, CTRL | SHIFT)
    qtbot.waitUntil(lambda: menu_of(session) is not None and menu_of(session).isVisible())
    QTest.keyClick(menu_of(session), Qt.Key.Key_Down)
    QTest.keyClick(menu_of(session), Qt.Key.Key_Return)
    values = presets_of("boosting", "classes")[0][1]
    assert values.items() <= session.document.run(run_id).spec.parameters.items()
    assert session.document.messages[-1] == (
        f"Gradient boosting 1: {len(values)} settings set; Undo takes them back."
    )


def test_settings_in_the_clipboard_are_told_and_set_in_one_step(qtbot, session, run_id):
    document, n_steps = session.document, session.document.undo_stack.count()
    before = document.run(run_id).spec
    QGuiApplication.clipboard().setText("LGBMClassifier(num_leaves=63, learning_rate=0.05, device='gpu')")
    QTest.mouseClick(session.window.findChild(QPushButton, "settings.paste"), LEFT)
    dialog = dialog_of(session)
    assert dialog.findChild(QLabel, "paste.sets").text() == (
        "Will be set:\nnum_leaves: Leaves per tree 63\nlearning_rate: Learning rate 0.05"
    )
    assert dialog.findChild(QLabel, "paste.unknown").text() == "No such setting here: device"
    assert document.run(run_id).spec == before  # told first
    QTest.mouseClick(dialog.findChild(QPushButton, "paste.set"), LEFT)
    assert document.parameter(run_id, "max_leaf_nodes") == 63
    assert document.parameter(run_id, "learning_rate") == 0.05
    assert document.undo_stack.count() == n_steps + 1
    document.undo_stack.undo()
    assert document.run(run_id).spec == before


def test_settings_are_typed_and_set_with_the_keyboard(qtbot, session, run_id):
    QGuiApplication.clipboard().setText("a letter to a friend")
    Person(qtbot, session.window).press(Qt.Key.Key_V, CTRL | SHIFT)
    qtbot.waitUntil(lambda: dialog_of(session) is not None and dialog_of(session).isVisible())
    dialog = dialog_of(session)
    text = dialog.findChild(QPlainTextEdit, "paste.text")
    assert text.toPlainText() == ""
    assert not dialog.findChild(QPushButton, "paste.set").isEnabled()
    QTest.keyClicks(text, "eta=-1, depth=4")
    assert (
        dialog.findChild(QLabel, "paste.refused").text()
        == "Not set:\neta = -1: enter a number above 0 and at most 1,000"
    )
    QTest.keyClick(text, Qt.Key.Key_Tab)
    button = dialog.findChild(QPushButton, "paste.set")
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Return)
    assert session.document.parameter(run_id, "max_depth") == 4
    assert session.document.parameter(run_id, "learning_rate") == 0.1


def test_what_is_no_setting_says_how(session, run_id):
    QGuiApplication.clipboard().setText("")
    session.window.actions_["action.settings.paste"].trigger()
    dialog = dialog_of(session)
    dialog.findChild(QPlainTextEdit, "paste.text").setPlainText("hello")
    assert dialog.findChild(QLabel, "paste.refused").text().startswith("No name with a value was found")
    dialog.reject()


@pytest.mark.parametrize("appearance", ["light", "dark"])
def test_what_a_preset_sets_is_written_to_be_read(qapp, session, run_id, appearance):
    theme.set_appearance(appearance)
    theme.apply(qapp)
    session.window.actions_["action.settings.presets"].trigger()
    menu = menu_of(session)
    line = next(action for action in menu.actions() if action.text() and not action.isEnabled())
    picture, ratio = menu.grab().toImage(), menu.devicePixelRatio()
    box, ink = menu.actionGeometry(line), theme.tokens().colour("text2")
    seen = {
        picture.pixelColor(round(x * ratio), round(y * ratio)).name()
        for x in range(box.left(), box.right())
        for y in range(box.top(), box.bottom())
    }
    assert ink.name() in seen
    assert contrast(ink.name(), theme.tokens().colour("surface").name()) >= 4.5
    menu.close()


def test_a_huge_text_is_told_in_short(session, run_id):
    text = ", ".join(f"name_{number}={number}" for number in range(5_000))
    QGuiApplication.clipboard().setText(f"{text}, eta=0.2, growth='{'x' * 5_000}'")
    session.window.actions_["action.settings.paste"].trigger()
    dialog = dialog_of(session)
    unknown = dialog.findChild(QLabel, "paste.unknown").text()
    assert unknown.startswith("No such setting here: name_0, name_1, ")
    assert unknown.endswith(", name_23, and 4,976 more")
    assert dialog.findChild(QLabel, "paste.sets").text() == "Will be set:\neta: Learning rate 0.2"
    refused = dialog.findChild(QLabel, "paste.refused").text()
    assert refused.endswith("x…: enter one of 'leaf', 'depth', 'oblivious'")
    assert dialog.height() <= session.window.height()
    dialog.reject()
