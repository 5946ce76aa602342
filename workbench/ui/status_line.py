"""The one line at the bottom: what was done, what runs and how long still; it opens Jobs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStatusBar, QWidget

from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.widgets import ElidedLabel, ProgressBar, button

READY = "Ready"


LEAST_PX = 24  # of what runs


class StatusLine(QStatusBar):
    """Mirrors `document.message_posted` and the trainer's job."""

    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("status")
        self.setSizeGripEnabled(False)
        self.setContentsMargins(theme.PANEL_PADDING - 2, 0, theme.PANEL_PADDING - 8, 0)  # 2 are Qt's own
        self._context = context
        self._message = ElidedLabel(READY, "secondary", Qt.TextElideMode.ElideRight)
        self._message.setObjectName("status.message")
        self._job = ElidedLabel("", "secondary", Qt.TextElideMode.ElideRight)
        self._job.setObjectName("status.job")
        self._bar = ProgressBar("status.progress")
        self._bar.setFixedWidth(120)
        jobs = context.actions["action.view.jobs"]
        self._jobs = button("Jobs", "quiet", jobs.trigger, "status.jobs")
        self._jobs.setToolTip(jobs.toolTip())
        self.addWidget(self._message, 3)
        self.addWidget(self._job, 2)
        self.addPermanentWidget(self._bar)
        self.addPermanentWidget(self._jobs)
        context.document.message_posted.connect(self.say)
        for signal in context.work_signals:
            signal.connect(self.refresh)
        for signal in (context.editor.telling_changed, context.editor.changed):
            signal.connect(self.refresh)
        theme.changed.connect(self._dress)
        self._dress()
        self.refresh()

    def _dress(self) -> None:
        self._jobs.setStyleSheet(f"min-height: {theme.scaled(theme.STATUS_HEIGHT) - 2}px; padding: 0 8px;")
        self.setFixedHeight(theme.scaled(theme.STATUS_HEIGHT) + 4)

    @property
    def message(self) -> str:
        return self._message.full_text()

    def say(self, text: str) -> None:
        """Show a sentence until the next."""
        self._message.setText(text)
        self._hide_ready()

    def _hide_ready(self) -> None:
        """Say "Ready" only when nothing runs."""
        is_busy = self._context.current_job is not None or self._context.editor.is_telling
        if is_busy and self.message == READY:
            self._message.setText("")
        elif not is_busy and not self.message:
            self._message.setText(READY)

    def refresh(self, *_: object) -> None:
        """Show the running job, or nothing."""
        job, editor = self._context.current_job, self._context.editor
        self._bar.setVisible(job is not None and not editor.is_telling)
        self._job.setVisible(job is not None or editor.is_telling)
        self._hide_ready()
        if editor.is_telling:  # what a person just asked for, and soon over
            self._job.setText(f"{editor.title}; Escape stops it")
        elif job is not None:
            self._job.setText(f"{job.title}: {job.progress.text}")
            self._bar.show_fraction(job.progress.fraction)
        self._make_room()

    def _make_room(self) -> None:
        """Let what runs be read to its end, which says how long still; its room does not shrink meanwhile."""
        if self._job.isHidden():
            self._job.setMinimumWidth(LEAST_PX)
            return
        wanted = min(self._job.sizeHint().width(), self.width() // 2)
        if wanted > self._job.minimumWidth():
            self._job.setMinimumWidth(wanted)
