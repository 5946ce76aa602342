"""What every panel is given: the document and the few things around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings

if TYPE_CHECKING:
    from workbench.document import Document
    from workbench.jobs import Lanes
    from workbench.selection import Selection
    from workbench.training import Trainer
    from workbench.tree_editor import TreeEditor
    from workbench.ui.actions import ActionSet


@dataclass(frozen=True)
class Context:
    """The window's parts that panels share.

    Attributes
    ----------
    document : Document
        The truth; panels read it and call its mutators.
    trainer : Trainer
        Starts and stops fits.
    lanes : Lanes
        Background work of views.
    selection : Selection
        The node, tree and rows that are selected in any view.
    actions : ActionSet
        Every command by object name; panels add theirs when they are made.
    settings : QSettings
        What is remembered between sessions.
    editor : TreeEditor
        Changes single trees by hand.
    """

    document: Document
    trainer: Trainer
    lanes: Lanes
    selection: Selection
    actions: ActionSet
    settings: QSettings
    editor: TreeEditor
