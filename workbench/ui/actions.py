"""The registry of commands: each is one QAction with an object name, found by menus, palette and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from workbench.ui import icons

Shortcut = str | QKeySequence | QKeySequence.StandardKey | None


class ActionSet(QObject):
    """All actions of one window.

    Parameters
    ----------
    window : QWidget
        Owns the actions; their shortcuts work wherever the focus is in it.
    """

    added = Signal(str)  # object name

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._actions: dict[str, QAction] = {}
        self._tips: dict[str, str] = {}

    def add(
        self,
        object_name: str,
        text: str,
        shortcut: Shortcut = None,
        slot: Callable[..., object] | None = None,
        icon: str | None = None,
        *,
        tip: str = "",
        checkable: bool = False,
    ) -> QAction:
        """Make the action `object_name` ("action.<area>.<verb>") and keep it.

        Raises
        ------
        ValueError
            The name is taken or has another form.
        """
        parts = object_name.split(".")
        if object_name in self._actions or len(parts) != 3 or parts[0] != "action" or not all(parts):
            raise ValueError(f"{object_name!r} is taken or is not action.<area>.<verb>")
        action = QAction(text, self)
        action.setObjectName(object_name)
        action.setCheckable(checkable)
        if icon:
            action.setIcon(icons.icon(icon))
        if shortcut is not None:
            action.setShortcut(QKeySequence(shortcut))
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        self._tips[object_name] = _tip(tip or text.replace("&", "").rstrip("…"), action.shortcut())
        action.setToolTip(self._tips[object_name])
        action.setStatusTip("")
        if slot is not None:
            # `triggered` hands over `checked`; slots of plain commands take nothing.
            action.triggered.connect(slot if checkable else lambda _checked=False: slot())
        self._window.addAction(action)
        self._actions[object_name] = action
        self.added.emit(object_name)
        return action

    def __getitem__(self, object_name: str) -> QAction:
        return self._actions[object_name]

    def get(self, object_name: str) -> QAction | None:
        """The action of that name; None while no panel has added it."""
        return self._actions.get(object_name)

    def __contains__(self, object_name: str) -> bool:
        return object_name in self._actions

    def __iter__(self) -> Iterator[QAction]:
        return iter(self._actions.values())

    def enable(self, object_name: str, is_enabled: bool, why: str = "") -> None:
        """Switch an action on or off, `why` goes to its tool tip; names not added yet are passed over."""
        if object_name in self._actions:
            action = self._actions[object_name]
            action.setEnabled(is_enabled)
            tip = self._tips[object_name]
            action.setToolTip(f"{tip}\n{why}" if why and not is_enabled else tip)


def _tip(text: str, shortcut: QKeySequence) -> str:
    keys = shortcut.toString(QKeySequence.SequenceFormat.NativeText)
    return f"{text} ({keys})" if keys else text
