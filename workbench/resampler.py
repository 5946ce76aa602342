"""The resampler: bootstraps a statistic in the background, and brings what it found into the document."""

from __future__ import annotations

from functools import partial

from workbench.bootstrap import BootstrapInputs, in_a_sentence
from workbench.bootstrap_work import BootstrapFound, run_bootstrap
from workbench.figures.words import counted
from workbench.study_runner import StudyRunner


class Resampler(StudyRunner):
    """Runs one bootstrap at a time; what is done by then is there to be looked at, and stays after a stop."""

    subject, join = "Bootstrap", " of "
    nothing = "Stopped before any resample was done."
    lane = "resamples"  # quick beside fits, for which it need not wait

    @property
    def shown(self) -> BootstrapFound | None:
        """What is to be seen: the one under way, once a resample is done; else the last one."""
        return self._so_far if self._job is not None else self._document.studies.found

    def start(self, inputs: BootstrapInputs) -> bool:
        """Bootstrap a statistic; nothing while another one is under way."""
        name = in_a_sentence(inputs.settings, inputs.name)
        return self._begin(lambda: (partial(run_bootstrap, inputs), name))

    def _is_any_done(self, found: BootstrapFound) -> bool:
        return len(found.bootstrap.replicates) > 0

    def _keep(self, found: BootstrapFound) -> str:
        self._document.attach_found(found=found)
        return how_it_ended(found)


def how_it_ended(found: BootstrapFound) -> str:
    """Such as "Bootstrap of the mean of x: 1,000 resamples"."""
    made = found.bootstrap
    words = counted(len(made.replicates), "resample")
    if made.stopped:
        words = f"stopped after {words} of {made.n_wanted:,}"
    if made.n_undefined:
        words += f", {made.n_undefined:,} without a value"
    return f"Bootstrap of {found.spoken}: {words}"
