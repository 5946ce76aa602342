"""Other models beside the current one: surfaces of the same columns and colours, or curves in its picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtWidgets import QMenu, QWidget

from engine.errors import DataError
from workbench.figures.held import as_chosen
from workbench.figures.surface import (
    AnyFigure,
    CurveFigure,
    SurfaceFigure,
    make_curve,
    make_surface,
    prepared,
)
from workbench.figures.surface_inputs import SurfaceInputs, surface_inputs, with_held
from workbench.fitting import what_differs
from workbench.runs import RunRecord
from workbench.ui.context import Context
from workbench.ui.plots.curve import CurvePlot
from workbench.ui.plots.surface import SurfacePlot, class_palette
from workbench.ui.surface_request import SurfaceRequest
from workbench.ui.widgets import action_icon

BESIDE_KEY, BESIDE = "surface beside", "surface_beside"
NO_OTHER = "No Other Model"
MOST = 3  # other models beside the current one: more would be too small to look at
ACTION = "action.surface.beside"
ALONG_ONE = "Along one column the lines of classes are drawn alone; over two, others stand beside them"
NO_CANDIDATE = "It takes a trained model and another one of the same target"
FULL = f"At most {MOST} other models stand beside a surface; take one away first"


class SurfaceBeside(QObject):
    """Draws up to `MOST` plots when it is told of the picture that they stand beside.

    Parameters
    ----------
    panel : QWidget
        The view of all.
    main : SurfacePlot
    curve : CurvePlot
        Of a picture along one column, in which others are lines.
    again : callable
        Asks for `follow` once more: other models were chosen.
    """

    changed = Signal()  # others are in sight, or fewer

    def __init__(
        self, context: Context, panel: QWidget, main: SurfacePlot, curve: CurvePlot,
        again: Callable[[], object],
    ) -> None:  # fmt: skip
        super().__init__(panel)
        self._context, self._panel, self._again = context, panel, again
        self._main, self._curve = main, curve
        self._is_alone = False
        self._others = [_Other(context, f"{BESIDE_KEY} {i}", self) for i in range(MOST)]
        for other in self._others:
            other.drawn.connect(self._on_drawn)
        action = context.actions.add(
            ACTION, "Compare Surface With…", "Ctrl+Shift+B", self._open_menu, "compare",
            tip="Draw other models beside this one: same columns, held values and colours",
        )  # fmt: skip
        self.button = action_icon(action, "surface.beside")
        document = context.document
        for signal in (document.run_changed, document.run_removed, document.current_run_changed):
            signal.connect(self._on_changed)
        self._offer()

    @property
    def plots(self) -> list[SurfacePlot]:
        """The other models' plots, also those that are hidden now."""
        return [other.plot for other in self._others]

    @property
    def shown(self) -> list[SurfacePlot]:
        """Those that are drawn."""
        return [plot for plot in self.plots if plot.isVisibleTo(self._panel)]

    def _offer(self) -> None:
        """Switch the action on where it can show something; else its tip says why not."""
        why = NO_CANDIDATE if not self.candidates() else ALONG_ONE if self._is_alone else ""
        self._context.actions.enable(ACTION, not why, why)

    def _on_changed(self, *_: object) -> None:
        self._offer()
        if self.chosen() or any(other.is_asked for other in self._others):
            self._again()  # also for one that was wanted before it was trained

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

    def chosen(self) -> list[RunRecord]:
        """Those that are wanted and can be drawn, in the order they were chosen in."""
        possible = {record.run_id: record for record in self.candidates()}
        return [possible[run_id] for run_id in self._wanted() if run_id in possible][:MOST]

    def _open_menu(self) -> None:
        menu = QMenu(self._panel)
        menu.setObjectName("surface.beside_menu")
        menu.setToolTipsVisible(True)
        chosen = [record.run_id for record in self.chosen()]
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
        chosen = [record.run_id for record in self.chosen()]
        if run_id is None:
            chosen = []
        elif run_id in chosen:
            chosen.remove(run_id)
        elif len(chosen) < MOST:
            chosen.append(run_id)
        self._context.document.set_view_state(BESIDE, chosen)
        self._again()

    def follow(self, figure: AnyFigure | None, inputs: SurfaceInputs | None, layer: str) -> None:
        """Draw the others over the columns of the current one's picture, at the values held in it."""
        table = self._context.document.table
        self._is_alone = isinstance(figure, CurveFigure) and bool(figure.classes)
        self._offer()
        known: list[RunRecord] = []
        if figure is not None and not self._is_alone and inputs is not None and table is not None:
            names = {name for name in _columns_of(figure) if name is not None}
            for record in self.chosen():
                assert record.result is not None
                if names <= set(record.result.features):
                    known.append(record)
                else:
                    both = " and ".join(name for name in _columns_of(figure) if name is not None)
                    self._context.document.post_message(f"{record.name} does not know {both}.")
        for i, other in enumerate(self._others):
            if i < len(known):
                other.follow(known[i], figure, inputs, table, layer)
            else:
                other.leave()
        self._on_drawn()

    def _on_drawn(self) -> None:
        self._share_colours()
        self._curve.show_others([other.line for other in self._others if other.line is not None])
        self.changed.emit()

    def _share_colours(self) -> None:
        """Give all pictures of numbers of one kind the range of all of these."""
        plots = [plot for plot in (self._main, *self.shown) if plot.figure is not None and plot.figure.is_map]
        ranges: dict[str, list[tuple[float, float]]] = {}
        for plot in plots:
            ranges.setdefault(plot.figure.quantity, []).append(plot.figure.range)
        for plot in plots:
            lows, highs = zip(*ranges[plot.figure.quantity], strict=True)
            plot.show_range((min(lows), max(highs)) if len(lows) > 1 else None)


