"""One picture of a surface asked for: at once where that is quick, else coarse first and then finer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

from PySide6.QtCore import QObject, Signal

from engine.monitor import FitMonitor
from workbench.figures.axis import N_CELLS
from workbench.figures.surface import AnyFigure, SurfaceFigure
from workbench.figures.surface_inputs import SurfaceInputs
from workbench.figures.words import count
from workbench.jobs import ViewLane
from workbench.ui.context import Context

COARSE_CELLS = 40  # a side, of models that are asked cell by cell
SOON_S = 0.4  # a finer picture that takes no longer may skip those between

Made = tuple[SurfaceInputs, AnyFigure]
Work = Callable[[int, FitMonitor], Made]
"""Makes a picture with so many cells a side, in a worker; returns what it is made of too."""


class SurfaceRequest(QObject):
    """Asks for pictures beside the window; of several requests the latest is answered.

    `drawn` brings what the work made; the subtitle of a coarse picture says so, and a finer one comes after
    it until another request takes its place. `failed` brings the exception.

    Parameters
    ----------
    key : str
        Of the lanes: requests with another do not supersede this one's.
    """

    drawn = Signal(object)
    failed = Signal(object)

    def __init__(self, context: Context, key: str, parent: QObject) -> None:
        super().__init__(parent)
        self._context, self._key = context, key
        self._job: Any = None
        self.is_over = True  # nothing is asked for, or all of it was drawn

    def ask(self, work: Work, title: str, *, is_quick: bool) -> None:
        """Ask for a picture instead of what was asked for before.

        Parameters
        ----------
        is_quick : bool
            The model is not asked cell by cell: the finest picture is made at once.
        """
        self.give_up()
        self.is_over = False
        self._start(self._context.lanes.views, work, title, N_CELLS if is_quick else COARSE_CELLS)

    def give_up(self) -> None:
        """Want nothing any more."""
        if self._job is not None and not self.is_over:
            self._job.supersede()
        self.is_over = True

    def _start(self, lane: ViewLane, work: Work, title: str, n_cells: int) -> None:
        self._job = lane.submit_latest(self._key, partial(_timed, work, n_cells), title)
        self._job.ended.connect(partial(self._on_ended, work, title, n_cells))

    def _on_ended(self, work: Work, title: str, n_cells: int, future: Any) -> None:
        if future.cancelled():
            return  # another took its place
        if future.exception() is not None:
            self.is_over = True
            self.failed.emit(future.exception())
            return
        made, seconds, is_finest = future.result()
        job, self.is_over = self._job, is_finest
        self.drawn.emit(made)
        if not self.is_over and self._job is job:  # whoever was told may have asked for another
            self._start(self._context.lanes.finer, work, title, finer(n_cells, seconds))


def finer(n_cells: int, seconds: float) -> int:
    """Return how many cells a side the next picture has: the most that come soon, at least twice as many."""
    made = 2 * n_cells
    while made < N_CELLS and seconds * (2 * made / n_cells) ** 2 <= SOON_S:
        made *= 2
    return min(made, N_CELLS)


def _timed(work: Work, n_cells: int, monitor: FitMonitor) -> tuple[Made, float, bool]:
    began = perf_counter()
    inputs, figure = work(n_cells, monitor)
    seconds, is_finest = perf_counter() - began, _is_finest(figure, n_cells)
    if isinstance(figure, SurfaceFigure) and not is_finest:
        cells = f"{count(len(figure.x.values))} x {count(len(figure.y.values))} cells so far"
        figure = replace(figure, subtitle=f"{figure.subtitle}, {cells}")
    return (inputs, figure), seconds, is_finest


def _is_finest(figure: AnyFigure, n_cells: int) -> bool:
    if not isinstance(figure, SurfaceFigure) or n_cells >= N_CELLS:
        return True
    return figure.x.is_category and figure.y.is_category
