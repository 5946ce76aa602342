"""A sentence above the views about something that did not work; it stays until it is closed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from workbench.ui.widgets import IconLabel, Label, bare_button, button, row


class NoticeBar(QFrame):
    """Shows the latest sentence, with at most one button that mends it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notice")
        self.setProperty("look", "notice")
        self._text = Label("", "body", wrap=True)
        self._text.setObjectName("notice.text")
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._button: QPushButton | None = None
        self._close = bare_button("close", "Close", self.hide, "notice.close")
        self._layout = row(IconLabel("warning", 16, "danger"), self._text, self._close, spacing=12)
        self._layout.setContentsMargins(16, 8, 8, 8)
        self._layout.setStretch(1, 1)
        self.setLayout(self._layout)
        self.hide()

    @property
    def text(self) -> str:
        """The sentence shown; "" while the bar is closed."""
        return "" if self.isHidden() else self._text.text()

    def say(self, text: str, mend: str = "", slot=None) -> None:
        """Show a sentence, and a button `mend` that calls `slot`."""
        self._text.setText(text)
        if self._button is not None:
            self._layout.removeWidget(self._button)
            self._button.deleteLater()
            self._button = None
        if mend:
            self._button = button(mend, "", slot, "notice.mend")
            self._button.clicked.connect(self.hide)
            self._layout.insertWidget(2, self._button)
        self.show()
