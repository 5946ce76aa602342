"""The work of a bootstrap: resamples, and fresh samples where their distribution is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.bootstrap.expression import Expression
from engine.monitor import FitMonitor, IterationEvent
from workbench.bootstrap import SCORE, BootstrapInputs, BootstrapSettings, in_a_sentence

if TYPE_CHECKING:
    from engine.bootstrap.replicates import Bootstrap
    from workbench.document import Document

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BootstrapFound:
    """What was found, by now or at the end.

    Attributes
    ----------
    settings, name, rows_text, table_fingerprint, truth
        As in `BootstrapInputs`.
    bootstrap : Bootstrap
    repeated : float64 (n_samples,)
        The statistic on fresh samples, as many as there are resamples; empty where none can be drawn.
    seconds : float
    """

    settings: BootstrapSettings
    bootstrap: Bootstrap
    name: str
    rows_text: str
    table_fingerprint: str
    truth: float = np.nan
    repeated: Floats = field(default_factory=lambda: np.empty(0))
    seconds: float = 0.0

    @property
    def spoken(self) -> str:
        """The statistic as it stands in a sentence."""
        return in_a_sentence(self.settings, self.name)


class _Phase:
    """Tells of a part of the work as a part of the whole, with what was found by then."""

    def __init__(self, monitor: FitMonitor, start: float, end: float, found: Callable[[Any], Any]) -> None:
        self._monitor, self._start, self._span, self._found = monitor, start, end - start, found
        self.is_stopped = False

    def on_iteration(self, event: IterationEvent) -> bool:
        so_far = event.so_far
        told = replace(
            event, fraction=self._start + self._span * event.fraction,
            so_far=None if so_far is None else lambda: self._found(so_far()),
        )  # fmt: skip
        self.is_stopped = self._monitor.on_iteration(told) or self.is_stopped
        return self.is_stopped


def run_bootstrap(inputs: BootstrapInputs, monitor: FitMonitor) -> BootstrapFound:
    """Resample, and where the distribution is known draw fresh samples too; a stop keeps what is done.

    Raises
    ------
    DataError
        There are fewer than two rows.
    """
    from engine.bootstrap.replicates import bootstrap, repeated_samples

    began, settings = perf_counter(), inputs.settings

    def found(made: Bootstrap, repeated: Floats | None = None) -> BootstrapFound:
        return BootstrapFound(
            settings, made, inputs.name, inputs.rows_text, inputs.table_fingerprint, inputs.truth,
            np.empty(0) if repeated is None else repeated, perf_counter() - began,
        )  # fmt: skip

    share = 1.0 if inputs.fresh is None else 0.5
    phase = _Phase(monitor, 0.0, share, found)
    made = bootstrap(inputs.statistic, settings.n_replicates, seed=settings.seed, monitor=phase)
    if inputs.fresh is None or made.stopped:
        return found(made)
    draw = partial(_fresh_values, inputs.fresh)
    phase = _Phase(monitor, share, 1.0, lambda repeated: found(made, repeated))
    repeated = repeated_samples(
        draw, inputs.statistic.n_rows, settings.n_replicates, seed=settings.seed, monitor=phase
    )
    is_whole = len(repeated) == settings.n_replicates
    return found(replace(made, stopped=not is_whole), repeated)


def _fresh_values(expression: Expression, rng: np.random.Generator, n_samples: int, n_rows: int) -> Floats:
    from engine.bootstrap import two_assets

    x, y = two_assets.draw(rng, n_samples, n_rows)
    return expression.of({"x": x, "y": y})


def what_changed(
    found: BootstrapFound, document: Document, settings: BootstrapSettings, inputs: BootstrapInputs | None
) -> str:
    """Say what is other now than when it was found; empty where nothing is.

    Parameters
    ----------
    inputs : BootstrapInputs or None
        What would be drawn of now; None where that cannot be.
    """
    if document.table is None or found.table_fingerprint != document.table.fingerprint:
        return "found on another table"
    if not found.settings.draws_as(settings):
        return "found with other settings"
    if inputs is None:
        return ""
    if (found.name, found.rows_text) != (inputs.name, inputs.rows_text):
        return "found for other rows or classes"
    return "" if settings.statistic != SCORE or _is_of(found, inputs) else "found before it was trained again"


def _is_of(found: BootstrapFound, inputs: BootstrapInputs) -> bool:
    """Tell whether a model still has the score that its bootstrap began with."""
    now = float(inputs.statistic.of(np.arange(inputs.statistic.n_rows)[None])[0])
    return bool(np.isclose(now, found.bootstrap.value, rtol=1e-9, equal_nan=True))
