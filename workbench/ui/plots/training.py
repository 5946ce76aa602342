"""Draws a `TrainingFigure`: loss by round, live."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QFontMetricsF

from workbench.figures.training import spread_names
from workbench.figures.words import count
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen

NAME_GROUND = 0.85  # of the ground behind a name that lies on curves
DOT_PX = 7  # of points that stand alone, and where a forest has all its trees
WIDTHS = {"training": 1.5, "validation": 2.5, "each_tree": 1.0}


class TrainingPlot(FigurePlot):
    """Curves with their names at their ends, the best round, and a hairline at the pointer."""

    round_asked = Signal(int)  # where the plot was clicked

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("training.plot")
        self.shows_all = False
        self.curves: list[pg.PlotDataItem] = []
        self._dots: list[pg.ScatterPlotItem] = []
        self._names: list[pg.TextItem] = []
        self._best = pg.InfiniteLine(angle=90)
        self._best_name = pg.TextItem("", anchor=(0.5, 0))
        self._hairline = pg.InfiniteLine(angle=90)
        self.marker_ = pg.InfiniteLine(angle=90)  # the round that is looked at
        self._empty = pg.TextItem("", anchor=(0.5, 0.5))
        for item in (self._best, self._best_name, self._hairline, self.marker_, self._empty):
            item.setVisible(False)
            self.plot.addItem(item, ignoreBounds=True)
        self._best_name.setZValue(2)  # no curve hides it
        self.plot.vb.setMouseEnabled(x=False, y=False)
        self.plot.scene().sigMouseClicked.connect(self._on_clicked)

    def mark_round(self, n_rounds: int | None) -> None:
        """Mark the round that is looked at; None: none, or all of them."""
        self.marker_.setVisible(n_rounds is not None)
        if n_rounds is not None:
            self.marker_.setPos(n_rounds)
            self.marker_.setPen(pen(theme.tokens().colour("text"), 1.5))

    def _on_clicked(self, event) -> None:
        is_inside = self.plot.vb.sceneBoundingRect().contains(event.scenePos())
        if self.figure is not None and is_inside and event.button() == Qt.MouseButton.LeftButton:
            self.round_asked.emit(round(self.plot.vb.mapSceneToView(event.scenePos()).x()))

    def curve_of(self, role: str) -> pg.PlotDataItem | None:
        """The item of the first line of a role; its `getData()` is what is drawn at this moment."""
        for line, curve in zip(self.figure.lines if self.figure else (), self.curves, strict=False):
            if line.role == role:
                return curve
        return None

    def set_shows_all(self, shows_all: bool) -> None:
        """Span all finite values instead of the robust range."""
        self.shows_all = shows_all
        if self.figure is not None:
            self.draw()

    def draw(self) -> None:
        figure, t = self.figure, theme.tokens()
        self.header.say(figure.title, figure.subtitle, figure.note)
        self.plot.getAxis("left").set_name(figure.y_label)
        self.plot.getAxis("bottom").set_name(figure.x_label)
        self._match_items(len(figure.lines))
        for idx, line in enumerate(figure.lines):
            self._draw_line(idx, line)
        is_named = figure.names_at_ends
        entries = [
            (line.name.removesuffix(", validation"), self._colour(idx, line))
            for idx, line in enumerate(figure.lines)
            if not line.is_dashed  # of the colour of its pair, which the subtitle tells apart
        ]
        self.legend_.show_entries(() if is_named else entries)
        self._draw_best(t)
        self.mark_round(int(self.marker_.value()) if self.marker_.isVisible() else None)
        self._set_ranges()
        self._place_names(is_named)

    def _match_items(self, n: int) -> None:
        while len(self.curves) < n:
            curve, dots, name = pg.PlotDataItem(connect="finite"), pg.ScatterPlotItem(), pg.TextItem("")
            for item in (curve, dots, name):
                self.plot.addItem(item, ignoreBounds=True)
            self.curves.append(curve)
            self._dots.append(dots)
            self._names.append(name)
        for idx in range(n, len(self.curves)):
            self.curves[idx].setData([], [])
            self._dots[idx].setData([], [])
            self._names[idx].setVisible(False)

    def _colour(self, idx: int, line):
        if line.role in theme.LINE_ROLES:
            return theme.line_colour(line.role)
        return theme.line_colour(idx if line.colour is None else line.colour)

    def _draw_line(self, idx: int, line) -> None:
        colour = self._colour(idx, line)
        style = Qt.PenStyle.DotLine if line.role == "out_of_bag" or line.is_dashed else Qt.PenStyle.SolidLine
        self.curves[idx].setData(line.x, line.y, pen=pen(colour, WIDTHS.get(line.role, 2.0), style))
        marked = line.marked
        self._dots[idx].setData(line.x[marked], line.y[marked], size=DOT_PX, brush=colour, pen=pen(colour))

    def _draw_best(self, t) -> None:
        best = self.figure.best_round
        for item in (self._best, self._best_name):
            item.setVisible(best is not None)
        if best is not None:
            self._best.setPos(best)
            self._best.setPen(pen(t.colour("text3"), 1, Qt.PenStyle.DashLine))
            self._best_name.setFont(theme.font(11))
            ground = t.colour("surface")
            ground.setAlphaF(NAME_GROUND)
            self._best_name.fill = pg.mkBrush(ground)
            self._best_name.setText(f"best {count(best)}", color=t.colour("text2"))

    def _set_ranges(self) -> None:
        figure = self.figure
        shown = figure.full_range if self.shows_all else figure.y_range
        self._empty.setVisible(shown is None)
        last = max((float(line.x[-1]) for line in figure.lines if len(line.x)), default=1.0)
        first = min((float(line.x[0]) for line in figure.lines if len(line.x)), default=0.0)
        if last == first:
            first, last = first - 0.5, last + 0.5
        # room on the right for the names at the lines' ends
        self.plot.setXRange(first, last + self._room_for_names() * (last - first), padding=0)
        low, high = shown or (0.0, 1.0)
        self.plot.setYRange(low, high, padding=0)
        if shown is None:
            self._empty.setFont(theme.font(13))
            self._empty.setText(figure.note or "no values yet", color=theme.tokens().colour("text3"))
            self._empty.setPos((first + last) / 2, 0.5)
        if figure.best_round is not None:
            self._best_name.setAnchor((1.0 if figure.best_round > (first + last) / 2 else 0.0, 0))
            self._best_name.setPos(figure.best_round, high)

    def _name_px(self) -> float:
        """Width kept for the names at the ends: the longest, a third of the plot at most."""
        if not self.figure.names_at_ends:
            return 8.0
        metrics = QFontMetricsF(theme.font(11, 600))
        longest = max((metrics.horizontalAdvance(line.name) for line in self.figure.lines), default=0.0)
        return min(longest + 14 + DOT_PX / 2, self.plot.vb.width() / 3)

    def _room_for_names(self) -> float:
        px = self._name_px()
        return px / max(self.plot.vb.width() - px, 60.0)

    def _place_names(self, is_named: bool) -> None:
        low, high = self.plot.vb.viewRange()[1]
        ends, named = [], []
        for idx, line in enumerate(self.figure.lines):
            at = np.flatnonzero(np.isfinite(line.y))
            self._names[idx].setVisible(is_named and len(at) > 0)
            if is_named and len(at):
                ends.append((float(line.x[at[-1]]), float(line.y[at[-1]])))
                named.append(idx)
        step = QFontMetricsF(theme.font(11, 600)).height() * (high - low) / max(self.plot.vb.height(), 60)
        first, last = self.plot.vb.viewRange()[0]
        reach = self._name_px() * (last - first) / max(self.plot.vb.width(), 60)
        places = spread_names(ends, step, low, high, reach)
        for (x, _), place, idx in zip(ends, places, named, strict=True):
            line = self.figure.lines[idx]
            self._names[idx].setFont(theme.font(11, 600))
            self._names[idx].setAnchor((0, 0.5))
            room = self._name_px() - 10 - DOT_PX / 2
            name = QFontMetricsF(theme.font(11, 600)).elidedText(
                line.name, Qt.TextElideMode.ElideMiddle, room
            )
            self._names[idx].setText(name, color=theme.tokens().colour("text"))
            after_dot = DOT_PX / 2 * (last - first) / max(self.plot.vb.width(), 60)
            self._names[idx].setPos(x + (after_dot if line.marked[-1] else 0.0), place)

    def hover_text(self, point: QPointF) -> str:
        found = self.figure.values_at(point.x())
        self._hairline.setVisible(found is not None)
        if found is None:
            return ""
        self._hairline.setPos(found[0])
        self._hairline.setPen(pen(theme.tokens().colour("control")))
        return self.figure.hairline_text(point.x())

    def leaveEvent(self, event) -> None:
        self._hairline.setVisible(False)
        super().leaveEvent(event)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if getattr(self, "figure", None) is not None:
            self._set_ranges()
            self._place_names(self.figure.names_at_ends)
