"""Draws reliability diagrams and the coverage of intervals: points beside the diagonal, counts below."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt

from workbench.figures.words import count, fixed
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen

POINT_PX, HEIGHT = 8, 360
TICKS = [(k / 5, fixed(k / 5, 1)) for k in range(6)]
MARGIN = 0.03
NAME_SHARE = 0.35  # of the height of the counts that their numbers take


class SharePlot(FigurePlot):
    """Shares that were found over those that were promised, with their intervals.

    `points_`, `bars_` and `diagonal_` are the figure's items.
    """

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setMinimumHeight(theme.scaled(HEIGHT))
        self.ci.layout.setContentsMargins(0, 8, 0, 8)  # its panel has the padding
        self.diagonal_, self.points_ = pg.PlotDataItem([0, 1], [0, 1]), pg.PlotDataItem()
        self.bars_ = pg.ErrorBarItem(beam=0.0)
        for item in (self.diagonal_, self.bars_, self.points_):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.vb.setMouseEnabled(x=False, y=False)
        for side in ("left", "bottom"):
            self.plot.getAxis(side).setTicks([TICKS])
        self.plot.getAxis("left").setWidth(48)

    @property
    def span(self) -> tuple[float, float]:
        """Ends of both axes."""
        return -MARGIN, 1 + MARGIN

    def draw(self) -> None:
        figure, t = self.figure, theme.tokens()
        self.header.say(figure.title, figure.subtitle)
        self.plot.getAxis("bottom").set_name(figure.x_name)
        self.plot.getAxis("left").set_name(figure.y_name)
        self.diagonal_.setPen(pen(t.colour("control"), 1, Qt.PenStyle.DashLine))
        colour = theme.line_colour("validation")
        self.points_.setData(
            figure.promised, figure.found, pen=pen(colour, 2), symbol="o", symbolSize=POINT_PX,
            symbolBrush=colour, symbolPen=pen(t.colour("surface"), 1),
        )  # fmt: skip
        self.bars_.setData(
            x=figure.promised, y=figure.found, top=figure.high - figure.found,
            bottom=figure.found - figure.low, pen=pen(colour, 1.5),
        )  # fmt: skip
        for set_range in (self.plot.setXRange, self.plot.setYRange):
            set_range(*self.span, padding=0)

    def hover_text(self, point: QPointF) -> str:
        return self.figure.story(self.figure.point_at(point.x())) if self.figure.n_points else ""


class CoveragePlot(SharePlot):
    """Coverage of intervals against what they are meant to hold."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("scores.coverage")

    @property
    def span(self) -> tuple[float, float]:
        lowest = min(float(self.figure.low.min()), float(self.figure.promised.min()))
        return np.floor(lowest * 10) / 10 - MARGIN, 1 + MARGIN


class ReliabilityPlot(SharePlot):
    """What came true against what was said, and how many rows each bin has; `counts_` are their bars."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("scores.reliability")
        self.counts = self.add_plot(3)
        self.ci.layout.setRowStretchFactor(2, 3)
        self.ci.layout.setRowStretchFactor(3, 1)
        self.counts.setXLink(self.plot)
        self.counts.vb.setMouseEnabled(x=False, y=False)
        self.counts.showGrid(x=False, y=False)
        self.counts.getAxis("left").setWidth(48)
        self.counts.getAxis("left").setTicks([[]])
        self.counts.getAxis("bottom").setTicks([TICKS])
        self.plot.getAxis("bottom").setTicks([[]])
        self.counts_ = pg.BarGraphItem(x=[], height=[], width=0.1)
        self.counts.addItem(self.counts_, ignoreBounds=True)
        self.texts_: list[pg.TextItem] = []
        self.restyle()

    def draw(self) -> None:
        super().draw()
        figure, t = self.figure, theme.tokens()
        self.plot.getAxis("bottom").set_name("")
        self.counts.getAxis("bottom").set_name(figure.x_name)
        self.counts.getAxis("left").set_name("rows")
        middle = (figure.lower_edges + figure.upper_edges) / 2
        self.counts_.setOpts(
            x=middle, height=figure.n_rows, width=figure.upper_edges - figure.lower_edges,
            pen=pen(t.colour("surface")), brush=t.colour("control"),
        )  # fmt: skip
        self.counts.setYRange(0, float(figure.n_rows.max(initial=1)) * (1 + NAME_SHARE), padding=0)
        while len(self.texts_) < figure.n_points:
            self.texts_.append(pg.TextItem("", anchor=(0.5, 1)))
            self.counts.addItem(self.texts_[-1], ignoreBounds=True)
        for text in self.texts_[figure.n_points :]:
            text.setText("")
        for text, x, n in zip(self.texts_, middle, figure.n_rows, strict=False):
            text.setFont(theme.font(11))
            text.setText(count(n), color=t.colour("text2"))
            text.setPos(float(x), float(n))

    def _on_mouse_moved(self, position: QPointF) -> None:
        if self.figure is None or not self.counts.vb.sceneBoundingRect().contains(position):
            super()._on_mouse_moved(position)
            return
        point = self.plot.vb.mapSceneToView(position)
        self.show_hover(self.hover_text(point), point)
