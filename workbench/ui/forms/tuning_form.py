"""Which settings are tried: one or two parameters with their values, and what they are compared by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from engine.errors import ParameterError
from engine.parameters import Parameter
from workbench.tuning import Plan, Scoring
from workbench.tuning_grids import read_values
from workbench.ui import theme
from workbench.ui.forms.parameter_form import tip_of
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import column, keep_room, literal, repolish, row

NO_SECOND = "no second one"
LAYERS_TIP = 'Layers with commas, values with semicolons between them: "16; 64, 64"; none is a linear model'
VALUES_TIP = "Values with commas between them; 1..10 stands for all from 1 to 10, 0.1..0.9 by 0.2 has a step"


class Draft(NamedTuple):
    """What a person is putting together: parameters with their values as texts, and the metric."""

    names: tuple[str, ...]
    texts: tuple[str, ...]
    metric: str


class _Line(QWidget):
    """One parameter and the values to try of it."""

    changed = Signal()

    def __init__(self, place: int, may_be_none: bool) -> None:
        super().__init__()
        self._may_be_none = may_be_none
        self._default: Callable[[Parameter], str] = lambda _parameter: ""
        self._parameters: tuple[Parameter, ...] = ()
        self.box, self.edit = ComboBox(), QLineEdit()
        self.box.setObjectName(f"tuning.parameter{place}")
        self.box.setAccessibleName("Setting to tune" if place == 1 else "Second setting to tune")
        self.edit.setObjectName(f"tuning.values{place}")
        self.edit.setAccessibleName("Values to try" if place == 1 else "Values to try of the second setting")
        keep_room(self.edit)
        self.box.activated.connect(self._on_chosen)
        self.edit.textEdited.connect(lambda _text: self.changed.emit())
        layout = row(self.box, self.edit, spacing=8)
        layout.setStretch(1, 1)
        self.setLayout(layout)

    def offer(self, parameters: Sequence[Parameter], default: Callable[[Parameter], str]) -> None:
        """List the parameters; what was chosen is chosen no more."""
        self._parameters, self._default = tuple(parameters), default
        self.box.clear()
        if self._may_be_none:
            self.box.addItem(NO_SECOND)
        for parameter in self._parameters:
            self.box.addItem(parameter.label or parameter.name)

    @property
    def parameter(self) -> Parameter | None:
        place = self.box.currentIndex() - self._may_be_none
        return self._parameters[place] if 0 <= place < len(self._parameters) else None

    def show_choice(self, name: str | None, text: str) -> None:
        names = [parameter.name for parameter in self._parameters]
        self.box.setCurrentIndex(names.index(name) + self._may_be_none if name in names else 0)
        self.edit.setText(text)
        self._show_edit()

    def _on_chosen(self, _place: int) -> None:
        parameter = self.parameter
        self.edit.setText("" if parameter is None else self._default(parameter))
        self.edit.setCursorPosition(0)
        self._show_edit()
        self.changed.emit()

    def _show_edit(self) -> None:
        parameter = self.parameter
        self.edit.setVisible(parameter is not None)
        self.box.setToolTip("" if parameter is None else tip_of(parameter))
        has_layers = parameter is not None and parameter.kind == "sizes"
        self.edit.setToolTip(literal(LAYERS_TIP if has_layers else VALUES_TIP))

    def set_invalid(self, is_invalid: bool) -> None:
        if bool(self.edit.property("invalid")) != is_invalid:
            self.edit.setProperty("invalid", is_invalid)
            repolish(self.edit)


class TuningForm(QWidget):
    """Two lines of a parameter with values each, the second of which may be empty."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.lines = (_Line(1, may_be_none=False), _Line(2, may_be_none=True))
        self.score_box = ComboBox()
        self.score_box.setObjectName("tuning.metric")
        self.score_box.setAccessibleName("Compare settings by")
        self.score_box.setToolTip("What settings are compared by")
        self._scorings: tuple[Scoring, ...] = ()
        self.setLayout(column(*self.lines, spacing=4))
        for line in self.lines:
            line.changed.connect(self._on_changed)
        self.score_box.activated.connect(self._on_changed)
        theme.changed.connect(self._dress)

    def _dress(self) -> None:
        room = max(line.box.room_wanted() for line in self.lines)
        for line in self.lines:
            line.box.setFixedWidth(room)
        self.score_box.setFixedWidth(self.score_box.room_wanted())

    def offer(
        self, parameters: Sequence[Parameter], scorings: Sequence[Scoring], draft: Draft,
        default: Callable[[Parameter], str],
    ) -> None:  # fmt: skip
        """Show a draft, and what may be chosen instead; `default` writes the values that are tried first."""
        for line in self.lines:
            line.offer(parameters, default)
        names, texts = (*draft.names, None, None), (*draft.texts, "", "")
        for line, name, text in zip(self.lines, names, texts, strict=False):
            line.show_choice(name, text)
        self._scorings = tuple(scorings)
        self.score_box.clear()
        for scoring in scorings:
            self.score_box.addItem(scoring.title)
        self._dress()
        metrics = [scoring.metric for scoring in scorings]
        self.score_box.setCurrentIndex(metrics.index(draft.metric) if draft.metric in metrics else 0)
        self._mark()

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
        grid = {}
        for line in self.lines:
            parameter = line.parameter
            if parameter is None:
                continue
            if parameter.name in grid:
                raise ParameterError(
                    f"{parameter.label or parameter.name} is there twice; choose another one"
                )
            grid[parameter.name] = read_values(parameter, line.edit.text())
        return Plan(grid, self._metric)

    def _on_changed(self, *_: object) -> None:
        self._mark()
        self.changed.emit()

    def _mark(self) -> None:
        for line in self.lines:
            line.set_invalid(not _is_readable(line))


def _is_readable(line: _Line) -> bool:
    if line.parameter is None:
        return True  # there is nothing to be read
    try:
        read_values(line.parameter, line.edit.text())
    except ParameterError:
        return False
    return True
