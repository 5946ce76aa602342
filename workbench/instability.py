"""How firmly the training rows stand behind a tree, without Qt: what is drawn, and what was found."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from engine.monitor import FitMonitor
from workbench.figures.words import counted
from workbench.told_so_far import ToldSoFar

if TYPE_CHECKING:
    from engine.resampling.draws import TableDraws
    from engine.resampling.instability import Instability
    from workbench.datasets import Table
    from workbench.fitting import Learnable
    from workbench.runs import RunRecord, RunResult

MAX_RESAMPLES = 10_000
_MARKS: WeakKeyDictionary[RunResult, str] = WeakKeyDictionary()  # a large tree is read once


@dataclass(frozen=True)
class InstabilitySettings:
    """Which resamples of the training rows are looked at.

    Attributes
    ----------
    n_resamples : int
        Bootstrap resamples, of as many rows as there are; whole groups where there are groups.
    seed : int
    first, second : int
        Resamples, counted from 1, whose own trees stand beside each other.
    """

    n_resamples: int = 100
    seed: int = 0
    first: int = 1
    second: int = 2

    def draws_as(self, other: InstabilitySettings) -> bool:
        """Tell whether both look at the same resamples."""
        return (self.n_resamples, self.seed) == (other.n_resamples, other.seed)


@dataclass(frozen=True, eq=False)
class InstabilityFound:
    """What was found, by which resamples, and of which tree.

    Attributes
    ----------
    settings : InstabilitySettings
    name : str
        Of the model.
    tree_mark : str
        See `mark_of`.
    instability : Instability
    """

    settings: InstabilitySettings
    name: str
    tree_mark: str
    instability: Instability

    def is_of(self, result: RunResult, settings: InstabilitySettings) -> bool:
        """Tell whether it was found of a result's tree, by such resamples."""
        return self.settings.draws_as(settings) and self.tree_mark == mark_of(result)


def mark_of(result: RunResult) -> str:
    """Return what a tree as it is shown, and the table of its rows, are known by."""
    if result in _MARKS:
        return _MARKS[result]
    tree = result.trees[0]
    parts = (tree.feature, tree.threshold, tree.first_child, tree.level_sets, tree.n_node_samples)
    digest = hashlib.sha256(result.table_fingerprint.encode())
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    _MARKS[result] = digest.hexdigest()
    return _MARKS[result]


@dataclass(frozen=True, eq=False)
class TwoTrees:
    """Trees grown on two resamples, and where they differ.

    Attributes
    ----------
    estimators : tuple of two fitted trees
    marks : tuple of two dicts of int to str
        As `engine.resampling.questions.differences` returns them.
    rows : tuple of two int64 (n_drawn,)
        Rows of the table that grew each, repeats included.
    """

    estimators: tuple[Any, Any]
    marks: tuple[dict[int, str], dict[int, str]]
    rows: tuple[NDArray[np.int64], NDArray[np.int64]]


def why_not(run: RunRecord | None, table: Table | None) -> str:
    """Say why a model cannot be looked at so; empty where it can."""
    from workbench.fitting import what_differs

    if run is None or run.result is None:
        return "there is no trained model"
    if run.result.grown_tree is None:
        return "it is not a single tree"
    return what_differs(run.result, table)


def study(
    name: str, result: RunResult, table: Table, settings: InstabilitySettings, monitor: FitMonitor
) -> InstabilityFound:
    """Ask the resamples what they would ask at the nodes of a result's tree; a stop keeps what is done.

    Raises
    ------
    DataError
        No resample could be searched.
    """
    from engine.resampling.instability import instability
    from workbench.fitting import inputs_of_result

    inputs, mark = inputs_of_result(result, table), mark_of(result)
    rows = inputs.learnable().take(inputs.rows_of("train"))
    found = partial(InstabilityFound, settings, name, mark)
    return found(instability(result.estimator, _draws(rows, settings), monitor=ToldSoFar(monitor, found)))


def how_it_ended(found: InstabilityFound) -> str:
    """Such as "Instability of Tree 1: 100 resamples"."""
    made = found.instability
    words = counted(made.n_resamples, "resample")
    if made.stopped:
        words = f"stopped after {words} of {made.n_wanted:,}"
    return f"Instability of {found.name}: {words}"


def grow_two(result: RunResult, table: Table, settings: InstabilitySettings, monitor: FitMonitor) -> TwoTrees:
    """Grow a tree on each of two resamples, with the settings of a result's tree.

    Raises
    ------
    DataError
        A resample does not allow it.
    FitStopped
        The monitor stopped it.
    """
    from engine.resampling.questions import differences
    from engine.resampling.refits import fit_of
    from workbench.fitting import inputs_of_result

    inputs = inputs_of_result(result, table)
    places = inputs.rows_of("train")
    training = inputs.learnable().take(places)
    draws = _draws(training, settings)
    numbers = settings.first - 1, settings.second - 1
    first, second = (fit_of(result.estimator, draws, number, monitor=monitor) for number in numbers)
    rows = places[draws.rows(numbers[0])], places[draws.rows(numbers[1])]
    return TwoTrees((first, second), differences(first, second, training.X), rows)


def _draws(rows: Learnable, settings: InstabilitySettings) -> TableDraws:
    from engine.resampling.draws import TableDraws

    return TableDraws(
        rows.X, rows.labels, rows.weights, groups=rows.groups, n_sets=settings.n_resamples, seed=settings.seed
    )
