"""Draws a `TuningFigure` over one parameter: a curve with its band."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor

from workbench.figures.tuning import BEST, ONE_SE
from workbench.ui import theme
from workbench.ui.plots.base import pen
from workbench.ui.plots.marks import Band, Mark, make_room
from workbench.ui.plots.setting_plot import SettingPlot

FOLD_PX, MEAN_PX, RING_PX, CROSS_PX = 5, 7, 15, 10
FOLD_ALPHA = 0.35


class TuningCurvePlot(SettingPlot):
    """Means over the values of one parameter with their band; folds as faint points.

    `band_`, `best_`, `one_se_`, `means_`, `folds_`, `failed_`, `far_`, `here_` and `ring_` are the figure's
    items.
    """

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("tuning.curve")
        self._band = Band(self.plot)
        self.band_ = self._band.item
        self.bars_ = pg.ErrorBarItem(beam=0.12)
        self.folds_, self.means_ = pg.ScatterPlotItem(), pg.PlotDataItem(connect="finite")
        self.failed_, self.far_, self.here_, self.ring_ = (pg.ScatterPlotItem() for _ in range(4))
        for z, item in enumerate(
            (self.bars_, self.folds_, self.means_, self.failed_, self.far_, self.here_, self.ring_), start=10
        ):
            item.setZValue(z)
            self.plot.addItem(item, ignoreBounds=True)
        self._best, self._one_se = Mark(self.plot, Qt.PenStyle.DotLine), Mark(self.plot, Qt.PenStyle.DashLine)
        self.best_, self.one_se_ = self._best.line, self._one_se.line

    def _draw_settings(self) -> None:
        figure, t = self.figure, theme.tokens()
        self.plot.getAxis("left").set_name(figure.score_name)
        order = np.argsort(figure.at_x)
        x, done = figure.at_x[order].astype(np.float64), figure.near[order]
        mean, spread = np.where(done, figure.mean[order], np.nan), figure.spread[order]
        colour = theme.line_colour("validation")
        self._draw_folds(x, figure.folds[order], done, colour)
        line = pen(colour, 2.5) if figure.x.is_ordered else None
        known = slice(None) if done.any() else slice(0)  # it cannot draw what is missing altogether
        self.means_.setData(
            x[known], mean[known], pen=line, symbol="o", symbolSize=MEAN_PX, symbolBrush=colour,
            symbolPen=pen(t.colour("surface"), 1),
        )  # fmt: skip
        self._draw_spread(x[done], mean[done], spread[done], colour)
        self._draw_marks()
        self._set_ranges()
        self._draw_out_of_range()
        self._draw_here()

    def _more_text(self) -> str:
        return self.figure.far_text

    def _draw_folds(self, x, folds, done, colour: QColor) -> None:
        faint = QColor(colour)
        faint.setAlphaF(FOLD_ALPHA)
        n_folds = folds.shape[1]
        places = np.repeat(x[done], n_folds)
        self.folds_.setData(places, folds[done].ravel(), size=FOLD_PX, pen=None, brush=faint)

    def _draw_spread(self, x, mean, spread, colour: QColor) -> None:
        self.bars_.setVisible(not self.figure.x.is_ordered or len(x) == 1)
        if self.bars_.isVisible():
            self._band.hide()
            self.bars_.setData(x=x, y=mean, height=2 * spread, pen=pen(colour, 1.5))
        else:
            self._band.show(x, mean - spread, mean + spread, colour)

    def _draw_marks(self) -> None:
        figure = self.figure
        is_one = figure.best is not None and figure.best == figure.one_se
        for mark, at, name in ((self._best, figure.best, BEST), (self._one_se, figure.one_se, ONE_SE)):
            if at is None or (is_one and mark is self._one_se):
                mark.hide()
            else:
                words = f"{BEST}, {ONE_SE}" if is_one else name
                mark.show(float(figure.at_x[at]), f"{words}: {figure.x.words[figure.at_x[at]]}")

    def _set_ranges(self) -> None:
        figure = self.figure
        done = figure.near
        low, high = (figure.mean - figure.spread)[done], (figure.mean + figure.spread)[done]
        values = np.concatenate([low, high, figure.folds[done].ravel()])
        values = values if len(values) else np.array([0.0, 1.0])
        side = 0.0 if figure.x.is_ordered else 0.5  # words stand under their places whole
        ends = -side, len(figure.x.words) - 1 + side
        make_room(self.plot, values, *ends, [self._best, self._one_se])

    def _draw_out_of_range(self) -> None:
        """Draw failed settings, and those far beyond the others, as signs at the edges."""
        figure, t = self.figure, theme.tokens()
        x = [float(figure.at_x[at]) for at in figure.errors]
        y = [self._floor] * len(x)
        cross = pen(t.colour("danger"), 2)
        self.failed_.setData(x, y, symbol="x", size=CROSS_PX, pen=cross, brush=None)
        far = [self.place_of(at) for at in figure.far]
        self.far_.setData(
            [point.x() for point in far], [point.y() for point in far], size=CROSS_PX, pen=cross,
            symbol="t1" if self._is_far_up else "t", brush=t.colour("danger"),
        )  # fmt: skip

    @property
    def _is_far_up(self) -> bool:
        """Whether what is far beyond the others lies above them."""
        figure = self.figure
        return bool(figure.far) and bool(figure.mean[figure.far[0]] > figure.mean[figure.best])

    @property
    def _floor(self) -> float:
        """Just above the lower end of the picture, where failed settings and those to come stand."""
        low, high = self.plot.vb.viewRange()[1]
        return low + 0.04 * (high - low)

    @property
    def _ceiling(self) -> float:
        low, high = self.plot.vb.viewRange()[1]
        return high - 0.04 * (high - low)

    def _draw_here(self) -> None:
        figure, t = self.figure, theme.tokens()
        at = [] if figure.now is None else [self.place_of(figure.now)]
        self.here_.setData(
            [point.x() for point in at], [point.y() for point in at], size=12, brush=t.colour("text"),
            pen=pen(t.colour("surface"), 2),
        )  # fmt: skip
        entries = [("mean over the folds", theme.line_colour("validation"))]
        if at:
            entries.append(("this model", t.colour("text")))
        self.legend_.show_entries(entries)

    def _draw_cursor(self) -> None:
        at = [self.place_of(self.cursor)] if self.hasFocus() and self.cursor is not None else []
        ring = pen(theme.tokens().colour("accent"), 2)
        self.ring_.setData([p.x() for p in at], [p.y() for p in at], size=RING_PX, pen=ring, brush=None)

    def place_of(self, setting: int) -> QPointF:
        mean = self.figure.mean[setting]
        if not self.figure.near[setting]:
            mean = self._ceiling if setting in self.figure.far and self._is_far_up else self._floor
        return QPointF(float(self.figure.at_x[setting]), mean)

    def setting_under(self, point: QPointF) -> int:
        return self.figure.setting_at(point.x())

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if getattr(self, "figure", None) is not None:
            self._set_ranges()
            self._draw_out_of_range()
            self._draw_here()
            self._draw_cursor()
