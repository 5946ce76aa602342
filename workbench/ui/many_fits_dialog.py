"""The Many Fits window: one model fitted on many training sets, along a column and at one place of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QCheckBox, QLineEdit, QPushButton, QWidget

from engine.errors import DataError, ParameterError
from workbench.bias_variance import FEWEST_SETS, MOST_SETS, TITLES
from workbench.bias_variance_choice import offered_draws
from workbench.figures.many_fits import ManyFitsFigure, make_many_fits
from workbench.figures.words import counted, sentence
from workbench.many_fits import ManyFitsSettings, inputs_of, settings_for, what_changed
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.csv_export import ask_csv
from workbench.ui.exporting import OF_ALL, PictureExports
from workbench.ui.inputs import ComboBox
from workbench.ui.plots.darts import DartsPlot
from workbench.ui.plots.histogram import HistogramPlot
from workbench.ui.plots.many_fits import ManyFitsPlot
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.study_dialog import StudyDialog
from workbench.ui.widgets import ElidedLabel, Label, bare_button, button, column, repolish, row

KEY = "many_fits"
SIZE = QSize(1080, 620)
COUNT_WIDTH = 56
NOT_YET = "Nothing was fitted yet."
HOW = (
    "Choose a column and press Fit: the current model is fitted on many training sets, each a line along it."
)


class ManyFitsDialog(StudyDialog):
    """Follows the table and the current model; settings are changed in undoable steps."""

    def __init__(self, context: Context, window: QWidget) -> None:
        super().__init__(context, window, KEY, "Many Fits of a Model", SIZE)
        self._fits = fits = context.many_fits
        self._at: int | None = None  # the cell whose answers are shown
        self._second: int | None = None  # and one that they are shown against
        self._drawn: tuple[Any, ...] = ()
        self._offered: tuple[Any, ...] = ()
        self._figure: ManyFitsFigure | None = None
        self.plot, self.answers, self.darts = ManyFitsPlot(), HistogramPlot("many_fits.answers"), DartsPlot()
        self.plot.place_asked.connect(self._look_at)
        self.plot.second_asked.connect(self._look_at_second)
        self._exports = PictureExports.of(context)
        self._exports.register(self, self._picture, KEY)
        self._empty = EmptyState(KEY, "")
        self._switch = Switch(self._empty, self._make_content())
        self.setLayout(column(self._switch))
        self._sight = Sight(self, self._refresh)
        document = context.document
        for signal in (
            document.table_changed, document.columns_changed, document.studies_changed, document.run_added,
            document.run_removed, document.run_changed, document.current_run_changed, fits.advanced,
        ):  # fmt: skip
            signal.connect(self._sight.ask)
        self._sight.ask()

    @property
    def figure(self) -> ManyFitsFigure | None:
        """What is drawn now."""
        return self._figure

    def _picture(self) -> list[Any] | None:
        if self._figure is None:
            return None
        return [self.plot, self.answers if self._figure.darts is None else self.darts]

    # -- assembling

    def _make_content(self) -> QWidget:
        self.column_box, self.class_box, self.draws = ComboBox(), ComboBox(), ComboBox()
        self.count = QLineEdit()
        named = (
            (self.column_box, "column", "Along column"), (self.class_box, "class", "Probability of"),
            (self.draws, "draws", "Training sets"), (self.count, "count", "How many training sets"),
        )  # fmt: skip
        for widget, name, spoken in named:
            widget.setObjectName(f"many_fits.{name}")
            widget.setAccessibleName(spoken)
            widget.setToolTip(spoken)
        self.column_box.activated.connect(self._on_column)
        self.class_box.activated.connect(self._on_class)
        self.draws.activated.connect(self._on_draws)
        self.count.textEdited.connect(lambda _text: self._show_state())
        self.count.editingFinished.connect(self._commit)
        self._two = QCheckBox("Two places")
        self._two.setObjectName("many_fits.two")
        self._two.clicked.connect(self._on_two)
        self._two.setToolTip("Show the answers at two places against each other; Shift moves the second one")
        self._says = ElidedLabel("", "secondary")
        self._says.setObjectName("many_fits.says")
        self._error = Label("", "danger", wrap=True)
        self._error.setObjectName("many_fits.error")
        self._error.hide()
        self.start: QPushButton = button("Fit", "primary", self.start_or_stop, "many_fits.start")
        self.start.setDefault(True)
        csv = bare_button("export", "Export curves as CSV", self._ask_export, "many_fits.csv")
        picture = bare_button("picture", "Export picture", self._export_picture, "many_fits.export")
        self._exporters = (csv, picture)
        strip = row(
            self.column_box, self.class_box, self.draws, self.count, Label("training sets", "secondary"),
            self._says, self._two, self.start, csv, picture, spacing=8,
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
        theme.changed.connect(self._dress)
        self._dress()
        return content

    def _dress(self) -> None:
        for box in (self.column_box, self.class_box, self.draws):
            box.setFixedWidth(min(box.room_wanted(), theme.scaled(180)))
        self.count.setFixedWidth(theme.scaled(COUNT_WIDTH))

    # -- what is asked

    @property
    def settings(self) -> ManyFitsSettings:
        """What was chosen, as far as it fits the table; else what is offered first."""
        return settings_for(self._context.document)

    def _set(self, words: str, **changes: Any) -> None:
        self._context.document.set_studies(words, many_fits=replace(self.settings, **changes))

    def _on_column(self, place: int) -> None:
        name = self._context.document.features[place]
        self._at = self._second = None
        self._set(f"Fit along {name}", column=name)

    def _on_class(self, place: int) -> None:
        label = self._context.document.classes[place]
        self._set(f"Draw {label}", label=label)

    def _on_draws(self, place: int) -> None:
        how = offered_draws(self._context.document)[place]
        self._set(f"Fit {TITLES[how].lower()}", how=how)

    def _typed(self) -> ManyFitsSettings:
        """Return what stands in the fields; raises ParameterError where it is no number of training sets."""
        text = self.count.text().strip().replace(",", "")
        if not text.isdecimal() or not FEWEST_SETS <= int(text) <= MOST_SETS:
            raise ParameterError(
                f"{self.count.text()!r} is no number of training sets; enter one from {FEWEST_SETS} to "
                f"{MOST_SETS:,}"
            )
        return replace(self.settings, n_sets=int(text))

    def _commit(self) -> None:
        try:
            settings = self._typed()
        except ParameterError:
            return
        if settings != self.settings:
            self._set(f"Draw {counted(settings.n_sets, 'training set')}", n_sets=settings.n_sets)

    def start_or_stop(self) -> None:
        """Begin with what stands in the fields, or end what runs."""
        if self._fits.current_job is not None:
            self._fits.stop()
            return
        self._commit()
        if not self._why():
            self._fits.start(self.settings)

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
        document, actions = self._context.document, self._context.actions
        if document.table is None or document.target is None or document.current_run is None:
            self._figure = None
            if document.table is None:
                self._empty.tell("No table yet.", "Open a file or a sample.", actions.get("action.file.open"))
            elif document.target is None:
                self._empty.tell("Nothing to predict yet.", "Choose it in Data, then add a model.", None)
            else:
                add = actions.get("action.model.add_tree")
                self._empty.tell("No model yet.", "Add one to fit it again and again.", add)
            self._switch.show_content(False)
            return
        self._switch.show_content(True)
        self._offer()
        self._draw()
        self._show_state()

    def _offer(self) -> None:
        document, settings = self._context.document, self.settings
        draws = offered_draws(document)
        offered = (tuple(document.features), document.classes, draws)
        if offered != self._offered:
            self._offered, self._at, self._second = offered, None, None
            lists = (document.features, document.classes, [TITLES[how] for how in draws])
            for box, names in zip((self.column_box, self.class_box, self.draws), lists, strict=True):
                box.clear()
                box.addItems(list(names))
            self._dress()
        self.column_box.setCurrentIndex(document.features.index(settings.column) if settings.column else -1)
        self.class_box.setVisible(bool(document.classes))
        if document.classes:
            self.class_box.setCurrentIndex(document.classes.index(settings.label))
        self.draws.setCurrentIndex(draws.index(settings.how))
        if not self.count.hasFocus() or self.count.text() == "":
            self.count.setText(str(settings.n_sets))

    def _why(self) -> str:
        """Return why pressing Fit would do nothing; empty where it would."""
        try:
            inputs_of(self._context.document, self._typed())
        except (DataError, ParameterError) as error:
            return str(error)
        return ""

    def _show_state(self) -> None:
        job = self._fits.current_job
        why = "" if job is not None else self._why()
        is_wrong = "is no number" in why
        if bool(self.count.property("invalid")) != is_wrong:
            self.count.setProperty("invalid", is_wrong)
            repolish(self.count)
        self._says.setText("" if job is None else job.progress.text)
        self._error.setText(sentence(why) if why else "")
        self._error.setVisible(bool(why))
        self.start.setText("Fit" if job is None else "Stop")
        self.start.setToolTip("Fit on every training set" if job is None else "Stop; what is done stays")
        self.start.setEnabled(job is not None or not why)

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
                figure = make_many_fits(
                    found, self._at, self._second, is_running=job is not None, remark=remark
                )
                self._figure = figure
                self.plot.set_figure(figure)
                self.answers.set_figure(figure.answers)
                if figure.darts is not None:
                    self.darts.set_figure(figure.darts)
                self.answers.setVisible(figure.darts is None)
                self.darts.setVisible(figure.darts is not None)
        self._two.setChecked(self._second is not None)
        self._two.setEnabled(found is not None)
        self._pictures.show_content(found is not None)
        for made in self._exporters:
            made.setEnabled(found is not None)

    # -- taking away

    def _export_picture(self) -> None:
        self._exports.ask(self, self._picture(), OF_ALL if self._figure is None else KEY)

    def _ask_export(self) -> None:
        ask_csv(self._context, self, "Export Curves", KEY, "Curves", self._csv_text)

    def _csv_text(self) -> str | None:
        found = self._fits.shown
        return None if found is None or self._figure is None else self._figure.to_csv(found.curves)
