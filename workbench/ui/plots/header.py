"""What stands above a picture: its title, and what was measured on which rows."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsWidget

from workbench.ui import theme
from workbench.ui.widgets import literal


class HeaderItem(QGraphicsWidget):
    """Title, and under it what was measured on which rows; part of the picture, so that exports have it.

    Texts are literal. A line too long for the width goes on in a second one; what is longer still, and the
    title, is cut at its end. Of a low picture the lines are one, which begins beside the title; of a very low
    one only as many are left as leave room to the picture.
    """

    MAX_LINES = 2  # of one text
    SHARE = 0.3  # of a low picture's height, at most

    def __init__(self) -> None:
        super().__init__()
        self._title = ""
        self._lines: tuple[str, ...] = ()
        self._shown: tuple[str, ...] = ()
        self._beside = ""  # what of the lines stands beside the title
        self._low_height = 0.0  # of a low picture; 0: it is not low

    @property
    def texts(self) -> tuple[str, ...]:
        return (self._title, *self._lines)

    @property
    def shown_lines(self) -> tuple[str, ...]:
        """The lines under the title as they are painted."""
        return self._shown

    @property
    def beside_title(self) -> str:
        """The beginning of the lines, where it stands beside the title."""
        return self._beside

    def save_room(self, low_height: float) -> None:
        """Take less of the height of a low picture; 0: it is not low."""
        if low_height != self._low_height:
            self._low_height = low_height
            self.wrap()
            self.update()

    def say(self, title: str, *lines: str) -> None:
        self._title, self._lines = title, tuple(line for line in lines if line)
        self.setToolTip(literal("\n".join(self.texts)))
        self.wrap()
        self.update()

    def wrap(self) -> None:
        """Break the lines for the width and font of the moment."""
        metrics, width = QFontMetricsF(theme.font(11)), max(self.rect().width(), 40.0)
        self._beside, lines, n_lines = "", list(self._lines), self.MAX_LINES
        if self._low_height and lines:
            room = self.SHARE * self._low_height - theme.scaled(20)
            n_lines = min(n_lines * len(lines), max(int(room // theme.scaled(16)), 0))
            told, beside_px = "; ".join(lines), width - self._title_width()
            self._beside, rest = split_to_fit(told, metrics, beside_px)
            if not n_lines:  # what is left is in the tool tip
                self._beside = metrics.elidedText(told, Qt.TextElideMode.ElideRight, max(beside_px, 0))
            lines = [rest] if n_lines else []
        self._shown = tuple(
            piece for line in lines if line for piece in wrapped(line, metrics, width, n_lines)
        )
        height = theme.scaled(20) + theme.scaled(16) * len(self._shown) + 4
        if height != self.preferredHeight():
            self.setMinimumHeight(height)
            self.setPreferredHeight(height)
            self.setMaximumHeight(height)

    def _title_width(self) -> float:
        """The title and the gap after it."""
        return QFontMetricsF(theme.font(13, 600)).horizontalAdvance(self._title) + theme.scaled(8)

    def resizeEvent(self, event) -> None:
        self.wrap()

    def paint(self, painter: QPainter, option, widget=None) -> None:
        t, width, y = theme.tokens(), self.rect().width(), 0.0
        rows = [(self._title, theme.font(13, 600), t.text, theme.scaled(20))]
        rows += [(line, theme.font(11), t.text3, theme.scaled(16)) for line in self._shown]
        for text, font, colour, height in rows:
            painter.setFont(font)
            painter.setPen(QColor(colour))
            shown = QFontMetricsF(font).elidedText(text, Qt.TextElideMode.ElideRight, width)
            painter.drawText(QRectF(0, y, width, height), Qt.AlignmentFlag.AlignVCenter, shown)
            y += height
        if self._beside:
            x = self._title_width()
            painter.setFont(theme.font(11))
            painter.setPen(QColor(t.text3))
            box = QRectF(x, 1, width - x, theme.scaled(20))  # the smaller font on the title's base line
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, self._beside)


def split_to_fit(text: str, metrics: QFontMetricsF, width: float) -> tuple[str, str]:
    """Divide a text at a space into as much as fits into `width`, and the rest."""
    words, n = text.split(" "), 0
    while n < len(words) and metrics.horizontalAdvance(" ".join(words[: n + 1])) <= width:
        n += 1
    return " ".join(words[:n]), " ".join(words[n:])


def wrapped(text: str, metrics: QFontMetricsF, width: float, max_lines: int) -> list[str]:
    """Break a text at its spaces into lines of at most `width`; the last one takes all that is left."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if len(lines) < max_lines and lines[-1] and metrics.horizontalAdvance(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
