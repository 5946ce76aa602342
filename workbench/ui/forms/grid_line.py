"""One or two settings to tune, and the values to try of each: a list of settings, and a text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from engine.errors import ParameterError
from engine.parameters import Parameter
from workbench.tuning_grids import read_values
from workbench.ui.forms.parameter_form import tip_of
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import column, keep_room, literal, repolish, row

NO_SECOND = "no second one"
LAYERS_TIP = 'Layers with commas, values with semicolons between them: "16; 64, 64"; none is a linear model'
VALUES_TIP = "Values with commas between them; 1..10 stands for all from 1 to 10, 0.1..0.9 by 0.2 has a step"


class GridLine(QWidget):
    """One parameter and the values to try of it.

    Parameters
    ----------
    prefix, suffix : str
        Of the object names of list and text.
    spoken, spoken_values : str
        What the list and the text are called to who cannot see them.
    none_text : str
        What stands in the list for no parameter; "" where one has to be chosen.
    """

    changed = Signal()

    def __init__(
        self, prefix: str, suffix: str, spoken: str, spoken_values: str, none_text: str = ""
    ) -> None:
        super().__init__()
        self._none_text = none_text
        self._default: Callable[[Parameter], str] = lambda _parameter: ""
        self._parameters: tuple[Parameter, ...] = ()
        self.box, self.edit = ComboBox(), QLineEdit()
        self.box.setObjectName(f"{prefix}.parameter{suffix}")
        self.box.setAccessibleName(spoken)
        self.edit.setObjectName(f"{prefix}.values{suffix}")
        self.edit.setAccessibleName(spoken_values)
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
        if self._none_text:
            self.box.addItem(self._none_text)
        for parameter in self._parameters:
            self.box.addItem(parameter.label or parameter.name)
        self._show_edit()

    @property
    def parameter(self) -> Parameter | None:
        place = self.box.currentIndex() - bool(self._none_text)
        return self._parameters[place] if 0 <= place < len(self._parameters) else None

    def values(self) -> tuple[Any, ...]:
        """Return what is typed; nothing without a parameter.

        Raises
        ------
        ParameterError
            It is no list of legal values.
        """
        return () if self.parameter is None else read_values(self.parameter, self.edit.text())

    def show_choice(self, name: str | None, text: str) -> None:
        names = [parameter.name for parameter in self._parameters]
        self.box.setCurrentIndex(names.index(name) + bool(self._none_text) if name in names else 0)
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

    def mark(self) -> None:
        """Show whether the text can be read."""
        try:
            self.values()
        except ParameterError:
            self._set_invalid(True)
        else:
            self._set_invalid(False)

    def _set_invalid(self, is_invalid: bool) -> None:
        if bool(self.edit.property("invalid")) != is_invalid:
            self.edit.setProperty("invalid", is_invalid)
            repolish(self.edit)


class GridLines(QWidget):
    """Two lines of a parameter with values each, the second of which may be empty.

    Parameters
    ----------
    prefix : str
        Of object names.
    none_text : str
        What stands in the first list for no parameter; "" where one has to be chosen.
    """

    changed = Signal()

    def __init__(self, prefix: str, none_text: str = "") -> None:
        super().__init__()
        self.lines = (
            GridLine(prefix, "1", "Setting to tune", "Values to try", none_text),
            GridLine(prefix, "2", "Second setting to tune", "Values to try of the second setting", NO_SECOND),
        )
        self.setLayout(column(*self.lines, spacing=4))
        for line in self.lines:
            line.changed.connect(self._on_changed)

    def offer(
        self, parameters: Sequence[Parameter], default: Callable[[Parameter], str],
        names: Sequence[str], texts: Sequence[str],
    ) -> None:  # fmt: skip
        """Show what is tried, and what may be instead; `default` writes the values that are tried first."""
        for line in self.lines:
            line.offer(parameters, default)
        for line, name, text in zip(self.lines, (*names, None, None), (*texts, "", ""), strict=False):
            line.show_choice(name, text)
        self._show()

    def align(self) -> None:
        """Give both lists the same width."""
        room = max(line.box.room_wanted() for line in self.lines)
        for line in self.lines:
            line.box.setFixedWidth(room)

    def grid(self) -> dict[str, tuple[Any, ...]]:
        """Return what is to be tried: by parameter, the values.

        Raises
        ------
        ParameterError
            The values of a parameter are no list of legal ones, or both lines name the same parameter.
        """
        grid: dict[str, tuple[Any, ...]] = {}
        for line in self.lines:
            parameter = line.parameter
            if parameter is None:
                continue
            if parameter.name in grid:
                raise ParameterError(
                    f"{parameter.label or parameter.name} is there twice; choose another one"
                )
            grid[parameter.name] = line.values()
        return grid

    def _on_changed(self) -> None:
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        self.lines[1].setVisible(self.lines[0].parameter is not None)
        for line in self.lines:
            line.mark()
