"""Gradient boosting on binned columns: `GradientBoostingClassifier` and `GradientBoostingRegressor`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from engine.base import (
    Learner,
    ProbabilityClassifier,
    TrainingData,
    begin_fit,
    begin_validation,
    check_X,
    draw_seed,
)
from engine.boosting.any_learner import booster_of, check_learner, sum_of_values
from engine.boosting.checks import as_earlier, check_order, check_same, fitted_of
from engine.boosting.documentation import CLASSIFIER_DOC, REGRESSOR_DOC
from engine.boosting.early_stopping import EarlyStopping, set_aside, validation_score
from engine.boosting.grown import HESSIAN, WEIGHT, GrowSettings
from engine.boosting.importances import round_importances
from engine.boosting.link import answer
from engine.boosting.losses import Loss, class_loss
from engine.boosting.numeric_losses import number_loss
from engine.boosting.parameters import BOOSTING_CLASSIFIER, BOOSTING_REGRESSOR
from engine.boosting.rounds import Booster, RoundSettings
from engine.boosting.start import is_model, start_raw
from engine.errors import DataError, ParameterError
from engine.monitor import NULL_MONITOR, FitMonitor
from engine.other_learners import Rows
from engine.parameters import check_parameters
from engine.tree.directions import check_directions, directions_of
from engine.tree.estimators import check_target
from engine.tree.growth_rules import count_features

Floats = NDArray[np.float64]


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
        earlier = fitted_of(self)
        training, validation = self._begin(X, y, sample_weight, (X_val, y_val, sample_weight_val))
        check_same(self, earlier, training)
        loss = self._make_loss(training, validation)
        make_booster = booster_of(self, X, X_val)
        return self._fit(make_booster, loss, training, validation, monitor or NULL_MONITOR, earlier)

    def _make_loss(self, training: TrainingData, validation: TrainingData | None) -> Loss:
        raise NotImplementedError

    def _fit(
        self, make_booster: Callable[..., Booster], loss: Loss, training: TrainingData,
        validation: TrainingData | None, monitor: FitMonitor, earlier: dict[str, Any] | None,
    ) -> Self:  # fmt: skip
        self.seed_ = draw_seed(self.random_state) if earlier is None else earlier["seed_"]
        if validation is None and self.early_stopping:
            training, validation = set_aside(training, self.validation_fraction, self.seed_)
        stopping = EarlyStopping(self.n_iter_no_change, self.tol) if self.early_stopping else None
        score = None
        if validation is not None and self.scoring != "loss":
            score = partial(validation_score, self, self.scoring, validation)
        booster = make_booster(
            loss, training, validation, self._settings(loss, training), monitor, stopping, score,
            as_earlier(self, earlier),
        )  # fmt: skip
        booster.so_far = partial(copy.copy(self)._so_far, booster)
        booster.run()
        self.stopped_ = booster.stopped
        if earlier is not None and len(booster.rounds) < earlier["n_estimators_"]:
            return self  # stopped before anything was added
        self.baseline_prediction_, self.init_ = booster.baseline, booster.init
        n_kept = min(stopping.best_round, len(booster.rounds)) if stopping else len(booster.rounds)
        self._keep(n_kept, booster.rounds, *booster.curves)
        return self

    def _so_far(self, booster: Booster, n_rounds: int) -> Self:
        """Return the model of the first rounds while more are grown."""
        made = copy.copy(self)
        made.baseline_prediction_, made.init_, made.stopped_ = booster.baseline, booster.init, True
        made._keep(n_rounds, booster.rounds, *booster.curves)
        return made

    def _settings(self, loss: Loss, training: TrainingData) -> RoundSettings:
        is_plain = not training.is_weighted
        grow = GrowSettings(
            growth=self.growth,
            max_leaf_nodes=self.max_leaf_nodes,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            order=self.order,
            reg_lambda=float(self.reg_lambda),
            leaf_factor=loss.leaf_factor if self.leaf_update == "per_leaf" else 1.0,
            counts_are_hessians=is_plain and (self.order == 1 or loss.has_constant_hessian),
            n_jobs=self.n_jobs,
            reg_alpha=float(self.reg_alpha),
            gamma=float(self.gamma),
            min_child_weight=float(self.min_child_weight),
            max_features=count_features(self.max_features, training.n_features),
            directions=directions_of(self, training.features),
            leaf_curvature=WEIGHT if self.leaf_update == "per_tree" else HESSIAN,
        )
        return RoundSettings(
            n_estimators=self.n_estimators,
            learning_rate=float(self.learning_rate),
            max_bins=self.max_bins,
            subsample=float(self.subsample),
            seed=self.seed_,
            grow=grow,
            init=self.init,
            leaf_update=self.leaf_update,
            colsample_bytree=float(self.colsample_bytree),
            categorical=self.categorical,
        )

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, validation: tuple[Any, Any, Any]
    ) -> tuple[TrainingData, TrainingData | None]:
        """Check the parameters and both tables."""
        own = {"init": is_model(self.init), "scoring": callable(self.scoring)}
        check_parameters(self, [parameter for parameter in self._table if not own.get(parameter.name)])
        check_order(self)
        check_learner(self, self._table)
        training = begin_fit(self, X, y, sample_weight, is_classifier=self._is_classifier)
        check_directions(self, training)
        return training, begin_validation(self, *validation, training)

    def _keep(
        self, n_kept: int, rounds: list[tuple[Any, ...]], train_loss: Floats, val_loss: Floats,
        val_score: Floats, steps: Floats,
    ) -> None:  # fmt: skip
        """Set what depends on the rounds to the first `n_kept` of them."""
        self.estimators_ = rounds[:n_kept]
        self.n_estimators_ = n_kept
        self.train_loss_, self.val_loss_ = train_loss[: n_kept + 1], val_loss[: n_kept + 1]
        self.val_score_, self.steps_ = val_score[: n_kept + 1], steps[:n_kept]
        after = -self.val_score_[1:] if len(self.val_score_) else self.val_loss_[1:]
        has_best = len(after) > 0 and not np.all(np.isnan(after))
        self.best_round_ = int(np.nanargmin(after)) + 1 if has_best else n_kept
        first = self.init_ if isinstance(self.init_, tuple) else ()
        shares = round_importances(self.estimators_, first, self.train_loss_, self.n_features_in_)
        if shares is not None:
            self.feature_importances_ = shares
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
        if not 0 <= n_rounds <= self.n_estimators_:
            raise ParameterError(f"n_rounds is {n_rounds!r}; the model has {self.n_estimators_} rounds")
        cut = copy.copy(self)
        curves = (self.train_loss_, self.val_loss_, self.val_score_, self.steps_)
        cut._keep(int(n_rounds), self.estimators_, *curves)
        return cut

    def raw_predict(self, X: Any) -> NDArray[np.float64]:
        """Return baseline plus trees, or other learners: float64 (n_samples, n_raw)."""
        encoded = check_X(self, X)
        raw, rows = start_raw(self, encoded, self.n_jobs), Rows.of(X, encoded)
        for k in range(raw.shape[1] if self.estimators_ else 0):
            raw[:, k] += sum_of_values([members[k] for members in self.estimators_], rows, self.n_jobs)
        return raw

    def _staged_raw_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        encoded = check_X(self, X)
        start, rows = start_raw(self, encoded, self.n_jobs), Rows.of(X, encoded)
        sums = np.zeros(start.shape)
        for members in self.estimators_:
            for k, member in enumerate(members):
                sums[:, k] += sum_of_values([member], rows, self.n_jobs)
            yield start + sums  # in this order: the last equals `raw_predict`

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags


class GradientBoostingRegressor(RegressorMixin, _Boosting):  # type: ignore[misc]  # noqa: D101 - set below
    _is_classifier = False
    _table = BOOSTING_REGRESSOR
    __doc__ = REGRESSOR_DOC

    def __init__(
        self, *, loss: str = "squared_error", n_estimators: int = 100, learning_rate: float = 0.1,
        growth: str = "leaf", max_leaf_nodes: int | None = 31, max_depth: int | None = None,
        min_samples_leaf: int = 20, max_bins: int = 255, order: int = 1, reg_lambda: float = 0.0,
        subsample: float = 1.0, early_stopping: bool = False, validation_fraction: float = 0.1,
        n_iter_no_change: int = 10, tol: float = 0.0, categorical_features: Any = "from_dtype",
        n_jobs: int | None = None, random_state: Any = None, leaf_update: str = "per_leaf",
        reg_alpha: float = 0.0, gamma: float = 0.0, min_child_weight: float = 0.0,
        colsample_bytree: float = 1.0, max_features: Any = None, monotonic_cst: Any = None,
        init: Any = "constant", warm_start: bool = False, scoring: Any = "loss", alpha: float = 0.9,
        estimator: Any = None, categorical: str = "partition",
    ) -> None:  # fmt: skip
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
        self.leaf_update = leaf_update
        self.reg_alpha = reg_alpha
        self.gamma = gamma
        self.min_child_weight = min_child_weight
        self.colsample_bytree = colsample_bytree
        self.max_features = max_features
        self.monotonic_cst = monotonic_cst
        self.init = init
        self.warm_start = warm_start
        self.scoring = scoring
        self.alpha = alpha
        self.estimator = estimator
        self.categorical = categorical

    def _make_loss(self, training: TrainingData, validation: TrainingData | None) -> Loss:
        check_target(training, self.loss, "loss")
        if self.loss == "poisson" and validation is not None and np.any(validation.y < 0):
            raise DataError(
                f"loss 'poisson' counts events, but y_val goes down to {validation.y.min():g}; use loss "
                "'squared_error'"
            )
        return number_loss(self.loss, float(self.alpha))

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the target: float64 (n_samples,)."""
        return answer(self, self.raw_predict(X))[:, 0]

    def staged_predict(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the prediction after every round."""
        for raw in self._staged_raw_predict(X):
            yield answer(self, raw)[:, 0]


class GradientBoostingClassifier(ProbabilityClassifier, _Boosting):  # noqa: D101 - set below
    _is_classifier = True
    _table = BOOSTING_CLASSIFIER
    __doc__ = CLASSIFIER_DOC

    def __init__(
        self, *, loss: str = "log_loss", n_estimators: int = 100, learning_rate: float = 0.1,
        growth: str = "leaf", max_leaf_nodes: int | None = 31, max_depth: int | None = None,
        min_samples_leaf: int = 20, max_bins: int = 255, order: int = 1, reg_lambda: float = 0.0,
        subsample: float = 1.0, early_stopping: bool = False, validation_fraction: float = 0.1,
        n_iter_no_change: int = 10, tol: float = 0.0, categorical_features: Any = "from_dtype",
        n_jobs: int | None = None, random_state: Any = None, leaf_update: str = "per_leaf",
        reg_alpha: float = 0.0, gamma: float = 0.0, min_child_weight: float = 0.0,
        colsample_bytree: float = 1.0, max_features: Any = None, monotonic_cst: Any = None,
        init: Any = "constant", warm_start: bool = False, scoring: Any = "loss", estimator: Any = None,
        categorical: str = "partition",
    ) -> None:  # fmt: skip
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
        self.leaf_update = leaf_update
        self.reg_alpha = reg_alpha
        self.gamma = gamma
        self.min_child_weight = min_child_weight
        self.colsample_bytree = colsample_bytree
        self.max_features = max_features
        self.monotonic_cst = monotonic_cst
        self.init = init
        self.warm_start = warm_start
        self.scoring = scoring
        self.estimator = estimator
        self.categorical = categorical

    def _make_loss(self, training: TrainingData, validation: TrainingData | None) -> Loss:
        self.n_classes_ = len(self.classes_)
        if self.loss == "exponential" and self.n_classes_ > 2:
            raise ParameterError(
                f"loss is 'exponential' but there are {self.n_classes_} classes; it knows two: set "
                "loss='log_loss'"
            )
        return class_loss(self.loss, self.n_classes_)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return raw predictions: log odds (n_samples,) for two classes, else (n_samples, n_classes).

        By exponential loss they are half the log odds.
        """
        return _one_column(self.raw_predict(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return class probabilities: float64 (n_samples, n_classes), in the order of `classes_`."""
        return answer(self, self.raw_predict(X))

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the class probabilities after every round."""
        for raw in self._staged_raw_predict(X):
            yield answer(self, raw)

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the raw predictions after every round; see `decision_function`."""
        for raw in self._staged_raw_predict(X):
            yield _one_column(raw)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predicted classes after every round."""
        for probabilities in self.staged_predict_proba(X):
            yield self._labels(probabilities)


def _one_column(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    return raw[:, 0] if raw.shape[1] == 1 else raw
