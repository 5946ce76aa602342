"""Draws a `PruningFigure`: error by the number of leaves, with its band, and where the shown tree lies."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor

from workbench.figures.words import count
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen

BAND_ALPHA = 50
TICKS = [(np.log10(n), count(n)) for power in range(8) for n in (10**power, 2 * 10**power, 5 * 10**power)]
WIDTHS = {"training": 1.5, "validation": 2.0, "out_of_bag": 2.5}


class PruningPlot(FigurePlot):
    """Curves over a logarithmic axis of leaves; a click asks for the tree nearest to it.

    `band_`, `best_`, `one_se_` and `here_` are the items of the figure's band and marks.
    """

    stop_asked = Signal(int)

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("pruning.plot")
        self.curves: list[pg.PlotDataItem] = []
        self._edges = [pg.PlotCurveItem(pen=None), pg.PlotCurveItem(pen=None)]
        self.band_ = pg.FillBetweenItem(*self._edges)
        self.best_, self.one_se_ = pg.InfiniteLine(angle=90), pg.InfiniteLine(angle=90)
        self._names = [pg.TextItem("", anchor=(0.5, 0)) for _ in range(2)]
        self.here_ = pg.ScatterPlotItem()
        self._hairline = pg.InfiniteLine(angle=90)
        for item in (self.band_, *self._edges, self.best_, self.one_se_, *self._names, self._hairline):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.addItem(self.here_, ignoreBounds=True)
        self.here_.setZValue(50)
        self._hairline.setVisible(False)
        self.plot.vb.setMouseEnabled(x=False, y=False)
        self.plot.getAxis("bottom").setTicks([TICKS])
        self.scene().sigMouseClicked.connect(self._on_clicked)

    def draw(self) -> None:
        figure, t = self.figure, theme.tokens()
        self.header.say(figure.title, figure.subtitle)
        self.plot.getAxis("left").set_name(figure.y_label)
        self.plot.getAxis("bottom").set_name("leaves")
        x = np.log10([stop.n_leaves for stop in figure.stops])
        self._draw_lines(x)
        self._draw_band(x)
        self._draw_mark(self.best_, self._names[0], figure.best, x, "least error", Qt.PenStyle.DotLine)
        self._draw_mark(
            self.one_se_, self._names[1], figure.one_se, x, "one standard error", Qt.PenStyle.DashLine
        )
        self._set_ranges(x)
        if figure.here is None:
            self.here_.setData([], [])
            return
        symbol = "o" if figure.here.is_on_path else "d"
        self.here_.setData(
            [np.log10(figure.here.n_leaves)], [figure.here.error], symbol=symbol, size=12,
            brush=t.colour("text"), pen=pen(t.colour("surface"), 2),
        )  # fmt: skip

    def _draw_lines(self, x) -> None:
        figure = self.figure
        while len(self.curves) < len(figure.lines):
            self.curves.append(pg.PlotDataItem())
            self.plot.addItem(self.curves[-1], ignoreBounds=True)
        for curve in self.curves[len(figure.lines) :]:
            curve.setData([], [])
        entries = []
        for curve, line in zip(self.curves, figure.lines, strict=False):
            colour = theme.line_colour(line.role)
            curve.setData(x, line.y, pen=pen(colour, WIDTHS[line.role]))
            entries.append((line.name, colour))
        if figure.here is not None:
            entries.append(("this tree", theme.tokens().colour("text")))
        self.legend_.show_entries(entries)

    def _draw_band(self, x) -> None:
        band = self.figure.band
        self.band_.setVisible(band is not None)
        if band is None:
            return
        colour = QColor(theme.line_colour("out_of_bag"))
        colour.setAlpha(BAND_ALPHA)
        for edge, y in zip(self._edges, band, strict=True):
            edge.setData(x, y)
        self.band_.setBrush(colour)

    def _draw_mark(self, line, name, stop: int | None, x, text: str, style: Qt.PenStyle) -> None:
        for item in (line, name):
            item.setVisible(stop is not None)
        if stop is None:
            return
        t = theme.tokens()
        line.setPos(float(x[stop]))
        line.setPen(pen(t.colour("text3"), 1, style))
        name.setFont(theme.font(11))
        name.setText(f"{text}: {count(self.figure.stops[stop].n_leaves)}", color=t.colour("text2"))

    def _set_ranges(self, x) -> None:
        figure = self.figure
        values = [line.y for line in figure.lines] + list(figure.band or ())
        if figure.here is not None:
            values.append(np.array([figure.here.error]))
            x = np.append(x, np.log10(figure.here.n_leaves))
        low, high = float(np.min(np.concatenate(values))), float(np.max(np.concatenate(values)))
        first, last = float(x.min()), float(x.max())
        side = 0.03 * (last - first) or 0.5
        self.plot.setXRange(first - side, last + side, padding=0)
        # room for the marks' names, one above the other, at any height of the plot
        line_share = theme.scaled(16) / max(self.plot.vb.height(), 60.0)
        margin = 0.05 * (high - low) or 0.5
        top = high + margin + 2 * line_share * (high - low + 2 * margin) / max(1 - 2 * line_share, 0.3)
        self.plot.setYRange(low - margin, top, padding=0)
        for place, (name, stop) in enumerate(zip(self._names, (figure.best, figure.one_se), strict=True)):
            if stop is not None:
                at = np.log10(figure.stops[stop].n_leaves)
                name.setAnchor((1.0 if at > (first + last) / 2 else 0.0, 0))
                name.setPos(at, top - place * line_share * (top - low + margin))

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if getattr(self, "figure", None) is not None:
            self._set_ranges(np.log10([stop.n_leaves for stop in self.figure.stops]))

    def hover_text(self, point: QPointF) -> str:
        stop = self.figure.nearest(10 ** point.x())
        self._hairline.setVisible(True)
        self._hairline.setPos(float(np.log10(self.figure.stops[stop].n_leaves)))
        self._hairline.setPen(pen(theme.tokens().colour("control")))
        return self.figure.story(stop)

    def _on_clicked(self, event) -> None:
        is_inside = self.plot.vb.sceneBoundingRect().contains(event.scenePos())
        if self.figure is not None and is_inside and event.button() == Qt.MouseButton.LeftButton:
            self.stop_asked.emit(self.figure.nearest(10 ** self.plot.vb.mapSceneToView(event.scenePos()).x()))

    def leaveEvent(self, event) -> None:
        self._hairline.setVisible(False)
        super().leaveEvent(event)
