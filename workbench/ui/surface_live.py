"""The surface of a model in training: what its rounds so far say, drawn anew as they come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from engine.errors import DataError
from workbench.figures.rounds import LivePicture
from workbench.figures.surface import AnyFigure, Palette, prepared
from workbench.figures.surface_inputs import SurfaceInputs, event_idx_of
from workbench.fitting import FitInputs, SoFar
from workbench.ui.context import Context
from workbench.ui.plots.surface import class_palette
from workbench.ui.sight import is_in_sight

LIVE_KEY = "surface of a training"
LEAST_PAUSE_S = 0.1  # between two pictures
PAUSE_SHARE = 3.0  # of the time a picture takes: the training needs the processor more

Columns = tuple[str, str | None]
Wanted = tuple[FitInputs, Columns | None, Mapping[str, Any]]


class LiveSurface(QObject):
    """Asks for one picture after the other of the current model's training, never for two at once.

    Rounds that come while a picture is made are in the next one. `drawn` brings what it is made of and
    the picture.

    Parameters
    ----------
    panel : QWidget
        The view; nothing is made while it is out of sight.
    wanted : callable
        Tells of a training's inputs which columns it is to be drawn over, None: those that matter most, and
        the values to hold others at.
    """

    drawn = Signal(object, object)
    given_up = Signal()  # there is no picture of this training

    def __init__(
        self,
        context: Context,
        panel: QWidget,
        wanted: Callable[[FitInputs], tuple[Columns | None, Mapping[str, Any]]],
    ) -> None:
        super().__init__(panel)
        self._context, self._panel, self._wanted_of = context, panel, wanted
        self._wanted: Wanted | None = None
        self._picture: LivePicture | None = None
        self._asked: SoFar | None = None
        self._drawn: SoFar | None = None
        self._job: Any = None
        self._without_picture: FitInputs | None = None
        self._next_at = 0.0
        context.trainer.advanced.connect(self._consider)
        context.trainer.ended.connect(self._forget)

    def _so_far(self) -> SoFar | None:
        """What there is of the current model's training, where it can be drawn."""
        document = self._context.document
        so_far = self._context.trainer.so_far(document.current_run_id)
        if so_far is None or so_far.inputs is self._without_picture:
            return None
        return so_far if so_far.inputs.table is document.table else None

    @property
    def is_on(self) -> bool:
        """The current model is in training, and can be drawn while it is."""
        return self._so_far() is not None

    def ask(self) -> None:
        """Make a picture at once: another is on screen, or other columns or values are wanted."""
        self._drawn, self._next_at = None, 0.0
        self._consider()

    def _consider(self, *_: object) -> None:
        so_far = self._so_far()
        if so_far is None or not is_in_sight(self._panel):
            return
        columns, held = self._wanted_of(so_far.inputs)
        wanted = (so_far.inputs, columns, held)
        if self._picture is None or not _is_same(self._wanted, wanted):
            run = self._context.document.current_run
            assert run is not None
            self._wanted = wanted
            self._picture = LivePicture(run.name, columns, held)
        elif self._job is not None or so_far is self._drawn or monotonic() < self._next_at:
            return
        classes = so_far.inputs.classes
        palette = class_palette(len(classes), event_idx_of(so_far.inputs))
        work = partial(_work, self._picture, so_far, palette)
        self._asked = so_far
        self._job = self._context.lanes.views.submit_latest(LIVE_KEY, work, "Drawing the surface")
        self._job.ended.connect(self._on_ended)

    def _on_ended(self, future: Any) -> None:
        so_far = self._asked
        if future.cancelled() or so_far is None:
            return  # another was asked for since, or the training is over
        self._job = self._asked = None
        if future.exception() is not None:
            self._without_picture = so_far.inputs
            self._forget()
            self.given_up.emit()
            if not isinstance(future.exception(), DataError | MemoryError):
                raise future.exception()
            return
        now = self._so_far()
        if now is None or now.inputs is not so_far.inputs:
            return  # another model is looked at by now
        began = monotonic()
        inputs, figure, work_s = future.result()
        self._drawn = so_far
        self.drawn.emit(inputs, figure)
        ended = monotonic()
        self._next_at = ended + max(LEAST_PAUSE_S, PAUSE_SHARE * (work_s + ended - began))

    def _forget(self, *_: object) -> None:
        """Let go of a training that is over."""
        if self._wanted is not None and self._so_far() is None:
            if self._job is not None:
                self._job.supersede()
            self._wanted = self._picture = None
            self._drawn = self._asked = self._job = None


def _work(
    picture: LivePicture, so_far: SoFar, palette: Palette, monitor: Any
) -> tuple[SurfaceInputs, AnyFigure, float]:
    began = monotonic()
    inputs, figure = picture.of(so_far, monitor)
    return inputs, prepared(figure, palette), monotonic() - began


def _is_same(known: Wanted | None, wanted: Wanted) -> bool:
    return known is not None and known[0] is wanted[0] and known[1:] == wanted[1:]
