"""How firmly the data stand behind a tree: what its nodes would ask if the rows had been drawn again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.base import TrainingData, balanced_factors
from engine.errors import DataError, FitStopped
from engine.features import FeatureSpec
from engine.monitor import FitMonitor, IterationEvent
from engine.resampling import tasks
from engine.resampling.draws import TableDraws
from engine.resampling.questions import Question, band, likeness
from engine.resampling.refits import check_some_done
from engine.resampling.tasks import Failed, the_value
from engine.tree.candidates import Candidate, NodeRows, candidates
from engine.tree.growth_rules import CRITERIA, make_rules
from engine.tree.node_rows import rows_by_node, take_rows
from engine.tree.presort import presort
from engine.tree.regrow import criterion_of, training_data
from engine.tree.structure import THRESHOLD, Tree

NO_COLUMN = -1  # no split is allowed there


@dataclass(frozen=True, eq=False)
class Instability:
    """What resampled rows would ask at every inner node of one tree.

    The rows of a resample go down the shown tree, by its own questions, and those that reach a node are
    searched for their best split. It is the node's own question again where the column is the same and at
    most a tenth of the node's training rows would take another branch (`engine.resampling.questions`).

    Attributes
    ----------
    nodes : int64 (n_nodes,)
        The inner nodes, in preorder.
    features : tuple of FeatureSpec
    own : int64 (n_nodes,)
        Column that each asks about.
    columns : int16 (n_over, n_nodes)
        Winning column in each resample; NO_COLUMN where none has a split, or a fit failed.
    thresholds : float64 (n_over, n_nodes)
        Of winning splits of numbers; NaN for others.
    is_same : bool (n_over, n_nodes)
        It is the node's question.
    bands : float64 (n_nodes, 2)
        Between which thresholds of the node's own column count as the same; NaN where it has none.
    n_wanted : int
    errors : mapping of int to str
    stopped : bool
    """

    nodes: NDArray[np.int64]
    features: tuple[FeatureSpec, ...]
    own: NDArray[np.int64]
    columns: NDArray[np.int16]
    thresholds: NDArray[np.float64]
    is_same: NDArray[np.bool_]
    bands: NDArray[np.float64]
    n_wanted: int
    errors: dict[int, str]
    stopped: bool = False

    @property
    def n_resamples(self) -> int:
        """Resamples that were looked at."""
        return len(self.columns) - len(self.errors)

    @cached_property
    def wins(self) -> NDArray[np.int64]:
        """In how many resamples each column wins: int64 (n_nodes, n_features)."""
        won = [np.count_nonzero(self.columns == column, axis=0) for column in range(len(self.features))]
        return np.stack(won, axis=1).astype(np.int64)

    @cached_property
    def n_without(self) -> NDArray[np.int64]:
        """In how many resamples the node's rows have no split: too few or all alike: int64 (n_nodes,)."""
        return np.asarray(self.n_resamples - self.wins.sum(axis=1))

    @cached_property
    def same_column(self) -> NDArray[np.int64]:
        """In how many resamples the node's own column wins: int64 (n_nodes,)."""
        return self.wins[np.arange(len(self.nodes)), self.own]

    @cached_property
    def same_question(self) -> NDArray[np.int64]:
        """In how many resamples the node's own question wins: int64 (n_nodes,)."""
        return np.asarray(np.count_nonzero(self.is_same, axis=0), np.int64)

    @cached_property
    def runner_up(self) -> NDArray[np.int64]:
        """The other column that wins most often, the lowest of equals; NO_COLUMN where none ever does."""
        others = self.wins.copy()
        others[np.arange(len(self.nodes)), self.own] = 0
        return np.where(others.any(axis=1), np.argmax(others, axis=1), NO_COLUMN)

    def place_of(self, node: int) -> int | None:
        """Return where a node is in the arrays; None of a leaf."""
        at = int(np.searchsorted(self.nodes, node))
        return at if at < len(self.nodes) and self.nodes[at] == node else None

    @property
    def first_splits(self) -> list[tuple[int, int]]:
        """Columns that win at the root with the number of resamples, most often first; none for a leaf."""
        if not len(self.nodes):
            return []
        wins = self.wins[0]
        return [
            (int(column), int(wins[column])) for column in np.argsort(-wins, kind="stable") if wins[column]
        ]


def instability(
    estimator: Any, sets: TableDraws, *, n_jobs: int | None = None, monitor: FitMonitor | None = None
) -> Instability:
    """Search the rows of every resample for the best split of each inner node of a fitted tree.

    All columns are searched, as `engine.tree.candidates.candidates` does, also where the tree drew some.
    Events carry the `Instability` so far; a stop keeps the resamples that are done.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted on the table that `sets` draws from. Its tree may have been edited.
    sets : TableDraws
    n_jobs, monitor
        As in `engine.resampling.refits.refit`.

    Raises
    ------
    DataError
        The table is not the one of the tree, or no resample could be searched.
    """
    whole = sets.whole
    data = training_data(estimator, whole.X, whole.y, whole.weights)
    if data.features != estimator.features_:
        raise DataError("this is not the table that the tree was grown on; give that one")
    study = _Study(estimator, sets, data)
    kept = _Kept(study, sets.n_sets)
    names = [f"resample {number + 1:,} of {sets.n_sets:,}" for number in range(sets.n_sets)]
    stopped = tasks.run(study.look, names, kept.take, n_jobs, monitor)
    found = replace(kept.so_far(), stopped=stopped)
    check_some_done(found.errors, len(found.columns), found.n_wanted)
    return found


