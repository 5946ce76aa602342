"""A real window over a real document; tests that leave a timer or a top-level widget fail."""

from __future__ import annotations

import gc
import weakref

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSettings, Qt, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget
from shiboken6 import isValid

from workbench.datasets import make_table
from workbench.ui import file_dialogs, theme

UNFREEZE = gc.unfreeze


def flush_deletions() -> None:
    """Let Qt delete what was told to be deleted later."""
    for _ in range(3):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QCoreApplication.processEvents()


@pytest.fixture(autouse=True)
def light_theme(qapp):
    """The same dress for every test."""
    theme.set_text_scale(100)
    theme.set_reduces_motion(True)
    theme.set_appearance("light")
    theme.apply(qapp)
    yield
    theme.set_text_scale(100)
    theme.set_appearance("light")


@pytest.fixture(autouse=True)
def no_widget_or_timer_is_left(request, qapp, monkeypatch):
    """A passed test that leaves a top-level widget or an active timer fails."""
    started: list[weakref.ref] = []
    real_start = QTimer.start

    def start(timer, *arguments):
        started.append(weakref.ref(timer))
        real_start(timer, *arguments)

    monkeypatch.setattr(QTimer, "start", start)
    before = {id(widget) for widget in QApplication.topLevelWidgets()}
    yield
    if not getattr(request.node, "has_passed", False):
        return
    flush_deletions()
    timers = [
        timer for ref in started if (timer := ref()) is not None and isValid(timer) and timer.isActive()
    ]
    told = [f"{timer.interval()} ms of {timer.parent()!r}" for timer in timers]
    assert not timers, f"the test left active timers: {told}"
    widgets = _new_top_levels(before)
    for look in (gc.collect, _collect_all):
        if widgets:
            del widgets
            look()  # pyqtgraph's plots hold menus in reference cycles: garbage, not left behind
            flush_deletions()
            widgets = _new_top_levels(before)
    names = ", ".join(f"{type(widget).__name__} {widget.objectName()!r}" for widget in widgets)
    assert not widgets, f"the test left top-level widgets: {names}"


def _collect_all() -> None:
    """Collect also what the program takes for what imports made: an import in the middle of a test."""
    UNFREEZE()
    gc.collect()


def _new_top_levels(before: set[int]) -> list:
    return [
        widget
        for widget in QApplication.topLevelWidgets()
        if id(widget) not in before and isValid(widget) and widget.parent() is None
    ]


@pytest.fixture
def settings(tmp_path) -> QSettings:
    return QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)


class Strays(QObject):
    """Notes parts that are shown as windows of their own, for which a desktop would make frames."""

    OWN = (Qt.WindowType.Popup, Qt.WindowType.ToolTip, Qt.WindowType.Dialog, Qt.WindowType.Sheet)

    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()

    def look_at(self, shown: QWidget) -> None:
        is_own = shown.isWindow() and not isinstance(shown, QMainWindow)
        if is_own and shown.windowType() not in self.OWN:
            self.found.add((type(shown).__name__, shown.objectName()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget):
            self.look_at(watched)
        return False


@pytest.fixture
def strays(qapp, monkeypatch):
    """What Python has shown as a window of its own so far.

    An event filter would see what Qt shows too, and takes a fifth of every test's time: the tests of
    stray windows have one (`every_show`).
    """
    made = Strays()

    def looked_at(show):
        def shown(widget, *arguments):
            show(widget, *arguments)
            if widget.isVisible():
                made.look_at(widget)

        return shown

    monkeypatch.setattr(QWidget, "show", looked_at(QWidget.show))
    monkeypatch.setattr(QWidget, "setVisible", looked_at(QWidget.setVisible))
    return made


@pytest.fixture
def every_show(qapp, strays):
    """Every event of the application is looked at."""
    qapp.installEventFilter(strays)
    yield strays
    qapp.removeEventFilter(strays)


@pytest.fixture
def session(qapp, settings, strays, monkeypatch):
    """A window as the program makes it, shown, with its threads ended afterwards.

    A test in which a part of it was shown as a window of its own fails. What there was before is not
    looked at when the window is collected: that would take a sixth of every test's time.
    """
    from workbench.ui.application import make_session

    gc.freeze()
    monkeypatch.setattr(gc, "unfreeze", lambda: None)
    made = make_session(settings)
    made.trainer.cross_validates = False
    made.window.resize(1440, 900)
    made.window.show()
    yield made
    assert made.shut_down()
    assert strays.found == set(), "shown as windows of their own"
    made.window._may_close = True
    made.window.close()
    made.dispose()
    flush_deletions()


@pytest.fixture
def window(session):
    return session.window


@pytest.fixture
def document(session):
    return session.document


@pytest.fixture
def small_table():
    """Twelve rows: a number with a gap, a category, an all-distinct text, a constant, a binary target."""
    return make_table(
        "small",
        {
            "size": [1.5, None, 3, 4, 5.25, 6, 7, 8, 9, 10, 11, 12],
            "colour": [
                "red",
                "blue",
                "red",
                None,
                "blue",
                "red",
                "blue",
                "red",
                "blue",
                "red",
                "blue",
                "red",
            ],
            "name": [f"row {idx}" for idx in range(12)],
            "same": ["x"] * 12,
            "y": ["no", "yes"] * 6,
        },
        {"name": "text", "same": "category"},
    )


class Dialogs:
    """Answers file dialogs; `asked` lists their titles."""

    def __init__(self) -> None:
        self.answers: list[str | None] = []
        self.asked: list[str] = []
        self.proposals: list[str] = []

    def _answer(self, title: str, then) -> None:
        self.asked.append(title)
        answer = self.answers.pop(0)
        if answer is not None:
            then(str(answer))

    def ask_open(self, parent, title, filters, folder, then) -> None:
        self._answer(title, then)

    def ask_save(self, parent, title, filters, proposal, suffix, then) -> None:
        self.proposals.append(proposal)
        self._answer(title, then)


@pytest.fixture
def dialogs(monkeypatch) -> Dialogs:
    made = Dialogs()
    monkeypatch.setattr(file_dialogs, "ask_open", made.ask_open)
    monkeypatch.setattr(file_dialogs, "ask_save", made.ask_save)
    return made
