"""What every panel is given: the document and the few things around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QSettings, SignalInstance

if TYPE_CHECKING:
    from workbench.document import Document
    from workbench.jobs import Job, Lanes
    from workbench.laboratory import Averages, Laboratory, ManyFits
    from workbench.resampler import Resampler
    from workbench.selection import Selection
    from workbench.training import Trainer
    from workbench.tree_editor import TreeEditor
    from workbench.tree_study import TreeStudy
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
    resampler : Resampler
        Bootstraps a statistic.
    laboratory : Laboratory
        Fits models on many training sets, and parts their errors.
    many_fits : ManyFits
        Fits a model on many training sets, and draws it along a column.
    averages : Averages
        Measures the variance of forests.
    tree_study : TreeStudy
        Asks how firmly rows stand behind a tree.
    """

    document: Document
    trainer: Trainer
    lanes: Lanes
    selection: Selection
    actions: ActionSet
    settings: QSettings
    editor: TreeEditor
    tuner: Tuner
    resampler: Resampler
    laboratory: Laboratory
    many_fits: ManyFits
    averages: Averages
    tree_study: TreeStudy

    @property
    def current_job(self) -> Job | None:
        """The long work that is told of: a training, a search, a study, else a cross-validation."""
        worker, trainer = self.busy_worker, self.trainer
        of_worker = None if worker is None else worker.current_job
        return trainer.current_job or of_worker or trainer.cross_validation_job

    @property
    def studies(self) -> tuple[Resampler | Laboratory | ManyFits | Averages | TreeStudy, ...]:
        """Who runs studies."""
        return self.resampler, self.laboratory, self.many_fits, self.averages, self.tree_study

    @property
    def workers(self) -> tuple[Tuner | Resampler | Laboratory | ManyFits | Averages | TreeStudy, ...]:
        """Who does long work beside the trainer."""
        return self.tuner, *self.studies

    @property
    def busy_worker(self) -> Tuner | Resampler | Laboratory | ManyFits | Averages | TreeStudy | None:
        """Who, beside the trainer, does what is told of; None while nobody does."""
        return next((worker for worker in self.workers if worker.current_job is not None), None)

    @property
    def work_signals(self) -> tuple[SignalInstance, ...]:
        """Every signal that tells of such work begun, gone on or ended."""
        tuner, advanced = self.tuner, (study.advanced for study in self.studies)
        return (*self.trainer.work_signals, tuner.started, tuner.advanced, tuner.ended, *advanced)
