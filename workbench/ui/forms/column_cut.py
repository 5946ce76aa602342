"""A column to look at, and how its numbers are cut into ranges."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from engine.errors import ParameterError
from workbench.columns import Column
from workbench.datasets import Table
from workbench.information import ALL_WAYS, OWN, Cutting, cutting_text, is_cut, read_cutting
from workbench.ui import theme
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import Label, keep_room, literal, repolish, row

WAY_TITLES = dict(zip(ALL_WAYS, ("Equal counts", "Equal widths", "Own cuts"), strict=True))
NAME_WIDTH = 12  # of X and Y, so that what follows stands in one line
TIPS = {
    True: "Where to cut, with blanks between: 3.5 7; a value at a cut is in the range below it",
    False: "How many ranges",
}


class ColumnCut(QWidget):
    """One line: the column, the way to cut it, and into how many ranges or where.

    Parameters
    ----------
    side : str
        "x" or "y".
    """

    edited = Signal(str, object)  # column, Cutting
    refused = Signal(str)  # why what is entered is none; empty once it is one

    def __init__(self, side: str) -> None:
        super().__init__()
        self._table: Table | None = None
        self._choice: tuple[Table, str, Cutting] | None = None
        self._cutting = Cutting()
        self._shown = ""
        self.box, self.way, self.edit = ComboBox(), ComboBox(), QLineEdit()
        made = (
            (self.box, "column", "Column"),
            (self.way, "way", "Cut"),
            (self.edit, "ranges", "Ranges or cuts"),
        )
        for widget, part, spoken in made:
            widget.setObjectName(f"information.{side}.{part}")
            widget.setAccessibleName(f"{spoken} {side.upper()}")
        for way in ALL_WAYS:
            self.way.addItem(WAY_TITLES[way])
        self._unit = Label("ranges", "secondary")
        self._unit.setObjectName(f"information.{side}.unit")
        for later in (self.way, self.edit, self._unit):
            keep_room(later)
        self._name = name = Label(side.upper(), "name")
        name.setBuddy(self.box)
        layout = row(name, self.box, self.way, self.edit, self._unit, spacing=8)
        layout.setStretch(1, 3)
        layout.setStretch(3, 2)
        self.setLayout(layout)
        self.box.activated.connect(self._on_column)
        self.way.activated.connect(self._on_way)
        self.edit.textEdited.connect(self._on_typed)
        self.edit.editingFinished.connect(self._on_finished)
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self.way.setFixedWidth(self.way.room_wanted())
        self._name.setFixedWidth(theme.scaled(NAME_WIDTH))

    def show_choice(self, table: Table, name: str, cutting: Cutting) -> None:
        """Show what is looked at; a column that is gone is no choice.

        What is shown already is left alone: somebody may be typing.
        """
        if (table, name, cutting) == self._choice:
            return
        self._choice = table, name, cutting
        if table is not self._table:
            self._table = table
            self.box.clear()
            for column in table.names:
                self.box.addItem(column)
        self.box.setCurrentIndex(table.names.index(name) if name in table.names else -1)
        self._cutting = cutting
        self.way.setCurrentIndex(ALL_WAYS.index(cutting.way))
        self._show_text(cutting)
        has_ranges = self._column is not None and is_cut(self._column)
        for widget in (self.way, self.edit):
            widget.setVisible(has_ranges)
        self._unit.setVisible(has_ranges and cutting.way != OWN)  # cuts are the numbers that they are

    @property
    def _column(self) -> Column | None:
        place = self.box.currentIndex()
        return None if self._table is None or place < 0 else self._table.columns[place]

    @property
    def _is_date(self) -> bool:
        return self._column is not None and self._column.kind == "date"

    def _show_text(self, cutting: Cutting) -> None:
        self._shown = cutting_text(cutting, self._is_date)
        if self.edit.text() != self._shown:
            self.edit.setText(self._shown)
        self.edit.setToolTip(literal(TIPS[cutting.way == OWN]))
        self._mark("")

    def _on_column(self, _place: int) -> None:
        if self._column is not None:
            # another column's own cuts say nothing of this one
            cutting = Cutting() if self._cutting.way == OWN else self._cutting
            self.edited.emit(self._column.name, cutting)

    def _on_way(self, place: int) -> None:
        way = ALL_WAYS[place]
        if way == self._cutting.way or self._column is None:
            return
        cuts = self._middle() if way == OWN else ()
        self.edited.emit(self._column.name, Cutting(way, self._cutting.n_ranges, cuts))

    def _middle(self) -> tuple[float, ...]:
        """Return one cut to begin with: where it stands now, or the middle."""
        from engine.information import EQUAL_COUNTS, cut_points

        assert self._column is not None
        now, values = self._cutting, self._column.values
        cuts = cut_points(values, now.n_ranges, now.way)
        found = cuts if len(cuts) else cut_points(values, 2, EQUAL_COUNTS)
        whole = {float(int(at // 1)) for at in found} if self._is_date else set(found.tolist())
        return tuple(sorted(whole)) or (0.0,)

    def _read(self) -> Cutting:
        return read_cutting(self._cutting.way, self.edit.text(), self._is_date)

    def _on_typed(self, _text: str) -> None:
        try:
            self._read()
        except ParameterError as error:
            self._mark(str(error))
        else:
            self._mark("")

    def _on_finished(self) -> None:
        if self.edit.text() == self._shown or self._column is None:
            return
        try:
            cutting = self._read()
        except ParameterError:
            return
        self._shown = self.edit.text()  # Enter and the loss of focus are one change
        self.edited.emit(self._column.name, cutting)

    def _mark(self, why: str) -> None:
        if bool(self.edit.property("invalid")) != bool(why):
            self.edit.setProperty("invalid", bool(why))
            repolish(self.edit)
        self.refused.emit(why)
