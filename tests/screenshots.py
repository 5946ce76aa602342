"""`make screenshots`: drives the real window through the road and writes a picture of every view.

Two themes x two sizes x five views go to demo-output/screenshots; those the README shows to docs/pictures.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QAbstractAnimation, QEvent, QEventLoop, QObject, QSettings, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from workbench.ui import theme
from workbench.ui.application import Session, make_application, make_session

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "demo-output" / "screenshots"
PICTURES = ROOT / "docs" / "pictures"
IN_README = ("tree-light-large", "training-light-large", "surface-dark-large", "table-light-large")
SIZES = {"large": (1440, 900), "small": (1024, 700)}
THEMES = ("light", "dark")
VIEWS = ("welcome", "table", "tree", "training", "surface")
QUIET_TURNS = 3  # what one turn of the event loop does may ask for something in the next


class _Unrest(QObject):
    """Counts what a window has been asked to lay out or paint."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.n = 0
        window.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        self.n += event.type() in (QEvent.Type.UpdateRequest, QEvent.Type.LayoutRequest)
        return False


def is_at_work(session: Session) -> bool:
    """Tell whether a job runs or has still to tell its end, something moves, or a turn is waited for."""
    window, trainer = session.window, session.trainer
    if not session.lanes.are_quiet or trainer.current_job or trainer.cross_validation_job:
        return True
    if any(a.state() == QAbstractAnimation.State.Running for a in window.findChildren(QAbstractAnimation)):
        return True
    timers = [*window.findChildren(QTimer), *trainer.findChildren(QTimer)]
    return any(timer.isActive() and timer.interval() == 0 for timer in timers)


def settle(session: Session) -> None:
    """Let the window do all that it has begun, until nothing is left to lay out or to paint."""
    unrest, n_quiet = _Unrest(session.window), 0
    while n_quiet < QUIET_TURNS:
        before, waits = unrest.n, is_at_work(session)
        more = QEventLoop.ProcessEventsFlag.WaitForMoreEvents
        QApplication.processEvents(more if waits else QEventLoop.ProcessEventsFlag.AllEvents)
        n_quiet = 0 if waits or unrest.n != before else n_quiet + 1
    session.window.removeEventFilter(unrest)
    unrest.deleteLater()


def train(session: Session, kind: str, **parameters: object) -> None:
    """Add a model and wait until it and its cross-validation are done."""
    document = session.document
    run_id = document.add_run(kind)
    document.select_run(run_id)
    for name, value in parameters.items():
        document.set_parameter(run_id, name, value)
    assert session.trainer.train(run_id), document.messages
    settle(session)


def is_large(session: Session) -> bool:
    """Tell whether there is room for views side by side."""
    size = session.window.size()
    return size.width() >= SIZES["large"][0] and size.height() >= SIZES["large"][1]


def place(session: Session, view: str) -> None:
    """Arrange the window of the present size as its picture of a view shows it."""
    if view == "welcome":
        return
    window = session.window
    centre = window.ensure_centre()
    window.docks["settings"].setVisible(is_large(session) and view != "tree")  # a tree is wide
    if not is_large(session) or view in ("tree", "surface"):
        centre.arrange_as_tabs()
    else:
        centre.arrange()
    centre.show_view(view)
    if view == "tree":
        settle(session)
        panel = centre.docks["tree"].widget()
        panel.outline.hide()
        settle(session)
        if is_large(session):
            panel.canvas.open_all()
        else:  # as many levels as can be read
            panel.canvas.set_figure(panel.canvas.figure)
        panel.canvas.fit()
    settle(session)


def walk(session: Session) -> Iterator[str]:
    """Go the road; yields the name of each view when it has something to show."""
    settle(session)
    yield "welcome"
    session.window.files.open_sample("penguins")
    while session.document.table is None:  # views are made between reading and showing, a turn each
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
    settle(session)
    yield "table"
    train(session, "tree")
    yield "tree"
    train(session, "boosting", n_estimators=60, learning_rate=0.1)
    yield "training"
    yield "surface"


def looks(session: Session, themes: tuple[str, ...] = THEMES) -> Iterator[tuple[str, str, str]]:
    """Yield view, theme and size of every picture while it is on screen."""
    window = session.window
    for view in walk(session):
        for size, measures in SIZES.items():
            window.resize(*measures)
            settle(session)
            place(session, view)
            for appearance in sorted(themes, key=lambda name: name != theme.appearance()):  # few changes
                if appearance != theme.appearance():
                    theme.set_appearance(appearance)
                    settle(session)
                yield view, appearance, size


def each_view(look: Callable[[QWidget, str], None]) -> None:
    """Call ``look(window, "view-theme-size")`` for every view, theme and size."""
    app = make_application()
    theme.set_appearance(THEMES[0])
    theme.apply(app)
    with tempfile.TemporaryDirectory() as folder:
        session = make_session(QSettings(str(Path(folder) / "settings.ini"), QSettings.Format.IniFormat))
        session.window.resize(*SIZES["large"])
        session.window.show()
        for view, appearance, size in looks(session):
            look(session.window, f"{view}-{appearance}-{size}")
        session.document.undo_stack.setClean()
        session.window.hide()
        session.shut_down()
        session.dispose()
        QApplication.processEvents()


def save(window: QWidget, name: str) -> None:
    """Write the window as a PNG."""
    path = FOLDER / f"{name}.png"
    window.grab().save(str(path))
    print(path.relative_to(ROOT))
    if name in IN_README:
        window.grab().save(str(PICTURES / f"{name}.png"))


def main() -> None:
    """Write all pictures."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    each_view(save)


if __name__ == "__main__":
    main()
