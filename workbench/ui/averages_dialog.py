"""The Variance of a Forest window: how much averaging more trees helps, and where it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from engine.errors import DataError, ParameterError
from workbench.bias_variance import FEWEST_SETS, MOST_SETS, TITLES
from workbench.bias_variance_choice import offered_draws
from workbench.figures.tree_averages import AveragesFigure, make_averages
from workbench.figures.words import counted, sentence
from workbench.tree_averages import (
    KINDS,
    AveragesSettings,
    inputs_of,
    read_counts,
    settings_for,
    what_changed,
)
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.csv_export import ask_csv
from workbench.ui.exporting import OF_ALL, PictureExports
from workbench.ui.inputs import ComboBox
from workbench.ui.plots.tree_averages import AveragesPlot
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.study_dialog import StudyDialog
from workbench.ui.widgets import ElidedLabel, Label, bare_button, button, column, repolish, row

KEY = "averages"
SIZE = QSize(980, 580)
COUNT_WIDTH = 56
NOT_YET = "Nothing was fitted yet."
HOW = (
    "Press Fit: a forest is grown on many training sets, and the variance of its first trees' mean measured."
)


class AveragesDialog(StudyDialog):
    """Follows the table and the current model; settings are changed in undoable steps."""

    def __init__(self, context: Context, window: QWidget) -> None:
        super().__init__(context, window, KEY, "Variance of a Forest", SIZE)
        self._averages = averages = context.averages
        self._drawn: tuple[Any, ...] = ()
        self._offered: tuple[Any, ...] = ()
        self._figure: AveragesFigure | None = None
        self.plot = AveragesPlot()
        self._exports = PictureExports.of(context)
        self._exports.register(self, self._picture, KEY)
        self._empty = EmptyState(KEY, "")
        self._switch = Switch(self._empty, self._make_content())
        self.setLayout(column(self._switch))
        self._sight = Sight(self, self._refresh)
        document = context.document
        for signal in (
            document.table_changed, document.columns_changed, document.studies_changed, document.run_added,
            document.run_removed, document.run_changed, document.current_run_changed, averages.advanced,
        ):  # fmt: skip
            signal.connect(self._sight.ask)
        self._sight.ask()

    @property
    def figure(self) -> AveragesFigure | None:
        """What is drawn now."""
        return self._figure

    def _picture(self) -> AveragesPlot | None:
        return None if self._figure is None else self.plot

    # -- assembling

    def _make_content(self) -> QWidget:
        self.trees, self.draws, self.count = QLineEdit(), ComboBox(), QLineEdit()
        named = (
            (self.trees, "trees", "Numbers of trees"), (self.draws, "draws", "Training sets"),
            (self.count, "count", "How many training sets"),
        )  # fmt: skip
        for widget, name, spoken in named:
            widget.setObjectName(f"averages.{name}")
            widget.setAccessibleName(spoken)
            widget.setToolTip(spoken)
        for edit in (self.trees, self.count):
            edit.textEdited.connect(lambda _text: self._show_state())
            edit.editingFinished.connect(self._commit)
        self.draws.activated.connect(self._on_draws)
        self._says = ElidedLabel("", "secondary")
        self._says.setObjectName("averages.says")
        self._error = Label("", "danger", wrap=True)
        self._error.setObjectName("averages.error")
        self._error.hide()
        self.start: QPushButton = button("Fit", "primary", self.start_or_stop, "averages.start")
        self.start.setDefault(True)
        csv = bare_button("export", "Export variances as CSV", self._ask_export, "averages.csv")
        picture = bare_button("picture", "Export picture", self._export_picture, "averages.export")
        self._exporters = (csv, picture)
        counts = row(Label("Trees", "name"), self.trees, spacing=8)
        counts.setStretch(1, 1)
        strip = row(
            self.draws, self.count, Label("training sets", "secondary"), self._says, self.start, csv,
            picture, spacing=8,
        )  # fmt: skip
        strip.setStretch(3, 1)
        head = QWidget()
        head.setLayout(column(counts, strip, self._error, margins=theme.PANEL_PADDING, spacing=8))
        self._none_yet = EmptyState(KEY, NOT_YET, HOW)
        self._pictures = Switch(self._none_yet, self.plot)
        content, layout = QWidget(), column(head, self._pictures, spacing=0)
        layout.setStretch(1, 1)
        content.setLayout(layout)
        theme.changed.connect(self._dress)
        self._dress()
        return content

    def _dress(self) -> None:
        self.draws.setFixedWidth(self.draws.room_wanted())
        self.count.setFixedWidth(theme.scaled(COUNT_WIDTH))

    # -- what is asked

    @property
    def settings(self) -> AveragesSettings:
        """What was chosen, as far as it fits the table; else what is offered first."""
        return settings_for(self._context.document)

    def _typed(self) -> AveragesSettings:
        """Return what stands in the fields; raises ParameterError where it is no setting."""
        text = self.count.text().strip().replace(",", "")
        if not text.isdecimal() or not FEWEST_SETS <= int(text) <= MOST_SETS:
            raise ParameterError(
                f"{self.count.text()!r} is no number of training sets; enter one from {FEWEST_SETS} to "
                f"{MOST_SETS:,}"
            )
        return replace(self.settings, n_sets=int(text), n_trees=read_counts(self.trees.text()))

    def _commit(self) -> None:
        try:
            settings = self._typed()
        except ParameterError:
            return
        if settings != self.settings:
            is_of_trees = settings.n_trees != self.settings.n_trees
            words = (
                "Average other numbers of trees"
                if is_of_trees
                else (f"Draw {counted(settings.n_sets, 'training set')}")
            )
            self._context.document.set_studies(words, averages=settings)

    def _on_draws(self, place: int) -> None:
        how = offered_draws(self._context.document)[place]
        words = f"Average over {TITLES[how].lower()}"
        self._context.document.set_studies(words, averages=replace(self.settings, how=how))

    def start_or_stop(self) -> None:
        """Begin with what stands in the fields, or end what runs."""
        if self._averages.current_job is not None:
            self._averages.stop()
            return
        self._commit()
        if not self._why():
            self._averages.start(self.settings)

    # -- what is shown

    def _refresh(self) -> None:
        document, actions = self._context.document, self._context.actions
        run = document.current_run
        if document.table is None or document.target is None or run is None or run.spec.kind not in KINDS:
            self._figure = None
            if document.table is None:
                self._empty.tell("No table yet.", "Open a file or a sample.", actions.get("action.file.open"))
            elif document.target is None:
                self._empty.tell("Nothing to predict yet.", "Choose it in Data, then add a forest.", None)
            else:
                how = "Choose a random forest, extra trees or bagging, or add one."
                self._empty.tell("Averages of trees are looked at here.", how, None)
            self._switch.show_content(False)
            return
        self._switch.show_content(True)
        draws, settings = offered_draws(document), self.settings
        if draws != self._offered:
            self._offered = draws
            self.draws.clear()
            self.draws.addItems([TITLES[how] for how in draws])
            self._dress()
        self.draws.setCurrentIndex(draws.index(settings.how))
        texts = ((self.trees, ", ".join(map(str, settings.n_trees))), (self.count, str(settings.n_sets)))
        for edit, text in texts:
            if not edit.hasFocus() or edit.text() == "":
                edit.setText(text)
        self._draw()
        self._show_state()

    def _why(self) -> str:
        """Return why pressing Fit would do nothing; empty where it would."""
        try:
            inputs_of(self._context.document, self._typed())
        except (DataError, ParameterError) as error:
            return str(error)
        return ""

    def _show_state(self) -> None:
        job = self._averages.current_job
        why = "" if job is not None else self._why()
        is_of_sets = "training sets" in why
        for edit, is_wrong in ((self.count, is_of_sets), (self.trees, "of trees" in why and not is_of_sets)):
            if bool(edit.property("invalid")) != is_wrong:
                edit.setProperty("invalid", is_wrong)
                repolish(edit)
        self._says.setText("" if job is None else job.progress.text)
        self._error.setText(sentence(why) if why else "")
        self._error.setVisible(bool(why))
        self.start.setText("Fit" if job is None else "Stop")
        self.start.setToolTip("Fit on every training set" if job is None else "Stop; what is done stays")
        self.start.setEnabled(job is not None or not why)

    def _draw(self) -> None:
        found, job = self._averages.shown, self._averages.current_job
        if found is None:
            self._figure, self._drawn = None, ()
            self._none_yet.say(
                *(("The first forests are being grown.", "") if job is not None else (NOT_YET, HOW))
            )
        else:
            remark = "" if job is not None else what_changed(found, self._context.document, self.settings)
            wanted = (found, remark, job is not None)
            if wanted != self._drawn:
                self._drawn = wanted
                self._figure = make_averages(found, is_running=job is not None, remark=remark)
                self.plot.set_figure(self._figure)
        self._pictures.show_content(found is not None)
        for made in self._exporters:
            made.setEnabled(found is not None)

    # -- taking away

    def _export_picture(self) -> None:
        self._exports.ask(self, self._picture(), OF_ALL if self._figure is None else KEY)

    def _ask_export(self) -> None:
        ask_csv(self._context, self, "Export Variances", KEY, "Variances", self._csv_text)

    def _csv_text(self) -> str | None:
        return None if self._figure is None else self._figure.to_csv()
