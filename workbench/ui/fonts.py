"""The program's own font files: Inter for text, Phosphor for icons, both found without importing much."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

from PySide6.QtGui import QFontDatabase

_INTER_FILES = ("Inter[opsz,wght].ttf", "Inter-Italic[opsz,wght].ttf")
_PHOSPHOR_FILE = "phosphor-1.3.0.ttf"
PHOSPHOR_CHARMAP = "phosphor-charmap-1.3.0.json"


def package_folder(package: str) -> Path | None:
    """Folder of an installed package, found without running its code; None where it is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _load(package: str, folder: str, names: tuple[str, ...]) -> str:
    root = package_folder(package)
    if root is None:
        return ""
    families: list[str] = []
    for name in names:
        font_id = QFontDatabase.addApplicationFont(str(root / folder / name))
        if font_id >= 0:
            families += QFontDatabase.applicationFontFamilies(font_id)
    return families[0] if families else ""


@cache
def text_family() -> str:
    """Family name of Inter, loaded on the first call; "" where the package is absent (system font then)."""
    return _load("fontpkg_inter", "files", _INTER_FILES)


@cache
def icon_family() -> str:
    """Family name of the Phosphor icon font that QtAwesome carries, loaded on the first call."""
    return _load("qtawesome", "fonts", (_PHOSPHOR_FILE,))
