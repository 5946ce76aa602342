"""Draws the pictures of the Scores view: confusion, importances, predicted against actual."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QToolTip

from workbench.figures.words import count, counted
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen
from workbench.ui.widgets import literal

ROW, MAX_NAME = 28, 160
N_LYING, UPRIGHT = 12, 80  # so many names of columns lie side by side; more stand, this high
PADDINGS = 4, 8  # left and right of a number


class _Drawing(QGraphicsWidget):
    """The free part of a picture: painted by its plot."""

    def __init__(self, owner) -> None:
        super().__init__()
        self._owner = owner

    def sizeHint(self, which, constraint=QSizeF()) -> QSizeF:  # noqa: B008 - Qt's own default
        return QSizeF(1e6, 1e6) if which == Qt.SizeHint.MaximumSize else QSizeF(40, 40)

    def paint(self, painter: QPainter, option, widget=None) -> None:
        if self._owner.figure is not None:
            self._owner.paint_into(painter, self.rect())


class DrawnPlot(FigurePlot):
    """A picture without axes, painted by `paint_into`."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.ci.removeItem(self.plot)
        self.plots.clear()
        self.drawing = _Drawing(self)
        self.ci.addItem(self.drawing, 2, 0)
        self.ci.layout.setContentsMargins(0, 0, 0, 0)

    def draw(self) -> None:
        self.header.say(self.figure.title, self.figure.subtitle)
        self.setFixedHeight(self.height_needed())
        self.drawing.update()

    def height_needed(self) -> int:
        return 160

    def _on_mouse_moved(self, position) -> None:
        pass

    def viewportEvent(self, event) -> bool:
        if event.type() == QEvent.Type.ToolTip and self.figure is not None:
            point = self.drawing.mapFromScene(self.mapToScene(event.pos()))
            if self.drawing.rect().contains(point):
                QToolTip.showText(event.globalPos(), literal(self.tip_at(point)), self)
                return True
        return super().viewportEvent(event)

    def tip_at(self, point: QPointF) -> str:
        """Return what is told at a point of the drawing, names in full; empty for nothing."""
        return ""

    def paint_into(self, painter: QPainter, rect: QRectF) -> None:
        raise NotImplementedError


def draw_text(painter, rect, text, font, token, align, elide=Qt.TextElideMode.ElideMiddle) -> None:
    """Write literal text into a box, shortened to its width."""
    painter.setFont(font)
    painter.setPen(theme.tokens().colour(token))
    shown = QFontMetricsF(font).elidedText(text, elide, rect.width())
    painter.drawText(rect, align | Qt.AlignmentFlag.AlignVCenter, shown)


