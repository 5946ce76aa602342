"""The middle of the window: views as flat tabs that can be split, dragged and put back."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QMainWindow, QSizePolicy, QTabBar, QTabWidget, QWidget

from workbench.ui import theme
from workbench.ui.widgets import Label, row

VIEWS = ("tree", "training", "surface", "table", "scores", "compare")
STATE_VERSION = 1
LOW_HEIGHT = 640  # a view of half this height shows more frame than picture


class DockTitle(QWidget):
    """A dock's name in small capitals; folds away where a tab says the same."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_folded = False
        self.setProperty("look", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._label = Label(text.upper(), "section")
        self.setLayout(row(12, self._label, -1, spacing=0))
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
    """The six views.

    First run: Tree above, with Table, Scores and Compare behind it as tabs; Training and Surface side by
    side below. Where that would leave them no room, all are tabs.
    """

    def __init__(self, panels: dict[str, QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("centre")
        self.setWindowFlags(Qt.WindowType.Widget)
        self.setDockOptions(QMainWindow.DockOption.AllowNestedDocks | QMainWindow.DockOption.AllowTabbedDocks)
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.docks = {name: Dock(name, name.capitalize(), panel, self) for name, panel in panels.items()}
        self._is_arranged = False
        self._fold_timer = QTimer(self, singleShot=True, interval=0, timeout=self._fold_titles)
        for dock in self.docks.values():
            dock.dockLocationChanged.connect(self._on_moved)
            dock.visibilityChanged.connect(self._on_moved)
        self.arrange()

    def _on_moved(self, *_: object) -> None:
        self._fold_timer.start()

    def arrange(self) -> None:
        """Put every view back to its first place."""
        docks = self.docks
        for dock in docks.values():
            self.addDockWidget(Qt.DockWidgetArea.TopDockWidgetArea, dock)
            dock.show()
        self.splitDockWidget(docks["tree"], docks["training"], Qt.Orientation.Vertical)
        self.splitDockWidget(docks["training"], docks["surface"], Qt.Orientation.Horizontal)
        for name in ("table", "scores", "compare"):
            self.tabifyDockWidget(docks["tree"], docks[name])
        docks["tree"].raise_()
        self._is_arranged = True
        self._share_room()
        self._fold_timer.start()

    def arrange_as_tabs(self) -> None:
        """Show one view at a time, with all the room."""
        for name in VIEWS[1:]:
            self.tabifyDockWidget(self.docks[VIEWS[0]], self.docks[name])
        self.docks[VIEWS[0]].raise_()
        self._fold_timer.start()

    def _place_first(self) -> None:
        if self.height() < theme.scaled(LOW_HEIGHT):
            self.arrange_as_tabs()
        else:
            self._share_room()

    def _share_room(self) -> None:
        docks = self.docks
        self.resizeDocks([docks["tree"], docks["training"]], [560, 440], Qt.Orientation.Vertical)
        self.resizeDocks([docks["training"], docks["surface"]], [500, 500], Qt.Orientation.Horizontal)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        if self._is_arranged and self.isVisible():
            self._is_arranged = False  # sizes given before the first showing had no room to share
            QTimer.singleShot(0, self, self._place_first)

    def show_view(self, name: str) -> None:
        """Bring a view to the front and give it the focus."""
        dock = self.docks[name]
        dock.show()
        dock.raise_()
        dock.widget().setFocus()

    def _fold_titles(self) -> None:
        for dock in self.docks.values():
            dock.title.fold(bool(self.tabifiedDockWidgets(dock)))
        for bar in self.findChildren(QTabBar):
            bar.setDrawBase(False)
            bar.setExpanding(False)
            bar.setUsesScrollButtons(True)
            bar.setElideMode(Qt.TextElideMode.ElideNone)

    def state(self) -> bytes:
        return bytes(self.saveState(STATE_VERSION).data())

    def restore(self, state: bytes) -> bool:
        """Put views where `state` has them; False if it is of another version."""
        self._is_arranged = False
        is_restored = bool(state) and self.restoreState(state, STATE_VERSION)
        self._fold_timer.start()
        return is_restored
