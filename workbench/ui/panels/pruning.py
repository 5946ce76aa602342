"""The Pruning view: error by tree size, and a slider that prunes the single tree of the current run."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QBoxLayout, QMenu, QSizePolicy, QWidget

from engine.errors import DataError
from workbench.commands import CommandId
from workbench.crossvalidation import MAX_ROWS
from workbench.editing import preview_of_price, prune_to
from workbench.figures.pruning import PruningFigure, make_pruning, stop_now
from workbench.figures.words import counted, number, sentence
from workbench.fitting import what_differs
from workbench.pruning import PruningCurve, pruning_curve, with_cross_validation
from workbench.tree_editor import is_small
from workbench.tree_edits import PRUNE_TO
from workbench.ui import theme
from workbench.ui.context import Context
from workbench.ui.exporting import PictureExports
from workbench.ui.inputs import Slider
from workbench.ui.plots.pruning import PruningPlot
from workbench.ui.sight import Sight
from workbench.ui.states import BusyBar, EmptyState, Switch
from workbench.ui.widgets import ElidedLabel, Label, bare_button, button, column, row

RULE_ACTIONS = {
    "reduced_error": ("Prune on Validation Rows", "Cut every branch that validation rows do not speak for"),
    "pessimistic": ("Prune by Expected Errors", "Cut branches that a leaf is expected to beat (C4.5)"),
    "merge": ("Merge Equal Leaves", "Cut questions whose leaves all answer the same"),
}
PATH_KEY, FOLDS_KEY, PRUNE_KEY = "pruning path", "pruning folds", "pruning to a price"
REST_MS = 150  # a slider held still for so long: its tree is scored
GOAL, TRAIN = "its error at every size", "action.model.train"
OF_ENSEMBLES = "Trees inside ensembles are not pruned."


class _Says(ElidedLabel):
    """Tells of the tree beside the slider, whose length must not change while it is dragged."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        super().__init__("", "secondary", Qt.TextElideMode.ElideRight)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def keep_room_for(self, texts: list[str]) -> None:
        """Be as wide as the widest of `texts`, where there is room."""
        if texts != self._texts:
            self._texts = texts
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        metrics, hint = QFontMetrics(self.font()), super().sizeHint()
        return hint.expandedTo(QSize(max(map(metrics.horizontalAdvance, self._texts), default=0) + 4, 0))


def _words(n_leaves: int, alpha: float | None, is_on_path: bool = True) -> str:
    """Such as "3 leaves, a leaf costs 0.0123"."""
    how = "as grown" if alpha is None else f"a leaf costs {number(alpha)}"
    return f"{counted(n_leaves, 'leaf', 'leaves')}, {how if is_on_path else 'changed by hand'}"


