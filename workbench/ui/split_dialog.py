"""Asks which question a node is to ask: about a column's threshold or levels, or whether it is missing."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QCheckBox, QDialog, QLineEdit, QListWidget, QListWidgetItem, QWidget

from engine.errors import ParameterError
from engine.parameters import Parameter
from workbench.dates import days_of_text
from workbench.figures.words import counted, value_text
from workbench.forcing import Choice, Choices
from workbench.setting_words import format_value, parse_number
from workbench.ui import theme
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import Label, button, column, row

NUMBER = Parameter("threshold", "Threshold", "float", 0.0)
DIGITS = 12
MAX_LEVELS = 8  # in sight at once


class SplitDialog(QDialog):
    """Window-modal; "Split" asks for the change and closes once it is made.

    Parameters
    ----------
    force : callable
        ``force(column, answer, then)``; the answer is a threshold, levels, or None to ask whether the value
        is missing. ``then(None)`` is called when it is made, ``then(error)`` when it is refused.
    stop : callable
        Called when the dialog is left while the change is being made.
    """

    def __init__(
        self,
        window: QWidget,
        choices: Choices,
        force: Callable[[str, object, Callable[[Exception | None], object]], object],
        stop: Callable[[], object],
    ) -> None:
        super().__init__(window)
        self.setObjectName("split")
        self.setWindowTitle("Force a Split")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self._choices, self._force, self._stop = choices.columns, force, stop
        self._is_waiting = self._is_left = False
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
        self._is_missing = QCheckBox()
        self._is_missing.setObjectName("split.is_missing")
        self._is_missing.toggled.connect(self._show_question)
        self._what, self._range = Label("", "secondary"), Label("", "caption", wrap=True)
        self._what.setBuddy(self._threshold)
        self._error = Label("", "danger", wrap=True)
        self._error.setObjectName("split.error")
        self._error.hide()
        rows = counted(choices.n_rows, "training row")
        head = Label(f"What the node with {rows} asks", "heading", wrap=True)
        self._split = split = button("Split", "primary", self._try, "split.split")
        split.setDefault(True)
        cancel = button("Cancel", "", self.reject, "split.cancel")
        cancel.setAutoDefault(False)
        question = (self._column, self._is_missing, self._what, self._threshold, self._levels)
        self.setLayout(
            column(head, *question, self._range, self._error, row(-1, cancel, split), margins=16, spacing=8)
        )
        self.setMinimumWidth(360)
        self._show_choice()

    @property
    def _choice(self) -> Choice:
        return self._choices[self._column.currentIndex()]

    def _show_choice(self, *_: object) -> None:
        choice = self._choice
        self._is_missing.setVisible(choice.n_missing > 0)
        self._is_missing.setText(f"Ask whether it is missing ({counted(choice.n_missing, 'row')})")
        self._is_missing.setChecked(not choice.has_values)
        self._is_missing.setEnabled(choice.has_values)
        if choice.levels:
            self._fill_levels(choice.levels)
        elif choice.has_values:
            text = partial(value_text, digits=DIGITS, is_date=choice.is_date)
            plain = text(choice.middle) if choice.is_date else format_value(NUMBER, choice.middle)
            self._threshold.setText(plain)  # as it is read again, whatever the person's locale
            self._threshold.setAccessibleName(f"Yes for {choice.name} up to")
        self._show_question()

    def _show_question(self, *_: object) -> None:
        choice, asks_missing = self._choice, self._is_missing.isChecked()
        has_levels = bool(choice.levels)
        self._threshold.setVisible(not has_levels and not asks_missing)
        self._levels.setVisible(has_levels and not asks_missing)
        self._what.setVisible(not asks_missing)
        self._what.setText("Yes for the levels" if has_levels else "Yes up to")
        self._error.hide()
        if asks_missing:
            self._range.setText("Yes for rows without a value, no for all others.")
        elif has_levels:
            self._range.setText("Missing values take the side where they help most.")
        else:
            text = partial(value_text, digits=DIGITS, is_date=choice.is_date)
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
        row_px = theme.scaled(theme.CONTROL_HEIGHT)
        for place in range(self._levels.count()):
            self._levels.item(place).setSizeHint(QSize(0, row_px))
        self._levels.setFixedHeight(row_px * min(len(levels), MAX_LEVELS) + 2 * self._levels.frameWidth())
        self._levels.item(0).setCheckState(Qt.CheckState.Checked)
        self._levels.setCurrentRow(0)

    def _answer(self) -> object:
        """Return the threshold or the levels, or None for missing; a text that is none is refused later."""
        if self._is_missing.isChecked():
            return None
        if self._choice.levels:
            items = [self._levels.item(place) for place in range(self._levels.count())]
            return [item.text() for item in items if item.checkState() == Qt.CheckState.Checked]
        text = self._threshold.text()
        return days_of_text(text) if self._choice.is_date else parse_number(NUMBER, text)

    def _try(self) -> None:
        if self._is_waiting:
            return
        answer = self._answer()
        is_number = not self._choice.levels and not self._is_missing.isChecked()
        if is_number and not (isinstance(answer, (int, float)) and math.isfinite(answer)):
            what = "date such as 2020-09-15" if self._choice.is_date else "number"
            self._on_done(ParameterError(f"{self._threshold.text()!r} is no {what}; enter one"))
            return
        self._wait(True)
        self._force(self._choice.name, answer, self._on_done)

    def _wait(self, is_waiting: bool) -> None:
        self._is_waiting = is_waiting
        self._split.setEnabled(not is_waiting)

    def _on_done(self, error: Exception | None) -> None:
        if self._is_left:
            return
        self._wait(False)
        if error is None:
            self.accept()
        else:
            self._error.setText(str(error))
            self._error.show()

    def done(self, result: int) -> None:
        self._is_left = True
        if self._is_waiting:
            self._stop()
        super().done(result)
