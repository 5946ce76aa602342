"""Draws the chain rule of two columns as bars of bits, one below the other on one axis."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QFontMetricsF

from workbench.figures.words import fixed
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen

HALF = 0.34  # of a bar's height, in lines
NAME_ROOM_PX = 8
N_LINES = 4
SHADE = 0.45  # how much of its colour a bar has: words stand on it


class InformationPlot(FigurePlot):
    """`bars_` are the bars in the order of the figure's, `texts_` what is written in them."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("information.bars")
        self.bars_ = pg.BarGraphItem(x0=[], x1=[], y0=[], y1=[])
        self.plot.addItem(self.bars_, ignoreBounds=True)
        self.texts_: list[pg.TextItem] = []
        self.plot.vb.setMouseEnabled(x=False, y=False)
        self.plot.vb.invertY(True)
        self.plot.showGrid(x=False, y=False)
        self.plot.hideAxis("left")
        self.plot.getAxis("bottom").set_name("bits")

    def draw(self) -> None:
        figure = self.figure
        self.header.say(figure.title, figure.subtitle)
        bars = figure.bars
        self.bars_.setOpts(
            x0=[bar.start for bar in bars], x1=[bar.end for bar in bars],
            y0=[bar.line - HALF for bar in bars], y1=[bar.line + HALF for bar in bars],
            brushes=[self._colour(bar.role) for bar in bars],
            pens=[pen(theme.tokens().colour("control"))] * len(bars),
        )  # fmt: skip
        self.plot.setXRange(0, figure.total_bits or 1.0, padding=0.01)
        self.plot.setYRange(-0.5, N_LINES - 0.5, padding=0)
        self._write_names()

    def _colour(self, role: str) -> QColor:
        t = theme.tokens()
        if role == "whole":
            return t.colour("raised")
        number = {"x": 0, "y": 1, "both": 2}[role]
        return theme.mix(theme.class_colour(number), t.colour("surface"), SHADE)

    def _write_names(self) -> None:
        """Write into every bar what it is and its bits, as far as there is room; hover tells the others."""
        bars, metrics = self.figure.bars, QFontMetricsF(theme.font(11))
        while len(self.texts_) < len(bars):
            self.texts_.append(pg.TextItem("", anchor=(0.5, 0.5)))
            self.plot.addItem(self.texts_[-1], ignoreBounds=True)
        scale = self.plot.vb.width() / max(self.figure.total_bits, 1e-9)
        for text, bar in zip(self.texts_, bars, strict=True):
            room = bar.bits * scale - NAME_ROOM_PX
            choices = (f"{bar.name} = {fixed(bar.bits)}", bar.name, "")
            shown = next(words for words in choices if not words or metrics.horizontalAdvance(words) <= room)
            text.setFont(theme.font(11))
            text.setText(shown, color=theme.tokens().colour("text"))
            text.setPos((bar.start + bar.end) / 2, bar.line)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if getattr(self, "figure", None) is not None:
            self._write_names()

    def hover_text(self, point: QPointF) -> str:
        bar = self.figure.bar_at(point.x(), round(point.y()))
        return "" if bar is None else f"{bar.name} = {fixed(bar.bits, 6)} bits"
