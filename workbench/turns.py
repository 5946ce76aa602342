"""Work cut into turns of the event loop, so that the window answers in between."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer

Work = Callable[[], object]


class Turns(QObject):
    """Does one piece of work a turn, in the order in which they were added."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[Work] = deque()
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._do_next)

    def add(self, work: Work) -> None:
        """Do `work` in a later turn; what waits already, as an equal method of one object, is done once."""
        if work not in self._waiting:
            self._waiting.append(work)
        self._timer.start()

    def clear(self) -> None:
        """Forget what waits, and so the views that were to do it."""
        self._waiting.clear()
        self._timer.stop()

    def _do_next(self) -> None:
        work = self._waiting.popleft()
        if not self._waiting:
            self._timer.stop()
        work()
