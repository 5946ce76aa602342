"""The values at which a surface holds the columns it does not show: one field a column, in a popover."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from engine.features import FeatureSpec
from engine.parameters import Parameter
from workbench.dates import days_of_text
from workbench.figures.held import Held, level_names
from workbench.setting_words import parse_number
from workbench.ui.forms.columns_popover import ColumnsPopover
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import Label, button, repolish

MISSING = "missing"
NUMBER = Parameter("value", "Value", "float", 0.0, allows_none=True)


class HeldForm(ColumnsPopover):
    """Asks for a value of each held column; says every legal one at once, so that the surface follows."""

    chosen = Signal(str, object)  # column; number, level's name or None for missing
    typical_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._problem = Label("", "danger", wrap=True)
        self._problem.setObjectName("surface.held_problem")
        self._problem.hide()
        self._reset = button("Typical values", "quiet", self.typical_asked.emit, "surface.held_typical")
        self._reset.setToolTip("The median of numbers, the most frequent level of categories")
        self.assemble("Held values", self._problem, self._reset)
        self.setObjectName("surface.held_form")
        self._shown: tuple[str, ...] = ()
        self._fields: list[QWidget] = []
        self._dates: set[str] = set()

    def show_values(self, held: tuple[Held, ...], specs: Mapping[str, FeatureSpec]) -> None:
        """Fill the fields; they are made anew only for other columns, so that the focus stays."""
        names = tuple(h.name for h in held)
        if names != self._shown:
            self._dates = {h.name for h in held if h.is_date}
            self._fields = [self._field(h.name, specs[h.name]) for h in held]
            self.show_fields(names, self._fields)
            self._shown = names
        for field, h in zip(self._fields, held, strict=True):
            _fill(field, h)
        self._reset.setEnabled(not all(h.is_typical for h in held))

    def _field(self, name: str, spec: FeatureSpec) -> QWidget:
        levels = level_names(spec)
        made: ComboBox | QLineEdit
        if levels:
            made = ComboBox()
            for level in levels:
                made.addItem(level, level)
            made.addItem(MISSING, None)
            made.activated.connect(lambda idx: self.chosen.emit(name, made.itemData(idx)))
        else:
            made = QLineEdit()
            made.setAlignment(Qt.AlignmentFlag.AlignRight)
            made.setPlaceholderText(MISSING)
            made.editingFinished.connect(lambda: self._on_typed(name, made))
        made.setObjectName(f"surface.held.{name}")
        return made

    def _on_typed(self, name: str, edit: QLineEdit) -> None:
        text = edit.text().strip()
        if text == edit.property("shown"):
            return
        is_date = name in self._dates
        read = days_of_text if is_date else partial(parse_number, NUMBER)
        value = None if text in ("", MISSING) else read(text)
        is_legal = value is None or (isinstance(value, (int, float)) and bool(np.isfinite(value)))
        edit.setProperty("invalid", not is_legal)
        repolish(edit)
        what = "date such as 2020-09-15" if is_date else "number"
        told = f"{name}: {text!r} is no {what}. Enter one, or leave it empty for missing."
        self._problem.setText("" if is_legal else told)
        self._problem.setVisible(not is_legal)
        if is_legal:
            edit.setProperty("shown", text)
            self.chosen.emit(name, value)


def _fill(field: QWidget, held: Held) -> None:
    if isinstance(field, ComboBox):
        field.setCurrentIndex(
            field.findText(MISSING) if np.isnan(held.encoded) else field.findText(held.text)
        )
    elif isinstance(field, QLineEdit):
        if held.is_date:
            text = "" if np.isnan(held.encoded) else held.text
        else:
            text = "" if np.isnan(held.encoded) else f"{held.encoded:.12g}".replace("-", "\N{MINUS SIGN}")
        if not field.hasFocus() or held.is_typical:
            field.setText(text)
            field.setProperty("shown", text)
