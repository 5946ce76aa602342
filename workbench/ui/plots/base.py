"""What all plots share: a header inside the picture, quiet axes, literal text, colours from the theme."""

from __future__ import annotations

import html
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsView, QGraphicsWidget

from workbench.figures.words import MINUS
from workbench.ui import theme
from workbench.ui.widgets import literal

pg.setConfigOptions(antialias=True)

GRID_ALPHA = 0.6
MAX_NAMES = 12  # of categories on an axis


class _Pens:
    scale = 1.0  # above 1 while a picture of more pixels is drawn


@contextmanager
def pens_scaled(scale: float) -> Iterator[None]:
    """Make pens so many times as wide: a picture of twice the pixels needs lines of twice as many."""
    before, _Pens.scale = _Pens.scale, scale
    try:
        yield
    finally:
        _Pens.scale = before


def pen(colour: QColor, width: float = 1.0, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """A pen whose width is in pixels at any zoom."""
    made = QPen(colour, width * _Pens.scale, style)
    made.setCosmetic(True)
    return made


class HeaderItem(QGraphicsWidget):
    """Title, and under it what was measured on which rows; part of the picture, so that exports have it.

    Texts are literal. A line too long for the width goes on in a second one; what is longer still, and the
    title, is cut at its end.
    """

    MAX_LINES = 2  # of one text

    def __init__(self) -> None:
        super().__init__()
        self._title = ""
        self._lines: tuple[str, ...] = ()
        self._shown: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return (self._title, *self._lines)

    @property
    def shown_lines(self) -> tuple[str, ...]:
        """The lines under the title as they are painted."""
        return self._shown

    def say(self, title: str, *lines: str) -> None:
        self._title, self._lines = title, tuple(line for line in lines if line)
        self.setToolTip(literal("\n".join(self.texts)))
        self.wrap()
        self.update()

    def wrap(self) -> None:
        """Break the lines for the width and font of the moment."""
        metrics, width = QFontMetricsF(theme.font(11)), max(self.rect().width(), 40.0)
        self._shown = tuple(
            piece for line in self._lines for piece in wrapped(line, metrics, width, self.MAX_LINES)
        )
        height = theme.scaled(20) + theme.scaled(16) * len(self._shown) + 4
        if height != self.preferredHeight():
            self.setMinimumHeight(height)
            self.setPreferredHeight(height)
            self.setMaximumHeight(height)

    def resizeEvent(self, event) -> None:
        self.wrap()

    def paint(self, painter: QPainter, option, widget=None) -> None:
        t, width, y = theme.tokens(), self.rect().width(), 0.0
        rows = [(self._title, theme.font(13, 600), t.text, theme.scaled(20))]
        rows += [(line, theme.font(11), t.text3, theme.scaled(16)) for line in self._shown]
        for text, font, colour, height in rows:
            painter.setFont(font)
            painter.setPen(QColor(colour))
            shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, width)
            painter.drawText(QRectF(0, y, width, height), Qt.AlignmentFlag.AlignVCenter, shown)
            y += height


