"""The Tuning view: tries values of one or two settings on folds, draws them live, and takes one of them."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QBoxLayout, QStackedLayout, QWidget

from engine.errors import ParameterError
from engine.parameters import Parameter
from workbench.catalog import entry_of
from workbench.crossvalidation import N_FOLDS
from workbench.figures.tuning import TuningFigure, make_tuning
from workbench.figures.words import count, counted
from workbench.tuner import setting_words
from workbench.tuning import SCORINGS, Plan, Scoring, Tuning, what_changed
from workbench.tuning_grids import default_text, tunable_parameters
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.csv_export import ask_csv
from workbench.ui.exporting import PictureExports
from workbench.ui.forms.tuning_form import Draft, TuningForm, draft_of
from workbench.ui.plots.setting_plot import SettingPlot
from workbench.ui.plots.tuning import TuningCurvePlot
from workbench.ui.plots.tuning_map import TuningMapPlot
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import ElidedLabel, Label, bare_button, button, column, keep_room, row

START, BEST, ONE_SE, EXPORT = (
    f"action.tuning.{verb}" for verb in ("start", "take_best", "take_one_se", "export")
)
NOT_YET = "No setting was tried yet."
HOW = "Choose a setting and its values above and press Tune: each is tried on folds of the training rows."


class TuningPanel(QWidget):
    """Follows the current model; a search goes on, and is shown again, when another model is looked at."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.tuning")
        self._context = context
        self._drafts: dict[str, Draft] = {}  # by model, as a person left them
        self._offered: tuple[Any, ...] = ()  # what the form was filled for
        self._drawn: tuple[Any, ...] = ()
        self._add_actions()
        self.form = TuningForm()
        self.form.changed.connect(self._on_form_changed)
        self.curve, self.map = TuningCurvePlot(), TuningMapPlot()
        for plot in (self.curve, self.map):
            plot.setting_asked.connect(self._take)
        self._exports = PictureExports.of(context)
        self._exports.register(self, self._picture, "tuning")
        self._empty = EmptyState("tuning", "")
        self._switch = Switch(self._empty, self._make_content(), self)
        self.setLayout(column(self._switch))
        self._sight = Sight(self, self._refresh)
        document, tuner = context.document, context.tuner
        tuner.started.connect(self._take_plan)
        for signal in (
            document.table_changed, document.columns_changed, document.current_run_changed,
            tuner.started, tuner.ended,
        ):  # fmt: skip
            signal.connect(self._on_changed)
        document.run_changed.connect(self._on_run_changed)
        document.run_removed.connect(lambda run_id: self._drafts.pop(run_id, None))
        tuner.advanced.connect(self._on_advanced)
        self._on_changed()

    @property
    def figure(self) -> TuningFigure | None:
        """What is drawn now."""
        plot = self._picture()
        return None if plot is None else plot.figure

    def _picture(self) -> SettingPlot | None:
        if not (self._switch.shows_content and self._pictures.shows_content):
            return None
        return self.curve if self._plots.currentWidget() is self.curve else self.map

    # -- assembling

    def _add_actions(self) -> None:
        add = self._context.actions.add
        add(START, "Tune Settings", "Ctrl+T", self._start, "tuning",
            tip="Try the values of the Tuning view on folds of the training rows")  # fmt: skip
        add(BEST, "Take Best Setting", None, lambda: self._take_mark("best"), "done",
            tip="Set the model to the best setting that was tried")  # fmt: skip
        add(ONE_SE, "Take One-SE Setting", None, lambda: self._take_mark("one_se"), "done",
            tip="Set the model to the simplest setting within one standard error of the best")  # fmt: skip
        add(EXPORT, "Export Tuned Settings…", None, self._ask_export, "export",
            tip="Write every setting with its scores as CSV")  # fmt: skip

    def _make_content(self) -> QWidget:
        self._none_yet = EmptyState("tuning", NOT_YET, HOW)
        plots = QWidget()
        self._plots = QStackedLayout(plots)
        for plot in (self.curve, self.map):
            self._plots.addWidget(plot)
        self._pictures = Switch(self._none_yet, plots)
        self._error = Label("", "danger", wrap=True)
        self._error.setObjectName("tuning.error")
        self._error.hide()
        content = QWidget()
        head = QWidget()
        head.setLayout(column(self.form, self._make_strip(), self._error, margins=8, spacing=4))
        layout = column(head, self._pictures, spacing=0)
        layout.setStretch(1, 1)
        content.setLayout(layout)
        return content

    def _make_strip(self) -> QBoxLayout:
        self._says = ElidedLabel("", "secondary")
        self._says.setObjectName("tuning.says")
        actions = self._context.actions
        self._best = button("Best", "quiet", actions[BEST].trigger, "tuning.best")
        self._one_se = button("One SE", "quiet", actions[ONE_SE].trigger, "tuning.one_standard_error")
        for made, name in ((self._best, BEST), (self._one_se, ONE_SE)):
            made.setToolTip(actions[name].toolTip())
        self.start = button("Tune", "", self._start_or_stop, "tuning.start")
        self._dress()
        theme.changed.connect(self._dress)
        csv = bare_button("export", "Export settings as CSV", actions[EXPORT].trigger, "tuning.csv")
        picture = bare_button("picture", "Export picture", self._export_picture, "tuning.export")
        self._exporters = (csv, picture)
        for later in (self._best, self._one_se, csv, picture):
            keep_room(later)  # Stop must not move away from under the pointer when they come
        strip = row(
            self.form.score_box, self._says, self._best, self._one_se, self.start, *self._exporters, spacing=4
        )
        strip.setStretch(1, 1)
        return strip

    def _dress(self) -> None:
        """Let Tune and Stop be as wide, so that what stands beside them stays."""
        shown, widths = self.start.text(), []
        for text in ("Tune", "Stop"):
            self.start.setText(text)
            widths.append(self.start.sizeHint().width())
        self.start.setText(shown)
        self.start.setMinimumWidth(max(widths))

    # -- what is there

    def _on_changed(self, *_: object) -> None:
        self._sight.ask()
        self._enable()

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self._context.document.current_run_id:
            self._context.trainer.in_turn(self._on_changed)

    def _on_advanced(self, run_id: str) -> None:
        if run_id == self._context.document.current_run_id:
            self._on_changed()

    @property
    def _tuning(self) -> Tuning | None:
        run_id = self._context.document.current_run_id
        return None if run_id is None else self._context.tuner.shown(run_id)

    @property
    def _can_tune(self) -> bool:
        document = self._context.document
        if document.table is None or document.target is None or document.current_run is None:
            return False
        return bool(self._parameters())

    def _enable(self) -> None:
        tuning, tuner, enable = self._tuning, self._context.tuner, self._context.actions.enable
        search = None if tuning is None else tuning.search
        enable(START, self._can_tune and tuner.current_run_id is None)
        enable(BEST, search is not None and search.best is not None)
        enable(ONE_SE, search is not None and search.one_standard_error is not None)
        enable(EXPORT, search is not None)

    def _refresh(self) -> None:
        if not self._can_tune:
            self._say_what_is_missing()
            return
        self._switch.show_content(True)
        self._offer()
        self._draw()
        self._show_state()

    def _say_what_is_missing(self) -> None:
        document, actions = self._context.document, self._context.actions
        if document.table is None and document.current_run is not None:
            how = "Open the project it came from."
            self._empty.tell(
                "A model file has no rows to try settings on.", how, actions.get("action.file.open")
            )
        elif document.table is None:
            self._empty.tell("No table yet.", "Open a file or a sample.", actions.get("action.file.open"))
        elif document.target is None:
            self._empty.tell(
                "Nothing to predict yet.", "Choose it in Data, then add a model to tune it.", None
            )
        elif document.current_run is None:
            add = actions.get("action.model.add_tree")
            self._empty.tell("No model yet. Add one to tune its settings.", "", add)
        else:
            entry = entry_of(document.current_run.spec.kind)
            why = entry.why_not(document.task) or f"{entry.subject} has no setting to tune"
            self._empty.tell(f"{why[:1].upper()}{why[1:]}.", "", None)
        self._switch.show_content(False)

    # -- the form

    def _offer(self) -> None:
        """Fill the form where it is for another model, or may offer something else by now."""
        document = self._context.document
        run = document.current_run
        assert run is not None
        parameters = self._parameters()
        wanted = (run.run_id, document.task, parameters, len(document.classes), len(document.features))
        if wanted == self._offered:
            return
        self._offered = wanted
        self.form.offer(parameters, self._scorings(), self._draft(parameters), self._default_text)

    def _parameters(self) -> tuple[Parameter, ...]:
        document = self._context.document
        run, table = document.current_run, document.table
        assert run is not None
        assert table is not None
        if entry_of(run.spec.kind).why_not(document.task):
            return ()
        kinds = [table.column(name).kind for name in document.features]
        return tunable_parameters(
            run.spec.kind, document.task, run.spec.parameters, len(document.classes),
            has_categories=any(kind not in ("number", "date") for kind in kinds),
        )  # fmt: skip

    def _scorings(self) -> tuple[Scoring, ...]:
        document = self._context.document
        return SCORINGS[document.task]

    def _draft(self, parameters: tuple[Parameter, ...]) -> Draft:
        """Return the model's draft, else its last search's, as far as they can still be tuned."""
        document = self._context.document
        run = document.current_run
        assert run is not None
        known = {parameter.name: parameter for parameter in parameters}
        draft = self._drafts.get(run.run_id)
        if draft is None and run.tuning is not None and run.tuning.task == document.task:
            draft = draft_of(run.tuning.plan, known)
        if draft is None or not draft.names or not all(name in known for name in draft.names):
            metric = self._scorings()[0].metric
            draft = Draft((parameters[0].name,), (self._default_text(parameters[0]),), metric)
        return draft

    def _take_plan(self, run_id: str) -> None:
        """Show in the form what is tried, where an experiment began the search and not the form."""
        document, plan = self._context.document, self._context.tuner.current_plan
        if plan is None or (run_id == document.current_run_id and self._form_plan() == plan):
            return
        entry = entry_of(document.run(run_id).spec.kind)
        self._drafts[run_id] = draft_of(plan, {p.name: p for p in entry.parameters(document.task)})
        self._offered = ()

    def _form_plan(self) -> Plan | None:
        """What the form asks for; None while nothing is offered, or where that is no plan."""
        try:
            return self.form.plan() if self._offered else None
        except ParameterError:
            return None

    def _default_text(self, parameter: Parameter) -> str:
        document = self._context.document
        run = document.current_run
        assert run is not None
        return default_text(parameter, run.spec.parameters, len(document.features))

    def _on_form_changed(self) -> None:
        run_id = self._context.document.current_run_id
        if run_id is not None:
            self._drafts[run_id] = self.form.draft
            self._show_state()

    def _show_state(self) -> None:
        """Say what runs, or what pressing Tune would do, or why it would not."""
        tuner, document = self._context.tuner, self._context.document
        is_running, busy_with = self._is_running, tuner.current_run_id
        error, says = "", ""
        try:
            plan = self.form.plan()
            says = f"{counted(plan.n_settings, 'setting')}, {count(plan.n_settings * N_FOLDS)} trainings"
        except ParameterError as refusal:
            error = str(refusal)
        if is_running and tuner.current_job is not None:
            says = tuner.current_job.progress.text
        elif busy_with is not None:
            says = f"{document.run(busy_with).name} is being tuned"
        self._says.setText(says)
        self._error.setText(error[:1].upper() + error[1:] + "." if error else "")
        self._error.setVisible(bool(error))
        self.start.setText("Stop" if is_running else "Tune")
        self.start.setEnabled(is_running or (not error and busy_with is None))
        self.start.setToolTip(
            "Stop; what is done stays" if is_running else self._context.actions[START].toolTip()
        )

    @property
    def _is_running(self) -> bool:
        run_id = self._context.document.current_run_id
        return run_id is not None and run_id == self._context.tuner.current_run_id

    def _start_or_stop(self) -> None:
        if self._is_running:
            self._context.tuner.stop()
        else:
            self._start()

    def _start(self) -> None:
        document = self._context.document
        run = document.current_run
        if run is None or not self._can_tune:
            return
        self._offer()  # the view may not have been looked at yet
        try:
            plan = self.form.plan()
        except ParameterError as error:
            document.post_message(f"{run.name} cannot be tuned: {error}")
            return
        self._context.tuner.start(run.run_id, plan)

    # -- the picture

    def _draw(self) -> None:
        document, tuning = self._context.document, self._tuning
        run = document.current_run
        assert run is not None
        self._pictures.show_content(tuning is not None)
        for made in (self._best, self._one_se, *self._exporters):
            made.setVisible(tuning is not None)
        if tuning is None:
            self._drawn = ()
            self._none_yet.say(
                *(("The first setting is being tried.", "") if self._is_running else (NOT_YET, HOW))
            )
            return
        self._best.setEnabled(tuning.search.best is not None)
        self._one_se.setEnabled(tuning.search.one_standard_error is not None)
        remark = what_changed(tuning, document, run.spec)
        wanted = (tuning.search, run.name, run.spec, remark, self._is_running)
        plot = self.curve if len(tuning.search.names) == 1 else self.map
        if wanted != self._drawn or self._plots.currentWidget() is not plot:
            self._drawn = wanted
            plot.set_figure(
                make_tuning(run.name, tuning, run.spec.parameters, is_running=self._is_running, remark=remark)
            )
            self._plots.setCurrentWidget(plot)

    def _take_mark(self, name: str) -> None:
        tuning = self._tuning
        if tuning is not None:
            search = tuning.search
            setting = search.best if name == "best" else search.one_standard_error
            if setting is not None:
                self._take(setting)

    def _take(self, setting: int) -> None:
        """Set the model to what was tried; one undo step."""
        document, tuning = self._context.document, self._tuning
        run = document.current_run
        if tuning is None or run is None:
            return
        words = setting_words(tuning, setting)
        try:
            is_new = document.set_parameters(run.run_id, tuning.search.settings[setting], f"Take {words}")
        except ParameterError as error:
            document.post_message(f"{run.name}: {words} cannot be taken: {error}")
            return
        told = (
            f"{words} taken; train it to use that, Undo takes it back."
            if is_new
            else f"it has {words} already."
        )
        document.post_message(f"{run.name}: {told}")

    # -- taking away

    def _export_picture(self) -> None:
        self._exports.ask(self, self._picture(), "tuning")

    def _ask_export(self) -> None:
        ask_csv(self._context, self, "Export Tuned Settings", "tuning", "Settings", self._csv_text)

    def _csv_text(self) -> str | None:
        run = self._context.document.current_run
        if self._tuning is None or run is None:
            return None
        return make_tuning(run.name, self._tuning, run.spec.parameters).to_csv()
