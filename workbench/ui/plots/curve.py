"""Draws a `CurveFigure`: rows, prediction and residuals along one column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor

from workbench.figures.axis import date_ticks
from workbench.figures.surface import CurveFigure, prediction_text
from workbench.figures.surface_inputs import VALIDATION
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen
from workbench.ui.plots.surface import show_axis

POINT_PX = 6
FIRST_OTHER = 2  # of the lines' colours: those of training and validation are the rows' and the prediction's
OUTER_SHARE, INNER_SHARE = 0.2, 0.45  # of a line's colour in the bands around it


class CurvePlot(FigurePlot):
    """Data and prediction above, residuals below; for classes one probability line each."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("surface.curve")
        self.residual_plot = self.add_plot(3)
        self.ci.layout.setRowStretchFactor(2, 3)
        self.ci.layout.setRowStretchFactor(3, 1)
        self.residual_plot.setXLink(self.plot)
        for plot in self.plots:
            plot.vb.setMouseEnabled(x=False, y=False)
            plot.getAxis("left").setWidth(56)
        self.others: list[CurveFigure] = []
        self.curves: list[pg.PlotDataItem] = []
        self.bands: list[pg.FillBetweenItem] = []
        self.points: list[pg.ScatterPlotItem] = []
        self.restyle()

    def show_others(self, others: Sequence[CurveFigure]) -> None:
        """Draw what other models say of the same number along the same column, as lines."""
        if [id(other) for other in others] != [id(other) for other in self.others]:
            self.others = list(others)
            if self.figure is not None:
                self.draw()

    def draw(self) -> None:
        figure = self.figure
        self.header.say(figure.title, figure.subtitle, figure.held_text)
        for plot in self.plots:
            for item in [*self.curves, *self.points, *self.bands]:
                if item in plot.items:
                    plot.removeItem(item)
        self.curves, self.points, self.bands = [], [], []
        has_residuals = len(figure.residuals) > 0
        self.residual_plot.setVisible(has_residuals)
        self.residual_plot.setMaximumHeight(1e6 if has_residuals else 0)
        show_axis(self.plot.getAxis("bottom"), figure.x)
        show_axis(self.residual_plot.getAxis("bottom"), figure.x)
        if has_residuals:
            self.plot.getAxis("bottom").set_name("")
        self.plot.setXRange(figure.x.low, figure.x.high, padding=0)
        if figure.classes:
            self._draw_classes()
        else:
            self._draw_numbers()
            self._draw_residuals()

    def _steps(self, values, figure=None):
        """A value a cell as a line that is level within each cell: borders are where they are."""
        edges = (figure or self.figure).x.edges
        return np.repeat(edges, 2)[1:-1], np.repeat(values, 2)

    def _add_curve(self, plot, values, colour, width=2.0, figure=None) -> None:
        curve = pg.PlotDataItem(*self._steps(values, figure), pen=pen(colour, width))
        curve.setZValue(5)
        plot.addItem(curve, ignoreBounds=True)
        self.curves.append(curve)

    def _add_band(self, ends, colour) -> None:
        """Fill what lies between two lines, behind all else."""
        lines = [pg.PlotCurveItem(*self._steps(end)) for end in ends]
        band = pg.FillBetweenItem(*lines, brush=pg.mkBrush(colour), pen=pg.mkPen(None))
        band.setZValue(-5)
        self.plot.addItem(band, ignoreBounds=True)
        self.bands.append(band)

    def _draw_classes(self) -> None:
        figure = self.figure
        n = len(figure.classes)
        colours = [theme.class_colour(k, n, figure.event_idx) for k in range(n)]
        self.plot.getAxis("left").set_name(
            f"probability of {figure.target}"
            if figure.has_probabilities
            else f"{figure.target}: 1 where named"
        )
        self.plot.getAxis("left").setTicks(None)
        self.plot.setYRange(-0.04, 1.08, padding=0)
        band = figure.band
        entries = list(zip(figure.classes, colours, strict=True))
        if band is not None:
            for class_idx, colour in enumerate(colours):
                thin = QColor(colour)
                thin.setAlphaF(OUTER_SHARE)  # they lie over each other
                self._add_band([end[class_idx] for end in band.outer], thin)
            t = theme.tokens()
            entries.append((band.outer_text, theme.mix(t.colour("text2"), t.colour("surface"), OUTER_SHARE)))
        for class_idx, colour in enumerate(colours):
            self._add_curve(self.plot, figure.answer[class_idx], colour, 2.5)
            rows = np.flatnonzero((figure.points.codes == class_idx) & np.isfinite(figure.points.x))
            spread = 1.05 - 0.05 * (rows * 0.6180339887498949 % 1.0)
            self._add_points(self.plot, figure.points.x[rows], spread, rows, colour)
        self.legend_.show_entries(entries)

    def _draw_numbers(self) -> None:
        figure, points = self.figure, self.figure.points
        self.plot.getAxis("left").set_name(figure.target)
        rows = np.flatnonzero(np.isfinite(points.x) & np.isfinite(points.y))
        self._add_points(self.plot, points.x[rows], points.y[rows], rows, theme.class_colour(0))
        self._add_curve(self.plot, figure.answer[0], theme.line_colour("validation"))
        named = figure.title if self.others else "prediction"
        entries = [("rows", theme.class_colour(0)), (named, theme.line_colour("validation"))]
        seen = np.concatenate([points.y[rows], figure.answer[0]])
        if figure.band is not None:
            entries += self._draw_bands()
            seen = np.append(seen, figure.band.ends())
        entries += self._draw_others()
        seen = np.append(seen, self._seen_of_others(seen))
        margin = 0.06 * (float(seen.max()) - float(seen.min())) or 0.5
        low, high = float(seen.min()) - margin, float(seen.max()) + margin
        self.plot.setYRange(low, high, padding=0)
        self.plot.getAxis("left").setTicks([date_ticks(low, high)] if figure.is_date else None)
        self.legend_.show_entries(entries)

    def _draw_others(self) -> list[tuple[str, QColor]]:
        """Draw the other models' lines; returns what the legend says of them."""
        entries = []
        for place, other in enumerate(self.others, start=FIRST_OTHER):
            self._add_curve(self.plot, other.answer[0], theme.line_colour(place), 1.5, other)
            entries.append((other.title, theme.line_colour(place)))
        return entries

    def _seen_of_others(self, seen):
        """Return their values as far as they leave the current model's picture its size."""
        reach = (seen.max() - seen.min()) / 2
        values = np.concatenate([np.empty(0), *(other.answer[0] for other in self.others)])
        return np.clip(values, seen.min() - reach, seen.max() + reach)

    def _draw_bands(self) -> list[tuple[str, QColor]]:
        """Draw what surrounds the prediction of numbers; returns what the legend says of it."""
        band, entries = self.figure.band, []
        line, ground = theme.line_colour("validation"), theme.tokens().colour("surface")
        for ends, text, share in (
            (band.outer, band.outer_text, OUTER_SHARE),
            (band.inner, band.inner_text, INNER_SHARE),
        ):
            if ends is not None:
                colour = theme.mix(line, ground, share)
                self._add_band([end[0] for end in ends], colour)
                entries.append((text, colour))
        return entries

    def _draw_residuals(self) -> None:
        figure, points = self.figure, self.figure.points
        rows = np.flatnonzero(np.isfinite(points.x) & np.isfinite(figure.residuals))
        residuals = figure.residuals[rows]
        self._add_points(self.residual_plot, points.x[rows], residuals, rows, theme.class_colour(0))
        zero = pg.PlotDataItem(
            [figure.x.low, figure.x.high], [0.0, 0.0], pen=pen(theme.tokens().colour("control"))
        )
        self.residual_plot.addItem(zero, ignoreBounds=True)
        self.curves.append(zero)
        reach = 1.1 * float(np.max(np.abs(residuals), initial=0.0)) or 0.5
        self.residual_plot.setYRange(-reach, reach, padding=0)
        self.residual_plot.getAxis("left").set_name("residual")

    def _add_points(self, plot, x, y, rows, colour) -> None:
        is_validation = self.figure.points.parts[rows] == VALIDATION
        for mask, hollow in ((~is_validation, False), (is_validation, True)):
            if mask.any():
                edge = pen(colour, 1.5) if hollow else pen(theme.tokens().colour("text"), 0.75)
                fill = theme.tokens().colour("surface") if hollow else colour
                item = pg.ScatterPlotItem(x[mask], y[mask], size=POINT_PX, pen=edge, brush=fill)
                plot.addItem(item, ignoreBounds=True)
                self.points.append(item)

    def hover_text(self, point: QPointF) -> str:
        said = self.figure.text_at(point.x())
        if not said or self.figure.classes:
            return said
        cells = [(other, other.x.cell_at(point.x())) for other in self.others]
        texts = [
            f"{other.title}: {prediction_text(other.answer[0, cell], other.is_date)}"
            for other, cell in cells
            if cell is not None
        ]
        return "\n".join([said, *texts])
