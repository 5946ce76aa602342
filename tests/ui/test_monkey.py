"""Somebody who presses anything, quickly: no exception, no logged error, no error dialog comes of it.

Every action is legal: what it touches is visible and enabled. A failure tells the seed and the last actions.
"""

from __future__ import annotations

import logging
from collections import deque
from random import Random

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QHeaderView,
    QLineEdit,
    QMessageBox,
    QToolButton,
    QWidget,
)

from tests.ui.person import ALT, CTRL, LEFT, NONE, SHIFT
from workbench.ui import error_dialog, file_dialogs
from workbench.ui.study_dialog import StudyDialog

N_TOLD = 15
LEAVING = ("action.file.close", "action.file.quit")
TEXTS = (
    "",
    "0",
    "1",
    "-1",
    "3",
    "0.5",
    "1e400",
    "nan",
    "1,5",
    "yes",
    "a" * 300,
    "[*]&",
    "None",
)  # what QTest can type
KEYS = (
    *(Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End),
    *(Qt.Key.Key_Tab, Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Delete, Qt.Key.Key_F2),
    *(Qt.Key.Key_Escape, Qt.Key.Key_Plus, Qt.Key.Key_Minus, Qt.Key.Key_A, Qt.Key.Key_PageDown),
)
PLOTS = (
    *("tree.canvas", "tree.mini_map", "surface.plot", "surface.curve", "training.plot", "scores.confusion"),
    *("bootstrap.resamples", "many_fits.plot", "bias_variance.plot", "many_fits.answers", "information.bars"),
    "instability.wins",
)
STUDIES = ("bias_variance", "many_fits", "averages", "bootstrap", "information", "instability")
FILES = {
    "numbers.csv": b"size;price;group\n" + b"1,5;3;a\n2,5;4;b\n3,25;7;a\n4,5;8;b\n" * 12,
    "odd.csv": b'a,a,,y\n"x\ny",1e400,,no\n?,inf,,yes\nz,-3,,no\n' + b"w,5,,yes\nw,7,,no\n" * 10,
    "one row.csv": b"a,b\n1,2\n",
    "constant.csv": b"a,b,y\n" + b"1,x,7\n" * 30,
    "not.xlsx": b"PK\x03\x04",
    "empty.csv": b"",
    "damaged.tree.json": b'{"format": "treewright-model", "version": 1, "estimator": "x"}',
    "damaged.treewright": b"PK\x05\x06" + bytes(18),
}


