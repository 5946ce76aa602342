"""Commands of the View and Help menus: views, appearance, text size, palette, About."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from workbench.ui import theme
from workbench.ui.centre import VIEWS, Centre

if TYPE_CHECKING:
    from workbench.ui.main_window import MainWindow

TEXT_SIZES = (80, 90, 100, 110, 125, 150, 175, 200)
APPEARANCES = {"system": "System", "light": "Light", "dark": "Dark"}


def _keys(place: int) -> str:
    """Alt and a digit, 0 for the tenth; with Shift for those after it."""
    return f"Alt+{place % 10}" if place <= 10 else f"Alt+Shift+{place % 10}"


class ViewCommands(QObject):
    """Adds its actions to the window's set when it is made."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._settings = window, window.context.settings
        self._centre: Centre | None = None
        actions = window.actions_
        for place, name in enumerate(VIEWS, start=1):
            slot = lambda name=name: self.show_view(name)  # noqa: E731 - bound per name
            actions.add(f"action.view.{name}", f"Show {name.capitalize()}", _keys(place), slot, name)
        actions.add("action.view.jobs", "Show Jobs", "Ctrl+J", lambda: self._toggle("jobs"), "waiting")
        actions.add("action.view.settings", "Show Settings", "Ctrl+,", window.toggle_settings, "settings")
        actions.add("action.view.palette", "Search Commands", "Ctrl+K", self._open_palette, "search")
        actions.add("action.view.arrange", "Put Views Back", None, self._arrange)
        actions.add("action.view.as_tabs", "One View at a Time", None, self._arrange_as_tabs)
        self._add_appearance()
        self._add_text_size()
        actions.add(
            "action.view.reduce_motion",
            "Reduce Motion",
            None,
            self._on_reduce_motion,
            checkable=True,
        ).setChecked(theme.reduces_motion())
        actions.add("action.help.licences", "About Treewright", None, self._about, "about")
        for name in VIEWS:
            actions.enable(f"action.view.{name}", False)
        actions.enable("action.view.arrange", False)
        actions.enable("action.view.as_tabs", False)

    def bind_centre(self, centre: Centre) -> None:
        """Take the views that exist from now on."""
        self._centre = centre
        for name in (*VIEWS, "arrange", "as_tabs"):
            self._window.actions_.enable(f"action.view.{name}", True)

    def _add_appearance(self) -> None:
        group = QActionGroup(self)
        for name, text in APPEARANCES.items():
            action = self._window.actions_.add(
                f"action.view.theme_{name}",
                f"{text} Appearance",
                None,
                lambda _checked, name=name: self.set_appearance(name),
                checkable=True,
            )
            action.setChecked(theme.appearance() == name)
            group.addAction(action)

    def _add_text_size(self) -> None:
        actions = self._window.actions_
        actions.add("action.view.text_larger", "Larger Text", "Ctrl++", lambda: self._step_text(1))
        actions.add("action.view.text_smaller", "Smaller Text", "Ctrl+-", lambda: self._step_text(-1))
        actions.add("action.view.text_normal", "Normal Text", "Ctrl+0", lambda: self.set_text_size(100))

    def submenu(self, name: str) -> QMenu:
        """The submenu "menu.appearance" or "menu.text_size"."""
        if name == "menu.appearance":
            menu = QMenu("Appearance", self._window)
            names = [f"action.view.theme_{key}" for key in APPEARANCES]
        else:
            menu = QMenu("Text Size", self._window)
            names = [f"action.view.text_{key}" for key in ("larger", "smaller", "normal")]
        for action_name in names:
            menu.addAction(self._window.actions_[action_name])
        return menu

    def set_appearance(self, name: str) -> None:
        """Take and remember a theme."""
        theme.set_appearance(name)
        self._settings.setValue("view/appearance", name)
        action: QAction = self._window.actions_[f"action.view.theme_{name}"]
        action.setChecked(True)

    def set_text_size(self, percent: int) -> None:
        """Take and remember a text size."""
        theme.set_text_scale(percent)
        self._settings.setValue("view/text_scale", theme.text_scale())

    def _step_text(self, step: int) -> None:
        now = min(range(len(TEXT_SIZES)), key=lambda idx: abs(TEXT_SIZES[idx] - theme.text_scale()))
        self.set_text_size(TEXT_SIZES[min(max(now + step, 0), len(TEXT_SIZES) - 1)])

    def _on_reduce_motion(self, is_on: bool) -> None:
        theme.set_reduces_motion(is_on)
        self._settings.setValue("view/reduce_motion", is_on)

    def show_view(self, name: str) -> None:
        """Bring a view to the front."""
        if self._centre is not None:
            self._centre.show_view(name)

    def _toggle(self, name: str) -> None:
        dock = self._window.docks[name]
        dock.setVisible(dock.isHidden())

    def _open_palette(self) -> None:
        self._window.palette_.open()

    def _arrange(self) -> None:
        if self._centre is not None:
            self._centre.arrange()

    def _arrange_as_tabs(self) -> None:
        if self._centre is not None:
            self._centre.arrange_as_tabs()

    def _about(self) -> None:
        from workbench.ui.about import AboutDialog

        AboutDialog(self._window).show()


def restore_view(settings) -> None:
    """Take the appearance and text size that were remembered; before the first paint."""
    appearance = str(settings.value("view/appearance", "system"))
    theme.set_appearance(appearance if appearance in theme.APPEARANCES else "system")
    try:
        theme.set_text_scale(int(settings.value("view/text_scale", 100)))
    except (TypeError, ValueError):
        theme.set_text_scale(100)
    theme.set_reduces_motion(settings.value("view/reduce_motion", False) in (True, "true"))
