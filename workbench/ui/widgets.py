"""Small widgets that every panel uses: literal labels, elided labels, buttons, fields, foldable titles."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

from PySide6.QtCore import QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from workbench.ui import icons, theme

ICON_PX = 16

_BREAK = "\u200b"  # of no width: here a line may end
_LONG_WORD = re.compile(r"\S{20}(?=\S)")  # letters of a word after which it may be broken
_FONTS = {
    "caption": (11, 400),
    "section": (11, 600),
    "secondary": (12, 400),
    "body": (13, 400),
    "name": (13, 600),
    "heading": (15, 600),
    "title": (20, 600),
    "figure": (28, 600),
    "danger": (12, 400),
    "warning": (12, 400),
    "good": (12, 400),
}


FOCUS_PX = 2  # width of the ring; the style sheet's are as wide


def paint_focus(painter: QPainter, rect: QRectF, radius: float = 0) -> None:
    """Draw the ring of the keyboard's focus just inside `rect`."""
    painter.setPen(QPen(theme.tokens().colour("accent"), FOCUS_PX))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    inset = FOCUS_PX / 2
    painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius, radius)


def literal(text: str) -> str:
    """Text for a tool tip, shown letter for letter: Qt would read "<b>" in it as markup."""
    return f"<qt>{html.escape(text)}</qt>".replace("\n", "<br>") if text else ""


class Label(QLabel):
    """A label whose text is never markup and whose font follows the theme.

    Where it wraps, long words are broken too: a name of 100 letters would else make its window as wide.

    Parameters
    ----------
    text : str
    look : str
        "caption", "section", "secondary", "body", "name", "heading", "title", "figure", "danger",
        "warning" or "good".
    """

    def __init__(self, text: str = "", look: str = "body", wrap: bool = False, parent: QWidget | None = None):
        super().__init__(parent)
        self._look = look
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("ink", look)
        self.setWordWrap(wrap)
        self.setText(text)
        self._dress()
        theme.changed.connect(self._dress)

    def setText(self, text: str) -> None:
        super().setText(_LONG_WORD.sub(rf"\g<0>{_BREAK}", text) if self.wordWrap() else text)

    def text(self) -> str:
        return super().text().replace(_BREAK, "")

    def _dress(self) -> None:
        self.setFont(theme.font(*_FONTS[self._look]))


class ElidedLabel(Label):
    """A one-line label that shortens its text to the room there is; the tool tip has all of it."""

    def __init__(self, text: str = "", look: str = "body", mode=Qt.TextElideMode.ElideMiddle, parent=None):
        self._full, self._more, self._mode = "", "", mode
        super().__init__(text, look, parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(24)

    def setText(self, text: str) -> None:
        self._full = text
        self._elide()

    def full_text(self) -> str:
        return self._full

    def explain(self, more: str) -> None:
        """Say more in the tool tip than the text itself."""
        self._more = more
        self._elide()

    def _elide(self) -> None:
        shown = QFontMetrics(self.font()).elidedText(self._full, self._mode, max(self.width(), 24))
        super().setText(shown)
        told = [text for text in (self._full if shown != self._full else "", self._more) if text]
        self.setToolTip(literal("\n".join(told)) if told else "")

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self._full) + 4, metrics.height())

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._elide()


class ProgressBar(QProgressBar):
    """Shows a fraction, without text."""

    STEPS = 1000

    def __init__(self, object_name: str) -> None:
        super().__init__()
        self.setObjectName(object_name)
        self.setRange(0, self.STEPS)
        self.setTextVisible(False)

    def show_fraction(self, fraction: float) -> None:
        """Take 0 to 1. Painted with the next event, as all else.

        `setValue` alone paints the whole window at once, in the middle of a signal that some panels have
        not heard of yet.
        """
        self.setUpdatesEnabled(False)
        self.setValue(round(fraction * self.STEPS))
        self.setUpdatesEnabled(True)


class IconLabel(QWidget):
    """One icon of the table at a fixed size."""

    def __init__(self, name: str, px: int = 16, token: str = "text2", parent: QWidget | None = None):
        super().__init__(parent)
        self._name, self._px, self._token = name, px, token
        self.setFixedSize(theme.scaled(px), theme.scaled(px))
        theme.changed.connect(self._dress)

    def set_icon(self, name: str, token: str = "text2") -> None:
        self._name, self._token = name, token
        self.update()

    def _dress(self) -> None:
        self.setFixedSize(theme.scaled(self._px), theme.scaled(self._px))
        self.update()

    def paintEvent(self, event) -> None:
        painter = QPainter(self)
        icons.paint(painter, QRectF(self.rect()), self._name, self._token)
        painter.end()


def button(
    text: str, look: str = "", slot: Callable[[], object] | None = None, object_name: str = "", icon: str = ""
) -> QPushButton:
    """A push button of one look: "primary", "quiet" or plain."""
    made = QPushButton(text)
    made.setProperty("look", look)
    made.setObjectName(object_name)
    if icon:
        made.setIcon(icons.icon(icon, "on_accent" if look == "primary" else "text2"))
    if slot is not None:
        made.clicked.connect(lambda _checked=False: slot())
    return made


