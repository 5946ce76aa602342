"""The Many Fits window: one model on many training sets, along a column or over two, and at one place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QCheckBox, QWidget

from workbench.figures.many_fits import ManyFitsFigure, make_many_fits
from workbench.figures.variance_surface import VarianceSurfaceFigure, make_variance_surface
from workbench.many_fits import ManyFitsFound, ManyFitsSettings, inputs_of, settings_for, what_changed
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.inputs import ComboBox
from workbench.ui.plots.darts import DartsPlot
from workbench.ui.plots.histogram import HistogramPlot
from workbench.ui.plots.many_fits import ManyFitsPlot
from workbench.ui.plots.variance_surface import VarianceSurfacePlot
from workbench.ui.refit_dialog import RefitDialog
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import Label, column, row
from workbench.variance_surface import VarianceSurfaceFound

KEY = "many_fits"
SIZE = QSize(1080, 620)
BOX_WIDTH = 180  # of lists of columns and classes, at most
NOT_YET = "Nothing was fitted yet."
HOW = (
    "Choose a column and press Fit: the current model is fitted on many training sets, each a line along it. "
    "With a second column, colours tell how far the fits lie apart over both."
)
NO_SECOND = "no second column"
SECOND, ONE_ALONE = "Over a second column", "The model is given one column alone"
AnyFigure = ManyFitsFigure | VarianceSurfaceFigure


class ManyFitsDialog(RefitDialog):
    """The fits along a column, or their spread over two, and their answers at one place or two."""

    _figure: AnyFigure | None = None

    def __init__(self, context: Context, window: QWidget) -> None:
        self._fits = context.many_fits
        self._at: int | None = None  # the cell whose answers are shown
        self._second: int | None = None  # and one that they are shown against
        self._offered: tuple[Any, ...] = ()
        self._where = ""  # the fits that these are cells of
        super().__init__(context, window, KEY, "Many Fits of a Model", SIZE, context.many_fits, inputs_of)
        self.setLayout(column(self._switch))
        self._sight.ask()

    @property
    def figure(self) -> AnyFigure | None:
        """What is drawn now."""
        return self._figure

    @property
    def settings(self) -> ManyFitsSettings:
        return settings_for(self._context.document)

    def _picture(self) -> list[Any] | None:
        if self._figure is None:
            return None
        plot = self.surface if isinstance(self._figure, VarianceSurfaceFigure) else self.plot
        return [plot, self.answers if self._figure.darts is None else self.darts]

    def _csv_text(self) -> str | None:
        found = self._fits.shown
        if isinstance(self._figure, ManyFitsFigure) and isinstance(found, ManyFitsFound):
            return self._figure.to_csv(found.curves)
        return self._figure.to_csv() if isinstance(self._figure, VarianceSurfaceFigure) else None

    # -- assembling

    def _make_content(self) -> QWidget:
        self.plot, self.surface = ManyFitsPlot(), VarianceSurfacePlot("many_fits.surface")
        self.answers, self.darts = HistogramPlot("many_fits.answers"), DartsPlot()
        for plot in (self.plot, self.surface):
            plot.place_asked.connect(self._look_at)
            plot.second_asked.connect(self._look_at_second)
        self.column_box, self.second_box, self.class_box = ComboBox(), ComboBox(), ComboBox()
        self._name(self.column_box, "column", "Along column")
        self._name(self.second_box, "second_column", SECOND)
        self._name(self.class_box, "class", "Probability of")
        self.column_box.activated.connect(self._on_column)
        self.second_box.activated.connect(self._on_second_column)
        self.class_box.activated.connect(self._on_class)
        self._two = QCheckBox("Two places")
        self._two.setObjectName("many_fits.two")
        self._two.setToolTip("Show the answers at two places against each other; Shift moves the second one")
        self._two.clicked.connect(self._on_two)
        drawn = row(
            self.column_box, self.second_box, self.class_box, -1, self._two, *self._exporters, spacing=8
        )
        fitted = row(
            self.draws, self.count, Label("training sets", "secondary"), self._says, self.start, spacing=8
        )
        fitted.setStretch(3, 1)
        head = QWidget()
        head.setLayout(column(drawn, fitted, self._error, margins=theme.PANEL_PADDING, spacing=8))
        plots = QWidget()
        side_by_side = row(self.plot, self.surface, self.answers, self.darts, spacing=0)
        self.surface.hide()
        self.darts.hide()
        for place, share in enumerate((5, 5, 3, 3)):
            side_by_side.setStretch(place, share)
        plots.setLayout(side_by_side)
        self._none_yet = EmptyState(KEY, NOT_YET, HOW)
        self._pictures = Switch(self._none_yet, plots)
        content, layout = QWidget(), column(head, self._pictures, spacing=0)
        layout.setStretch(1, 1)
        content.setLayout(layout)
        return content

    def _dress(self) -> None:
        super()._dress()
        for box in (self.column_box, self.second_box, self.class_box):
            box.setFixedWidth(min(box.room_wanted(), theme.scaled(BOX_WIDTH)))

    # -- what is asked

    def _on_column(self, place: int) -> None:
        name, settings = self._context.document.features[place], self.settings
        second = settings.second_column
        if second == name:  # they change places
            second = settings.column
        self._set(f"Fit along {name}", replace(settings, column=name, second_column=second))

    def _on_second_column(self, place: int) -> None:
        name, settings = self._second_columns()[place], self.settings
        if not name:
            self._set(f"Fit along {settings.column}", replace(settings, second_column=""))
        else:
            self._set(f"Fit over {settings.column} and {name}", replace(settings, second_column=name))

    def _second_columns(self) -> list[str]:
        """Return what may be chosen beside the first column; "" for none."""
        return ["", *(name for name in self._context.document.features if name != self.settings.column)]

    def _on_class(self, place: int) -> None:
        label = self._context.document.classes[place]
        self._set(f"Draw {label}", replace(self.settings, label=label))

    def _look_at(self, cell: int) -> None:
        """Show the answers at another place."""
        self._at = cell
        self._draw()

    def _look_at_second(self, cell: int) -> None:
        """Show the answers at this place against those of the first."""
        self._second = cell
        self._draw()

    def _on_two(self, *_: object) -> None:
        """Look at a second place, a quarter of the way from the end, or at one alone."""
        found = self._fits.shown
        is_two = self._two.isChecked() and found is not None
        self._second = found.cell_at_share(0.75) if is_two and found is not None else None
        self._draw()

    # -- what is shown

    def _refresh(self) -> None:
        document = self._context.document
        if document.table is None or document.target is None or document.current_run is None:
            self._say_what_is_missing("No model yet.", "Add one to fit it again and again.")
            return
        self._switch.show_content(True)
        self._offer_draws()
        self._offer_columns()
        self._draw()
        self._show_state()

    def _offer_columns(self) -> None:
        document, settings = self._context.document, self.settings
        second = self._second_columns()
        offered = (tuple(document.features), tuple(second), document.classes)
        if offered != self._offered:
            self._offered = offered
            for box, names in (
                (self.column_box, document.features),
                (self.second_box, [NO_SECOND, *second[1:]]),
                (self.class_box, document.classes),
            ):
                box.clear()
                box.addItems(list(names))
            self._dress()
        self.column_box.setCurrentIndex(document.features.index(settings.column) if settings.column else -1)
        self.second_box.setCurrentIndex(second.index(settings.second_column))
        self.second_box.setEnabled(len(second) > 1)
        self.second_box.setToolTip(SECOND if len(second) > 1 else ONE_ALONE)
        self.class_box.setVisible(bool(document.classes))
        if document.classes:
            self.class_box.setCurrentIndex(document.classes.index(settings.label))

    def _draw(self) -> None:
        found, job = self._fits.shown, self._fits.current_job
        if found is None:
            self._figure, self._drawn = None, ()
            self._none_yet.say(
                *(("The first fits are being made.", "") if job is not None else (NOT_YET, HOW))
            )
        else:
            remark = "" if job is not None else what_changed(found, self._context.document, self.settings)
            if found.where != self._where:  # cells of other fits
                self._where, self._at, self._second = found.where, None, None
            wanted = (found, remark, self._at, self._second, job is not None)
            if wanted != self._drawn:
                self._drawn = wanted
                self._show(_made(found, self._at, self._second, is_running=job is not None, remark=remark))
        self._two.setChecked(self._second is not None)
        self._two.setEnabled(found is not None)
        self._pictures.show_content(found is not None)
        for made in self._exporters:
            made.setEnabled(found is not None)

    def _show(self, figure: AnyFigure) -> None:
        self._figure = figure
        is_surface = isinstance(figure, VarianceSurfaceFigure)
        (self.surface if is_surface else self.plot).set_figure(figure)
        self.surface.setVisible(is_surface)
        self.plot.setVisible(not is_surface)
        self.answers.set_figure(figure.answers)
        if figure.darts is not None:
            self.darts.set_figure(figure.darts)
        self.answers.setVisible(figure.darts is None)
        self.darts.setVisible(figure.darts is not None)


def _made(
    found: ManyFitsFound | VarianceSurfaceFound, at: int | None, second: int | None, **told
) -> AnyFigure:
    if isinstance(found, VarianceSurfaceFound):
        return make_variance_surface(found, at, second, **told)
    return make_many_fits(found, at, second, **told)
