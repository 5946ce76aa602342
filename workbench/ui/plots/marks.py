"""Parts of curves that several pictures share: a band, and upright marks with their names at the top."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from workbench.ui import theme
from workbench.ui.plots.base import pen

BAND_ALPHA = 50
DRAWABLE = 1e300  # beyond it differences may be infinite
NAME_PX = 16  # height of a mark's name, before text size


class Band:
    """The area between two lines, such as a standard error below and above a mean."""

    def __init__(self, plot: pg.PlotItem) -> None:
        self._edges = [pg.PlotCurveItem(pen=None), pg.PlotCurveItem(pen=None)]
        self.item = pg.FillBetweenItem(*self._edges)
        for item in (self.item, *self._edges):
            plot.addItem(item, ignoreBounds=True)

    def show(self, x, low, high, colour: QColor) -> None:
        """Fill between two lines in a faint shade of a colour."""
        shade = QColor(colour)
        shade.setAlpha(BAND_ALPHA)
        for edge, y in zip(self._edges, (low, high), strict=True):
            edge.setData(x, y)
        self.item.setBrush(shade)
        self.item.setVisible(True)

    def hide(self) -> None:
        self.item.setVisible(False)


class Mark:
    """An upright line and its name, which stands at the top towards the middle of the picture."""

    def __init__(self, plot: pg.PlotItem, style: Qt.PenStyle) -> None:
        self.line, self.name = pg.InfiniteLine(angle=90), pg.TextItem("", anchor=(0.5, 0))
        self._style = style
        self.at: float | None = None
        for item in (self.line, self.name):
            plot.addItem(item, ignoreBounds=True)
        self.hide()

    def show(self, at: float, text: str) -> None:
        t = theme.tokens()
        self.at = at
        self.line.setPos(at)
        self.line.setPen(pen(t.colour("text3"), 1, self._style))
        self.name.setFont(theme.font(11))
        self.name.setText(text, color=t.colour("text2"))
        for item in (self.line, self.name):
            item.setVisible(True)

    def hide(self) -> None:
        self.at = None
        for item in (self.line, self.name):
            item.setVisible(False)

    def place_name(self, y: float, middle: float) -> None:
        """Put the name at a height, on the side of its line where the middle is."""
        if self.at is not None:
            self.name.setAnchor((1.0 if self.at > middle else 0.0, 0))
            self.name.setPos(self.at, y)


def make_room(plot: pg.PlotItem, values, first: float, last: float, marks: list[Mark]) -> None:
    """Set the ranges of a plot so that all values are in sight and the marks' names above them.

    Parameters
    ----------
    values : ndarray
        All that is drawn; NaN are passed over, and what no picture has room for, such as an infinite error.
    first, last : float
        Ends of what is drawn across.
    """
    known = values[np.abs(values) < DRAWABLE]  # false of NaN too
    low, high = float(known.min(initial=np.inf)), float(known.max(initial=-np.inf))
    if not len(known):
        low, high = 0.0, 1.0
    side = 0.03 * (last - first) or 0.5
    plot.setXRange(first - side, last + side, padding=0)
    # names one above the other have room at any height of the plot
    line_share = theme.scaled(NAME_PX) / max(plot.vb.height(), 60.0)
    n = len(marks)
    margin = 0.05 * (high - low) or 0.5
    top = high + margin + n * line_share * (high - low + 2 * margin) / max(1 - n * line_share, 0.3)
    plot.setYRange(low - margin, top, padding=0)
    for place, mark in enumerate(marks):
        mark.place_name(top - place * line_share * (top - low + margin), (first + last) / 2)