def wrapped(text: str, metrics: QFontMetricsF, width: float, max_lines: int) -> list[str]:
    """Break a text at its spaces into lines of at most `width`; the last one takes all that is left."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if len(lines) < max_lines and lines[-1] and metrics.horizontalAdvance(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


class LiteralAxis(pg.AxisItem):
    """An axis whose name is never markup, with a true minus and four to six ticks."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation, showValues=True)
        self.enableAutoSIPrefix(False)
        self.setStyle(tickLength=-4, maxTickLevel=0, autoExpandTextSpace=True, tickTextOffset=6)
        self.name = ""
        self._labelled: tuple[str, dict[str, str]] | None = None
        self.setTickDensity(0.6)
        self._names: list[tuple[float, str]] = []

    def set_name(self, name: str) -> None:
        self.name = name
        room = self.geometry().height() if self.orientation in ("left", "right") else self.geometry().width()
        shown = QFontMetricsF(theme.font(11)).elidedText(name, Qt.TextElideMode.ElideMiddle, max(room, 24))
        look = {"color": theme.tokens().text2, "font-size": f"{theme.scaled(11)}px"}
        if (shown, look) != self._labelled:  # a label lays the whole plot out anew
            self._labelled = shown, look
            self.setLabel(html.escape(shown), **look)

    def resizeEvent(self, event=None) -> None:
        if getattr(self, "name", ""):
            self.set_name(self.name)  # cut to the room there is now
            self._thin_names()
        super().resizeEvent(event)

    def show_names(self, names: list[tuple[float, str]]) -> None:
        """Write names of categories at their places; of many only every k-th, so that none touch."""
        self._names = names
        self._thin_names()

    def _thin_names(self) -> None:
        if not self._names:
            return
        is_upright, size = self.orientation in ("left", "right"), self.geometry()
        metrics = QFontMetricsF(theme.font(11))
        longest = max(metrics.horizontalAdvance(name) for _, name in self._names)
        room = size.height() / metrics.height() if is_upright else size.width() / (longest + theme.scaled(8))
        step = -(-len(self._names) // min(max(int(room), 1), MAX_NAMES))
        self.setTicks([self._names[::step]])

    def restyle(self) -> None:
        t = theme.tokens()
        self.setPen(pen(t.colour("border")))
        self.setTextPen(t.colour("text2"))
        self.setTickFont(theme.font(11))
        self.label.setFont(theme.font(11))
        self.set_name(self.name)

    def tickStrings(self, values, scale, spacing):
        return [text.replace("-", MINUS) for text in super().tickStrings(values, scale, spacing)]

    def tickSpacing(self, minVal, maxVal, size):
        """The widest step of 1, 2 or 5 that puts four ticks in sight; fewer where they would touch."""
        low, high = sorted((minVal, maxVal))
        if high <= low or not np.isfinite(high - low):
            return super().tickSpacing(minVal, maxVal, size)
        room = max(int(size // theme.scaled(22 if self.orientation in ("left", "right") else 56)), 3)
        power = 10.0 ** np.floor(np.log10(high - low))
        steps = [k * p for p in (power, power / 10) for k in (5, 2, 1)]
        counts = [np.floor(high / step + 1e-9) - np.ceil(low / step - 1e-9) + 1 for step in steps]
        enough = next((k for k, n in enumerate(counts) if n >= 4), len(steps) - 1)
        while enough and counts[enough] > room:
            enough -= 1
        return [(steps[enough], 0)]


class LegendItem(QGraphicsWidget):
    """Swatches with names in one or more rows, below the header; names are literal."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: tuple[tuple[str, QColor], ...] = ()

    def show_entries(self, entries) -> None:
        self.entries = tuple((str(name), QColor(colour)) for name, colour in entries)
        self.setToolTip(literal("\n".join(name for name, _ in self.entries)))  # long ones are cut
        self.setVisible(bool(self.entries))
        self._fit()

    def _places(self, width: float) -> list[tuple[float, float, float]]:
        metrics, places, x, y = QFontMetricsF(theme.font(11)), [], 0.0, 0.0
        for name, _ in self.entries:
            wide = min(metrics.horizontalAdvance(name), 160.0) + 16 + 14
            if x > 0 and x + wide > width:
                x, y = 0.0, y + theme.scaled(18)
            places.append((x, y, wide - 30))
            x += wide
        return places

    def _fit(self) -> None:
        places = self._places(max(self.rect().width(), 120.0))
        height = (places[-1][1] + theme.scaled(18) + 2) if places else 0
        if height != self.preferredHeight():
            self.setMinimumHeight(height)
            self.setPreferredHeight(height)
            self.setMaximumHeight(height)
        self.update()

    def resizeEvent(self, event) -> None:
        self._fit()

    def paint(self, painter: QPainter, option, widget=None) -> None:
        t, font = theme.tokens(), theme.font(11)
        metrics = QFontMetricsF(font)
        places = self._places(self.rect().width())
        for (name, colour), (x, y, wide) in zip(self.entries, places, strict=True):
            side = 10.0
            top = y + (theme.scaled(18) - side) / 2
            painter.setPen(pen(t.colour("control")))
            painter.setBrush(colour)
            painter.drawRect(QRectF(x + 0.5, top, side, side))
            painter.setFont(font)
            painter.setPen(t.colour("text2"))
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, wide + 2)
            box = QRectF(x + 16, y, wide + 4, theme.scaled(18))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)


class FigurePlot(pg.GraphicsLayoutWidget):
    """A picture: header, legend, one plot; subclasses draw a figure into `plot`.

    A subclass has `draw()`, which paints `self.figure` from scratch in the theme's colours.
    """

    def __init__(self, parent=None) -> None:
        super().__init__(parent=parent)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # no key does anything here
        self.figure: Any = None  # of the kind that `draw` of the subclass knows
        self.ci.layout.setContentsMargins(theme.PANEL_PADDING, 8, theme.PANEL_PADDING, 8)
        self.ci.layout.setSpacing(4)
        self.header, self.legend_ = HeaderItem(), LegendItem()
        self.ci.addItem(self.header, 0, 0)
        self.ci.addItem(self.legend_, 1, 0)
        self.legend_.show_entries(())
        self.plots: list[pg.PlotItem] = []
        self.plot = self.add_plot(2)
        self._hover = pg.TextItem("", anchor=(0, 1))
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        theme.changed.connect(self.redraw)
        self.ci.setVisible(False)  # axes without a figure would show a range that nothing has
        self.restyle()

    def add_plot(self, row: int) -> pg.PlotItem:
        axes = {side: LiteralAxis(side) for side in ("left", "bottom")}
        plot = pg.PlotItem(axisItems=axes, enableMenu=False)
        self.ci.addItem(plot, row, 0)
        self.adopt_menu(plot)
        self.plots.append(plot)
        plot.hideButtons()
        plot.showGrid(x=False, y=True, alpha=GRID_ALPHA * 0.5)
        return plot

    def adopt_menu(self, plot: pg.PlotItem) -> None:
        """Own the hidden menu that pyqtgraph makes for every plot, so that it goes when the picture goes."""
        plot.ctrlMenu.setParent(self, plot.ctrlMenu.windowFlags())

    def restyle(self) -> None:
        """Take colours and fonts of the theme in force."""
        self.setBackground(theme.tokens().colour("surface"))
        for plot in self.plots:
            for side in ("left", "bottom"):
                plot.getAxis(side).restyle()
        self.header.wrap()
        self.header.update()
        self.legend_._fit()

    def set_figure(self, figure) -> None:
        """Draw another figure."""
        self.figure = figure
        self.ci.setVisible(True)
        self.draw()

    def redraw(self) -> None:
        """Draw the same figure in the theme in force."""
        self.restyle()
        if self.figure is not None:
            self.draw()

    def draw(self) -> None:
        raise NotImplementedError

    def hover_text(self, point: QPointF) -> str:
        """What is told at a point of `plot`, in data coordinates; empty for nothing."""
        return ""

    def _on_mouse_moved(self, position: QPointF) -> None:
        is_inside = self.plot.vb.sceneBoundingRect().contains(position)
        point = self.plot.vb.mapSceneToView(position)
        text = self.hover_text(point) if is_inside and self.figure is not None else ""
        self.show_hover(text, point)

    def show_hover(self, text: str, point: QPointF) -> None:
        """Write `text` in a small box beside the pointer, on the side where there is room."""
        if not text:
            self._hover.setVisible(False)
            return
        t = theme.tokens()
        if self._hover.scene() is None:
            self.plot.addItem(self._hover, ignoreBounds=True)
        self._hover.setVisible(True)
        self._hover.setFont(theme.font(11))
        self._hover.setText(text, color=t.colour("text"))
        self._hover.fill = pg.mkBrush(t.colour("raised"))
        self._hover.border = pen(t.colour("border"))
        self._hover.setZValue(100)
        (x0, x1), (y0, y1) = self.plot.vb.viewRange()
        anchor = (1.05 if point.x() > (x0 + x1) / 2 else -0.05, 0 if point.y() > (y0 + y1) / 2 else 1)
        self._hover.setAnchor(anchor)
        self._hover.setPos(point)

    def close(self) -> bool:
        # pyqtgraph's own close() clears the scene item by item and crashes on items that Python still
        # holds; Qt's destructor takes the scene down in order.
        return QGraphicsView.close(self)

    def leaveEvent(self, event) -> None:
        self._hover.setVisible(False)
        super().leaveEvent(event)
