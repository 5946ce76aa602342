"""The window: opening, saving, the prompt, sizes, and text shown literally."""

from __future__ import annotations

from itertools import pairwise

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QWidget

from tests.ui.person import prompt_of
from workbench.catalog import CATALOG
from workbench.datasets import make_table
from workbench.ui import theme
from workbench.ui.about import AboutDialog
from workbench.ui.centre import SIDE_BY_SIDE, VIEWS
from workbench.ui.view_commands import restore_view
from workbench.ui.widgets import ElidedLabel, Label, literal

BUTTON = QMessageBox.StandardButton


def write(path, text="a,b\n1,x\n2,y\n3,x\n"):
    path.write_text(text, encoding="utf-8")
    return path


def open_file(window, document, qtbot, path):
    with qtbot.waitSignal(document.table_changed, timeout=20_000):
        window.files.open_path(str(path))


def test_an_empty_window_welcomes(window):
    assert window._pages.currentWidget() is window.welcome
    assert window.windowTitle() == "Treewright[*]"
    assert all(not window.docks[name].isVisible() for name in ("data", "models", "settings", "jobs"))
    assert not window.actions_["action.model.train"].isEnabled()
    assert not window.actions_["action.file.save"].isEnabled()


def test_a_file_opens_through_the_dialog(window, document, qtbot, tmp_path, dialogs):
    dialogs.answers = [write(tmp_path / "own.csv")]
    with qtbot.waitSignal(document.table_changed, timeout=20_000):
        window.actions_["action.file.open"].trigger()
    assert window._pages.currentWidget() is window.centre
    assert window.windowTitle() == "own.csv[*] – Treewright" or window.windowTitle() == "own[*] – Treewright"
    assert window.toolbar._words.full_text() == "3 rows, 2 columns, no target chosen"
    document.set_target("b")
    assert window.toolbar._words.full_text() == "3 rows, 2 columns, target b"
    assert window.isWindowModified()
    document.undo_stack.undo()
    assert not window.isWindowModified()


def test_views_are_in_their_first_places(window, document, small_table):
    document.open_table(small_table)
    docks = window.centre.docks
    assert set(docks) == {
        "tree",
        "training",
        "surface",
        "table",
        "scores",
        "compare",
        "pruning",
        "splits",
        "trees",
        "tuning",
        "stack",
    }
    behind = {dock.objectName() for dock in window.centre.tabifiedDockWidgets(docks["tree"])}
    assert behind == {"dock.table", "dock.scores", "dock.compare", "dock.tuning", "dock.stack"}
    QGuiApplication.processEvents()
    assert docks["training"].geometry().top() > docks["tree"].geometry().top()
    assert docks["surface"].geometry().left() > docks["training"].geometry().left()
    assert docks["surface"].geometry().bottom() == docks["training"].geometry().bottom()


def places(window) -> set[frozenset[str]]:
    docks = window.centre.docks
    return {
        frozenset({name, *(other.objectName()[5:] for other in window.centre.tabifiedDockWidgets(dock))})
        for name, dock in docks.items()
    }


@pytest.mark.parametrize("size", [(1024, 700), (1199, 900), (1440, 799)])
def test_a_small_window_shows_one_view_at_a_time(window, document, qtbot, small_table, size):
    window.resize(*size)
    document.open_table(small_table)
    qtbot.waitUntil(lambda: places(window) == {frozenset(VIEWS)})
    window.actions_["action.view.arrange"].trigger()
    assert places(window) == {frozenset(VIEWS)}
    QGuiApplication.processEvents()
    assert window.size().toTuple() == size, "placing views never widens the window"
    window.centre.show_view("surface")
    QGuiApplication.processEvents()
    window.resize(1440, 900)
    assert places(window) == SIDE_BY_SIDE
    window.resize(1024, 700)
    assert places(window) == {frozenset(VIEWS)}


def test_views_placed_by_hand_stay_when_the_window_changes(window, document, qtbot, small_table):
    window.resize(1440, 900)
    document.open_table(small_table)
    QGuiApplication.processEvents()
    window.actions_["action.view.as_tabs"].trigger()
    window.resize(1024, 700)
    window.resize(1440, 900)
    assert places(window) == {frozenset(VIEWS)}, "tabs by wish stay tabs"
    window.actions_["action.view.arrange"].trigger()
    centre = window.centre
    centre.tabifyDockWidget(centre.docks["training"], centre.docks["surface"])
    own = places(window)
    window.resize(1024, 700)
    assert places(window) == own


