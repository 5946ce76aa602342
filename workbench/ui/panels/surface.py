"""The Surface view: what the current model says over any two columns, or along one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtWidgets import QGraphicsView, QStackedLayout, QWidget

from engine.errors import DataError
from workbench.figures.regions import node_outline
from workbench.figures.surface import (
    AnyFigure,
    SurfaceFigure,
    default_columns,
    make_curve,
    make_surface,
    prepared,
)
from workbench.figures.surface_inputs import (
    SurfaceInputs,
    event_idx_of,
    inputs_again,
    surface_inputs,
    with_held,
)
from workbench.figures.words import sentence
from workbench.fitting import FitInputs, what_differs
from workbench.runs import training_of
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.exporting import PictureExports
from workbench.ui.forms.held_form import HeldForm
from workbench.ui.forms.surface_columns import SurfaceColumns
from workbench.ui.forms.surface_layer import ALONG_ONE, NO_PICTURE, WHILE_TRAINING, SurfaceLayer
from workbench.ui.plots.curve import CurvePlot
from workbench.ui.plots.surface import SurfacePlot, class_palette
from workbench.ui.sight import Sight
from workbench.ui.states import BusyBar, EmptyState, Switch
from workbench.ui.surface_beside import SurfaceBeside
from workbench.ui.surface_csv import SurfaceCsv
from workbench.ui.surface_live import LiveSurface
from workbench.ui.surface_preview import SurfacePreview
from workbench.ui.surface_request import SurfaceRequest
from workbench.ui.tiles import Tiles
from workbench.ui.widgets import bare_button, column

FIRST_TIME = "After an installation its code is compiled first, which takes some seconds once."
GOAL = "what it says over two columns"
LANE_KEY = "surface"
COLUMNS, HELD = "surface_columns", "surface_held"  # in the document's view state


class SurfacePanel(QWidget):
    """Asks for a picture on the views lane whenever the model or the columns change."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.surface")
        self._context = context
        self._inputs: SurfaceInputs | None = None
        self._asked: tuple | None = None  # what the picture on screen or under way is of
        self._live_figure: AnyFigure | None = None
        self._request = SurfaceRequest(context, LANE_KEY, self)
        self._request.drawn.connect(self._on_drawn)
        self._request.failed.connect(self._on_failed)
        self._with_held: tuple[SurfaceInputs, dict[str, Any], SurfaceInputs] | None = None
        self.plot, self.curve = SurfacePlot(), CurvePlot()
        self._exports = PictureExports.of(context)
        self._exports.register(self, self._exported, "surface")
        SurfaceCsv(context, self, lambda: self.figure)
        self._empty = EmptyState("surface", "")
        self._held = HeldForm(self)
        self._held.chosen.connect(self._on_held)
        self._held.typical_asked.connect(self._hold_typical)
        self._switch = Switch(self._empty, self._make_content(), self)
        self.setLayout(column(self._switch))
        self._sight, self._node_sight = Sight(self, self._refresh), Sight(self, self._show_node)
        document = context.document
        for signal in (document.table_changed, document.current_run_changed):
            signal.connect(self._sight.ask)
        document.run_changed.connect(self._on_run_changed)
        context.selection.changed.connect(self._node_sight.ask)
        self.live = LiveSurface(context, self, self._wanted_live)
        self.live.drawn.connect(self._show_live)
        self.live.given_up.connect(self._refresh)
        self.preview = SurfacePreview(context, self, self._lend_picture)
        self.preview.drawn.connect(self._show_preview)
        self.preview.over.connect(self._sight.ask)
        self._preview_sight = Sight(self, self.preview.ask)
        context.selection.preview_changed.connect(self._preview_sight.ask)
        theme.changed.connect(self._node_sight.ask)
        for signal in (document.columns_changed, *context.trainer.work_signals):
            signal.connect(self._say_why)
        self._sight.ask()

    def _make_content(self) -> QWidget:
        pictures = QWidget()
        self._pictures = QStackedLayout(pictures)
        self._pictures.addWidget(self.plot)
        self._pictures.addWidget(self.curve)
        self._busy = BusyBar(dims=pictures)
        self.beside = SurfaceBeside(self._context, self, self.plot, self.curve, self._follow_beside)
        self._tiles = Tiles([pictures, *self.beside.plots])
        self.beside.changed.connect(self._tiles.arrange)
        content = QWidget()
        self._columns = self._make_columns()
        layout = column(self._busy, self._columns.strip, self._tiles, spacing=4)
        layout.setStretchFactor(self._tiles, 1)
        content.setLayout(layout)
        return content

    def _make_columns(self) -> SurfaceColumns:
        export = bare_button("picture", "Export picture", self._export, "surface.export")
        self._hold = bare_button(
            "settings", "Values of the columns not shown", self._open_held, "surface.hold"
        )
        self._layer = SurfaceLayer(self._context, self)
        self._layer.chosen.connect(self._refresh)
        made = SurfaceColumns(self, self.beside.button, self._layer.button, self._hold, export)
        made.chosen.connect(self._choose)
        return made

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._columns.share_room()

    def picture(self) -> SurfacePlot | CurvePlot | None:
        """The plot on screen; None while there is no picture."""
        shown: Any = self._pictures.currentWidget()
        return shown if self._switch.shows_content and shown.figure is not None else None

    @property
    def figure(self) -> AnyFigure | None:
        """What is drawn now."""
        shown = self.picture()
        return shown.figure if shown is not None else None

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self._context.document.current_run_id:
            self._context.trainer.in_turn(self._sight.ask)

    def _refresh(self) -> None:
        document = self._context.document
        run = document.current_run
        if self.live.is_on:
            self._busy.begin()
            self.live.ask()
            return
        result = run.result if run is not None else None
        if run is None or result is None or document.table is None:
            self._inputs, self._asked = None, None
            self._busy.end()
            self._follow_beside()  # nothing stands beside it, nor takes room from what comes next
            if result is None:
                self._say_why()
            else:
                self._say(
                    "A model file has no rows to draw.", "Open the project it came from to see a surface."
                )
            return
        if difference := what_differs(result, document.table):
            self._inputs, self._asked = None, None
            self._say(
                sentence(difference),
                "Undo that, or train it again to see it.",
                "action.model.train",
            )
            return
        x_name, y_name = self._wanted_columns(result)
        self._fill_columns(result.features, x_name, y_name)
        self._ask(run.name, result, document.table, (x_name, y_name), dict(document.view_state.get(HELD, {})))

    def _say_why(self, *_: object) -> None:
        run = self._context.document.current_run
        if (run is not None and run.result is not None) or self._shows_live():
            return
        self._empty.say_what_is_missing(self._context, GOAL)
        self._switch.show_content(False)
        self._offer_layers()

    def _say(self, sentence: str, how: str, helps: str = "") -> None:
        self._empty.say(sentence, how)
        self._empty.offer(self._context.actions.get(helps))
        self._switch.show_content(False)
        self._offer_layers()

    def _wanted_columns(self, result) -> tuple[str, str | None]:
        """The columns chosen by hand where the model has them, else those that matter most (D32)."""
        return self._chosen_columns(result.features) or default_columns(result)

    def _chosen_columns(self, features: Sequence[str]) -> tuple[str, str | None] | None:
        chosen = self._context.document.view_state.get(COLUMNS)
        if chosen:
            x_name, y_name = chosen
            if x_name in features and (y_name is None or y_name in features):
                return x_name, y_name
        return None

    def _wanted_live(self, inputs: FitInputs) -> tuple[tuple[str, str | None] | None, dict[str, Any]]:
        """Columns and held values of a training's picture: columns as before where it is not the first."""
        document, columns = self._context.document, self._chosen_columns(inputs.features)
        run = document.current_run
        if columns is None and run is not None and run.result is not None:
            before = default_columns(run.result)
            columns = before if set(before) <= {*inputs.features, None} else None
        return columns, dict(document.view_state.get(HELD, {}))

    def _shows_live(self) -> bool:
        """The picture on screen is of the current model's training, which goes on."""
        return self.live.is_on and self.figure is not None and self.figure is self._live_figure

    def _show_live(self, inputs: SurfaceInputs, figure: AnyFigure) -> None:
        before, self._asked = self.figure, None
        self._inputs, self._live_figure = inputs, figure
        self._busy.end()
        if before is None or before.x is not figure.x:
            y_name = figure.y.name if isinstance(figure, SurfaceFigure) else None
            self._fill_columns(inputs.result.features, figure.x.name, y_name)
            self._put(figure)
            return
        if isinstance(figure, SurfaceFigure):
            self.plot.show_other_tree(figure)
        else:
            self.curve.set_figure(figure)
        self._follow_beside()

    def _fill_columns(self, names: Sequence[str], x_name: str, y_name: str | None) -> None:
        self._columns.fill(names, x_name, y_name)
        self._columns.share_room()

    def _choose(self, x_name: str, y_name: str | None) -> None:
        self._context.document.set_view_state(COLUMNS, [x_name, y_name])
        self._refresh()

    def _open_held(self) -> None:
        self._show_held()
        self._held.popup(self._hold)

    def _show_held(self) -> None:
        figure = self.figure
        if figure is not None and self._inputs is not None:
            specs = {spec.name: spec for spec in self._inputs.result.feature_specs}
            self._held.show_values(figure.held, specs)

    def _on_held(self, name: str, value: Any) -> None:
        held = {**self._context.document.view_state.get(HELD, {}), name: value}
        self._context.document.set_view_state(HELD, held)
        self._refresh()

    def _hold_typical(self) -> None:
        self._context.document.set_view_state(HELD, {})
        self._refresh()

    def _ask(self, name: str, result, table, columns: tuple[str, str | None], chosen: dict[str, Any]) -> None:
        x_name, y_name = columns
        layer = self._layer.layer
        wanted = (name, result, x_name, y_name, chosen, layer)
        if self._asked is not None and all(
            a is b or a == b for a, b in zip(self._asked, wanted, strict=True)
        ):
            return
        self._asked = wanted
        palette = class_palette(len(result.classes), event_idx_of(result))
        kept = self._inputs
        if kept is not None and not (kept.name == name and training_of(kept.result) is training_of(result)):
            kept = None

        def work(n_cells, monitor):
            if kept is None:
                inputs = surface_inputs(name, result, table, monitor)
            else:  # of the same rows, at most with another tree
                inputs = kept if kept.result is result else inputs_again(kept, result)
            held = with_held(inputs, chosen)
            if y_name is None:
                return inputs, make_curve(held, x_name)
            figure = make_surface(held, x_name, y_name, n_cells, layer, monitor)
            return inputs, prepared(figure, palette)

        has_picture = self._pictures.currentWidget().figure is not None  # else the plot would stay blank
        self._switch.show_content(has_picture)
        if not has_picture:
            self._empty.tell("The surface is being drawn.", FIRST_TIME, None)
        self._busy.begin()
        self._request.ask(work, "Drawing the surface", is_quick=result.has_trees or y_name is None)

    def _on_failed(self, error: BaseException) -> None:
        self._busy.end()
        self._asked = None
        self._say("The surface could not be drawn.", str(error))
        if not isinstance(error, DataError | MemoryError):
            raise error  # nothing that a table does: shown with its details, and logged

    def _on_drawn(self, made: tuple[SurfaceInputs, AnyFigure]) -> None:
        self._busy.end()
        if self._asked is None:
            self._request.give_up()
            return
        self._inputs, figure = made
        self._put(figure)
        run = self._context.document.current_run
        if run is not None and self._context.selection.preview_of(run.result) is not None:
            self._preview_sight.ask()

    def _put(self, figure: AnyFigure) -> None:
        """Show a picture over columns of its own."""
        shown: Any = self.plot if isinstance(figure, SurfaceFigure) else self.curve
        self._switch.show_content(True)
        shown.set_figure(figure)
        self._pictures.setCurrentWidget(shown)
        self._hold.setEnabled(bool(figure.held))
        self._show_node()
        self._follow_beside()
        if self._held.isVisible():
            self._show_held()

    def _follow_beside(self) -> None:
        inputs = self._inputs
        held = None if inputs is None else self._held_inputs(inputs)
        self.beside.follow(self.figure, held, self._layer.layer)
        self._offer_layers()

    def _offer_layers(self) -> None:
        """Offer what any of the models in sight can tell."""
        is_curve = self._pictures.currentWidget() is self.curve
        if not self._switch.shows_content or is_curve:
            self._layer.offer((), ALONG_ONE if is_curve else NO_PICTURE)
            return
        mine = None if self.live.is_on or self._inputs is None else self._inputs.result
        results = [mine, *(record.result for record in self.beside.chosen())]
        estimators = [result.estimator for result in results if result is not None]
        self._layer.offer(estimators, WHILE_TRAINING)

    def _lend_picture(self) -> tuple[AnyFigure, SurfaceInputs] | None:
        """Give the picture to a preview: what is on screen is of no result from then on.

        None while it is drawn anew: the preview comes after that.
        """
        run, inputs, figure = self._context.document.current_run, self._inputs, self.figure
        if run is None or run.result is None or inputs is None or figure is None or self.live.is_on:
            return None
        if not self._request.is_over or training_of(inputs.result) is not training_of(run.result):
            return None
        self._asked = None
        return figure, self._held_inputs(inputs)

    def _show_preview(self, figure: AnyFigure) -> None:
        if self.picture() is None or self._asked is not None or self.live.is_on:
            return  # over other columns or of a training by now
        if isinstance(figure, SurfaceFigure):
            self.plot.show_other_tree(figure)
        else:
            self.curve.set_figure(figure)

    def _held_inputs(self, inputs: SurfaceInputs) -> SurfaceInputs:
        """The inputs with the values held in the picture; the same object for as long as these stay."""
        chosen = self._context.document.view_state.get(HELD, {})
        known = self._with_held
        if known is None or known[0] is not inputs or known[1] != chosen:
            self._with_held = known = inputs, dict(chosen), with_held(inputs, chosen)
        return known[2]

    def _show_node(self) -> None:
        """Outline the region of the selected node, where the picture is of a single tree."""
        figure, inputs, path = self.plot.figure, self._inputs, self._context.selection.node_path
        outline = None
        is_single = inputs is not None and len(inputs.result.trees) == 1 and figure is not self._live_figure
        if path and figure is not None and inputs is not None and is_single:
            try:
                outline = node_outline(inputs.result.trees[0], path, figure.x, figure.y)
            except DataError:  # the node was cut away since
                outline = None
        self.plot.show_node(outline)

    def _exported(self) -> QGraphicsView | tuple[QGraphicsView, ...] | None:
        """What a picture file holds: the models beside this one too."""
        shown, others = self.picture(), self.beside.shown
        return (shown, *others) if shown is not None and others else shown

    def _export(self) -> None:
        self._exports.ask(self, self._exported(), "surface")