def _columns_of(figure: AnyFigure) -> tuple[str, str | None]:
    return figure.x.name, figure.y.name if isinstance(figure, SurfaceFigure) else None


class _Other(QObject):
    """One other model's plot or line, and what was asked for it last."""

    drawn = Signal()

    def __init__(self, context: Context, key: str, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._inputs: SurfaceInputs | None = None
        self._asked: tuple[Any, ...] | None = None
        self.line: CurveFigure | None = None
        self._request = SurfaceRequest(context, key, self)
        self._request.drawn.connect(self._on_drawn)
        self._request.failed.connect(self._on_failed)
        self.plot = SurfacePlot()
        self.plot.setObjectName("surface.beside_plot")
        self.plot.hide()

    @property
    def is_asked(self) -> bool:
        return self._asked is not None

    def follow(self, other: RunRecord, figure: Any, inputs: Any, table: Any, layer: str) -> None:
        """Draw a model over the columns of a picture, unless that is drawn or on its way."""
        assert other.result is not None
        name, result = other.name, other.result
        x_name, y_name = _columns_of(figure)
        chosen = as_chosen(inputs.held, inputs.result.feature_specs)
        wanted = (name, result, x_name, y_name, str(chosen), layer)
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

        def work(n_cells, monitor):
            made = kept or surface_inputs(name, result, table, monitor)
            if y_name is None:
                return made, make_curve(with_held(made, chosen), x_name)
            drawn = make_surface(with_held(made, chosen), x_name, y_name, n_cells, layer, monitor)
            return made, prepared(replace(drawn, event_idx=event_idx), palette)

        self._request.ask(work, f"Drawing the surface of {name}", is_quick=result.has_trees or y_name is None)

    def leave(self) -> None:
        """Be out of sight."""
        self._asked = self.line = None
        self._request.give_up()
        self.plot.hide()

    def _on_drawn(self, made: tuple[SurfaceInputs, AnyFigure]) -> None:
        self._inputs, figure = made
        self.line = figure if isinstance(figure, CurveFigure) else None
        if self.line is None:
            self.plot.set_figure(figure)
        self.plot.setVisible(self.line is None)
        self.drawn.emit()

    def _on_failed(self, error: BaseException) -> None:
        self.leave()
        self.drawn.emit()
        if not isinstance(error, DataError | MemoryError):
            raise error
        self._context.document.post_message(f"The other surface could not be drawn: {error}")
