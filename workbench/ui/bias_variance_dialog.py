"""The Bias and Variance window: where errors come from, along a setting or of every model, live."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLineEdit, QWidget

from engine.errors import ParameterError
from workbench.bias_variance import (
    BiasVarianceFound,
    BiasVarianceInputs,
    BiasVarianceSettings,
    found_already,
    inputs_of,
    what_changed,
)
from workbench.bias_variance_choice import first_values, offered_parameters, settings_for, value_now
from workbench.experiments import experiment_of
from workbench.figures.bias_variance import BiasVarianceFigure, make_bias_variance
from workbench.figures.words import counted
from workbench.setting_reach import reach_of
from workbench.setting_words import within
from workbench.tuning_grids import values_text
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.experiment_bar import LOOK, ExperimentBar
from workbench.ui.forms.grid_line import GridLine
from workbench.ui.plots.bias_variance import BiasVariancePlot
from workbench.ui.refit_dialog import RefitDialog
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import Label, column, row

KEY = "bias_variance"
SIZE = QSize(980, 620)
MODELS = "the models of the list"
NOT_YET = "Nothing was fitted yet."
HOW = (
    "Choose a setting above, or the models of the list, and press Vary: each is fitted on many training "
    "sets, and its error parted into bias and variance; noise stands apart where the truth is known."
)


class BiasVarianceDialog(RefitDialog):
    """Along a setting of the current model, or of all models of the list."""

    verb = "Vary"
    _figure: BiasVarianceFigure | None = None

    def __init__(self, context: Context, window: QWidget) -> None:
        self._laboratory = context.laboratory
        self._offered: tuple[object, ...] = ()
        self._asked: tuple[object, ...] = ()  # what `_known` was looked up for
        self._known: BiasVarianceFound | None = None
        super().__init__(context, window, KEY, "Bias and Variance", SIZE, context.laboratory, inputs_of)
        self._look_action = context.actions[LOOK]
        self.look = ExperimentBar(self._look_action.trigger)
        self._look_action.toggled.connect(self._show_look)
        layout = column(self.look, self._switch)
        layout.setStretch(1, 1)
        self.setLayout(layout)
        self.line.box.setFocus()  # not the bar's button, which is the first
        self._sight.ask()

    @property
    def figure(self) -> BiasVarianceFigure | None:
        """What is drawn now."""
        return self._figure

    @property
    def settings(self) -> BiasVarianceSettings:
        """What was chosen, as far as it fits the current model; else what is offered first."""
        return settings_for(self._context.document)

    def _picture(self) -> BiasVariancePlot | None:
        return None if self._figure is None else self.plot

    def _csv_text(self) -> str | None:
        return None if self._figure is None else self._figure.to_csv()

    # -- assembling

    def _make_content(self) -> QWidget:
        self.line = GridLine(KEY, "", "What is varied", "Values to try", MODELS)
        self.plot = BiasVariancePlot()
        self._watch(self.line.edit)
        self.line.box.activated.connect(lambda _place: self._commit())  # typed values wait for Enter
        self.plot.setting_asked.connect(self._take)
        self.plot.ends_asked.connect(self._on_ends)
        strip = row(
            self.draws, self.count, Label("training sets", "secondary"), self._says, self.start,
            *self._exporters, spacing=8,
        )  # fmt: skip
        strip.setStretch(3, 1)
        head = QWidget()
        head.setLayout(column(self.line, strip, self._error, margins=theme.PANEL_PADDING, spacing=8))
        self._none_yet = EmptyState(KEY, NOT_YET, HOW)
        self._pictures = Switch(self._none_yet, self.plot)
        content, layout = QWidget(), column(head, self._pictures, spacing=0)
        layout.setStretch(1, 1)
        content.setLayout(layout)
        return content

    def _dress(self) -> None:
        super()._dress()
        self.line.box.setFixedWidth(self.line.box.room_wanted())

    # -- what is asked

    def _typed(self) -> BiasVarianceSettings:
        settings: BiasVarianceSettings = super()._typed()
        parameter = self.line.parameter
        name = "" if parameter is None else parameter.name
        return replace(settings, parameter=name, values=self.line.values())

    def _words_of(self, settings: BiasVarianceSettings) -> str:
        now = self.settings
        if settings.parameter != now.parameter:
            return "Vary something else"
        return "Vary other values" if settings.values != now.values else super()._words_of(settings)

    def _idle_text(self, inputs: BiasVarianceInputs) -> str:
        settings = inputs.settings
        values = counted(len(settings.values), "value" if settings.parameter else "model")
        return f"{values} on each of {counted(settings.n_sets, 'training set')}"

    def _marks(self, why: str) -> dict[QLineEdit, bool]:
        self.line.mark()
        return super()._marks(why)

    def _on_ends(self, first: int, last: int) -> None:
        """Vary from one place to another, and find what is missing there."""
        figure = self._figure
        if figure is None or figure.reach is None:
            return
        values = figure.reach.between(first, last)
        self._set(f"Vary {within(figure.ends_text(first, last))}", replace(self.settings, values=values))
        self._laboratory.go_on(self.settings)

    def _take(self, place: int) -> None:
        """Set the current model to a value, in one undo step; of models, make that one the current one."""
        document, found = self._context.document, self._found()
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
            self._say_what_is_missing("No model yet.", "Add one to study its errors.")
            return
        self._switch.show_content(True)
        self._offer_draws()
        self._offer_parameters()
        self._draw()
        self._show_state()

    def _offer_parameters(self) -> None:
        """Show what is varied, and what may be instead."""
        document, settings = self._context.document, self.settings
        parameters = offered_parameters(document)
        offered = (document.current_run_id, document.task, parameters)
        is_new = offered != self._offered
        if is_new:
            self._offered = offered
            self.line.offer(parameters, lambda p: values_text(p, first_values(document, p)))
            self._told.pop(self.line.edit, None)
            self._dress()
        varied = next((p for p in parameters if p.name == settings.parameter), None)
        text = "" if varied is None else values_text(varied, settings.values)
        if is_new or self.line.parameter != varied:
            self.line.show_choice(settings.parameter or None, text)
        self._show_text(self.line.edit, text)

    def _found(self) -> BiasVarianceFound | None:
        """What is to be seen: where settings were undone of which all is known still, that."""
        found = self._laboratory.shown
        if found is None or self._laboratory.current_job is not None or found.settings == self.settings:
            return found
        asked = found, self.settings
        if asked != self._asked:
            self._asked, self._known = asked, found_already(self._context.document, self.settings)
        return self._known or found

    def _draw(self) -> None:
        document, found = self._context.document, self._found()
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
