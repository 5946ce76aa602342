"""How rows of the lists and cells of the table are painted."""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate

from workbench.ui import icons, theme
from workbench.ui.item_models.column_model import (
    CAPTION_ROLE,
    COLUMN_ROLE,
    PROBLEM_ROLE,
    ROLE_ROLE,
    STRENGTH_ROLE,
)
from workbench.ui.item_models.run_model import RUN_ROLE, STATE_WORDS
from workbench.ui.item_models.table_model import CLASS_ROLE, MARKED_ROLE, MISSING_ROLE
from workbench.ui.widgets import paint_focus

_ELIDE = Qt.TextElideMode.ElideRight
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
STATE_ICONS = {
    "new": ("new", "text3"),
    "queued": ("waiting", "text3"),
    "training": ("retrain", "accent"),
    "done": ("done", "good"),
    "stopped": ("stopped", "warning"),
    "failed": ("failed", "danger"),
}


class RowDelegate(QStyledItemDelegate):
    """A row of 28 px: its ground by state, then what the subclass paints."""

    def sizeHint(self, option, index) -> QSize:
        return QSize(40, theme.scaled(theme.CONTROL_HEIGHT))

    def paint(self, painter: QPainter, option, index) -> None:
        t = theme.tokens()
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, t.colour("accent_soft"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, t.colour("hover"))
        self.paint_row(painter, QRect(option.rect).adjusted(8, 0, -8, 0), index)
        if option.state & QStyle.StateFlag.State_HasFocus:
            paint_focus(painter, QRectF(option.rect))
        painter.restore()

    def paint_row(self, painter: QPainter, rect: QRect, index) -> None:
        raise NotImplementedError


def _icon_rect(rect: QRect, x: int, px: int) -> QRectF:
    return QRectF(x, rect.center().y() - px / 2 + 1, px, px)


def _text(painter: QPainter, rect: QRect, text: str, font, token: str, align=_LEFT, elide=_ELIDE) -> None:
    painter.setFont(font)
    painter.setPen(theme.tokens().colour(token))
    painter.drawText(rect, align, QFontMetrics(font).elidedText(text, elide, rect.width()))


class ColumnDelegate(RowDelegate):
    """Kind, name, the figure of the present order, a bar of strength, role."""

    def paint_row(self, painter: QPainter, rect: QRect, index) -> None:
        column, role = index.data(COLUMN_ROLE), index.data(ROLE_ROLE)
        icon_px = theme.scaled(16)
        is_off = role in ("ignored", "id")
        icons.paint(
            painter, _icon_rect(rect, rect.left(), icon_px), column.kind, "text3" if is_off else "text2"
        )
        right = rect.right() - icon_px
        role_token = {"target": "accent", "feature": "text3"}.get(role, "text3")
        if role != "feature":
            icons.paint(painter, _icon_rect(rect, right, icon_px), role, role_token)
        right -= 8
        right = self._paint_strength(painter, rect, index, right)
        if index.data(PROBLEM_ROLE):
            right -= icon_px
            icons.paint(painter, _icon_rect(rect, right, icon_px), "warning", "warning")
            right -= 4
        name_font = theme.font(13, 600 if role == "target" else 400)
        left = rect.left() + icon_px + 8
        right = self._paint_caption(
            painter, rect, index, right, QFontMetrics(name_font).horizontalAdvance(column.name) + left
        )
        token = "text3" if is_off else "text"
        room = QRect(left, rect.top(), right - left, rect.height())
        _text(painter, room, column.name, name_font, token, _LEFT, Qt.TextElideMode.ElideMiddle)

    @staticmethod
    def _paint_caption(painter: QPainter, rect: QRect, index, right: int, name_end: int) -> int:
        caption, is_asked_for = index.data(CAPTION_ROLE), index.model().order != "file"
        font = theme.font(11)
        width = QFontMetrics(font).horizontalAdvance(caption) + 4
        if not caption or (right - width < name_end and not is_asked_for):
            return right  # the whole name is worth more; the tool tip has the figure
        _text(painter, QRect(right - width, rect.top(), width, rect.height()), caption, font, "text3", _RIGHT)
        return right - width

    @staticmethod
    def _paint_strength(painter: QPainter, rect: QRect, index, right: int) -> int:
        strength = index.data(STRENGTH_ROLE)
        if strength is None:
            return right
        width, height = theme.scaled(24), theme.scaled(4)
        bar = QRectF(right - width, rect.center().y() - height / 2 + 1, width, height)
        painter.fillRect(bar, theme.tokens().colour("raised"))
        bar.setWidth(max(width * min(max(strength, 0.0), 1.0), 1.0))
        painter.fillRect(bar, theme.tokens().colour("control"))
        return right - width - 8


