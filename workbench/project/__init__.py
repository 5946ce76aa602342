"""Project files: saved whole or not at all, read as data."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.project.format import ProjectDescription
    from workbench.project.reader import DataFileMissing, load_project
    from workbench.project.writer import save_project

__all__ = ["DataFileMissing", "ProjectDescription", "load_project", "save_project"]

_HOMES = {
    "DataFileMissing": "reader",
    "ProjectDescription": "format",
    "load_project": "reader",
    "save_project": "writer",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"workbench.project.{_HOMES[name]}"), name)
