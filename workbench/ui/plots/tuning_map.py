"""Draws a `TuningFigure` over two parameters: a map with a score in every cell."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QTextOption

from workbench.figures.tuning import BEST, ONE_SE
from workbench.ui import theme
from workbench.ui.plots.base import pen
from workbench.ui.plots.setting_plot import SettingPlot
from workbench.ui.plots.value_bar import ValueBar

CELL_PADDING = 8  # of both sides together, with the box around what is chosen
BRIGHT = 140  # of 255: the letters on a brighter cell are dark


class TuningMapPlot(SettingPlot):
    """Means over the values of two parameters, each in its cell; boxes around the chosen ones.

    `image_`, `best_`, `one_se_` and `ring_` are the figure's items; `texts_` are those of the cells.
    """

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("tuning.map")
        self.image_ = pg.ImageItem(axisOrder="row-major")
        self._halo, self.best_, self.one_se_, self.ring_ = (pg.PlotCurveItem() for _ in range(4))
        self.texts_: list[pg.TextItem] = []
        self.bar = ValueBar()
        self.bar.join(self.plot)
        for z, item in enumerate((self.image_, self._halo, self.one_se_, self.best_, self.ring_)):
            item.setZValue(z)
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.showGrid(x=False, y=False)
        self.plot.vb.sigResized.connect(self._write_cells)

    def _draw_settings(self) -> None:
        figure = self.figure
        self.plot.getAxis("left").set_name(figure.y.name)
        self.plot.getAxis("left").show_names(list(enumerate(figure.y.words)))
        n_x, n_y = len(figure.x.words), len(figure.y.words)
        self.image_.setImage(self._pixels(n_x, n_y), autoLevels=False, levels=(0, 255))
        self.image_.setRect(QRectF(-0.5, -0.5, n_x, n_y))
        self.plot.setXRange(-0.5, n_x - 0.5, padding=0)
        self.plot.setYRange(-0.5, n_y - 0.5, padding=0)
        self._draw_boxes()
        self._write_cells()

    def _more_text(self) -> str:
        figure = self.figure
        chosen = [(BEST, figure.best), (ONE_SE, figure.one_se)]
        if figure.best == figure.one_se:
            chosen = [(f"{BEST}, and the simplest within {ONE_SE}", figure.best)]
        told = [
            f"{name}: {figure.setting_text(at)} ({figure.score_text(figure.mean[at])})"
            for name, at in chosen
            if at is not None
        ]
        return "; ".join([*told, figure.far_text] if figure.far else told)

    def _range(self) -> tuple[float, float] | None:
        known = self.figure.mean[self.figure.near]
        if not len(known):
            return None
        low, high = float(known.min()), float(known.max())
        return (low, high) if high > low else (low, low + 1.0)

    def _colours(self) -> np.ndarray:
        """Colour of every setting, 0 to 255; of those without a score the window's ground."""
        figure, span = self.figure, self._range()
        ground = theme.tokens().colour("window")
        colours = np.tile(np.array(ground.getRgb(), np.uint8), (figure.n_settings, 1))
        if span is None:
            self.bar.hide()
            return colours
        self.bar.show_range(figure.score_name, *span)
        done = np.isfinite(figure.mean)
        shares = np.clip((figure.mean[done] - span[0]) / (span[1] - span[0]), 0, 1)
        colours[done] = pg.colormap.get(theme.VALUE_MAP).map(shares, mode=pg.ColorMap.BYTE)
        return colours

    def _pixels(self, n_x: int, n_y: int) -> np.ndarray:
        self._shades = self._colours()
        pixels = np.zeros((n_y, n_x, 4), np.uint8)
        pixels[self.figure.at_y, self.figure.at_x] = self._shades
        return pixels

    def _draw_boxes(self) -> None:
        figure, t = self.figure, theme.tokens()
        chosen = [at for at in (figure.best, figure.one_se) if at is not None]
        self._halo.setData(*_boxes(figure, chosen), connect="pairs", pen=pen(t.colour("surface"), 6))
        ink = t.colour("text")
        for item, at, style in (
            (self.best_, figure.best, Qt.PenStyle.SolidLine),
            (self.one_se_, figure.one_se, Qt.PenStyle.DashLine),
        ):
            item.setData(
                *_boxes(figure, [] if at is None else [at]), connect="pairs", pen=pen(ink, 2.5, style)
            )

    def _write_cells(self, *_: object) -> None:
        """Write each score into its cell, and what it is chosen as, where there is room."""
        figure = self.figure
        if figure is None:
            return
        while len(self.texts_) < figure.n_settings:
            self.texts_.append(pg.TextItem("", anchor=(0.5, 0.5)))
            self.texts_[-1].setZValue(20)
            self.plot.addItem(self.texts_[-1], ignoreBounds=True)
        font = theme.font(11)
        metrics = QFontMetricsF(font)
        room_x = self.plot.vb.width() / len(figure.x.words) - CELL_PADDING
        n_lines = int((self.plot.vb.height() / len(figure.y.words) - CELL_PADDING) // metrics.height())
        for setting, text in enumerate(self.texts_):
            lines = self._cell_lines(setting)[:n_lines] if setting < figure.n_settings else []
            lines = [line for line in lines if metrics.horizontalAdvance(line) <= room_x]
            text.setVisible(bool(lines))
            if lines:
                text.setFont(font)
                text.textItem.document().setDefaultTextOption(QTextOption(Qt.AlignmentFlag.AlignCenter))
                text.setText("\n".join(lines), color=self._ink(setting))
                text.setTextWidth(room_x)
                text.setPos(float(figure.at_x[setting]), float(figure.at_y[setting]))

    def _cell_lines(self, setting: int) -> list[str]:
        figure = self.figure
        if setting in figure.errors:
            return ["failed"]
        if np.isnan(figure.mean[setting]):
            return []
        marks = [("best", figure.best), ("one SE", figure.one_se), ("this model", figure.now)]
        told = ", ".join(name for name, at in marks if at == setting)
        return [figure.score_text(figure.mean[setting]), *([told] if told else [])]

    def _ink(self, setting: int) -> QColor:
        if setting in self.figure.errors:
            return theme.tokens().colour("danger")
        red, green, blue, _ = self._shades[setting].astype(float)
        is_bright = 0.299 * red + 0.587 * green + 0.114 * blue > BRIGHT
        return theme.LIGHT.colour("text" if is_bright else "surface")

    def _draw_cursor(self) -> None:
        is_shown = self.hasFocus() and self.cursor is not None
        ring = pen(theme.tokens().colour("accent"), 3)
        self.ring_.setData(
            *_boxes(self.figure, [self.cursor] if is_shown else [], 0.08), connect="pairs", pen=ring
        )

    def place_of(self, setting: int) -> QPointF:
        return QPointF(float(self.figure.at_x[setting]), float(self.figure.at_y[setting]))


def _boxes(figure, settings, inset: float = 0.04):
    """Return the sides of cells as pairs of points."""
    x, y, half = [], [], 0.5 - inset
    for setting in settings:
        at_x, at_y = float(figure.at_x[setting]), float(figure.at_y[setting])
        corners = [(-half, -half), (half, -half), (half, half), (-half, half)]
        for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
            x += [at_x + x0, at_x + x1]
            y += [at_y + y0, at_y + y1]
    return np.array(x, np.float64), np.array(y, np.float64)