class Monkey:
    """Acts on a window at random; the same seed begins with the same acts."""

    def __init__(self, session, folder, seed: int) -> None:
        self.session, self.window, self.folder = session, session.window, folder
        self.random = Random(seed)
        self.done: deque[str] = deque(maxlen=N_TOLD)
        self._acts = (
            (12, self.command),
            (6, self.button),
            (6, self.choice),
            (4, self.row),
            (3, self.text),
            (3, self.slider),
            (4, self.key),
            (4, self.plot),
            (1, self.size),
            (1, self.open),
            (2, self.train_and),
            (2, self.study),
        )

    def act(self) -> None:
        """Do one thing, then let the window answer none, one or many events."""
        if not self.answer_dialog():
            weights = [weight for weight, _ in self._acts]
            self.random.choices([act for _, act in self._acts], weights)[0]()
        for _ in range(self.random.choice((0, 1, 1, 3, 20))):
            QApplication.processEvents()

    # -- what is asked

    def answer_dialog(self) -> bool:
        """Answer what lies over the window; False if nothing does."""
        popup = QApplication.activePopupWidget()
        if popup is not None:
            self.done.append("close a popup")
            popup.close()
            return True
        dialogs = [w for w in self.window.findChildren(QDialog) if w.isVisible() and not self._may_stay(w)]
        if not dialogs:
            return False
        dialog = self.random.choice(dialogs)
        if isinstance(dialog, QMessageBox):
            buttons = dialog.buttons()
            if self.window.isHidden() or "closing" in dialog.text():
                buttons = [dialog.button(QMessageBox.StandardButton.Cancel)]
            button = self.random.choice(buttons)
            self.done.append(f"{dialog.objectName()}: {button.text()}")
            button.click()
        else:
            self.done.append(f"close {dialog.objectName()}")
            dialog.close()
        return True

    def _may_stay(self, dialog: QDialog) -> bool:
        """Leave windows of studies open for a while: they work on beside the others."""
        return isinstance(dialog, StudyDialog) and self.random.random() < 0.95

    def ask_file(self, parent, title, *rest) -> None:
        """Stand in for the file dialogs: a file of the folder, one that is not there, or Cancel."""
        then = rest[-1]
        names = [*FILES, "project.treewright", "model.tree.json", "gone.csv", None]
        name = self.random.choice(names)
        self.done.append(f"{title}: {name}")
        if name is not None:
            then(str(self.folder / name))

    def ask_save(self, parent, title, *rest) -> None:
        """Stand in for the save dialog."""
        suffix, then = rest[-2:]
        name = self.random.choice(("project", "model", "other", None))
        self.done.append(f"{title}: {name}.{suffix}")
        if name is not None:
            then(str(self.folder / f"{name}.{suffix}"))

    # -- acts

    def command(self) -> None:
        enabled = [a for a in self.window.actions_ if a.isEnabled() and a.objectName() not in LEAVING]
        action = self.random.choice(enabled)
        self.done.append(action.objectName())
        action.trigger()

    def _one(self, kind: type):
        found = [w for w in self.window.findChildren(kind) if w.isEnabled() and _is_within_reach(w)]
        return self.random.choice(found) if found else None

    def button(self) -> None:
        button = self._one(QAbstractButton)
        if button is not None and not (isinstance(button, QToolButton) and button.menu()):
            self.done.append(f"press {button.objectName() or button.text()}")
            QTest.mouseClick(button, LEFT)

    def choice(self) -> None:
        combo = self._one(QComboBox)
        if combo is not None and combo.count():
            idx = self.random.randrange(combo.count())
            self.done.append(f"choose {combo.objectName()} {combo.itemText(idx)!r}")
            combo.setCurrentIndex(idx)
            combo.activated.emit(idx)

    def row(self) -> None:
        view = self._one(QAbstractItemView)
        if view is None or isinstance(view, QHeaderView) or not view.model().rowCount():
            return
        index = view.model().index(self.random.randrange(view.model().rowCount()), 0)
        modifiers = self.random.choice((NONE, NONE, SHIFT, CTRL))
        self.done.append(f"click row {index.row()} of {view.objectName()}")
        view.scrollTo(index)
        click = self.random.choice((QTest.mouseClick, QTest.mouseClick, QTest.mouseDClick))
        click(view.viewport(), LEFT, modifiers, view.visualRect(index).center())

    def text(self) -> None:
        field = self._one(self.random.choice((QLineEdit, QAbstractSpinBox)))
        if field is not None:
            text = self.random.choice(TEXTS)
            self.done.append(f"type {text[:10]!r} in {field.objectName()}")
            field.setFocus()
            field.selectAll()
            QTest.keyClicks(field, text)
            QTest.keyClick(field, self.random.choice((Qt.Key.Key_Return, Qt.Key.Key_Tab, Qt.Key.Key_Escape)))

    def slider(self) -> None:
        slider = self._one(QAbstractSlider)
        if slider is not None:
            self.done.append(f"drag {slider.objectName()}")
            for _ in range(self.random.randrange(1, 15)):
                slider.setValue(self.random.randint(slider.minimum(), slider.maximum()))

    def key(self) -> None:
        key, modifiers = self.random.choice(KEYS), self.random.choice((NONE, NONE, SHIFT, ALT))
        target = QApplication.focusWidget() or self.window
        self.done.append(f"key {key.name} in {target.objectName() or type(target).__name__}")
        QTest.keyClick(target, key, modifiers)

    def plot(self) -> None:
        plots = [w for w in self.window.findChildren(QWidget) if w.objectName() in PLOTS]
        plots = [w for w in plots if w.isEnabled() and _is_within_reach(w)]
        if not plots:
            return
        plot = self.random.choice(plots)
        target = plot.viewport() if hasattr(plot, "viewport") else plot
        places = [self._place(target) for _ in range(4)]
        self.done.append(f"click and drag in {plot.objectName()} {places[0].toTuple()}")
        QTest.mouseClick(target, LEFT, NONE, places[0])
        QTest.mousePress(target, LEFT, NONE, places[1])
        for place in places[2:]:
            QTest.mouseMove(target, place)
        QTest.mouseRelease(target, LEFT, NONE, places[-1])

    def _place(self, widget) -> QPoint:
        return QPoint(
            self.random.randrange(max(widget.width(), 1)), self.random.randrange(max(widget.height(), 1))
        )

    def size(self) -> None:
        width, height = self.random.randint(400, 1800), self.random.randint(300, 1100)
        self.done.append(f"resize to {width} by {height}")
        self.window.resize(width, height)

    def open(self) -> None:
        key = self.random.choice(("penguins", "two_circles", None, None))
        if key is not None and self.session.document.is_empty:
            self.done.append(f"open {key}")
            self.window.files.open_sample(key)
        else:
            name = self.random.choice([*FILES, "project.treewright"])
            self.done.append(f"open {name}")
            self.window.files.open_path(str(self.folder / name))

    def train_and(self) -> None:
        """Train, and at once do what concerns the model in training."""
        actions = self.window.actions_
        names = ("train", "stop", "delete", "duplicate", "export", "rename", "add_boosting", "copy_script")
        for name in ("train", *self.random.choices(names, k=4)):
            action = actions.get(f"action.model.{name}")
            if action is not None and action.isEnabled():
                self.done.append(action.objectName())
                action.trigger()
        for name in self.random.choices(("action.edit.undo", "action.edit.redo"), k=2):
            if actions[name].isEnabled():
                self.done.append(name)
                actions[name].trigger()

    def study(self) -> None:
        """Open the window of a study, and begin or stop it, perhaps while something else changes."""
        name = self.random.choice(STUDIES)
        action = self.window.actions_[f"action.study.{name}"]
        if not action.isEnabled():
            return
        self.done.append(action.objectName())
        action.trigger()
        dialog = self.window.studies.window_of(name)
        for _ in range(self.random.choice((1, 1, 2, 3))):
            start = dialog.findChild(QAbstractButton, f"{name}.start")
            if start is not None and start.isEnabled() and start.isVisible():
                self.done.append(f"press {start.objectName()}: {start.text()}")
                QTest.mouseClick(start, LEFT)


