"""Questions in dialogs of their own, modal to one window only."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QInputDialog, QMessageBox, QWidget

from workbench.readers.encodings import ENCODINGS

Button = QMessageBox.StandardButton


def question(parent: QWidget, object_name: str, text: str, more: str) -> QMessageBox:
    """Make a question without buttons; `more` stands below it."""
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(text)
    box.setInformativeText(more)
    _dress(box, object_name)
    return box


def save_prompt(parent: QWidget, text: str, name: str) -> QMessageBox:
    """Make the question whether to save, discard or cancel; `name` is what has changes."""
    box = question(parent, "prompt.save", text, f"{name} has changes that are not saved.")
    box.setStandardButtons(Button.Save | Button.Discard | Button.Cancel)
    box.setDefaultButton(Button.Save)
    return box


def ask_encoding(parent: QWidget, name: str, then: Callable[[str], object]) -> None:
    """Ask for a file's encoding; `then` gets it, or is not called at all."""
    box = QInputDialog(parent)
    box.setWindowTitle("Choose the Encoding")
    box.setLabelText(f"Encoding of {name}")
    box.setComboBoxItems([encoding.upper() for encoding in ENCODINGS])
    box.textValueSelected.connect(lambda text: then(text.lower()))
    _dress(box, "prompt.encoding")
    box.open()


def _dress(box: QDialog, object_name: str) -> None:
    box.setObjectName(object_name)
    box.setWindowModality(Qt.WindowModality.WindowModal)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
