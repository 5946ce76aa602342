"""Boosting of any regressor in place of the trees (Friedman 2001, algorithm 1): one step a round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from engine import parallel, pieces
from engine.base import TrainingData
from engine.boosting.line_search import tree_step
from engine.boosting.losses import Loss
from engine.boosting.rounds import Booster, GrowRound
from engine.boosting.sorted_trees import SortedTrees, is_sortable
from engine.errors import DataError, FitStopped, ParameterError
from engine.features import take_rows
from engine.other_learners import Rows, StopOnly, can_stop, seeded, takes_weights
from engine.parameters import Parameter
from engine.predict import tree_values
from engine.tree.structure import Tree

METHODS = ("fit", "predict", "get_params", "set_params")
SHARED = (
    "loss", "alpha", "n_estimators", "learning_rate", "subsample", "early_stopping", "validation_fraction",
    "n_iter_no_change", "tol", "scoring", "init", "warm_start", "n_jobs",
)  # fmt: skip
"""Parameters that mean something for any learner; the others are of the trees."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScaledLearner:
    """A fitted learner of one round.

    Attributes
    ----------
    learner : estimator
        Fitted to the negative gradient.
    scale : float
        What its answers are multiplied by: the round's step times the learning rate.
    """

    learner: Any
    scale: float

    def values(self, rows: Rows) -> Floats:
        """Return what it adds to rows: float64 (n_rows,). Raises as `answers`."""
        return self.scale * answers(self.learner, rows)


def answers(learner: Any, rows: Rows) -> Floats:
    """Return what a fitted learner says of rows: float64 (n_rows,).

    Raises
    ------
    DataError
        It does not say one finite number a row.
    """
    n_rows = len(rows.encoded)
    if n_rows == 0:
        return np.empty(0)
    said = np.asarray(learner.predict(rows.given), np.float64)
    name = type(learner).__name__
    if said.shape not in ((n_rows,), (n_rows, 1)):
        raise DataError(
            f"estimator is a {name}, which answers {n_rows} row(s) with an array of shape {said.shape}; "
            "enter one that predicts one number a row"
        )
    if not np.isfinite(said).all():
        raise DataError(
            f"estimator is a {name}, whose answers hold NaN or infinity; scale the columns, or enter another"
        )
    return said.reshape(n_rows)


def is_of_trees(rounds: Sequence[tuple[Any, ...]]) -> bool:
    """Tell whether rounds, of which there may be none, are of trees."""
    return all(isinstance(member, Tree) for members in rounds[:1] for member in members)


def sum_of_values(members: Sequence[Any], rows: Rows, n_jobs: int | None) -> Floats:
    """Return what members of some rounds, trees or scaled learners, add to rows: float64 (n_rows,)."""
    if isinstance(members[0], Tree):
        return tree_values(members, rows.encoded, n_jobs)[:, 0]
    sums = np.zeros(len(rows.encoded))
    for values in parallel.map_tasks(lambda member: member.values(rows), members, n_jobs):
        sums += values
    return sums


def check_learner(boosted: Any, table: Iterable[Parameter]) -> None:
    """Check the learner that takes the place of the trees, if there is one.

    Parameters
    ----------
    boosted : GradientBoostingClassifier or GradientBoostingRegressor
    table : iterable of Parameter
        All its parameters.

    Raises
    ------
    ParameterError
        It is no regressor, or a setting of the trees that it replaces was changed.
    """
    learner = boosted.estimator
    if learner is None:
        return
    if isinstance(learner, type) or not all(hasattr(learner, name) for name in METHODS):
        raise ParameterError(
            f"estimator is {learner!r}; enter a regressor with fit, predict, get_params and set_params, or "
            "None (trees)"
        )
    if hasattr(learner, "__sklearn_tags__") and is_classifier(learner):
        raise ParameterError(f"estimator is {learner!r}, which is no regressor; enter one, or None (trees)")
    for parameter in table:
        value = getattr(boosted, parameter.name)
        is_unset = value is None if parameter.default is None else value == parameter.default
        if parameter.name not in SHARED and not is_unset:
            raise ParameterError(
                f"{parameter.name} is {value!r} but the trees are replaced by estimator; set it in that, or "
                "leave estimator out"
            )
    if isinstance(boosted.init, str) and boosted.init == "first_tree":
        raise ParameterError(
            "init is 'first_tree' but the trees are replaced by estimator; enter 'constant', 'zero' or an "
            "estimator"
        )


def booster_of(boosted: Any, X: Any, X_val: Any) -> Callable[..., Booster]:
    """Return what makes the `Booster` of a fit.

    Parameters
    ----------
    boosted : GradientBoostingClassifier or GradientBoostingRegressor
    X, X_val : DataFrame or array-like, or None
        As they were given to `fit`.
    """
    if boosted.estimator is None:
        return Booster
    return partial(LearnerBooster, boosted.estimator, X, X_val)


