"""Gradient boosting on binned columns: `GradientBoostingClassifier` and `GradientBoostingRegressor`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from engine.base import Learner, TrainingData, begin_fit, begin_validation, check_X, draw_seed
from engine.boosting.grown import GrowSettings
from engine.boosting.losses import BinaryLogLoss, Loss, MultinomialLogLoss, SquaredError
from engine.boosting.parameters import BOOSTING_CLASSIFIER, BOOSTING_REGRESSOR
from engine.boosting.rounds import Booster, EarlyStopping, RoundSettings, set_aside
from engine.errors import ParameterError
from engine.inspection import total_gains
from engine.monitor import NULL_MONITOR, FitMonitor
from engine.parameters import check_parameters
from engine.predict import tree_values
from engine.tree.structure import Tree

_DOC = """Gradient boosting of trees{purpose}.

    Round by round, trees grown in histograms of binned columns are fitted to the negative gradient of
    the loss (Friedman 2001) or to gradients and second derivatives (Chen, Guestrin 2016), and
    `learning_rate` of them is added. Missing values go to the side learned at each node; categories
    are split into two sets of levels, found in the order of their mean gradients.

    Parameters
    ----------
    loss : {loss}
    n_estimators : int, default 100
        Rounds at most.
    learning_rate : float, default 0.1
        Above 0. With `order=1`, `subsample=1` and a rate of at most 1 the training loss never rises.
    growth : "leaf" or "depth", default "leaf"
        Split first where the gain is largest, or level by level.
    max_leaf_nodes : int or None, default 31
    max_depth : int or None, default None
    min_samples_leaf : int, default 20
        Rows in a leaf at least; counted, not weighted.
    max_bins : int from 2 to 65535, default 255
        Bins of a number. A column of at most this many distinct values is split exactly; else
        thresholds are chosen so that about equally many of all rows lie between them. Thresholds
        are midpoints of adjacent distinct values of the whole column. A category keeps all levels.
    order : 1 or 2, default 1
        1: trees are least-squares fits to the negative gradient, leaf values one Newton step, halved
        until the leaf's (for three or more classes the round's) loss does not rise.
        2: splits and leaf values -G / (H + `reg_lambda`) from gradients and second derivatives.
    reg_lambda : float, default 0
        For `order=2` only.
    subsample : float, default 1
        Share of the rows that each round is grown on, at least one row (Friedman 2002).
    early_stopping : bool, default False
        End after `n_iter_no_change` rounds without a smaller validation loss and keep the rounds up
        to the best one.
    validation_fraction : float, default 0.1
        Share of the rows set aside for early stopping where `fit` is given no `X_val`.
    n_iter_no_change : int, default 10
    tol : float, default 0
        The validation loss must fall by more than this to count as smaller.
    categorical_features : "from_dtype", None or sequence, default "from_dtype"
        See `engine.features.learn_features`.
    n_jobs : int or None, default None
        Threads; the model has the same bits for any number.
    random_state : None, int or generator
        For `subsample` and `validation_fraction`.

    Attributes
    ----------
    estimators_ : list of tuple of Tree
        The rounds kept; one tree each{per_class}. Values include the learning rate.
    n_estimators_ : int
        Rounds kept.
    best_round_ : int
        Round of the smallest validation loss, counted from 1, the first of equals; without
        validation rows the last round.
    baseline_prediction_ : float64 (n_raw,)
        The raw prediction before any tree: the constant that minimises the loss.
    train_loss_, val_loss_ : float64 (n_rounds + 1,)
        Mean {loss_words}, entry 0 before any tree; of the rounds kept. `val_loss_` is empty without
        validation rows.
    stopped_ : bool
        A monitor ended the fit early.
    feature_importances_ : float64 (n_features,)
        Each column's share of the sum of all gains.
    seed_ : int
    """


class _Boosting(Learner):
    """What classification and regression share; a subclass names its loss."""

    _is_classifier: bool
    _table: tuple[Any, ...]
    n_outputs_ = 1

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
        monitor: FitMonitor | None = None,
    ) -> Self:
        """Fit the ensemble; it may end early and is usable all the same.

        ``monitor.on_iteration(event)`` is called in this thread while binning, after the baseline,
        after every round (with its losses and its trees) and now and then inside a long one. True
        ends the fit: the finished rounds are kept, see `n_estimators_` and `stopped_`.

        Parameters
        ----------
        X : DataFrame or array-like (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional
            Rows of weight 0 are left out.
        X_val, y_val, sample_weight_val : optional
            Validation rows: for `val_loss_` and early stopping.
        monitor : FitMonitor, optional

        Raises
        ------
        ParameterError
            A hyperparameter is outside its documented range, or the validation part is not whole.
        DataError
            X, y or the validation rows do not fit.
        """
        training, validation = self._begin(X, y, sample_weight, (X_val, y_val, sample_weight_val))
        return self._fit(self._make_loss(), training, validation, monitor)

    def _make_loss(self) -> Loss:
        raise NotImplementedError

    def _fit(self, loss: Loss, training: TrainingData, validation: TrainingData | None, monitor: Any) -> Self:
        self.seed_ = draw_seed(self.random_state)
        if validation is None and self.early_stopping:
            training, validation = set_aside(training, self.validation_fraction, self.seed_)
        stopping = EarlyStopping(self.n_iter_no_change, self.tol) if self.early_stopping else None
        booster = Booster(
            loss, training, validation, self._settings(loss, training), monitor or NULL_MONITOR, stopping
        )
        booster.run()
        self.stopped_ = booster.stopped
        self.baseline_prediction_ = booster.baseline
        n_kept = min(stopping.best_round, len(booster.rounds)) if stopping else len(booster.rounds)
        self._keep(n_kept, booster.rounds, np.array(booster.train_loss), np.array(booster.val_loss))
        return self

    def _settings(self, loss: Loss, training: TrainingData) -> RoundSettings:
        is_plain = not training.is_weighted
        grow = GrowSettings(
            growth=self.growth,
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            order=self.order,
            reg_lambda=float(self.reg_lambda),
            leaf_factor=loss.leaf_factor if self.order == 1 else 1.0,
            counts_are_hessians=is_plain and (self.order == 1 or loss.has_constant_hessian),
            n_jobs=self.n_jobs,
        )
        return RoundSettings(
            n_estimators=self.n_estimators,
            learning_rate=float(self.learning_rate),
            max_bins=self.max_bins,
            subsample=float(self.subsample),
            seed=self.seed_,
            grow=grow,
        )

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, validation: tuple[Any, Any, Any]
    ) -> tuple[TrainingData, TrainingData | None]:
        """Check the parameters and both tables."""
        check_parameters(self, self._table)
        if self.reg_lambda != 0 and self.order == 1:
            raise ParameterError(
                f"reg_lambda is {self.reg_lambda!r} with order=1, where it has no effect; set order=2 or "
                "reg_lambda=0"
            )
        training = begin_fit(self, X, y, sample_weight, is_classifier=self._is_classifier)
        return training, begin_validation(self, *validation, training)

    def _keep(
        self,
        n_kept: int,
        rounds: list[tuple[Tree, ...]],
        train_loss: NDArray[np.float64],
        val_loss: NDArray[np.float64],
    ) -> None:
        """Set what depends on the rounds to the first `n_kept` of them."""
        self.estimators_ = rounds[:n_kept]
        self.n_estimators_ = n_kept
        self.train_loss_, self.val_loss_ = train_loss[: n_kept + 1], val_loss[: n_kept + 1]
        after = self.val_loss_[1:]
        has_best = len(after) > 0 and not np.all(np.isnan(after))
        self.best_round_ = int(np.nanargmin(after)) + 1 if has_best else n_kept
        self.feature_importances_ = _gain_shares(self.estimators_, self.n_features_in_)

    def truncate(self, n_rounds: int) -> Self:
        """Return a copy that keeps the first `n_rounds` rounds; 0 keeps the baseline alone.

        Raises
        ------
        ParameterError
            There are not that many rounds.
        """
        check_is_fitted(self, "estimators_")
        if not 0 <= n_rounds <= self.n_estimators_:
            raise ParameterError(f"n_rounds is {n_rounds!r}; the model has {self.n_estimators_} rounds")
        cut = copy.copy(self)
        cut._keep(int(n_rounds), self.estimators_, self.train_loss_, self.val_loss_)
        return cut

    def raw_predict(self, X: Any) -> NDArray[np.float64]:
        """Return baseline plus trees: float64 (n_samples, n_raw)."""
        encoded = check_X(self, X)
        raw = np.tile(self.baseline_prediction_, (len(encoded), 1))
        for k in range(raw.shape[1] if self.estimators_ else 0):
            raw[:, k] += tree_values([trees[k] for trees in self.estimators_], encoded, self.n_jobs)[:, 0]
        return raw

    def _staged_raw_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        encoded = check_X(self, X)
        sums = np.zeros((len(encoded), len(self.baseline_prediction_)))
        for trees in self.estimators_:
            for k, tree in enumerate(trees):
                sums[:, k] += tree_values([tree], encoded, self.n_jobs)[:, 0]
            yield self.baseline_prediction_ + sums  # in this order: the last equals `raw_predict`


class GradientBoostingRegressor(RegressorMixin, _Boosting):  # type: ignore[misc]  # noqa: D101 - see _DOC
    _is_classifier = False
    _table = BOOSTING_REGRESSOR
    __doc__ = _DOC.format(
        purpose=" for a numeric target",
        loss='"squared_error"',
        per_class="",
        loss_words="half squared error",
    )

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        growth: str = "leaf",
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        max_bins: int = 255,
        order: int = 1,
        reg_lambda: float = 0.0,
        subsample: float = 1.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.growth = growth
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.order = order
        self.reg_lambda = reg_lambda
        self.subsample = subsample
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _make_loss(self) -> Loss:
        return SquaredError()

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target: float64 (n_samples,)."""
        return self.raw_predict(X)[:, 0]

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the prediction after every round."""
        for raw in self._staged_raw_predict(X):
            yield raw[:, 0]


class GradientBoostingClassifier(ClassifierMixin, _Boosting):  # type: ignore[misc]  # noqa: D101 - see _DOC
    _is_classifier = True
    _table = BOOSTING_CLASSIFIER
    __doc__ = _DOC.format(
        purpose=" for classes",
        loss='"log_loss"',
        per_class=", with more than two classes one for each class",
        loss_words="log loss",
    )

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        growth: str = "leaf",
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        max_bins: int = 255,
        order: int = 1,
        reg_lambda: float = 0.0,
        subsample: float = 1.0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 0.0,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.growth = growth
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.order = order
        self.reg_lambda = reg_lambda
        self.subsample = subsample
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _make_loss(self) -> Loss:
        self.n_classes_ = len(self.classes_)
        return _log_loss(self.n_classes_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return raw predictions: log odds (n_samples,) for two classes, else (n_samples, n_classes)."""
        raw = self.raw_predict(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities: float64 (n_samples, n_classes), in the order of `classes_`."""
        raw = self.raw_predict(X)
        return _log_loss(self.n_classes_).probabilities(raw)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the most probable class, the first one on a tie."""
        return self._labels(self.predict_proba(X))

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the class probabilities after every round."""
        for raw in self._staged_raw_predict(X):
            yield _log_loss(self.n_classes_).probabilities(raw)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predicted classes after every round."""
        for probabilities in self.staged_predict_proba(X):
            yield self._labels(probabilities)

    def _labels(self, probabilities: NDArray[np.float64]) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[np.argmax(probabilities, axis=1)]
        return labels


def _log_loss(n_classes: int) -> BinaryLogLoss | MultinomialLogLoss:
    return BinaryLogLoss() if n_classes == 2 else MultinomialLogLoss(n_classes)


def _gain_shares(rounds: list[tuple[Tree, ...]], n_features: int) -> NDArray[np.float64]:
    gains = [total_gains(tree, n_features, by_weight=False) for trees in rounds for tree in trees]
    total = np.sum(gains, axis=0) if gains else np.zeros(n_features)
    return total / total.sum() if total.sum() > 0 else total
