"""The bar that tells which value a colour stands for: beside its picture, as high, with name and numbers."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QGraphicsWidget

from workbench.figures.axis import date_ticks
from workbench.ui import theme
from workbench.ui.plots.base import LiteralAxis, pen

WIDTH, GAP = 12, 12  # of the colours, and before them


class ValueBar(QGraphicsWidget):
    """The colours of the value map from the lowest value, below, to the highest."""

    def __init__(self) -> None:
        super().__init__()
        self.axis = LiteralAxis("right")
        colours = pg.colormap.get(theme.VALUE_MAP).getLookupTable(nPts=256, alpha=True)[::-1]
        pixels = np.ascontiguousarray(colours)
        image = QImage(pixels.data, 1, len(pixels), 4, QImage.Format.Format_RGBA8888)
        self._colours = image.copy()  # the first one does not hold its pixels

    def join(self, plot: pg.PlotItem) -> None:
        """Stand right of a plot, between its upper and lower edge."""
        plot.layout.addItem(self, 2, 4)
        plot.layout.addItem(self.axis, 2, 5)
        for column in (3, 4, 5):
            plot.layout.setColumnSpacing(column, 0)
        self.hide()

    def show_range(self, name: str, low: float, high: float, is_date: bool = False) -> None:
        """Tell the quantity and its range."""
        self._take_room(GAP + WIDTH)
        self.axis.setTicks([date_ticks(low, high)] if is_date else None)
        self.axis.setRange(low, high)
        self.axis.show()
        self.axis.set_name(name)
        self.axis.restyle()
        self.show()
        self.update()

    def hide(self) -> None:
        """Leave the room to the picture."""
        self._take_room(0)
        self.axis.hide()
        super().hide()

    def _take_room(self, width: int) -> None:
        self.setMinimumWidth(width)
        self.setMaximumWidth(width)

    def paint(self, painter: QPainter, option, widget=None) -> None:
        # what is painted outside of the own rectangle, before a layout or on its edge, would stay on screen
        box = self.rect().adjusted(GAP + 0.5, 0.5, -0.5, -0.5)
        if box.isEmpty():
            return
        painter.drawImage(box, self._colours)
        painter.setPen(pen(theme.tokens().colour("control")))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(box)
