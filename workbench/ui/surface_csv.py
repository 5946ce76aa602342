"""The command that writes what a surface tells as CSV."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from engine.errors import DataError
from workbench.figures.surface import AnyFigure
from workbench.figures.surface_csv import surface_csv
from workbench.jobs import Job
from workbench.project.atomic import write_atomically
from workbench.ui import file_dialogs
from workbench.ui.context import Context
from workbench.ui.exporting import file_stem

ACTION = "action.surface.csv"


class SurfaceCsv(QObject):
    """Asks for a file and lets a worker write it: a large picture is as many lines as it has cells.

    Parameters
    ----------
    panel : QWidget
    figure : callable
        Returns the picture on screen; None while there is none.
    """

    def __init__(self, context: Context, panel: QWidget, figure: Callable[[], AnyFigure | None]) -> None:
        super().__init__(panel)
        self._context, self._panel, self._figure = context, panel, figure
        context.actions.add(
            ACTION, "Export Surface as CSV…", None, self._ask, "export",
            tip="Write what the model says in every cell, and how uncertain it is where that is drawn",
        )  # fmt: skip

    def _ask(self) -> None:
        figure = self._figure()
        if figure is None:
            self._context.document.post_message("There is no surface to export yet: train a model first")
            return
        name = f"{file_stem(self._context, 'surface')}.csv"
        then = partial(self._write, figure)
        file_dialogs.ask_save(self._panel, "Export Surface", "CSV (*.csv)", name, "csv", then)

    def _write(self, figure: AnyFigure, path_text: str) -> None:
        path = Path(path_text)
        job = Job(lambda _monitor: _save(figure, path), self, title=f"Saving {path.name}")
        job.ended.connect(partial(self._on_ended, job, path))
        job.start(self._context.lanes.files)

    def _on_ended(self, job: Job, path: Path, future: Any) -> None:
        job.deleteLater()
        if future.cancelled():  # stopped before its turn
            self._context.document.post_message(f"{path.name} was not saved")
            return
        if (error := future.exception()) is None:
            self._context.document.post_message(f"Surface saved as {path.name}")
            return
        self._context.document.post_message(str(error))
        if not isinstance(error, DataError):
            raise error  # nothing that a disk does: shown with its details, and logged


def _save(figure: AnyFigure, path: Path) -> None:
    content = surface_csv(figure).encode()
    write_atomically(path.absolute(), lambda file: file.write(content))