class ConfusionPlot(DrawnPlot):
    """True classes in rows, predicted in columns; right answers in the accent, errors in danger."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("scores.confusion")

    def height_needed(self) -> int:
        return theme.scaled(64 + 24 + ROW * len(self.figure.classes)) + self._head_height()

    @property
    def _stands(self) -> bool:
        return len(self.figure.classes) > N_LYING

    def _head_height(self) -> int:
        return theme.scaled(UPRIGHT if self._stands else ROW)

    def _measures(self, rect: QRectF) -> tuple[float, float, float]:
        """Width of the names, width of a cell, height of the line above all rows."""
        classes, metrics = self.figure.classes, QFontMetricsF(theme.font(11))
        names = max(metrics.horizontalAdvance(name) for name in classes) + 24
        names = min(names, MAX_NAME, rect.width() * 0.4)
        return names, min((rect.width() - names - 8) / (len(classes) + 1), 96.0), theme.scaled(18)

    def tip_at(self, point: QPointF) -> str:
        figure = self.figure
        names, wide, top = self._measures(self.drawing.rect())
        i = int((point.y() - top - self._head_height()) // theme.scaled(ROW))
        k = int((point.x() - names) // wide)
        is_row, is_column = 0 <= i < len(figure.classes), 0 <= k < len(figure.classes)
        lines = [f"true {figure.classes[i]}"] if is_row else []
        lines += [f"predicted {figure.classes[k]}"] if is_column and point.y() >= top else []
        if is_row and is_column:
            lines.append(counted(int(figure.counts[i, k]), "row"))
        return "\n".join(lines)

    def paint_into(self, painter: QPainter, rect: QRectF) -> None:
        figure, row, above = self.figure, theme.scaled(ROW), self._head_height()
        n, small = len(figure.classes), theme.font(11)
        names, wide, top = self._measures(rect)
        left = Qt.AlignmentFlag.AlignLeft
        head = QRectF(names, 0, wide * n, top)
        draw_text(painter, head, "predicted", small, "text3", Qt.AlignmentFlag.AlignHCenter)
        draw_text(painter, QRectF(0, top + above - row, names - 4, row), "true", small, "text3", left)
        for k, name in enumerate(figure.classes):
            self._head(painter, QRectF(names + k * wide, top, wide, above), name)
        is_tight = self._is_tight(wide)
        for i, name in enumerate(figure.classes):
            y = top + above + i * row
            self._swatch(painter, QRectF(0.5, y + row / 2 - 5, 10, 10), i)
            draw_text(painter, QRectF(16, y, names - 20, row), name, small, "text2", left)
            total = int(figure.counts[i].sum())
            for k in range(n):
                cell = QRectF(names + k * wide, y, wide, row).adjusted(1, 1, -1, -1)
                is_right = None if figure.n_summed_up and i == k == n - 1 else i == k  # others: both
                self._cell(painter, cell, int(figure.counts[i, k]), total, is_right, is_tight)

    def _head(self, painter: QPainter, box: QRectF, name: str) -> None:
        if not self._stands:
            right = Qt.AlignmentFlag.AlignRight
            draw_text(painter, box.adjusted(4, 0, -8, 0), name, theme.font(11), "text2", right)
            return
        painter.save()
        painter.translate(box.bottomLeft())
        painter.rotate(-90)
        upright = QRectF(4, 0, box.height() - 4, box.width())
        draw_text(painter, upright, name, theme.font(11), "text2", Qt.AlignmentFlag.AlignLeft)
        painter.restore()

    def _is_tight(self, wide: float) -> bool:
        """Tell whether the largest count does not fit beside the paddings of a cell."""
        largest = count(int(self.figure.counts.max(initial=0)))
        return QFontMetricsF(theme.font(13)).horizontalAdvance(largest) > wide - 2 - sum(PADDINGS)

    def _swatch(self, painter: QPainter, box: QRectF, class_idx: int) -> None:
        painter.setPen(pen(theme.tokens().colour("control")))
        painter.setBrush(theme.class_colour(class_idx, len(self.figure.classes), self.figure.event_idx))
        painter.drawRect(box)

    def _cell(self, painter, cell: QRectF, n: int, total: int, is_right: bool | None, is_tight: bool) -> None:
        t = theme.tokens()
        if n and is_right is not None:
            soft = t.colour("accent_soft" if is_right else "danger_soft")
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.mix(soft, t.colour("surface"), 0.35 + 0.65 * n / max(total, 1)))
            painter.drawRoundedRect(cell, 4, 4)
        text, token = count(n), "text" if n else "text3"
        if not is_tight:
            inner = cell.adjusted(PADDINGS[0], 0, -PADDINGS[1], 0)
            draw_text(painter, inner, text, theme.font(13), token, Qt.AlignmentFlag.AlignRight)
            return
        small = theme.font(11)
        if QFontMetricsF(small).horizontalAdvance(text) > cell.width():
            text = "…"  # a part of a number would be read as another number; the tip has it
        draw_text(painter, cell.adjusted(-2, 0, 2, 0), text, small, token, Qt.AlignmentFlag.AlignHCenter)


class ImportancesPlot(DrawnPlot):
    """A bar a column, largest first, with its share."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("scores.importances")

    @property
    def is_low(self) -> bool:
        """Few bars are low, and yet there is room for all that stands above them."""
        return False

    def height_needed(self) -> int:
        return theme.scaled(64 + 24 * max(len(self.figure.names), 1))

    def tip_at(self, point: QPointF) -> str:
        k = int((point.y() - 4) // theme.scaled(24))
        names = self.figure.names
        return f"{names[k]}: {self.figure.text(k)}" if 0 <= k < len(names) else ""

    def paint_into(self, painter: QPainter, rect: QRectF) -> None:
        figure, row, font = self.figure, theme.scaled(24), theme.font(12)
        t, metrics = theme.tokens(), QFontMetricsF(font)
        names = max((metrics.horizontalAdvance(name) for name in figure.names), default=0.0) + 12
        names = min(names, rect.width() * 0.4)
        texts = [figure.text(k) for k in range(len(figure.names))]
        wide = max((metrics.horizontalAdvance(text) for text in texts), default=0.0) + 12
        room = rect.width() - names - wide
        spreads = np.zeros(len(texts)) if figure.spreads is None else figure.spreads
        largest = float(np.max(figure.values + spreads, initial=0.0)) or 1.0
        for k, (name, value) in enumerate(zip(figure.names, figure.values, strict=True)):
            y = 4 + k * row
            draw_text(painter, QRectF(0, y, names - 4, row), name, font, "text", Qt.AlignmentFlag.AlignLeft)
            length = room * float(value) / largest
            bar = QRectF(names, y + row * 0.25, max(length, 1.0), row * 0.5)
            painter.setPen(pen(t.colour("control")))
            painter.setBrush(theme.line_colour("training"))
            painter.drawRect(bar)
            reach = room * float(spreads[k]) / largest
            if reach > 0:
                painter.setPen(pen(t.colour("text"), 1.5))
                painter.drawLine(
                    QPointF(names + max(length - reach, 0), y + row / 2),
                    QPointF(names + max(length + reach, 0), y + row / 2),
                )
            after = QRectF(max(bar.right(), names + length + reach) + 8, y, wide, row)
            draw_text(painter, after, texts[k], font, "text2", Qt.AlignmentFlag.AlignLeft)


class ScatterPlot(FigurePlot):
    """Predicted against actual, with the line on which both are the same."""

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("scores.predicted")
        self.setMinimumHeight(280)
        self.ci.layout.setContentsMargins(0, 8, 0, 8)  # its panel has the padding
        self.points = pg.ScatterPlotItem()
        self.diagonal = pg.PlotDataItem()
        self.plot.addItem(self.diagonal, ignoreBounds=True)
        self.plot.addItem(self.points, ignoreBounds=True)
        self.plot.vb.setMouseEnabled(x=False, y=False)

    def draw(self) -> None:
        figure, t = self.figure, theme.tokens()
        self.header.say(figure.title, figure.subtitle)
        self.plot.getAxis("bottom").set_name(f"{figure.target}, actual")
        self.plot.getAxis("left").set_name(f"{figure.target}, predicted")
        edge = pen(t.colour("text"), 0.75)
        colour = QColor(theme.class_colour(0))
        self.points.setData(figure.actual, figure.predicted, size=6, brush=colour, pen=edge)
        both = np.concatenate([figure.actual, figure.predicted])
        low, high = float(both.min()), float(both.max())
        margin = 0.05 * (high - low) or 0.5
        low, high = low - margin, high + margin
        self.diagonal.setData([low, high], [low, high])
        self.diagonal.setPen(pen(t.colour("control"), 1, Qt.PenStyle.DashLine))
        self.plot.setXRange(low, high, padding=0)
        self.plot.setYRange(low, high, padding=0)
        ticks = figure.ticks(low, high)
        for side in ("bottom", "left"):
            self.plot.getAxis(side).setTicks(None if ticks is None else [ticks])

    def hover_text(self, point: QPointF) -> str:
        figure = self.figure
        (x0, x1), (y0, y1) = self.plot.vb.viewRange()
        away = ((figure.actual - point.x()) / (x1 - x0)) ** 2 + (
            (figure.predicted - point.y()) / (y1 - y0)
        ) ** 2
        nearest = int(np.argmin(away))
        if away[nearest] > 0.02**2:
            return ""
        return figure.text_at(nearest)
