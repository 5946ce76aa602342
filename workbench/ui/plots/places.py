"""What plots share in which a person chooses the places whose answers are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from PySide6.QtCore import QPointF, Qt

if TYPE_CHECKING:
    from workbench.ui.plots.base import FigurePlot

    Base = FigurePlot
else:
    Base = object


class AsksForPlaces(Base):
    """A click or the keys of `steps` ask for another place, with Shift for a second one.

    Stands before the plot's class among the bases; the plot has signals `place_asked` and `second_asked`
    of a cell, and draws in `_draw_here` where it looks.
    """

    steps: ClassVar[Mapping[Qt.Key, tuple[int, ...]]]
    figure: Any

    def _cell_of(self, point: QPointF) -> int | None:
        """Return the cell at a place of the plot; None outside."""
        raise NotImplementedError

    def _draw_here(self) -> None:
        raise NotImplementedError

    def _on_clicked(self, event) -> None:
        is_inside = self.plot.vb.sceneBoundingRect().contains(event.scenePos())
        if self.figure is not None and is_inside and event.button() == Qt.MouseButton.LeftButton:
            cell = self._cell_of(self.plot.vb.mapSceneToView(event.scenePos()))
            if cell is not None:
                self._ask(cell, event.modifiers())

    def keyPressEvent(self, event) -> None:
        if self.figure is None or event.key() not in self.steps:
            super().keyPressEvent(event)
        else:
            of_second = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            cell = self.figure.step(*self.steps[Qt.Key(event.key())], of_second=of_second)
            self._ask(cell, event.modifiers())

    def _ask(self, cell: int, modifiers: Qt.KeyboardModifier) -> None:
        is_second = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        (self.second_asked if is_second else self.place_asked).emit(cell)

    def focusInEvent(self, event) -> None:
        super().focusInEvent(event)
        if self.figure is not None:
            self._draw_here()

    def focusOutEvent(self, event) -> None:
        super().focusOutEvent(event)
        if self.figure is not None:
            self._draw_here()