class RunDelegate(RowDelegate):
    """State, name, headline score."""

    def paint_row(self, painter: QPainter, rect: QRect, index) -> None:
        run = index.data(RUN_ROLE)
        icon_px = theme.scaled(16)
        icons.paint(painter, _icon_rect(rect, rect.left(), icon_px), *STATE_ICONS[run.state])
        caption = headline(run)
        font = theme.font(11)
        width = QFontMetrics(font).horizontalAdvance(caption) + 4
        right = rect.right()
        _text(painter, QRect(right - width, rect.top(), width, rect.height()), caption, font, "text3", _RIGHT)
        left = rect.left() + icon_px + 8
        room = QRect(left, rect.top(), right - width - 8 - left, rect.height())
        _text(painter, room, run.name, theme.font(13), "text", _LEFT, Qt.TextElideMode.ElideMiddle)

    def updateEditorGeometry(self, editor, option, index) -> None:
        editor.setGeometry(QRect(option.rect).adjusted(theme.scaled(28), 0, -4, 0))


def headline(run) -> str:
    """A run's state in words, or its score on the validation rows."""
    scores = run.result.scores.get("validation") if run.result is not None else None
    if scores is None or run.is_training or run.state == "failed":
        return STATE_WORDS[run.state]
    name, words = ("accuracy", "accuracy") if "accuracy" in scores.metrics else ("r2", "R²")
    value = scores.metrics[name].value
    return STATE_WORDS[run.state] if math.isnan(value) else f"{words} {value:.3f}"


MARK_PX = 3  # at the left edge of a row that is in the selected node


class CellDelegate(QStyledItemDelegate):
    """A table cell: missing as a small dash on `hover`, a class as swatch and name, a marked row's edge."""

    def paint(self, painter: QPainter, option, index) -> None:
        t = theme.tokens()
        painter.save()
        is_missing = bool(index.data(MISSING_ROLE))
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, t.colour("accent_soft"))
        elif is_missing:
            painter.fillRect(QRect(option.rect).adjusted(2, 3, -2, -3), t.colour("hover"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, t.colour("hover"))
        if index.data(MARKED_ROLE):
            edge = QRect(option.rect.left(), option.rect.top(), MARK_PX, option.rect.height())
            painter.fillRect(edge, t.colour("accent"))
        rect = QRect(option.rect).adjusted(8, 0, -8, 0)
        class_idx = index.data(CLASS_ROLE)
        if class_idx is not None:
            paint_swatch(painter, QPointF(rect.left() + 4, rect.center().y() + 1), class_idx)
            rect.setLeft(rect.left() + 16)
        align = Qt.AlignmentFlag(index.data(Qt.ItemDataRole.TextAlignmentRole))
        text = str(index.data(Qt.ItemDataRole.DisplayRole))
        _text(
            painter, rect, text.replace("\n", " "), theme.font(13), "text3" if is_missing else "text", align
        )
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            paint_focus(painter, QRectF(option.rect))
        painter.restore()


def paint_swatch(painter: QPainter, centre: QPointF, class_idx: int, radius: float = 4) -> None:
    """A dot of a class colour with its ring of `text`."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(theme.tokens().colour("text"))
    painter.setBrush(theme.class_colour(class_idx))
    painter.drawEllipse(centre, radius, radius)
    painter.setBrush(Qt.BrushStyle.NoBrush)
