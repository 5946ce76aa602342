"""The Instability window: how often resampled rows would ask what the shown tree asks, node by node."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QAbstractItemView, QSplitter, QTableView, QWidget

from engine.parameters import Parameter
from workbench.datasets import Table
from workbench.figures.instability import HEADS, InstabilityFigure, make_instability
from workbench.figures.tree import TreeFigure, tree_of_run
from workbench.figures.words import sentence
from workbench.instability import MAX_RESAMPLES, InstabilityFound, InstabilitySettings, why_not
from workbench.runs import RunResult
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.csv_export import ask_csv
from workbench.ui.exporting import PictureExports
from workbench.ui.forms.fields import NumberField
from workbench.ui.item_models.instability_model import InstabilityModel
from workbench.ui.plots.scores import ImportancesPlot
from workbench.ui.sight import Sight
from workbench.ui.states import EmptyState, Switch
from workbench.ui.study_dialog import StudyDialog
from workbench.ui.two_trees import TwoTreesView
from workbench.ui.widgets import ElidedLabel, Label, bare_button, button, column, row

KEY = "instability"
SIZE = QSize(1120, 760)
NUMBER_WIDTH, LEAST_WIDTH, RUNNER_UP_WIDTH, QUESTION_WIDTH = 80, 64, 150, 170
RUNNER_UP = HEADS.index("Runner-up")
GOAL = "how firmly the rows stand behind it"
N_RESAMPLES = Parameter("n_resamples", 100, "int", 2, MAX_RESAMPLES, label="Resamples")
SEED = Parameter("seed", 0, "int", 0, label="Seed", has_any_size=True)


class _NodesTable(QTableView):
    """Gives the question, its first column, the room that others leave, but never too little to read it."""

    def fit_question(self) -> None:
        """Fit the first column to the room there is now."""
        others = sum(self.columnWidth(k) for k in range(1, self.horizontalHeader().count()))
        self.setColumnWidth(0, max(self.viewport().width() - others, theme.scaled(QUESTION_WIDTH)))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self.fit_question()


class InstabilityDialog(StudyDialog):
    """Follows the current model; a row of the table and the node selected in the tree are the same."""

    def __init__(self, context: Context, window: QWidget) -> None:
        super().__init__(context, window, "instability", "Instability of a Tree", SIZE)
        self._study = context.tree_study
        self._filled_with: InstabilitySettings | None = None
        self._refused: dict[str, str] = {}  # why what is typed in a field is none
        self._tree: tuple[RunResult, TreeFigure] | None = None
        self._fitted_to: TreeFigure | None = None
        self._listed: tuple[str, TreeFigure, InstabilityFound] | None = None
        self._asked: tuple[RunResult | None, Table | None] | None = None
        self._why_not = ""
        self._is_following = False
        self.model = InstabilityModel(self)
        self.plot = ImportancesPlot()
        self.plot.setObjectName("instability.wins")
        self.trees = TwoTreesView(context.lanes)
        self.trees.edited.connect(self._look_at)
        self._exports = PictureExports.of(context)
        self._exports.register(self, self._picture, KEY)
        self._none_yet = EmptyState("instability", "", "")
        self._empty = EmptyState("instability", "")
        self._switch = Switch(self._empty, self._make_content())
        self.setLayout(column(self._switch))
        self._sight = Sight(self, self._refresh)
        document = context.document
        for signal in (
            document.table_changed, document.columns_changed, document.current_run_changed,
            document.run_changed, document.studies_changed,
        ):  # fmt: skip
            signal.connect(self._sight.ask)
        self._study.advanced.connect(self._sight.ask)
        context.selection.changed.connect(self._follow)
        self._sight.ask()

    @property
    def figure(self) -> InstabilityFigure | None:
        """What is listed now."""
        is_seen = self._switch.shows_content and self._contents.shows_content
        return self.model.figure if is_seen else None

    def _picture(self) -> ImportancesPlot | None:
        return None if self.figure is None else self.plot

    # -- assembling

    def _make_content(self) -> QWidget:
        self.n_resamples, self.seed = self._number(N_RESAMPLES), self._number(SEED)
        self._says = ElidedLabel("", "secondary")
        self._says.setObjectName("instability.says")
        self.start = button("Run", "primary", self._start_or_stop, "instability.start")
        csv = bare_button("export", "Export nodes as CSV", self._ask_export, "instability.csv")
        picture = bare_button("picture", "Export picture", self._export_picture, "instability.export")
        head = row(
            Label("Resamples", "secondary"), self.n_resamples, Label("Seed", "secondary"), self.seed,
            self._says, self.start, csv, picture, spacing=8,
        )  # fmt: skip
        head.setStretch(4, 1)
        head.setContentsMargins(theme.PANEL_PADDING, 8, theme.PANEL_PADDING, 8)
        self.table = self._make_table()
        wins = QWidget()
        wins.setLayout(column(self.plot, -1, margins=4))
        upper, self._halves = QSplitter(Qt.Orientation.Horizontal), QSplitter(Qt.Orientation.Vertical)
        for part, stretch in ((self.table, 3), (wins, 2)):
            upper.addWidget(part)
            upper.setStretchFactor(upper.count() - 1, stretch)
        for half, stretch in ((upper, 1), (self.trees, 1)):
            self._halves.addWidget(half)
            self._halves.setStretchFactor(self._halves.count() - 1, stretch)
        for splitter, sizes in ((upper, (640, 400)), (self._halves, (300, 380))):
            splitter.setChildrenCollapsible(False)
            splitter.setSizes(sizes)
        self._contents = Switch(self._none_yet, self._halves)
        content, layout = QWidget(), column(head, self._contents, spacing=0)
        layout.setStretch(1, 1)
        content.setLayout(layout)
        return content

    def _number(self, parameter: Parameter) -> NumberField:
        made = NumberField(parameter)
        made.setObjectName(f"instability.{parameter.name}")
        made.focusProxy().setAccessibleName(parameter.label)
        made.setFixedWidth(theme.scaled(NUMBER_WIDTH))
        made.edited.connect(partial(self._change, f"Change {parameter.label.lower()}", parameter.name))
        made.refused.connect(partial(self._on_refused, parameter.name))
        return made

    def _make_table(self) -> _NodesTable:
        table = _NodesTable()
        table.setObjectName("instability.table")
        table.setAccessibleName("Inner nodes of the tree")
        table.setModel(self.model)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(theme.scaled(28))
        head = table.horizontalHeader()
        head.setHighlightSections(False)
        head.setStretchLastSection(False)
        head.setMinimumSectionSize(theme.scaled(LEAST_WIDTH))
        table.selectionModel().currentRowChanged.connect(self._on_row)
        return table

    # -- settings

    @property
    def _settings(self) -> InstabilitySettings:
        return self._context.document.studies.instability or InstabilitySettings()

    def _on_refused(self, name: str, why: str) -> None:
        self._refused[name] = why
        self._show_state()

    def _change(self, text: str, name: str, value: Any) -> None:
        settings: InstabilitySettings = replace(self._settings, **{name: value})
        last = settings.n_resamples
        settings = replace(settings, first=min(settings.first, last), second=min(settings.second, last))
        self._context.document.set_studies(text, instability=settings)

    def _look_at(self, place: str, number: int) -> None:
        self._change(f"Look at resample {number:,}", place, number)

    # -- work

    def _start_or_stop(self) -> None:
        if self._study.current_job is not None:
            self._study.stop()
        else:
            self._study.start(self._settings)

    # -- showing

    def _refresh(self) -> None:
        document, settings = self._context.document, self._settings
        run, table = document.current_run, document.table
        asked = (None if run is None else run.result, table)
        if self._asked != asked:  # not with every resample: it looks at every row
            self._asked, self._why_not = asked, why_not(run, table)
        why = self._why_not
        if why or run is None or run.result is None or table is None:
            self._say_why_not(why)
            return
        self._switch.show_content(True)
        self._show_settings(settings)
        found = self._study.shown
        if found is None or not found.is_of(run.result, settings):
            self._say_what_comes(run.name, settings)
            self._contents.show_content(False)
            self._show_state()
            return
        self._contents.show_content(True)
        if self._tree is None or self._tree[0] is not run.result:
            self._tree = run.result, tree_of_run(run.name, run.result, 0, table)
        self._list(run.name, self._tree[1], found)
        if self._fitted_to is not self._tree[1]:  # not with every resample
            self._fitted_to = self._tree[1]
            self._fit_columns()
        self._show_state()
        self.trees.show_model(run.name, run.result, table, settings)

    def _list(self, name: str, tree: TreeFigure, found: InstabilityFound) -> None:
        """List what was found, where it is not listed: steps of a resample are told without anything new."""
        listed = self._listed
        if listed is None or listed[0] != name or listed[1] is not tree or listed[2] is not found:
            self._listed = name, tree, found
            self.model.set_figure(make_instability(name, tree, found.instability))
            self._follow()

    def _fit_columns(self) -> None:
        """Give shares the room of their heads, the runner-up that of a name, and the question the rest."""
        self.table.resizeColumnsToContents()
        self.table.setColumnWidth(RUNNER_UP, theme.scaled(RUNNER_UP_WIDTH))
        self.table.fit_question()

    def _show_settings(self, settings: InstabilitySettings) -> None:
        """Fill the fields where settings are others: while resamples come in, somebody may be typing."""
        if settings != self._filled_with:
            self._filled_with, self._refused = settings, {}
            self.n_resamples.set_value(settings.n_resamples)
            self.seed.set_value(settings.seed)

    def _say_what_comes(self, name: str, settings: InstabilitySettings) -> None:
        if self._study.current_job is not None:
            self._none_yet.say("The resamples are searched.", "")
            return
        n = settings.n_resamples
        how = f"Run asks {n:,} resamples of the training rows what they would ask at every node of {name}."
        self._none_yet.say("No resample was looked at yet.", how)

    def _say_why_not(self, why: str) -> None:
        run = self._context.document.current_run
        if run is None or run.result is None or run.result.grown_tree is None:
            self._empty.say_what_single_trees_lack(
                self._context, GOAL, "An ensemble has many trees; this is of a single one."
            )
        else:
            self._empty.tell(sentence(why), "Train it again on this table.", None)
        self._switch.show_content(False)

    def _show_state(self) -> None:
        is_running, refused = self._study.current_job is not None, "".join(self._refused.values())
        self.start.setText("Stop" if is_running else "Run")
        self.start.setEnabled(is_running or not refused)
        self.start.setToolTip(
            "Stop; resamples that are done stay" if is_running else "Draw resamples and search them"
        )
        found, job = "" if self.figure is None else self.figure.subtitle, self._study.current_job
        progress = "" if job is None else job.progress.text
        self._says.setText("; ".join(filter(None, (refused or found, progress))))

    def _follow(self) -> None:
        """Put the cursor on the selected node, else on the root, and show which columns win there."""
        figure = self.figure
        if figure is None or not figure.n_nodes:
            self.plot.hide()
            return
        at = figure.row_of(self._context.selection.node_path)
        if at is None:
            at = max(self.table.currentIndex().row(), 0)
        self._is_following = True
        if self.table.currentIndex().row() != at:
            self.table.setCurrentIndex(self.model.index(at, 0))
        self._is_following = False
        self._show_wins(at)

    def _on_row(self, current, _before) -> None:
        figure = self.figure
        if figure is None or not current.isValid() or self._is_following:
            return
        self._show_wins(current.row())
        self._context.selection.select_node(figure.paths[current.row()])

    def _show_wins(self, at: int) -> None:
        figure = self.figure
        assert figure is not None
        self.plot.show()
        self.plot.set_figure(figure.wins_at(at))

    # -- taking away

    def _export_picture(self) -> None:
        self._exports.ask(self, self._picture(), KEY)

    def _ask_export(self) -> None:
        ask_csv(self._context, self, "Export Instability", KEY, "Instability", self._csv_text)

    def _csv_text(self) -> str | None:
        return None if self.figure is None else self.figure.to_csv()
