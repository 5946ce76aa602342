"""`make screenshots`: drives the real window through the road and writes a picture of every view.

Two themes x two sizes x five views go to demo-output/screenshots; those the README shows to docs/pictures.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QEventLoop, QSettings
from PySide6.QtWidgets import QApplication, QSplitter, QWidget

from workbench.demo import let_run
from workbench.ui import theme
from workbench.ui.application import Session, make_application, make_session

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "demo-output" / "screenshots"
PICTURES = ROOT / "docs" / "pictures"
IN_README = ("tree-light-large", "training-light-large", "surface-dark-large", "table-light-large")
SIZES = {"large": (1440, 900), "small": (1024, 700)}
THEMES = ("light", "dark")
VIEWS = ("welcome", "table", "tree", "training", "surface")
SETTLE_MS = 400  # layouts, the surface's lane and 140 ms of motion


def settle(ms: int = SETTLE_MS) -> None:
    """Let the window do what it has begun."""
    let_run(ms)


def train(session: Session, kind: str, **parameters: object) -> None:
    """Add a model and wait until it and its cross-validation are done."""
    document, loop = session.document, QEventLoop()
    run_id = document.add_run(kind)
    document.select_run(run_id)
    for name, value in parameters.items():
        document.set_parameter(run_id, name, value)
    trainer = session.trainer
    (trainer.cross_validation_ended if trainer.cross_validates else trainer.ended).connect(loop.quit)
    assert session.trainer.train(run_id), document.messages
    loop.exec()


def show_alone(session: Session, view: str) -> None:
    """Bring a view to the front, as View > One View at a Time does."""
    centre = session.window.ensure_centre()
    centre.arrange_as_tabs()
    centre.show_view(view)


def spread_tree(session: Session) -> None:
    """Give the canvas all the width there is and unfold every branch."""
    window = session.window
    window.docks["settings"].hide()
    panel = window.ensure_centre().docks["tree"].widget()
    panel.findChild(QSplitter).setSizes([0, 1000])
    settle()
    panel.canvas.open_all()
    panel.canvas.fit()


def walk(session: Session) -> Iterator[str]:
    """Go the road; yields the name of each view while it is on screen."""
    document, window = session.document, session.window
    settle()
    yield "welcome"
    window.files.open_sample("penguins")
    while document.table is None:
        settle(50)
    centre = window.ensure_centre()
    centre.arrange()
    centre.show_view("table")
    settle()
    yield "table"
    train(session, "tree")
    show_alone(session, "tree")
    spread_tree(session)
    settle()
    yield "tree"
    train(session, "boosting", n_estimators=60, learning_rate=0.1)
    window.docks["settings"].setVisible(window.width() >= SIZES["large"][0])
    centre.arrange()
    if window.height() < SIZES["large"][1]:
        show_alone(session, "training")
    else:
        centre.show_view("training")
    settle()
    yield "training"
    if window.height() < SIZES["large"][1]:
        centre.show_view("surface")
    else:
        show_alone(session, "surface")
    settle(2 * SETTLE_MS)
    yield "surface"


def each_view(look: Callable[[QWidget, str], None]) -> None:
    """Call ``look(window, "view-theme-size")`` for every view, theme and size."""
    app = make_application()
    for appearance in THEMES:
        for size, (width, height) in SIZES.items():
            with tempfile.TemporaryDirectory() as folder:
                settings = QSettings(str(Path(folder) / "settings.ini"), QSettings.Format.IniFormat)
                theme.set_appearance(appearance)
                theme.apply(app)
                session = make_session(settings)
                session.window.resize(width, height)
                session.window.show()
                for view in walk(session):
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
