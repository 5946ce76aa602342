"""Draws how the gain of a node runs over the thresholds of one column."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt

from workbench.figures.splits import SplitsFigure, curve_range
from workbench.figures.words import number
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen


class GainPlot(FigurePlot):
    """One curve, and the threshold with the largest gain; `show_column` chooses whose."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("splits.plot")
        self.curve = pg.PlotDataItem()
        self.best_ = pg.InfiniteLine(angle=90)
        self._hairline = pg.InfiniteLine(angle=90)
        for item in (self.curve, self.best_, self._hairline):
            self.plot.addItem(item, ignoreBounds=True)
        self._hairline.setVisible(False)
        self.plot.vb.setMouseEnabled(x=False, y=False)
        self._feature: int | None = None

    def show_column(self, figure: SplitsFigure, feature: int) -> None:
        """Draw the curve of a number column."""
        self._feature = feature
        self.set_figure(figure)

    def draw(self) -> None:
        figure, t = self.figure, theme.tokens()
        gain_curve = figure.curves[self._feature]
        name = next(row.column for row in figure.rows if row.feature == self._feature)
        self.header.say(f"{figure.title}: gain over {name}", figure.subtitle)
        self.plot.getAxis("left").set_name("gain")
        self.plot.getAxis("bottom").set_name(name)
        thresholds, top = curve_range(gain_curve)
        is_alone = len(thresholds) == 1
        colour = theme.line_colour("training")
        self.curve.setData(
            thresholds,
            gain_curve.gains,
            pen=pen(colour, 2),
            symbol="o" if is_alone else None,
            symbolBrush=colour,
        )
        best = figure.thresholds.get(self._feature)
        self.best_.setVisible(best is not None)
        if best is not None:
            self.best_.setPos(best)
            self.best_.setPen(pen(t.colour("text3"), 1, Qt.PenStyle.DashLine))
        low, high = float(thresholds.min()), float(thresholds.max())
        side = 0.03 * (high - low) or 0.5
        self.plot.setXRange(low - side, high + side, padding=0)
        self.plot.setYRange(0, top, padding=0)

    def hover_text(self, point: QPointF) -> str:
        gain_curve = self.figure.curves[self._feature]
        at = int(np.argmin(np.abs(gain_curve.thresholds - point.x())))
        self._hairline.setVisible(True)
        self._hairline.setPos(float(gain_curve.thresholds[at]))
        self._hairline.setPen(pen(theme.tokens().colour("control")))
        return f"≤ {number(float(gain_curve.thresholds[at]), 5)}\ngain {number(float(gain_curve.gains[at]))}"

    def leaveEvent(self, event) -> None:
        self._hairline.setVisible(False)
        super().leaveEvent(event)
