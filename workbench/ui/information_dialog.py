"""The Information window: two columns counted against each other, with the arithmetic and the chain rule."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from heapq import nlargest
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QHeaderView, QPlainTextEdit, QTableView, QWidget

from engine.errors import DataError
from engine.monitor import FitMonitor
from workbench.datasets import Table
from workbench.figures.information import InformationFigure, make_information
from workbench.figures.words import sentence
from workbench.information import Cutting, InformationSettings, count_jointly, first_settings
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.csv_export import ask_csv
from workbench.ui.exporting import OF_ALL, PictureExports
from workbench.ui.forms.column_cut import ColumnCut
from workbench.ui.item_models.joint_model import SUM, JointModel
from workbench.ui.plots.information import InformationPlot
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.study_dialog import StudyDialog
from workbench.ui.widgets import Label, bare_button, column, row

KEY = "information"
SIZE = QSize(980, 620)
PLOT_HEIGHT = 220
LABEL_WIDTH, LABEL_PADDING = 180, 18
BOLD = 1.1  # sums are so much wider than other figures
FITTED = 300  # labels that are measured; of more the longest, and columns are all as wide as the widest


class InformationDialog(StudyDialog):
    """Follows the table; columns are chosen in undoable steps, and counted in a worker."""

    def __init__(self, context: Context, window: QWidget) -> None:
        super().__init__(context, window, "information", "Information of Two Columns", SIZE)
        self._typed_error = self._count_error = ""
        self._drawn: tuple[object, ...] = ()
        self.x_line, self.y_line = ColumnCut("x"), ColumnCut("y")
        self.x_line.edited.connect(partial(self._on_edited, "x"))
        self.y_line.edited.connect(partial(self._on_edited, "y"))
        for side in (self.x_line, self.y_line):
            side.refused.connect(self._on_refused)
        self._error = Label("", "danger", wrap=True)
        self._error.setObjectName("information.error")
        self._error.hide()
        self.model, self.plot = JointModel(self), InformationPlot()
        self.plot.setMinimumHeight(PLOT_HEIGHT)
        self._exports = PictureExports.of(context)
        self._exports.register(self, self._picture, KEY)
        self._empty = EmptyState("information", "")
        self._switch = Switch(self._empty, self._make_content())
        layout = column(self._switch)
        self.setLayout(layout)
        self._sight = Sight(self, self._refresh)
        document = context.document
        for signal in (document.table_changed, document.columns_changed, document.studies_changed):
            signal.connect(self._sight.ask)
        self._sight.ask()

    @property
    def figure(self) -> InformationFigure | None:
        """What is drawn now."""
        return self.model.figure if self._switch.shows_content else None

    def _picture(self) -> InformationPlot | None:
        return None if self.figure is None else self.plot

    # -- assembling

    def _make_content(self) -> QWidget:
        head = QWidget()
        csv = bare_button("export", "Export counts and entropies as CSV", self._ask_export, "information.csv")
        picture = bare_button("picture", "Export picture", self._export_picture, "information.export")
        lines = column(self.x_line, self.y_line, spacing=4)
        top = row(lines, column(-1, row(csv, picture, spacing=4), spacing=0), spacing=12)
        top.setStretch(0, 1)
        head.setLayout(column(top, self._error, margins=theme.PANEL_PADDING, spacing=4))
        self.table = self._make_table()
        self.arithmetic = QPlainTextEdit()
        self.arithmetic.setObjectName("information.arithmetic")
        self.arithmetic.setAccessibleName("The arithmetic written out")
        self.arithmetic.setReadOnly(True)
        self.arithmetic.setTabChangesFocus(True)
        theme.changed.connect(self._dress)
        self._dress()
        counts = column(Label("ROWS: X DOWN, Y ACROSS", "section"), self.table, spacing=4)
        written = column(Label("ARITHMETIC", "section"), self.arithmetic, spacing=4)
        middle = row(counts, written, spacing=12)
        middle.setContentsMargins(theme.PANEL_PADDING, 0, theme.PANEL_PADDING, 8)
        middle.setStretch(0, 1)
        middle.setStretch(1, 1)
        content, layout = QWidget(), column(head, middle, self.plot, spacing=0)
        layout.setStretch(1, 3)
        layout.setStretch(2, 2)
        content.setLayout(layout)
        return content

    def _dress(self) -> None:
        self.arithmetic.setFont(theme.font(13))
        if self.model.figure is not None:
            self._fit_labels(self.model.figure)

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("information.table")
        table.setAccessibleName("Rows of each pair of values")
        table.setModel(self.model)
        table.setTabKeyNavigation(False)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for header in (table.horizontalHeader(), table.verticalHeader()):
            header.setTextElideMode(Qt.TextElideMode.ElideMiddle)
            header.setSectionsClickable(False)
        return table

    # -- what is looked at

    @property
    def _settings(self) -> InformationSettings | None:
        """What was chosen; before that, what is looked at first."""
        document = self._context.document
        if document.table is None:
            return None
        return document.studies.information or first_settings(document.table, document.target)

    def _on_edited(self, side: str, name: str, cutting: Cutting) -> None:
        settings = self._settings
        if settings is not None:
            changes: dict[str, Any] = {side: name, f"{side}_cutting": cutting}
            what = f"Look at {name}" if name != getattr(settings, side) else f"Cut {name}"
            self._context.document.set_studies(what, information=replace(settings, **changes))

    def _on_refused(self, why: str) -> None:
        self._typed_error = why
        self._say_error()

    def _say_error(self) -> None:
        why = self._typed_error or self._count_error
        self._error.setText(sentence(why) if why else "")
        self._error.setVisible(bool(why))

    def _refresh(self) -> None:
        document, settings = self._context.document, self._settings
        if document.table is None or settings is None:
            self._drawn = ()
            has_table = document.table is not None
            say = "There is one column." if has_table else "No table yet."
            how = "Information is about two: open a table that has more." if has_table else ""
            self._empty.tell(
                say, how or "Open a file or a sample.", self._context.actions.get("action.file.open")
            )
            self._switch.show_content(False)
            return
        self.x_line.show_choice(document.table, settings.x, settings.x_cutting)
        self.y_line.show_choice(document.table, settings.y, settings.y_cutting)
        self._switch.show_content(True)
        weight = next((name for name, role in document.roles.items() if role == "weight"), None)
        wanted = (document.table, settings, weight)
        if wanted != self._drawn:
            self._drawn = wanted
            work = partial(_count, document.table, settings, weight)
            job = self._context.lanes.views.submit_latest(KEY, work, "Counting rows")
            job.ended.connect(self._on_counted)

    def _on_counted(self, future: Future[InformationFigure]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        self._count_error = str(error) if isinstance(error, DataError) else ""
        self._say_error()
        self._show(None if self._count_error else future.result())

    def _show(self, figure: InformationFigure | None) -> None:
        self.model.set_figure(figure)
        self.arithmetic.setPlainText("" if figure is None else "\n\n".join(figure.arithmetic))
        self.plot.setVisible(figure is not None)
        if figure is not None:
            self.plot.set_figure(figure)
            self._fit_labels(figure)

    def _fit_labels(self, figure: InformationFigure) -> None:
        """Let values be read whole, as far as they do not push the counts away."""
        width = QFontMetrics(theme.font(13)).horizontalAdvance
        most, padding = theme.scaled(LABEL_WIDTH), theme.scaled(LABEL_PADDING)
        x_labels, y_labels = (*figure.x.labels, SUM), (*figure.y.labels, SUM)
        widest = max(map(width, _longest(x_labels)))
        self.table.verticalHeader().setFixedWidth(min(widest, most) + padding)
        n_x, n_y = len(figure.x.labels), len(figure.y.labels)
        of_any = max(*map(width, _longest(y_labels)), width(figure.cell_text(n_x, n_y)) * BOLD)
        self.table.horizontalHeader().setDefaultSectionSize(round(min(of_any, most) + padding))
        if n_y < FITTED:
            for k, label in enumerate(y_labels):
                wanted = max(width(label), width(figure.cell_text(n_x, k)) * BOLD)
                self.table.setColumnWidth(k, round(min(wanted, most) + padding))

    # -- taking away

    def _export_picture(self) -> None:
        self._exports.ask(self, self._picture(), OF_ALL if self.figure is None else KEY)

    def _ask_export(self) -> None:
        ask_csv(self._context, self, "Export Information", KEY, "Information", self._csv_text)

    def _csv_text(self) -> str | None:
        return None if self.figure is None else self.figure.to_csv()


def _longest(labels: Sequence[str]) -> list[str]:
    """Return those of the most characters, as many as can be measured in a moment."""
    return nlargest(FITTED, labels, key=len)


def _count(
    table: Table, settings: InformationSettings, weight: str | None, _monitor: FitMonitor
) -> InformationFigure:
    return make_information(count_jointly(table, settings), weight)
