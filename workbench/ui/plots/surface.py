"""Draws a `SurfaceFigure`: regions, borders, rows, the held values under the title."""

from __future__ import annotations

from functools import cache, partial
from math import ceil
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPen

from workbench.figures.axis import Axis, date_ticks
from workbench.figures.surface import Palette, SurfaceFigure
from workbench.figures.surface_inputs import VALIDATION
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, LiteralAxis, pen
from workbench.ui.plots.value_bar import ValueBar

POINT_PX, LEAST_POINT_PX = 7, 3
MANY_POINTS = 1000  # more of them get smaller, or they would hide the surface
LEAST_WEIGHED_PX = 5  # smaller, a ring would leave nothing of the colour
LARGEST_SHARE = 3.0  # of a point's usual width: what weighs nine times the average, or more
NODE_PX = 3  # the outline of the selected node
HATCH_PX = 8  # between two lines of the hatch
N_SHADES = 64  # of the value map: more are not told apart, and each has to be drawn
NO_ROWS = "no rows here"


class SurfacePlot(FigurePlot):
    """A picture of two columns. Upward is larger, as in every other plot."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("surface.plot")
        self.image = pg.ImageItem(axisOrder="row-major")
        self.borders = pg.PlotCurveItem()
        self.node_box = pg.PlotCurveItem()
        self.far = pg.ImageItem(axisOrder="row-major")
        self.hatch = pg.PlotCurveItem()
        self.no_rows = pg.TextItem(NO_ROWS, anchor=(0.5, 0.5))
        self._points: list[pg.ScatterPlotItem] = []
        self._widths: list[tuple[pg.ScatterPlotItem, np.ndarray, Any]] = []  # rows, and width of their widths
        self._wrong: pg.ScatterPlotItem | None = None
        self._shared_range: tuple[str, tuple[float, float]] | None = None  # of which quantity
        self._drawn_quantity = ""
        self.bar = ValueBar()
        self.bar.join(self.plot)
        for item in (self.image, self.far, self.hatch, self.borders, self.node_box, self.no_rows):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.showGrid(x=False, y=False)
        self.plot.vb.setMouseEnabled(x=False, y=False)
        for side in ("left", "bottom"):
            self.plot.getAxis(side).setZValue(10)
        self.plot.vb.sigResized.connect(self._fill_far)

    def draw(self) -> None:
        figure = self.figure
        self.header.say(figure.title, figure.subtitle, figure.held_text)
        show_axis(self.plot.getAxis("bottom"), figure.x)
        show_axis(self.plot.getAxis("left"), figure.y)
        box = QRectF(figure.x.low, figure.y.low, figure.x.high - figure.x.low, figure.y.high - figure.y.low)
        self.plot.setXRange(figure.x.low, figure.x.high, padding=0)
        self.plot.setYRange(figure.y.low, figure.y.high, padding=0)
        self._clear_points()
        if figure.is_map:
            self._draw_numbers(box)
        else:
            self._draw_classes(box)
        self._draw_far(box)
        self._draw_points()

    def _clear_points(self) -> None:
        for item in self._points:
            self.plot.removeItem(item)
        self._points, self._widths, self._wrong = [], [], None

    def show_node(self, outline: tuple[np.ndarray, np.ndarray] | None) -> None:
        """Draw the outline of a node's region, as `node_outline` gives it; None: none is selected."""
        self.node_box.setVisible(outline is not None)
        if outline is not None:
            ink = pen(theme.tokens().colour("text"), NODE_PX)
            self.node_box.setData(*outline, connect="pairs", pen=ink)

    def _colour(self, class_idx: int) -> QColor:
        return theme.class_colour(class_idx, len(self.figure.classes), self.figure.event_idx)

    def _draw_classes(self, box: QRectF) -> None:
        figure, t = self.figure, theme.tokens()
        self._drawn_quantity = ""
        self.image.setLookupTable(None)
        self._paint_classes()
        self.image.setRect(box)
        ink = t.colour("text")
        ink.setAlphaF(0.7)
        self.borders.setData(*figure.borders, connect="pairs", pen=pen(ink, 1.25), antialias=True)
        self.borders.setVisible(True)
        self._name_classes()
        self.bar.hide()

    def _name_classes(self) -> None:
        classes = self.figure.classes
        colours = [self._colour(k) for k in range(len(classes))]
        self.legend_.show_entries(zip(classes, colours, strict=True))

    def _paint_classes(self) -> None:
        figure = self.figure
        mixture = figure.mixed(class_palette(len(figure.classes), figure.event_idx))
        self.image.setImage(mixture, autoLevels=False, levels=(0, 255))

    def show_other_tree(self, figure: SurfaceFigure) -> None:
        """Draw what changes between two trees over the same rows and axes, as `with_other_tree` makes them.

        The colours of numbers keep their range.
        """
        self.figure = figure
        if self._drawn_quantity != (figure.quantity if figure.is_map else ""):
            self.draw()  # of a layer before, of the prediction now
            return
        self.header.say(figure.title, figure.subtitle, figure.held_text)
        if figure.is_map:
            self.image.setImage(figure.mapped, autoLevels=False, levels=self.image.levels)
        else:
            self._paint_classes()
            self.borders.setData(*figure.borders, connect="pairs")
        if figure.points.weights is not None:  # they have other sizes too
            sizes = self._sizes()
            for item, rows, width_of in self._widths:
                item.setSize(width_of(sizes[rows]))
        if figure.classes:
            self._draw_wrong()

    def show_range(self, shared: tuple[float, float] | None) -> None:
        """Let the colours of numbers span a range that another picture has too; None: the picture's own."""
        figure = self.figure
        if figure is None or not figure.is_map:
            return
        before, self._shared_range = self._shared_range, None if shared is None else (figure.quantity, shared)
        if before != self._shared_range:
            self.draw()

    def _draw_numbers(self, box: QRectF) -> None:
        self._colour_numbers()
        self.image.setRect(box)
        self.borders.setVisible(False)
        self._name_classes()

    def _colour_numbers(self) -> None:
        """Draw the numbers of a map and the bar that tells of its colours."""
        figure = self.figure
        quantity, shared = self._shared_range or ("", figure.range)
        low, high = shared if quantity == figure.quantity else figure.range
        self._drawn_quantity = figure.quantity
        self.image.setImage(figure.mapped, autoLevels=False, levels=(low, high))
        self.image.setColorMap(theme.VALUE_MAP)
        self.bar.show_range(figure.quantity, low, high, figure.is_date and figure.is_of_target)

    def _draw_far(self, box: QRectF) -> None:
        figure, t = self.figure, theme.tokens()
        is_far = figure.is_empty
        n_y, n_x = is_far.shape
        window = t.colour("window")
        picture = np.zeros((n_y, n_x, 4), np.uint8)
        picture[..., :3] = rgb_of(window)
        # a layer of uncertainty is there to be read where no rows are
        picture[..., 3] = np.where(is_far, 120, 0) if figure.is_of_target else 0
        self.far.setImage(picture, autoLevels=False, levels=(0, 255))
        self.far.setRect(box)
        self.far.setVisible(bool(is_far.any()) and not (figure.x.is_category or figure.y.is_category))
        self._fill_far()

    def _fill_far(self, *_: object) -> None:
        """Hatch what lies far from all rows and name it, in pixels of the size of the moment."""
        figure, t = self.figure, theme.tokens()
        is_shown = figure is not None and self.far.isVisible()
        self.hatch.setVisible(is_shown)
        self.no_rows.setVisible(is_shown)
        if not is_shown:
            return
        wide, high = max(round(self.plot.vb.width()), 1), max(round(self.plot.vb.height()), 1)
        x, y = hatch_lines(figure.is_empty, wide, high, theme.scaled(HATCH_PX))
        x = figure.x.low + x * (figure.x.high - figure.x.low)
        y = figure.y.low + y * (figure.y.high - figure.y.low)
        ink = t.colour("control")
        ink.setAlphaF(0.4)
        self.hatch.setData(x, y, connect="pairs", pen=pen(ink))
        font = theme.font(11)
        metrics, (n_y, n_x) = QFontMetricsF(font), figure.is_empty.shape
        words = metrics.horizontalAdvance(NO_ROWS) + 16, metrics.height() + 8
        cells = ceil(words[1] / high * n_y), ceil(words[0] / wide * n_x)
        places = (_roomiest(figure.is_empty, k * cells[0], k * cells[1]) for k in (3, 2, 1))
        place = next((place for place in places if place is not None), None)
        self.no_rows.setVisible(place is not None)
        if place is not None:
            ground = t.colour("window")
            ground.setAlphaF(0.85)
            self.no_rows.fill = pg.mkBrush(ground)
            self.no_rows.setFont(font)
            self.no_rows.setText(NO_ROWS, color=t.colour("text2"))
            self.no_rows.setPos(figure.x.edges[place[1]], figure.y.edges[place[0]])

    def _draw_points(self) -> None:
        figure, points, t = self.figure, self.figure.points, theme.tokens()
        shown = np.isfinite(points.x) & np.isfinite(points.y)
        if not figure.classes:
            shown &= np.isfinite(points.values)
            if not figure.is_of_target:  # colours stand for another quantity than the rows'
                self._scatter(shown, t.colour("text2"), None, "o", t)
                return
            shades = value_shades(points.values, self.image.levels)
            self._scatter(shown, None, shades, "o", t)
            return
        for class_idx in range(len(figure.classes)):
            symbol = theme.class_shape(class_idx, len(figure.classes))
            is_class = shown & (points.codes == class_idx)
            self._scatter(is_class, self._colour(class_idx), None, symbol, t)
        self._draw_wrong()

    def _draw_wrong(self) -> None:
        """Put a ring around the rows that the model has wrong."""
        points, size = self.figure.points, point_size(len(self.figure.points.x))
        sizes = self._sizes()
        wrong = points.is_wrong & np.isfinite(points.x) & np.isfinite(points.y)
        if self._wrong is None:
            ink = pen(theme.tokens().colour("text"), 1.25 if size == POINT_PX else 0.75)
            self._wrong = pg.ScatterPlotItem(brush=None, pen=ink)
            self._wrong.setOpacity(size / POINT_PX)
            self._add_points(self._wrong)
        gap = 6 if size == POINT_PX else 3
        self._wrong.setData(points.x[wrong], points.y[wrong], size=sizes[wrong] + gap)

    def _sizes(self) -> np.ndarray:
        points = self.figure.points
        return widths_of(point_size(len(points.x)), points.weights, len(points.x))

    def _scatter(self, mask, colour, shades, symbol, t) -> None:
        """Draw points of one colour, or each in one of the value map's."""
        points, sizes = self.figure.points, self._sizes()
        thin, ink = point_size(len(points.x)) / POINT_PX, t.colour("text")
        for is_validation in (False, True):
            rows = np.flatnonzero(mask & ((points.parts == VALIDATION) == is_validation))
            if not len(rows):
                continue
            if not is_validation:
                fill: Any = QBrush(colour) if shades is None else [shade_brushes()[k] for k in shades[rows]]
                self._add_rows(rows, sizes, _width, symbol, pen(ink, thin**2), fill)
                continue
            # hollow, and ringed as all marks are: by a larger dot below
            self._add_rows(rows, sizes, partial(_ring_width, thin), symbol, None, QBrush(ink))
            pens = shade_pens(2 * thin)
            edge: Any = pen(colour, 2 * thin) if shades is None else [pens[k] for k in shades[rows]]
            self._add_rows(rows, sizes, _hollow_width, symbol, edge, QBrush(t.colour("surface")))

    def _add_rows(self, rows, sizes, width_of, symbol, edge, fill) -> None:
        points = self.figure.points
        item = pg.ScatterPlotItem(
            points.x[rows], points.y[rows], size=width_of(sizes[rows]), symbol=symbol, pen=edge, brush=fill
        )
        self._widths.append((item, rows, width_of))
        self._add_points(item)

    def _add_points(self, item: pg.ScatterPlotItem) -> None:
        self.plot.addItem(item, ignoreBounds=True)
        self._points.append(item)

    def hover_text(self, point: QPointF) -> str:
        return self.figure.text_at(point.x(), point.y())


