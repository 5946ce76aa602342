"""Views behind a tab wait: what they are asked to show is worked out when they come into sight."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget


def is_in_sight(widget: QWidget) -> bool:
    """Tell whether any of a widget is on screen.

    `isVisible` does not: Qt keeps a dock behind a tab visible and moves it out of the window.
    """
    return widget.isVisible() and not widget.visibleRegion().isEmpty()


class Sight(QObject):
    """Does a view's work at once where the view is in sight, else once it is.

    Parameters
    ----------
    view : QWidget
        It is watched: its first painting tells that it was raised.
    work : callable
        Looks at the document anew, so that once is enough however often it was asked for.
    """

    def __init__(self, view: QWidget, work: Callable[[], object]) -> None:
        super().__init__(view)
        self._view, self._work = view, work
        self._is_due = False
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._catch_up)
        view.installEventFilter(self)

    def ask(self, *_: object) -> None:
        """Do the work now, or when the view comes into sight; a slot for any signal."""
        self._is_due = not is_in_sight(self._view)
        if not self._is_due:
            self._work()

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if self._is_due and event.type() == QEvent.Type.Paint:
            self._soon.start()  # not in the midst of painting
        return False

    def _catch_up(self) -> None:
        if self._is_due:
            self.ask()
