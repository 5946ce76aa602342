"""The Trees view: an ensemble's trees as a sortable list, each of which the Tree view shows."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from workbench.catalog import entry_of
from workbench.figures.trees import (
    has_out_of_bag,
    known_errors,
    make_trees,
    out_of_bag_errors,
    with_errors,
)
from workbench.fitting import what_differs
from workbench.runs import RunResult
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.item_models.trees_model import TreesModel
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import ElidedLabel, column, row

ERRORS_KEY = "out-of-bag errors of trees"
GOAL, ADD = "its trees", "action.model.add_forest"


class TreesPanel(QWidget):
    """Follows the tree and the round that are looked at; the row under the cursor is the tree shown."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.trees")
        self._context = context
        self._shown: tuple[str, Any] | None = None  # name and estimator of what is listed
        self._is_following = False
        self.model = TreesModel(self)
        self.table = self._make_table()
        self._title = ElidedLabel("", "name")
        self._how = ElidedLabel("", "caption", Qt.TextElideMode.ElideRight)
        self._how.setText("Enter or a double click shows the tree; a click on a head sorts")
        texts = QWidget()
        texts.setLayout(column(self._title, self._how, spacing=0))
        content = QWidget()
        content.setLayout(column(row(12, texts, 12, margins=4), self.table, spacing=0))
        self._empty = EmptyState("forest", "")
        self._switch = Switch(self._empty, content, self)
        self.setLayout(column(self._switch))
        self._sight = Sight(self, self._refresh)
        document, selection = context.document, context.selection
        for signal in (document.table_changed, document.current_run_changed):
            signal.connect(self._sight.ask)
        document.run_changed.connect(self._on_run_changed)
        for signal in context.trainer.work_signals:
            signal.connect(self._say_why)
        selection.changed.connect(self._follow)
        selection.preview_changed.connect(self._follow)
        theme.changed.connect(self.table.viewport().update)
        self._sight.ask()

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setObjectName("trees.table")
        table.setAccessibleName("Trees of the model")
        table.setModel(self.model)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)  # Tab leaves the table; arrows move in it
        table.setWordWrap(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(theme.scaled(28))
        head = table.horizontalHeader()
        head.setFont(theme.font(11, 600))
        head.setHighlightSections(False)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        head.setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        table.setSortingEnabled(True)
        table.selectionModel().currentChanged.connect(self._on_current_changed)
        table.activated.connect(self._open)
        table.doubleClicked.connect(self._open)
        return table

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self._context.document.current_run_id:
            self._context.trainer.in_turn(self._sight.ask)

    def _refresh(self) -> None:
        run = self._context.document.current_run
        result = run.result if run is not None else None
        if run is None or result is None or not self._lists(result):
            self._shown = None
            self.model.set_figure(None)
            self._say_why()
            return
        self._switch.show_content(True)
        if self._shown is None or self._shown[0] != run.name or self._shown[1] is not result.estimator:
            self._shown = run.name, result.estimator
            figure = make_trees(run.name, result)
            self._title.setText(figure.title)
            errors = known_errors(result)
            if errors is not None:
                figure = with_errors(figure, errors, bool(result.classes))
            self.model.set_figure(figure)
            if errors is None:
                self._ask_errors(result)
        self._follow()

    def _say_why(self, *_: object) -> None:
        run = self._context.document.current_run
        if run is None or run.result is None or not run.result.trees:
            self._empty.say_what_trees_lack(self._context, GOAL, ADD)
        elif not self._lists(run.result):
            self._empty.tell(
                "This model is a single tree.", "A forest or boosting has many; they are listed here.",
                self._context.actions.get(ADD),
            )  # fmt: skip
        else:
            return
        self._switch.show_content(False)

    @staticmethod
    def _lists(result: RunResult) -> bool:
        """Tell whether a model is an ensemble with trees, be it one."""
        return bool(result.trees) and entry_of(result.spec.kind).is_ensemble

    def _ask_errors(self, result) -> None:
        table = self._context.document.table
        if not has_out_of_bag(result) or table is None or what_differs(result, table):
            return
        job = self._context.lanes.studies.submit_latest(
            ERRORS_KEY,
            lambda monitor: (result.estimator, out_of_bag_errors(result, table, monitor)),
            "Scoring the trees on rows they did not see",
        )
        job.ended.connect(lambda future: self._on_errors(future, bool(result.classes)))

    def _on_errors(self, future, is_share: bool) -> None:
        if future.cancelled() or self.model.figure is None or self._shown is None:
            return
        estimator, errors = future.result()
        if estimator is self._shown[1] and not self.model.figure.has_errors:
            self.model.set_figure(with_errors(self.model.figure, errors, is_share))
            self._follow()

    def _follow(self) -> None:
        """Put the cursor on the tree that is shown, and grey those after the round that is looked at."""
        figure, run = self.model.figure, self._context.document.current_run
        if figure is None or run is None or run.result is None or self._shown is None:
            return
        if run.result.estimator is not self._shown[1]:
            return  # another model's: the list is made anew when it is in sight
        self.model.set_seen(self._context.selection.rounds_of(run.result) * figure.n_a_round)
        at = self.model.row_of(min(self._context.selection.tree_idx, figure.n_trees - 1))
        if at >= 0 and at != self.table.currentIndex().row():
            self._is_following = True
            self.table.setCurrentIndex(self.model.index(at, 0))
            self._is_following = False
            self.table.scrollTo(self.model.index(at, 0))

    def _on_current_changed(self, current: QModelIndex, _before: QModelIndex) -> None:
        if current.isValid() and not self._is_following:
            self._context.selection.select_tree(int(self.model.order[current.row()]))

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self._context.selection.select_tree(int(self.model.order[index.row()]))
            self._context.actions["action.view.tree"].trigger()
