"""Commands of the Experiments menu: open one as a person would, and say what to look at."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from workbench.experiments import EXPERIMENTS, Experiment, experiment_of, find_experiment, set_up
from workbench.ui.command_palette import PALETTE_TEXT
from workbench.ui.experiment_bar import LOOK, ExperimentBar

if TYPE_CHECKING:
    from workbench.ui.main_window import MainWindow

FIRST_PLACES = b""  # views that had no place yet


class ExperimentCommands(QObject):
    """Adds its actions to the window's set when it is made; `bar` goes above the views."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window, self._document = window, window.context.document
        self._add_actions()
        self.bar = ExperimentBar(window.actions_[LOOK].trigger)
        self._places: bytes | None = None  # of the views before an experiment
        self._document.table_changed.connect(self._refresh)
        put_back = partial(QTimer.singleShot, 0, self, self._put_views_back)  # another may be set up at once
        self._document.table_changed.connect(put_back)
        self._refresh()

    def _add_actions(self) -> None:
        add = self._window.actions_.add
        for experiment in EXPERIMENTS:
            slot = partial(self.open, experiment.key)
            name, tip = f"action.experiment.{experiment.key}", experiment.text
            action = add(name, experiment.title, None, slot, "experiment", tip=tip)
            action.setProperty(PALETTE_TEXT, f"Experiment: {experiment.title}")
        add(LOOK, "What to Look At", None, self._show_bar, "info", checkable=True)

    def open(self, key: str) -> None:
        """Open an experiment's sample, add its models and train them; changes ask to be saved first."""
        experiment = find_experiment(key)
        self._window.files.open_sample(experiment.sample, partial(self._begin, experiment))

    def _begin(self, experiment: Experiment) -> None:
        context = self._window.context
        run_ids = set_up(self._document, experiment)
        self._set_view(experiment, run_ids)
        self._give_room(experiment)
        self._refresh()
        for run_id in run_ids:
            context.trainer.train(run_id)
        if experiment.tuned:
            from workbench.tuning import Plan

            context.tuner.start(run_ids[0], Plan(dict(experiment.tuned), experiment.metric))
        if experiment.study is not None:
            self._window.studies.open_bias_variance()
            context.laboratory.start(experiment.study)

    def _set_view(self, experiment: Experiment, run_ids: list[str]) -> None:
        """Choose columns and neighbours of the surface before there is one to draw."""
        from workbench.ui.panels.surface import COLUMNS
        from workbench.ui.surface_beside import BESIDE

        if experiment.columns:
            self._document.set_view_state(COLUMNS, list(experiment.columns))
        if experiment.is_beside:
            self._document.set_view_state(BESIDE, run_ids)  # all, whichever is looked at

    def _give_room(self, experiment: Experiment) -> None:
        """Show one view at a time: beside others, several models' pictures are too small to look at."""
        centre = self._window.ensure_centre()
        if not centre.is_one_at_a_time:
            self._places = centre.state() if centre.is_arranged else FIRST_PLACES
            centre.arrange_as_tabs()
        centre.show_view(experiment.view)

    @property
    def places_before(self) -> bytes | None:
        """Where the views were before an experiment; None where somebody has placed them since.

        `FIRST_PLACES` where they had none.
        """
        centre = self._window.centre
        return self._places if centre is not None and centre.is_one_at_a_time else None

    def _put_views_back(self) -> None:
        """Leave the arrangement of an experiment with its table, unless another experiment follows."""
        if experiment_of(self._document) is not None:
            return
        places, self._places = self.places_before, None
        if places is not None:
            centre = self._window.ensure_centre()
            centre.arrange() if places == FIRST_PLACES else centre.restore(places)

    def _refresh(self) -> None:
        """Show what belongs to the document, also to a project that was opened; else nothing."""
        experiment = experiment_of(self._document)
        action = self._window.actions_[LOOK]
        self._window.actions_.enable(LOOK, experiment is not None, "Open an experiment first")
        action.setChecked(experiment is not None)
        self._show_bar(experiment is not None)

    def _show_bar(self, is_shown: bool) -> None:
        experiment = experiment_of(self._document)
        if is_shown and experiment is not None:
            self.bar.show_experiment(experiment)
        else:
            self.bar.hide()
