"""Draws values of many samples: bars, the rows' own value, the truth where it is known, intervals above."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt

from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen

FIRST_LINE, STEP, TOP = 1.08, 0.13, 1.48  # of intervals above the highest bar, in its height


class HistogramPlot(FigurePlot):
    """`bars_` are the bars, `value_` and `truth_` lines, `intervals_` the stretches above the bars."""

    def __init__(self, object_name: str, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName(object_name)
        self.bars_ = pg.BarGraphItem(x0=[], x1=[], y0=0, height=[])
        self.value_, self.truth_ = pg.InfiniteLine(angle=90), pg.InfiniteLine(angle=90)
        self.intervals_: list[pg.PlotDataItem] = []
        self.texts_: list[pg.TextItem] = []
        for item in (self.bars_, self.value_, self.truth_):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.vb.setMouseEnabled(x=False, y=False)

    def draw(self) -> None:
        figure, t = self.figure, theme.tokens()
        self.header.say(figure.title, figure.subtitle)
        self.plot.getAxis("bottom").set_name(figure.x_name)
        self.plot.getAxis("left").set_name(figure.samples_name)
        self.bars_.setOpts(
            x0=figure.edges[:-1], x1=figure.edges[1:], y0=0, height=figure.counts,
            brush=theme.mix(theme.class_colour(0), t.colour("surface"), 0.55), pen=pen(t.colour("surface")),
        )  # fmt: skip
        self._draw_line(self.value_, figure.value, Qt.PenStyle.SolidLine)
        self._draw_line(self.truth_, figure.truth, Qt.PenStyle.DashLine)
        self._draw_intervals()
        self._name_lines()
        self.plot.setXRange(*figure.span, padding=0)
        self.plot.setYRange(0, self._highest * TOP, padding=0)

    def _draw_line(self, line: pg.InfiniteLine, at: float, style: Qt.PenStyle) -> None:
        line.setVisible(bool(np.isfinite(at)))
        if np.isfinite(at):
            line.setPos(float(at))
            line.setPen(pen(theme.tokens().colour("text"), 1.5, style))

    @property
    def _highest(self) -> float:
        return float(max(self.figure.counts.max(initial=0), 1))

    def _draw_intervals(self) -> None:
        intervals, t = self.figure.intervals, theme.tokens()
        while len(self.intervals_) < len(intervals):
            self.intervals_.append(pg.PlotDataItem())
            self.plot.addItem(self.intervals_[-1], ignoreBounds=True)
        for item in self.intervals_[len(intervals) :]:
            item.setData([], [])
        for k, (item, named) in enumerate(zip(self.intervals_, intervals, strict=False)):
            height = self._highest * (FIRST_LINE + STEP * k)
            item.setData(
                [named.interval.low, named.interval.high], [height, height], pen=pen(t.colour("text2"), 2),
                symbol="|", symbolSize=9, symbolPen=pen(t.colour("text2"), 2), symbolBrush=None,
            )  # fmt: skip

    def _name_lines(self) -> None:
        """Write what intervals and lines are beside them."""
        figure = self.figure
        words = [
            (named.name, named.interval.high, self._highest * (FIRST_LINE + STEP * k), (0.0, 0.5))
            for k, named in enumerate(figure.intervals)
        ]
        # each on its own side, so that they do not meet
        truth_is_right = np.isfinite(figure.truth) and figure.truth > figure.value
        sides = (0.0, 1.0) if truth_is_right else (1.0, 0.0)
        if np.isfinite(figure.truth):
            words.append(("truth", figure.truth, self._highest * TOP, (sides[0], 0.0)))
        if np.isfinite(figure.value):
            words.append((figure.value_name, figure.value, self._highest * TOP, (sides[1], 0.0)))
        while len(self.texts_) < len(words):
            self.texts_.append(pg.TextItem(""))
            self.plot.addItem(self.texts_[-1], ignoreBounds=True)
        for text in self.texts_[len(words) :]:
            text.setText("")
        for text, (word, x, y, anchor) in zip(self.texts_, words, strict=False):
            text.setFont(theme.font(11))
            text.setText(word, color=theme.tokens().colour("text2"))
            text.setAnchor(anchor)
            text.setPos(float(x), float(y))

    def hover_text(self, point: QPointF) -> str:
        at = self.figure.bin_at(point.x())
        return "" if at is None else self.figure.story(at)
