"""Draws a `ManyFitsFigure`: every fit as a thin line, their mean and band, rows, and the truth if known."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor

from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen
from workbench.ui.plots.marks import Band
from workbench.ui.plots.places import AsksForPlaces
from workbench.ui.plots.surface import show_axis

POINT_PX, POINT_ALPHA, FIT_ALPHA = 4, 0.5, 0.35
STEPS = {
    Qt.Key.Key_Left: (-1,), Qt.Key.Key_Right: (1,), Qt.Key.Key_PageDown: (10,), Qt.Key.Key_PageUp: (-10,),
}  # fmt: skip


class ManyFitsPlot(AsksForPlaces, FigurePlot):
    """A click or the arrow keys ask for the answers at another place, with Shift at a second one.

    `fits_` holds all fits as one line with gaps; `mean_`, `truth_`, `points_` and `here_` are the others.
    """

    steps = STEPS
    place_asked = Signal(int)  # a cell
    second_asked = Signal(int)  # a cell to be looked at besides

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("many_fits.plot")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Fits along a column: arrow keys go from one place to the next")
        self._band = Band(self.plot)
        self.points_ = pg.ScatterPlotItem()
        self._points: tuple[np.ndarray, QColor] | None = None  # places along the column, and their colour
        self.here_, self.second_ = pg.InfiniteLine(angle=90), pg.InfiniteLine(angle=90)
        self.fits_, self.mean_, self.truth_ = (pg.PlotDataItem(connect="finite") for _ in range(3))
        for z, item in enumerate(
            (self.points_, self.fits_, self.second_, self.here_, self.truth_, self.mean_), start=10
        ):
            item.setZValue(z)
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.vb.setMouseEnabled(x=False, y=False)
        self.scene().sigMouseClicked.connect(self._on_clicked)

    def draw(self) -> None:
        figure, t = self.figure, theme.tokens()
        self.header.say(figure.title, figure.subtitle, figure.held_text)
        show_axis(self.plot.getAxis("bottom"), figure.x)
        self.plot.getAxis("left").set_name(figure.quantity)
        thin, mean, truth = (
            QColor(theme.line_colour("run_4")),
            theme.line_colour("validation"),
            t.colour("text"),
        )
        thin.setAlphaF(FIT_ALPHA)
        self._draw_fits(thin)
        (x, low_end), (_, high_end) = (self._steps(end) for end in figure.band)
        self._band.show(x, low_end, high_end, mean)
        self.mean_.setData(*self._steps(figure.mean), pen=pen(mean, 2.5))
        entries = [
            (figure.curves_text, theme.mix(theme.line_colour("run_4"), t.colour("surface"), FIT_ALPHA)),
            ("mean and standard deviation", mean),
        ]
        self.truth_.setVisible(len(figure.truth) > 0)
        if len(figure.truth):
            self.truth_.setData(*self._of_truth(), pen=pen(truth, 2, Qt.PenStyle.DashLine))
            entries.append(("truth", truth))
        dot = QColor(theme.class_colour(0))
        dot.setAlphaF(POINT_ALPHA)
        self._draw_points(dot)
        if len(figure.points_x):
            entries.append(("training rows", theme.class_colour(0)))
        self.legend_.show_entries(entries)
        low, high = figure.range
        self.plot.setXRange(figure.x.low, figure.x.high, padding=0)
        self.plot.setYRange(low, high, padding=0.05)
        self._draw_here()

    def _draw_points(self, colour: QColor) -> None:
        """Draw the training rows, where they are others: while fits come in they are the same."""
        x, y = self.figure.points_x, self.figure.points_y
        if self._points is None or self._points[0] is not x or self._points[1] != colour:
            self._points = x, colour
            self.points_.setData(x, y, size=POINT_PX, pen=None, brush=colour)

    def _draw_fits(self, colour: QColor) -> None:
        """Draw all fits as one line that is interrupted between them: hundreds of items would be slow."""
        pieces = [self._steps(curve) for curve in self.figure.curves]
        x = np.concatenate([np.append(piece[0], np.nan) for piece in pieces])
        y = np.concatenate([np.append(piece[1], np.nan) for piece in pieces])
        self.fits_.setData(x, y, pen=pen(colour, 1))

    def _steps(self, values) -> tuple[np.ndarray, np.ndarray]:
        """A value a cell as a line that is level within each cell: borders are where they are."""
        return np.repeat(self.figure.x.edges, 2)[1:-1], np.repeat(values, 2)

    def _of_truth(self) -> tuple[np.ndarray, np.ndarray]:
        """The truth of numbers bends where fits of trees have steps: it goes from middle to middle."""
        axis, truth = self.figure.x, self.figure.truth
        return self._steps(truth) if axis.is_category else ((axis.edges[:-1] + axis.edges[1:]) / 2, truth)

    def _draw_here(self) -> None:
        edges, second = self.figure.x.edges, self.figure.second
        colour = theme.tokens().colour("accent" if self.hasFocus() else "text3")
        self.second_.setVisible(second is not None)
        for line, at, style in (
            (self.here_, self.figure.at, Qt.PenStyle.DotLine),
            (self.second_, second, Qt.PenStyle.DashDotLine),
        ):
            if at is not None:
                line.setPos(float(edges[at] + edges[at + 1]) / 2)
                line.setPen(pen(colour, 1.5, style))

    def hover_text(self, point: QPointF) -> str:
        cell = self.figure.x.cell_at(point.x())
        return "" if cell is None else self.figure.text_at(cell)

    def _cell_of(self, point: QPointF) -> int | None:
        return self.figure.x.cell_at(point.x())
