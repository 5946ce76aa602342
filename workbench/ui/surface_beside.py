"""Another model's surface beside the current one's: same columns, same held values, same colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QPoint
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QSplitter, QWidget

from engine.errors import DataError
from workbench.figures.held import as_chosen
from workbench.figures.surface import SurfaceFigure, make_surface, prepared
from workbench.figures.surface_inputs import SurfaceInputs, surface_inputs, with_held
from workbench.fitting import what_differs
from workbench.runs import RunRecord
from workbench.ui.context import Context
from workbench.ui.plots.surface import SurfacePlot, class_palette
from workbench.ui.widgets import action_icon

BESIDE_KEY, BESIDE = "surface beside", "surface_beside"
NO_OTHER = "No Other Model"


class SurfaceBeside(QObject):
    """Draws `plot` when it is told of the picture that it stands beside.

    Parameters
    ----------
    panel : QWidget
        The view of both.
    main : SurfacePlot
    again : callable
        Asks for `follow` once more: another model was chosen.
    """

    def __init__(
        self, context: Context, panel: QWidget, main: SurfacePlot, again: Callable[[], object]
    ) -> None:
        super().__init__(panel)
        self._context, self._panel, self._main, self._again = context, panel, main, again
        self._inputs: SurfaceInputs | None = None
        self._asked: tuple[Any, ...] | None = None
        self.plot = SurfacePlot()
        self.plot.setObjectName("surface.beside_plot")
        self.plot.hide()
        action = context.actions.add(
            "action.surface.beside", "Compare Surface With…", "Ctrl+Shift+B", self._open_menu, "compare",
            tip="Draw another model's surface beside this one: same columns, held values and colours",
        )  # fmt: skip
        self.button = action_icon(action, "surface.beside")
        document = context.document
        for signal in (document.run_changed, document.run_removed, document.current_run_changed):
            signal.connect(self._on_changed)
        self._on_changed()

    def _on_changed(self, *_: object) -> None:
        self._context.actions.enable("action.surface.beside", bool(self.candidates()))
        if self._asked is not None:
            self._again()

    def candidates(self) -> list[RunRecord]:
        """Other models that can be drawn over the same columns."""
        document = self._context.document
        run = document.current_run
        if run is None or run.result is None or document.table is None:
            return []
        mine = run.result
        return [
            other
            for other in document.runs.values()
            if other is not run
            and other.result is not None
            and other.result.target == mine.target
            and other.result.classes == mine.classes
            and not what_differs(other.result, document.table)
        ]

    def _chosen(self) -> RunRecord | None:
        wanted = self._context.document.view_state.get(BESIDE)
        return next((record for record in self.candidates() if record.run_id == wanted), None)

    def _open_menu(self) -> None:
        menu, group = QMenu(self._panel), QActionGroup(self._panel)
        menu.setObjectName("surface.beside_menu")
        chosen = self._chosen()
        for run_id, name in ((None, NO_OTHER), *((r.run_id, r.name) for r in self.candidates())):
            action = menu.addAction(name.replace("&", "&&"), partial(self.choose, run_id))
            action.setCheckable(True)
            action.setChecked(run_id == (None if chosen is None else chosen.run_id))
            group.addAction(action)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.aboutToHide.connect(group.deleteLater)
        menu.popup(self.button.mapToGlobal(QPoint(0, self.button.height())))

    def choose(self, run_id: str | None) -> None:
        """Draw a model beside the current one; None: none."""
        self._context.document.set_view_state(BESIDE, run_id)
        self._again()

    def follow(self, figure: object, inputs: SurfaceInputs | None) -> None:
        """Draw the other model over the columns of the current one's picture, at the values held in it."""
        other, table = self._chosen(), self._context.document.table
        is_drawn = isinstance(figure, SurfaceFigure) and inputs is not None and other is not None
        if not is_drawn or table is None:
            self._leave()
            return
        assert other is not None
        assert other.result is not None
        assert inputs is not None
        assert isinstance(figure, SurfaceFigure)
        x_name, y_name, result, name = figure.x.name, figure.y.name, other.result, other.name
        if not {x_name, y_name} <= set(result.features):
            self._leave()
            self._context.document.post_message(f"{name} does not know {x_name} and {y_name}.")
            return
        chosen = as_chosen(inputs.held, inputs.result.feature_specs)
        wanted = (name, result, x_name, y_name, str(chosen))
        if self._asked is not None and all(
            a is b or a == b for a, b in zip(self._asked, wanted, strict=True)
        ):
            self._share_colours()
            return
        self._asked = wanted
        event_idx = figure.event_idx  # the other model may have been trained with another one
        palette = class_palette(len(result.classes), event_idx)
        kept = self._inputs
        if kept is not None and not (kept.name == name and kept.result is result):
            kept = None

        def work(monitor):
            made = kept or surface_inputs(name, result, table, monitor)
            drawn = make_surface(with_held(made, chosen), x_name, y_name)
            return made, prepared(replace(drawn, event_idx=event_idx), palette)

        job = self._context.lanes.views.submit_latest(BESIDE_KEY, work, f"Drawing the surface of {name}")
        job.ended.connect(self._on_ended)

    def _leave(self) -> None:
        self._asked = None
        if self.plot.isVisibleTo(self._panel):
            self.plot.hide()
            self._main.show_range(None)

    def _on_ended(self, future) -> None:
        if future.cancelled() or self._asked is None:
            return
        if isinstance(future.exception(), DataError | MemoryError):
            self._leave()
            self._context.document.post_message(f"The other surface could not be drawn: {future.exception()}")
            return
        self._inputs, figure = future.result()
        self.plot.set_figure(figure)
        self._show_plot()
        self._share_colours()

    def _show_plot(self) -> None:
        """Give the second picture as much room as the first when it comes."""
        splitter = self.plot.parentWidget()
        if self.plot.isHidden() and isinstance(splitter, QSplitter):
            self.plot.show()
            splitter.setSizes([splitter.width() + splitter.height()] * splitter.count())

    def _share_colours(self) -> None:
        """Give both pictures of numbers the range of both."""
        mine, other = self._main.figure, self.plot.figure
        if not self.plot.isVisibleTo(self._panel) or mine is None or other is None or mine.classes:
            return
        ranges = np.array([self._main.own_range(), self.plot.own_range()])
        low, high = float(ranges[:, 0].min()), float(ranges[:, 1].max())
        for plot in (self._main, self.plot):
            plot.show_range((low, high))