@dataclass(frozen=True, eq=False)
class _Seen:
    """What one resample asks at each node."""

    columns: NDArray[np.int16]
    thresholds: NDArray[np.float64]
    is_same: NDArray[np.bool_]


class _Study:
    """A tree with the training rows of its inner nodes, read by all tasks."""

    def __init__(self, estimator: Any, sets: TableDraws, data: TrainingData) -> None:
        self._estimator, self._sets, self._data = estimator, sets, data
        self.tree: Tree = estimator.tree_
        self.nodes = np.flatnonzero(~self.tree.is_leaf).astype(np.int64)
        self._paths = [self.tree.path_to(int(node)) for node in self.nodes]
        self._questions = [Question.of(self.tree, int(node)) for node in self.nodes]
        at_node = rows_by_node(self.tree, data.X)
        self._values = [
            data.X[at_node[int(node)], question.feature].astype(np.float64)
            for node, question in zip(self.nodes, self._questions, strict=True)
        ]
        self.bands = np.array(
            [
                band(question.threshold, x) if question.kind == THRESHOLD else (np.nan, np.nan)
                for question, x in zip(self._questions, self._values, strict=True)
            ]
        ).reshape(-1, 2)

    @property
    def features(self) -> tuple[FeatureSpec, ...]:
        return self._data.features

    def look(self, number: int, monitor: FitMonitor) -> _Seen:
        """Return what the rows of resample `number` would ask."""
        data = self._drawn(number)
        rows = self._node_rows(data, partial(_ask, monitor, 0.0))
        at_node = rows_by_node(self.tree, data.X)
        seen = _Seen(
            np.full(len(self.nodes), NO_COLUMN, np.int16), np.full(len(self.nodes), np.nan),
            np.zeros(len(self.nodes), bool),
        )  # fmt: skip
        for at, path in enumerate(self._paths):
            y = data.y[at_node[int(self.nodes[at])]]
            if not len(y) or np.all(y == y[0]):
                continue  # growing would stop here, whatever gains nothing
            ask = partial(_ask, monitor, at / len(self._paths))
            found = candidates(self.tree, path, rows, ask)
            if found is None:
                raise FitStopped
            if found:
                self._note(seen, at, found[0])
        return seen

    def _drawn(self, number: int) -> TrainingData:
        """Return the rows of a resample, repeats as rows of their own, as the tree reads them."""
        whole, drawn = self._data, self._sets.rows(number)
        grows = np.isin(drawn, whole.rows)  # classes of weight 0 do not
        data = take_rows(whole, np.searchsorted(whole.rows, drawn[grows]))
        weights = data.sample_weight
        if getattr(self._estimator, "class_weight", None) == "balanced":
            codes = (part.y.astype(np.intp) for part in (whole, data))
            before, now = (balanced_factors(np.bincount(each, minlength=whole.n_classes)) for each in codes)
            weights = weights * (now / before)[data.y.astype(np.intp)]
        return replace(
            data, X=dtypes.as_input(data.X), y=dtypes.as_input(data.y), sample_weight=dtypes.as_input(weights)
        )

    def _node_rows(self, data: TrainingData, ask: Callable[..., bool]) -> NodeRows:
        presorted = presort(data.X, data.features, ask)
        if presorted is None:
            raise FitStopped
        rules = make_rules(self._estimator, data, float(data.sample_weight.sum()))
        rules = rules._replace(criterion=CRITERIA[criterion_of(self._estimator)])
        algorithm = getattr(self._estimator, "algorithm", "cart")
        return NodeRows(presorted, data.y, data.sample_weight, data.features, rules, algorithm=algorithm)

    def _note(self, seen: _Seen, at: int, best: Candidate) -> None:
        split = best.split
        seen.columns[at], seen.thresholds[at] = best.feature, split.threshold
        own, other = self._questions[at], Question(best.feature, split.kind, split.threshold, split.levels)
        seen.is_same[at] = likeness(own, other, self._values[at]).is_same


def _ask(monitor: FitMonitor, fraction: float, *_: Any) -> bool:
    return monitor.on_iteration(IterationEvent("looking", fraction=fraction))


class _Kept:
    """What the resamples that are over ask; what was written is never written again."""

    def __init__(self, study: _Study, n_sets: int) -> None:
        shape = (n_sets, len(study.nodes))
        self._study, self._n_over, self._errors = study, 0, dict[int, str]()
        self._columns, self._thresholds = np.full(shape, NO_COLUMN, np.int16), np.full(shape, np.nan)
        self._is_same = np.zeros(shape, bool)

    def take(self, number: int, result: _Seen | Failed) -> Callable[[], Instability]:
        if isinstance(result, Failed):
            self._errors[number] = str(result)
        else:
            self._columns[number], self._thresholds[number] = result.columns, result.thresholds
            self._is_same[number] = result.is_same
        self._n_over = number + 1
        return partial(the_value, self.so_far())

    def so_far(self) -> Instability:
        study, n_over = self._study, self._n_over
        own = np.asarray(study.tree.feature[study.nodes], np.int64)
        return Instability(
            study.nodes, study.features, own, self._columns[:n_over], self._thresholds[:n_over],
            self._is_same[:n_over], study.bands, len(self._columns), dict(self._errors),
        )  # fmt: skip
