"""File dialogs: window-modal, so that work beneath goes on; tests answer them by replacing these two."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

Then = Callable[[str], object]


def ask_open(parent: QWidget, title: str, filters: str, folder: str, then: Then) -> None:
    """Ask for an existing file; `then` gets its path, or is not called at all."""
    dialog = QFileDialog(parent, title, folder, filters)
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    _open(dialog, then)


def ask_save(parent: QWidget, title: str, filters: str, proposal: str, suffix: str, then: Then) -> None:
    """Ask where to save; `then` gets the path with `suffix`, or is not called at all."""
    dialog = QFileDialog(parent, title, proposal, filters)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(suffix)
    _open(dialog, then)


def _open(dialog: QFileDialog, then: Then) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(then)
    dialog.open()
