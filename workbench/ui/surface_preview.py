"""The surface while a slider is dragged: of a tree changed, or of an ensemble's first rounds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.figures.rounds import StagedPicture
from workbench.figures.surface import AnyFigure, Palette, prepared, with_other_tree
from workbench.figures.surface_inputs import SurfaceInputs
from workbench.runs import RunResult
from workbench.ui.context import Context
from workbench.ui.plots.surface import class_palette

PREVIEW_KEY = "surface of a preview"
TICK_MS = 8  # a picture that is ready is not waited for


class SurfacePreview(QObject):
    """Draws what the selection's preview asks for, one picture at a time.

    What it asks for meanwhile is drawn after that. `drawn` brings the picture.

    Parameters
    ----------
    panel : QWidget
    lend : callable
        Returns the picture on screen, whose axes and rows stay, and what it is made of; None while there is
        none that could be changed.
    """

    drawn = Signal(object)
    over = Signal()  # nothing is asked for any more: the whole is to be shown

    def __init__(
        self,
        context: Context,
        panel: QWidget,
        lend: Callable[[], tuple[AnyFigure, SurfaceInputs] | None],
    ) -> None:
        super().__init__(panel)
        self._context, self._lend = context, lend
        self._job: Any = None
        self._staged: StagedPicture | None = None

    def _wanted(self) -> RunResult | None:
        run = self._context.document.current_run
        return None if run is None else self._context.selection.preview_of(run.result)

    def ask(self) -> None:
        """Draw what is asked for now."""
        preview = self._wanted()
        if preview is None:
            self.over.emit()
        elif self._job is None and (lent := self._lend()) is not None:
            figure, inputs = lent
            palette = class_palette(len(figure.classes), figure.event_idx)
            work = partial(_work, preview, figure, inputs, palette, self._staged)
            self._job = self._context.lanes.views.submit_latest(
                PREVIEW_KEY, work, "Drawing the surface", TICK_MS
            )
            self._job.ended.connect(self._on_ended)

    def _on_ended(self, future: Any) -> None:
        self._job = None
        if future.cancelled():
            return
        preview, figure, self._staged = future.result()
        wanted = self._wanted()
        if wanted is None:
            return  # in place, or given up
        self.drawn.emit(figure)
        if wanted is not preview:
            self.ask()


def _work(
    preview: RunResult,
    figure: AnyFigure,
    inputs: SurfaceInputs,
    palette: Palette,
    staged: StagedPicture | None,
    _monitor: Any,
) -> tuple[RunResult, AnyFigure, StagedPicture | None]:
    if preview.grown_tree is not None:
        return preview, prepared(with_other_tree(figure, inputs, preview), palette), staged
    if staged is None or not staged.is_of(figure, inputs):
        staged = StagedPicture(figure, inputs)
    return preview, prepared(staged.at(preview.n_rounds), palette), staged
