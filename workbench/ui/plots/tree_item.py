"""Paints a `TreeFigure`: only the cards and edges that the view shows, in as much detail as can be read."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QGraphicsItem

from workbench.figures.layout import tidy_positions
from workbench.figures.tree import TreeFigure
from workbench.ui import icons, theme
from workbench.ui.plots.bar_pieces import bar_pieces

CARD_WIDTH, CARD_HEIGHT, LEAF_HEIGHT = 208, 92, 64
GAP_X, GAP_Y = 16, 64
PILL_ROOM = 40  # below a closed branch
WHOLE_CARD, RULE_AND_BAR, BAR_ALONE = 0.85, 0.6, 0.25
PAD_X, PAD_Y, RADIUS = 12, 8, 6
TRUNK_PX = 8
DIMMED = 0.4
MARK, MARK_ROOM = 12, 12  # of what was changed by hand; at the least zoom it is 15 wide
MOST_LEAVING = 200  # lines of a level that leave the view
LEAST_PX = 9  # of a letter on screen
BOUND = " ≤ "  # between a column's name and a number


class TreeItem(QGraphicsItem):
    """All cards and edges as one item: a tree of 10,000 nodes costs what is in view.

    Attributes
    ----------
    nodes, centres, depth : arrays (n_shown,)
        The nodes shown, level by level from left to right, and where.
    selected : int or None
        Node number.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setFlag(QGraphicsItem.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.figure: Any = None  # a TreeFigure once one is shown
        self.is_open = np.zeros(0, bool)
        self.selected: int | None = None
        self.hovered: int | None = None
        self.lit: set[int] = set()  # nodes whose ways are lit beside that to the selected one
        self.full_detail = False  # in exports everything is painted, however small
        self.n_painted = self.n_labelled = self.n_lines = 0  # in the last paint, for tests
        self._clear()

    def _clear(self) -> None:
        self.nodes, self.centres, self.depth = np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int32)
        self.place: dict[int, int] = {}
        self.level_starts = np.zeros(1, np.int64)
        self._bounds = QRectF()
        self._start, self._share = np.zeros((0, 2)), 1.0

    def set_figure(self, figure: TreeFigure | None, is_open: np.ndarray | None = None) -> None:
        self.figure, self.selected, self.hovered, self.lit = figure, None, None, set()
        if figure is None:
            self.prepareGeometryChange()
            self._clear()
            return
        self.is_open = figure.open_to(figure.readable_depth()) if is_open is None else is_open
        self.lay_out()

    def lay_out(self) -> None:
        """Place the cards anew after something was opened or closed."""
        tree = self.figure.tree
        self.prepareGeometryChange()
        self.nodes, self.centres, self.depth = tidy_positions(
            tree.first_child, tree.n_children, self.is_open, CARD_WIDTH + GAP_X
        )
        self.place = {int(node): k for k, node in enumerate(self.nodes)}
        self._start, self._share = np.zeros((len(self.nodes), 2)), 1.0
        n_levels = int(self.depth[-1]) + 1
        self.level_starts = np.searchsorted(self.depth, np.arange(n_levels + 1))
        last = self.nodes[self.level_starts[-2] :]
        is_inner = tree.n_children[last] > 0  # closed, as nothing is shown below
        end = CARD_HEIGHT + PILL_ROOM if is_inner.any() else LEAF_HEIGHT
        height = (n_levels - 1) * (CARD_HEIGHT + GAP_Y) + end
        top = MARK_ROOM if self.figure.edited else 4  # a mark stands on the edge of its card
        width = float(self.centres.max()) + CARD_WIDTH + 8
        self._bounds = QRectF(-CARD_WIDTH / 2 - 4, -top, width, height + top + 4)
        self.update()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def card_rect(self, node: int) -> QRectF:
        """Where the card of a shown node is."""
        k = self.place[node]
        height = LEAF_HEIGHT if self.figure.is_leaf(node) else CARD_HEIGHT
        top = float(self.depth[k]) * (CARD_HEIGHT + GAP_Y)
        return QRectF(float(self.centres[k]) - CARD_WIDTH / 2, top, CARD_WIDTH, height)

    def move_from(self, places: dict[int, QPointF]) -> None:
        """Let cards begin where they were, new ones where the nearest card above them was.

        Parameters
        ----------
        places : dict of node to QPointF
            Upper left corners, in the scene's measure.
        """
        for k, node in enumerate(self.nodes.tolist()):
            origin, here = node, self.card_rect(node).topLeft()
            while origin not in places:
                origin = int(self.figure.parent[origin])
            self._start[k] = places[origin].x() - here.x(), places[origin].y() - here.y()

    def move_to(self, share: float) -> None:
        """Bring the cards a share of the way from where they were, 1 to rest."""
        self._share = float(share)

    def drawn_rect(self, node: int) -> QRectF:
        """Where a card is painted: on its way while it moves."""
        rect = self.card_rect(node)
        if self._share < 1 and not self.full_detail:
            rect.translate(*(self._start[self.place[node]] * (1 - self._share)))
        return rect

    def is_closed(self, node: int) -> bool:
        """Tell whether a branch hangs below that is not shown."""
        return not self.figure.is_leaf(node) and not bool(self.is_open[node])

    def pill_rect(self, node: int, card: QRectF | None = None) -> QRectF:
        card = card or self.card_rect(node)
        return QRectF(card.center().x() - 56, card.bottom() + 8, 112, 24)

    def node_at(self, point: QPointF) -> tuple[int | None, bool]:
        """Return the node whose card or pill is at a point, and whether it is the pill."""
        if self.figure is None or not len(self.nodes):
            return None, False
        level = int(point.y() // (CARD_HEIGHT + GAP_Y))
        if not 0 <= level < len(self.level_starts) - 1:
            return None, False
        start, stop = self.level_starts[level], self.level_starts[level + 1]
        nearest = start + int(np.argmin(np.abs(self.centres[start:stop] - point.x())))
        node = int(self.nodes[nearest])
        if self.card_rect(node).contains(point):
            return node, False
        if self.is_closed(node) and self.pill_rect(node).contains(point):
            return node, True
        return None, False

    def path_nodes(self) -> set[int]:
        """The selected node and all above it."""
        found: set[int] = set()
        node = self.selected
        while node is not None and node >= 0:
            found.add(node)
            node = int(self.figure.parent[node])
        return found

    def paint(self, painter: QPainter, option, widget=None) -> None:
        if self.figure is None:
            return
        # a zoom that was set to a bound comes back a rounding error below it
        zoom = round(option.levelOfDetailFromTransform(painter.worldTransform()), 6)
        zoom = 1.0 if self.full_detail else zoom
        # moving cards are few, and may cross the view from outside
        exposed = self._bounds if self.full_detail or self._share < 1 else option.exposedRect
        first = max(int(exposed.top() // (CARD_HEIGHT + GAP_Y)), 0)
        last = min(int(exposed.bottom() // (CARD_HEIGHT + GAP_Y)), len(self.level_starts) - 2)
        on_path = set() if self.full_detail else self.path_nodes() | self.lit
        self.n_painted = self.n_labelled = self.n_lines = 0
        brush = _Brush(painter, self.figure, zoom)
        for level in range(first, min(last + 2, len(self.level_starts) - 1)):
            if level:
                self._paint_edges(brush, level, exposed, on_path)
        for level in range(first, last + 1):
            start, stop = self.level_starts[level], self.level_starts[level + 1]
            half = CARD_WIDTH / 2 + 2
            begin = start + np.searchsorted(self.centres[start:stop], exposed.left() - half)
            end = start + np.searchsorted(self.centres[start:stop], exposed.right() + half)
            for node in self.nodes[begin:end]:
                self._paint_card(brush, int(node))

    def _paint_card(self, brush: _Brush, node: int) -> None:
        self.n_painted += 1
        is_selected = node == self.selected and not self.full_detail
        rect = self.drawn_rect(node)
        brush.card(node, rect, is_selected, node == self.hovered)
        if self.is_closed(node):
            brush.hidden_pill(node, self.pill_rect(node, rect))

    def _paint_edges(self, brush: _Brush, level: int, exposed: QRectF, on_path: set[int]) -> None:
        start, stop = self.level_starts[level], self.level_starts[level + 1]
        children = self.nodes[start:stop]
        parents = self.figure.parent[children]
        parent_x = self.centres[[self.place[int(parent)] for parent in parents]]
        own_x = self.centres[start:stop]
        low, high = np.minimum(parent_x, own_x), np.maximum(parent_x, own_x)
        sight = exposed.adjusted(-CARD_WIDTH, -CARD_HEIGHT, CARD_WIDTH, CARD_HEIGHT)
        seen = np.flatnonzero((high >= exposed.left() - 60) & (low <= exposed.right() + 60))
        is_in = np.abs(own_x[seen] - exposed.center().x()) <= sight.width() / 2
        is_lit_at = np.array([int(children[k]) in on_path for k in seen], bool)
        leaving = np.flatnonzero(~(is_in | is_lit_at))
        if len(leaving) > MOST_LEAVING:  # lines to cards out of sight lie on each other
            is_kept = np.ones(len(seen), bool)
            is_kept[leaving] = False
            is_kept[leaving[np.linspace(0, len(leaving) - 1, MOST_LEAVING).astype(int)]] = True
            seen = seen[is_kept]
        self.n_lines += len(seen)
        for k in seen:
            child, parent = int(children[k]), int(parents[k])
            above, below = self.drawn_rect(parent), self.drawn_rect(child)
            begin = QPointF(above.center().x(), above.bottom())
            end = QPointF(below.center().x(), below.top())
            is_lit = child in on_path
            at = brush.edge(child, begin, end, is_lit, bool(on_path) and not is_lit)
            if sight.contains(at):  # of a thousand branches few labels are
                self.n_labelled += brush.edge_label(child, at)


class _Brush:
    """Paints single cards, edges and pills with the fonts and colours of one paint."""

    def __init__(self, painter: QPainter, figure: TreeFigure, zoom: float) -> None:
        self.painter, self.figure, self.zoom, self.t = painter, figure, zoom, theme.tokens()
        self.small, self.body = _font(11), _font(12)
        # where only rules are written they grow against the zoom, so that they stay readable
        self.short = short_font(zoom)
        self.name = _font(self.short.pixelSize(), 600)

    def edge(self, node: int, begin: QPointF, end: QPointF, is_lit: bool, is_dimmed: bool) -> QPointF:
        """Paint the line and return where its label stands: near the child, where the branches are apart."""
        width = 1 + (TRUNK_PX - 1) * float(np.sqrt(self.figure.share_of_rows(node)))
        colour = self.t.colour("text" if is_lit else "control")
        colour.setAlphaF(DIMMED if is_dimmed else 1.0)
        middle = (begin.y() + end.y()) / 2
        path = QPainterPath(begin)
        path.cubicTo(QPointF(begin.x(), middle), QPointF(end.x(), middle), end)
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        self.painter.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
        self.painter.drawPath(path)
        return path.pointAtPercent(0.62)

    def edge_label(self, node: int, at: QPointF) -> bool:
        """Write what leads to a node; False where the zoom leaves no room."""
        if self.zoom < RULE_AND_BAR:
            return False
        whole = self.zoom >= WHOLE_CARD
        text = self.figure.edge_text(node) if whole else self.figure.branch(node)
        self.pill(text, at, self.small if whole else self.short, CARD_WIDTH - 8)
        return True

    def pill(self, text: str, centre: QPointF, font: QFont, room: float) -> None:
        metrics = QFontMetricsF(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room - 16)
        width, height = metrics.horizontalAdvance(shown) + 16, metrics.height() + 4
        rect = QRectF(centre.x() - width / 2, centre.y() - height / 2, width, height)
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(self.t.colour("window"))
        self.painter.drawRoundedRect(rect, height / 2, height / 2)
        self._text(rect, shown, font, "text2", Qt.AlignmentFlag.AlignCenter)

    def hidden_pill(self, node: int, rect: QRectF) -> None:
        if self.zoom < BAR_ALONE:
            return
        self.painter.setPen(QPen(self.t.colour("control"), 1))
        self.painter.drawLine(
            QPointF(rect.center().x(), rect.top() - 8), QPointF(rect.center().x(), rect.top())
        )
        self.painter.setBrush(self.t.colour("raised"))
        self.painter.drawRoundedRect(rect, 12, 12)
        if self.zoom >= RULE_AND_BAR:
            font = self.body if self.zoom >= WHOLE_CARD else self.short
            self._text(rect, self.figure.hidden_text(node), font, "text", Qt.AlignmentFlag.AlignCenter)

    def card(self, node: int, rect: QRectF, is_selected: bool, is_hovered: bool) -> None:
        figure, painter = self.figure, self.painter
        if self.zoom < BAR_ALONE:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._block_colour(node))
            painter.drawRect(rect)
            if is_selected:
                self._outline(rect)
            return
        painter.setPen(QPen(self.t.colour("border"), 1))
        painter.setBrush(self.t.colour("hover" if is_hovered else "surface"))
        painter.drawRoundedRect(rect, RADIUS, RADIUS)
        if is_selected:
            self._outline(rect)
        box = rect.adjusted(PAD_X, PAD_Y, -PAD_X, -PAD_Y)
        is_leaf = figure.is_leaf(node)
        words = figure.card(node)
        if self.zoom >= WHOLE_CARD:
            self._pair(QRectF(box.left(), box.top(), box.width(), 14), words.rows, words.share, self.small)
            below = QRectF(box.left(), box.bottom() - 17, box.width(), 18)
            self._pair(below, words.prediction, words.aside, self.body, "text", "text2")
        elif self.zoom >= RULE_AND_BAR:  # two lines are left of four: they stand in the middle
            box.translate(0, -9 if is_leaf else 7)
        if not is_leaf and self.zoom >= RULE_AND_BAR:
            self._rule(QRectF(box.left(), box.top() + 16, box.width(), 18), words.rule)
        elif is_leaf and RULE_AND_BAR <= self.zoom < WHOLE_CARD:  # an answer where others have a question
            self._rule(QRectF(box.left(), box.bottom() - 18, box.width(), 18), words.answer)
        bar_top = box.top() + (18 if is_leaf else 38)
        self._bar(node, QRectF(box.left(), bar_top, box.width(), 8), words.shares)
        self._marks(node, rect)

    def _outline(self, rect: QRectF) -> None:
        self.painter.setPen(QPen(self.t.colour("text"), 2))
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        self.painter.drawRoundedRect(rect, RADIUS, RADIUS)

    def _marks(self, node: int, rect: QRectF) -> None:
        is_edited = bool(self.figure.edited) and self.figure.tree.path_to(node) in self.figure.edited
        if is_edited and self.zoom >= RULE_AND_BAR:
            size = max(MARK, LEAST_PX / self.zoom)  # in the scene's measure
            place = QRectF(rect.right() - PAD_X - size, rect.top() - size / 2, size, size)
            self.painter.setPen(QPen(self.t.colour("border"), 1))
            self.painter.setBrush(self.t.colour("surface"))
            self.painter.drawEllipse(place.adjusted(-3, -3, 3, 3))  # else the card's edge goes through it
            icons.paint(self.painter, place, "edited", "text2")

    def _text(self, rect: QRectF, text: str, font: QFont, token: str, align) -> None:
        self.painter.setFont(font)
        self.painter.setPen(self.t.colour(token))
        self.painter.drawText(rect, align | Qt.AlignmentFlag.AlignVCenter, text)

    def _pair(self, rect: QRectF, left: str, right: str, font, ink="text2", ink_right="text2") -> None:
        """Two texts on one line; the right one keeps its room, the left one is cut in the middle."""
        metrics = QFontMetricsF(font)
        room = rect.width() - (metrics.horizontalAdvance(right) + 8 if right else 0)
        shown = metrics.elidedText(left, Qt.TextElideMode.ElideMiddle, room)
        self._text(rect, shown, font, ink, Qt.AlignmentFlag.AlignLeft)
        self._text(rect, right, font, ink_right, Qt.AlignmentFlag.AlignRight)

    def _rule(self, rect: QRectF, rule) -> None:
        metrics, rest = QFontMetricsF(self.name), rule.rest
        if not rest.startswith(BOUND):  # names may be cut, numbers never
            rest = metrics.elidedText(rest, Qt.TextElideMode.ElideRight, rect.width() - 48)
        room = rect.width() - metrics.horizontalAdvance(rest)
        shown = metrics.elidedText(rule.name, Qt.TextElideMode.ElideMiddle, room)
        self._text(rect, shown + rest, self.name, "text", Qt.AlignmentFlag.AlignLeft)

    def _bar(self, node: int, rect: QRectF, shares: np.ndarray) -> None:
        painter = self.painter
        if self.figure.kind == "classes":
            painter.setPen(Qt.PenStyle.NoPen)
            for class_idx, left, width in bar_pieces(shares, rect.width()):
                painter.setBrush(self._class_colour(class_idx))
                painter.drawRect(QRectF(rect.left() + left, rect.top(), width, rect.height()))
        else:
            self._number_bar(node, rect)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self.t.colour("control"), 1))
        painter.drawRect(rect)

    def _number_bar(self, node: int, rect: QRectF) -> None:
        figure = self.figure
        scale = rect.width() / (figure.high - figure.low)
        mean, deviation = figure.mean(node), figure.deviation(node)
        other = 0.0 if figure.kind in ("rate", "step") else mean
        low, high = min(mean - deviation, other), max(mean + deviation, other)
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(theme.class_colour(0))
        left = rect.left() + (low - figure.low) * scale
        self.painter.drawRect(QRectF(left, rect.top(), (high - low) * scale, rect.height()))
        at = rect.left() + (mean - figure.low) * scale
        self.painter.setPen(QPen(self.t.colour("text"), 2))
        self.painter.drawLine(QPointF(at, rect.top() - 2), QPointF(at, rect.bottom() + 2))

    def _class_colour(self, class_idx: int) -> QColor:
        return theme.class_colour(class_idx, len(self.figure.classes), self.figure.event_idx)

    def _block_colour(self, node: int) -> QColor:
        if self.figure.kind == "classes":
            return self._class_colour(self.figure.majority(node))
        return self.t.colour("control")


def short_font(zoom: float) -> QFont:
    """The font of what is written at any zoom: at least `LEAST_PX` on screen."""
    return _font(max(13, ceil(LEAST_PX / max(zoom, RULE_AND_BAR))))


def _font(px: int, weight: int = 400) -> QFont:
    """A font of the canvas: its size follows the zoom, not the text size a second time."""
    font = QFont(theme.font(px, weight))
    font.setPixelSize(px)
    return font
