"""The tree's canvas: zoom, pan, select, open and close, by mouse and keyboard; a mini-map in its corner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QFrame, QGraphicsScene, QGraphicsView, QToolTip, QWidget

from workbench.figures.tree import TreeFigure
from workbench.ui import theme
from workbench.ui.motion import Glide
from workbench.ui.plots.tree_item import CARD_WIDTH, RULE_AND_BAR, TreeItem
from workbench.ui.widgets import literal

MIN_ZOOM, MAX_ZOOM = 0.02, 2.5
ZOOM_STEP = 1.2
MARGIN = 16
MOST_MOVING = 300  # cards; more are in their new places at once


class TreeCanvas(QGraphicsView):
    """Shows one tree. Nodes are named by their path from the root (contracts D5)."""

    node_selected = Signal(object)  # path or None
    prune_asked = Signal(object)  # path
    menu_asked = Signal(QPoint)  # global position; the node under it is selected first
    opened_changed = Signal()
    hovered_changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("tree.canvas")
        self.setAccessibleName("Tree")
        self.item = TreeItem()
        self.remark_on: Callable[[int], str] = lambda _node: ""  # told under the story of a node
        self._scene = QGraphicsScene(self)
        self._scene.setItemIndexMethod(QGraphicsScene.ItemIndexMethod.NoIndex)  # two items, of changing size
        self._scene.addItem(self.item)
        self.setScene(self._scene)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setTransformationAnchor(QGraphicsView.ViewportAnchor.AnchorUnderMouse)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._pressed: QPoint | None = None
        self._panned = False
        self._fits = True  # until someone zooms or pans
        self._by_hand = False  # until someone opens or closes a branch
        self.mini_map = MiniMap(self)
        self.glide = Glide(self._on_glide, self)
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def figure(self) -> Any:  # a TreeFigure, or None
        return self.item.figure

    @property
    def zoom(self) -> float:
        return self.transform().m11()

    def _dress(self) -> None:
        self.setBackgroundBrush(theme.tokens().colour("window"))
        self.item.update()
        self.mini_map.update()

    def set_figure(self, figure: TreeFigure | None, is_open=None) -> None:
        """Show another tree; `is_open` tells which nodes show their children (default: as many levels as
        can be read)."""
        self.glide.end()
        self.item.set_figure(figure, is_open)
        self._by_hand = is_open is not None
        self._after_layout()
        if not self._by_hand:
            self._open_what_fits()
        if self._fits or is_open is None:
            self.fit()

    def _open_what_fits(self) -> None:
        """Open whole levels from the root as far as they fit the view at a zoom that can be read."""
        if self.figure is None:
            return
        view = self.viewport().rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        room = view.size() / (RULE_AND_BAR * theme.text_scale() / 100)
        for depth in range(self.figure.readable_depth(), 0, -1):
            self.item.is_open = self.figure.open_to(depth)
            self.item.lay_out()
            bounds = self.item.boundingRect()
            if bounds.width() <= room.width() and bounds.height() <= room.height():
                break
        self._after_layout()

    def _after_layout(self) -> None:
        bounds = self.item.boundingRect()
        room = max(self.viewport().width(), self.viewport().height(), 400) / max(self.zoom, 0.1)
        # room around, so that a corner card can be brought to the middle
        self._scene.setSceneRect(bounds.adjusted(-room / 2, -room / 2, room / 2, room / 2))
        self.mini_map.refresh()
        self.viewport().update()

    def fit(self) -> None:
        """Show the whole tree as large as it goes, but never so small that rules cannot be read."""
        self._fits = True
        bounds = self.item.boundingRect()
        if bounds.isEmpty():
            return
        view = self.viewport().rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        scale = theme.text_scale() / 100
        zoom = min(view.width() / bounds.width(), view.height() / bounds.height(), scale)
        self._set_zoom(max(zoom, RULE_AND_BAR * scale))
        whole = bounds.width() * self.zoom <= view.width() + 1
        x = bounds.center().x() if whole else float(self.item.centres[0])
        height = bounds.height() * self.zoom
        top = bounds.top() - MARGIN / self.zoom
        fits_down = height <= view.height() + 1
        y = bounds.center().y() if fits_down else top + self.viewport().height() / 2 / self.zoom
        self.centerOn(QPointF(x, y))
        self.mini_map.refresh()

    def _set_zoom(self, zoom: float) -> None:
        zoom = min(max(zoom, MIN_ZOOM), MAX_ZOOM)
        self.scale(zoom / self.zoom, zoom / self.zoom)
        self._after_layout()

    def zoom_by(self, factor: float) -> None:
        """Zoom about the pointer."""
        self._fits = False
        self._set_zoom(self.zoom * factor)

    def select(self, path) -> None:
        """Mark a node; nothing where the tree has no such node. Opens what hides it."""
        node = self._node_of(path)
        if node is not None and node not in self.item.place:
            self._open_way_to(node)
        if node != self.item.selected:
            self.item.selected = node
            self.viewport().update()
            self.mini_map.update()
            if node is not None:
                self.ensureVisible(self.item.card_rect(node), 24, 24)

    def _node_of(self, path) -> int | None:
        if path is None or self.figure is None:
            return None
        node, tree = 0, self.figure.tree
        for child_idx in path:
            if not 0 <= child_idx < tree.n_children[node]:
                return None
            node = int(tree.first_child[node]) + child_idx
        return node

    def _open_way_to(self, node: int) -> None:
        parent = int(self.figure.parent[node])
        while parent >= 0:
            self.item.is_open[parent] = True
            parent = int(self.figure.parent[parent])
        self._lay_out()

    @property
    def selected_path(self):
        """Path of the selected node, or None."""
        return None if self.item.selected is None else self.figure.tree.path_to(self.item.selected)

    def _choose(self, node: int | None) -> None:
        if node != self.item.selected:
            self.item.selected = node
            self.viewport().update()
            self.mini_map.update()
            self.node_selected.emit(self.selected_path)

    def set_open(self, node: int, is_open: bool) -> None:
        """Show or hide the children of a node; the node stays where it is on screen."""
        if self.figure is None or self.figure.is_leaf(node) or bool(self.item.is_open[node]) == is_open:
            return
        self.item.is_open[node] = is_open
        if not is_open and self.item.selected is not None and node in self.item.path_nodes():
            self._choose(node)
        self._lay_out(node)

    def toggle(self, node: int) -> None:
        self.set_open(node, self.item.is_closed(node))

    def open_all(self) -> None:
        """Show every node."""
        if self.figure is not None:
            self.item.is_open = self.figure.tree.n_children > 0
            self._lay_out()

    def _lay_out(self, stays: int | None = None) -> None:
        """Place the cards anew, `stays` where it is on screen; few enough of them glide there."""
        self._by_hand = True
        item, view = self.item, self.viewportTransform()
        seen = {node: view.map(item.drawn_rect(node).topLeft()) for node in item.place}
        before = None if stays is None else self.mapFromScene(item.card_rect(stays).center())
        item.lay_out()
        self._after_layout()
        if stays is not None and before is not None:
            moved = self.mapFromScene(item.card_rect(stays).center()) - before
            self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() + moved.x())
            self.verticalScrollBar().setValue(self.verticalScrollBar().value() + moved.y())
            self.mini_map.refresh()
        if max(len(seen), len(item.nodes)) <= MOST_MOVING:
            scene = self.viewportTransform().inverted()[0]
            item.move_from({node: scene.map(place) for node, place in seen.items()})
            self.glide.begin()
        else:
            self.glide.end()
        self.opened_changed.emit()

    def _on_glide(self, share: float) -> None:
        self.item.move_to(share)
        self.viewport().update()

    def wheelEvent(self, event) -> None:
        self.zoom_by(ZOOM_STEP ** (event.angleDelta().y() / 120))
        event.accept()

    def mousePressEvent(self, event) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._panned = event.position().toPoint(), False

    def mouseMoveEvent(self, event) -> None:
        here = event.position().toPoint()
        if self._pressed is not None:
            moved = here - self._pressed
            if self._panned or moved.manhattanLength() > 4:
                self._panned, self._fits, self._pressed = True, False, here
                self.horizontalScrollBar().setValue(self.horizontalScrollBar().value() - moved.x())
                self.verticalScrollBar().setValue(self.verticalScrollBar().value() - moved.y())
                self.mini_map.update()
            return
        node, _ = self.item.node_at(self.mapToScene(here))
        self._hover(node)

    def mouseReleaseEvent(self, event) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._pressed is None:
            return
        self._pressed = None
        if not self._panned:
            node, is_pill = self.item.node_at(self.mapToScene(event.position().toPoint()))
            self._choose(node)
            if node is not None and is_pill:
                self.set_open(node, True)

    def mouseDoubleClickEvent(self, event) -> None:
        node, is_pill = self.item.node_at(self.mapToScene(event.position().toPoint()))
        if node is not None and not is_pill:
            self.toggle(node)

    def leaveEvent(self, event) -> None:
        self._hover(None)

    def _hover(self, node: int | None) -> None:
        if node != self.item.hovered:
            self.item.hovered = node
            self.viewport().update()
            self.hovered_changed.emit()

    def contextMenuEvent(self, event) -> None:
        node, _ = self.item.node_at(self.mapToScene(event.pos()))
        self._choose(node if node is not None else self.item.selected)
        self.menu_asked.emit(event.globalPos())

    def viewportEvent(self, event) -> bool:
        if event.type() == QEvent.Type.ToolTip:
            node, _ = self.item.node_at(self.mapToScene(event.pos()))
            QToolTip.showText(event.globalPos(), literal("" if node is None else self.told_of(node)), self)
            return True
        return super().viewportEvent(event)

    def told_of(self, node: int) -> str:
        """All there is to say of a node: its tool tip."""
        return "\n".join(filter(None, (self.figure.story(node), self.remark_on(node))))

    def keyPressEvent(self, event) -> None:
        key = event.key()
        if self.figure is None:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(key)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.item.selected is not None:
            self.toggle(self.item.selected)
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and self.item.selected is not None:
            self.prune_asked.emit(self.selected_path)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Minus):
            self.zoom_by(ZOOM_STEP if key == Qt.Key.Key_Plus else 1 / ZOOM_STEP)
        else:
            super().keyPressEvent(event)

    def _step(self, key) -> None:
        """Move the selection: up to the parent, down to the first child, sideways within the level."""
        item, node = self.item, self.item.selected
        if node is None or node not in item.place:
            target = 0
        elif key == Qt.Key.Key_Up:
            target = max(int(self.figure.parent[node]), 0)
        elif key == Qt.Key.Key_Down:
            target = int(self.figure.tree.first_child[node]) if item.is_open[node] else node
        else:
            place = item.place[node] + (1 if key == Qt.Key.Key_Right else -1)
            is_level = 0 <= place < len(item.nodes) and item.depth[place] == item.depth[item.place[node]]
            target = int(item.nodes[place]) if is_level else node
        self._choose(target)
        self.ensureVisible(item.card_rect(target), 24, 24)
        self.mini_map.update()

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if self._fits and not self._by_hand:
            self._open_what_fits()
        if self._fits:
            self.fit()
        self.mini_map.refresh()


class MiniMap(QWidget):
    """The whole tree in 160 x 100, with the part in view framed; there only when the tree exceeds it."""

    WIDTH, HEIGHT = 160, 100

    def __init__(self, canvas: TreeCanvas) -> None:
        super().__init__(canvas)
        self.setObjectName("tree.mini_map")
        self._canvas = canvas
        self.resize(self.WIDTH, self.HEIGHT)
        self.hide()

    def refresh(self) -> None:
        """Move to the corner; show only where there is something out of view."""
        canvas = self._canvas
        view = canvas.viewport().rect()
        self.move(view.width() - self.WIDTH - 12, view.height() - self.HEIGHT - 12)
        bounds = canvas.item.boundingRect()
        seen = canvas.mapToScene(view).boundingRect()
        self.setVisible(not bounds.isEmpty() and not seen.adjusted(-1, -1, 1, 1).contains(bounds))
        self.update()

    def _scale(self) -> tuple[float, QPointF]:
        bounds = self._canvas.item.boundingRect()
        scale = min((self.WIDTH - 8) / bounds.width(), (self.HEIGHT - 8) / bounds.height())
        spare = QPointF(self.WIDTH - bounds.width() * scale, self.HEIGHT - bounds.height() * scale)
        return scale, spare / 2 - bounds.topLeft() * scale

    def paintEvent(self, event) -> None:
        canvas, item, t = self._canvas, self._canvas.item, theme.tokens()
        painter = QPainter(self)
        painter.setPen(QPen(t.colour("border"), 1))
        painter.setBrush(t.colour("surface"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        scale, shift = self._scale()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(t.colour("control"))
        step = max(len(item.nodes) // 2000, 1)  # more marks than pixels say nothing
        for node in item.nodes[::step]:
            card = item.card_rect(int(node))
            at = card.topLeft() * scale + shift
            painter.drawRect(
                QRectF(at.x(), at.y(), max(CARD_WIDTH * scale, 1), max(card.height() * scale, 1))
            )
        seen = canvas.mapToScene(canvas.viewport().rect()).boundingRect()
        frame = QRectF(seen.topLeft() * scale + shift, seen.bottomRight() * scale + shift)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(t.colour("accent"), 2))
        painter.drawRect(frame.intersected(QRectF(self.rect()).adjusted(2, 2, -2, -2)))
        painter.end()

    def mousePressEvent(self, event) -> None:
        self.mouseMoveEvent(event)

    def mouseMoveEvent(self, event) -> None:
        scale, shift = self._scale()
        self._canvas._fits = False
        self._canvas.centerOn((event.position() - shift) / scale)
        self.update()
