"""Dims a picture that is out of date."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from workbench.ui import theme


class Veil(QWidget):
    """Lets a picture shine through the surface's colour; the pointer and keys pass.

    A veil of the ground's colour looks the same as a picture that is painted at part strength, and costs no
    second painting of it.
    """

    def __init__(self, covered: QWidget, strength: float) -> None:
        super().__init__(covered)
        self._strength = strength
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        covered.installEventFilter(self)
        self.hide()

    def cover(self) -> None:
        self.resize(self.parentWidget().size())
        self.raise_()
        self.show()

    def eventFilter(self, watched, event) -> bool:
        if event.type() == QEvent.Type.Resize:
            self.resize(self.parentWidget().size())
        return False

    def paintEvent(self, event) -> None:
        painter, colour = QPainter(self), theme.tokens().colour("surface")
        colour.setAlphaF(self._strength)
        painter.fillRect(self.rect(), colour)
        painter.end()
