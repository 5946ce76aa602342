"""Draws a stack: the data's way through it, and how alike its out-of-fold columns are."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath

from workbench.figures.words import fixed
from workbench.ui import theme
from workbench.ui.plots.base import pen
from workbench.ui.plots.scores import DrawnPlot, draw_text

BOX_HEIGHT, BOX_GAP, BOX_MARGIN, STAGE_GAP = 40, 8, 8, 28
CELL, MAX_NAME = 28, 140
LEFT, RIGHT, CENTRE = Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignHCenter


class FlowPlot(DrawnPlot):
    """Boxes from left to right, joined by lines; a click on one asks for its setting."""

    setting_asked = Signal(str)

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("stack.flow")

    def height_needed(self) -> int:
        most = max(len(stage) for stage in self.figure.stages)
        return theme.scaled(40 + most * (BOX_HEIGHT + BOX_GAP))

    def boxes(self) -> list[list[QRectF]]:
        """Where the boxes of every stage stand in the drawing."""
        rect, stages = self.drawing.rect(), self.figure.stages
        gap = min(theme.scaled(STAGE_GAP), rect.width() / (3 * len(stages)))
        widths = self._widths(rect.width() - gap * (len(stages) - 1))
        high, between = theme.scaled(BOX_HEIGHT), theme.scaled(BOX_GAP)
        most = max(len(stage) for stage in stages) * (high + between) - between
        places, x = [], 0.0
        for wide, stage in zip(widths, stages, strict=True):
            top = (most - len(stage) * (high + between) + between) / 2
            places.append([QRectF(x, top + k * (high + between), wide, high) for k in range(len(stage))])
            x += wide + gap
        return places

    def _widths(self, room: float) -> list[float]:
        """Share the room: what words need, and the rest alike; where it is short, the wide boxes give."""
        bold, small = QFontMetricsF(theme.font(12, 600)), QFontMetricsF(theme.font(11))
        needed = [
            2 * BOX_MARGIN + 2 + max(
                max(bold.horizontalAdvance(box.title), small.horizontalAdvance(box.detail)) for box in stage
            )
            for stage in self.figure.stages
        ]  # fmt: skip
        most, left = math.inf, room
        for n_left, wide in zip(range(len(needed), 0, -1), sorted(needed), strict=True):
            if wide * n_left > left:  # it and those wider share what the narrower leave
                most = left / n_left
                break
            left -= wide
        kept = [min(wide, most) for wide in needed]
        return [wide + (room - sum(kept)) / len(kept) for wide in kept]

    def paint_into(self, painter: QPainter, rect: QRectF) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places = self.boxes()
        for before, after in pairwise(places):
            for start in before:
                for end in after:
                    self._join(painter, start, end)
        for stage, boxes in zip(self.figure.stages, places, strict=True):
            for box, place in zip(stage, boxes, strict=True):
                self._paint_box(painter, place, box.title, box.detail)

    def _join(self, painter: QPainter, start: QRectF, end: QRectF) -> None:
        left, right = QPointF(start.right(), start.center().y()), QPointF(end.left(), end.center().y())
        middle = (left.x() + right.x()) / 2
        path = QPainterPath(left)
        path.cubicTo(QPointF(middle, left.y()), QPointF(middle, right.y()), right)
        painter.setPen(pen(theme.tokens().colour("control"), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)

    def _paint_box(self, painter: QPainter, place: QRectF, title: str, detail: str) -> None:
        t = theme.tokens()
        painter.setPen(pen(t.colour("control")))
        painter.setBrush(t.colour("raised"))
        painter.drawRoundedRect(place.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        inner, half = place.adjusted(BOX_MARGIN, 3, -BOX_MARGIN, -3), place.height() / 2
        upper = QRectF(inner.left(), inner.top(), inner.width(), half - 3)
        lower = QRectF(inner.left(), place.center().y(), inner.width(), half - 3)
        draw_text(painter, upper, title, theme.font(12, 600), "text", LEFT, Qt.TextElideMode.ElideRight)
        draw_text(painter, lower, detail, theme.font(11), "text2", LEFT, Qt.TextElideMode.ElideRight)

    def _box_at(self, point: QPointF):
        for stage, boxes in zip(self.figure.stages, self.boxes(), strict=True):
            for box, place in zip(stage, boxes, strict=True):
                if place.contains(point):
                    return box
        return None

    def tip_at(self, point: QPointF) -> str:
        box = self._box_at(point)
        if box is None:
            return ""
        told = f"{box.title}: {box.detail}"
        return f"{told}\nClick to change it in Settings" if box.setting else told

    def mouseReleaseEvent(self, event) -> None:
        super().mouseReleaseEvent(event)
        if self.figure is None or event.button() != Qt.MouseButton.LeftButton:
            return
        box = self._box_at(self.drawing.mapFromScene(self.mapToScene(event.position().toPoint())))
        if box is not None and box.setting:
            self.setting_asked.emit(box.setting)


class CorrelationPlot(DrawnPlot):
    """How alike two out-of-fold columns are: a cell for each pair, fuller the more alike."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("stack.correlation")

    def draw(self) -> None:
        super().draw()
        self.header.say("Correlation of the out-of-fold columns", "columns that differ add more to a stack")

    def height_needed(self) -> int:
        return theme.scaled(64 + CELL * (len(self.figure.column_names) + 1))

    def _measures(self, rect: QRectF) -> tuple[float, float]:
        metrics = QFontMetricsF(theme.font(11))
        names = max(metrics.horizontalAdvance(name) for name in self.figure.column_names) + 12
        names = min(names, theme.scaled(MAX_NAME), rect.width() * 0.4)
        return names, min((rect.width() - names) / len(self.figure.column_names), theme.scaled(80))

    def _cell_at(self, point: QPointF) -> tuple[int, int] | None:
        names, wide = self._measures(self.drawing.rect())
        i, k = int(point.y() // theme.scaled(CELL)) - 1, int((point.x() - names) // wide)
        n = len(self.figure.column_names)
        return (i, k) if 0 <= i < n and 0 <= k < n else None

    def tip_at(self, point: QPointF) -> str:
        cell = self._cell_at(point)
        if cell is None:
            return ""
        first, second = (self.figure.column_names[at] for at in cell)
        return f"{first} and {second}: {fixed(float(self.figure.correlation[cell]), 2)}"

    def paint_into(self, painter: QPainter, rect: QRectF) -> None:
        t, high, small = theme.tokens(), theme.scaled(CELL), theme.font(11)
        names, wide = self._measures(rect)
        for k, name in enumerate(self.figure.column_names):
            head = QRectF(names + k * wide + 2, 0, wide - 4, high)
            draw_text(painter, head, name, small, "text2", CENTRE)
            left = QRectF(0, (k + 1) * high, names - 6, high)
            draw_text(painter, left, name, small, "text2", LEFT)
        for i, k in np.ndindex(self.figure.correlation.shape):
            cell = QRectF(names + k * wide, (i + 1) * high, wide, high).adjusted(1, 1, -1, -1)
            value = float(self.figure.correlation[i, k])
            painter.setPen(Qt.PenStyle.NoPen)
            full = t.colour("accent_soft" if value >= 0 else "danger_soft")
            share = 0.0 if np.isnan(value) else abs(value)
            painter.setBrush(theme.mix(full, t.colour("surface"), share))
            painter.drawRoundedRect(cell, 4, 4)
            draw_text(painter, cell, fixed(value, 2), theme.font(12), "text", CENTRE)
