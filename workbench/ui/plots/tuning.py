"""Draws a `TuningFigure`: a curve over one parameter, or a map over two; any setting can be taken."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QTextOption

from workbench.figures.tuning import BEST, ONE_SE
from workbench.ui import theme
from workbench.ui.plots.base import FigurePlot, pen
from workbench.ui.plots.marks import Band, Mark, make_room
from workbench.ui.plots.value_bar import ValueBar

FOLD_PX, MEAN_PX, RING_PX, CROSS_PX = 5, 7, 15, 10
FOLD_ALPHA = 0.35
CELL_PADDING = 8  # of both sides together, with the box around what is chosen
BRIGHT = 140  # of 255: the letters on a brighter cell are dark
STEPS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}
TAKES = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


class SettingPlot(FigurePlot):
    """A picture of settings: a click, or Enter at the one that the arrow keys went to, asks for it."""

    setting_asked = Signal(int)

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(
            "Settings that were tried: arrow keys go from one to the next, Enter takes one"
        )
        self.cursor: int | None = None  # the setting that the keys are at
        self._told: tuple[int, QPointF] | None = None  # the setting that is told of, and where
        self.plot.vb.setMouseEnabled(x=False, y=False)
        self.scene().sigMouseClicked.connect(self._on_clicked)

    def draw(self) -> None:
        figure = self.figure
        if self.cursor is not None and self.cursor >= figure.n_settings:
            self.cursor = None
        self.header.say(figure.title, figure.subtitle, self._more_text())
        self.plot.getAxis("bottom").set_name(figure.x.name)
        self.plot.getAxis("bottom").show_names(list(enumerate(figure.x.words)))
        self._draw_settings()
        self._draw_cursor()
        self._tell_again()

    def _tell_again(self) -> None:
        """Tell what is known by now of the setting that is told of."""
        if self._told is not None and self._hover.isVisible() and self._told[0] < self.figure.n_settings:
            self.show_hover(self.figure.story(self._told[0]), self._told[1])
        else:
            self.show_hover("", QPointF())

    def _more_text(self) -> str:
        """What is told above the picture beside its title."""
        return ""

    def _draw_settings(self) -> None:
        raise NotImplementedError

    def _draw_cursor(self) -> None:
        """Draw the ring of the focus around the setting that the keys are at, or nothing."""
        raise NotImplementedError

    def place_of(self, setting: int) -> QPointF:
        """Where a setting is drawn, in data coordinates."""
        raise NotImplementedError

    def setting_under(self, point: QPointF) -> int:
        return self.figure.setting_at(point.x(), point.y())

    def hover_text(self, point: QPointF) -> str:
        self._told = self.setting_under(point), point
        return self.figure.story(self._told[0])

    def _on_clicked(self, event) -> None:
        is_inside = self.plot.vb.sceneBoundingRect().contains(event.scenePos())
        if self.figure is not None and is_inside and event.button() == Qt.MouseButton.LeftButton:
            self.cursor = self.setting_under(self.plot.vb.mapSceneToView(event.scenePos()))
            self.setting_asked.emit(self.cursor)

    # -- the keyboard

    def focusInEvent(self, event) -> None:
        super().focusInEvent(event)
        if self.figure is not None and event.reason() != Qt.FocusReason.MouseFocusReason:
            self._go_to(self._first() if self.cursor is None else self.cursor)

    def focusOutEvent(self, event) -> None:
        super().focusOutEvent(event)
        if self.figure is not None:
            self._draw_cursor()
            self.show_hover("", QPointF())

    def _first(self) -> int:
        """Where the keys begin: at the best setting, else at the model's own."""
        known = (self.figure.best, self.figure.now, 0)
        return next(at for at in known if at is not None)

    def keyPressEvent(self, event) -> None:
        if self.figure is None:
            super().keyPressEvent(event)
            return
        now = self._first() if self.cursor is None else self.cursor
        if event.key() in STEPS:
            self._go_to(self.figure.step(now, *STEPS[Qt.Key(event.key())]))
        elif event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            far = -self.figure.n_settings if event.key() == Qt.Key.Key_Home else self.figure.n_settings
            self._go_to(self.figure.step(now, far, 0))
        elif event.key() in TAKES:
            self.setting_asked.emit(now)
        else:
            super().keyPressEvent(event)

    def _go_to(self, setting: int) -> None:
        self.cursor = setting
        self._draw_cursor()
        self._told = setting, self.place_of(setting)
        self.show_hover(self.figure.story(setting), self._told[1])


