"""Saves the numbers behind a picture as CSV."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QWidget

from engine.errors import DataError
from workbench.project.atomic import write_atomically
from workbench.ui import file_dialogs
from workbench.ui.context import Context
from workbench.ui.exporting import file_stem


def ask_csv(
    context: Context, panel: QWidget, title: str, what: str, saved: str, make: Callable[[], str | None]
) -> None:
    """Ask for a file and write a table into it; how it went is posted as a message.

    Parameters
    ----------
    title : str
        Of the dialog.
    what : str
        What the file is about, for its name: "tuning".
    saved : str
        What is saved, for the message: "Settings".
    make : callable
        Returns the table's text when the file is known; None where there is none any more.
    """

    def write(path_text: str) -> None:
        path, text = Path(path_text), make()
        if text is None:
            return
        try:
            write_atomically(path.absolute(), lambda file: file.write(text.encode()))
        except DataError as error:
            told = str(error)
        else:
            told = f"{saved} saved as {path.name}"
        context.document.post_message(told)

    file_dialogs.ask_save(panel, title, "CSV (*.csv)", f"{file_stem(context, what)}.csv", "csv", write)
