"""Draws an `AveragesFigure`: measured variances as points, the line of theory and what it ends at."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt

from workbench.figures.tree_averages import FORMULA
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen

POINT_PX = 9


class AveragesPlot(FigurePlot):
    """`points_`, `line_` and `limit_` are the figure's items; trees stand by their logarithm."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("averages.plot")
        self.line_, self.points_ = pg.PlotDataItem(), pg.ScatterPlotItem()
        self.limit_ = pg.InfiniteLine(angle=0)
        for z, item in enumerate((self.limit_, self.line_, self.points_), start=10):
            item.setZValue(z)
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.vb.setMouseEnabled(x=False, y=False)
        self.plot.getAxis("bottom").set_name("trees")

    def draw(self) -> None:
        figure, t = self.figure, theme.tokens()
        self.header.say(figure.title, figure.subtitle, figure.remark)
        self.plot.getAxis("left").set_name(figure.score_name)
        places = np.log(figure.n_trees)
        names = [f"{n:,}" for n in figure.n_trees.tolist()]
        self.plot.getAxis("bottom").show_names(list(zip(places.tolist(), names, strict=True)))
        measured, theory = theme.line_colour("training"), theme.line_colour("validation")
        self.line_.setData(np.log(figure.line_x), figure.line_y, pen=pen(theory, 2))
        self.points_.setData(places, figure.measured, size=POINT_PX, brush=measured,
                             pen=pen(t.colour("surface"), 1))  # fmt: skip
        has_limit = bool(np.isfinite(figure.limit))
        self.limit_.setVisible(has_limit)
        entries = [("measured", measured)]
        if has_limit:
            self.limit_.setPos(figure.limit)
            self.limit_.setPen(pen(t.colour("text3"), 1.5, Qt.PenStyle.DashLine))
            entries += [(FORMULA, theory), ("r s²", t.colour("text3"))]
        self.legend_.show_entries(entries)
        side = 0.05 * (places[-1] - places[0])
        self.plot.setXRange(places[0] - side, places[-1] + side, padding=0)
        highest = max(float(np.max(figure.measured)), float(np.max(figure.line_y, initial=0.0)))
        self.plot.setYRange(0, highest * 1.06 or 1.0, padding=0)

    def hover_text(self, point: QPointF) -> str:
        return self.figure.story(self.figure.point_at(float(np.exp(min(point.x(), 20.0)))))
