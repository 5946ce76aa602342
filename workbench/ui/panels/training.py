"""The Training view: the loss of the current run by round or number of trees, live while it trains."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QWidget

from workbench.catalog import entry_of
from workbench.figures.members import LiveMembers
from workbench.figures.training import (
    LiveCurve,
    TrainingFigure,
    curve_of_run,
    words_of_training_loss,
)
from workbench.ui.context import Context
from workbench.ui.exporting import PictureExports
from workbench.ui.plots.training import TrainingPlot
from workbench.ui.round_bar import RoundBar
from workbench.ui.states import EmptyState, Switch, view_of_its_own
from workbench.ui.widgets import ElidedLabel, bare_button, column, row

GOAL = "its loss fall, round by round"
ADD = "action.model.add_boosting"


class TrainingPanel(QWidget):
    """Draws what the trainer tells; when a run has ended, what its result says."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.setObjectName("panel.training")
        self._context = context
        self._live: dict[str, LiveCurve | LiveMembers] = {}
        self.plot = TrainingPlot()
        self._shows_all = QCheckBox("Show all")
        self._shows_all.setObjectName("training.show_all")
        self._shows_all.setToolTip("Span all values, not only the middle 96 %")
        self._shows_all.toggled.connect(self.plot.set_shows_all)
        self._exports = PictureExports.of(context)
        self._exports.register(self, lambda: self.plot if self._switch.shows_content else None, "training")
        self._empty = EmptyState("training", "")
        self._told = ElidedLabel("", "secondary", Qt.TextElideMode.ElideRight)
        self._told.setObjectName("training.told")
        content = QWidget()
        export = bare_button("picture", "Export picture", self._export, "training.export")
        strip = row(12, self._told, self._shows_all, export, 8, margins=4)
        strip.setStretchFactor(self._told, 1)
        content.setLayout(column(strip, self.plot, spacing=0))
        self._switch = Switch(self._empty, content, self)
        self.rounds = RoundBar(context)
        self.rounds.looked_at.connect(self.plot.mark_round)
        self.plot.round_asked.connect(self.rounds.look_at)
        layout = column(self._switch, self.rounds, spacing=0)
        layout.setStretchFactor(self._switch, 1)
        self.setLayout(layout)
        document, trainer = context.document, context.trainer
        document.table_changed.connect(self._refresh)
        document.current_run_changed.connect(self._refresh)
        document.run_changed.connect(self._on_run_changed)
        for signal in (document.columns_changed, *trainer.work_signals):
            signal.connect(self._say_why)
        trainer.started.connect(self._on_started)
        trainer.advanced.connect(self._on_advanced)
        trainer.ended.connect(self._on_ended)
        self._refresh()
        self.rounds.refresh()

    def _on_started(self, run_id: str) -> None:
        record = self._context.document.run(run_id)
        entry, task = entry_of(record.spec.kind), self._context.document.task
        name = entry.out_of_bag_name(task)
        if entry.has_curve:
            name = entry.curve_name(task, record.spec.parameters)
        if name:
            words = words_of_training_loss(record.spec.parameters, self._has_categories())
            self._live[run_id] = (
                LiveMembers(record.name, name)
                if entry.has_members
                else LiveCurve(record.name, name, words, entry.step_name)
            )
        self._on_run_changed(run_id)

    def _has_categories(self) -> bool:
        """Tell whether a feature of the table is a category."""
        document = self._context.document
        names = [name for name, role in document.roles.items() if role == "feature"]
        table = document.table
        return table is not None and any(table.column(name).kind not in ("number", "date") for name in names)

    def _on_advanced(self, run_id: str, events: list) -> None:
        live = self._live.get(run_id)
        if live is not None and live.extend(events) and run_id == self._context.document.current_run_id:
            self._show(live.figure())

    def _on_ended(self, run_id: str) -> None:
        self._live.pop(run_id, None)
        self._on_run_changed(run_id)

    def _on_run_changed(self, run_id: str) -> None:
        if run_id == self._context.document.current_run_id:
            self._context.trainer.in_turn(self._refresh)

    def _refresh(self, *_: object) -> None:
        run = self._context.document.current_run
        live = self._live.get(run.run_id) if run is not None else None
        if live is not None and live.n_points:
            self._show(live.figure())
            return
        figure = curve_of_run(run.name, run.result) if run is not None and run.result is not None else None
        if figure is not None:
            self._show(figure)
            return
        self._switch.show_content(False)
        self._say_why()

    def _say_why(self, *_: object) -> None:
        run = self._context.document.current_run
        entry = None if run is None else entry_of(run.spec.kind)
        is_trained = run is not None and run.result is not None
        if entry is not None and entry.out_of_bag_names is not None and is_trained:
            self._empty.say(
                "No row was kept out of a tree and scored by it.",
                "Switch on Resample rows and Out-of-bag score, and train again to watch the error fall.",
            )
            self._empty.offer(self._context.actions.get("action.model.train"))
        elif entry is not None and not entry.has_curve and entry.out_of_bag_names is None:
            assert run is not None
            view = view_of_its_own(run)
            how = f"Forests and boosting learn step by step; {view.capitalize()} tells of this one."
            self._empty.say(f"{entry.subject} has no loss by round.", how)
            helps = ADD if entry.has_trees else f"action.view.{view}"
            self._empty.offer(self._context.actions.get(helps))
        elif run is None or run.result is None:
            self._empty.say_what_is_missing(self._context, GOAL, ADD)
        else:
            self._empty.say(f"{run.name} holds no losses.", "Train it again to watch them.")
            self._empty.offer(self._context.actions.get("action.model.train"))

    def _show(self, figure: TrainingFigure) -> None:
        self._switch.show_content(True)
        self._shows_all.setVisible(figure.is_cut or self._shows_all.isChecked())
        self._told.setText(figure.sentence)
        self.plot.set_figure(figure)

    def _export(self) -> None:
        self._exports.ask(self, self.plot, "training")
