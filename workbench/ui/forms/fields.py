"""Fields that edit one value each: number, switch, choice, and a number that may be a word."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from engine.parameters import Parameter
from workbench.setting_words import choice_text, format_value, parse_number
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import Label, repolish

NUMBER_WIDTH = 112


class Field(QWidget):
    """Edits one value. Emits `edited` with a legal value, `refused` with what to enter instead."""

    edited = Signal(object)
    refused = Signal(str)

    def set_value(self, value: Any) -> None:
        raise NotImplementedError

    def value_text(self) -> str:
        raise NotImplementedError


class SwitchField(Field):
    """Yes or no."""

    def __init__(self, parameter: Parameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._box = QCheckBox()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._box)
        self.setFocusProxy(self._box)
        self._box.clicked.connect(lambda is_on: self.edited.emit(bool(is_on)))

    def set_value(self, value: Any) -> None:
        self._box.setChecked(bool(value))

    def value_text(self) -> str:
        return "yes" if self._box.isChecked() else "no"


class ChoiceField(Field):
    """One of a few words."""

    def __init__(self, parameter: Parameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = [*parameter.choices, *([None] if parameter.allows_none else [])]
        self._box = ComboBox()
        for value in self._values:
            self._box.addItem(parameter.none_text or "none" if value is None else choice_text(value))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._box)
        self.setFocusProxy(self._box)
        self._box.activated.connect(lambda idx: self.edited.emit(self._values[idx]))

    def set_value(self, value: Any) -> None:
        idx = next((i for i, v in enumerate(self._values) if type(v) is type(value) and v == value), -1)
        self._box.setCurrentIndex(idx)

    def value_text(self) -> str:
        return self._box.currentText()


class NumberField(Field):
    """A number typed as text, with its unit inside; empty means "no limit" where that is legal.

    Text beats a spin box here: what is wrong can be said under the field instead of being swallowed,
    and the wheel has nothing to turn.
    """

    def __init__(self, parameter: Parameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parameter = parameter
        self._edit = QLineEdit()
        self._edit.setAlignment(Qt.AlignmentFlag.AlignRight)
        if parameter.allows_none or parameter.kind == "sizes":
            self._edit.setPlaceholderText(parameter.none_text or "none")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._edit)
        self._shown = ""
        if parameter.unit:
            self._add_unit(parameter.unit)
        self.setFocusProxy(self._edit)
        self._edit.editingFinished.connect(self._on_finished)
        self._edit.textEdited.connect(self._on_typed)

    def _add_unit(self, unit: str) -> None:
        label = Label(unit, "caption", parent=self._edit)
        label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        inner = QHBoxLayout(self._edit)
        inner.setContentsMargins(8, 0, 8, 0)
        inner.addStretch(1)
        inner.addWidget(label)
        self._edit.setTextMargins(0, 0, label.sizeHint().width() + 4, 0)

    def set_value(self, value: Any) -> None:
        text = "" if value is None else format_value(self._parameter, value)
        self._shown = text
        if self._edit.text() != text:
            self._edit.setText(text)
        self.set_invalid(False)

    def set_invalid(self, is_invalid: bool) -> None:
        if bool(self._edit.property("invalid")) != is_invalid:
            self._edit.setProperty("invalid", is_invalid)
            repolish(self._edit)

    def value_text(self) -> str:
        return self._edit.text() or self._edit.placeholderText()

    def _on_typed(self, text: str) -> None:
        value = parse_number(self._parameter, text)
        is_legal = self._parameter.is_legal(value)
        self.set_invalid(not is_legal)
        self.refused.emit("" if is_legal else f"Enter {self._parameter.legal_text}.")

    def _on_finished(self) -> None:
        text = self._edit.text()
        if text == self._shown:
            return
        value = parse_number(self._parameter, text)
        if self._parameter.is_legal(value):
            self._shown = text
            self.edited.emit(value)


class NumberOrChoiceField(Field):
    """A word from a list, or "a number" with a field beside it (`max_features`)."""

    def __init__(self, parameter: Parameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parameter = parameter
        self._values = [*parameter.choices, *([None] if parameter.allows_none else [])]
        self._box = ComboBox()
        for value in self._values:
            self._box.addItem(parameter.none_text or "none" if value is None else choice_text(value))
        self._box.addItem("a number")
        self._number = NumberField(parameter)
        self._number.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self._box)
        layout.addWidget(self._number, 0, Qt.AlignmentFlag.AlignRight)
        self.setFocusProxy(self._box)
        self._box.activated.connect(self._on_chosen)
        self._number.edited.connect(self.edited)
        self._number.refused.connect(self.refused)

    def _on_chosen(self, idx: int) -> None:
        is_number = idx == len(self._values)
        self._number.setVisible(is_number)
        if is_number:
            self._number.setFocus()
        else:
            self.refused.emit("")
            self.edited.emit(self._values[idx])

    def set_value(self, value: Any) -> None:
        idx = next((i for i, v in enumerate(self._values) if type(v) is type(value) and v == value), None)
        self._box.setCurrentIndex(len(self._values) if idx is None else idx)
        self._number.setVisible(idx is None)
        if idx is None:
            self._number.set_value(value)

    def value_text(self) -> str:
        return self._number.value_text() if self._number.isVisible() else self._box.currentText()


def make_field(parameter: Parameter, parent: QWidget | None = None) -> Field:
    """The field that fits the parameter's kind."""
    kinds = {
        "bool": SwitchField,
        "choice": ChoiceField,
        "number_or_choice": NumberOrChoiceField,
        "int": NumberField,
        "float": NumberField,
        "sizes": NumberField,
    }
    kind = parameter.kind
    if kind == "number_or_choice" and not (parameter.choices or parameter.allows_none):
        kind = "float"  # a share or a count: no words to choose from
    return kinds[kind](parameter, parent)