class IconSize(QObject):
    """Lets the icons of a widget grow with the text size."""

    def __init__(self, widget: QToolButton | QComboBox) -> None:
        super().__init__(widget)
        self._widget = widget
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self._widget.setIconSize(QSize(theme.scaled(ICON_PX), theme.scaled(ICON_PX)))


def bare_button(
    icon: str, tip: str, slot: Callable[[], object] | None = None, object_name: str = "", token: str = "text2"
) -> QToolButton:
    """An icon alone, at least 24 px wide, explained by its tool tip."""
    made = QToolButton()
    made.setProperty("look", "bare")
    made.setIcon(icons.icon(icon, token))
    IconSize(made)
    made.setToolTip(tip)
    made.setAccessibleName(tip)
    made.setObjectName(object_name)
    if slot is not None:
        made.clicked.connect(lambda _checked=False: slot())
    return made


def action_icon(action: QAction, object_name: str) -> QToolButton:
    """The icon of an action alone; it does what the action does and is on when it is."""
    made = QToolButton()
    made.setProperty("look", "bare")
    made.setIconSize(QSize(16, 16))
    made.setDefaultAction(action)
    made.setAccessibleName(action.text())
    made.setObjectName(object_name)
    return made


class ActionButton(QPushButton):
    """A push button that does what `action` does and is on when it is.

    The action is followed through a bound method, so that Qt ends the connection with the button.
    """

    def __init__(self, action: QAction, look: str = "", text: str = "", icon: str = "") -> None:
        super().__init__(text or action.text().replace("&", "").rstrip("…"))
        self._action = action
        self.setProperty("look", look)
        if icon:
            self.setIcon(icons.icon(icon, "on_accent" if look == "primary" else "text2"))
        self.clicked.connect(self._on_clicked)
        action.changed.connect(self._follow)
        self._follow()

    def _on_clicked(self, _checked: bool = False) -> None:
        self._action.trigger()

    def _follow(self) -> None:
        self.setEnabled(self._action.isEnabled())
        self.setToolTip(self._action.toolTip())


def line() -> QFrame:
    """A divider of one pixel."""
    made = QFrame()
    made.setProperty("look", "line")
    made.setFixedHeight(1)
    return made


def column(*items: QWidget | QLayout | int, margins: int = 0, spacing: int = 8) -> QVBoxLayout:
    """A vertical layout of widgets and layouts; an int is that much space, -1 a stretch."""
    return _fill(QVBoxLayout(), items, margins, spacing)


def row(*items: QWidget | QLayout | int, margins: int = 0, spacing: int = 8) -> QHBoxLayout:
    """A horizontal layout of widgets and layouts; an int is that much space, -1 a stretch."""
    return _fill(QHBoxLayout(), items, margins, spacing)


def _fill(layout, items, margins, spacing):
    layout.setContentsMargins(margins, margins, margins, margins)
    layout.setSpacing(spacing)
    for item in items:
        if isinstance(item, int):
            layout.addStretch(1) if item < 0 else layout.addSpacing(item)
        elif isinstance(item, QLayout):
            layout.addLayout(item)
        else:
            layout.addWidget(item)
    return layout


def indented(widget: QWidget) -> QWidget:
    """Bring what has no ground of its own from the margin of those that have to the panel's padding."""
    step = theme.PANEL_PADDING - theme.GROUND_MARGIN
    widget.setContentsMargins(step, 0, step, 0)
    return widget


def clear(layout: QLayout) -> None:
    """Take everything out of a layout and let it go."""
    while item := layout.takeAt(0):
        if widget := item.widget():
            widget.hide()  # or a layout that took it in this turn still shows it, as a window of its own
            widget.setParent(None)
            widget.deleteLater()
        elif inner := item.layout():
            clear(inner)


class Header(QWidget):
    """A panel's foldable section: a caret, its name in capitals, what is folded below."""

    toggled = Signal(bool)

    def __init__(self, text: str, is_open: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._caret = IconLabel("opened", 12)
        self._label = Label(text.upper(), "section")
        self._is_open = is_open
        self.setLayout(row(self._caret, self._label, -1, spacing=4))
        self.setMinimumHeight(theme.scaled(24))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(text)
        self._caret.set_icon("opened" if is_open else "closed")

    @property
    def is_open(self) -> bool:
        return self._is_open

    def toggle(self) -> None:
        self._is_open = not self._is_open
        self._caret.set_icon("opened" if self._is_open else "closed")
        self.toggled.emit(self._is_open)

    def mousePressEvent(self, event) -> None:
        self.toggle()

    def keyPressEvent(self, event) -> None:
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.toggle()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event) -> None:
        if self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_focus(painter, QRectF(self.rect()), 4)
            painter.end()


def keep_room(widget: QWidget) -> None:
    """Let a widget that is hidden take its room all the same, so that what stands beside it stays."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


def repolish(widget: QWidget) -> None:
    """Let the style sheet look at a changed dynamic property again."""
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()
