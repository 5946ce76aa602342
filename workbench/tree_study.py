"""Runs the study of a tree's instability in the background, and keeps it in the document."""

from __future__ import annotations

from functools import partial
from typing import Any

from engine.errors import DataError
from workbench.instability import InstabilityFound, InstabilitySettings, how_it_ended, study, why_not
from workbench.study_runner import StudyRunner


class TreeStudy(StudyRunner):
    """Asks resamples what they would ask at the nodes of the current tree."""

    subject = "Instability"
    step_name = "resample"
    nothing = "Stopped before any resample was searched."

    @property
    def shown(self) -> InstabilityFound | None:
        """What is to be seen: the study under way, once a resample is searched; else the last one."""
        return self._so_far if self._job is not None else self._document.studies.firmness

    def start(self, settings: InstabilitySettings) -> bool:
        """Begin with the current model; False, and the reason as a message, if it cannot be."""
        return self._begin(partial(self._prepare, settings))

    def _prepare(self, settings: InstabilitySettings) -> tuple[Any, str]:
        run, table = self._document.current_run, self._document.table
        if why := why_not(run, table):
            raise DataError(why)
        assert run is not None
        assert run.result is not None
        assert table is not None
        return partial(study, run.name, run.result, table, settings), run.name

    def _is_any_done(self, found: InstabilityFound) -> bool:
        return found.instability.n_resamples > 0

    def _keep(self, found: InstabilityFound) -> str:
        self._document.attach_found(firmness=found)
        return how_it_ended(found)