class TuningCurvePlot(SettingPlot):
    """Means over the values of one parameter with their band; folds as faint points.

    `band_`, `best_`, `one_se_`, `means_`, `folds_`, `failed_`, `far_`, `here_` and `ring_` are the figure's
    items.
    """

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("tuning.curve")
        self._band = Band(self.plot)
        self.band_ = self._band.item
        self.bars_ = pg.ErrorBarItem(beam=0.12)
        self.folds_, self.means_ = pg.ScatterPlotItem(), pg.PlotDataItem(connect="finite")
        self.failed_, self.far_, self.here_, self.ring_ = (pg.ScatterPlotItem() for _ in range(4))
        for z, item in enumerate(
            (self.bars_, self.folds_, self.means_, self.failed_, self.far_, self.here_, self.ring_), start=10
        ):
            item.setZValue(z)
            self.plot.addItem(item, ignoreBounds=True)
        self._best, self._one_se = Mark(self.plot, Qt.PenStyle.DotLine), Mark(self.plot, Qt.PenStyle.DashLine)
        self.best_, self.one_se_ = self._best.line, self._one_se.line

    def _draw_settings(self) -> None:
        figure, t = self.figure, theme.tokens()
        self.plot.getAxis("left").set_name(figure.score_name)
        order = np.argsort(figure.at_x)
        x, done = figure.at_x[order].astype(np.float64), figure.near[order]
        mean, spread = np.where(done, figure.mean[order], np.nan), figure.spread[order]
        colour = theme.line_colour("validation")
        self._draw_folds(x, figure.folds[order], done, colour)
        line = pen(colour, 2.5) if figure.x.is_ordered else None
        known = slice(None) if done.any() else slice(0)  # it cannot draw what is missing altogether
        self.means_.setData(
            x[known], mean[known], pen=line, symbol="o", symbolSize=MEAN_PX, symbolBrush=colour,
            symbolPen=pen(t.colour("surface"), 1),
        )  # fmt: skip
        self._draw_spread(x[done], mean[done], spread[done], colour)
        self._draw_marks()
        self._set_ranges()
        self._draw_out_of_range()
        self._draw_here()

    def _more_text(self) -> str:
        return self.figure.far_text

    def _draw_folds(self, x, folds, done, colour: QColor) -> None:
        faint = QColor(colour)
        faint.setAlphaF(FOLD_ALPHA)
        n_folds = folds.shape[1]
        places = np.repeat(x[done], n_folds)
        self.folds_.setData(places, folds[done].ravel(), size=FOLD_PX, pen=None, brush=faint)

    def _draw_spread(self, x, mean, spread, colour: QColor) -> None:
        self.bars_.setVisible(not self.figure.x.is_ordered or len(x) == 1)
        if self.bars_.isVisible():
            self._band.hide()
            self.bars_.setData(x=x, y=mean, height=2 * spread, pen=pen(colour, 1.5))
        else:
            self._band.show(x, mean - spread, mean + spread, colour)

    def _draw_marks(self) -> None:
        figure = self.figure
        is_one = figure.best is not None and figure.best == figure.one_se
        for mark, at, name in ((self._best, figure.best, BEST), (self._one_se, figure.one_se, ONE_SE)):
            if at is None or (is_one and mark is self._one_se):
                mark.hide()
            else:
                words = f"{BEST}, {ONE_SE}" if is_one else name
                mark.show(float(figure.at_x[at]), f"{words}: {figure.x.words[figure.at_x[at]]}")

    def _set_ranges(self) -> None:
        figure = self.figure
        done = figure.near
        low, high = (figure.mean - figure.spread)[done], (figure.mean + figure.spread)[done]
        values = np.concatenate([low, high, figure.folds[done].ravel()])
        values = values if len(values) else np.array([0.0, 1.0])
        side = 0.0 if figure.x.is_ordered else 0.5  # words stand under their places whole
        ends = -side, len(figure.x.words) - 1 + side
        make_room(self.plot, values, *ends, [self._best, self._one_se])

    def _draw_out_of_range(self) -> None:
        """Draw failed settings, and those far beyond the others, as signs at the edges."""
        figure, t = self.figure, theme.tokens()
        x = [float(figure.at_x[at]) for at in figure.errors]
        y = [self._floor] * len(x)
        cross = pen(t.colour("danger"), 2)
        self.failed_.setData(x, y, symbol="x", size=CROSS_PX, pen=cross, brush=None)
        far = [self.place_of(at) for at in figure.far]
        self.far_.setData(
            [point.x() for point in far], [point.y() for point in far], size=CROSS_PX, pen=cross,
            symbol="t1" if self._is_far_up else "t", brush=t.colour("danger"),
        )  # fmt: skip

    @property
    def _is_far_up(self) -> bool:
        """Whether what is far beyond the others lies above them."""
        figure = self.figure
        return bool(figure.far) and bool(figure.mean[figure.far[0]] > figure.mean[figure.best])

    @property
    def _floor(self) -> float:
        """Just above the lower end of the picture, where failed settings and those to come stand."""
        low, high = self.plot.vb.viewRange()[1]
        return low + 0.04 * (high - low)

    @property
    def _ceiling(self) -> float:
        low, high = self.plot.vb.viewRange()[1]
        return high - 0.04 * (high - low)

    def _draw_here(self) -> None:
        figure, t = self.figure, theme.tokens()
        at = [] if figure.now is None else [self.place_of(figure.now)]
        self.here_.setData(
            [point.x() for point in at], [point.y() for point in at], size=12, brush=t.colour("text"),
            pen=pen(t.colour("surface"), 2),
        )  # fmt: skip
        entries = [("mean over the folds", theme.line_colour("validation"))]
        if at:
            entries.append(("this model", t.colour("text")))
        self.legend_.show_entries(entries)

    def _draw_cursor(self) -> None:
        at = [self.place_of(self.cursor)] if self.hasFocus() and self.cursor is not None else []
        ring = pen(theme.tokens().colour("accent"), 2)
        self.ring_.setData([p.x() for p in at], [p.y() for p in at], size=RING_PX, pen=ring, brush=None)

    def place_of(self, setting: int) -> QPointF:
        mean = self.figure.mean[setting]
        if not self.figure.near[setting]:
            mean = self._ceiling if setting in self.figure.far and self._is_far_up else self._floor
        return QPointF(float(self.figure.at_x[setting]), mean)

    def setting_under(self, point: QPointF) -> int:
        return self.figure.setting_at(point.x())

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if getattr(self, "figure", None) is not None:
            self._set_ranges()
            self._draw_out_of_range()
            self._draw_here()
            self._draw_cursor()


