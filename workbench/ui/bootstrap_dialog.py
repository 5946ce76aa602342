"""The Bootstrap window: a statistic of the table, its resamples live, standard error, bias and intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from engine.bootstrap.expression import quoted
from engine.errors import DataError, ParameterError
from workbench.bootstrap import (
    EXPRESSION,
    SCORE,
    BootstrapInputs,
    BootstrapSettings,
    class_columns,
    first_bootstrap,
    inputs_of,
    metrics_of,
    number_columns,
    with_fitting_column,
)
from workbench.bootstrap_work import BootstrapFound, what_changed
from workbench.datasets import Table
from workbench.figures.bootstrap import BootstrapFigure, make_bootstrap
from workbench.figures.words import sentence
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.csv_export import ask_csv
from workbench.ui.exporting import OF_ALL, PictureExports
from workbench.ui.forms.bootstrap_form import BootstrapForm
from workbench.ui.plots.histogram import HistogramPlot
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.study_dialog import StudyDialog
from workbench.ui.widgets import ElidedLabel, Label, bare_button, button, clear, column, row

KEY = "bootstrap"
SIZE = QSize(1000, 620)
LINES_A_ROW = 3
NUMBERS_WIDTH = 150
NOT_YET = "No resample was drawn yet."
HOW = "Choose a statistic above and press Resample: its rows are drawn again and again, with replacement."


class BootstrapDialog(StudyDialog):
    """Follows the table; what is asked is set in undoable steps, and drawn in a worker."""

    def __init__(self, context: Context, window: QWidget) -> None:
        super().__init__(context, window, KEY, "Bootstrap", SIZE)
        self._resampler = resampler = context.resampler
        self._drawn: tuple[Any, ...] = ()
        self._typed_error = ""
        self._typed_expression: str | None = None
        self._shown: tuple[Any, ...] = ()  # what the form was filled with
        self._checked: tuple[Any, ...] = ()  # what `_why` was found for
        self._compared: tuple[Any, ...] = ()  # what `_changed` was found for
        self._changed = ""
        self._inputs: BootstrapInputs | None = None  # of what was checked last
        self._why = ""
        self.form = BootstrapForm()
        self.form.edited.connect(self._on_edited)
        self.form.refused.connect(self._on_refused)
        self.form.expression_typed.connect(self._on_expression_typed)
        self.plot, self.fresh = HistogramPlot("bootstrap.resamples"), HistogramPlot("bootstrap.fresh")
        self._figure: BootstrapFigure | None = None
        self._exports = PictureExports.of(context)
        self._exports.register(self, self._picture, KEY)
        self._empty = EmptyState("bootstrap", "No table yet.", "Open a file or a sample.")
        self._switch = Switch(self._empty, self._make_content())
        self.setLayout(column(self._switch))
        self._sight = Sight(self, self._refresh)
        document = context.document
        for signal in (
            document.table_changed, document.columns_changed, document.studies_changed, document.run_added,
            document.run_removed, document.run_changed, resampler.advanced,
        ):  # fmt: skip
            signal.connect(self._sight.ask)
        self._sight.ask()

    @property
    def figure(self) -> BootstrapFigure | None:
        """What is drawn now."""
        return self._figure

    def _picture(self) -> list[HistogramPlot] | None:
        if self._figure is None:
            return None
        return [self.plot] if self._figure.fresh is None else [self.fresh, self.plot]

    # -- assembling

    def _make_content(self) -> QWidget:
        self._error = Label("", "danger", wrap=True)
        self._error.setObjectName("bootstrap.error")
        self._says = ElidedLabel("", "secondary")
        self._says.setObjectName("bootstrap.says")
        self.start: QPushButton = button("Resample", "primary", self.start_or_stop, "bootstrap.start")
        csv = bare_button("export", "Export resamples as CSV", self._ask_export, "bootstrap.csv")
        picture = bare_button("picture", "Export picture", self._export_picture, "bootstrap.export")
        self._exporters = (csv, picture)
        strip = row(self.form.numbers, self._says, self.start, csv, picture, spacing=8)
        strip.setStretch(1, 1)
        head = QWidget()
        head.setLayout(column(self.form, strip, self._error, margins=theme.PANEL_PADDING, spacing=8))
        plots = QWidget()
        beside = row(self.fresh, self.plot, spacing=0)
        for place in (0, 1):
            beside.setStretch(place, 1)
        plots.setLayout(beside)
        self._none_yet = EmptyState("bootstrap", NOT_YET, HOW)
        self._pictures = Switch(self._none_yet, plots)
        self._lines = QGridLayout()
        self._labels: list[tuple[ElidedLabel, ElidedLabel]] = []
        self._lines.setContentsMargins(theme.PANEL_PADDING, 8, theme.PANEL_PADDING, theme.PANEL_PADDING)
        self._lines.setHorizontalSpacing(16)
        self._lines.setVerticalSpacing(4)
        content, layout = QWidget(), column(head, self._pictures, self._lines, spacing=0)
        layout.setStretch(1, 1)
        content.setLayout(layout)
        return content

    # -- what is asked

    @property
    def settings(self) -> BootstrapSettings | None:
        """What was chosen; before that, what is offered first."""
        document = self._context.document
        if document.table is None:
            return None
        return document.studies.bootstrap or first_bootstrap(document.table, document.target)

    def _on_edited(self, text: str, settings: BootstrapSettings) -> None:
        is_new = settings.statistic == EXPRESSION and not settings.expression
        if is_new and settings.first and "`" not in settings.first:  # something to begin with
            settings = replace(settings, expression=f"mean({quoted(settings.first)})")
        document = self._context.document
        if document.table is not None:
            settings = with_fitting_column(settings, document.table, document.target)
        document.set_studies(text, bootstrap=self._with_a_model(settings))

    def _with_a_model(self, settings: BootstrapSettings) -> BootstrapSettings:
        """Choose a model and what it is scored by, where a person has not yet or it does not fit."""
        document = self._context.document
        if settings.statistic != SCORE:
            return settings
        if settings.run_id not in document.runs:
            current = document.current_run_id or next(iter(document.runs), "")
            offered = [replace(settings, run_id=run_id) for run_id in (current, *document.runs)]
            settings = next((each for each in offered if self._metrics(each)), offered[0])
        metrics = self._metrics(settings)
        return settings if settings.metric in metrics else replace(settings, metric=next(iter(metrics), ""))

    def _metrics(self, settings: BootstrapSettings) -> tuple[str, ...]:
        record = self._context.document.runs.get(settings.run_id)
        scores = None if record is None or record.result is None else record.result.scores.get("test")
        return () if scores is None else tuple(metrics_of(scores))

    def _on_refused(self, why: str) -> None:
        self._typed_error = why
        self._show_state()

    def _on_expression_typed(self, text: str) -> None:
        """Say at once what is wrong with an expression."""
        self._typed_expression = text
        self._show_state()

    # -- what is seen

    def _refresh(self) -> None:
        document, settings = self._context.document, self.settings
        self._switch.show_content(document.table is not None)
        if document.table is None or settings is None:
            self._empty.offer(self._context.actions.get("action.file.open"))
            self._figure = None
            return
        self._show_settings(document.table, settings)
        self._draw(settings)
        self._show_state()

    def _show_settings(self, table: Table, settings: BootstrapSettings) -> None:
        """Fill the form where it is to show something else: meanwhile somebody may be typing."""
        names = {run_id: record.name for run_id, record in self._context.document.runs.items()}
        shown = (settings, number_columns(table), class_columns(table), names, self._metrics(settings))
        if shown != self._shown:
            self._shown = shown
            self._typed_error, self._typed_expression = "", None
            self.form.show_settings(*shown)

    def _why_not(self, settings: BootstrapSettings) -> str:
        """Say why it cannot be drawn, looked at once for each thing asked: a long table takes a while."""
        document = self._context.document
        record = document.runs.get(settings.run_id)
        asked = (document.data, settings, None if record is None else record.result)
        if asked != self._checked:
            self._checked, self._why, self._inputs = asked, "", None
            try:
                self._inputs = inputs_of(document, settings)
            except (DataError, ParameterError) as error:
                self._why = sentence(str(error))
        return self._why

    def _show_state(self) -> None:
        """Say what runs, or why pressing Resample would do nothing."""
        settings, job = self.settings, self._resampler.current_job
        if settings is None:
            return
        if self._typed_expression is not None:
            settings = replace(settings, expression=self._typed_expression)
        why = self._typed_error or self._why_not(settings)
        self._error.setText(why)
        self._error.setVisible(bool(why))
        self._says.setText("" if job is None else job.progress.text)
        self.start.setText("Resample" if job is None else "Stop")
        self.start.setToolTip("Draw the rows again and again" if job is None else "Stop; what is done stays")
        self.start.setEnabled(job is not None or not why)

    def _draw(self, settings: BootstrapSettings) -> None:
        found, is_running = self._resampler.shown, self._resampler.current_job is not None
        self._pictures.show_content(found is not None)
        for made in self._exporters:
            made.setVisible(found is not None)
        if found is None:
            self._figure, self._drawn = None, ()
            says = ("The first resamples are being drawn.", "") if is_running else (NOT_YET, HOW)
            self._none_yet.say(*says)
            self._show_lines(())
            return
        remark = "" if is_running else self._remark(found, settings)
        wanted = (found, settings.level, is_running, remark)
        if wanted != self._drawn:
            self._drawn = wanted
            self._figure = make_bootstrap(found, settings.level, is_running=is_running, remark=remark)
            self.plot.set_figure(self._figure.resamples)
            self.fresh.setVisible(self._figure.fresh is not None)
            if self._figure.fresh is not None:
                self.fresh.set_figure(self._figure.fresh)
            self._show_lines(self._figure.lines)

    def _remark(self, found: BootstrapFound, settings: BootstrapSettings) -> str:
        inputs = None if self._why_not(settings) else self._inputs
        asked = (found, self._checked)
        if asked != self._compared:
            self._compared = asked
            self._changed = what_changed(found, self._context.document, settings, inputs)
        return self._changed

    def _show_lines(self, lines: tuple[tuple[str, str], ...]) -> None:
        """Write what was found in columns of name and number; labels stay where only numbers change."""
        if len(self._labels) != len(lines):
            self._make_labels(len(lines))
        for (of_name, of_text), (name, text) in zip(self._labels, lines, strict=True):
            of_name.setText(name)
            of_text.setText(text)
            # numbers are read whole, but reasons why there is none may be long
            of_text.setMinimumWidth(min(of_text.sizeHint().width(), theme.scaled(NUMBERS_WIDTH)))

    def _make_labels(self, n_lines: int) -> None:
        clear(self._lines)
        self._labels = [(ElidedLabel("", "secondary"), ElidedLabel("", "name")) for _ in range(n_lines)]
        for k, pair in enumerate(self._labels):
            for side, label in enumerate(pair):
                self._lines.addWidget(label, k % LINES_A_ROW, 2 * (k // LINES_A_ROW) + side)
        n_columns = 2 * -(-n_lines // LINES_A_ROW)
        for at in range(self._lines.columnCount()):  # columns of lines that are gone take no room
            self._lines.setColumnStretch(at, (4, 3)[at % 2] if at < n_columns else 0)

    # -- doing

    def start_or_stop(self) -> None:
        """Draw resamples, or end that."""
        self.form.finish()
        self._show_state()
        if self._resampler.current_job is not None:
            self._resampler.stop()
        elif self._inputs is not None and not self._typed_error:
            self._resampler.start(self._inputs)

    def _export_picture(self) -> None:
        self._exports.ask(self, self._picture(), OF_ALL if self._figure is None else KEY)

    def _ask_export(self) -> None:
        ask_csv(self._context, self, "Export Resamples", KEY, "Resamples", self._csv_text)

    def _csv_text(self) -> str | None:
        return None if self._figure is None else self._figure.to_csv()
