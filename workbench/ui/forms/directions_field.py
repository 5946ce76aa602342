"""The setting of columns with which the prediction may only rise, or only fall."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from engine.parameters import Parameter
from workbench.setting_words import format_value
from workbench.ui.forms.columns_popover import ColumnsPopover
from workbench.ui.forms.fields import Field
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import Label, button, literal

CHOICES = (("free", 0), ("rises", 1), ("falls", -1))

Columns = tuple[tuple[str, bool], ...]
"""Every feature's name in the table's order, and whether it is a number."""


def signs_by_name(value: Any, columns: Columns) -> dict[str, int]:
    """Return the columns that are not free; a value may be by name, or one sign for every column."""
    if value is None:
        return {}
    pairs = value.items() if isinstance(value, Mapping) else zip((n for n, _ in columns), value, strict=False)
    return {name: int(sign) for name, sign in pairs if sign}


class DirectionsForm(ColumnsPopover):
    """One choice a number column; columns that are set but are no numbers (any more) can be freed."""

    chosen = Signal(str, int)
    none_asked = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._prefix = name
        self._note = Label("", "caption", wrap=True)
        self._note.setObjectName(f"{name}.note")
        self._reset = button("All free", "quiet", self.none_asked.emit, f"{name}.none")
        self.assemble("Prediction rises or falls with", self._note, self._reset)
        self.setObjectName(f"{name}.form")
        self._boxes: dict[str, ComboBox] = {}

    def show_signs(self, signs: Mapping[str, int], columns: Columns, predicted: str) -> None:
        """Show every number column's sign; boxes are made anew only for other columns."""
        numbers = [name for name, is_number in columns if is_number]
        names = [*numbers, *(name for name in signs if name not in numbers)]
        if names != list(self._boxes):
            self._boxes = {name: self._box(name) for name in names}
            self.show_fields(names, list(self._boxes.values()))
        for name, box in self._boxes.items():
            box.setCurrentIndex(box.findData(signs.get(name, 0)))
        self._reset.setEnabled(bool(signs))
        gone = [name for name in signs if name not in numbers]
        told = f"Free {gone[0]!r}: it is no number column of this model." if gone else predicted
        self._note.setText(told)
        self._note.setVisible(bool(told))

    def box(self, name: str) -> ComboBox:
        """The choice of one column."""
        return self._boxes[name]

    def _box(self, name: str) -> ComboBox:
        made = ComboBox()
        made.setObjectName(f"{self._prefix}.{name}")
        for text, sign in CHOICES:
            made.addItem(text, sign)
        made.activated.connect(lambda idx: self.chosen.emit(name, made.itemData(idx)))
        return made


class DirectionsField(Field):
    """A button that tells how many columns are set and opens the choices below it."""

    def __init__(self, parameter: Parameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parameter = parameter
        self._value: Any = None
        self._columns: Columns = ()
        self._predicted = ""
        self._button = button("", "", self._open, "settings.directions")
        self._form: DirectionsForm | None = None
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._button)
        self.setFocusProxy(self._button)

    def set_columns(self, columns: Columns, predicted: str) -> None:
        """Say what there is to choose from, and in a sentence what rises or falls; before `set_value`."""
        self._columns, self._predicted = columns, predicted

    def set_value(self, value: Any) -> None:
        self._value = value
        signs = signs_by_name(value, self._columns)
        n = len(signs)
        self._button.setText(f"{n} column{'s' * (n > 1)}" if n else self._parameter.none_text)
        told = format_value(self._parameter, signs or None)
        self._button.setToolTip(literal(told))
        self._button.setAccessibleDescription(told)
        if self._form is not None:
            self._form.show_signs(signs, self._columns, self._predicted)

    def value_text(self) -> str:
        return self._button.text()

    @property
    def form(self) -> DirectionsForm:
        """The choices; made when they are asked for."""
        if self._form is None:
            self._form = DirectionsForm(self._button.objectName(), self)
            self._form.chosen.connect(self._on_chosen)
            self._form.none_asked.connect(lambda: self.edited.emit(None))
            self._form.show_signs(signs_by_name(self._value, self._columns), self._columns, self._predicted)
        return self._form

    def _open(self) -> None:
        self.form.popup(self._button)

    def _on_chosen(self, name: str, sign: int) -> None:
        signs = signs_by_name(self._value, self._columns) | {name: sign}
        kept = {name: sign for name, sign in signs.items() if sign}
        self.edited.emit(kept or None)
