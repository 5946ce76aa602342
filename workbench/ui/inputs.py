"""Fields that forms and panels use: sliders, combo boxes, search fields."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QLineEdit,
    QSlider,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from workbench.ui import theme
from workbench.ui.widgets import IconLabel, IconSize

ARROW_ROOM_PX = 52  # arrow, padding and edge


class Slider(QSlider):
    """A slider across that the wheel scrolls past."""

    def __init__(self, object_name: str, label: str) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setObjectName(object_name)
        self.setAccessibleName(label)

    def wheelEvent(self, event) -> None:
        event.ignore()


class ComboBox(QComboBox):
    """A combo box that the wheel scrolls past and that never demands the width of its longest item."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)
        IconSize(self)
        self._stepped_over: str | None = None

    def room_wanted(self) -> int:
        """Width that shows its longest text whole."""
        metrics = QFontMetrics(theme.font(13))  # its own is not known before it is shown
        texts = (self.itemText(place) for place in range(self.count()))
        return max(map(metrics.horizontalAdvance, texts), default=0) + theme.scaled(ARROW_ROOM_PX)

    def step_over(self, text: str | None) -> None:
        """Let the arrow keys pass over the items called `text`; the open list offers them all the same."""
        self._stepped_over = text

    def keyPressEvent(self, event) -> None:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(event.key())
        if step is None or event.modifiers() or self._stepped_over is None:
            super().keyPressEvent(event)
            return
        place = self.currentIndex() + step
        while 0 <= place < self.count() and self.itemText(place) == self._stepped_over:
            place += step
        if 0 <= place < self.count():
            self.setCurrentIndex(place)
            self.activated.emit(place)

    def wheelEvent(self, event) -> None:
        event.ignore()

    def paintEvent(self, event) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        if self.currentIndex() < 0 and self.placeholderText():
            option.currentText = self.placeholderText()
            option.palette.setBrush(QPalette.ColorRole.ButtonText, option.palette.placeholderText())
        field = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        icon = 0 if option.currentIcon.isNull() else option.iconSize.width() + 4
        # Qt would cut a long name in the middle of a letter
        option.currentText = option.fontMetrics.elidedText(
            option.currentText, Qt.TextElideMode.ElideRight, field.width() - icon
        )
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


class SearchEdit(QLineEdit):
    """A line edit with a magnifying glass in its left margin."""

    def __init__(self, placeholder: str, object_name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(object_name)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self._icon = IconLabel("search", 16, "text3", self)
        self._icon.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._dress()
        theme.changed.connect(self._dress)

    def _dress(self) -> None:
        self.setTextMargins(theme.scaled(20), 0, 0, 0)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._icon.move(8, (self.height() - self._icon.height()) // 2)
