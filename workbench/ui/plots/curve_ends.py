"""The two ends of a curve, which can be dragged from value to value."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QPainterPath
from PySide6.QtWidgets import QGraphicsRectItem

from workbench.ui import theme
from workbench.ui.plots.base import pen

GRIP_PX = 26  # its height, and the width in which an end is taken hold of
GRIP_SHAPE = QRectF(-0.5, -0.15, 1.0, 0.3)  # along the line and across it, of its height
TIP = "Drag to try more or fewer values"
OUTSIDE = 0.65  # of the ground that lies on what is beyond the ends
POINT_PX = 5  # from an end, within which its points lie
LINE_Z, GROUND_Z = 30, 20  # above all that is drawn


class EndLine(pg.InfiniteLine):
    """One end: an upright line with a grip."""

    def __init__(self) -> None:
        super().__init__(angle=90, movable=True)
        self.setZValue(LINE_Z)
        self.setCursor(Qt.CursorShape.SizeHorCursor)
        self.setToolTip(TIP)
        self.addMarker("", 0.5, GRIP_PX)
        grip: QPainterPath = self.markers[0][0]
        grip.addRoundedRect(GRIP_SHAPE, 0.15, 0.15)

    def dress(self) -> None:
        t = theme.tokens()
        self.setPen(pen(t.colour("control"), 1.5))
        self.setHoverPen(pen(t.colour("accent"), 2))


class CurveEnds(QObject):
    """Two lines at whole places; what is beyond them lies under a veil.

    Parameters
    ----------
    plot : PlotItem
    """

    moved = Signal(int, int)  # while one is dragged: the first and the last place between them
    released = Signal(int, int)  # where they were left

    def __init__(self, plot: pg.PlotItem) -> None:
        super().__init__(plot)
        self._plot, self._bounds = plot, (0, 0)
        self.lines = (EndLine(), EndLine())
        self.grounds = (QGraphicsRectItem(), QGraphicsRectItem())
        for ground in self.grounds:
            ground.setZValue(GROUND_Z)
            ground.setPen(Qt.PenStyle.NoPen)
        for item in (*self.grounds, *self.lines):
            plot.addItem(item, ignoreBounds=True)
        for line in self.lines:
            line.sigDragged.connect(self._on_dragged)
            line.sigPositionChangeFinished.connect(self._on_released)
        self.hide()

    @property
    def is_dragged(self) -> bool:
        return any(line.moving for line in self.lines)

    @property
    def places(self) -> tuple[int, int]:
        """The first and the last place; one end may have been dragged past the other."""
        first, last = sorted(round(line.value()) for line in self.lines)
        return first, last

    @property
    def at(self) -> float:
        """Place of the end that is dragged."""
        return float(next((line for line in self.lines if line.moving), self.lines[1]).value())

    def show(self, first: int, last: int, lowest: int, highest: int) -> None:
        """Put them at places, unless one is held, and let them go from the lowest place to the highest."""
        self._bounds = lowest, highest
        for line, at in zip(self.lines, (first, last), strict=True):
            line.dress()
            line.setVisible(True)
            if not self.is_dragged:
                line.setBounds([None, None])
                line.setValue(at)
            line.setBounds([lowest, highest])
        self._draw_grounds()

    def hide(self) -> None:
        """Take them away, also out of a hand that holds one."""
        for line in self.lines:
            line.moving = False
        for item in (*self.lines, *self.grounds):
            item.setVisible(False)

    def _on_dragged(self, line: EndLine) -> None:
        line.setValue(round(line.value()))
        self._draw_grounds()
        self.moved.emit(*self.places)

    def _on_released(self, _line: EndLine) -> None:
        self.released.emit(*self.places)

    def _draw_grounds(self) -> None:
        (left, right), (low, high) = self._plot.vb.viewRange()
        past_point = POINT_PX * (right - left) / max(self._plot.vb.width(), 60.0)
        first, last = self.places[0] - past_point, self.places[1] + past_point
        colour = theme.tokens().colour("window")
        colour.setAlphaF(OUTSIDE)
        for ground, start, stop in zip(self.grounds, (left, last), (first, right), strict=True):
            ground.setRect(QRectF(start, low, stop - start, high - low))
            ground.setBrush(colour)
            ground.setVisible(stop > start)
