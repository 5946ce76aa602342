"""Cards outlined on the tree, each with a few words: where selected rows end, where two trees differ."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QGraphicsItem

from workbench.figures.words import count
from workbench.ui import theme
from workbench.ui.plots.tree_item import RADIUS, RULE_AND_BAR, TreeItem, short_font

OUTLINE_PX, ROOM = 2, 16  # of the words, which stand on the edge of their card


class MarksItem(QGraphicsItem):
    """Lies over a `TreeItem` and outlines cards.

    Attributes
    ----------
    words : dict of int to str
        What stands on the edge of a card, by node number.
    """

    def __init__(self, tree: TreeItem) -> None:
        super().__init__(tree)
        self.setAcceptedMouseButtons(Qt.MouseButton.NoButton)
        self._tree = tree
        self.words: dict[int, str] = {}

    def set_words(self, words: Mapping[int, str]) -> None:
        self.words = dict(words)
        self.update()

    def shown_words(self) -> Mapping[int, str]:
        """The words at the cards that are shown."""
        return {node: words for node, words in self.words.items() if node in self._tree.place}

    def boundingRect(self) -> QRectF:
        return self._tree.boundingRect().adjusted(-ROOM, -ROOM, ROOM, ROOM)

    def paint(self, painter: QPainter, option, widget=None) -> None:
        if self._tree.figure is None or self._tree.full_detail:
            return
        zoom = round(option.levelOfDetailFromTransform(painter.worldTransform()), 6)
        for node, words in self.shown_words().items():
            _outline(painter, self._tree.drawn_rect(node), words, zoom)


class LitItem(MarksItem):
    """Marks the leaves that rows end in, and lets the `TreeItem` light the ways to them.

    Attributes
    ----------
    counts : dict of int to int
        How many of the rows end in a leaf, by node number.
    """

    def __init__(self, tree: TreeItem) -> None:
        super().__init__(tree)
        self.counts: dict[int, int] = {}

    def set_counts(self, counts: Mapping[int, int]) -> None:
        self.counts = dict(counts)
        self._tree.lit = {above for leaf in self.counts for above in self._way_to(leaf)}
        self.update()
        self._tree.update()

    def _way_to(self, node: int) -> list[int]:
        way = []
        while node >= 0:
            way.append(node)
            node = int(self._tree.figure.parent[node])
        return way

    def shown_counts(self) -> dict[int, int]:
        """The counts at the cards that are shown: what ends in a closed branch is told where it is closed."""
        shown: dict[int, int] = {}
        for leaf, n_rows in self.counts.items():
            node = next(above for above in self._way_to(leaf) if above in self._tree.place)
            shown[node] = shown.get(node, 0) + n_rows
        return shown

    def shown_words(self) -> Mapping[int, str]:
        return {node: count(n_rows) for node, n_rows in self.shown_counts().items()}


def _outline(painter: QPainter, card: QRectF, words: str, zoom: float) -> None:
    t = theme.tokens()
    painter.setPen(QPen(t.colour("text"), OUTLINE_PX))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(card, RADIUS, RADIUS)
    if zoom < RULE_AND_BAR:
        return
    font = short_font(zoom)
    metrics = QFontMetricsF(font)
    height = metrics.height() + 2
    width = max(metrics.horizontalAdvance(words) + 12, height)
    pill = QRectF(card.left() + 8, card.top() - height / 2, width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(t.colour("text"))
    painter.drawRoundedRect(pill, height / 2, height / 2)
    painter.setFont(font)
    painter.setPen(t.colour("surface"))
    painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, words)