def class_palette(n_classes: int, event_idx: int | None) -> Palette:
    """Return the classes' colours and the ground's in the theme in force."""
    colours = [theme.class_colour(k, n_classes, event_idx) for k in range(n_classes)]
    ground = rgb_of(theme.tokens().colour("surface"))
    return np.array([rgb_of(colour) for colour in colours]), np.array(ground)


def rgb_of(colour: QColor) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255."""
    return colour.red(), colour.green(), colour.blue()


def show_axis(axis_item: LiteralAxis, axis: Axis) -> None:
    """Name an axis item and give categories their level names as ticks."""
    axis_item.set_name(axis.name)
    if not axis.is_category:
        axis_item.show_names([])
        axis_item.setTicks([date_ticks(axis.low, axis.high)] if axis.is_date else None)
    else:
        axis_item.show_names([(float(place), _short(name)) for place, name in enumerate(axis.labels)])


def _short(name: str, n_letters: int = 14) -> str:
    return name if len(name) <= n_letters else name[: n_letters - 1] + "…"


def value_shades(values, levels) -> np.ndarray:
    """Number the value map's shades of numbers between two levels: int (n,), 0 to N_SHADES - 1."""
    low, high = float(levels[0]), float(levels[1])
    shares = np.nan_to_num((values - low) / (high - low))
    return np.rint(np.clip(shares, 0, 1) * (N_SHADES - 1)).astype(int)