class LearnerBooster(Booster):
    """Rounds of a learner that is fitted to the negative gradient, a clone for each raw prediction.

    Parameters
    ----------
    learner : estimator
        Not fitted, and left as it is.
    X, X_val : DataFrame or array-like, or None
        The caller's tables, some of whose rows are trained on; others as in `Booster`.

    Raises
    ------
    ParameterError
        The learner takes no weights, and there are some; or it refuses the table.
    DataError
        As `answers`.
    """

    _cure_of_growth = "enter a smaller one, at most 1, or another estimator"

    def __init__(
        self, learner: Any, X: Any, X_val: Any, loss: Loss, training: TrainingData,
        validation: TrainingData | None, *more: Any,
    ) -> None:  # fmt: skip
        if training.is_weighted and not takes_weights(learner):
            raise ParameterError(
                f"estimator is a {type(learner).__name__}, which takes no sample_weight; enter one that "
                "does, or leave the weights out"
            )
        self._learner, self._rows = learner, Rows.of(X, training.X, training.rows)
        if validation is not None:
            self._val_rows = Rows.of(X if X_val is None else X_val, validation.X, validation.rows)
        self._trees = SortedTrees(training, self._rows.given) if is_sortable(learner) else None
        super().__init__(loss, training, validation, *more)

    def _prepare(self) -> GrowRound:
        """Have nothing to bin: sort for trees, and tell of the baseline, or of the earlier rounds."""
        if self._trees is not None and self._trees.prepare(self._learner, self._ask_sorting):
            raise FitStopped
        if self._tell(self._begin_rounds(self._fit_round)):
            raise FitStopped
        return self._fit_round

    def _fit_round(self, iteration: int, rate: float) -> tuple[tuple[Any, ...], float]:
        """Fit a round's learners and add them to the raw predictions; return them and the step."""
        drawn = self._draw_rows(self._generator_of(iteration) if self._draws else None)
        learners = [self._fit_learner(k, drawn, iteration) for k in range(self._loss.n_raw)]
        change = np.empty(self._raw.shape)
        for k, learner in enumerate(learners):
            change[:, k] = self._answers(learner, self._rows)
            self._ask()
        step = tree_step(self._loss, self._raw, self._training, change, drawn, self._ask, self._team)
        scale = rate * step
        self._raw += scale * change
        return tuple(ScaledLearner(learner, scale) for learner in learners), step

    def _fit_learner(self, k: int, drawn: NDArray[np.int32], iteration: int) -> Any:
        gradients = self._derivatives.gradients
        residuals = -gradients[k] / self._training.sample_weight
        learner = seeded(self._learner, self._settings.seed, iteration * self._loss.n_raw + k)
        self._stop_seen = False
        try:
            if self._trees is not None and self._trees.can_fit(residuals):
                watch = StopOnly(self._is_to_stop)
                self._trees.fit(learner, residuals, drawn, lambda *_: self._is_to_stop(), watch)
            else:
                self._fit_by_itself(learner, residuals, drawn)
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"estimator is {self._learner!r}, which cannot be trained on this table: {error}"
            ) from error
        if self._stop_seen:  # what it has come to is not the learner of a round
            raise FitStopped
        self._ask()
        return learner

    def _fit_by_itself(self, learner: Any, residuals: Floats, drawn: NDArray[np.int32]) -> None:
        """Fit a learner to the residuals of the drawn rows."""
        data, X, weights = self._training, self._rows.given, self._training.sample_weight.copy()
        if len(drawn) < data.n_rows:
            X = take_rows(X, drawn)
            residuals, weights = residuals[drawn], weights[drawn]
        extra: dict[str, Any] = {"sample_weight": weights} if data.is_weighted else {}
        if can_stop(learner):
            extra["monitor"] = StopOnly(self._is_to_stop)
        learner.fit(X, residuals, **extra)

    def _answers(self, learner: Any, rows: Rows) -> Floats:
        """Return what a learner says of rows that are encoded already; asks meanwhile, of trees."""
        if self._trees is None:
            with pieces.asking(lambda _work: self._ask()):
                return answers(learner, rows)
        return np.asarray(tree_values([learner.tree_], rows.encoded, self._n_jobs, self._ask)[:, 0])

    def _ask_sorting(self, n_done: int, _fraction: float) -> bool:
        event = self._event("binning", n_done, self._training.n_features)
        return self._monitor.on_iteration(replace(event, phase="sorting"))

    def _is_to_stop(self) -> bool:
        """Ask inside a learner's own fit, out of which no exception is to go."""
        if not self._stop_seen:
            try:
                self._ask()
            except FitStopped:
                self._stop_seen = True
        return self._stop_seen

    def _add_to_training(self, members: tuple[Any, ...]) -> None:
        for k, member in enumerate(members):
            self._raw[:, k] += member.scale * self._answers(member.learner, self._rows)

    def _add_to_validation(self, members: tuple[Any, ...]) -> None:
        if self._validation is not None:
            for k, member in enumerate(members):
                self._val_raw[:, k] += member.scale * self._answers(member.learner, self._val_rows)

    def _check_growth(self, _members: tuple[Any, ...], iteration: int) -> None:
        self._check_reach(iteration)

    def _tell(self, _new_members: tuple[Any, ...], message: str = "") -> bool:
        return super()._tell((), message)  # events carry trees alone
