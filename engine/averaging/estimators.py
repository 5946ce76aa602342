"""`AveragingClassifier` and `AveragingRegressor`: the mean of what any models say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from engine import dtypes, parallel
from engine.averaging.parameters import AVERAGING_CLASSIFIER, AVERAGING_REGRESSOR
from engine.base import ProbabilityClassifier, TrainingData, begin_fit, begin_validation, check_X, draw_seed
from engine.composition import Composition, Tasks, constant_of, mean_importances, target_of
from engine.errors import DataError, ParameterError
from engine.features import FeatureSpec, is_frame
from engine.monitor import NULL_MONITOR, FitMonitor
from engine.other_learners import Rows, fit_learner, seeded
from engine.parameters import check_before_fit
from engine.said import said_of_classes, said_of_numbers
from engine.stacking.defaults import default_bases

_DOC = """The mean of the answers of several models, weighted on request.

    Parameters
    ----------
    estimators : list of (str, estimator) or None, default None
        The models with a name each; None is k nearest neighbours and a support vector machine.
    weights : sequence of float or None, default None
        How much each model counts, from 0, in the order of `estimators`; None: all the same.{voting}
    prefit : bool, default False
        The models are fitted already, and taken as they are: `fit` learns from the table what its columns
        and classes are, and nothing else. Models fitted on some of a frame's columns are given just those.
        False: each is fitted here, as a copy, on all rows; seeds that are set stay.
    n_jobs : int or None, default None
        Threads; the model has the same bits for any number.
    random_state : None, int or generator

    Attributes
    ----------
    estimators_ : list of fitted estimators
        In the order of `estimators`, all of them unless stopped. Fitted here, they know classes by number.
    baseline_ : float64 (n_classes,) or (1,)
        Class shares or mean: what is answered where a stop came before any model was there.
    feature_importances_ : float64 (n_features,)
        Weighted mean over the models; only where all have importances of all columns.
    features_ : tuple of FeatureSpec{classes}
    seed_ : int
    stopped_ : bool
        A monitor ended the fit early; the average is of the models fitted so far.
    """


class _Averaging(Composition):
    _table: tuple[Any, ...]
    classes_: NDArray[Any]
    weights: Any
    prefit: bool
    n_jobs: Any
    random_state: Any
    voting = "soft"

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None, monitor: FitMonitor | None = None,
    ) -> Self:  # fmt: skip
        """Fit the models; it may end early and is usable all the same.

        Parameters
        ----------
        X : DataFrame or array-like (n_samples, n_features)
            A frame goes to the models as it is.
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional
        X_val, y_val, sample_weight_val
            As X, y and sample_weight; checked and otherwise not used.
        monitor : FitMonitor, optional
            Told of every model, and every 30 ms in between; True stops.

        Raises
        ------
        ParameterError
            A hyperparameter is outside its documented range, or the validation part is not whole.
        DataError
            X, y or the weights do not fit; see `engine.base.begin_fit`.
        """
        check_before_fit(self, self._table)
        named = self._named()
        self._check_weights(len(named))
        data = begin_fit(self, X, y, sample_weight, is_classifier=self._is_classifier)
        begin_validation(self, X_val, y_val, sample_weight_val, data)
        self.seed_, self.baseline_ = draw_seed(self.random_state), constant_of(data)
        self.stopped_ = False
        if self.prefit:
            self._take([model for _, model in named])
        else:
            self._fit_all(named, X, data, monitor or NULL_MONITOR)
        self._average_importances()
        return self

    def _check_weights(self, n_models: int) -> None:
        if self.weights is not None and (len(self.weights) != n_models or not sum(self.weights) > 0):
            raise ParameterError(
                f"weights is {self.weights!r} for {n_models} models; enter one number from 0 for each, not "
                "all 0, or None"
            )

    def _fit_all(
        self, named: Sequence[tuple[str, Any]], X: Any, data: TrainingData, monitor: FitMonitor
    ) -> None:
        rows = X.iloc[data.rows] if is_frame(X) else data.X
        y, weights = target_of(data), data.sample_weight if data.is_weighted else None

        def fit(model: int, told: FitMonitor) -> Any:
            learner = seeded(named[model][1], self.seed_, model, only_open=True)
            return fit_learner(learner, rows, y, weights, told)

        tasks = Tasks(monitor, [name for name, _ in named], range(len(named)))
        self.estimators_ = list(tasks.run(fit, self.n_jobs))
        self.stopped_ = tasks.is_stopped and (
            len(self.estimators_) < len(named) or any(getattr(m, "stopped_", False) for m in self.estimators_)
        )

    def _take(self, models: list[Any]) -> None:
        """Take fitted models as they are; their classes become ours too."""
        for model in models:
            check_is_fitted(model)
        self.estimators_ = models
        if not self._is_classifier:
            return
        theirs = [label for model in models for label in np.asarray(model.classes_).tolist()]
        ours = self.classes_.tolist()
        if all(label in ours for label in theirs):
            return
        try:
            self.classes_ = np.unique(np.array(ours + theirs, self.classes_.dtype))
        except (TypeError, ValueError):
            raise DataError(
                f"the models' classes are not of the type of y's, {ours}; average models of one target"
            ) from None
        baseline = np.zeros(len(self.classes_))
        baseline[[self.classes_.tolist().index(label) for label in ours]] = self.baseline_
        self.baseline_ = baseline

    def _average_importances(self) -> None:
        self.__dict__.pop("feature_importances_", None)
        found = mean_importances(self.estimators_, self.n_features_in_, self._shares())
        if found is not None:
            self.feature_importances_ = found

    def _shares(self) -> NDArray[np.float64]:
        """Return how much each model that is there counts: float64 (n_models,), adding up to 1."""
        n_models = len(self.estimators_)
        weights = np.ones(n_models) if self.weights is None else np.array(self.weights[:n_models], np.float64)
        total = weights.sum()
        return np.asarray(weights / total if total > 0 else np.full(n_models, 1 / max(n_models, 1)))

    def _places_of(self, model: Any) -> NDArray[np.intp]:
        """Return the columns of a model's own classes."""
        if not self.prefit:
            return np.asarray(model.classes_, np.intp)
        ours = self.classes_.tolist()
        return np.array([ours.index(label) for label in np.asarray(model.classes_).tolist()], np.intp)

    def _values_of(self, model: Any, rows: Rows) -> NDArray[np.float64]:
        features = self.features_
        if self.prefit and hasattr(model, "feature_names_in_") and hasattr(self, "feature_names_in_"):
            rows, features = self._columns_of(model, rows)
        if not self._is_classifier:
            return said_of_numbers(model, rows, features)[:, np.newaxis]
        places, n_classes = self._places_of(model), len(self.classes_)
        return said_of_classes(model, rows, features, places, n_classes, is_hard=self.voting == "hard")

    def _columns_of(self, model: Any, rows: Rows) -> tuple[Rows, tuple[FeatureSpec, ...]]:
        """Return the columns that a fitted model knows, in its order."""
        names = list(model.feature_names_in_)
        known = [spec.name for spec in self.features_]
        at = [known.index(name) for name in names]
        given = None if rows.given is None else rows.given[names]
        return Rows(dtypes.as_input(rows.encoded[:, at]), given), tuple(self.features_[i] for i in at)

    def _mean_values(self, rows: Rows) -> NDArray[np.float64]:
        n_rows = len(rows.encoded)
        if not self.estimators_:
            return np.tile(self.baseline_, (n_rows, 1))
        sums = np.zeros((n_rows, len(self.baseline_)))
        found = parallel.map_tasks(lambda model: self._values_of(model, rows), self.estimators_, self.n_jobs)
        for share, values in zip(self._shares(), found, strict=True):
            sums += share * values
        return sums

    def _answer(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "estimators_")
        return self._mean_values(Rows.of(X, check_X(self, X)))

    def encoded_answer(self, table: NDArray[Any]) -> NDArray[np.float64]:
        """Return probabilities or predictions of an encoded table: float64 (n_rows, n_classes or 1).

        Raises
        ------
        DataError
            A model that is not of this package was fitted on a frame.
        """
        is_of_frame = hasattr(self, "feature_names_in_")
        return self._mean_values(Rows(table, None if is_of_frame else table))

    def _default_estimators(self) -> list[tuple[str, Any]]:
        return default_bases(is_classification=self._is_classifier)


