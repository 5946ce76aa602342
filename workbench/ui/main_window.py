"""The window: it only assembles panels, bars and commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from workbench.laboratory import Averages, Laboratory, ManyFits
from workbench.resampler import Resampler
from workbench.tree_editor import TreeEditor
from workbench.tree_study import TreeStudy
from workbench.tuner import Tuner
from workbench.ui import theme
from workbench.ui.actions import ActionSet
from workbench.ui.centre import NARROW_WIDTH, Centre, Dock
from workbench.ui.command_palette import CommandPalette
from workbench.ui.context import Context
from workbench.ui.experiment_commands import ExperimentCommands
from workbench.ui.file_commands import FileCommands
from workbench.ui.menus import MENUS
from workbench.ui.model_commands import ModelCommands
from workbench.ui.notice import NoticeBar
from workbench.ui.panels.data import DataPanel
from workbench.ui.panels.jobs import JobsPanel
from workbench.ui.panels.models import ModelsPanel
from workbench.ui.panels.settings import SettingsPanel
from workbench.ui.status_line import StatusLine
from workbench.ui.study_commands import StudyCommands
from workbench.ui.toolbar import Toolbar
from workbench.ui.view_commands import ViewCommands
from workbench.ui.welcome import WelcomePage, mark
from workbench.ui.widgets import bare_button

if TYPE_CHECKING:
    from workbench.document import Document
    from workbench.jobs import Lanes
    from workbench.selection import Selection
    from workbench.training import Trainer

STATE_VERSION = 1
LEFT_WIDTH, RIGHT_WIDTH = 280, 320
FIRST_SIZE = 1440, 900  # on a screen that has the room
FRAME_WIDTH, FRAME_HEIGHT = 8, 40  # what the desktop draws around a window; not told before it is shown


class MainWindow(QMainWindow):
    """One document's window.

    Parameters
    ----------
    document, trainer, lanes, selection
        The application model; the window owns none of it.
    settings : QSettings
        Where sizes, theme and recent files are remembered.
    """

    def __init__(
        self, document: Document, trainer: Trainer, lanes: Lanes, selection: Selection, settings: QSettings
    ) -> None:
        super().__init__()
        self.setObjectName("window")
        self.setWindowIcon(QIcon(mark(64)))
        self.setAcceptDrops(True)
        self.actions_ = ActionSet(self)
        editor = TreeEditor(document, lanes, trainer, self)
        tuner = Tuner(document, lanes, trainer, self)
        of_refits = document, lanes, trainer, self
        self.context = Context(
            document, trainer, lanes, selection, self.actions_, settings, editor, tuner,
            Resampler(document, lanes, self), Laboratory(*of_refits), ManyFits(*of_refits),
            Averages(*of_refits), TreeStudy(document, lanes, self),
        )  # fmt: skip
        self.centre: Centre | None = None
        self._panels: dict[str, QWidget] = {}
        self._is_narrow = False
        self._may_close = False
        self._text_scale = theme.text_scale()
        self.notice = NoticeBar()
        self.files = FileCommands(self)
        self.models = ModelCommands(self)
        self.views = ViewCommands(self)
        self.experiments = ExperimentCommands(self)
        self.studies = StudyCommands(self.context, self)
        self._make_pages()
        self._make_docks()
        self._make_bars()
        self._fill_menus()
        self._connect()
        self._restore_size()
        self._on_table_changed()

    # -- assembling

    def _make_pages(self) -> None:
        self.welcome = WelcomePage()
        self._pages = QStackedWidget()
        self._pages.addWidget(self.welcome)
        middle = QWidget()
        layout = QVBoxLayout(middle)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.notice)
        layout.addWidget(self.experiments.bar)
        layout.addWidget(self._pages, 1)
        self.setCentralWidget(middle)

    def _make_docks(self) -> None:
        areas = {
            "data": (DataPanel, "Data", Qt.DockWidgetArea.LeftDockWidgetArea),
            "models": (ModelsPanel, "Models", Qt.DockWidgetArea.LeftDockWidgetArea),
            "settings": (SettingsPanel, "Settings", Qt.DockWidgetArea.RightDockWidgetArea),
            "jobs": (JobsPanel, "Jobs", Qt.DockWidgetArea.BottomDockWidgetArea),
        }
        # Settings and Jobs show actions that Models adds, so the order here matters.
        self.docks: dict[str, QDockWidget] = {}
        for name, (panel, title, area) in areas.items():
            self.docks[name] = Dock(name, title, panel(self.context), self)
            self.addDockWidget(area, self.docks[name])
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self.docks["jobs"].hide()

    def _make_bars(self) -> None:
        self.toolbar = Toolbar(self.context, self)
        self.addToolBar(self.toolbar)
        self._strip = QToolBar("Strip", self)
        self._strip.setObjectName("strip")
        self._strip.setMovable(False)
        self._strip.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        show = bare_button("settings", "Settings", self.toggle_settings, "strip.settings")
        self._strip.addWidget(show)
        self.addToolBar(Qt.ToolBarArea.RightToolBarArea, self._strip)
        self._strip.hide()
        self.status = StatusLine(self.context, self)
        self.setStatusBar(self.status)
        self.palette_ = CommandPalette(self.actions_, self)

    def _fill_menus(self) -> None:
        bar = self.menuBar()
        bar.clear()
        for title, names in MENUS.items():
            menu = bar.addMenu(title)
            for name in names:
                if name is None:
                    menu.addSeparator()
                elif name.startswith("menu."):
                    menu.addMenu(self.submenu(name))
                elif name in self.actions_:
                    menu.addAction(self.actions_[name])
            menu.menuAction().setVisible(not menu.isEmpty())

    def submenu(self, name: str) -> QMenu:
        """The submenu of a name, made by the commands that fill it."""
        owner = self.files if name in ("menu.recent", "menu.samples") else self.views
        return owner.submenu(name)

    def _connect(self) -> None:
        document = self.context.document
        document.table_changed.connect(self._on_table_changed)
        document.run_added.connect(self._on_run_added)
        document.current_run_changed.connect(lambda _run_id: self.context.selection.clear())
        document.dirty_changed.connect(self._refresh_title)
        theme.changed.connect(self._on_theme_changed)
        self.welcome.sample_chosen.connect(self.files.open_sample)
        self.welcome.experiment_chosen.connect(self.experiments.open)
        self.welcome.file_chosen.connect(self.files.open_path)
        self.welcome.open_requested.connect(self.files.ask_open)
        self.welcome.set_recent(self.files.recent.paths())

    # -- the middle

    def prepare_centre(self, then: Callable[[], object]) -> None:
        """Make the views one at a time, so that the window answers in between; `then` go on."""
        if self.centre is not None:
            then()
            return
        if not self._make_next_panel():
            self.ensure_centre()
        QTimer.singleShot(0, self, lambda: self.prepare_centre(then))

    def _make_next_panel(self) -> bool:
        from workbench.ui.views import PANELS

        name = next((name for name in PANELS if name not in self._panels), None)
        if name is None:
            return False
        panel = PANELS[name](self.context)
        panel.setParent(self)  # until its dock takes it
        self._panels[name] = panel
        return True

    def ensure_centre(self) -> Centre:
        """Make the views on first need: plots take longer to import than a window may to open."""
        if self.centre is None:
            while self._make_next_panel():
                pass
            panels, self._panels = self._panels, {}
            self.centre = Centre(panels)
            self.views.bind_centre(self.centre)
            self._pages.addWidget(self.centre)
            state = self.context.settings.value("window/centre")
            if state is not None:
                self.centre.restore(bytes(state))
            self._fill_menus()
        return self.centre

    def _on_table_changed(self) -> None:
        has_work = not self.context.document.is_empty
        had_focus = self._pages.isAncestorOf(QApplication.focusWidget() or self)
        if has_work:
            self._pages.setCurrentWidget(self.ensure_centre())
        else:
            self._pages.setCurrentWidget(self.welcome)
        if had_focus:  # else it goes on to what comes next, such as a button of the status line
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        if not has_work:
            self.welcome.set_recent(self.files.recent.paths())
        for name in ("data", "models"):
            self.docks[name].setVisible(has_work)
        self._place_settings()
        self._refresh_title()

    def _on_run_added(self, _run_id: str) -> None:
        if self._pages.currentWidget() is self.welcome:  # a model file, which brings no table
            self._on_table_changed()

    def _refresh_title(self, *_: object) -> None:
        document = self.context.document
        # Qt reads [*] in a title as "modified" mark; a name holding it shows it doubled.
        name = document.name.replace("[*]", "[*][*]")
        self.setWindowTitle(f"{name}[*] – Treewright" if name else "Treewright[*]")
        self.setWindowModified(document.is_dirty)

    # -- sizes

    def _restore_size(self) -> None:
        settings = self.context.settings
        geometry, state = settings.value("window/geometry"), settings.value("window/state")
        if geometry is None or not self.restoreGeometry(geometry):
            self.resize(*FIRST_SIZE)
        self._keep_on_screen()
        if state is None or not self.restoreState(state, STATE_VERSION):
            self.resizeDocks([self.docks["data"], self.docks["settings"]], [LEFT_WIDTH, RIGHT_WIDTH], _ACROSS)
            self.resizeDocks([self.docks["data"], self.docks["models"]], [70, 30], Qt.Orientation.Vertical)

    def _keep_on_screen(self) -> None:
        """Shrink and move a window that is larger than its screen's room, its frame included."""
        room = self.screen().availableGeometry().adjusted(0, 0, -FRAME_WIDTH, -FRAME_HEIGHT)
        if self.isMaximized() or self.isFullScreen() or room.isEmpty():
            return
        size = self.size().boundedTo(room.size())
        self.resize(size)
        x = min(max(self.x(), room.left()), room.left() + room.width() - size.width())
        y = min(max(self.y(), room.top()), room.top() + room.height() - size.height())
        if (x, y) != (self.x(), self.y()):
            self.move(x, y)

    def remember_size(self) -> None:
        """Write sizes and places of docks to the settings."""
        settings = self.context.settings
        settings.setValue("window/geometry", self.saveGeometry())
        if self.context.document.table is not None:  # the welcome page hides docks; that is no wish
            settings.setValue("window/state", self.saveState(STATE_VERSION))
        if self.centre is not None:
            before = self.experiments.places_before
            if places := self.centre.state() if before is None else before:
                settings.setValue("window/centre", places)

    def resizeEvent(self, event) -> None:
        super().resizeEvent(event)
        is_narrow = self.width() < theme.scaled(NARROW_WIDTH)
        if is_narrow != self._is_narrow:
            self._is_narrow = is_narrow
            self._place_settings()
        if self.centre is not None:
            self.centre.follow_window()
        if self.palette_.isVisible():
            self.palette_.hide()

    def _place_settings(self) -> None:
        has_table = self.context.document.table is not None
        self.docks["settings"].setVisible(has_table and not self._is_narrow)
        self._strip.setVisible(has_table and self._is_narrow)
        if has_table:
            QTimer.singleShot(0, self, self._give_widths)

    def _give_widths(self, even_if_remembered: bool = False) -> None:
        docks = [self.docks[name] for name in ("data", "settings") if self.docks[name].isVisible()]
        widths = {"data": LEFT_WIDTH, "settings": RIGHT_WIDTH}
        wanted = [theme.scaled(widths[dock.objectName().removeprefix("dock.")]) for dock in docks]
        if docks and (even_if_remembered or self.context.settings.value("window/state") is None):
            self.resizeDocks(docks, wanted, _ACROSS)
            self.resizeDocks([self.docks["data"], self.docks["models"]], [70, 30], Qt.Orientation.Vertical)

    def _on_theme_changed(self) -> None:
        if theme.text_scale() != self._text_scale:
            self._text_scale = theme.text_scale()
            self._is_narrow = self.width() < theme.scaled(NARROW_WIDTH)
            self._place_settings()
            if self.centre is not None:
                self.centre.follow_window()
            QTimer.singleShot(0, self, lambda: self._give_widths(even_if_remembered=True))

    def toggle_settings(self) -> None:
        """Open or close the right side."""
        dock = self.docks["settings"]
        dock.setVisible(dock.isHidden())
        if dock.isVisible():
            self.resizeDocks([dock], [theme.scaled(RIGHT_WIDTH)], _ACROSS)

    # -- the keyboard

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Pass over views behind a tab, which Qt takes for visible."""
        first = None
        while super().focusNextPrevChild(forward):
            now = self.focusWidget()
            if now is None or now is first or self.centre is None or not self.centre.hides(now):
                return True
            first = first or now
        return False

    # -- opening by drag, closing

    def dragEnterEvent(self, event) -> None:
        if _dropped_file(event.mimeData()) is not None:
            event.acceptProposedAction()
            self.welcome.drop.set_over(True)

    def dragLeaveEvent(self, event) -> None:
        self.welcome.drop.set_over(False)

    def dropEvent(self, event) -> None:
        self.welcome.drop.set_over(False)
        path = _dropped_file(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.files.open_path(path)

    def closeEvent(self, event) -> None:
        if self.files.is_saving:
            event.ignore()
            self.files.when_saved(self.close)
            return
        if self.files.has_unsaved_work and not self._may_close:
            event.ignore()
            self.files.ask_save("Save before closing?", self._close_for_good)
            return
        self.remember_size()
        event.accept()
        super().closeEvent(event)

    def _close_for_good(self) -> None:
        self._may_close = True
        self.close()

    def when_painted(self, then: Callable[[], object]) -> None:
        """Call `then` once the window has been painted for the first time."""
        QTimer.singleShot(0, self, lambda: QTimer.singleShot(0, self, then))


_ACROSS = Qt.Orientation.Horizontal


def _dropped_file(mime) -> str | None:
    urls = [url for url in mime.urls() if url.isLocalFile()]
    return str(Path(urls[0].toLocalFile())) if urls else None
