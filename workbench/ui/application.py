"""Starts the application: theme, hook for unexpected errors, document, window; ends its threads."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from engine.errors import FitWarning
from workbench.collector import Collector
from workbench.document import Document
from workbench.jobs import Lanes
from workbench.selection import Selection
from workbench.training import Trainer
from workbench.turns import Turns
from workbench.ui import qt_types, theme
from workbench.ui.error_dialog import ExceptionHook, show_error
from workbench.ui.main_window import MainWindow
from workbench.ui.view_commands import restore_view
from workbench.warmup import WarmUp

QUIT_TIMEOUT_S = 3.0


@dataclass
class Session:
    """One window and the application model under it."""

    document: Document
    lanes: Lanes
    trainer: Trainer
    window: MainWindow
    warm_up: WarmUp
    collector: Collector

    def shut_down(self) -> bool:
        """End all background work; False if something could not be ended in time."""
        self.collector.stop()
        self.trainer.drop_turns()
        self.warm_up.stop()
        return self.lanes.shut_down(QUIT_TIMEOUT_S)

    def dispose(self) -> None:
        """Delete window and model; lambdas that hold a panel live as long as the signal they hear."""
        for part in (self.window, self.window.context.selection, self.trainer, self.document, self.warm_up):
            part.deleteLater()


def make_application() -> QApplication:
    """The QApplication, named so that settings and caches have their place."""
    QApplication.setOrganizationName("Treewright")
    QApplication.setApplicationName("Treewright")
    QApplication.setDesktopFileName("treewright")
    existing = QApplication.instance()
    return existing if isinstance(existing, QApplication) else QApplication(["treewright"])


def make_session(settings: QSettings | None = None) -> Session:
    """Wire document, trainer and window together; shows nothing yet."""
    warnings.filterwarnings("ignore", category=FitWarning)  # the trainer tells them
    document, lanes, warm_up = Document(), Lanes(), WarmUp()
    trainer = Trainer(document, lanes, warm_up=warm_up)
    window = MainWindow(document, trainer, lanes, Selection(), settings or QSettings())
    context = window.context
    for worker in (trainer, *context.workers):
        worker.crashed.connect(lambda title, details: show_error(title, details, window))
    warm_up.advanced.connect(lambda text: window.status.say(f"Preparing the engine, once: {text}"))
    warm_up.ended.connect(lambda _is_warm: window.status.say("Ready"))
    collector = Collector(lambda: bool(lanes.live_jobs), window)
    collector.start()
    return Session(document, lanes, trainer, window, warm_up, collector)


def open_first(
    window: MainWindow, file: str | None = None, sample: str | None = None, experiment: str | None = None
) -> None:
    """Open what the command line named: a file, a sample's key or an experiment's."""
    if file is not None:
        window.files.open_path(file)
    elif experiment is not None:
        window.experiments.open(experiment)
    elif sample is not None:
        window.files.open_sample(sample)


def run(file: str | None = None, sample: str | None = None, experiment: str | None = None) -> int:
    """Open the window, on what is named if anything is, and stay until it is closed; the exit code."""
    from workbench.log import start_logging

    app = make_application()
    start_logging()
    hook = ExceptionHook()
    hook.install()
    settings = QSettings()
    restore_view(settings)
    theme.apply(app)
    session = make_session(settings)
    session.window.show()
    session.window.when_painted(session.warm_up.start)
    turns = Turns(session.window)
    session.window.when_painted(lambda: qt_types.make_in(turns))
    session.window.when_painted(lambda: open_first(session.window, file, sample, experiment))
    code = app.exec()
    has_ended = session.shut_down()
    settings.sync()
    hook.remove()
    if not has_ended:
        from workbench.platform import leave_at_once

        leave_at_once(code)
    session.dispose()
    return code