class AveragingClassifier(ProbabilityClassifier, _Averaging):  # noqa: D101 - set below
    _is_classifier = True
    _table = AVERAGING_CLASSIFIER
    __doc__ = _DOC.format(
        voting='\n    voting : "soft" or "hard", default "soft"\n'
        "        soft: the mean of the models' probabilities. hard: each model has one vote.",
        classes="\n    classes_ : ndarray (n_classes,)\n        With `prefit` those of y and of all models.",
    )

    def __init__(
        self, estimators: Any = None, *, weights: Any = None, voting: str = "soft", prefit: bool = False,
        n_jobs: int | None = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimators = estimators
        self.weights = weights
        self.voting = voting
        self.prefit = prefit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the models' mean probabilities, or shares of votes: float64 (n_samples, n_classes)."""
        return self._answer(X)


class AveragingRegressor(RegressorMixin, _Averaging):  # type: ignore[misc]  # noqa: D101 - set below
    _is_classifier = False
    _table = AVERAGING_REGRESSOR
    __doc__ = _DOC.format(voting="", classes="")

    def __init__(
        self, estimators: Any = None, *, weights: Any = None, prefit: bool = False, n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimators = estimators
        self.weights = weights
        self.prefit = prefit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean prediction: float64 (n_samples,)."""
        return self._answer(X)[:, 0]
