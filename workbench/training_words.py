"""What is told of a training's end: how it ended, what it lacks, and why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.apart import WorkLost
from engine.errors import DataError, ParameterError
from engine.notes import notes_of
from workbench.catalog import entry_of
from workbench.figures.words import counted

if TYPE_CHECKING:
    from workbench.runs import RunResult


def told(error: BaseException) -> tuple[bool, str]:
    """Tell whether an error is of the data, the settings or the machine, and what to say of it."""
    is_users = isinstance(error, (DataError, ParameterError, MemoryError, WorkLost))
    return is_users, "there is not enough memory" if isinstance(error, MemoryError) else str(error)


def how_it_ended(result: RunResult) -> str:
    """Such as "trained", or "stopped after round 37; what is there is kept"."""
    unit = entry_of(result.spec.kind).step_name
    if not result.stopped:
        return "trained" if result.scores else "trained, then stopped before it was scored"
    if not result.n_rounds:
        return f"stopped before its first {unit}: it gives every row the same answer; train it again"
    steps = f" after {unit} {result.n_rounds:,}" if unit else ""
    without = "" if result.scores else ", without scores: it answers slowly"
    return f"stopped{steps}; what is there is kept{without}"


def constant_warning(result: RunResult) -> str:
    """Return a warning for a model that asks nothing, as with only constant columns (D17); else nothing."""
    if result.stopped or not result.trees or any(tree.n_nodes > 1 for tree in result.trees):
        return ""
    return (
        " Warning: no column split the rows, so every row gets the same prediction;"
        " choose columns with more than one value, or looser limits."
    )


def notes_sentence(result: RunResult) -> str:
    """Return what a fit has to say of itself, as of networks that diverged; else nothing."""
    notes = notes_of(result.estimator)
    return f" Warning: {'; '.join(notes)}." if notes else ""


def edits_sentence(edits: tuple[Any, ...], result: RunResult) -> str:
    """Say what became of changes by hand that were to be made again."""
    if not edits:
        return ""
    changes = f"{counted(len(edits), 'change')} by hand made again"
    if len(result.edits) == len(edits):
        return f" {changes}; Undo takes them back."
    return f" {len(result.edits)} of {changes}; the new tree has no place for the rest."
