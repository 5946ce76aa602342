"""The Stack view: the data's way through a stack, its out-of-fold answers, and who was right."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QPushButton,
    QScrollArea,
    QTableView,
    QWidget,
)

from engine.errors import DataError
from workbench.figures.scores import BarsFigure
from workbench.figures.stack import Case, StackFigure, make_flow, make_stack
from workbench.figures.words import counted, sentence
from workbench.fitting import what_differs
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.exporting import PictureExports
from workbench.ui.item_models.stack_model import StackModel
from workbench.ui.plots.scores import ImportancesPlot
from workbench.ui.plots.stack import CorrelationPlot, FlowPlot
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import Label, bare_button, button, clear, column, row

STACK_KEY = "out-of-fold answers"
KIND = "stacking"
GOAL, ADD = "what its models said of rows they did not see", "action.model.add_stacking"
LIST_HEIGHT, COLUMN_WIDTH = 280, 120
SETTINGS = {
    "estimators": "action.settings.base_models",
    "final_estimator": "action.settings.meta_model",
    "cv": "action.settings.folds",
    "passthrough": "action.settings.passthrough",
}


class StackPanel(QWidget):
    """Follows the current run; rows chosen in the list are chosen everywhere, and the other way round."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.stack")
        self._context = context
        self._shown: Any = None  # the result whose answers are listed, or asked for
        self._is_following = False
        self.flow, self.weights, self.correlation = FlowPlot(), ImportancesPlot(), CorrelationPlot()
        self.weights.setObjectName("stack.weights")
        self.flow.setting_asked.connect(self._go_to)
        self.model = StackModel(self)
        self.table = self._make_table()
        self._scores = Label("", "body", wrap=True)
        self._scores.setObjectName("stack.scores")
        self._leakage = Label("", "secondary", wrap=True)
        self._leakage.setObjectName("stack.leakage")
        self._why = Label("", "secondary", wrap=True)
        self._why.setObjectName("stack.why")
        self._cases = column(spacing=4)
        self._exports = PictureExports.of(context)
        self._exports.register(self, self.picture, "stack")
        self._empty = EmptyState("stacking", "")
        self._switch = Switch(self._empty, self._make_page(), self)
        self.setLayout(column(self._switch))
        self._sight = Sight(self, self._refresh)
        document = context.document
        for signal in (document.table_changed, document.columns_changed, document.current_run_changed):
            signal.connect(self._sight.ask)
        for signal in (document.run_changed, document.parameter_changed):
            signal.connect(self._on_run_changed)
        for signal in context.trainer.work_signals:
            signal.connect(self._say_why)
        context.selection.changed.connect(self._follow)
        theme.changed.connect(self.table.viewport().update)
        self._sight.ask()

    @property
    def figure(self) -> StackFigure | None:
        """What is listed now."""
        return self.model.figure if self._switch.shows_content else None

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("stack.table")
        table.setAccessibleName("Out-of-fold answers")
        table.setModel(self.model)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)  # Tab leaves the table; arrows move in it
        table.setWordWrap(False)
        table.setFixedHeight(theme.scaled(LIST_HEIGHT))
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(theme.scaled(28))
        head = table.horizontalHeader()
        head.setFont(theme.font(11, 600))
        head.setHighlightSections(False)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        head.setDefaultSectionSize(theme.scaled(COLUMN_WIDTH))
        head.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        head.setStretchLastSection(True)
        head.setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        table.setSortingEnabled(True)
        table.selectionModel().selectionChanged.connect(self._on_selected)
        return table

    def _make_page(self) -> QScrollArea:
        page = QWidget()
        page.setProperty("look", "panel")
        page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        export = bare_button("picture", "Export picture", self._export, "stack.export")
        clear_rows = partial(self._context.selection.select_rows, None)
        self._none = button("Select no row", "quiet", clear_rows, "stack.none")
        self._answers = QWidget()
        self._answers.setObjectName("stack.answers")
        cases = column(
            Label("Who was right, out of fold", "name"), self._cases, row(self._none, -1), spacing=4
        )
        self._answers.setLayout(
            column(
                column(Label("Out of fold", "name"), self._scores, self._leakage, spacing=4),
                self.weights, cases, self.correlation,
                Label("Out-of-fold answers", "name"), self.table, spacing=16,
            )
        )  # fmt: skip
        head = row(self.flow, export)
        head.setAlignment(export, Qt.AlignmentFlag.AlignTop)
        page.setLayout(column(head, self._why, self._answers, -1, margins=16, spacing=16))
        area = QScrollArea()
        area.setObjectName("stack.page")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(page)
        return area

    def picture(self) -> Any:
        """The drawing of the data's way; None where there is none."""
        return self.flow if self._switch.shows_content else None

    def _on_run_changed(self, run_id: str, *_: object) -> None:
        if run_id == self._context.document.current_run_id:
            self._context.trainer.in_turn(self._sight.ask)

    def _refresh(self) -> None:
        document = self._context.document
        run, table = document.current_run, document.table
        if run is None or run.spec.kind != KIND or table is None or document.target is None:
            self._forget()
            self._switch.show_content(False)
            self._say_why()
            return
        self._switch.show_content(True)
        n_rows = 0 if document.parts is None else int(np.count_nonzero(document.parts == 0))
        self.flow.set_figure(make_flow(run.name, run.spec, document.task, n_rows, len(document.classes)))
        why = self._why_no_answers(run.result, table)
        self._why.setText(why)
        self._why.setVisible(bool(why))
        if why:
            self._forget()
        elif self._shown is not run.result:
            self._ask(run.name, run.result, table)

    def _why_no_answers(self, result, table) -> str:
        if result is None:
            return "Train it to see what its models said of rows they did not see."
        if difference := what_differs(result, table):
            return sentence(f"{difference}; undo that, or train it again")
        return ""

    def _forget(self) -> None:
        self._shown = None
        self.model.set_figure(None)
        self._answers.hide()

    def _ask(self, name: str, result, table) -> None:
        self._forget()
        self._shown = result
        job = self._context.lanes.views.submit_latest(
            STACK_KEY, lambda _monitor: _listed(name, result, table), "Listing out-of-fold answers"
        )
        job.ended.connect(self._on_listed)

    def _on_listed(self, future) -> None:
        if future.cancelled():
            return
        result, figure, error = future.result()
        if self._shown is not result:
            return
        if figure is None:
            self._why.setText(sentence(error))
            self._why.show()
            return
        self._draw(figure)

    def _draw(self, figure: StackFigure) -> None:
        self.model.set_figure(figure)
        self._answers.show()
        self._scores.setText("\n".join(f"{name}: {score}" for name, score in figure.scores))
        self._leakage.setText(figure.leakage)
        self.weights.setVisible(figure.weights is not None)
        if figure.weights is not None:
            about = "coefficient times spread of its out-of-fold columns, in shares"
            self.weights.set_figure(
                BarsFigure("Weight in the meta-model", about, figure.models, figure.weights)
            )
        self.correlation.set_figure(figure)
        clear(self._cases)
        for at, case in enumerate(figure.cases):
            self._cases.addLayout(row(self._case_button(at, case), -1))
        self._follow()

    def _case_button(self, at: int, case: Case) -> QPushButton:
        words = f"{case.name}: {counted(len(case.rows), 'row')}, {case.share}"
        made = button(words, "quiet", partial(self._select_case, case), f"stack.case.{at}")
        made.setToolTip("Select these rows in every view")
        return made

    def _select_case(self, case: Case) -> None:
        self._context.selection.select_rows(case.rows.astype(np.intp))

    def _on_selected(self, *_: object) -> None:
        if self._is_following or self.model.figure is None:
            return
        places = [index.row() for index in self.table.selectionModel().selectedRows()]
        rows = self.model.table_rows(places).astype(np.intp) if places else None
        self._is_following = True
        self._context.selection.select_rows(rows)
        self._is_following = False

    def _follow(self) -> None:
        """Select the rows that are selected elsewhere."""
        if self._is_following or self.model.figure is None:
            return
        rows, wanted = self._context.selection.rows, QItemSelection()
        places = self.model.places_of(rows) if rows is not None else np.empty(0, np.int64)
        for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
            if len(run):
                last = self.model.index(int(run[-1]), self.model.columnCount() - 1)
                wanted.select(self.model.index(int(run[0]), 0), last)
        self._is_following = True
        self.table.selectionModel().select(wanted, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self._is_following = False
        if len(places):
            self.table.scrollTo(self.model.index(int(places[0]), 0))

    def _say_why(self, *_: object) -> None:
        run = self._context.document.current_run
        if self._switch.shows_content:
            return
        if run is not None and run.spec.kind != KIND:
            how = "A stack learns from what several models say; add one to build it."
            self._empty.tell("This model is no stack.", how, self._context.actions.get(ADD))
        else:
            self._empty.say_what_is_missing(self._context, GOAL, ADD)

    def _go_to(self, setting: str) -> None:
        action = self._context.actions.get(SETTINGS.get(setting, ""))
        if action is not None:
            action.trigger()

    def _export(self) -> None:
        self._exports.ask(self, self.flow, "stack")


def _listed(name: str, result: Any, table: Any) -> tuple[Any, StackFigure | None, str]:
    """Return the result, and its figure or why there is none; runs on a worker."""
    try:
        return result, make_stack(name, result, table), ""
    except DataError as error:
        return result, None, str(error)
