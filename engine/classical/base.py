"""What the classical models share: estimators fitted on prepared columns, and what they answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from engine import apart, pieces
from engine.base import Learner, TrainingData, begin_fit, begin_validation, check_X, draw_seed
from engine.classical.columns import PreparedColumns
from engine.classical.fitting import fit_pipeline
from engine.classical.pace import rows_at_once, work_of_row
from engine.dtypes import UNSEEN_LEVEL
from engine.errors import DataError, FitStopped
from engine.export.model_check import require
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch
from engine.parameters import Parameter, check_before_fit
from engine.predict import as_votes

Floats = NDArray[np.float64]

MODEL, COLUMNS = "model", "columns"  # steps of the pipeline


class ClassicalModel(Learner):
    """A model that is not made of trees: a pipeline of prepared columns and an estimator.

    A subclass says which estimator `_make_model` makes. Its fit cannot be asked to stop: who wants to be
    able to end it gives it a place of its own, see `engine.apart`.
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

        ``monitor.on_iteration(event)`` is called in this thread before and after the fit proper, and all the
        time where that runs in a place of its own (`engine.apart.use`): elsewhere it cannot be stopped. A
        stopped model answers what is right for no row in particular: the class shares, or the mean. A
        validation part is checked and otherwise not used.

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
        WorkLost
            The place of its own is gone, with the fit.
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
            self.pipeline_ = self._fitted_or_constant(data, monitor)
        if not self.stopped_:
            monitor.on_iteration(IterationEvent("fitting", fraction=1.0, elapsed_s=watch.elapsed_s))
        return self

    def _check_parameters(self) -> None:
        """Raise ParameterError of the first hyperparameter outside its range; some are checked when used."""
        check_before_fit(self, self._table)

    def _constant(self, data: TrainingData) -> Pipeline:
        model = DummyClassifier(strategy="prior") if self._is_classifier else DummyRegressor()
        return Pipeline([(MODEL, model.fit(data.X, self._target(data), data.sample_weight))])

    def _fitted_or_constant(self, data: TrainingData, monitor: FitMonitor) -> Pipeline:
        try:
            return self._fitted(data, monitor)
        except FitStopped:
            self.stopped_ = True
            return self._constant(data)
        except apart.WorkLost as error:
            raise apart.WorkLost(f"the fit of a {type(self).__name__} is lost: {error}") from error

    def _fitted(self, data: TrainingData, monitor: FitMonitor) -> Pipeline:
        steps = [(COLUMNS, self._make_columns(data)), (MODEL, self._make_model(data))]
        pipeline = Pipeline([(name, step) for name, step in steps if step is not None])
        fit = partial(fit_pipeline, pipeline, data.X, self._target(data), data.sample_weight)
        return apart.run(fit, monitor)

    def _note_early_end(self, n_steps: int, cure: str) -> None:
        """Note that the solver ran out of steps; scikit-learn's own warning has no one to read it."""
        note = f"the solver was not done after {n_steps:,} step{'s' * (n_steps != 1)}; {cure}"
        self.notes_: tuple[str, ...] = (*self.notes_, note)

    def _target(self, data: TrainingData) -> NDArray[Any]:
        raise NotImplementedError

    def _make_columns(self, data: TrainingData) -> Any:
        return PreparedColumns([len(spec.levels or ()) for spec in data.features])

    def _make_model(self, data: TrainingData) -> Any:
        raise NotImplementedError

    def encoded_answer(self, table: NDArray[Any]) -> Floats:
        """Return class probabilities or predictions of an encoded table: float64 (n_rows, n_classes or 1)."""
        return self._in_steps(self._answer, table)

    def _in_steps(self, answer: Callable[[NDArray[Any]], Floats], table: NDArray[Any]) -> Floats:
        """Answer by pieces; raises FitStopped where it is not wanted any more, see `engine.pieces`."""
        work = self._work_of_row()
        n_rows, steps = rows_at_once(work), []
        for at in range(0, len(table), n_rows):
            pieces.ask_whether_to_go_on(work * min(n_rows, len(table) - at))
            steps.append(answer(table[at : at + n_rows]))
        return np.concatenate(steps) if len(steps) != 1 else steps[0]

    def _work_of_row(self) -> float:
        """Return about how many products a row's answer takes; see `engine.classical.pace`."""
        return work_of_row(self.pipeline_[-1])

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

        n_classes, table = (len(self.classes_) if self._is_classifier else 0), self._odd_rows()
        try:
            check_fitted_parts(pipeline, self.features_, n_classes)
            answer = self.encoded_answer(table)
        except DataError:
            raise
        except Exception as error:  # a part that is of another kind fails in any way
            why = f"it cannot answer ({type(error).__name__})"
            raise DataError(f"the model file is damaged: {why}; export the model again") from None
        is_whole = answer.shape == (len(table), max(n_classes, 1)) and np.isfinite(answer).all()
        require(is_whole, "it answers nothing")

    def _odd_rows(self) -> Floats:
        """Return rows that go every way through a model: zeros, gaps, levels nobody saw, far numbers."""
        is_number = np.array([spec.levels is None for spec in self.features_], bool)
        table = np.zeros((4, len(self.features_)))
        table[1] = np.nan
        table[2], table[3] = np.where(is_number, 1e300, UNSEEN_LEVEL), np.where(is_number, -1e300, 0)
        return table

    def _answer(self, table: NDArray[Any]) -> Floats:
        raise NotImplementedError


