"""What went wrong and was not expected: said once, with details to copy; the program goes on."""

from __future__ import annotations

import sys
import threading

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QPlainTextEdit, QWidget

from workbench.log import LOG, describe
from workbench.ui.widgets import IconLabel, Label, button, column, row

_open_dialogs: list[ErrorDialog] = []
MAX_DIALOGS = 1  # a fault in a paint event comes a hundred times; it is said once and logged each time


class ErrorDialog(QDialog):
    """Not modal; "Copy Details" puts the text on the clipboard."""

    def __init__(self, title: str, details: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("error")
        self.setWindowTitle("Treewright: Something Went Wrong")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self.resize(560, 360)
        self._details = details
        sentence = Label(title, "heading", wrap=True)
        sentence.setObjectName("error.title")
        cure = Label(
            "Your work is still here and the program goes on. If it comes again, save the project and send "
            "these details with what you did last; they hold no values from your table.",
            "secondary",
            wrap=True,
        )
        self.text = QPlainTextEdit(details)
        self.text.setObjectName("error.details")
        self.text.setAccessibleName("Details")
        self.text.setReadOnly(True)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        copy = button("Copy Details", "", self._copy, "error.copy", "duplicate")
        close = button("Close", "primary", self.close, "error.close")
        close.setDefault(True)
        top = row(IconLabel("warning", 20, "danger"), sentence, spacing=12)
        top.setStretch(1, 1)
        layout = column(top, cure, self.text, row(copy, -1, close), margins=16, spacing=12)
        layout.setStretch(2, 1)
        self.setLayout(layout)
        self.finished.connect(self._on_finished)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._details)

    def closeEvent(self, event) -> None:
        self._on_finished()
        super().closeEvent(event)

    def _on_finished(self, *_: object) -> None:
        if self in _open_dialogs:
            _open_dialogs.remove(self)


def show_error(title: str, details: str, parent: QWidget | None = None) -> ErrorDialog | None:
    """Show the dialog, unless one is open already; returns it."""
    if len(_open_dialogs) >= MAX_DIALOGS or QApplication.instance() is None:
        return None
    dialog = ErrorDialog(title, details, parent or QApplication.activeWindow())
    _open_dialogs.append(dialog)
    dialog.show()
    return dialog


class ExceptionHook(QObject):
    """Stands in for `sys.excepthook`: logs, then shows the dialog from the GUI thread."""

    caught = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.caught.connect(self._on_caught)
        self._before = sys.excepthook, threading.excepthook

    def install(self) -> None:
        sys.excepthook = self.handle
        threading.excepthook = lambda args: self.handle(args.exc_type, args.exc_value, args.exc_traceback)

    def remove(self) -> None:
        sys.excepthook, threading.excepthook = self._before

    def handle(self, kind, error, _trace) -> None:
        """Take an exception nobody caught."""
        if issubclass(kind, KeyboardInterrupt):
            app = QApplication.instance()
            if app is not None:
                app.quit()
            return
        details = describe(error if error is not None else kind())
        LOG.error("unexpected exception\n%s", details)
        self.caught.emit(f"An unexpected {kind.__name__} happened", details)

    def _on_caught(self, title: str, details: str) -> None:
        show_error(title, details)