def test_save_asks_once_then_writes_and_reopens(window, document, qtbot, tmp_path, dialogs, small_table):
    document.open_table(small_table)
    document.set_target("y")
    path = tmp_path / "Größe 数据.treewright"
    dialogs.answers = [path]
    window.actions_["action.file.save"].trigger()
    qtbot.waitUntil(lambda: not window.files.is_saving)
    assert path.exists()
    assert "with the rows" in window.status.message
    assert not window.isWindowModified()
    document.set_roles(["size"], "ignored")
    window.actions_["action.file.save"].trigger()
    qtbot.waitUntil(lambda: not window.files.is_saving)
    assert dialogs.asked == ["Save Project"], "the second save knows where"
    document.open_table(make_table("other", {"a": [1, 2]}))
    open_file(window, document, qtbot, path)
    assert (document.target, document.roles["size"]) == ("y", "ignored")
    assert window.files.recent.paths()[0] == str(path)


def test_a_failed_save_says_so_and_keeps_the_work(window, document, qtbot, tmp_path, dialogs, small_table):
    document.open_table(small_table)
    document.set_target("y")
    dialogs.answers = [tmp_path / "no such folder" / "p.treewright"]
    window.actions_["action.file.save"].trigger()
    qtbot.waitUntil(lambda: not window.files.is_saving)
    assert "p.treewright cannot be written" in window.notice.text
    assert window.isWindowModified()


def test_closing_with_changes_asks_and_cancel_stays(window, document, small_table):
    document.open_table(small_table)
    document.set_target("y")
    window.close()
    box = prompt_of(window)
    assert box.windowModality() == Qt.WindowModality.WindowModal
    assert box.textFormat() == Qt.TextFormat.PlainText
    assert "small" in box.informativeText()
    QTest.mouseClick(box.button(BUTTON.Cancel), Qt.MouseButton.LeftButton)
    assert window.isVisible()
    window.close()
    QTest.mouseClick(prompt_of(window).button(BUTTON.Discard), Qt.MouseButton.LeftButton)
    assert not window.isVisible()


def test_closing_with_save_writes_first(window, document, qtbot, tmp_path, dialogs, small_table):
    document.open_table(small_table)
    document.set_target("y")
    dialogs.answers = [tmp_path / "kept.treewright"]
    window.close()
    QTest.mouseClick(prompt_of(window).button(BUTTON.Save), Qt.MouseButton.LeftButton)
    assert window.isVisible(), "it closes once the file is written"
    qtbot.waitUntil(lambda: not window.isVisible())
    assert (tmp_path / "kept.treewright").exists()


def test_save_dialog_cancelled_keeps_the_window_open(window, document, dialogs, small_table):
    document.open_table(small_table)
    document.set_target("y")
    dialogs.answers = [None]
    window.close()
    QTest.mouseClick(prompt_of(window).button(BUTTON.Save), Qt.MouseButton.LeftButton)
    assert window.isVisible()
    assert not window.files.is_saving


def test_opening_another_file_asks_about_changes(window, document, qtbot, tmp_path, small_table):
    document.open_table(small_table)
    document.set_target("y")
    window.files.open_path(str(write(tmp_path / "own.csv")))
    assert document.table.name == "small"
    with qtbot.waitSignal(document.table_changed, timeout=20_000):
        QTest.mouseClick(prompt_of(window).button(BUTTON.Discard), Qt.MouseButton.LeftButton)
    assert document.table.n_rows == 3


def test_undo_and_redo_say_what_they_undo(window, document, small_table):
    document.open_table(small_table)
    undo, redo = window.actions_["action.edit.undo"], window.actions_["action.edit.redo"]
    assert not undo.isEnabled()
    document.set_target("y")
    assert undo.text() == "Undo Use y as target"
    undo.trigger()
    assert redo.text() == "Redo Use y as target"
    assert document.target is None
    redo.trigger()
    assert document.target == "y"


def test_a_narrow_window_folds_the_right_side_to_a_strip(window, document, small_table):
    document.open_table(small_table)
    assert window.docks["settings"].isVisible()
    window.resize(1024, 700)
    QGuiApplication.processEvents()
    assert not window.docks["settings"].isVisible()
    assert window._strip.isVisible()
    window.toggle_settings()
    assert window.docks["settings"].isVisible()
    window.resize(1440, 900)
    QGuiApplication.processEvents()
    assert window.docks["settings"].isVisible()
    assert not window._strip.isVisible()


def test_sizes_and_appearance_are_remembered(window, settings):
    window.resize(790, 690)  # the offscreen screen is 800 x 800
    QGuiApplication.processEvents()
    window.views.set_appearance("dark")
    window.views.set_text_size(125)
    window.remember_size()
    theme.set_appearance("light")
    theme.set_text_scale(100)
    restore_view(settings)
    assert (theme.appearance(), theme.text_scale()) == ("dark", 125)
    window.resize(795, 640)
    window._restore_size()
    assert (window.width(), window.height()) == (790, 690)


@pytest.mark.parametrize("stored", [("sepia", "huge"), (None, None)])
def test_strange_settings_do_no_harm(settings, stored):
    settings.setValue("view/appearance", stored[0])
    settings.setValue("view/text_scale", stored[1])
    restore_view(settings)
    assert (theme.appearance(), theme.text_scale()) == ("system", 100)


