"""Asks which question a node of a single tree is to ask: a column, and its threshold or levels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLineEdit, QListWidget, QListWidgetItem, QWidget

from engine.errors import DataError, ParameterError
from engine.parameters import Parameter
from workbench.dates import days_of_text
from workbench.figures.words import counted, value_text
from workbench.forcing import Choice, Choices
from workbench.ui.forms.fields import format_value, parse_number
from workbench.ui.widgets import ComboBox, Label, button, column, row

NUMBER = Parameter("threshold", "Threshold", "float", 0.0)
DIGITS = 12


class SplitDialog(QDialog):
    """Window-modal; "Split" asks `force(column, threshold or levels)` and closes when that was accepted."""

    def __init__(self, window: QWidget, choices: Choices, force: Callable[[str, object], None]) -> None:
        super().__init__(window)
        self.setObjectName("split")
        self.setWindowTitle("Force a Split")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._choices, self._force = choices.columns, force
        self._column = ComboBox()
        self._column.setObjectName("split.column")
        self._column.setAccessibleName("Column to ask about")
        self._column.addItems([choice.name for choice in choices.columns])
        self._column.setCurrentIndex(choices.current)
        self._column.currentIndexChanged.connect(self._show_choice)
        self._threshold = QLineEdit()
        self._threshold.setObjectName("split.threshold")
        self._levels = QListWidget()
        self._levels.setObjectName("split.levels")
        self._levels.setAccessibleName("Levels that answer yes")
        self._what, self._range = Label("", "secondary"), Label("", "caption", wrap=True)
        self._what.setBuddy(self._threshold)
        self._error = Label("", "danger", wrap=True)
        self._error.setObjectName("split.error")
        self._error.hide()
        rows = counted(choices.n_rows, "training row")
        head = Label(f"What the node with {rows} asks", "heading", wrap=True)
        split = button("Split", "primary", self._try, "split.split")
        split.setDefault(True)
        cancel = button("Cancel", "", self.reject, "split.cancel")
        cancel.setAutoDefault(False)
        parts = (self._column, self._what, self._threshold, self._levels, self._range, self._error)
        self.setLayout(column(head, *parts, row(-1, cancel, split), margins=16, spacing=8))
        self.setMinimumWidth(360)
        self._show_choice()

    @property
    def _choice(self) -> Choice:
        return self._choices[self._column.currentIndex()]

    def _show_choice(self, *_: object) -> None:
        choice = self._choice
        has_levels = bool(choice.levels)
        self._threshold.setVisible(not has_levels)
        self._levels.setVisible(has_levels)
        self._error.hide()
        if has_levels:
            self._what.setText("Yes for the levels")
            self._range.setText("Missing values take the side where they help most.")
            self._fill_levels(choice.levels)
        else:
            self._what.setText("Yes up to")
            text = partial(value_text, digits=DIGITS, is_date=choice.is_date)
            plain = text(choice.middle) if choice.is_date else format_value(NUMBER, choice.middle)
            self._threshold.setText(plain)  # as it is read again, whatever the person's locale
            self._threshold.setAccessibleName(f"Yes for {choice.name} up to")
            self._range.setText(
                f"Here it goes from {text(choice.low)} to {text(choice.high)}. Missing values take the side "
                "where they help most."
            )

    def _fill_levels(self, levels: tuple[str, ...]) -> None:
        self._levels.clear()
        for level in levels:
            item = QListWidgetItem(level, self._levels)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked)
        self._levels.item(0).setCheckState(Qt.CheckState.Checked)
        self._levels.setCurrentRow(0)

    def _answer(self) -> object:
        """Return the threshold or the levels; a text that is none is refused by who is asked."""
        if self._choice.levels:
            items = [self._levels.item(place) for place in range(self._levels.count())]
            return [item.text() for item in items if item.checkState() == Qt.CheckState.Checked]
        text = self._threshold.text()
        return days_of_text(text) if self._choice.is_date else parse_number(NUMBER, text)

    def _try(self) -> None:
        answer, is_number = self._answer(), not self._choice.levels
        try:
            if is_number and not (isinstance(answer, (int, float)) and math.isfinite(answer)):
                what = "date such as 2020-09-15" if self._choice.is_date else "number"
                raise ParameterError(f"{self._threshold.text()!r} is no {what}; enter one")
            self._force(self._choice.name, answer)
        except (DataError, ParameterError) as error:
            self._error.setText(str(error))
            self._error.show()
            return
        self.accept()
