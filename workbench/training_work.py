"""What a training is given, and what its worker does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.monitor import FitMonitor
from workbench.editing import make_again
from workbench.fitting import FitInputs, fit_run, freeze_inputs
from workbench.rounds import add_rounds
from workbench.runs import RunResult

if TYPE_CHECKING:
    from workbench.document import Document


class MoreRounds(NamedTuple):
    """A training that goes on: what it begins with, and for how many rounds or trees."""

    before: RunResult
    n_more: int


def training_inputs(document: Document, run_id: str) -> FitInputs:
    """Return what a model of a document would be trained on now."""
    table, target, parts = document.table, document.target, document.parts
    assert table is not None
    assert target is not None
    assert parts is not None
    spec = document.run(run_id).spec
    return freeze_inputs(
        table, document.roles, target, document.classes, parts, spec, document.event_class, document.split
    )


def do_training(
    inputs: FitInputs,
    wait: Callable[[FitMonitor], None] | None,
    edits: tuple[Any, ...],
    more: MoreRounds | None,
    monitor: FitMonitor,
) -> tuple[RunResult, RunResult]:
    """Return what was trained, and the same with changes by hand made again."""
    if wait is not None:
        wait(monitor)
    if more is not None:
        longer = add_rounds(more.before, inputs.table, more.n_more, monitor)
        return longer, longer
    result = fit_run(inputs, monitor)
    return result, make_again(result, inputs.table, edits) if edits else result
