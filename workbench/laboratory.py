"""The laboratory: fits models on many training sets in the background, and brings what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from engine.monitor import FitMonitor
from workbench import bias_variance, many_fits, tree_averages
from workbench.bias_variance import BiasVarianceFound, BiasVarianceSettings
from workbench.catalog_entry import LARGE_ROWS
from workbench.jobs import Lanes
from workbench.many_fits import ManyFitsFound, ManyFitsSettings
from workbench.runs import ModelSpec
from workbench.study_runner import StudyRunner
from workbench.training import Trainer
from workbench.tree_averages import AveragesFound, AveragesSettings
from workbench.variance_surface import VarianceSurfaceFound, run_variance_surface

if TYPE_CHECKING:
    from workbench.document import Document

Work = Callable[[FitMonitor], Any]


class _Refits(StudyRunner):
    """What studies share that fit models again and again."""

    step_name = "fit"

    def __init__(
        self, document: Document, lanes: Lanes, trainer: Trainer, parent: QObject | None = None
    ) -> None:
        super().__init__(document, lanes, parent)
        self._trainer = trainer

    def _after_kernels(self, specs: Sequence[ModelSpec], work: Work) -> Work:
        """Let work wait for kernels, those of large tables too: so many trees of small ones use them."""
        waits = [self._trainer.waiting_for(spec.kind, LARGE_ROWS) for spec in specs]
        return partial(_wait_and_do, tuple(wait for wait in waits if wait is not None), work)


class Laboratory(_Refits):
    """Parts errors into noise, bias and variance."""

    subject = "Bias and variance"
    nothing = "Stopped before any value had two fits."
    _before: BiasVarianceFound | None = None  # what was known when a study was prepared

    @property
    def shown(self) -> BiasVarianceFound | None:
        """What is to be seen: the study under way, once two fits are done; else the last one."""
        return self._so_far if self._job is not None else self._document.studies.parts

    def start(self, settings: BiasVarianceSettings) -> bool:
        """Begin with the document as it stands; False, and the reason as a message, if it cannot be."""
        return self._begin(partial(self._prepare, settings))

    def _prepare(self, settings: BiasVarianceSettings) -> tuple[Work, str]:
        inputs = bias_variance.inputs_of(self._document, settings)
        self._before = bias_variance.found_before(inputs)
        work = partial(bias_variance.run_bias_variance, inputs)
        return self._after_kernels(inputs.specs, work), inputs.name

    def _known_at_start(self) -> BiasVarianceFound | None:
        before, self._before = self._before, None
        return before if before is not None and before.is_any_done else None

    def _is_any_done(self, found: BiasVarianceFound) -> bool:
        return found.is_any_done

    def _keep(self, found: BiasVarianceFound) -> str:
        self._document.attach_found(parts=found)
        return bias_variance.how_it_ended(found)


class ManyFits(_Refits):
    """Draws one model fitted on many training sets, along a column or over two."""

    subject = "Many fits"
    nothing = "Stopped before two fits were done."

    @property
    def shown(self) -> ManyFitsFound | VarianceSurfaceFound | None:
        """What is to be seen: the fits under way, once there are two; else the last ones."""
        return self._so_far if self._job is not None else self._document.studies.curves

    def start(self, settings: ManyFitsSettings) -> bool:
        """Begin with the document as it stands; False, and the reason as a message, if it cannot be."""
        return self._begin(partial(self._prepare, settings))

    def _prepare(self, settings: ManyFitsSettings) -> tuple[Work, str]:
        inputs = many_fits.inputs_of(self._document, settings)
        run = run_variance_surface if settings.second_column else many_fits.run_many_fits
        return self._after_kernels([inputs.fit.spec], partial(run, inputs)), inputs.name

    def _is_any_done(self, found: ManyFitsFound | VarianceSurfaceFound) -> bool:
        return found.n_fits >= many_fits.FEWEST

    def _keep(self, found: ManyFitsFound | VarianceSurfaceFound) -> str:
        self._document.attach_found(curves=found)
        return many_fits.how_it_ended(found)


class Averages(_Refits):
    """Measures how the variance of a forest falls with its number of trees."""

    subject = "Variance of a forest"
    nothing = "Stopped before two forests were done."

    @property
    def shown(self) -> AveragesFound | None:
        """What is to be seen: the study under way, once two forests are done; else the last one."""
        return self._so_far if self._job is not None else self._document.studies.variances

    def start(self, settings: AveragesSettings) -> bool:
        """Begin with the document as it stands; False, and the reason as a message, if it cannot be."""
        return self._begin(partial(self._prepare, settings))

    def _prepare(self, settings: AveragesSettings) -> tuple[Work, str]:
        inputs = tree_averages.inputs_of(self._document, settings)
        work = partial(tree_averages.run_averages, inputs)
        return self._after_kernels([inputs.fit.spec], work), inputs.name

    def _is_any_done(self, found: AveragesFound | None) -> bool:
        return found is not None

    def _keep(self, found: AveragesFound) -> str:
        self._document.attach_found(variances=found)
        return tree_averages.how_it_ended(found)


def _wait_and_do(waits: tuple[Callable[[FitMonitor], None], ...], work: Work, monitor: FitMonitor) -> Any:
    for wait in waits:
        wait(monitor)
    return work(monitor)
