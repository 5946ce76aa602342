"""Which settings are tried: one or two parameters with their values, and what they are compared by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from engine.parameters import Parameter
from workbench.tuning import Plan, Scoring
from workbench.tuning_grids import values_text
from workbench.ui import theme
from workbench.ui.forms.grid_line import GridLines
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import column


class Draft(NamedTuple):
    """What a person is putting together: parameters with their values as texts, and the metric."""

    names: tuple[str, ...]
    texts: tuple[str, ...]
    metric: str


def draft_of(plan: Plan, known: Mapping[str, Parameter]) -> Draft:
    """Write a plan as a person would have entered it, as far as its parameters are known."""
    names = tuple(name for name in plan.grid if name in known)
    return Draft(names, tuple(values_text(known[name], plan.grid[name]) for name in names), plan.metric)


class TuningForm(QWidget):
    """One or two settings with the values to try, and what they are compared by."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._grid_lines = GridLines("tuning")
        self.lines = self._grid_lines.lines
        self.score_box = ComboBox()
        self.score_box.setObjectName("tuning.metric")
        self.score_box.setAccessibleName("Compare settings by")
        self.score_box.setToolTip("What settings are compared by")
        self._scorings: tuple[Scoring, ...] = ()
        self.setLayout(column(self._grid_lines))
        self._grid_lines.changed.connect(self.changed)
        self.score_box.activated.connect(self.changed)
        theme.changed.connect(self._dress)

    def _dress(self) -> None:
        self._grid_lines.align()
        self.score_box.setFixedWidth(self.score_box.room_wanted())

    def offer(
        self, parameters: Sequence[Parameter], scorings: Sequence[Scoring], draft: Draft,
        default: Callable[[Parameter], str],
    ) -> None:  # fmt: skip
        """Show a draft, and what may be chosen instead; `default` writes the values that are tried first."""
        self._grid_lines.offer(parameters, default, draft.names, draft.texts)
        self._scorings = tuple(scorings)
        self.score_box.clear()
        for scoring in scorings:
            self.score_box.addItem(scoring.title)
        self._dress()
        metrics = [scoring.metric for scoring in scorings]
        self.score_box.setCurrentIndex(metrics.index(draft.metric) if draft.metric in metrics else 0)

    @property
    def draft(self) -> Draft:
        chosen = [line for line in self.lines if line.parameter is not None]
        names = tuple(line.parameter.name for line in chosen)
        return Draft(names, tuple(line.edit.text() for line in chosen), self._metric)

    @property
    def _metric(self) -> str:
        return self._scorings[max(self.score_box.currentIndex(), 0)].metric

    def plan(self) -> Plan:
        """Return what is to be tried.

        Raises
        ------
        ParameterError
            The values of a parameter are no list of legal ones, or both lines name the same parameter.
        """
        return Plan(self._grid_lines.grid(), self._metric)
