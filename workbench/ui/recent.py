"""The files that were opened or saved last, remembered in the settings and offered as a menu."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSettings, Signal
from PySide6.QtWidgets import QMenu, QWidget

MAX_RECENT = 8


class RecentMenu(QMenu):
    """Emits `chosen` with the path of a file."""

    chosen = Signal(str)

    def __init__(self, settings: QSettings, parent: QWidget) -> None:
        super().__init__("Open Recent", parent)
        self._settings = settings
        self._fill()

    def paths(self) -> list[str]:
        """Recent files that still exist, latest first."""
        stored = self._settings.value("file/recent", [])
        listed = stored if isinstance(stored, list) else [stored]  # one entry comes back as plain text
        return [name for name in listed if isinstance(name, str) and Path(name).exists()][:MAX_RECENT]

    @property
    def folder(self) -> str:
        """Where the latest file lies; "" before there is one."""
        return str(self._settings.value("file/folder", ""))

    def remember(self, path: Path) -> None:
        """Put a file first."""
        text = str(path.resolve())
        listed = [text, *(name for name in self.paths() if name != text)]
        self._settings.setValue("file/recent", listed[:MAX_RECENT])
        self._settings.setValue("file/folder", str(path.resolve().parent))
        self._fill()

    def _fill(self) -> None:
        self.clear()
        for name in self.paths():
            action = self.addAction(Path(name).name.replace("&", "&&"))
            action.setToolTip(name)
            action.triggered.connect(lambda _checked=False, name=name: self.chosen.emit(name))
        self.setEnabled(not self.isEmpty())
