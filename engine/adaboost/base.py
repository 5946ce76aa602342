"""What AdaBoost for classes and for numbers share: fitting, rounds kept, row weights, staged answers."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from engine.adaboost.combined import Combined, make_combined
from engine.adaboost.learners import Learners, OtherLearners, TreeLearners, answers_of
from engine.adaboost.reweighting import Floats, shares_of
from engine.adaboost.rounds import Booster, Part, Round, RoundSettings, staged_weights
from engine.base import Learner, TrainingData, begin_fit, begin_validation, check_X, draw_seed
from engine.boosting.early_stopping import EarlyStopping, set_aside
from engine.errors import DataError, ParameterError
from engine.inspection import total_gains
from engine.monitor import NULL_MONITOR, FitMonitor
from engine.other_learners import Rows
from engine.parameters import Parameter
from engine.tree.estimators import check_target, check_tree_parameters
from engine.tree.structure import Tree


class AdaBoost(Learner):
    """What classification and regression share."""

    _is_classifier: bool
    _table: tuple[Parameter, ...]
    _members: tuple[Parameter, ...]
    estimator: Any
    class_weight: Any = None
    classes_: NDArray[Any]
    row_weights_: Floats  # of a model in training alone; of others `row_weights` works them out
    n_outputs_ = 1

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None, monitor: FitMonitor | None = None,
    ) -> Self:  # fmt: skip
        """Fit the ensemble; it may end early and is usable all the same.

        ``monitor.on_iteration(event)`` is called in this thread while columns are sorted, before the first
        round, after every round (with its errors and its tree) and about every 20 ms inside one. True ends
        the fit: the finished rounds are kept, and those that `warm_start` begins with, see `n_estimators_`
        and `stopped_`.

        Parameters
        ----------
        X : DataFrame or array-like (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional
            Weights that the first round begins with; rows of weight 0 are left out.
        X_val, y_val, sample_weight_val : optional
            Validation rows: for `val_loss_` and early stopping.
        monitor : FitMonitor, optional

        Raises
        ------
        ParameterError
            A hyperparameter is outside its documented range, or the validation part is not whole.
        DataError
            X, y or the validation rows do not fit, or are not of the columns and classes of the rounds
            that `warm_start` keeps.
        """
        check_tree_parameters(self, self._table)
        kept = self._begin_warm()
        data = self._begin(X, y, sample_weight)
        if kept:
            self._check_continues(kept[1])
        validation = begin_validation(self, X_val, y_val, sample_weight_val, data)
        if not kept:
            self.seed_ = draw_seed(self.random_state)
        self.n_set_aside_ = 0
        if validation is None and self.early_stopping:
            training, aside = self._divide(X, data)
            self.n_set_aside_ = aside.data.n_rows
            val_part: Part | None = aside
        else:
            training = Part(data, Rows.of(X, data.X, data.rows))
            val_part = None
            if validation is not None:
                val_part = Part(validation, Rows.of(X_val, validation.X, validation.rows))
        self.baseline_ = baseline_of(training.data)
        stopping = EarlyStopping(self.n_iter_no_change, self.tol) if self.early_stopping else None
        booster = Booster(
            self._settings(), self._learners(training), training, val_part, monitor or NULL_MONITOR, stopping
        )
        booster.so_far = partial(copy.copy(self)._so_far, booster, training.data)
        booster.run(kept[0] if kept else [])
        self.stopped_, self.why_ended_ = booster.stopped, booster.why_ended
        if kept and booster.stopped and len(booster.rounds) < len(kept[0]):  # while they were taken in again
            self._keep(len(kept[0]), kept[0], self.train_loss_, self.val_loss_)
            return self
        n_kept = min(stopping.best_round, len(booster.rounds)) if stopping else len(booster.rounds)
        self._keep(n_kept, booster.rounds, np.array(booster.train_loss), np.array(booster.val_loss))
        return self

    def _so_far(self, booster: Booster, data: TrainingData, n_rounds: int, log_weights: Floats) -> Self:
        """Return the model of the first rounds while more are made, with its rows' weights."""
        made = copy.copy(self)
        made.stopped_, made.why_ended_ = True, ""
        made._keep(n_rounds, booster.rounds, np.array(booster.train_loss), np.array(booster.val_loss))
        made.row_weights_ = np.full(data.n_samples, np.nan)
        made.row_weights_[data.rows] = shares_of(log_weights)
        return made

    def tree_parameters(self) -> tuple[Parameter, ...]:
        """Return the settings of the trees, which another `estimator` replaces."""
        shared = ("random_state", "class_weight")
        return tuple(p for p in self._table if p.name in {m.name for m in self._members} - set(shared))

    def _begin(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        data = begin_fit(
            self, X, y, sample_weight, is_classifier=self._is_classifier, class_weight=self.class_weight
        )
        check_target(data, self.criterion)
        return data

    def _begin_warm(self) -> tuple[list[Round], tuple[Any, Any]] | None:
        """Return the rounds that are to be kept, with the columns and classes they know."""
        if not self.warm_start or not hasattr(self, "estimators_"):
            return None
        if self.n_estimators < self.n_estimators_:
            raise ParameterError(
                f"n_estimators is {self.n_estimators} but the model has {self.n_estimators_} rounds already; "
                "enter at least as many, use truncate, or switch warm_start off"
            )
        return self._rounds(), (self.features_, getattr(self, "classes_", None))

    def _check_continues(self, known: tuple[Any, Any]) -> None:
        features, classes = known
        is_same = not self._is_classifier or np.array_equal(classes, self.classes_)
        if features != self.features_ or not is_same:
            raise DataError(
                "the table has other columns or classes than the rounds that are kept were trained on; "
                "give the same ones, or switch warm_start off"
            )

    def _divide(self, X: Any, data: TrainingData) -> tuple[Part, Part]:
        """Set rows aside for early stopping, the same for the same seed."""
        divided = set_aside(data, self.validation_fraction, self.seed_)
        training, aside = (Part(part, Rows.of(X, part.X, part.rows)) for part in divided)
        return training, aside

    def _learners(self, training: Part) -> Learners:
        if self.estimator is None:
            return TreeLearners(self, training.data)
        return OtherLearners(self, training.data, training.rows)

    def _settings(self) -> RoundSettings:
        n_classes = int(np.count_nonzero(self.baseline_)) if self._is_classifier else 2
        return RoundSettings(
            self.n_estimators, float(self.learning_rate), self._row_loss(), self.baseline_, n_classes
        )

    def _row_loss(self) -> str:
        """Name what `engine.adaboost.reweighting.row_losses` is to work out."""
        raise NotImplementedError

    def _rounds(self) -> list[Round]:
        kept = zip(self.estimators_, self.estimator_errors_, self.estimator_weights_, strict=True)
        return [Round(learner, float(error), float(weight)) for learner, error, weight in kept]

    def _keep(self, n_kept: int, rounds: list[Round], train_loss: Floats, val_loss: Floats) -> None:
        """Set what depends on the rounds to the first `n_kept` of them."""
        self.estimators_ = [made.learner for made in rounds[:n_kept]]
        self.n_estimators_ = n_kept
        self.estimator_errors_ = np.array([made.error for made in rounds[:n_kept]], np.float64)
        self.estimator_weights_ = np.array([made.weight for made in rounds[:n_kept]], np.float64)
        self.train_loss_, self.val_loss_ = train_loss[: n_kept + 1], val_loss[: n_kept + 1]
        after = self.val_loss_[1:]
        has_best = len(after) > 0 and not np.all(np.isnan(after))
        self.best_round_ = int(np.nanargmin(after)) + 1 if has_best else n_kept
        importances = weighted_importances(self.estimators_, self.estimator_weights_, self.n_features_in_)
        if importances is not None:
            self.feature_importances_ = importances
        elif hasattr(self, "feature_importances_"):
            del self.feature_importances_

    def truncate(self, n_rounds: int) -> Self:
        """Return a copy that keeps the first `n_rounds` rounds; 0 keeps the baseline alone.

        Raises
        ------
        ParameterError
            There are not that many rounds.
        """
        check_is_fitted(self, "estimators_")
        self._check_n_rounds(n_rounds)
        cut = copy.copy(self)
        if n_rounds < self.n_estimators_:
            cut.why_ended_ = ""
        cut._keep(int(n_rounds), self._rounds(), self.train_loss_, self.val_loss_)
        return cut

    def _check_n_rounds(self, n_rounds: int) -> None:
        if not 0 <= n_rounds <= self.n_estimators_:
            raise ParameterError(f"n_rounds is {n_rounds!r}; the model has {self.n_estimators_} rounds")

    def row_weights(self, X: Any, y: Any, sample_weight: Any = None, n_rounds: int | None = None) -> Floats:
        """Return the weights of the training rows after some rounds: float64 (n_samples,).

        Worked out anew from the learners, to the last bit as in the fit: kept for every round they would
        take more memory than the table. They sum to 1; rows of weight 0 and rows that were set aside for
        early stopping hold NaN.

        Parameters
        ----------
        X, y, sample_weight
            As given to `fit`.
        n_rounds : int, optional
            Rounds that have changed the weights, by default all; 0 gives those that the first begins with.

        Raises
        ------
        ParameterError
            There are not that many rounds.
        DataError
            The rows are not of the columns and classes that the model was trained on.
        """
        check_is_fitted(self, "estimators_")
        n_rounds = self.n_estimators_ if n_rounds is None else n_rounds
        self._check_n_rounds(n_rounds)
        return next(islice(self.staged_row_weights(X, y, sample_weight), n_rounds, None))

    def staged_row_weights(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[Floats]:
        """Yield what `row_weights` returns for 0 rounds, for 1, and so on, each learner asked once.

        Parameters
        ----------
        X, y, sample_weight
            As given to `fit`.
        """
        check_is_fitted(self, "estimators_")
        other = copy.copy(self)
        data = other._begin(X, y, sample_weight)
        other._check_continues((self.features_, getattr(self, "classes_", None)))
        part = Part(data, Rows.of(X, data.X, data.rows))
        if self.n_set_aside_:
            part, _ = self._divide(X, data)
        for shares in staged_weights(part, self._rounds(), self._row_loss()):
            weights = np.full(data.n_samples, np.nan)
            weights[part.data.rows] = shares
            yield weights

    def encoded_answer(self, table: NDArray[Any]) -> Floats:
        """Return what the trees say of an encoded table: float64 (n_rows, n_classes or 1)."""
        raise NotImplementedError

    def _answer(self, X: Any) -> Floats:
        encoded = check_X(self, X)
        if all(isinstance(learner, Tree) for learner in self.estimators_):
            return self.encoded_answer(encoded)
        *_, last = self._staged(Rows.of(X, encoded))
        return last

    def _staged(self, rows: Rows) -> Iterator[Floats]:
        """Yield the answer to rows after every round."""
        combined = self.nothing_combined(len(rows.encoded), self.n_estimators_)
        for idx in range(self.n_estimators_):
            self._combine(combined, rows, idx)
            yield combined.answer()

    def nothing_combined(self, n_rows: int, n_learners: int) -> Combined:
        """Return what adds up to `encoded_answer` when learners, at most so many, are combined into it."""
        return make_combined(n_rows, self.baseline_, n_learners, self._is_classifier)

    def combine(self, combined: Combined, table: NDArray[Any], idx: int) -> None:
        """Take in what one learner, a tree, says about an encoded table."""
        self._combine(combined, Rows(table, table), idx)

    def _combine(self, combined: Combined, rows: Rows, idx: int) -> None:
        n_classes = len(self.baseline_) if self._is_classifier else 0
        answers = answers_of(self.estimators_[idx], rows, n_classes)
        combined.add(answers, float(self.estimator_weights_[idx]))

    def _staged_answers(self, X: Any) -> Iterator[Floats]:
        check_is_fitted(self, "estimators_")
        return self._staged(Rows.of(X, check_X(self, X)))


def baseline_of(data: TrainingData) -> Floats:
    """Return what is answered before any round: shares of the classes (n_classes,), or the mean (1,)."""
    w = data.sample_weight
    if data.classes is None:
        return np.array([np.average(data.y, weights=w)])
    return np.asarray(np.bincount(data.y.astype(np.intp), weights=w, minlength=data.n_classes) / w.sum())


def weighted_importances(learners: list[Any], weights: Floats, n_features: int) -> Floats | None:
    """Return the learners' shares of their gains, averaged by weight; None where a learner has none."""
    sums = np.zeros(n_features)
    for learner, weight in zip(learners, weights, strict=True):
        gains = total_gains(learner, n_features) if isinstance(learner, Tree) else None
        gains = getattr(learner, "feature_importances_", None) if gains is None else gains
        if gains is None or len(gains) != n_features:
            return None
        total = float(np.sum(gains))
        sums += weight * gains / total if total > 0 else 0.0
    total = float(sums.sum())
    return sums / total if total > 0 else sums
