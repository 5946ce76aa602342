"""Other models' surfaces beside the current one's: same columns, same held values, same colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, QPoint, Signal
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
MOST = 3  # other models beside the current one: more would be too small to look at
FULL = f"At most {MOST} other models stand beside a surface; take one away first"


class SurfaceBeside(QObject):
    """Draws up to `MOST` plots when it is told of the picture that they stand beside.

    Parameters
    ----------
    panel : QWidget
        The view of all.
    main : SurfacePlot
    again : callable
        Asks for `follow` once more: other models were chosen.
    """

    def __init__(
        self, context: Context, panel: QWidget, main: SurfacePlot, again: Callable[[], object]
    ) -> None:
        super().__init__(panel)
        self._context, self._panel, self._main, self._again = context, panel, main, again
        self._others = [_Other(context, self) for _ in range(MOST)]
        for other in self._others:
            other.drawn.connect(self._share_colours)
        action = context.actions.add(
            "action.surface.beside", "Compare Surface With…", "Ctrl+Shift+B", self._open_menu, "compare",
            tip="Draw other models' surfaces beside this one: same columns, held values and colours",
        )  # fmt: skip
        self.button = action_icon(action, "surface.beside")
        document = context.document
        for signal in (document.run_changed, document.run_removed, document.current_run_changed):
            signal.connect(self._on_changed)
        self._on_changed()

    @property
    def plots(self) -> list[SurfacePlot]:
        """The other models' plots, also those that are hidden now."""
        return [other.plot for other in self._others]

    @property
    def shown(self) -> list[SurfacePlot]:
        """Those that are drawn."""
        return [plot for plot in self.plots if plot.isVisibleTo(self._panel)]

    def _on_changed(self, *_: object) -> None:
        self._context.actions.enable("action.surface.beside", bool(self.candidates()))
        if any(other.is_asked for other in self._others):
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

    def _wanted(self) -> list[str]:
        wanted = self._context.document.view_state.get(BESIDE) or []
        return [wanted] if isinstance(wanted, str) else list(wanted)  # one name in older projects

    def _chosen(self) -> list[RunRecord]:
        """Those that are wanted and can be drawn, in the order they were chosen in."""
        possible = {record.run_id: record for record in self.candidates()}
        return [possible[run_id] for run_id in self._wanted() if run_id in possible][:MOST]

    def _open_menu(self) -> None:
        menu = QMenu(self._panel)
        menu.setObjectName("surface.beside_menu")
        menu.setToolTipsVisible(True)
        chosen = [record.run_id for record in self._chosen()]
        for run_id, name in ((None, NO_OTHER), *((r.run_id, r.name) for r in self.candidates())):
            action = menu.addAction(name.replace("&", "&&"), partial(self.choose, run_id))
            action.setCheckable(True)
            action.setChecked(run_id in chosen if run_id else not chosen)
            if run_id and run_id not in chosen and len(chosen) == MOST:
                action.setEnabled(False)
                action.setToolTip(FULL)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.button.mapToGlobal(QPoint(0, self.button.height())))

    def choose(self, run_id: str | None) -> None:
        """Draw a model beside the current one, or no longer if it is; None: none."""
        chosen = [record.run_id for record in self._chosen()]
        if run_id is None:
            chosen = []
        elif run_id in chosen:
            chosen.remove(run_id)
        elif len(chosen) < MOST:
            chosen.append(run_id)
        self._context.document.set_view_state(BESIDE, chosen)
        self._again()

    def follow(self, figure: object, inputs: SurfaceInputs | None) -> None:
        """Draw the others over the columns of the current one's picture, at the values held in it."""
        table = self._context.document.table
        known: list[RunRecord] = []
        if isinstance(figure, SurfaceFigure) and inputs is not None and table is not None:
            names = {figure.x.name, figure.y.name}
            for record in self._chosen():
                assert record.result is not None
                if names <= set(record.result.features):
                    known.append(record)
                else:
                    both = f"{figure.x.name} and {figure.y.name}"
                    self._context.document.post_message(f"{record.name} does not know {both}.")
        for i, other in enumerate(self._others):
            if i < len(known):
                other.follow(known[i], figure, inputs, table, f"{BESIDE_KEY} {i}")
            else:
                other.leave()
        self._share_colours()

    def _share_colours(self) -> None:
        """Give all pictures of numbers the range of all."""
        mine, shown = self._main.figure, [plot for plot in self.shown if plot.figure is not None]
        if mine is None or mine.classes:
            return
        if not shown:
            self._main.show_range(None)
            return
        ranges = np.array([plot.own_range() for plot in (self._main, *shown)])
        shared = float(ranges[:, 0].min()), float(ranges[:, 1].max())
        for plot in (self._main, *shown):
            plot.show_range(shared)


class _Other(QObject):
    """One other model's plot, and what was asked for it last."""

    drawn = Signal()

    def __init__(self, context: Context, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._inputs: SurfaceInputs | None = None
        self._asked: tuple[Any, ...] | None = None
        self.plot = SurfacePlot()
        self.plot.setObjectName("surface.beside_plot")
        self.plot.hide()

    @property
    def is_asked(self) -> bool:
        return self._asked is not None

    def follow(self, other: RunRecord, figure: Any, inputs: Any, table: Any, key: str) -> None:
        """Draw a model over the columns of a picture, unless that is drawn or on its way."""
        assert other.result is not None
        name, result, x_name, y_name = other.name, other.result, figure.x.name, figure.y.name
        chosen = as_chosen(inputs.held, inputs.result.feature_specs)
        wanted = (name, result, x_name, y_name, str(chosen))
        if self._asked is not None and all(
            a is b or a == b for a, b in zip(self._asked, wanted, strict=True)
        ):
            return
        self._asked = wanted
        event_idx = figure.event_idx  # the other model may have been trained with another one
        palette = class_palette(len(figure.classes), event_idx)
        kept = self._inputs
        if kept is not None and not (kept.name == name and kept.result is result):
            kept = None

        def work(monitor):
            made = kept or surface_inputs(name, result, table, monitor)
            drawn = make_surface(with_held(made, chosen), x_name, y_name)
            return made, prepared(replace(drawn, event_idx=event_idx), palette)

        job = self._context.lanes.views.submit_latest(key, work, f"Drawing the surface of {name}")
        job.ended.connect(partial(self._on_ended, wanted))

    def leave(self) -> None:
        """Be out of sight."""
        self._asked = None
        self.plot.hide()

    def _on_ended(self, asked: tuple[Any, ...], future) -> None:
        if future.cancelled() or self._asked is not asked:
            return
        if isinstance(future.exception(), DataError | MemoryError):
            self.leave()
            self._context.document.post_message(f"The other surface could not be drawn: {future.exception()}")
        else:
            self._inputs, figure = future.result()
            self.plot.set_figure(figure)
            self._show_plot()
        self.drawn.emit()

    def _show_plot(self) -> None:
        """Give all pictures the same room when another comes."""
        splitter = self.plot.parentWidget()
        if self.plot.isHidden() and isinstance(splitter, QSplitter):
            self.plot.show()
            splitter.setSizes([splitter.width() + splitter.height()] * splitter.count())
