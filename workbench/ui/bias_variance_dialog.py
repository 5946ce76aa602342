"""The Bias and Variance window: where errors come from, along a setting or of every model, live."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPushButton, QWidget

from engine.errors import DataError, ParameterError
from workbench.bias_variance import BiasVarianceFound, BiasVarianceSettings, inputs_of, what_changed
from workbench.bias_variance_choice import settings_for, value_now
from workbench.experiments import experiment_of
from workbench.figures.bias_variance import BiasVarianceFigure, make_bias_variance
from workbench.figures.words import counted, sentence
from workbench.setting_reach import reach_of
from workbench.setting_words import within
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.csv_export import ask_csv
from workbench.ui.experiment_bar import LOOK, ExperimentBar
from workbench.ui.exporting import OF_ALL, PictureExports
from workbench.ui.forms.bias_variance_form import BiasVarianceForm
from workbench.ui.plots.bias_variance import BiasVariancePlot
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.study_dialog import StudyDialog
from workbench.ui.widgets import ElidedLabel, Label, bare_button, button, column, row

KEY = "bias_variance"
SIZE = QSize(980, 620)
NOT_YET = "Nothing was fitted yet."
HOW = (
    "Choose a setting above, or the models of the list, and press Vary: each is fitted on many training "
    "sets, and its error parted into bias, variance and noise."
)


class BiasVarianceDialog(StudyDialog):
    """Follows the table and the current model; settings are changed in undoable steps."""

    def __init__(self, context: Context, window: QWidget) -> None:
        super().__init__(context, window, KEY, "Bias and Variance", SIZE)
        self._laboratory = laboratory = context.laboratory
        self._typed_error = ""
        self._drawn: tuple[Any, ...] = ()
        self._figure: BiasVarianceFigure | None = None
        self.form, self.plot = BiasVarianceForm(), BiasVariancePlot()
        self.form.edited.connect(self._on_edited)
        self.form.refused.connect(self._on_refused)
        self.plot.setting_asked.connect(self._take)
        self.plot.ends_asked.connect(self._on_ends)
        self._exports = PictureExports.of(context)
        self._exports.register(self, self._picture, KEY)
        self._empty = EmptyState(KEY, "")
        self._switch = Switch(self._empty, self._make_content())
        self._look_action = context.actions[LOOK]
        self.look = ExperimentBar(self._look_action.trigger)
        self._look_action.toggled.connect(self._show_look)
        layout = column(self.look, self._switch)
        layout.setStretch(1, 1)
        self.setLayout(layout)
        self.form.line.box.setFocus()  # not the bar's button, which is the first
        self._sight = Sight(self, self._refresh)
        document = context.document
        for signal in (
            document.table_changed, document.columns_changed, document.studies_changed, document.run_added,
            document.run_removed, document.run_changed, document.current_run_changed, laboratory.advanced,
        ):  # fmt: skip
            signal.connect(self._sight.ask)
        self._sight.ask()

    @property
    def figure(self) -> BiasVarianceFigure | None:
        """What is drawn now."""
        return self._figure

    def _picture(self) -> BiasVariancePlot | None:
        return None if self._figure is None else self.plot

    # -- assembling

    def _make_content(self) -> QWidget:
        self._error = Label("", "danger", wrap=True)
        self._error.setObjectName("bias_variance.error")
        self._error.hide()
        self._says = ElidedLabel("", "secondary")
        self._says.setObjectName("bias_variance.says")
        self.start: QPushButton = button("Vary", "primary", self.start_or_stop, "bias_variance.start")
        self.start.setDefault(True)
        csv = bare_button("export", "Export parts as CSV", self._ask_export, "bias_variance.csv")
        picture = bare_button("picture", "Export picture", self._export_picture, "bias_variance.export")
        self._exporters = (csv, picture)
        strip = row(self.form.numbers, self._says, self.start, csv, picture, spacing=8)
        strip.setStretch(1, 1)
        head = QWidget()
        head.setLayout(column(self.form, strip, self._error, margins=theme.PANEL_PADDING, spacing=8))
        self._none_yet = EmptyState(KEY, NOT_YET, HOW)
        self._pictures = Switch(self._none_yet, self.plot)
        content, layout = QWidget(), column(head, self._pictures, spacing=0)
        layout.setStretch(1, 1)
        content.setLayout(layout)
        return content

    # -- what is asked

    @property
    def settings(self) -> BiasVarianceSettings:
        """What was chosen, as far as it fits the current model; else what is offered first."""
        return settings_for(self._context.document)

    def _on_edited(self, text: str, settings: BiasVarianceSettings) -> None:
        self._context.document.set_studies(text, bias_variance=settings)

    def _on_refused(self, why: str) -> None:
        self._typed_error = why
        self._show_state()

    def start_or_stop(self) -> None:
        """Begin with what stands in the fields, or end what runs."""
        if self._laboratory.current_job is not None:
            self._laboratory.stop()
            return
        self.form.commit()
        if not self._typed_error:
            self._laboratory.start(self.settings)

    def _on_ends(self, first: int, last: int) -> None:
        """Vary from one place to another, and find what is missing there."""
        figure = self._figure
        if figure is None or figure.reach is None:
            return
        values = figure.reach.between(first, last)
        words = f"Vary {within(figure.ends_text(first, last))}"
        self._context.document.set_studies(words, bias_variance=replace(self.settings, values=values))
        self._laboratory.go_on(self.settings)

    # -- what is shown

    def _show_look(self) -> None:
        """Say here too what to look at, where an experiment is about these parts."""
        experiment = experiment_of(self._context.document)
        if experiment is not None and experiment.study is not None and self._look_action.isChecked():
            self.look.show_experiment(experiment)
        else:
            self.look.hide()

    def _refresh(self) -> None:
        self._show_look()
        document = self._context.document
        if document.table is None or document.target is None or document.current_run is None:
            self._say_what_is_missing()
            return
        self._switch.show_content(True)
        self.form.show_settings(document, self.settings)
        self._draw()
        self._show_state()

    def _say_what_is_missing(self) -> None:
        document, actions = self._context.document, self._context.actions
        self._figure = None
        if document.table is None:
            self._empty.tell("No table yet.", "Open a file or a sample.", actions.get("action.file.open"))
        elif document.target is None:
            self._empty.tell("Nothing to predict yet.", "Choose it in Data, then add a model.", None)
        else:
            self._empty.tell("No model yet.", "Add one to study its errors.",
                             actions.get("action.model.add_tree"))  # fmt: skip
        self._switch.show_content(False)

    def _show_state(self) -> None:
        """Say what runs, or what pressing Vary would do, or why it would not."""
        job, document = self._laboratory.current_job, self._context.document
        why, says = self._typed_error, ""
        if not why and job is None and document.current_run is not None:
            try:
                inputs = inputs_of(document, self.settings)
                n_values, n_sets = len(inputs.settings.values), inputs.settings.n_sets
                of = "model" if not self.settings.parameter else "value"
                says = f"{counted(n_values, of)} on each of {counted(n_sets, 'training set')}"
            except (DataError, ParameterError) as error:
                why = str(error)
        if job is not None:
            says = job.progress.text
        self._says.setText(says)
        self._error.setText(sentence(why) if why else "")
        self._error.setVisible(bool(why))
        self.start.setText("Vary" if job is None else "Stop")
        self.start.setToolTip("Fit on every training set" if job is None else "Stop; what is done stays")
        self.start.setEnabled(job is not None or not why)

    def _draw(self) -> None:
        document, found = self._context.document, self._laboratory.shown
        is_running = self._laboratory.current_job is not None
        if found is None:
            self._figure, self._drawn = None, ()
            self._none_yet.say(*(("The first fits are being made.", "") if is_running else (NOT_YET, HOW)))
        else:
            remark = "" if is_running else what_changed(found, document, self.settings)
            now, reach = self._value_now(found), reach_of(document, found, self.settings)
            wanted = (found, remark, now, is_running, reach)
            if wanted != self._drawn:
                self._drawn = wanted
                self._figure = make_bias_variance(
                    found, now=now, is_running=is_running, remark=remark, reach=reach
                )
                self.plot.set_figure(self._figure)
        self._pictures.show_content(found is not None)
        for made in self._exporters:
            made.setEnabled(found is not None)

    def _value_now(self, found: BiasVarianceFound) -> int | None:
        """The value that the current model has; None where it has no such setting."""
        try:
            return value_now(self._context.document, found.settings)
        except ParameterError:
            return None

    def _take(self, place: int) -> None:
        """Set the current model to a value, in one undo step; of models, make that one the current one."""
        document, found = self._context.document, self._laboratory.shown
        run = document.current_run
        if found is None or run is None:
            return
        name, value = found.settings.parameter, found.settings.values[place]
        if not name:
            if value in document.runs:
                document.select_run(value)
            return
        words = f"{found.axis.name} {found.axis.words[found.axis.place[place]]}"
        try:
            document.set_parameters(run.run_id, {name: value}, f"Take {words}")
        except ParameterError as error:
            document.post_message(f"{run.name}: {words} cannot be taken: {error}")

    # -- taking away

    def _export_picture(self) -> None:
        self._exports.ask(self, self._picture(), OF_ALL if self._figure is None else KEY)

    def _ask_export(self) -> None:
        ask_csv(self._context, self, "Export Parts of the Error", KEY, "Parts", self._csv_text)

    def _csv_text(self) -> str | None:
        return None if self._figure is None else self._figure.to_csv()
