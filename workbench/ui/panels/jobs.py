"""What runs now and what was told: the training with its progress, and the day's messages."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTime
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.widgets import ActionButton, ElidedLabel, Label, ProgressBar, column, row

MAX_MESSAGES = 500
HEIGHT = 168  # at first: three views share what is left


class JobsPanel(QWidget):
    """Opened from the status line."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.jobs")
        self.setProperty("look", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context, self._document = context, context.document
        self._title = ElidedLabel("Nothing is running", "name")
        self._progress = ElidedLabel("", "secondary", Qt.TextElideMode.ElideRight)
        self.bar = ProgressBar("jobs.progress")
        stop = context.actions["action.model.stop"]
        self._running = QWidget()
        self._stop = ActionButton(stop)
        head = row(column(self._title, self._progress, spacing=2), self._stop, spacing=12)
        head.setStretch(0, 1)
        self._running.setLayout(column(head, self.bar, spacing=8))
        self.messages = QPlainTextEdit()
        self.messages.setObjectName("jobs.messages")
        self.messages.setAccessibleName("Messages")
        self.messages.setReadOnly(True)
        self.messages.setMaximumBlockCount(MAX_MESSAGES)
        self.messages.setPlaceholderText("What the program did is listed here.")
        told = Label("MESSAGES", "section")
        self.setLayout(column(self._running, told, self.messages, margins=theme.PANEL_PADDING, spacing=8))
        for signal in context.work_signals:
            signal.connect(self.refresh)
        for signal in (context.editor.telling_changed, context.editor.changed):
            signal.connect(self.refresh)
        context.document.message_posted.connect(self.add_message)
        theme.changed.connect(self._dress)
        self._dress()
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), theme.scaled(HEIGHT))

    def _dress(self) -> None:
        self.messages.setFont(theme.font(12))

    def add_message(self, text: str) -> None:
        """Append a sentence with the time of day."""
        self.messages.appendPlainText(f"{QTime.currentTime().toString('HH:mm:ss')}  {text}")

    def refresh(self, *_: object) -> None:
        job, editor = self._context.current_job, self._context.editor
        self._stop.setVisible(job is not None or editor.is_telling)
        self.bar.setVisible(job is not None and not editor.is_telling)
        self._progress.setVisible(job is not None and not editor.is_telling)
        if editor.is_telling:
            self._title.setText(editor.title)
            return
        if job is None:
            self._title.setText("Nothing is running")
            return
        self._title.setText(job.title)
        self._progress.setText(job.progress.text)
        self.bar.show_fraction(job.progress.fraction)
