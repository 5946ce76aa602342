"""The learners that are boosted: the engine's own trees on columns sorted once, or any estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, pieces
from engine.adaboost.reweighting import Floats, growing_weights, shares_of
from engine.base import TrainingData, member_seed
from engine.errors import ParameterError
from engine.features import take_rows
from engine.other_learners import Rows, StopOnly, can_stop, seeded, takes_weights
from engine.predict import leaf_numbers
from engine.tree.grow import Grower
from engine.tree.growth_rules import make_rules
from engine.tree.presort import Ask, RowSorter, presort
from engine.tree.structure import Tree

DRAWN_AT_ONCE = 262_144  # rows, between two looks at the stop


class Answers(NamedTuple):
    """What one learner says of rows: a code for each, and what the codes stand for.

    Attributes
    ----------
    codes : int32 (n_rows,)
    values : float64 (n_codes,)
        Class numbers, or numbers.
    """

    codes: NDArray[np.int32]
    values: Floats

    @property
    def of_rows(self) -> Floats:
        """The value of every row: float64 (n_rows,)."""
        return np.asarray(self.values[self.codes])


class Learners(Protocol):
    """Where the rounds get their learners from."""

    def prepare(self, ask: Ask) -> bool:
        """Make ready; returns whether a stop came before the end."""
        ...

    def grow(self, log_weights: Floats, iteration: int, ask: Ask) -> Any:
        """Return the learner of round `iteration`, counted from 1; None where a stop came before."""
        ...


class TreeLearners:
    """Trees of the engine, grown on columns that are sorted once for all rounds.

    Parameters
    ----------
    estimator : AdaBoostClassifier or AdaBoostRegressor
    data : TrainingData
    """

    def __init__(self, estimator: Any, data: TrainingData) -> None:
        self._estimator, self._data = estimator, data
        self._draws = bool(getattr(estimator, "bootstrap", False))
        self._sorter: RowSorter | None = None

    def prepare(self, ask: Ask) -> bool:
        """Sort every column; returns whether a stop came before the end."""
        presorted = presort(self._data.X, self._data.features, ask)
        if presorted is not None:
            self._sorter = RowSorter(presorted, self._estimator.max_depth == 1)
        return presorted is None

    def grow(self, log_weights: Floats, iteration: int, ask: Ask) -> Tree | None:
        """Return the tree of round `iteration`; None where a stop came before it was grown."""
        estimator, data, sorter = self._estimator, self._data, self._sorter
        assert sorter is not None
        if self._draws:
            n_drawn = draw_counts(log_weights, estimator.seed_, iteration, ask)
            if n_drawn is None:
                return None
            w, rows = n_drawn.astype(np.float64), sorter.drawn_rows(n_drawn, ask)
        else:
            w, rows = growing_weights(log_weights), sorter.all_rows(ask)
        if rows is None:
            return None
        rules = make_rules(estimator, data, float(w.sum()))
        seed = member_seed(estimator.seed_, iteration)
        grown = Grower(rows.table, rows.order, data.y, dtypes.as_input(w), rules, seed).grow(ask)
        return None if grown.is_partial else grown.tree


class OtherLearners:
    """Copies of an estimator that is not fitted, given the rows' weights.

    Parameters
    ----------
    estimator : AdaBoostClassifier or AdaBoostRegressor
    data : TrainingData
    rows : Rows
        Of `data`.

    Raises
    ------
    ParameterError
        The estimator takes no weights where rows are not drawn by them, or a setting of the trees that it
        replaces was changed.
    """

    def __init__(self, estimator: Any, data: TrainingData, rows: Rows) -> None:
        self._estimator, self._data, self._rows = estimator, data, rows
        self._draws = bool(getattr(estimator, "bootstrap", False))
        check_learner(estimator, self._draws)

    def prepare(self, ask: Ask) -> bool:
        """Have nothing to sort; returns whether a stop is asked for."""
        return ask(0, 1.0)

    def grow(self, log_weights: Floats, iteration: int, ask: Ask) -> Any:
        """Return the fitted learner of round `iteration`; None where a stop came before."""
        if ask(0, 0.0):
            return None
        seed, extra = self._estimator.seed_, dict[str, Any]()
        learner = seeded(self._estimator.estimator, seed, iteration)
        X, y = self._rows.given, self._data.y
        if self._data.classes is not None:
            y = y.astype(np.intp)
        if self._draws:
            n_drawn = draw_counts(log_weights, seed, iteration, ask)
            if n_drawn is None:
                return None
            drawn = np.repeat(np.arange(len(y)), n_drawn)
            X, y = take_rows(X, drawn), y[drawn]
        else:
            extra["sample_weight"] = growing_weights(log_weights)
        if can_stop(learner):
            extra["monitor"] = StopOnly(lambda: ask(0, 0.0))
        learner.fit(X, y, **extra)
        return None if ask(0, 0.0) else learner  # of a stopped one there may be a part alone


def answers_of(
    learner: Any, rows: Rows, n_classes: int, while_waiting: Callable[[], None] | None = None
) -> Answers:
    """Return what a fitted learner says of rows.

    Parameters
    ----------
    n_classes : int
        0 in regression.
    while_waiting : callable, optional
        Called now and then while it is asked; may raise to end the work.
    """
    if isinstance(learner, Tree):
        leaves = leaf_numbers(learner, rows.encoded, while_waiting=while_waiting)
        return Answers(leaves, node_answers(learner, n_classes))
    ask = while_waiting or _nothing
    with pieces.asking(lambda _work: ask()):
        said = np.asarray(learner.predict(rows.given), np.float64)
    values, codes = np.unique(said, return_inverse=True)
    return Answers(codes.astype(np.int32), values)


def _nothing() -> None:
    """Ask nobody."""


def draw_counts(log_weights: Floats, seed: int, iteration: int, ask: Ask) -> NDArray[np.int64] | None:
    """Draw as many rows as there are, by their weights; returns how often each came (D9): int64 (n_rows,).

    None where a stop came in between.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(iteration,)))
    n_rows = len(log_weights)
    reached = np.cumsum(shares_of(log_weights))
    n_drawn = np.zeros(n_rows, np.int64)
    for start in range(0, n_rows, DRAWN_AT_ONCE):
        if ask(0, 0.0):
            return None
        places = rng.random(min(DRAWN_AT_ONCE, n_rows - start)) * reached[-1]
        n_drawn += np.bincount(np.searchsorted(reached, places, "right"), minlength=n_rows)
    return n_drawn


def node_answers(tree: Tree, n_classes: int) -> Floats:
    """Return what every node of a tree says: its most frequent class, or its number: float64 (n_nodes,)."""
    if n_classes:
        return np.asarray(np.argmax(tree.value, axis=1), np.float64)
    return np.asarray(tree.value[:, 0])


def check_learner(estimator: Any, draws: bool) -> None:
    """Check a learner that takes the place of the trees; raises as `OtherLearners`."""
    learner = estimator.estimator
    if not hasattr(learner, "fit") or not hasattr(learner, "get_params"):
        raise ParameterError(f"estimator is {learner!r}; enter an estimator with fit, or None for trees")
    if not draws and not takes_weights(learner):
        raise ParameterError(
            f"estimator is {type(learner).__name__}, which takes no sample_weight; enter one that does, "
            "or None for trees"
        )
    for parameter in estimator.tree_parameters():
        value = getattr(estimator, parameter.name)
        if value != parameter.default:
            raise ParameterError(
                f"{parameter.name} is {value!r} but the trees are replaced by estimator; set it in that, or "
                "leave estimator out"
            )
