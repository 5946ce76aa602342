"""Draws a `SurfaceFigure`: regions, borders, rows, the held values under the title."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QBrush, QColor

from workbench.figures.axis import Axis
from workbench.figures.surface import VALIDATION, border_lines, class_mixture
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen

POINT_PX, LEAST_POINT_PX = 7, 3
MANY_POINTS = 1000  # more of them get smaller, or they would hide the surface
BAR_PX = 64  # the colour bar with its numbers
MAX_TICKS = 12  # names of a category on an axis; of more only every k-th is written


class SurfacePlot(FigurePlot):
    """A picture of two columns. Upward is larger, as in every other plot."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("surface.plot")
        self.image = pg.ImageItem(axisOrder="row-major")
        self.borders = pg.PlotCurveItem()
        self.far = pg.ImageItem(axisOrder="row-major")
        self.no_rows = pg.TextItem("no rows here", anchor=(0.5, 0.5))
        self._points: list[pg.ScatterPlotItem] = []
        self.bar = pg.ColorBarItem(colorMap=theme.VALUE_MAP, interactive=False, width=12)
        for item in (self.image, self.far, self.borders, self.no_rows):
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.showGrid(x=False, y=False)
        self.plot.vb.setMouseEnabled(x=False, y=False)
        for side in ("left", "bottom"):
            self.plot.getAxis(side).setZValue(10)
        self.ci.addItem(self.bar, 2, 1)
        self.adopt_menu(self.bar)
        self.bar.setVisible(False)

    def draw(self) -> None:
        figure = self.figure
        self.header.say(figure.title, figure.subtitle, figure.held_text)
        show_axis(self.plot.getAxis("bottom"), figure.x)
        show_axis(self.plot.getAxis("left"), figure.y)
        box = QRectF(figure.x.low, figure.y.low, figure.x.high - figure.x.low, figure.y.high - figure.y.low)
        self.plot.setXRange(figure.x.low, figure.x.high, padding=0)
        self.plot.setYRange(figure.y.low, figure.y.high, padding=0)
        for item in self._points:
            self.plot.removeItem(item)
        self._points = []
        if figure.classes:
            self._draw_classes(box)
        else:
            self._draw_numbers(box)
        self._draw_far(box)
        self._draw_points()

    def _colour(self, class_idx: int) -> QColor:
        return theme.class_colour(class_idx, len(self.figure.classes), self.figure.event_idx)

    def _draw_classes(self, box: QRectF) -> None:
        figure, t = self.figure, theme.tokens()
        colours = [self._colour(k) for k in range(len(figure.classes))]
        rgb = np.array([rgb_of(colour) for colour in colours])
        ground = np.array(rgb_of(t.colour("surface")))
        self.image.setLookupTable(None)
        self.image.setImage(class_mixture(figure.answer, rgb, ground), autoLevels=False, levels=(0, 255))
        self.image.setRect(box)
        x, y = border_lines(figure.labels, figure.x.edges, figure.y.edges)
        ink = t.colour("text")
        ink.setAlphaF(0.7)
        self.borders.setData(x, y, connect="pairs", pen=pen(ink, 1.25), antialias=False)
        self.borders.setVisible(True)
        self.legend_.show_entries(zip(figure.classes, colours, strict=True))
        self._show_bar(False)

    def _draw_numbers(self, box: QRectF) -> None:
        figure = self.figure
        seen = np.concatenate(
            [figure.answer.ravel(), figure.points.values[np.isfinite(figure.points.values)]]
        )
        low, high = float(seen.min()), float(seen.max())
        high = high if high > low else low + 1
        self.image.setImage(figure.answer[0], autoLevels=False, levels=(low, high))
        self.image.setColorMap(theme.VALUE_MAP)
        self.image.setRect(box)
        self.borders.setVisible(False)
        self.legend_.show_entries(())
        self._show_bar(True)
        self.bar.setLevels((low, high))
        axis = self.bar.axis
        axis.setPen(pen(theme.tokens().colour("border")))
        axis.setTextPen(theme.tokens().colour("text2"))
        axis.setTickFont(theme.font(11))

    def _show_bar(self, is_shown: bool) -> None:
        self.bar.setVisible(is_shown)
        wide = theme.scaled(BAR_PX) if is_shown else 0
        self.ci.layout.setColumnMinimumWidth(1, wide)
        self.ci.layout.setColumnMaximumWidth(1, wide)
        self.bar.setMaximumWidth(wide)
        self.bar.setMinimumWidth(wide)
        if is_shown:
            self.header.say(
                self.figure.title,
                self.figure.subtitle,
                self.figure.held_text,
                f"colour: {self.figure.target}",
            )

    def _draw_far(self, box: QRectF) -> None:
        figure, t = self.figure, theme.tokens()
        is_far = figure.is_empty
        n_y, n_x = is_far.shape
        window = t.colour("window")
        picture = np.zeros((n_y, n_x, 4), np.uint8)
        picture[..., :3] = rgb_of(window)
        hatch = (np.add.outer(np.arange(n_y), np.arange(n_x)) % 8) == 0
        picture[..., 3] = np.where(is_far, 120, 0)
        picture[is_far & hatch] = (*rgb_of(t.colour("control")), 70)
        self.far.setImage(picture, autoLevels=False, levels=(0, 255))
        self.far.setRect(box)
        self.far.setVisible(bool(is_far.any()) and not (figure.x.is_category or figure.y.is_category))
        place = _roomiest(is_far)
        self.no_rows.setVisible(self.far.isVisible() and place is not None)
        if place is not None:
            self.no_rows.setFont(theme.font(11))
            self.no_rows.setText("no rows here", color=t.colour("text2"))
            self.no_rows.setPos(figure.x.edges[place[1]], figure.y.edges[place[0]])

    def _draw_points(self) -> None:
        figure, points, t = self.figure, self.figure.points, theme.tokens()
        shown = np.isfinite(points.x) & np.isfinite(points.y)
        if not figure.classes:
            brushes = value_brushes(points.values, self.image.levels)
            self._scatter(shown & np.isfinite(points.values), None, brushes, "o", t)
            return
        for class_idx in range(len(figure.classes)):
            symbol = theme.class_shape(class_idx, len(figure.classes))
            is_class = shown & (points.codes == class_idx)
            self._scatter(is_class, self._colour(class_idx), None, symbol, t)
        wrong, size = shown & points.is_wrong, point_size(len(points.x))
        if wrong.any():
            ring = pg.ScatterPlotItem(
                points.x[wrong],
                points.y[wrong],
                size=size + (6 if size == POINT_PX else 3),
                brush=None,
                pen=pen(t.colour("text"), 1.25 if size == POINT_PX else 0.75),
            )
            ring.setOpacity(size / POINT_PX)
            self._add_points(ring)

    def _scatter(self, mask, colour, brushes, symbol, t) -> None:
        points = self.figure.points
        size = point_size(len(points.x))
        thin = size / POINT_PX
        for is_validation in (False, True):
            rows = np.flatnonzero(mask & ((points.parts == VALIDATION) == is_validation))
            if not len(rows):
                continue
            ink = t.colour("text")
            if is_validation:
                edge: Any = (
                    pen(colour, 2 * thin)
                    if colour is not None
                    else [pen(brushes[k].color(), 2 * thin) for k in rows]
                )
                fill: Any = QBrush(t.colour("surface"))
            else:
                edge, fill = (
                    pen(ink, thin**2),
                    QBrush(colour) if colour is not None else [brushes[k] for k in rows],
                )
            item = pg.ScatterPlotItem(
                points.x[rows], points.y[rows], size=size, symbol=symbol, pen=edge, brush=fill
            )
            self._add_points(item)

    def _add_points(self, item: pg.ScatterPlotItem) -> None:
        self.plot.addItem(item, ignoreBounds=True)
        self._points.append(item)

    def hover_text(self, point: QPointF) -> str:
        return self.figure.text_at(point.x(), point.y())


