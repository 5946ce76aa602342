"""The Splits view: what else the selected node could have asked, and its gain written out."""

from __future__ import annotations

import re
from typing import Any

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QSplitter,
    QStyledItemDelegate,
    QTableView,
    QWidget,
)

from engine.errors import DataError
from workbench.figures.splits import SplitsFigure, arithmetic_of, make_splits, meaning_of_letter
from workbench.figures.words import sentence
from workbench.fitting import what_differs
from workbench.forcing import answer_of, can_force, missing_side_of
from workbench.splits import NodeStudy, study_node
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.exporting import PictureExports
from workbench.ui.hand_commands import ask_split
from workbench.ui.item_models.split_model import SplitModel
from workbench.ui.plots.gain import GainPlot
from workbench.ui.sight import Sight
from workbench.ui.states import BusyBar, EmptyState, Switch
from workbench.ui.widgets import ActionButton, Label, bare_button, column, row

LANE_KEY = "splits"
FORCE = "action.tree.force_candidate"
GOAL, TRAIN = "what else a node could ask", "action.model.train"
LEAF = "A leaf asks nothing."
OF_ENSEMBLES = "Trees of ensembles were grown on drawn rows."


class _Question(QStyledItemDelegate):
    """A question begins with its number, which is never cut."""

    def initStyleOption(self, option, index) -> None:
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideRight


class _Candidates(QTableView):
    """Gives what the figures leave to the columns' names and their questions.

    Where both have no room questions are shortened, then long names are cut.
    """

    def __init__(self, model: SplitModel) -> None:
        super().__init__()
        self._splits = model
        self.setModel(model)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self.share_columns()

    def share_columns(self) -> None:
        head, model = self.horizontalHeader(), self._splits
        model.shorten(False)
        model.shorten(sum(self._wide(k) for k in range(head.count())) > self.viewport().width())
        figures = sum(self._wide(k) for k in range(2, head.count()))
        free = max(self.viewport().width() - figures, theme.scaled(120))
        head.resizeSection(0, min(self._wide(0), max(free - self._wide(1), free // 2)))

    def _wide(self, at: int) -> int:
        return max(self.sizeHintForColumn(at), self.horizontalHeader().sectionSizeHint(at))


class SplitsPanel(QWidget):
    """Asks for the candidates of the selected node, or the root's."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.splits")
        self._context = context
        self._asked: tuple | None = None  # result and path whose candidates are shown or under way
        self._study: NodeStudy | None = None
        self._study_of: Any = None  # the grown tree whose rows the study has
        self.figure: SplitsFigure | None = None
        self.model, self.plot = SplitModel(self), GainPlot()
        self.plot.threshold_asked.connect(self._ask_threshold)
        context.actions.add(
            FORCE, "Force This Candidate", None, self._force, "edited",
            tip="Let the node ask the question of the selected row; what is below the node goes",
        )  # fmt: skip
        self.table = self._make_table()
        self._arithmetic = Label("", "body", wrap=True)
        self._arithmetic.setObjectName("splits.arithmetic")
        self._arithmetic.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._no_curve = Label("", "secondary", wrap=True)
        self._no_curve.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._curves = Switch(self._no_curve, self.plot)
        self._exports = PictureExports.of(context)
        self._exports.register(self, self._picture, "gain")
        self._empty = EmptyState("splits", "")
        self._switch = Switch(self._empty, self._make_content(), self)
        self.setLayout(column(self._switch))
        self._sight = Sight(self, self._refresh)
        document = context.document
        for signal in (document.table_changed, document.columns_changed, document.current_run_changed):
            signal.connect(self._on_changed)
        document.run_changed.connect(self._on_run_changed)
        context.selection.changed.connect(self._on_changed)
        for signal in context.trainer.work_signals:
            signal.connect(self._say_why)
        self._on_changed()

    def _make_table(self) -> _Candidates:
        table = _Candidates(self.model)
        table.setObjectName("splits.table")
        table.setAccessibleName("Candidates of the node")
        table.setItemDelegateForColumn(1, _Question(table))
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.verticalHeader().setDefaultSectionSize(theme.scaled(theme.CONTROL_HEIGHT))
        table.verticalHeader().setVisible(False)
        head = table.horizontalHeader()
        head.setHighlightSections(False)
        head.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        head.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)  # see `share_columns`
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        table.setMinimumWidth(theme.scaled(120))
        table.selectionModel().currentRowChanged.connect(self._on_row)
        table.activated.connect(lambda _index: self._context.actions[FORCE].trigger())  # Enter, double click
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.customContextMenuRequested.connect(self._open_menu)
        return table

    def _make_content(self) -> QWidget:
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.addWidget(self.table)
        splitter.addWidget(self._curves)
        splitter.setSizes([220, 240])
        export = bare_button("picture", "Export the gain curve", self._export, "splits.export")
        force = ActionButton(self._context.actions[FORCE], "quiet", "Force")
        force.setObjectName("splits.force")
        force.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys in the table
        head = row(16, self._arithmetic, 8, force, export, 8, margins=4)
        head.setStretchFactor(self._arithmetic, 1)
        self._busy = BusyBar(dims=splitter)
        content = QWidget()
        layout = column(self._busy, head, splitter, spacing=4)
        layout.setStretchFactor(splitter, 1)
        content.setLayout(layout)
        return content

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self._context.document.current_run_id:
            self._context.trainer.in_turn(self._on_changed)

    def _on_changed(self, *_: object) -> None:
        self._context.actions.enable(
            FORCE, False
        )  # behind a tab, too, until it is of the selected node again
        self._sight.ask()

    def _refresh(self) -> None:
        document = self._context.document
        run = document.current_run
        result = run.result if run is not None else None
        if run is None or result is None or result.grown_tree is None or document.table is None:
            self._asked = None
            if result is not None and result.grown_tree is not None:
                how = "Open the project it came from."
                self._say("A model file has no rows to look at.", how, "action.file.open")
            else:
                self._say_why()
        elif difference := what_differs(result, document.table):
            self._asked = None
            self._say(sentence(difference), "Undo that, or train it again to see its candidates.", TRAIN)
        else:
            self._ask(result, document.table, self._context.selection.node_path or ())

    def _say_why(self, *_: object) -> None:
        run = self._context.document.current_run
        if run is None or run.result is None or run.result.grown_tree is None:
            self._empty.say_what_single_trees_lack(self._context, GOAL, OF_ENSEMBLES)
            self._switch.show_content(False)

    def _say(self, sentence: str, how: str, action: str) -> None:
        self._empty.tell(sentence, how, self._context.actions.get(action))
        self._switch.show_content(False)

    def _ask(self, result, table, path) -> None:
        tree = result.trees[0]
        try:
            node = tree.node_at(path)
        except DataError:  # the node was cut away
            path, node = (), 0
        if self._asked is not None and self._asked[0] is result and self._asked[1] == path:
            self._refresh_force()
            return
        self._asked = (result, path)
        self._arithmetic.setText(kept_together(arithmetic_of(result, tree, node)) or LEAF)
        self._arithmetic.setToolTip("" if tree.is_leaf[node] else meaning_of_letter(result))
        self._switch.show_content(True)
        kept = self._study.rows if self._study is not None and self._study_of is result.grown_tree else None
        self._busy.begin()
        job = self._context.lanes.studies.submit_latest(
            LANE_KEY,
            lambda monitor: study_node(result, table, path, kept, monitor),
            "Looking at other splits",
        )
        job.ended.connect(self._on_study)

    def _on_study(self, future) -> None:
        run = self._context.document.current_run
        if future.cancelled():
            return
        self._busy.end()
        study, (result, path) = future.result(), self._asked or (None, None)
        if study is None:  # it was stopped
            self._asked = None
            return
        if run is None or result is None or study.tree is not result.trees[0] or study.path != path:
            return  # another model is looked at by now
        is_same_node = self._study_of is result.grown_tree and self._study.path == path
        kept = self._feature_of_row()  # of a node that was changed the same column is looked at
        self._study, self._study_of = study, result.grown_tree
        self.figure = make_splits(run.name, result, study)
        told = kept_together(self.figure.arithmetic) or LEAF
        self._arithmetic.setText("\n".join(filter(None, (told, self.figure.ties))))
        self.model.set_rows(self.figure.rows)
        self.table.share_columns()
        if self.figure.rows:
            features = [row.feature for row in self.figure.rows]
            self.table.selectRow(features.index(kept) if is_same_node and kept in features else 0)
        else:
            self._no_curve.setText("No column divides these rows within the limits of the settings.")
            self._curves.show_content(False)

    def _feature_of_row(self) -> int | None:
        at = self.table.currentIndex().row()
        return self.figure.rows[at].feature if self.figure is not None and at >= 0 else None

    def _on_row(self, current, _before) -> None:
        self._refresh_force()
        if self.figure is None or not current.isValid():
            return
        feature = self.figure.rows[current.row()].feature
        has_curve = feature in self.figure.curves and len(self.figure.curves[feature].thresholds) > 0
        self._curves.show_content(has_curve)
        if has_curve:
            self.plot.show_column(self.figure, feature)
        else:
            self._no_curve.setText("Categories have no order, so their gain has no curve.")

    # ---- forcing a candidate -----------------------------------------------------------------------

    def _refresh_force(self) -> None:
        """A candidate can be forced where it is of the node as it is, and no question of that already."""
        at, study, (result, path) = self.table.currentIndex().row(), self._study, self._asked or (None, ())
        is_shown = study is not None and result is not None and study.tree is result.trees[0]
        can = False
        if is_shown and study.path == path and self._switch.shows_content and 0 <= at < len(self.model.rows):
            can = can_force(study.found[at], study.tree, study.tree.node_at(path))
        self._context.actions.enable(FORCE, can)

    def _force(self) -> None:
        run_id = self._context.document.current_run_id
        if run_id is not None and self._study is not None:
            candidate = self._study.found[self.table.currentIndex().row()]
            spec = self._study.rows.features[candidate.feature]
            answer = answer_of(candidate, spec)
            self._context.editor.force_split(
                run_id, self._study.path, spec.name, answer, missing_child=missing_side_of(candidate)
            )

    def _ask_threshold(self, feature: int, threshold: float) -> None:
        run_id = self._context.document.current_run_id
        if run_id is not None and self._study is not None:
            name = self._study.rows.features[feature].name
            ask_split(self._context, self, run_id, self._study.path, name, threshold)

    def _open_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self._context.actions[FORCE])
        menu.popup(self.table.viewport().mapToGlobal(place))

    def _picture(self) -> GainPlot | None:
        is_there = self._switch.shows_content and self._curves.shows_content and self.plot.figure is not None
        return self.plot if is_there else None

    def _export(self) -> None:
        self._exports.ask(self, self.plot, "gain")


def kept_together(told: str) -> str:
    """Return written arithmetic that breaks into lines between its terms, not within one."""
    return re.sub(r"(?<=\S) (?=[A-Z]\()", "\N{NO-BREAK SPACE}", told)