def _is_within_reach(widget) -> bool:
    return widget.isVisible() and not widget.visibleRegion().isEmpty()


def play(session, folder, monkeypatch, caplog, qtbot, seed: int, n_acts: int) -> None:
    """Let a monkey act, wait until all work has ended, and look for what went wrong."""
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    monkey = Monkey(session, folder, seed)
    monkeypatch.setattr(file_dialogs, "ask_open", monkey.ask_file)
    monkeypatch.setattr(file_dialogs, "ask_save", monkey.ask_save)
    session.trainer.cross_validates = True
    session.window.files.open_sample("penguins")
    qtbot.waitUntil(lambda: session.document.table is not None, timeout=30_000)
    with caplog.at_level(logging.ERROR), qtbot.captureExceptions() as caught:
        for number in range(n_acts):
            monkey.act()
            errors = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
            told = f"seed {seed}, act {number}, after {list(monkey.done)}"
            assert not caught, f"{told}: {caught[0][1]!r}"
            assert not errors, f"{told}: {errors[0]}"
            assert not error_dialog._open_dialogs, told
        session.trainer.stop()
        while monkey.answer_dialog():
            QApplication.processEvents()
        qtbot.waitUntil(lambda: not session.window.files.is_saving, timeout=60_000)
    assert not caught, f"seed {seed}, at the end: {caught[0][1]!r}"
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QDialog) and widget.isVisible():
            widget.close()


@pytest.mark.parametrize("seed", [1, 2])
def test_pressing_anything_does_no_harm(session, tmp_path, monkeypatch, caplog, qtbot, seed):
    play(session, tmp_path, monkeypatch, caplog, qtbot, seed, n_acts=60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_pressing_anything_for_minutes_does_no_harm(session, tmp_path, monkeypatch, caplog, qtbot, seed):
    play(session, tmp_path, monkeypatch, caplog, qtbot, seed, n_acts=600)
