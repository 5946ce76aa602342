"""The Variance of a Forest window: how much averaging more trees helps, and where it ends."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLineEdit, QWidget

from workbench.figures.tree_averages import AveragesFigure, make_averages
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
from workbench.ui.plots.tree_averages import AveragesPlot
from workbench.ui.refit_dialog import RefitDialog
from workbench.ui.states import EmptyState, Switch
from workbench.ui.widgets import Label, column, row

KEY = "averages"
SIZE = QSize(980, 580)
NOT_YET = "Nothing was fitted yet."
HOW = (
    "Press Fit: a forest is grown on many training sets, and the variance of its first trees' mean measured."
)


class AveragesDialog(RefitDialog):
    """Of random forests, extra trees and bagging."""

    _figure: AveragesFigure | None = None

    def __init__(self, context: Context, window: QWidget) -> None:
        self._averages = context.averages
        super().__init__(context, window, KEY, "Variance of a Forest", SIZE, context.averages, inputs_of)
        self.setLayout(column(self._switch))
        self._sight.ask()

    @property
    def figure(self) -> AveragesFigure | None:
        """What is drawn now."""
        return self._figure

    @property
    def settings(self) -> AveragesSettings:
        return settings_for(self._context.document)

    def _picture(self) -> AveragesPlot | None:
        return None if self._figure is None else self.plot

    def _csv_text(self) -> str | None:
        return None if self._figure is None else self._figure.to_csv()

    def _make_content(self) -> QWidget:
        self.trees, self.plot = QLineEdit(), AveragesPlot()
        self._name(self.trees, "trees", "Numbers of trees")
        self._watch(self.trees)
        counts = row(Label("Trees", "name"), self.trees, spacing=8)
        counts.setStretch(1, 1)
        strip = row(
            self.draws, self.count, Label("training sets", "secondary"), self._says, self.start,
            *self._exporters, spacing=8,
        )  # fmt: skip
        strip.setStretch(3, 1)
        head = QWidget()
        head.setLayout(column(counts, strip, self._error, margins=theme.PANEL_PADDING, spacing=8))
        self._none_yet = EmptyState(KEY, NOT_YET, HOW)
        self._pictures = Switch(self._none_yet, self.plot)
        content, layout = QWidget(), column(head, self._pictures, spacing=0)
        layout.setStretch(1, 1)
        content.setLayout(layout)
        return content

    def _typed(self) -> AveragesSettings:
        settings: AveragesSettings = super()._typed()
        return replace(settings, n_trees=read_counts(self.trees.text()))

    def _words_of(self, settings: AveragesSettings) -> str:
        is_of_trees = settings.n_trees != self.settings.n_trees
        return "Average other numbers of trees" if is_of_trees else super()._words_of(settings)

    def _marks(self, why: str) -> dict[QLineEdit, bool]:
        marks = super()._marks(why)
        return {**marks, self.trees: "of trees" in why and not marks[self.count]}

    def _refresh(self) -> None:
        document = self._context.document
        run = document.current_run
        if document.table is None or document.target is None or run is None or run.spec.kind not in KINDS:
            how = "Choose a random forest, extra trees or bagging, or add one."
            self._say_what_is_missing("Averages of trees are looked at here.", how)
            return
        self._switch.show_content(True)
        self._offer_draws()
        self._show_text(self.trees, ", ".join(map(str, self.settings.n_trees)))
        self._draw()
        self._show_state()

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