class TuningMapPlot(SettingPlot):
    """Means over the values of two parameters, each in its cell; boxes around the chosen ones.

    `image_`, `best_`, `one_se_` and `ring_` are the figure's items; `texts_` are those of the cells.
    """

    def __init__(self, parent=None) -> None:
        super().__init__(parent)
        self.setObjectName("tuning.map")
        self.image_ = pg.ImageItem(axisOrder="row-major")
        self._halo, self.best_, self.one_se_, self.ring_ = (pg.PlotCurveItem() for _ in range(4))
        self.texts_: list[pg.TextItem] = []
        self.bar = ValueBar()
        self.bar.join(self.plot)
        for z, item in enumerate((self.image_, self._halo, self.one_se_, self.best_, self.ring_)):
            item.setZValue(z)
            self.plot.addItem(item, ignoreBounds=True)
        self.plot.showGrid(x=False, y=False)
        self.plot.vb.sigResized.connect(self._write_cells)

    def _draw_settings(self) -> None:
        figure = self.figure
        self.plot.getAxis("left").set_name(figure.y.name)
        self.plot.getAxis("left").show_names(list(enumerate(figure.y.words)))
        n_x, n_y = len(figure.x.words), len(figure.y.words)
        self.image_.setImage(self._pixels(n_x, n_y), autoLevels=False, levels=(0, 255))
        self.image_.setRect(QRectF(-0.5, -0.5, n_x, n_y))
        self.plot.setXRange(-0.5, n_x - 0.5, padding=0)
        self.plot.setYRange(-0.5, n_y - 0.5, padding=0)
        self._draw_boxes()
        self._write_cells()

    def _more_text(self) -> str:
        figure = self.figure
        chosen = [(BEST, figure.best), (ONE_SE, figure.one_se)]
        if figure.best == figure.one_se:
            chosen = [(f"{BEST}, and the simplest within {ONE_SE}", figure.best)]
        told = [
            f"{name}: {figure.setting_text(at)} ({figure.score_text(figure.mean[at])})"
            for name, at in chosen
            if at is not None
        ]
        return "; ".join([*told, figure.far_text] if figure.far else told)

    def _range(self) -> tuple[float, float] | None:
        known = self.figure.mean[self.figure.near]
        if not len(known):
            return None
        low, high = float(known.min()), float(known.max())
        return (low, high) if high > low else (low, low + 1.0)

    def _colours(self) -> np.ndarray:
        """Colour of every setting, 0 to 255; of those without a score the window's ground."""
        figure, span = self.figure, self._range()
        ground = theme.tokens().colour("window")
        colours = np.tile(np.array(ground.getRgb(), np.uint8), (figure.n_settings, 1))
        if span is None:
            self.bar.hide()
            return colours
        self.bar.show_range(figure.score_name, *span)
        done = np.isfinite(figure.mean)
        shares = np.clip((figure.mean[done] - span[0]) / (span[1] - span[0]), 0, 1)
        colours[done] = pg.colormap.get(theme.VALUE_MAP).map(shares, mode=pg.ColorMap.BYTE)
        return colours

    def _pixels(self, n_x: int, n_y: int) -> np.ndarray:
        self._shades = self._colours()
        pixels = np.zeros((n_y, n_x, 4), np.uint8)
        pixels[self.figure.at_y, self.figure.at_x] = self._shades
        return pixels

    def _draw_boxes(self) -> None:
        figure, t = self.figure, theme.tokens()
        chosen = [at for at in (figure.best, figure.one_se) if at is not None]
        self._halo.setData(*_boxes(figure, chosen), connect="pairs", pen=pen(t.colour("surface"), 6))
        ink = t.colour("text")
        for item, at, style in (
            (self.best_, figure.best, Qt.PenStyle.SolidLine),
            (self.one_se_, figure.one_se, Qt.PenStyle.DashLine),
        ):
            item.setData(
                *_boxes(figure, [] if at is None else [at]), connect="pairs", pen=pen(ink, 2.5, style)
            )

    def _write_cells(self, *_: object) -> None:
        """Write each score into its cell, and what it is chosen as, where there is room."""
        figure = self.figure
        if figure is None:
            return
        while len(self.texts_) < figure.n_settings:
            self.texts_.append(pg.TextItem("", anchor=(0.5, 0.5)))
            self.texts_[-1].setZValue(20)
            self.plot.addItem(self.texts_[-1], ignoreBounds=True)
        font = theme.font(11)
        metrics = QFontMetricsF(font)
        room_x = self.plot.vb.width() / len(figure.x.words) - CELL_PADDING
        n_lines = int((self.plot.vb.height() / len(figure.y.words) - CELL_PADDING) // metrics.height())
        for setting, text in enumerate(self.texts_):
            lines = self._cell_lines(setting)[:n_lines] if setting < figure.n_settings else []
            lines = [line for line in lines if metrics.horizontalAdvance(line) <= room_x]
            text.setVisible(bool(lines))
            if lines:
                text.setFont(font)
                text.textItem.document().setDefaultTextOption(QTextOption(Qt.AlignmentFlag.AlignCenter))
                text.setText("\n".join(lines), color=self._ink(setting))
                text.setTextWidth(room_x)
                text.setPos(float(figure.at_x[setting]), float(figure.at_y[setting]))

    def _cell_lines(self, setting: int) -> list[str]:
        figure = self.figure
        if setting in figure.errors:
            return ["failed"]
        if np.isnan(figure.mean[setting]):
            return []
        marks = [("best", figure.best), ("one SE", figure.one_se), ("this model", figure.now)]
        told = ", ".join(name for name, at in marks if at == setting)
        return [figure.score_text(figure.mean[setting]), *([told] if told else [])]

    def _ink(self, setting: int) -> QColor:
        if setting in self.figure.errors:
            return theme.tokens().colour("danger")
        red, green, blue, _ = self._shades[setting].astype(float)
        is_bright = 0.299 * red + 0.587 * green + 0.114 * blue > BRIGHT
        return theme.LIGHT.colour("text" if is_bright else "surface")

    def _draw_cursor(self) -> None:
        is_shown = self.hasFocus() and self.cursor is not None
        ring = pen(theme.tokens().colour("accent"), 3)
        self.ring_.setData(
            *_boxes(self.figure, [self.cursor] if is_shown else [], 0.08), connect="pairs", pen=ring
        )

    def place_of(self, setting: int) -> QPointF:
        return QPointF(float(self.figure.at_x[setting]), float(self.figure.at_y[setting]))


def _boxes(figure, settings, inset: float = 0.04):
    """Return the sides of cells as pairs of points."""
    x, y, half = [], [], 0.5 - inset
    for setting in settings:
        at_x, at_y = float(figure.at_x[setting]), float(figure.at_y[setting])
        corners = [(-half, -half), (half, -half), (half, half), (-half, half)]
        for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
            x += [at_x + x0, at_x + x1]
            y += [at_y + y0, at_y + y1]
    return np.array(x, np.float64), np.array(y, np.float64)