def rgb_of(colour: QColor) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255."""
    return colour.red(), colour.green(), colour.blue()


def show_axis(axis_item, axis: Axis) -> None:
    """Name an axis item and give categories their level names as ticks."""
    axis_item.set_name(axis.name)
    if not axis.is_category:
        axis_item.setTicks([axis.date_ticks()] if axis.is_date else None)
        return
    step = -(-len(axis.labels) // MAX_TICKS)
    ticks = [(place, _short(name)) for place, name in enumerate(axis.labels) if place % step == 0]
    axis_item.setTicks([ticks])


def _short(name: str, n_letters: int = 14) -> str:
    return name if len(name) <= n_letters else name[: n_letters - 1] + "…"


def value_brushes(values, levels) -> list[QBrush]:
    """Brushes of the value map for numbers between two levels."""
    low, high = float(levels[0]), float(levels[1])
    colours = pg.colormap.get(theme.VALUE_MAP).map(
        np.nan_to_num((values - low) / (high - low)), mode=pg.ColorMap.QCOLOR
    )
    return [QBrush(colour) for colour in colours]


def _roomiest(is_far) -> tuple[int, int] | None:
    """Return a cell well inside the largest far area: row and column; None where none has room."""
    n_y, n_x = is_far.shape
    high, wide = max(n_y // 12, 1), max(n_x // 4, 1)  # room for the words
    sums = np.cumsum(np.cumsum(np.pad(is_far.astype(np.int64), ((1, 0), (1, 0))), axis=0), axis=1)
    boxes = sums[high:, wide:] - sums[:-high, wide:] - sums[high:, :-wide] + sums[:-high, :-wide]
    at = np.unravel_index(int(np.argmax(boxes)), boxes.shape)
    if boxes[at] < high * wide:
        return None
    return int(at[0]) + high // 2, int(at[1]) + wide // 2


def point_size(n: int) -> float:
    """Width of a point in pixels: many points together cover no more than a thousand do."""
    return max(POINT_PX * min(1.0, (MANY_POINTS / max(n, 1)) ** 0.5), LEAST_POINT_PX)
