"""What the pictures of tuned settings share: any setting is taken by mouse or keys."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt, Signal

from workbench.ui.plots.base import FigurePlot

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
        self.plot.getAxis("bottom").show_names(self._names())
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

    def _names(self) -> list[tuple[float, str]]:
        """Places across with what is written there."""
        return list(enumerate(self.figure.x.words))

    def _draw_settings(self) -> None:
        raise NotImplementedError

    def _draw_cursor(self) -> None:
        """Draw the ring of the focus around the setting that the keys are at, or nothing."""
        raise NotImplementedError

    def place_of(self, setting: int) -> QPointF:
        """Where a setting is drawn, in data coordinates."""
        raise NotImplementedError

    def setting_under(self, point: QPointF) -> int | None:
        """Return the setting at a point; None where there is none."""
        return self.figure.setting_at(point.x(), point.y())

    def hover_text(self, point: QPointF) -> str:
        setting = self.setting_under(point)
        self._told = None if setting is None else (setting, point)
        return self.text_beyond(point) if setting is None else self.figure.story(setting)

    def text_beyond(self, point: QPointF) -> str:
        """What is told where there is no setting."""
        return ""

    def _on_clicked(self, event) -> None:
        is_inside = self.plot.vb.sceneBoundingRect().contains(event.scenePos())
        if self.figure is None or not is_inside or event.button() != Qt.MouseButton.LeftButton:
            return
        setting = self.setting_under(self.plot.vb.mapSceneToView(event.scenePos()))
        if setting is not None:
            self.cursor = setting
            self.setting_asked.emit(setting)

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