class PruningPanel(QWidget):
    """Asks for the curve in the background when a tree was grown; its slider prunes at once, undoably."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.pruning")
        self._context = context
        self._asked_of: Any = None  # the grown tree whose curve is on screen or under way
        self._curve: PruningCurve | None = None
        self._job: Any = None
        self._folds_job: Any = None
        self._wanted: tuple[Any, int] | None = None  # a result, and the stop it is to be pruned to
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._show_preview)
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._score_wanted)
        self._add_actions()
        self.plot = PruningPlot()
        self.plot.stop_asked.connect(self._prune_to_stop)
        self._exports = PictureExports.of(context)
        self._exports.register(self, lambda: self.plot if self.figure is not None else None, "pruning")
        self._empty = EmptyState("prune", "")
        self._busy = BusyBar(dims=self.plot)
        content = QWidget()
        layout = column(self._busy, self._make_strip(), self.plot, self._make_slider_row(), spacing=4)
        layout.setStretchFactor(self.plot, 1)
        content.setLayout(layout)
        self._switch = Switch(self._empty, content, self)
        self.setLayout(column(self._switch))
        self._sight = Sight(self, self._refresh)
        document = context.document
        for signal in (document.table_changed, document.columns_changed, document.current_run_changed):
            signal.connect(self._on_changed)
        document.run_changed.connect(self._on_run_changed)
        for signal in context.trainer.work_signals:
            signal.connect(self._say_why)
        self._on_changed()

    @property
    def figure(self) -> PruningFigure | None:
        """What is drawn now."""
        return self.plot.figure if self._switch.shows_content else None

    def _make_strip(self) -> QBoxLayout:
        self._ask_folds = button("Cross-validate", "quiet", self._start_folds, "pruning.cross_validate")
        self._ask_folds.setToolTip(
            "Grow trees without a fold of the training rows, and ask them about the fold"
        )
        self._to_best = button("Least error", "quiet", lambda: self._prune_to_mark("best"), "pruning.best")
        self._to_best.setToolTip("Prune to the tree with the least cross-validated error")
        self._to_one_se = button(
            "One SE", "quiet", lambda: self._prune_to_mark("one_se"), "pruning.one_standard_error"
        )
        self._to_one_se.setToolTip("Prune to the smallest tree within one standard error of the least error")
        for mark in (self._to_best, self._to_one_se):
            mark.hide()  # until there are folds
        export = bare_button("picture", "Export picture", self._export, "pruning.export")
        by_rule = button("By rule", "quiet", self._open_rules, "pruning.by_rule")
        by_rule.setToolTip(
            "Prune on the validation rows, by expected errors, or where leaves answer the same"
        )
        self._by_rule = by_rule
        buttons = (self._ask_folds, self._to_best, self._to_one_se, by_rule)
        return row(12, *buttons, -1, export, 8, margins=4, spacing=4)

    def _make_slider_row(self) -> QBoxLayout:
        self.slider = Slider("pruning.slider", "Leaves of the pruned tree")
        self.slider.setMinimumWidth(theme.scaled(96))
        self.slider.setToolTip("Prune to fewer leaves, or to the right put back what was pruned")
        self.slider.valueChanged.connect(self._prune_to_stop)
        self.slider.sliderReleased.connect(self._score_wanted)
        self._says = _Says()
        self._says.setObjectName("pruning.says")
        slider_row = row(16, Label("Leaves", "secondary"), self.slider, self._says, 16, margins=4, spacing=8)
        slider_row.setStretchFactor(self.slider, 1)
        return slider_row

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self._context.document.current_run_id:
            self._context.trainer.in_turn(self._on_changed)

    def _on_changed(self, *_: object) -> None:
        self._enable_rules()
        self._sight.ask()

    def _refresh(self) -> None:
        if self._wanted is not None and self._wanted_result() is None:
            self._give_up()
        document = self._context.document
        run = document.current_run
        result = run.result if run is not None else None
        if run is None or result is None or result.grown_tree is None or document.table is None:
            self._forget()
            if result is None or result.grown_tree is None:
                self._say_why()
            else:
                how = "Open the project it came from."
                self._say("A model file has no rows to count errors on.", how, "action.file.open")
        elif difference := what_differs(result, document.table):
            self._forget()
            self._say(sentence(difference), "Undo that, or train it again to prune it.", TRAIN)
        elif result.grown_tree.n_leaves == 1:
            self._forget()
            how = "There is nothing to prune; loosen its settings to grow it."
            self._say("This tree is a single leaf.", how, TRAIN)
        elif self._asked_of is not result.grown_tree:
            self._ask(result, document.table)
        elif self._curve is not None:
            self._draw()

    def _say_why(self, *_: object) -> None:
        run = self._context.document.current_run
        if run is None or run.result is None or run.result.grown_tree is None:
            self._empty.say_what_single_trees_lack(self._context, GOAL, OF_ENSEMBLES)
            self._switch.show_content(False)

    def _say(self, sentence: str, how: str, action: str) -> None:
        self._empty.tell(sentence, how, self._context.actions.get(action))
        self._switch.show_content(False)

    def _enable_rules(self) -> None:
        run = self._context.document.current_run
        is_single = run is not None and run.result is not None and run.result.grown_tree is not None
        can_cut = is_single and run.result.trees[0].n_leaves > 1
        for rule in RULE_ACTIONS:
            is_of_classes = rule != "pessimistic" or (can_cut and bool(run.result.classes))
            self._context.actions.enable(f"action.tree.{rule}", can_cut and is_of_classes)

    def _forget(self) -> None:
        for job in (self._job, self._folds_job):
            if job is not None:
                job.supersede()
        self._asked_of = self._curve = self._job = self._folds_job = None

    def _ask(self, result, table) -> None:
        self._forget()
        self._asked_of = result.grown_tree
        if not self._switch.shows_content:
            self._empty.tell("The pruned trees are being measured.", "", None)
        self._busy.begin()
        self._job = self._context.lanes.views.submit_latest(
            PATH_KEY, lambda _monitor: pruning_curve(result, table), "Measuring the pruned trees"
        )
        self._job.ended.connect(self._on_curve)

    def _on_curve(self, future) -> None:
        if future.cancelled() or self._asked_of is None:
            return
        self._job = None
        self._busy.end()
        self._curve = future.result()
        self._sight.ask()
        if self._result_of_curve() is not None and self._curve.n_rows.get("train", MAX_ROWS) < MAX_ROWS:
            self._start_folds()

    def _result_of_curve(self) -> Any:
        """The current result where the curve is its own: behind a tab another may have become current."""
        run, curve = self._context.document.current_run, self._curve
        result = run.result if run is not None else None
        is_its_own = curve is not None and result is not None and result.grown_tree is curve.tree
        return result if is_its_own else None

    def _start_folds(self) -> None:
        table, curve, result = self._context.document.table, self._curve, self._result_of_curve()
        if curve is None or result is None or table is None:
            return
        self._folds_job = self._context.lanes.studies.submit_latest(
            FOLDS_KEY,
            lambda monitor: with_cross_validation(curve, result, table, monitor),
            "Cross-validating the pruned trees",
        )
        self._folds_job.ended.connect(self._on_folds)
        self._show_buttons()

    def _on_folds(self, future) -> None:
        if future.cancelled() or self._curve is None:
            return
        self._folds_job = None
        try:
            found = future.result()
        except DataError as error:
            self._context.document.post_message(str(error))
            found = None
        self._curve = found or self._curve
        self._sight.ask()

    def _draw(self) -> None:
        run = self._context.document.current_run
        if run is None or run.result is None or self._curve is None:
            return
        figure = make_pruning(run.name, run.result, self._curve)
        self._switch.show_content(True)
        self.plot.set_figure(figure)
        stop = stop_now(figure, run.result) if self._wanted is None else self._wanted[1]
        self.slider.blockSignals(True)
        self.slider.setRange(0, len(figure.stops) - 1)
        self.slider.setValue(stop)
        self.slider.blockSignals(False)
        told = [_words(*at) for at in figure.stops]
        self._says.keep_room_for([*told, _words(run.result.trees[0].n_leaves, None, is_on_path=False)])
        self._say_stop(figure, stop, run.result.trees[0].n_leaves)
        self._show_buttons()

    def _say_stop(self, figure: PruningFigure, stop: int, n_leaves: int) -> None:
        is_on_path = figure.here is None or figure.here.is_on_path
        self._says.setText(_words(n_leaves, figure.stops[stop].alpha, is_on_path))

    def _show_buttons(self) -> None:
        figure, is_busy = self.figure, self._folds_job is not None
        has_folds = figure is not None and figure.best is not None
        self._ask_folds.setVisible(not has_folds)
        self._ask_folds.setEnabled(not is_busy)
        self._ask_folds.setText("Cross-validating" if is_busy else "Cross-validate")
        for mark in (self._to_best, self._to_one_se):
            mark.setVisible(has_folds)

    def _prune_to_mark(self, name: str) -> None:
        if self.figure is not None:
            self._prune_to_stop(getattr(self.figure, name))

    def _prune_to_stop(self, stop: int) -> None:
        """Prune: at once where the table is small, else tree and surface first and the scores after them."""
        document, figure = self._context.document, self.figure
        run, table = document.current_run, document.table
        if figure is None or run is None or run.result is None or table is None:
            return
        self._wanted = run.result, stop
        if self.slider.isSliderDown() or not is_small(run.result, table):
            self._soon.start()  # after all moves of the mouse that wait already
            self._rest.start()
        else:
            self._prune_at_once()

    def _wanted_result(self) -> Any:
        """The result that is to be pruned, while it is in place and can be."""
        run = self._context.document.current_run
        is_there = self._wanted is not None and run is not None and run.result is self._wanted[0]
        return run.result if is_there and not run.is_training and self.figure is not None else None

    def _give_up(self) -> None:
        """Forget what the slider asks for: it is in place, or cannot be."""
        self._wanted = None
        self._soon.stop()
        self._rest.stop()
        self._context.selection.show_preview(None)

    def _show_preview(self) -> None:
        result, figure = self._wanted_result(), self.figure
        if result is None or figure is None or self._wanted is None:
            self._give_up()
            return
        stop = self._wanted[1]
        preview = preview_of_price(result, figure.stops[stop].alpha)
        if preview is not None:
            self._context.selection.show_preview(preview)
            self._say_stop(figure, stop, preview.trees[0].n_leaves)

    def _prune_at_once(self) -> None:
        document, run, figure = self._context.document, self._context.document.current_run, self.figure
        assert self._wanted is not None
        stop = self._wanted[1]
        self._wanted = None
        if run is None or run.result is None or figure is None or _is_in_place(figure, run.result, stop):
            self._give_up()
            return
        try:
            document.prune_to(run.run_id, figure.stops[stop].alpha)
        except DataError as error:
            document.post_message(str(error))
        self._give_up()
        self._sight.ask()

    def _score_wanted(self) -> None:
        """Put the tree that the slider asks for in place, with its scores."""
        if self._wanted is None:
            return
        result, figure, table = self._wanted_result(), self.figure, self._context.document.table
        if result is None or figure is None or table is None:
            self._give_up()
            self._sight.ask()
        elif is_small(result, table) or _is_in_place(figure, result, self._wanted[1]):
            self._prune_at_once()
        else:
            stop = self._wanted[1]
            alpha = figure.stops[stop].alpha
            job = self._context.lanes.views.submit_latest(
                PRUNE_KEY, lambda _monitor: (result, stop, prune_to(result, table, alpha)), "Scoring the tree"
            )
            job.ended.connect(self._on_scored)

    def _on_scored(self, future) -> None:
        if future.cancelled():
            return
        document, run = self._context.document, self._context.document.current_run
        refusal = future.exception()
        if isinstance(refusal, DataError):  # what else ends it is an error, raised below
            self._give_up()
            document.post_message(str(refusal))
            self._sight.ask()
            return
        before, stop, pruned = future.result()
        result = self._wanted_result()
        if run is None or result is not before or self._wanted != (before, stop):
            return  # the slider is elsewhere by now
        self._wanted = None
        document.take_edited(run.run_id, before, pruned, PRUNE_TO, CommandId.PRUNE_TO)
        self._give_up()

    def _add_actions(self) -> None:
        add = self._context.actions.add
        for rule, (text, tip) in RULE_ACTIONS.items():
            add(f"action.tree.{rule}", text, None, partial(self._prune_by_rule, rule), "prune", tip=tip)

    def _open_rules(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for rule in RULE_ACTIONS:
            menu.addAction(self._context.actions[f"action.tree.{rule}"])
        menu.popup(self._by_rule.mapToGlobal(self._by_rule.rect().bottomLeft()))

    def _prune_by_rule(self, rule: str) -> None:
        run_id = self._context.document.current_run_id
        if run_id is not None:
            self._context.editor.prune_by_rule(run_id, rule)

    def _export(self) -> None:
        self._exports.ask(self, self.plot, "pruning")


def _is_in_place(figure: PruningFigure, result: Any, stop: int) -> bool:
    """Tell whether a tree is pruned to a stop of the curve, and not stepped on from there."""
    return stop == stop_now(figure, result) and not any(edit.kind == "splits" for edit in result.edits)
