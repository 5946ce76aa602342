"""The Many Fits window: one model fitted on many training sets, along a column and at one place of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QCheckBox, QWidget

from workbench.figures.many_fits import ManyFitsFigure, make_many_fits
from workbench.many_fits import ManyFitsSettings, inputs_of, settings_for, what_changed
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.inputs import ComboBox
from workbench.ui.plots.darts import DartsPlot
from workbench.ui.plots.histogram import HistogramPlot
from workbench.ui.plots.many_fits import ManyFitsPlot
from workbench.ui.refit_dialog import RefitDialog
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import Label, column, row

KEY = "many_fits"
SIZE = QSize(1080, 620)
BOX_WIDTH = 180  # of lists of columns and classes, at most
NOT_YET = "Nothing was fitted yet."
HOW = (
    "Choose a column and press Fit: the current model is fitted on many training sets, each a line along it."
)


class ManyFitsDialog(RefitDialog):
    """The fits along a column, and their answers at one place, or at two against each other."""

    _figure: ManyFitsFigure | None = None

    def __init__(self, context: Context, window: QWidget) -> None:
        self._fits = context.many_fits
        self._at: int | None = None  # the cell whose answers are shown
        self._second: int | None = None  # and one that they are shown against
        self._offered: tuple[Any, ...] = ()
        super().__init__(context, window, KEY, "Many Fits of a Model", SIZE, context.many_fits, inputs_of)
        self.setLayout(column(self._switch))
        self._sight.ask()

    @property
    def figure(self) -> ManyFitsFigure | None:
        """What is drawn now."""
        return self._figure

    @property
    def settings(self) -> ManyFitsSettings:
        return settings_for(self._context.document)

    def _picture(self) -> list[Any] | None:
        if self._figure is None:
            return None
        return [self.plot, self.answers if self._figure.darts is None else self.darts]

    def _csv_text(self) -> str | None:
        found = self._fits.shown
        return None if found is None or self._figure is None else self._figure.to_csv(found.curves)

    # -- assembling

    def _make_content(self) -> QWidget:
        self.plot, self.answers, self.darts = ManyFitsPlot(), HistogramPlot("many_fits.answers"), DartsPlot()
        self.plot.place_asked.connect(self._look_at)
        self.plot.second_asked.connect(self._look_at_second)
        self.column_box, self.class_box = ComboBox(), ComboBox()
        self._name(self.column_box, "column", "Along column")
        self._name(self.class_box, "class", "Probability of")
        self.column_box.activated.connect(self._on_column)
        self.class_box.activated.connect(self._on_class)
        self._two = QCheckBox("Two places")
        self._two.setObjectName("many_fits.two")
        self._two.setToolTip("Show the answers at two places against each other; Shift moves the second one")
        self._two.clicked.connect(self._on_two)
        strip = row(
            self.column_box, self.class_box, self.draws, self.count, Label("training sets", "secondary"),
            self._says, self._two, self.start, *self._exporters, spacing=8,
        )  # fmt: skip
        strip.setStretch(5, 1)
        head = QWidget()
        head.setLayout(column(strip, self._error, margins=theme.PANEL_PADDING, spacing=8))
        plots = QWidget()
        side_by_side = row(self.plot, self.answers, self.darts, spacing=0)
        self.darts.hide()
        for place, share in enumerate((5, 3, 3)):
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
        for box in (self.column_box, self.class_box):
            box.setFixedWidth(min(box.room_wanted(), theme.scaled(BOX_WIDTH)))

    # -- what is asked

    def _on_column(self, place: int) -> None:
        name = self._context.document.features[place]
        self._at = self._second = None
        self._set(f"Fit along {name}", replace(self.settings, column=name))

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
        self._second = 3 * len(found.x.values) // 4 if is_two and found is not None else None
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
        offered = (tuple(document.features), document.classes)
        if offered != self._offered:
            self._offered, self._at, self._second = offered, None, None
            for box, names in ((self.column_box, document.features), (self.class_box, document.classes)):
                box.clear()
                box.addItems(list(names))
            self._dress()
        self.column_box.setCurrentIndex(document.features.index(settings.column) if settings.column else -1)
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
            wanted = (found, remark, self._at, self._second, job is not None)
            if wanted != self._drawn:
                self._drawn = wanted
                self._show(
                    make_many_fits(found, self._at, self._second, is_running=job is not None, remark=remark)
                )
        self._two.setChecked(self._second is not None)
        self._two.setEnabled(found is not None)
        self._pictures.show_content(found is not None)
        for made in self._exporters:
            made.setEnabled(found is not None)

    def _show(self, figure: ManyFitsFigure) -> None:
        self._figure = figure
        self.plot.set_figure(figure)
        self.answers.set_figure(figure.answers)
        if figure.darts is not None:
            self.darts.set_figure(figure.darts)
        self.answers.setVisible(figure.darts is None)
        self.darts.setVisible(figure.darts is not None)
