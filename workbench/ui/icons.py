"""Icons by meaning: one table of Phosphor glyphs, painted in the colours of the theme at the moment.

QtAwesome brings the font and its charmap. Both are read directly, because importing QtAwesome takes
longer (0.27 s) than all else before the first paint, and a glyph painted from the tokens needs no
redrawing when the theme changes.
"""

from __future__ import annotations

import json
from functools import cache

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QIcon, QIconEngine, QPainter, QPixmap

from workbench.ui import fonts, theme

NAMES = {
    "open": "folder-open",
    "save": "floppy-disk",
    "undo": "arrow-counter-clockwise",
    "redo": "arrow-clockwise",
    "train": "play",
    "stop": "stop",
    "prune": "scissors",
    "expand": "arrows-out",
    "collapse": "arrows-in",
    "fit": "arrows-out-simple",
    "tree": "tree-structure",
    "forest": "tree",
    "boosting": "stack",
    "adaboost": "scales",
    "stacking": "stack-simple",
    "averaging": "equals",
    "neighbors": "circles-three",
    "networks": "share-network",
    "svm": "arrows-in-line-horizontal",
    "linear": "trend-up",
    "polynomial": "activity",
    "perceptron": "line-segments",
    "naive_bayes": "percent",
    "training": "chart-line",
    "surface": "grid-four",
    "uncertainty": "cloud-fog",
    "pruning": "scissors",
    "splits": "git-fork",
    "fewer": "minus-circle",
    "more_splits": "plus-circle",
    "swap": "arrows-left-right",
    "step_back": "caret-left",
    "step_on": "caret-right",
    "scores": "gauge",
    "compare": "columns",
    "trees": "list-numbers",
    "tuning": "faders",
    "stack": "stack-simple",
    "information": "intersect",
    "instability": "shuffle",
    "bias_variance": "crosshair",
    "many_fits": "waves",
    "averages": "trend-down",
    "bootstrap": "chart-bar",
    "table": "table",
    "settings": "sliders-horizontal",
    "target": "target",
    "category": "tag",
    "number": "hash",
    "date": "calendar",
    "yes_no": "toggle-left",
    "text": "text-aa",
    "ignored": "eye-slash",
    "feature": "check",
    "weight": "scales",
    "group": "users-three",
    "id": "identification-card",
    "pin": "push-pin",
    "edited": "pencil-simple",
    "tie": "equals",
    "warning": "warning",
    "search": "magnifying-glass",
    "add": "plus",
    "duplicate": "copy",
    "delete": "trash",
    "retrain": "arrows-clockwise",
    "rename": "pencil-simple",
    "export": "export",
    "picture": "image",
    "apply": "file-arrow-down",
    "script": "code",
    "close": "x",
    "reset": "arrow-u-up-left",
    "done": "check-circle",
    "failed": "warning-circle",
    "waiting": "clock",
    "new": "circle-dashed",
    "stopped": "stop-circle",
    "info": "info",
    "file": "file-text",
    "more": "dots-three",
    "sort": "sort-ascending",
    "theme": "moon",
    "closed": "caret-right",
    "opened": "caret-down",
    "about": "question",
    "recent": "clock-counter-clockwise",
    "palette": "command",
    "experiment": "flask",
    "split": "chart-pie-slice",
}


@cache
def _charmap() -> dict[str, str]:
    folder = fonts.package_folder("qtawesome")
    if folder is None:
        return {}
    codes = json.loads((folder / "fonts" / fonts.PHOSPHOR_CHARMAP).read_text(encoding="utf-8"))
    return {name: chr(int(code, 16)) for name, code in codes.items()}


def glyph(name: str) -> str:
    """The character of icon `name` in the Phosphor font; KeyError for a name not in the table."""
    return _charmap().get(NAMES[name], "")


def paint(painter: QPainter, rect: QRectF, name: str, token: str = "text2") -> None:
    """Paint icon `name` into `rect` in the colour of `token`."""
    font = QFont(fonts.icon_family())
    font.setPixelSize(max(round(min(rect.width(), rect.height())), 1))
    painter.save()
    painter.setFont(font)
    painter.setPen(theme.tokens().colour(token))
    painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, glyph(name))
    painter.restore()


class _GlyphEngine(QIconEngine):
    """Paints one glyph at any size; accent when checked, disabled when off."""

    def __init__(self, name: str, token: str) -> None:
        super().__init__()
        self._name, self._token = name, token

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        token = "accent" if state == QIcon.State.On and self._token == "text2" else self._token
        if mode == QIcon.Mode.Disabled:
            token = "disabled"
        paint(painter, QRectF(rect), self._name, token)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _GlyphEngine(self._name, self._token)


def icon(name: str, token: str = "text2") -> QIcon:
    """Icon `name` of the table in the colour of `token`, following the theme by itself."""
    if name not in NAMES:
        raise KeyError(f"no icon is called {name!r}; add it to NAMES")
    return QIcon(_GlyphEngine(name, token))
