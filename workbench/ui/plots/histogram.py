"""Draws values of many samples: bars, the rows' own value, the truth where it is known, intervals above."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt

from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen

LINE_PX = 17  # of height above the bars for each interval, and for what the lines are called
MOST_ABOVE = 0.6  # of the picture's height


class _Word(NamedTuple):
    """What is written beside a line or interval."""

    text: str
    x: float
    y: float
    anchor: tuple[float, float]

    def inside(self, width: float, low: float, high: float) -> _Word:
        """Return the word, or one that ends or begins where the picture does if that would cut it."""
        if self.anchor[0] == 0.0 and self.x + width > high:
            return self._replace(x=high, anchor=(1.0, 0.5))
        if self.anchor[0] == 1.0 and self.x - width < low:
            return self._replace(x=low, anchor=(0.0, 0.5))
        return self

    def beside(self, moved: _Word, width: float) -> _Word:
        """Return the word where it leaves room to one that was moved to an end of the picture."""
        if self.anchor != moved.anchor:
            return self
        room = moved.x + (width if moved.anchor[0] == 0.0 else -width)
        return self._replace(x=max(self.x, room) if moved.anchor[0] == 0.0 else min(self.x, room))


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
        self.plot.setXRange(*figure.span, padding=0)
        self._draw_above()

    def _draw_line(self, line: pg.InfiniteLine, at: float, style: Qt.PenStyle) -> None:
        line.setVisible(bool(np.isfinite(at)))
        if np.isfinite(at):
            line.setPos(float(at))
            line.setPen(pen(theme.tokens().colour("text"), 1.5, style))

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if getattr(self, "figure", None) is not None:
            self._draw_above()

    def _draw_above(self) -> None:
        """Draw what stands above the bars, at as many pixels whatever the picture's height."""
        heights = self._heights_above()
        self._draw_intervals(heights)
        self._write_words(heights)

    def _heights_above(self) -> list[float]:
        """Return where intervals stand, the last one for words, and let the axis reach so far."""
        n_lines, highest = self.figure.n_above + 1, float(self.figure.highest)
        height = max(self.plot.vb.height(), 1.0)
        line = min(theme.scaled(LINE_PX) / height, MOST_ABOVE / n_lines)  # in the picture's height
        top = highest / (1 - line * n_lines)
        self.plot.setYRange(0, top, padding=0)
        return [highest + top * line * (k + 0.5) for k in range(n_lines)]

    def _draw_intervals(self, heights: list[float]) -> None:
        intervals, t = self.figure.intervals, theme.tokens()
        while len(self.intervals_) < len(intervals):
            self.intervals_.append(pg.PlotDataItem())
            self.plot.addItem(self.intervals_[-1], ignoreBounds=True)
        for item in self.intervals_[len(intervals) :]:
            item.setData([], [])
        for item, named, height in zip(self.intervals_, intervals, heights, strict=False):
            item.setData(
                [named.interval.low, named.interval.high], [height, height], pen=pen(t.colour("text2"), 2),
                symbol="|", symbolSize=9, symbolPen=pen(t.colour("text2"), 2), symbolBrush=None,
            )  # fmt: skip

    def _words(self, heights: list[float]) -> list[_Word]:
        figure = self.figure
        words = [
            _Word(named.name, named.interval.high, height, (0.0, 0.5))
            for named, height in zip(figure.intervals, heights, strict=False)
        ]
        is_right = not figure.value < figure.truth  # both names on the sides that look away from each other
        for text, at, side in (
            ("truth", figure.truth, is_right),
            (figure.value_name, figure.value, not is_right),
        ):
            if np.isfinite(at):
                words.append(_Word(text, float(at), heights[-1], (float(side), 0.5)))
        return words

    def _write_words(self, heights: list[float]) -> None:
        words = self._words(heights)
        while len(self.texts_) < len(words):
            self.texts_.append(pg.TextItem(""))
            self.plot.addItem(self.texts_[-1], ignoreBounds=True)
        for item in self.texts_[len(words) :]:
            item.setText("")
        for item, word in zip(self.texts_, words, strict=False):
            item.setFont(theme.font(11))
            item.setText(word.text, color=theme.tokens().colour("text2"))
        for item, word in zip(self.texts_, self._kept_inside(words), strict=False):
            item.setAnchor(word.anchor)
            item.setPos(word.x, word.y)

    def _kept_inside(self, words: list[_Word]) -> list[_Word]:
        """Move words that an end of the picture would cut back to it; one that stands there makes room."""
        low, high = self.figure.span
        pixel = (high - low) / max(self.plot.vb.width(), 1.0)
        widths = [item.boundingRect().width() * pixel for item in self.texts_[: len(words)]]
        kept = [word.inside(width, low, high) for word, width in zip(words, widths, strict=True)]
        for at, (moved, width) in enumerate(zip(list(kept), widths, strict=True)):
            if moved is not words[at]:
                kept = [
                    other if k == at or other.y != moved.y else other.beside(moved, width)
                    for k, other in enumerate(kept)
                ]
        return kept

    def hover_text(self, point: QPointF) -> str:
        at = self.figure.bin_at(point.x())
        return "" if at is None else self.figure.story(at)
