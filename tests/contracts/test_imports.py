"""Import contracts that import-linter cannot express: it sees of another distribution only its first name."""

import ast
from pathlib import Path

import pytest

import workbench

ROOT = Path(workbench.__file__).parent
MAY_KNOW_WIDGETS = ("ui", "__main__.py", "demo.py")  # the views, and the roots that start them
MODEL_FILES = sorted(
    path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] not in MAY_KNOW_WIDGETS
)


def imported_names(path: Path) -> set[str]:
    """Every module and member that a file imports, functions included, with dots."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", MODEL_FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_the_application_model_knows_no_widgets(path):
    forbidden = ("PySide6.QtWidgets", "pyqtgraph", "workbench.ui")
    assert not [name for name in imported_names(path) if name.startswith(forbidden)]


def test_the_files_looked_at_are_the_application_model():
    names = {path.name for path in MODEL_FILES}
    assert {"document.py", "document_state.py", "training.py", "jobs.py", "surface.py"} <= names
    assert "PySide6.QtCore.QObject" in imported_names(ROOT / "document_state.py")
