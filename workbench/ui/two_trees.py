"""Two trees grown on resampled rows beside each other, with what differs marked."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QSplitter, QWidget

from engine.errors import DataError
from engine.monitor import FitMonitor
from engine.parameters import Parameter
from workbench.datasets import Table
from workbench.figures.instability import MARK_TEXTS
from workbench.figures.tree import TreeFigure, tree_of_run
from workbench.figures.words import count
from workbench.instability import MAX_RESAMPLES, InstabilitySettings, grow_two
from workbench.jobs import Lanes
from workbench.runs import RunResult
from workbench.ui import theme
from workbench.ui.forms.fields import NumberField
from workbench.ui.plots.lit_item import MarksItem
from workbench.ui.plots.tree import TreeCanvas
from workbench.ui.widgets import ElidedLabel, Label, column, row

KEY = "two resampled trees"
PLACES = ("first", "second")
NUMBER_WIDTH, LEAST_HEIGHT = 72, 180


class _Drawn(NamedTuple):
    """A tree with the words that stand on its cards."""

    figure: TreeFigure
    words: dict[int, str]


class TwoTreesView(QWidget):
    """Grows the trees of two resamples when it is told of a model; numbers say which."""

    edited = Signal(str, int)  # "first" or "second", the resample counted from 1

    def __init__(self, lanes: Lanes) -> None:
        super().__init__()
        self._lanes = lanes
        self._drawn: tuple[Any, ...] = ()
        self._waiting: dict[str, _Drawn] = {}
        self._second = QTimer(self, singleShot=True)
        self._second.timeout.connect(self._show_second)
        self.canvases = {place: TreeCanvas() for place in PLACES}
        self.numbers = {place: self._number(place) for place in PLACES}
        self._marks = {place: MarksItem(self.canvases[place].item) for place in PLACES}
        self._titles = {place: ElidedLabel("", "caption", Qt.TextElideMode.ElideRight) for place in PLACES}
        both = QSplitter(Qt.Orientation.Horizontal)
        both.setChildrenCollapsible(False)
        for place in PLACES:
            both.addWidget(self._side(place))
        self.setLayout(column(both))

    def _number(self, place: str) -> NumberField:
        label = f"{place.capitalize()} resample"
        made = NumberField(Parameter(place, 1, "int", 1, MAX_RESAMPLES, label=label))
        made.setObjectName(f"instability.{place}")
        made.focusProxy().setAccessibleName(label)
        made.setFixedWidth(theme.scaled(NUMBER_WIDTH))
        made.edited.connect(lambda value, place=place: self.edited.emit(place, value))
        return made

    def _side(self, place: str) -> QWidget:
        side = QWidget()
        self.canvases[place].setObjectName(f"instability.{place}.canvas")
        self.canvases[place].setAccessibleName(f"Tree of the {place} resample")
        self.canvases[place].setMinimumHeight(theme.scaled(LEAST_HEIGHT))
        head = row(Label("Resample", "secondary"), self.numbers[place], self._titles[place], margins=4)
        head.setStretch(2, 1)
        side.setLayout(column(head, self.canvases[place], spacing=0))
        return side

    def show_model(self, name: str, result: RunResult, table: Table, settings: InstabilitySettings) -> None:
        """Show the trees of two resamples of a model's training rows."""
        for place in PLACES:
            self.numbers[place].set_value(getattr(settings, place))
        wanted = (result, table, settings)
        if wanted == self._drawn:
            return
        self._drawn = wanted
        job = self._lanes.studies.submit_latest(
            KEY, partial(_draw_two, name, result, table, settings), "Growing two resampled trees"
        )
        job.ended.connect(self._on_ended)

    def _on_ended(self, future: Future[dict[str, _Drawn]]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        if isinstance(error, DataError):
            for title in self._titles.values():
                title.setText(str(error))
            return
        drawn = future.result()
        self._show("first", drawn)
        self._second.start(0)  # in a turn of its own: both at once would stop the window
        self._waiting = drawn

    def _show(self, place: str, drawn: dict[str, _Drawn]) -> None:
        self.canvases[place].set_figure(drawn[place].figure)
        self._marks[place].set_words(drawn[place].words)
        self._titles[place].setText(_told(drawn[place]))

    def _show_second(self) -> None:
        self._show("second", self._waiting)


def _draw_two(
    name: str, result: RunResult, table: Table, settings: InstabilitySettings, monitor: FitMonitor
) -> dict[str, _Drawn]:
    found = grow_two(result, table, settings, monitor)
    drawn = {}
    for place, estimator, marks, rows in zip(PLACES, found.estimators, found.marks, found.rows, strict=True):
        own = replace(result, estimator=estimator, grown_tree=estimator.tree_, edits=())
        figure = tree_of_run(name, own, 0, table, rows)
        words = {node: MARK_TEXTS[mark] for node, mark in marks.items() if mark in MARK_TEXTS}
        drawn[place] = _Drawn(figure, words)
    return drawn


def _told(drawn: _Drawn) -> str:
    """Such as "12 leaves, 206 training rows; 3 nodes differ from the other tree"."""
    n = len(drawn.words)
    if not n:
        return f"{drawn.figure.subtitle}; as the other tree"
    differ = "node differs" if n == 1 else "nodes differ"
    return f"{drawn.figure.subtitle}; {count(n)} {differ} from the other tree"
