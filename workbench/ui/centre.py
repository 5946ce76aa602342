"""The middle of the window: views as flat tabs that can be split, dragged and put back."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QSizePolicy,
    QTabBar,
    QTabWidget,
    QWidget,
)

from workbench.ui import theme
from workbench.ui.sight import is_in_sight
from workbench.ui.widgets import Label, repolish, row

VIEWS = (
    "tree", "training", "surface", "table", "scores", "compare", "pruning", "splits", "trees", "tuning",
    "stack",
)  # fmt: skip
STATE_VERSION = 6
TAB_SPACE = 2 * 16  # beside the words of a tab, as in the style sheet
NARROW_WIDTH, LOW_HEIGHT = 1200, 800  # of the window; below, views side by side show more frame than picture
BEHIND_TREE, BEHIND_TRAINING = (
    ("table", "scores", "compare", "tuning", "stack"),
    ("pruning", "splits", "trees"),
)
SIDE_BY_SIDE = {
    frozenset({"tree", *BEHIND_TREE}),
    frozenset({"training", *BEHIND_TRAINING}),
    frozenset({"surface"}),
}
ONE_AT_A_TIME = {frozenset(VIEWS)}


class DockTitle(QWidget):
    """A dock's name in small capitals; folds away where a tab says the same."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_folded = False
        self.setProperty("look", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._label = Label(text.upper(), "section")
        self.setLayout(row(theme.PANEL_PADDING, self._label, -1, spacing=0))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def fold(self, is_folded: bool) -> None:
        if is_folded != self._is_folded:
            self._is_folded = is_folded
            self._label.setVisible(not is_folded)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        return QSize(40, 0 if self._is_folded else theme.scaled(28))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()


class Dock(QDockWidget):
    """A dock with the plain title."""

    def __init__(self, name: str, title: str, panel: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setObjectName(f"dock.{name}")
        self.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetMovable | QDockWidget.DockWidgetFeature.DockWidgetClosable
        )
        self.title = DockTitle(title)
        self.setTitleBarWidget(self.title)
        self.setWidget(panel)
        panel.setAutoFillBackground(True)  # else a separator that moved leaves its old line on screen


class Centre(QMainWindow):
    """The views.

    First run: Tree above, with Table, Scores, Compare, Tuning and Stack behind it; Training with Pruning,
    Splits and Trees behind it, and Surface, side by side below. In a window narrower than 1200 or lower than
    800 px all are tabs. A window that crosses these sizes changes from one to the other, unless somebody has
    placed the views otherwise.
    """

    def __init__(self, panels: dict[str, QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("centre")
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockOptions(QMainWindow.DockOption.AllowNestedDocks | QMainWindow.DockOption.AllowTabbedDocks)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.docks = {name: Dock(name, name.capitalize(), panel, self) for name, panel in panels.items()}
        self._is_new = False
        self._is_to_arrange = self._is_to_be_tabs = False
        self._asked_for: str | None = None
        self._is_small: bool | None = None  # as the window was at the last look
        self._is_folded = False  # all are tabs for want of room, not by wish
        self._fold_timer = QTimer(self, singleShot=True, interval=0, timeout=self._fold_titles)
        for dock in self.docks.values():
            dock.dockLocationChanged.connect(self._on_moved)
            dock.visibilityChanged.connect(self._on_moved)
        self._arrange_side_by_side()
        self._is_new = True

    def _on_moved(self, *_: object) -> None:
        self._fold_timer.start()

    def arrange(self) -> None:
        """Put every view back to its first place."""
        self._is_small = self._is_folded = self._has_small_window()
        if self._is_small:
            self._arrange_as_tabs()
        else:
            self._arrange_side_by_side()

    def arrange_as_tabs(self) -> None:
        """Show one view at a time, with all the room, in a window of any size."""
        self._is_to_be_tabs = not self.is_arranged  # the first arrangement would undo it
        self._is_folded = False
        self._arrange_as_tabs()

    def follow_window(self) -> None:
        """Change between side by side and tabs where the window has crossed a size."""
        is_small = self._has_small_window()
        if is_small == self._is_small or self._is_new:
            return
        self._is_small = is_small
        groups = self._groups()
        front = next((name for name in VIEWS if is_in_sight(self.docks[name])), VIEWS[0])
        if is_small and groups == SIDE_BY_SIDE:
            self._is_folded = True
            self._arrange_as_tabs()
        elif not is_small and self._is_folded and self.is_one_at_a_time:
            self._is_folded = False
            self._arrange_side_by_side()
        else:
            return
        self.docks[front].raise_()

    def _has_small_window(self) -> bool:
        size = self.window().size()
        return size.width() < theme.scaled(NARROW_WIDTH) or size.height() < theme.scaled(LOW_HEIGHT)

    @property
    def is_arranged(self) -> bool:
        """The views have had room to be placed in."""
        return not (self._is_new or self._is_to_arrange)

    @property
    def is_one_at_a_time(self) -> bool:
        """All views are tabs of one place."""
        return self._groups() == ONE_AT_A_TIME

    def _groups(self) -> set[frozenset[str]]:
        """The names of the views that share one place, for each place."""
        name_of: dict[QDockWidget, str] = {dock: name for name, dock in self.docks.items()}
        return {
            frozenset({name, *(name_of[other] for other in self.tabifiedDockWidgets(dock))})
            for name, dock in self.docks.items()
            if not dock.isHidden()
        }

    def _arrange_side_by_side(self) -> None:
        docks = self.docks
        for dock in docks.values():  # placed anew: all views in one row would widen the window
            self.removeDockWidget(dock)
        self.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, docks["tree"])
        self.splitDockWidget(docks["tree"], docks["training"], Qt.Orientation.Vertical)
        self.splitDockWidget(docks["training"], docks["surface"], Qt.Orientation.Horizontal)
        for name in BEHIND_TREE:
            self.tabifyDockWidget(docks["tree"], docks[name])
        for name in BEHIND_TRAINING:
            self.tabifyDockWidget(docks["training"], docks[name])
        self._show_all()
        docks["training"].raise_()
        self._share_room()

    def _arrange_as_tabs(self) -> None:
        for name in VIEWS[1:]:
            self.tabifyDockWidget(self.docks[VIEWS[0]], self.docks[name])
        self._show_all()

    def _show_all(self) -> None:
        for dock in self.docks.values():
            dock.show()
        self.docks[VIEWS[0]].raise_()
        self._fold_timer.start()

    def _share_room(self) -> None:
        docks = self.docks
        self.resizeDocks([docks["tree"], docks["training"]], [560, 440], Qt.Orientation.Vertical)
        self.resizeDocks([docks["training"], docks["surface"]], [470, 530], Qt.Orientation.Horizontal)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        self._fold_timer.start()
        if self._is_new and self.isVisible():
            self._is_new = False  # sizes given before the first showing had no room to share
            self._is_to_arrange = True
            QTimer.singleShot(0, self, self._arrange_first)

    def _arrange_first(self) -> None:
        self._is_to_arrange = False
        self.arrange()
        if self._is_to_be_tabs:
            self.arrange_as_tabs()
        if self._asked_for is None:
            return
        focus = self.window().focusWidget()
        if focus is None or self.isAncestorOf(focus):
            self.show_view(self._asked_for)
        else:  # a person went elsewhere meanwhile
            self.docks[self._asked_for].raise_()

    def show_view(self, name: str) -> None:
        """Bring a view to the front and give it the focus."""
        if not self.is_arranged:
            self._asked_for = name  # the first arrangement would bring the tree before it
        dock = self.docks[name]
        dock.show()
        dock.raise_()
        dock.widget().setFocus()

    def names_in_front(self) -> list[str]:
        """Names of the views on screen, without those behind a tab or closed."""
        return [name for name, dock in self.docks.items() if self._is_in_front(dock)]

    def hides(self, widget: QWidget) -> bool:
        """Whether a widget is in a view behind a tab, where nobody sees that it has the focus."""
        return any(dock.isAncestorOf(widget) and not self._is_in_front(dock) for dock in self.docks.values())

    def _is_in_front(self, dock: QDockWidget) -> bool:
        # Qt keeps a dock behind a tab "visible" and moves it outside of the window.
        return dock.isVisible() and self.rect().intersects(dock.geometry())

    def _fold_titles(self) -> None:
        for dock in self.docks.values():
            dock.title.fold(bool(self.tabifiedDockWidgets(dock)))
        for bar in self.findChildren(QTabBar):
            bar.setDrawBase(False)
            bar.setExpanding(False)
            bar.setUsesScrollButtons(True)
            bar.setElideMode(Qt.TextElideMode.ElideNone)
        self._space_tabs()

    def _space_tabs(self) -> None:
        """Bring tabs closer where they would not all be in sight."""
        for bar in self.findChildren(QTabBar):
            metrics = bar.fontMetrics()
            needed = sum(metrics.horizontalAdvance(bar.tabText(at)) + TAB_SPACE for at in range(bar.count()))
            look = "dense" if needed > bar.width() else ""
            if bar.property("look") != look:
                bar.setProperty("look", look)
                repolish(bar)
                QApplication.sendEvent(bar, QEvent(QEvent.Type.StyleChange))  # else it keeps their places

    def state(self) -> bytes:
        """Where the views are, for `restore`."""
        return bytes(self.saveState(STATE_VERSION).data())

    def restore(self, state: bytes) -> bool:
        """Put views where `state` has them; False if it is of another version."""
        self._is_new = False
        is_restored = bool(state) and self.restoreState(state, STATE_VERSION)
        self._is_small = self._has_small_window()
        self._is_folded = self._is_small and self.is_one_at_a_time
        self._fold_timer.start()
        return is_restored