def _tells_probabilities(model: Any) -> bool:
    return bool(model.has_probabilities)


def _tells_decisions(model: Any) -> bool:
    return not model.has_probabilities


class ClassicalClassifier(ClassifierMixin, ClassicalModel):  # type: ignore[misc]
    """A classical model of classes."""

    _is_classifier = True

    @property
    def has_probabilities(self) -> bool:
        """It tells probabilities; else `encoded_answer` has 1 for the class that it names."""
        return True

    @available_if(_tells_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities, columns as `classes_`: float64 (n_samples, n_classes)."""
        return self.encoded_answer(check_X(self, X))

    @available_if(_tells_decisions)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Return decision values, the largest one's class is predicted: float64 (n_samples, n_classes).

        Of two classes those of the second, (n_samples,). A class without a training row has -infinity.
        """
        values = self.encoded_decisions(check_X(self, X))
        return values[:, 1] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class, the first on a tie: (n_samples,)."""
        codes = np.argmax(self.encoded_answer(check_X(self, X)), axis=1)
        return np.asarray(self.classes_[codes])

    def encoded_decisions(self, table: NDArray[Any]) -> Floats:
        """Return decision values of an encoded table: float64 (n_rows, n_classes)."""
        return self._in_steps(self._decisions, table)

    def _target(self, data: TrainingData) -> NDArray[Any]:
        return data.y.astype(np.int64)

    def _answer(self, table: NDArray[Any]) -> Floats:
        if self.has_probabilities:
            shares = np.zeros((len(table), len(self.classes_)))  # classes without a training row keep 0
            shares[:, self._known()] = self.pipeline_.predict_proba(table)
            return shares
        return as_votes(self._decisions(table))

    def _known(self) -> NDArray[np.intp]:
        """Return which classes have training rows."""
        return np.asarray(self.pipeline_[-1].classes_, np.intp)

    def _decisions(self, table: NDArray[Any]) -> Floats:
        known, values = self._known(), np.full((len(table), len(self.classes_)), -np.inf)
        if not hasattr(self.pipeline_[-1], "decision_function"):  # a constant
            values[:, known] = self.pipeline_.predict_proba(table)
            return values
        given = self.pipeline_.decision_function(table)
        values[:, known] = np.column_stack([-given, given]) if given.ndim == 1 else given
        return values


class ClassicalRegressor(RegressorMixin, ClassicalModel):  # type: ignore[misc]
    """A classical model of numbers."""

    _is_classifier = False
    _scales_target = False  # to mean 0 and standard deviation 1 for the fit

    def _target(self, data: TrainingData) -> NDArray[Any]:
        self.target_centre_, self.target_spread_ = 0.0, 1.0
        if self._scales_target:
            unit = float(np.abs(data.y).max()) or 1.0
            mean = float(np.average(data.y / unit, weights=data.sample_weight))
            squares = np.average((data.y / unit - mean) ** 2, weights=data.sample_weight)
            self.target_centre_ = mean * unit
            self.target_spread_ = float(np.sqrt(squares)) * unit or 1.0
        return np.asarray((data.y - self.target_centre_) / self.target_spread_)

    def predict(self, X: Any) -> Floats:
        """Return the predicted numbers: float64 (n_samples,)."""
        return self.encoded_answer(check_X(self, X))[:, 0]

    def _answer(self, table: NDArray[Any]) -> Floats:
        said = np.asarray(self.pipeline_.predict(table), np.float64).reshape(-1, 1)
        return said * self.target_spread_ + self.target_centre_
