"""What the windows of studies share: beside the main window, not modal, with its Undo and Redo."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QPushButton, QWidget

from workbench.ui import theme
from workbench.ui.context import Context

SHARE = 0.94  # of the screen's room, at most
SHARED_ACTIONS = (
    "action.edit.undo", "action.edit.redo", "action.file.save", "action.model.stop", "action.figure.export",
)  # fmt: skip


class StudyDialog(QDialog):
    """A window of its own that works on beside the others; it is kept when it is closed.

    Parameters
    ----------
    name : str
        The object name is "study.<name>".
    size : QSize
        At first, where the screen has the room.
    """

    start: QPushButton | None = None  # what Enter in a field presses, where there is such a button

    def __init__(self, context: Context, window: QWidget, name: str, title: str, size: QSize) -> None:
        super().__init__(window)
        self._context = context
        self.setObjectName(f"study.{name}")
        self.setWindowTitle(title)
        self.setSizeGripEnabled(False)
        for action in SHARED_ACTIONS:  # a window's shortcuts work in that window alone
            self.addAction(context.actions[action])
        room = window.screen().availableGeometry().size() * SHARE
        self.resize(QSize(theme.scaled(size.width()), theme.scaled(size.height())).boundedTo(room))

    def open_it(self) -> None:
        """Show it, in front of the others."""
        if self.start is not None:  # not where it is made: Qt remembers a default button in its dialog alone
            self.start.setDefault(True)
        self.show()
        self.raise_()
        self.activateWindow()
