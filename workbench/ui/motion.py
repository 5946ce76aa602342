"""Movement that explains a change: short, never in the way, and none where it is reduced."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation

from workbench.ui import theme

DURATION_MS = 140


class Glide(QVariantAnimation):
    """Calls `step` with 0 to 1 while something moves to its new place.

    Parameters
    ----------
    step : callable
        ``step(share)``: 0 where the movement begins, 1 at rest.
    """

    def __init__(self, step: Callable[[float], None], parent: QObject) -> None:
        super().__init__(parent)
        self._step = step
        self.setStartValue(0.0)
        self.setEndValue(1.0)
        self.setDuration(DURATION_MS)
        self.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.valueChanged.connect(step)

    def begin(self) -> None:
        """Move from the start; be there at once where motion is reduced."""
        self.stop()
        if theme.reduces_motion():
            self._step(1.0)
        else:
            self._step(0.0)
            self.start()

    def end(self) -> None:
        """Be there at once."""
        self.stop()
        self._step(1.0)
