"""Draws a `PruningFigure`: error by the number of leaves, with its band, and where the shown tree lies."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal

from workbench.figures.words import count
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen
from workbench.ui.plots.marks import Band, Mark, make_room

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
        self._band = Band(self.plot)
        self.band_ = self._band.item
        self._best = Mark(self.plot, Qt.PenStyle.DotLine)
        self._one_se = Mark(self.plot, Qt.PenStyle.DashLine)
        self.best_, self.one_se_ = self._best.line, self._one_se.line
        self.here_ = pg.ScatterPlotItem()
        self._hairline = pg.InfiniteLine(angle=90)
        self.plot.addItem(self._hairline, ignoreBounds=True)
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
        self._draw_mark(self._best, figure.best, x, "least error")
        self._draw_mark(self._one_se, figure.one_se, x, "one standard error")
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
        if band is None:
            self._band.hide()
        else:
            self._band.show(x, *band, theme.line_colour("out_of_bag"))

    def _draw_mark(self, mark: Mark, stop: int | None, x, text: str) -> None:
        if stop is None:
            mark.hide()
        else:
            mark.show(float(x[stop]), f"{text}: {count(self.figure.stops[stop].n_leaves)}")

    def _set_ranges(self, x) -> None:
        figure = self.figure
        values = [line.y for line in figure.lines] + list(figure.band or ())
        if figure.here is not None:
            values.append(np.array([figure.here.error]))
            x = np.append(x, np.log10(figure.here.n_leaves))
        marks = [self._best, self._one_se]
        make_room(self.plot, np.concatenate(values), float(x.min()), float(x.max()), marks)

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
