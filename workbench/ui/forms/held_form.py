"""The values at which a surface holds the columns it does not show: one field a column, in a popover."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLineEdit, QScrollArea, QWidget

from engine.features import FeatureSpec
from engine.parameters import Parameter
from workbench.dates import days_of_text
from workbench.figures.held import Held, level_names
from workbench.ui import theme
from workbench.ui.forms.fields import NUMBER_WIDTH, parse_number
from workbench.ui.widgets import ComboBox, ElidedLabel, Label, button, clear, column, indented, repolish, row

MISSING = "missing"
NAME_WIDTH = 144
BAR_WIDTH = 16  # of a scroll bar
MAX_HEIGHT = 320  # of the list; more columns scroll
NUMBER = Parameter("value", "Value", "float", 0.0, allows_none=True)


class HeldForm(QFrame):
    """Asks for a value of each held column; says every legal one at once, so that the surface follows."""

    chosen = Signal(str, object)  # column; number, level's name or None for missing
    typical_asked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("surface.held_form")
        self.setProperty("look", "popover")
        self._shown: tuple[str, ...] = ()
        self._fields: list[QWidget] = []
        self._dates: set[str] = set()
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(theme.LABEL_GAP)
        self._grid.setVerticalSpacing(4)
        self._list = QWidget()
        self._list.setLayout(self._grid)
        self._list.setProperty("look", "page")
        self._scroll = QScrollArea()
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setWidgetResizable(True)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(self._list)
        self._problem = Label("", "danger", wrap=True)
        self._problem.setObjectName("surface.held_problem")
        self._problem.hide()
        self._reset = button("Typical values", "quiet", self.typical_asked.emit, "surface.held_typical")
        self._reset.setToolTip("The median of numbers, the most frequent level of categories")
        parts = [indented(part) for part in (Label("Held values", "name"), self._problem)]
        middle = QWidget()
        middle.setLayout(row(self._scroll))
        # a quiet button's words stand inside of it, so that they are at the padding too
        self.setLayout(
            column(parts[0], indented(middle), parts[1], row(self._reset, -1), margins=theme.GROUND_MARGIN)
        )

    def show_values(self, held: tuple[Held, ...], specs: Mapping[str, FeatureSpec]) -> None:
        """Fill the fields; they are made anew only for other columns, so that the focus stays."""
        names = tuple(h.name for h in held)
        if names != self._shown:
            clear(self._grid)
            self._dates = {h.name for h in held if h.is_date}
            self._fields = [self._field(h.name, specs[h.name]) for h in held]
            for place, (name, field) in enumerate(zip(names, self._fields, strict=True)):
                self._grid.addWidget(self._label(name), place, 0)
                self._grid.addWidget(field, place, 1)
            self._shown = names
        for field, h in zip(self._fields, held, strict=True):
            _fill(field, h)
        self._reset.setEnabled(not all(h.is_typical for h in held))

    def _label(self, name: str) -> ElidedLabel:
        label = ElidedLabel(name)
        label.setFixedWidth(theme.scaled(NAME_WIDTH))  # with the fields all the room: Qt would centre less
        return label

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
        made.setAccessibleName(name)
        made.setFixedWidth(theme.scaled(NUMBER_WIDTH))
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

    def popup(self, below: QWidget) -> None:
        """Open under a button, within the window's right edge."""
        needed, most = self._list.sizeHint().height(), theme.scaled(MAX_HEIGHT)
        bar = BAR_WIDTH if needed > most else 0
        fields = theme.scaled(NAME_WIDTH) + theme.LABEL_GAP + theme.scaled(NUMBER_WIDTH)
        self._scroll.setFixedSize(fields + bar, min(needed, most))
        self.adjustSize()
        corner = below.mapToGlobal(QPoint(below.width() - self.width(), below.height() + 4))
        self.move(max(corner.x(), below.window().mapToGlobal(QPoint(0, 0)).x()), corner.y())
        self.show()


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
