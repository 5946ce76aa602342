"""What this program is, its version, and the licences of what it stands on."""

from __future__ import annotations

from importlib import metadata

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QPlainTextEdit, QWidget

from workbench.ui.welcome import mark
from workbench.ui.widgets import Label, button, column, row

COMPONENTS = (
    ("PySide6-Essentials", "Qt for Python", "LGPL-3.0"),
    ("pyqtgraph", "plots", "MIT"),
    ("numpy", "arrays", "BSD-3-Clause"),
    ("numba", "compiled kernels", "BSD-2-Clause"),
    ("pandas", "frames", "BSD-3-Clause"),
    ("pyarrow", "reading files", "Apache-2.0"),
    ("scikit-learn", "estimator contract and metrics", "BSD-3-Clause"),
    ("skops", "parts of models in projects", "MIT"),
    ("python-calamine", "reading workbooks", "MIT"),
    ("threadpoolctl", "thread limits", "BSD-3-Clause"),
    ("platformdirs", "places for files", "MIT"),
    ("QtAwesome", "icon font loader", "MIT"),
    ("fontpkg-inter", "Inter typeface", "OFL-1.1"),
)


def version_of(package: str) -> str:
    """The installed version, or "not installed"."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def licence_text() -> str:
    """Components with version and licence, the samples with source and licence."""
    from workbench.samples import SAMPLES

    lines = ["Treewright is free software under the MIT licence.", "", "It stands on:"]
    lines += [f"  {name} {version_of(name)} ({what}): {licence}" for name, what, licence in COMPONENTS]
    lines += ["  Phosphor icons 1.3 (carried by QtAwesome): MIT", "", "Sample tables:"]
    lines += [f"  {sample.title}: {sample.source}; {sample.licence}" for sample in SAMPLES]
    lines += ["", "The program never uses a network."]
    return "\n".join(lines)


class AboutDialog(QDialog):
    """Not modal."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("about")
        self.setWindowTitle("About Treewright")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(600, 460)
        picture = QLabel()
        picture.setPixmap(mark(48))
        picture.setFixedSize(48, 48)
        version = version_of("treewright")
        words = column(
            Label("Treewright", "title"),
            Label(
                "A desktop workbench for tree models"
                + (f", version {version}" if version[0].isdigit() else "")
            ),
            spacing=2,
        )
        text = QPlainTextEdit(licence_text())
        text.setObjectName("about.licences")
        text.setAccessibleName("Licences")
        text.setReadOnly(True)
        close = button("Close", "primary", self.close, "about.close")
        close.setDefault(True)
        layout = column(row(picture, words, -1, spacing=16), text, row(-1, close), margins=16, spacing=12)
        layout.setStretch(1, 1)
        self.setLayout(layout)
        close.setFocus(Qt.FocusReason.OtherFocusReason)
