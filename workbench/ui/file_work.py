"""What a worker does for the File menu: it reads and writes, and imports what that takes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.datasets import Table
    from workbench.project.format import ProjectDescription
    from workbench.state import Snapshot


def read_and_prepare(read: Callable[[], Any]) -> Any:
    """Read in the worker, and import there what the views need: in the window's thread it would pause."""
    found = read()
    import_module("workbench.ui.views")
    return found


def save(snapshot: Snapshot, path: Path, include_rows: bool) -> None:
    """Write a project."""
    from workbench.project import save_project

    save_project(snapshot, path, include_rows)


def read_table(path: Path, encoding: str | None) -> Table:
    """Read a table from a file, in an encoding where one was chosen."""
    from workbench.datasets import ReadOptions
    from workbench.readers import read_table

    return read_table(path, ReadOptions(encoding=encoding))


def read_sample(key: str) -> Table:
    """Read a sample table."""
    from workbench.samples import load_sample

    return load_sample(key)


def read_project(path: Path, data_path: Path | None) -> ProjectDescription:
    """Read a project or a model, and the table that it needs from another place where one is named."""
    from workbench.project import load_project

    return load_project(path, data_path)
