"""Draws a `BiasVarianceFigure`: lines over an ordered setting, bars beside each other for models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor

from workbench.ui import theme
from workbench.ui.plots.base import pen
from workbench.ui.plots.curve_ends import CurveEnds
from workbench.ui.plots.marks import Mark, make_room
from workbench.ui.plots.setting_plot import SettingPlot

if TYPE_CHECKING:
    from workbench.setting_reach import Reach

POINT_PX, RING_PX = 7, 15
GROUP = 0.8  # of the room between two models is taken by bars
ROLES: dict[str, str | int] = {
    "error": "text",
    "bias": 1,
    "variance": 0,
    "noise": 2,
}  # the text's colour, or a line's


class BiasVariancePlot(SettingPlot):
    """`lines_` by part, `bars_`, `best_`, `ends_` and `ring_` are the figure's items."""

    ends_asked = Signal(int, int)  # the places that the curve's ends were dragged to

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("bias_variance.plot")
        self.setAccessibleName("Parts of the error: arrow keys go from one value to the next, Enter takes it")
        self.bars_, self.ring_, self.here_ = pg.BarGraphItem(x=[], height=[], width=1), *_points(2)
        self.lines_: dict[str, pg.PlotDataItem] = {}
        for key in ROLES:
            self.lines_[key] = pg.PlotDataItem(connect="finite")
        for z, item in enumerate((self.bars_, *self.lines_.values(), self.here_, self.ring_), start=10):
            item.setZValue(z)
            self.plot.addItem(item, ignoreBounds=True)
        self._best = Mark(self.plot, Qt.PenStyle.DotLine)
        self.best_ = self._best.line
        self.ends_ = CurveEnds(self.plot)
        self.ends_.moved.connect(self._tell_ends)
        self.ends_.released.connect(self._on_released)

    def _colour(self, key: str) -> QColor:
        role = ROLES[key]
        return theme.line_colour(role) if isinstance(role, int) else theme.tokens().colour(role)

    def _draw_settings(self) -> None:
        figure = self.figure
        self.plot.getAxis("left").set_name(figure.score_name)
        self.legend_.show_entries([(each.name, self._colour(each.key)) for each in figure.series])
        if figure.x.is_ordered:
            self.bars_.setOpts(x=[], height=[], width=1)
            self._draw_lines()
        else:
            self._draw_bars()
        self._draw_best()
        self._set_ranges()
        self._draw_ends()
        self._draw_here()

    @property
    def _reach(self) -> Reach | None:
        """How far the ends can be moved; a picture in a file has none."""
        return None if theme.is_exporting() else self.figure.reach

    def _names(self) -> list[tuple[float, str]]:
        reach = self._reach
        if reach is None:
            return super()._names()
        return [(place, reach.word(place)) for place in range(reach.lowest, reach.highest + 1)]

    def _draw_ends(self) -> None:
        reach = self._reach
        if reach is None:
            self.ends_.hide()
        else:
            self.ends_.show(reach.first, reach.last, reach.lowest, reach.highest)

    def _tell_ends(self, first: int, last: int) -> None:
        self._told = None
        low, high = self.plot.vb.viewRange()[1]
        self.show_hover(self.figure.ends_text(first, last), QPointF(self.ends_.at, (low + high) / 2))

    def _on_released(self, first: int, last: int) -> None:
        self.show_hover("", QPointF())
        reach = self.figure.reach
        if reach is not None and (first, last) != (reach.first, reach.last):
            self.ends_asked.emit(first, last)

    def _draw_lines(self) -> None:
        figure = self.figure
        order = np.argsort(figure.at_x)
        x, known = figure.at_x[order].astype(np.float64), figure.n_fits[order] > 0
        of = {each.key: each.values[order] for each in figure.series}
        for key, line in self.lines_.items():
            colour = self._colour(key)
            line.setVisible(key in of and bool(known.any()))
            if line.isVisible():
                line.setData(
                    x, np.where(known, of[key], np.nan), pen=pen(colour, 3 if key == "error" else 2),
                    symbol="o", symbolSize=POINT_PX, symbolBrush=colour,
                    symbolPen=pen(theme.tokens().colour("surface"), 1),
                )  # fmt: skip

    def _draw_bars(self) -> None:
        figure = self.figure
        for line in self.lines_.values():
            line.setVisible(False)
        width = GROUP / len(figure.series)
        x, height, brushes = [], [], []
        for k, each in enumerate(figure.series):
            for at in np.flatnonzero(figure.n_fits).tolist():
                x.append(self._bar_at(at, k))
                height.append(float(each.values[at]))
                brushes.append(self._colour(each.key))
        pens = [pen(theme.tokens().colour("surface"))] * len(x)
        self.bars_.setOpts(x=x, height=height, width=width, brushes=brushes, pens=pens)

    def _bar_at(self, setting: int, k: int) -> float:
        width = GROUP / len(self.figure.series)
        return float(self.figure.at_x[setting]) - GROUP / 2 + (k + 0.5) * width

    def _draw_best(self) -> None:
        figure = self.figure
        if figure.best is None or not figure.x.is_ordered:
            self._best.hide()
        else:
            at = figure.at_x[figure.best]
            self._best.show(float(at), f"smallest error: {figure.x.words[at]}")

    def _set_ranges(self) -> None:
        figure = self.figure
        done = figure.n_fits > 0
        values = np.concatenate([[0.0], *(each.values[done] for each in figure.series)])
        values = values if len(values) > 1 else np.array([0.0, 1.0])
        side, reach = 0.0 if figure.x.is_ordered else 0.6, self._reach
        first, last = (0, len(figure.x.words) - 1) if reach is None else (reach.lowest, reach.highest)
        make_room(self.plot, values, first - side, last + side, [self._best])

    def _draw_here(self) -> None:
        figure, t = self.figure, theme.tokens()
        at = [] if figure.now is None or not figure.n_fits[figure.now] else [self.place_of(figure.now)]
        self.here_.setData(
            [point.x() for point in at], [point.y() for point in at], size=12, brush=t.colour("text"),
            pen=pen(t.colour("surface"), 2),
        )  # fmt: skip

    def _draw_cursor(self) -> None:
        at = [self.place_of(self.cursor)] if self.hasFocus() and self.cursor is not None else []
        ring = pen(theme.tokens().colour("accent"), 2)
        self.ring_.setData([p.x() for p in at], [p.y() for p in at], size=RING_PX, pen=ring, brush=None)

    def place_of(self, setting: int) -> QPointF:
        """Where the error of a value is drawn; at the foot where there is none."""
        figure = self.figure
        error = figure.series[0].values[setting]
        x = float(figure.at_x[setting]) if figure.x.is_ordered else self._bar_at(setting, 0)
        return QPointF(x, 0.0 if np.isnan(error) else float(error))

    def setting_under(self, point: QPointF) -> int | None:
        return None if self.figure.is_beyond(point.x()) else self.figure.setting_at(point.x())

    def text_beyond(self, point: QPointF) -> str:
        return self.figure.story_beyond(point.x())

    def hover_text(self, point: QPointF) -> str:
        return "" if self.ends_.is_dragged else super().hover_text(point)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if getattr(self, "figure", None) is not None:
            self._set_ranges()
            self._draw_ends()
            self._draw_here()
            self._draw_cursor()


def _points(n: int) -> list[pg.ScatterPlotItem]:
    return [pg.ScatterPlotItem() for _ in range(n)]