@cache
def shade_brushes() -> list[QBrush]:
    """Brushes of the value map's shades; the same ones always, so that no symbol is drawn twice."""
    shares = np.linspace(0, 1, N_SHADES)
    colours = pg.colormap.get(theme.VALUE_MAP).map(shares, mode=pg.ColorMap.QCOLOR)
    return [QBrush(colour) for colour in colours]


@cache
def shade_pens(width: float) -> list[QPen]:
    """Pens of the same colours."""
    return [pen(brush.color(), width) for brush in shade_brushes()]


def _width(width: np.ndarray) -> np.ndarray:
    return width


def _hollow_width(width: np.ndarray) -> np.ndarray:
    return np.maximum(width - 1, LEAST_POINT_PX)


def _ring_width(thin: float, width: np.ndarray) -> np.ndarray:
    return _hollow_width(width) + 3 * thin


def hatch_lines(is_far, wide: int, high: int, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Rising lines over the far cells of a picture, `step` pixels apart.

    Parameters
    ----------
    is_far : array of bool (n_y, n_x)
    wide, high : int
        Of the picture, in pixels.

    Returns
    -------
    x, y : arrays (2 * n_lines,)
        Begin and end of each line, as shares of width and height.
    """
    n_y, n_x = is_far.shape
    x = np.arange(wide)
    y = x - np.arange(-high, wide, step)[:, np.newaxis]
    rows = np.clip(((y + 0.5) * n_y / high).astype(int), 0, n_y - 1)
    columns = ((x + 0.5) * n_x / wide).astype(int)
    is_in = (y >= 0) & (y < high) & is_far[rows, columns]
    turns = np.diff(np.pad(is_in, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    line, begin = np.nonzero(turns == 1)
    _, end = np.nonzero(turns == -1)
    pairs = np.column_stack([begin, end])
    heights = pairs - np.arange(-high, wide, step)[line][:, np.newaxis]
    return pairs.ravel() / wide, heights.ravel() / high


def _roomiest(is_far, high: int, wide: int) -> tuple[int, int] | None:
    """Return the middle of a box of `high` x `wide` cells far from all rows; None where there is none."""
    if high > is_far.shape[0] or wide > is_far.shape[1]:
        return None
    sums = np.cumsum(np.cumsum(np.pad(is_far.astype(np.int64), ((1, 0), (1, 0))), axis=0), axis=1)
    boxes = sums[high:, wide:] - sums[:-high, wide:] - sums[high:, :-wide] + sums[:-high, :-wide]
    at = np.unravel_index(int(np.argmax(boxes)), boxes.shape)
    if boxes[at] < high * wide:
        return None
    return int(at[0]) + high // 2, int(at[1]) + wide // 2


def widths_of(size: float, weights: np.ndarray | None, n: int) -> np.ndarray:
    """Widths of points in pixels: all alike, or with areas as their weights, of which 1 is the average."""
    if weights is None:
        return np.full(n, float(size))
    shares = np.minimum(np.sqrt(np.where(np.isfinite(weights), weights, 1.0)), LARGEST_SHARE)
    widths = np.maximum(size * shares, min(size, LEAST_WEIGHED_PX))
    return np.round(2 * widths) / 2  # by halves, so that many points share a symbol


def point_size(n: int) -> float:
    """Width of a point in pixels: many points together cover no more than a thousand do."""
    return max(POINT_PX * min(1.0, (MANY_POINTS / max(n, 1)) ** 0.5), LEAST_POINT_PX)
