"""Qt's Python types, made before a worker's import needs them.

PySide6 makes a type when its name is first asked for, and two threads must not do so at once: the window's
thread, busy with events, and a worker that imports pyqtgraph, which copies every name of three modules,
ended in a segmentation fault.
"""

from __future__ import annotations

from functools import cache, partial
from types import ModuleType

from PySide6 import QtCore, QtGui, QtWidgets

from workbench.turns import Turns

MODULES = (QtCore, QtGui, QtWidgets)


def make_all() -> None:
    """Make all types that are not made yet; in the window's thread, a tenth of a second once."""
    for module in MODULES:
        make_types_of(module)


def make_in(turns: Turns) -> None:
    """Make them one module a turn."""
    for module in MODULES:
        turns.add(partial(make_types_of, module))


@cache
def make_types_of(module: ModuleType) -> None:
    """Ask for every name of a module."""
    for name in dir(module):
        getattr(module, name)
