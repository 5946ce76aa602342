"""What every panel is given: the document and the few things around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, SignalInstance

if TYPE_CHECKING:
    from workbench.document import Document
    from workbench.jobs import Job, Lanes
    from workbench.selection import Selection
    from workbench.training import Trainer
    from workbench.tree_editor import TreeEditor
    from workbench.tuner import Tuner
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
    tuner : Tuner
        Searches for good settings.
    """

    document: Document
    trainer: Trainer
    lanes: Lanes
    selection: Selection
    actions: ActionSet
    settings: QSettings
    editor: TreeEditor
    tuner: Tuner

    @property
    def current_job(self) -> Job | None:
        """The long work that is told of: a training, a search for settings, else a cross-validation."""
        trainer = self.trainer
        return trainer.current_job or self.tuner.current_job or trainer.cross_validation_job

    @property
    def work_signals(self) -> tuple[SignalInstance, ...]:
        """Every signal that tells of such work begun, gone on or ended."""
        tuner = self.tuner
        return (*self.trainer.work_signals, tuner.started, tuner.advanced, tuner.ended)
