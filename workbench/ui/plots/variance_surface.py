"""Draws a `VarianceSurfaceFigure`: how far fits lie apart over two columns, rows, and the place looked at."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal

from workbench.ui import theme
from workbench.ui.plots.base import pen
from workbench.ui.plots.places import AsksForPlaces
from workbench.ui.plots.surface import SurfacePlot

HERE_PX = 15
STEPS = {
    Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Down: (0, -1), Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_PageDown: (0, -10), Qt.Key.Key_PageUp: (0, 10),
}  # fmt: skip


class VarianceSurfacePlot(AsksForPlaces, SurfacePlot):
    """A click or the arrow keys ask for the answers at another place, with Shift at a second one.

    `here_` is a cross where answers are looked at, `second_` a slanted one at the second place.
    """

    steps = STEPS
    place_asked = Signal(int)  # a cell
    second_asked = Signal(int)  # a cell to be looked at besides

    def __init__(self, object_name: str, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName(object_name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Spread of the fits: arrow keys go from one place to the next")
        self._grounds = [pg.ScatterPlotItem(), pg.ScatterPlotItem()]
        self.here_, self.second_ = pg.ScatterPlotItem(), pg.ScatterPlotItem()
        for z, item in enumerate((*self._grounds, self.second_, self.here_), start=20):
            item.setZValue(z)
            self.plot.addItem(item, ignoreBounds=True)
        self.scene().sigMouseClicked.connect(self._on_clicked)

    def set_figure(self, figure) -> None:
        """Draw another figure; of the same rows over the same cells only what may differ."""
        before = self.figure
        if before is None or (before.points, before.x, before.y) != (figure.points, figure.x, figure.y):
            super().set_figure(figure)
            return
        self.figure = figure
        self.header.say(figure.title, figure.subtitle, figure.held_text)
        if figure.mapped is not before.mapped:
            self._colour_numbers()
        self._draw_here()

    def draw(self) -> None:
        super().draw()
        self._draw_here()

    def _draw_here(self) -> None:
        figure, t = self.figure, theme.tokens()
        ink = t.colour("accent" if self.hasFocus() else "text")
        for item, ground, at, symbol in (
            (self.here_, self._grounds[0], figure.at, "+"),
            (self.second_, self._grounds[1], figure.second, "x"),
        ):
            for each, line, width in ((ground, t.colour("surface"), 5), (item, ink, 2)):
                each.setVisible(at is not None)
                if at is not None:
                    x, y = figure.position(at)
                    look = {"symbol": symbol, "size": HERE_PX, "brush": None, "pen": pen(line, width)}
                    each.setData([x], [y], **look)

    def _cell_of(self, point: QPointF) -> int | None:
        return self.figure.cell_at(point.x(), point.y())
