"""Draws a `DartsFigure`: fits as throws at a target, the truth, by their answers at two places."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor

from workbench.figures.fits_at_places import N_RINGS
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen

THROW_PX, MEAN_PX, TARGET_PX = 6, 14, 16
THROW_ALPHA = 0.6
N_CORNERS = 73  # of a ring
ROOM = 1.15  # around what is drawn


class DartsPlot(FigurePlot):
    """`throws_`, `mean_` and `target_` are points, `rings_` circles of one, two and three spreads."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("many_fits.darts")
        self.rings_ = [pg.PlotDataItem() for _ in range(N_RINGS)]
        self.throws_, self.mean_, self.target_ = (pg.ScatterPlotItem() for _ in range(3))
        for z, item in enumerate((*self.rings_, self.throws_, self.target_, self.mean_), start=10):
            item.setZValue(z)
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.vb.setMouseEnabled(x=False, y=False)
        self.plot.vb.setAspectLocked(True)  # rings are round

    def draw(self) -> None:
        figure, t = self.figure, theme.tokens()
        self.header.say(figure.title, figure.subtitle)
        self.plot.getAxis("bottom").set_name(figure.x_name)
        self.plot.getAxis("left").set_name(figure.y_name)
        angle = np.linspace(0, 2 * np.pi, N_CORNERS)
        for k, ring in enumerate(self.rings_, start=1):
            x, y = (
                figure.centre[axis] + k * figure.spread * of(angle)
                for axis, of in enumerate((np.cos, np.sin))
            )
            ring.setData(x, y, pen=pen(t.colour("border"), 1.5))
        throw, mean = QColor(theme.line_colour("run_4")), theme.line_colour("validation")
        throw.setAlphaF(THROW_ALPHA)
        self.throws_.setData(*figure.throws.T, size=THROW_PX, pen=None, brush=throw)
        self.mean_.setData(
            *figure.mean[:, np.newaxis], size=MEAN_PX, symbol="+", brush=mean, pen=pen(mean, 2.5)
        )
        entries = [("fits", theme.line_colour("run_4")), ("mean", mean)]
        self.target_.setVisible(figure.truth is not None)
        if figure.truth is not None:
            self.target_.setData(
                *figure.truth[:, np.newaxis],
                size=TARGET_PX,
                symbol="o",
                brush=None,
                pen=pen(t.colour("text"), 2),
            )
            entries.append(("truth", t.colour("text")))
        self.legend_.show_entries([*entries, ("1, 2, 3 standard deviations", t.colour("border"))])
        self._set_ranges()

    def _set_ranges(self) -> None:
        figure = self.figure
        reach = figure.reach * ROOM
        (x_low, y_low), (x_high, y_high) = figure.centre - reach, figure.centre + reach
        self.plot.vb.setRange(xRange=(x_low, x_high), yRange=(y_low, y_high), padding=0)
