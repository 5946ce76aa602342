"""What all plots share: a header inside the picture, quiet axes, literal text, colours from the theme."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsView, QGraphicsWidget

from workbench.figures.words import MINUS
from workbench.ui import theme
from workbench.ui.plots.header import HeaderItem
from workbench.ui.widgets import literal

pg.setConfigOptions(antialias=True)

GRID_ALPHA = 0.6
MAX_NAMES = 12  # of categories on an axis
LEGEND_SHARE = 0.25  # of a picture's height, at most
BESIDE_PX = 8  # between the pointer and what is told beside it
LOW_PX = 300  # a lower picture has the words beside its title


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
            self.showLabel(bool(name))
            super().resizeEvent()  # in the middle again: pyqtgraph puts it there only with a new size

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


def common_start(names: Sequence[str]) -> str:
    """Return the words that all of several names begin with, and the space after them."""
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)
    n = next((k for k, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[: first.rfind(" ", 0, n) + 1]


class LegendItem(QGraphicsWidget):
    """Swatches with names in one or more rows, below the header; names are literal.

    Where the rows would take too much of a picture's height, names are cut to stand in columns; of still more
    the last place tells how many there are. The tool tip has all of them.
    """

    WIDEST, NARROWEST = 160.0, 40.0  # of a name, before text size
    SWATCH_PX, GAP_PX = 16.0, 14.0

    def __init__(self) -> None:
        super().__init__()
        self.entries: tuple[tuple[str, QColor], ...] = ()
        self._n_rows = 99
        self._starts = 0  # characters that all names begin with

    def show_entries(self, entries) -> None:
        self.entries = tuple((str(name), QColor(colour)) for name, colour in entries)
        names = [name for name, _ in self.entries]
        self._starts = len(common_start(names))
        self.setToolTip(literal("\n".join(names)))  # long ones are cut
        self.setVisible(bool(self.entries))
        self._fit()

    def allow_height(self, height: float) -> None:
        """Take at most so much of a picture's height, but a row."""
        n_rows = max(int(height // theme.scaled(18)), 1)
        if n_rows != self._n_rows:
            self._n_rows = n_rows
            self._fit()

    def _places(self, width: float) -> list[tuple[float, float, float]]:
        """Where swatches stand, and how wide their names may be; fewer than entries where they do not fit."""
        places = self._flow(width)
        if not places or places[-1][1] <= theme.scaled(18) * (self._n_rows - 1):
            return places
        extra = self.SWATCH_PX + self.GAP_PX
        most = max(int((width + self.GAP_PX) // (theme.scaled(self.NARROWEST) + extra)), 1)
        n_columns = min(-(-len(self.entries) // self._n_rows), most)
        step = (width + self.GAP_PX) / n_columns
        n = min(len(self.entries), n_columns * self._n_rows)
        return [(k % n_columns * step, theme.scaled(18) * (k // n_columns), step - extra) for k in range(n)]

    def _flow(self, width: float) -> list[tuple[float, float, float]]:
        """One after the other, as wide as they are."""
        metrics, places, x, y = QFontMetricsF(theme.font(11)), [], 0.0, 0.0
        extra = self.SWATCH_PX + self.GAP_PX
        for name, _ in self.entries:
            wide = min(metrics.horizontalAdvance(name) + 2, theme.scaled(self.WIDEST))
            if x > 0 and x + wide + extra > width:
                x, y = 0.0, y + theme.scaled(18)
            places.append((x, y, wide))
            x += wide + extra
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

    def shown_texts(self) -> list[str]:
        """What is written beside the swatches; a last one without swatch where not all fit."""
        metrics, places = QFontMetricsF(theme.font(11)), self._places(self.rect().width())
        n_more = len(self.entries) - len(places) + 1
        shown = []
        for (name, _), (_, _, wide) in zip(self.entries, places, strict=False):
            is_cut = metrics.horizontalAdvance(name) > wide and self._starts
            text = "…" + name[self._starts :] if is_cut else name  # what all begin with tells none apart
            shown.append(metrics.elidedText(text, Qt.TextElideMode.ElideRight, wide))
        if n_more > 1:
            shown[-1] = f"+ {n_more:,}"
        return shown

    def paint(self, painter: QPainter, option, widget=None) -> None:
        t, font = theme.tokens(), theme.font(11)
        places, texts = self._places(self.rect().width()), self.shown_texts()
        n_swatches = len(places) - (len(places) < len(self.entries))
        for k, ((x, y, wide), text) in enumerate(zip(places, texts, strict=True)):
            side = 10.0
            top = y + (theme.scaled(18) - side) / 2
            if k < n_swatches:
                painter.setPen(pen(t.colour("control")))
                painter.setBrush(self.entries[k][1])
                painter.drawRect(QRectF(x + 0.5, top, side, side))
            painter.setFont(font)
            painter.setPen(t.colour("text2"))
            box = QRectF(x + self.SWATCH_PX, y, wide + 4, theme.scaled(18))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)


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
        self._hover = pg.TextItem("", anchor=(0, 0))
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

    @property
    def is_low(self) -> bool:
        """Tell whether what stands around the plot has to save height."""
        return self.height() < theme.scaled(LOW_PX)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if hasattr(self, "header"):  # pyqtgraph resizes while it is made
            self.header.save_room(self.height() if self.is_low else 0)
            self.legend_.allow_height(LEGEND_SHARE * self.height())

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
            self.scene().addItem(self._hover)  # the plot would cut off what is higher than itself
        self._hover.setVisible(True)
        self._hover.setFont(theme.font(11))
        self._hover.setText(text, color=t.colour("text"))
        self._hover.fill = pg.mkBrush(t.colour("raised"))
        self._hover.border = pen(t.colour("border"))
        self._hover.setZValue(100)
        self._hover.setPos(
            self._beside(self.plot.vb.mapViewToScene(point), self._hover.boundingRect().size())
        )

    def _beside(self, pointer: QPointF, size: QSizeF) -> QPointF:
        """Where the corner of a box beside the pointer is: towards the plot's middle, inside the picture."""
        middle, picture = self.plot.vb.sceneBoundingRect().center(), self.rect()
        is_right, is_upper = pointer.x() > middle.x(), pointer.y() < middle.y()
        x = pointer.x() - size.width() - BESIDE_PX if is_right else pointer.x() + BESIDE_PX
        y = pointer.y() if is_upper else pointer.y() - size.height()
        x = min(max(x, 0.0), picture.width() - size.width())
        return QPointF(x, min(max(y, 0.0), picture.height() - size.height()))

    def close(self) -> bool:
        # pyqtgraph's own close() clears the scene item by item and crashes on items that Python still
        # holds; Qt's destructor takes the scene down in order.
        return QGraphicsView.close(self)

    def leaveEvent(self, event) -> None:
        self._hover.setVisible(False)
        super().leaveEvent(event)
