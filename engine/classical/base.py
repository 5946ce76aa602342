"""What the classical models share: estimators fitted on prepared columns, and what they answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline

from engine.base import Learner, TrainingData, begin_fit, begin_validation, check_X, draw_seed
from engine.classical.columns import PreparedColumns
from engine.export.model_check import require
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch
from engine.parameters import Parameter, check_parameters

Floats = NDArray[np.float64]
CHUNK_ROWS = 16384  # prepared columns of so many rows stand in memory at a time

MODEL, COLUMNS = "model", "columns"  # steps of the pipeline


class ClassicalModel(Learner):
    """A model that is not made of trees: a pipeline of prepared columns and an estimator.

    A subclass says which estimator `_make_model` makes. Its fit cannot be asked to stop: who wants to be
    able to end it lets it run in a process of its own.
    """

    combination = "rows"
    _is_classifier: bool
    _table: tuple[Parameter, ...]
    class_weight: Any = None

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None, monitor: FitMonitor | None = None,
    ) -> Self:  # fmt: skip
        """Fit the model.

        ``monitor.on_iteration(event)`` is called in this thread before and after the fit proper, which
        cannot be stopped; stopped before it, the model answers what is right for no row in particular: the
        class shares, or the mean. A validation part is checked and otherwise not used.

        Parameters
        ----------
        X : DataFrame or array-like (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional
        X_val, y_val, sample_weight_val
            As X, y and sample_weight.
        monitor : FitMonitor, optional

        Raises
        ------
        ParameterError
            A hyperparameter is outside its documented range or does not go with the table, or the
            validation part is not whole.
        DataError
            X, y or the weights do not fit; see `engine.base.begin_fit`.
        """
        self._check_parameters()
        data = begin_fit(
            self, X, y, sample_weight, is_classifier=self._is_classifier, class_weight=self.class_weight
        )
        begin_validation(self, X_val, y_val, sample_weight_val, data)
        if hasattr(self, "random_state"):
            self.seed_ = draw_seed(self.random_state)
        watch, monitor = Stopwatch(), monitor or NULL_MONITOR
        self.stopped_ = monitor.on_iteration(IterationEvent("fitting"))
        if self.stopped_ or len(np.unique(data.y)) == 1:
            self.pipeline_ = self._constant(data)
        else:
            self.pipeline_ = self._fitted(data, monitor)
        if not self.stopped_:
            monitor.on_iteration(IterationEvent("fitting", fraction=1.0, elapsed_s=watch.elapsed_s))
        return self

    def _check_parameters(self) -> None:
        """Raise ParameterError of the first hyperparameter outside its range; some are checked when used."""
        later = {"random_state"} | ({"class_weight"} if isinstance(self.class_weight, Mapping) else set())
        check_parameters(self, [parameter for parameter in self._table if parameter.name not in later])

    def _constant(self, data: TrainingData) -> Pipeline:
        model = DummyClassifier(strategy="prior") if self._is_classifier else DummyRegressor()
        return Pipeline([(MODEL, model.fit(data.X, data.y, data.sample_weight))])

    def _fitted(self, data: TrainingData, _monitor: FitMonitor) -> Pipeline:
        pipeline = Pipeline([(COLUMNS, self._make_columns(data)), (MODEL, self._make_model(data))])
        weights = {f"{step}__sample_weight": data.sample_weight for step in (COLUMNS, MODEL)}
        return pipeline.fit(data.X, data.y, **weights)

    def _make_columns(self, data: TrainingData) -> Any:
        return PreparedColumns([len(spec.levels or ()) for spec in data.features])

    def _make_model(self, data: TrainingData) -> Any:
        raise NotImplementedError

    def encoded_answer(self, table: NDArray[Any]) -> Floats:
        """Return class probabilities or predictions of an encoded table: float64 (n_rows, n_classes or 1)."""
        steps = [self._answer(table[at : at + CHUNK_ROWS]) for at in range(0, len(table), CHUNK_ROWS)]
        return np.concatenate(steps) if len(steps) != 1 else steps[0]

    def check_parts(self) -> None:
        """Check that a loaded model fits together.

        Raises
        ------
        DataError
            It does not.
        """
        pipeline, steps = self.pipeline_, [MODEL]
        require(isinstance(pipeline, Pipeline), "its pipeline is missing")
        if len(pipeline.steps) > 1:
            steps = [COLUMNS, MODEL]
        require([name for name, _ in pipeline.steps] == steps, "its pipeline has other steps")
        from engine.classical.checks import check_fitted_parts  # which knows the models

        check_fitted_parts(pipeline, self.features_)
        answer = self.encoded_answer(np.zeros((1, len(self.features_))))
        n_answers = len(self.classes_) if self._is_classifier else 1
        require(answer.shape == (1, n_answers) and np.isfinite(answer).all(), "it answers nothing")

    def _answer(self, table: NDArray[Any]) -> Floats:
        raise NotImplementedError


class ClassicalClassifier(ClassifierMixin, ClassicalModel):  # type: ignore[misc]
    """A classical model of classes."""

    _is_classifier = True

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, columns as `classes_`: float64 (n_samples, n_classes)."""
        return self.encoded_answer(check_X(self, X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class, the first on a tie: (n_samples,)."""
        codes = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[codes])

    def _answer(self, table: NDArray[Any]) -> Floats:
        known = self.pipeline_[-1].classes_.astype(np.intp)
        shares = np.zeros((len(table), len(self.classes_)))  # classes without a training row keep their 0
        shares[:, known] = self.pipeline_.predict_proba(table)
        return shares


class ClassicalRegressor(RegressorMixin, ClassicalModel):  # type: ignore[misc]
    """A classical model of numbers."""

    _is_classifier = False

    def predict(self, X: Any) -> Floats:
        """Return the predicted numbers: float64 (n_samples,)."""
        return self.encoded_answer(check_X(self, X))[:, 0]

    def _answer(self, table: NDArray[Any]) -> Floats:
        return np.asarray(self.pipeline_.predict(table), np.float64).reshape(-1, 1)
