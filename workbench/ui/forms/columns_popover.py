"""A popover that asks something of each column: its name, and a field beside it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QScrollArea, QWidget

from workbench.ui import theme
from workbench.ui.forms.fields import NUMBER_WIDTH
from workbench.ui.widgets import ElidedLabel, Label, clear, column, indented, row

NAME_WIDTH = 144
BAR_WIDTH = 16  # of a scroll bar
MAX_HEIGHT = 320  # of the list; more columns scroll


class ColumnsPopover(QFrame):
    """Title, a list that scrolls, a place for what is wrong, and a button that puts all back."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("look", "popover")
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

    def assemble(self, title: str, problem: QWidget, reset: QPushButton) -> None:
        """Put the parts in their places."""
        head, middle = indented(Label(title, "name")), QWidget()
        middle.setLayout(row(self._scroll))
        # a quiet button's words stand inside of it, so that they are at the padding too
        parts = (head, indented(middle), indented(problem), row(reset, -1))
        self.setLayout(column(*parts, margins=theme.GROUND_MARGIN))

    def show_fields(self, names: Sequence[str], fields: Sequence[QWidget]) -> None:
        """Put each column's field beside its name; the fields before are gone."""
        clear(self._grid)
        for place, (name, field) in enumerate(zip(names, fields, strict=True)):
            label = ElidedLabel(name)
            # with the fields all the room: Qt would centre less
            label.setFixedWidth(theme.scaled(NAME_WIDTH))
            field.setAccessibleName(name)
            field.setFixedWidth(theme.scaled(NUMBER_WIDTH))
            self._grid.addWidget(label, place, 0)
            self._grid.addWidget(field, place, 1)

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
