"""A field for a list of numbers, typed with commas or blanks between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from engine.parameters import Parameter
from workbench.ui.forms.fields import Field
from workbench.ui.widgets import repolish


def parse_numbers(text: str) -> Any:
    """Read numbers with commas or blanks between them; None for none, the text itself if it is no list."""
    words = text.replace(";", " ").replace(",", " ").replace("\N{MINUS SIGN}", "-").split()
    if not words:
        return None
    try:
        return [float(word) for word in words]
    except ValueError:
        return text


class NumbersField(Field):
    """Text for a list of numbers; empty means None where that is legal."""

    def __init__(self, parameter: Parameter, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parameter, self._shown = parameter, ""
        self._edit = QLineEdit()
        self._edit.setPlaceholderText(parameter.none_text)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._edit)
        self.setFocusProxy(self._edit)
        self._edit.textEdited.connect(self._on_typed)
        self._edit.editingFinished.connect(self._on_finished)

    def set_value(self, value: Any) -> None:
        self._shown = "" if value is None else numbers_text(value)
        if self._edit.text() != self._shown:
            self._edit.setText(self._shown)
        self._set_invalid(False)

    def value_text(self) -> str:
        return self._edit.text() or self._edit.placeholderText()

    def _set_invalid(self, is_invalid: bool) -> None:
        if bool(self._edit.property("invalid")) != is_invalid:
            self._edit.setProperty("invalid", is_invalid)
            repolish(self._edit)

    def _on_typed(self, text: str) -> None:
        is_legal = self._parameter.is_legal(parse_numbers(text))
        self._set_invalid(not is_legal)
        self.refused.emit("" if is_legal else f"Enter {self._parameter.legal_text}.")

    def _on_finished(self) -> None:
        value = parse_numbers(self._edit.text())
        if self._edit.text() != self._shown and self._parameter.is_legal(value):
            self.edited.emit(value)


def numbers_text(values: Sequence[float]) -> str:
    """Write a list of numbers as its field shows it."""
    return ", ".join(f"{value:.12g}".replace("-", "\N{MINUS SIGN}") for value in values)
