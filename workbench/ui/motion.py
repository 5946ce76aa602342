"""Movement that explains a change: short, never in the way, and none where it is reduced."""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakMethod

from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation

from workbench.ui import theme

DURATION_MS = 140


class Glide(QVariantAnimation):
    """Calls `step` with 0 to 1 while something moves to its new place.

    Parameters
    ----------
    step : bound method
        ``step(share)``: 0 where the movement begins, 1 at rest. Its object is not kept alive: as the parent
        it holds this one, and Python cannot collect a circle through a parent.
    """

    def __init__(self, step: Callable[[float], None], parent: QObject) -> None:
        super().__init__(parent)
        self._step = WeakMethod(step)
        self.setStartValue(0.0)
        self.setEndValue(1.0)
        self.setDuration(DURATION_MS)
        self.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.valueChanged.connect(self._tell)

    def begin(self) -> None:
        """Move from the start; be there at once where motion is reduced."""
        self.stop()
        if theme.reduces_motion():
            self._tell(1.0)
        else:
            self._tell(0.0)
            self.start()

    def end(self) -> None:
        """Be there at once."""
        self.stop()
        self._tell(1.0)

    def _tell(self, share: float) -> None:
        step = self._step()
        if step is not None:
            step(share)