def test_train_without_a_model_adds_a_tree_and_stop_is_off_afterwards(window, session, document, qtbot):
    window.files.open_sample("penguins")
    qtbot.waitUntil(lambda: document.table is not None)
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        QTest.mouseClick(window.toolbar.train, Qt.MouseButton.LeftButton)
        assert window.toolbar.train.text() == "Stop"
    assert document.current_run.state == "done"
    assert document.current_run.spec.kind == "tree"
    assert window.toolbar.train.text() == "Train"
    assert not window.actions_["action.model.stop"].isEnabled()


def test_labels_never_read_text_as_markup(qtbot):
    label = Label("<b>x</b> & y")
    qtbot.addWidget(label)
    assert label.textFormat() == Qt.TextFormat.PlainText
    elided = ElidedLabel("<15.75 " * 40)
    qtbot.addWidget(elided)
    elided.resize(80, 20)
    assert elided.text() != elided.full_text()
    assert "&lt;15.75" in elided.toolTip()
    assert literal("<b>") == "<qt>&lt;b&gt;</qt>"


def test_a_hostile_name_is_shown_literally(window, document):
    name = "<b>x</b> & y"
    document.open_table(
        make_table(name, {name: ["<15.75", ">=19.95"] * 10, "z": range(20)}, {name: "category"})
    )
    document.set_target(name)
    assert window.toolbar._words.full_text() == f"20 rows, 2 columns, target {name}"
    formats = {label.textFormat() for label in window.findChildren(QLabel) if name in label.text()}
    assert formats <= {Qt.TextFormat.PlainText}


def test_about_names_versions_and_licences(window):
    dialog = AboutDialog(window)
    text = dialog.findChild(object, "about.licences").toPlainText()
    for word in ("PySide6-Essentials 6.", "LGPL-3.0", "OFL-1.1", "Penguins", "CC0"):
        assert word in text
    dialog.deleteLater()


def test_every_command_is_in_a_menu_or_the_palette_with_a_name(window, document, small_table):
    document.open_table(small_table)
    assert all(
        action.text() for action in window.findChildren(QAction) if action.objectName().startswith("action.")
    )
    menus = [action.text() for action in window.menuBar().actions()]
    assert menus[:2] == ["&File", "&Edit"]
    assert menus[-2:] == ["&View", "&Help"]


def test_the_views_are_made_one_an_event_so_that_the_window_answers(window, qtbot):
    seen: list[int] = []
    heartbeat = QTimer(interval=0)
    heartbeat.timeout.connect(lambda: seen.append(len(window._panels)))
    heartbeat.start()
    done: list[str] = []
    window.prepare_centre(lambda: done.append("prepared"))
    qtbot.wait_until(lambda: bool(done))
    heartbeat.stop()
    assert {n - before for before, n in pairwise(seen)} <= {0, 1, -len(VIEWS)}
    assert max(seen) == len(VIEWS)
    assert set(window.centre.docks) == set(VIEWS)
    window.prepare_centre(lambda: done.append("at once"))
    assert done[-1] == "at once"


def test_questions_have_no_pictures_of_another_style_on_their_buttons(window, document, qtbot, tmp_path):
    open_file(window, document, qtbot, write(tmp_path / "a.csv"))
    document.set_roles(["a"], "ignored")
    window.files.ask_save("Save?", lambda: None)
    prompt = prompt_of(window)
    shown = [made for made in prompt.buttons() if made.isVisible()]
    assert len(shown) == 3
    assert all(made.icon().isNull() for made in shown)
    # desktops ask for them, the platform of the tests does not: the rule against it is what can be seen here
    assert "buttons-have-icons: 0" in QApplication.instance().styleSheet()
    prompt.reject()


def test_every_kind_of_model_is_in_the_menu(window, document, qtbot, tmp_path):
    open_file(window, document, qtbot, write(tmp_path / "a.csv"))
    window.ensure_centre()
    menu = next(action.menu() for action in window.menuBar().actions() if action.text() == "&Model")
    names = {action.objectName() for action in menu.actions()}
    kinds = {action.objectName() for action in window.actions_ if "model.add_" in action.objectName()}
    assert len(kinds) == len(CATALOG)
    assert kinds <= names


@pytest.mark.parametrize("how", ["key", "mouse"])
def test_the_focus_stays_where_it_is_while_train_becomes_stop(window, session, document, qtbot, how):
    window.files.open_sample("penguins")
    qtbot.waitUntil(lambda: document.table is not None)
    button, search = window.toolbar.train, window.findChild(QWidget, "data.search")
    stays = button if how == "key" else search
    stays.setFocus()
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        if how == "key":
            QTest.keyClick(button, Qt.Key.Key_Space)
        else:
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        assert window.focusWidget() is stays
    QApplication.processEvents()
    assert window.focusWidget() is stays
