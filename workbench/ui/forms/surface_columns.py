"""Which columns a surface is drawn over: two lists, a button that swaps them, and what stands beside them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from workbench.ui import theme
from workbench.ui.inputs import ComboBox
from workbench.ui.widgets import Label, bare_button, row

NO_COLUMN = "(one column only)"
COMBO_EXTRA_PX, STRIP_EXTRA_PX = 36, 160  # arrow and padding; buttons, gaps and margins
NAMES_FROM_PX = 480  # narrower, the combo boxes take the room of their labels
BUTTON_PX = 32  # with its gap; two beside each combo box
LOW_PX = 420  # a lower view chooses both columns in one line, whatever they are called


class SurfaceColumns(QObject):
    """The strip above a surface; `chosen` tells what a person chose: across, and up or None.

    Parameters
    ----------
    panel : QWidget
        The view; its size says how the strip is laid out.
    beside : tuple of QWidget
        A button beside the column across, and those beside the column up.
    """

    chosen = Signal(str, object)

    def __init__(self, panel: QWidget, beside_across: QWidget, *beside_up: QWidget) -> None:
        super().__init__(panel)
        self._panel = panel
        self._shown: tuple[str, str | None] = "", None  # what is chosen now
        self.x = self._make_combo("surface.x_column", "Across")
        self.y = self._make_combo("surface.y_column", "Up")
        self.swap = bare_button("swap", "Swap the axes", self._swap_axes, "surface.swap")
        self._names = Label("Across", "secondary"), Label("Up", "secondary")
        self.strip = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.strip.setContentsMargins(theme.PANEL_PADDING, 4, 8, 4)
        self.strip.setSpacing(4)
        across = row(self._names[0], self.x, self.swap, beside_across, spacing=2)
        up = row(self._names[1], self.y, *beside_up, spacing=2)
        for layout, combo in ((across, self.x), (up, self.y)):
            layout.setStretchFactor(combo, 1)
            self.strip.addLayout(layout)

    def _make_combo(self, name: str, label: str) -> ComboBox:
        combo = ComboBox()
        combo.setObjectName(name)
        combo.setAccessibleName(label)
        combo.setMinimumWidth(theme.scaled(56))  # a narrow view cuts names rather than its neighbour
        combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        combo.activated.connect(self._on_activated)
        return combo

    def fill(self, names: Sequence[str], x_name: str, y_name: str | None) -> None:
        """Offer a model's columns; those of the picture are chosen."""
        for combo, items in ((self.x, list(names)), (self.y, [NO_COLUMN, *names])):
            if [combo.itemText(k) for k in range(combo.count())] != items:
                combo.clear()
                combo.addItems(items)
        for combo, name, other in ((self.x, x_name, y_name), (self.y, y_name or NO_COLUMN, x_name)):
            combo.setCurrentText(name)
            combo.setToolTip(f"{combo.accessibleName()}: {name}")
            combo.step_over(other)  # keys that pass through the list would swap the axes
        self._shown = x_name, y_name
        self.swap.setEnabled(y_name is not None)
        self.share_room()

    def share_room(self) -> None:
        """Give the columns' names the room they need: without the labels first, then one below the other.

        A low view has no line to spare: there each name gets its share of one, and the axes tell it whole.
        """
        is_wide = self._panel.width() >= theme.scaled(NAMES_FROM_PX)
        for label in self._names:  # tool tips tell which is which
            label.setVisible(is_wide)
        width_of, is_low = self.x.fontMetrics().horizontalAdvance, self._panel.height() < theme.scaled(LOW_PX)
        names = [self.x.itemText(k) for k in range(self.x.count())]
        longest = max(map(width_of, [*names, self.y.currentText()]), default=0)
        beside = 2 * (longest + theme.scaled(COMBO_EXTRA_PX)) + theme.scaled(STRIP_EXTRA_PX)
        direction = QBoxLayout.Direction
        fits = is_wide or is_low or beside <= self._panel.width()
        self.strip.setDirection(direction.LeftToRight if fits else direction.TopToBottom)
        for place, combo in enumerate((self.x, self.y)):
            name_px = width_of(combo.currentText()) if is_low else longest
            self.strip.setStretch(place, name_px + theme.scaled(COMBO_EXTRA_PX + 2 * BUTTON_PX))

    def _on_activated(self, _index: int) -> None:
        x_name, y_name = self.x.currentText(), self.y.currentText()
        if x_name != y_name:
            self._choose(x_name, None if self.y.currentIndex() == 0 else y_name)
            return
        # the column of the other axis was chosen from the list: they change places
        before = self._shown
        self._choose(x_name if before[1] is None else before[1], None if before[1] is None else before[0])

    def _swap_axes(self) -> None:
        self._choose(self.y.currentText(), self.x.currentText())

    def _choose(self, x_name: str, y_name: str | None) -> None:
        self._shown = x_name, y_name
        self.chosen.emit(x_name, y_name)
