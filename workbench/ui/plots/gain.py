"""Draws how the gain of a node runs over the thresholds of one column."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal

from workbench.figures.splits import SplitsFigure, curve_range
from workbench.figures.words import number
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen


class GainPlot(FigurePlot):
    """One curve, and the threshold with the largest gain; `show_column` chooses whose.

    A click asks for the nearest threshold to be forced.
    """

    threshold_asked = Signal(int, float)  # feature, threshold

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
        self.scene().sigMouseClicked.connect(self._on_clicked)

    def show_column(self, figure: SplitsFigure, feature: int) -> None:
        """Draw the curve of a number column."""
        self._feature = feature
        self.set_figure(figure)

    def draw(self) -> None:
        figure, t = self.figure, theme.tokens()
        gain_curve = figure.curves[self._feature]
        self.header.say(f"{figure.title}: gain over {self._column}", figure.subtitle)
        self.plot.getAxis("left").set_name("gain")
        self._name_column()
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

    @property
    def _column(self) -> str:
        return next(row.column for row in self.figure.rows if row.feature == self._feature)

    def _name_column(self) -> None:
        """Name the column under its axis, where the height is not needed more: the title names it too."""
        self.plot.getAxis("bottom").set_name("" if self.is_low else self._column)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if getattr(self, "figure", None) is not None:
            self._name_column()

    def hover_text(self, point: QPointF) -> str:
        gain_curve, at = self.figure.curves[self._feature], self._nearest(point.x())
        self._hairline.setVisible(True)
        self._hairline.setPos(float(gain_curve.thresholds[at]))
        self._hairline.setPen(pen(theme.tokens().colour("control")))
        threshold, gain = float(gain_curve.thresholds[at]), float(gain_curve.gains[at])
        return f"≤ {number(threshold, 5)}\ngain {number(gain)}\nclick to force it"

    def _nearest(self, x: float) -> int:
        """Return the place of the threshold nearest to `x`."""
        return int(np.argmin(np.abs(self.figure.curves[self._feature].thresholds - x)))

    def _on_clicked(self, event) -> None:
        is_inside = self.plot.vb.sceneBoundingRect().contains(event.scenePos())
        if self.figure is not None and is_inside and event.button() == Qt.MouseButton.LeftButton:
            at = self._nearest(self.plot.vb.mapSceneToView(event.scenePos()).x())
            threshold = float(self.figure.curves[self._feature].thresholds[at])
            self.threshold_asked.emit(self._feature, threshold)

    def leaveEvent(self, event) -> None:
        self._hairline.setVisible(False)
        super().leaveEvent(event)
