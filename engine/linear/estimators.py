"""`PerceptronClassifier`: linear machines that learn from the rows they name wrongly, one after the other."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from engine import dtypes, parallel
from engine.base import Learner, TrainingData, begin_fit, begin_validation, check_X, draw_seed
from engine.export.model_check import require
from engine.export.network_check import check_inputs
from engine.inputs import InputScaling, standardise, tell_preparing
from engine.linear.kernels.perceptron import values_of_rows
from engine.linear.machines import Machines
from engine.linear.parameters import PERCEPTRON_CLASSIFIER
from engine.linear.training import ROWS_PER_CHUNK, Judged, Perceptron, Rows
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch, StopWatcher
from engine.parameters import check_before_fit
from engine.predict import as_votes

PREPARING_SHARE = 0.1  # of the whole fit's progress: the table is standardised

Floats = NDArray[np.float64]


class PerceptronClassifier(ClassifierMixin, Learner):  # type: ignore[misc]
    """Perceptron (Rosenblatt 1958), for more classes the multiclass perceptron (Crammer, Singer 2003).

    The rows are gone through in an order drawn for every epoch. In `direct`, a row whose own class does not
    have the largest value alone is added to the weights of that class and taken from those of the best
    other; in the other schemes each machine of two sides does so for its side. A row of weight w counts as
    w / (largest weight). Two classes have one machine by every scheme. Numbers are standardised, categories
    become one input a level (none for a level that training never saw), missing values the mean and, where
    training had some in the column, an input that says so. There are no probabilities.

    Parameters
    ----------
    multiclass : "direct", "one_vs_all" or "all_vs_all", default "direct"
        With three classes or more: a machine a class, compared with one another; a machine for every class
        against the others; or one for every two classes.
    averaged : bool, default True
        Answer by the mean of the weights after each row, a row counted by its weight (Freund and Schapire
        1999, Collins 2002), not by those after the last.
    max_epochs : int, default 50
        It ends before where an epoch made no mistake and its answers are right on all training rows.
    class_weight : dict, "balanced" or None, default None
    categorical_features : "from_dtype", None or sequence, default "from_dtype"
        See `engine.features.learn_features`.
    n_jobs : int or None, default None
        Threads that answer rows; the model has the same bits for any number.
    random_state : None, int or generator

    Attributes
    ----------
    weights_ : float64 (n_inputs + 1, n_machines)
        Of standardised inputs, the last row of a constant 1; see `engine.linear.machines`.
    present_classes_ : int64 (n_present,)
        Places in `classes_` of those with training rows.
    n_epochs_ : int
        Epochs done.
    mistakes_ : int64 (n_epochs_,)
        Rows of each epoch that changed the weights. Where the classes can be told apart by a margin g, with
        rows no longer than R, all together are at most (R / g) ** 2 for two classes (Novikoff 1962).
    train_loss_, val_loss_ : float64 (n_epochs_ + 1,)
        Share of wrong rows after each epoch, entry 0 before any; `val_loss_` is empty without a validation
        part.
    best_epoch_ : int
        Of the lowest validation loss, the first of equals; the last without a validation part. All epochs
        are kept, whichever is the best.
    why_ended_ : str
        Why it ended before `max_epochs`; "" where it did not, or was stopped.
    classes_ : ndarray (n_classes,)
    features_ : tuple of FeatureSpec
    seed_ : int
    stopped_ : bool
        A monitor ended the fit early; the epochs so far are kept.
    """

    combination = "rows"
    _table = PERCEPTRON_CLASSIFIER
    weights_: Floats
    classes_: NDArray[Any]
    present_classes_: NDArray[np.int64]

    def __init__(
        self, *, multiclass: str = "direct", averaged: bool = True, max_epochs: int = 50,
        class_weight: Any = None, categorical_features: Any = "from_dtype", n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.multiclass = multiclass
        self.averaged = averaged
        self.max_epochs = max_epochs
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def has_probabilities(self) -> bool:
        """It tells none."""
        return False

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None, monitor: FitMonitor | None = None,
    ) -> Self:  # fmt: skip
        """Train the machines; it may end early and is usable all the same.

        ``monitor.on_iteration(event)`` is called in this thread after every epoch and between pieces of one;
        True ends the fit. An epoch cut short is dropped; before the first is done the most frequent class
        is answered.

        Parameters
        ----------
        X : DataFrame or array-like (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional
        X_val, y_val, sample_weight_val
            As X, y and sample_weight; for the validation loss.
        monitor : FitMonitor, optional

        Raises
        ------
        ParameterError
            A hyperparameter is outside its documented range, or the validation part is not whole.
        DataError
            X, y or the weights do not fit; see `engine.base.begin_fit`.
        """
        self._check_parameters()
        training = begin_fit(self, X, y, sample_weight, is_classifier=True, class_weight=self.class_weight)
        validation = begin_validation(self, X_val, y_val, sample_weight_val, training)
        self.seed_ = draw_seed(self.random_state)
        self.present_classes_ = np.unique(training.y).astype(np.int64)
        clock = Stopwatch()
        watcher = StopWatcher(monitor or NULL_MONITOR, IterationEvent("preparing"))
        inputs = standardise(
            training, validation, np.float64, partial(tell_preparing, watcher, clock, PREPARING_SHARE)
        )
        inputs.scaling.keep_in(self)
        perceptron = Perceptron(
            self._rows_of(training, inputs.training),
            None if validation is None else self._rows_of(validation, inputs.validation),
            self._machines, averaged=bool(self.averaged), seed=self.seed_, n_jobs=self.n_jobs,
            watcher=watcher,
        )  # fmt: skip
        self._train(perceptron, watcher, clock)
        return self

    def _check_parameters(self) -> None:
        check_before_fit(self, self._table)
        parallel.resolve_jobs(self.n_jobs)

    def _rows_of(self, data: TrainingData, inputs: NDArray[Any] | None) -> Rows:
        assert inputs is not None
        places = np.full(len(self.classes_), -1, np.int64)
        places[self.present_classes_] = np.arange(len(self.present_classes_))
        return Rows(inputs, dtypes.as_input(places[data.y.astype(np.int64)]), data.sample_weight)

    @property
    def _machines(self) -> Machines:
        return Machines.of(self.multiclass, len(self.present_classes_))

    def _train(self, perceptron: Perceptron, watcher: StopWatcher, clock: Stopwatch) -> None:
        unfinished, why_ended = copy.copy(self), ""
        n_planned = int(self.max_epochs) if len(self.present_classes_) > 1 else 0
        weights, judged = perceptron.start()
        history = [judged]
        while True:
            n_done = len(history) - 1
            if 0 < n_done < n_planned and judged.is_faultless:
                why_ended = f"epoch {n_done} fits all rows"
            is_over = n_done == n_planned or bool(why_ended)
            told = IterationEvent(
                "training", n_done, n_planned, 1.0 if is_over else _share_done(n_done, n_planned),
                clock.elapsed_s, train_loss=_known(judged.train_loss), val_loss=_known(judged.val_loss),
                message=why_ended, so_far=partial(_made, unfinished, weights, history, n_done),
            )  # fmt: skip
            watcher.tell(told)
            epoch = None if is_over or watcher.is_stopped else perceptron.train(n_done + 1)
            if epoch is None:
                break
            weights, judged = epoch
            history.append(judged)
        self._keep(weights, history)
        self.stopped_, self.why_ended_ = watcher.is_stopped and not is_over, why_ended

    def _keep(self, weights: Floats, history: Sequence[Judged]) -> None:
        """Set what is fitted, from what was said of the start and of every epoch."""
        self.weights_, self.n_epochs_ = weights, len(history) - 1
        self.mistakes_ = np.array([judged.n_mistakes for judged in history[1:]], np.int64)
        self.train_loss_ = np.array([judged.train_loss for judged in history])
        losses = np.array([judged.val_loss for judged in history])
        is_validated = bool(np.isfinite(losses).any())
        self.val_loss_ = losses if is_validated else np.empty(0)
        is_ranked = is_validated and self.n_epochs_ > 0
        self.best_epoch_ = int(np.nanargmin(losses[1:])) + 1 if is_ranked else self.n_epochs_

    def encoded_decisions(self, table: NDArray[Any]) -> Floats:
        """Return decision values of an encoded table: float64 (n_rows, n_classes)."""
        scaling, machines = InputScaling.kept_in(self), self._machines
        decisions = np.full((len(table), len(self.classes_)), -np.inf)

        def answer(_chunk_idx: int, start: int, stop: int) -> None:
            inputs, values = np.zeros((stop - start, scaling.n_inputs)), np.empty((stop - start, n_machines))
            scaling.fill(table[start:stop], inputs)
            values_of_rows(dtypes.as_input(inputs), weights, values)
            decisions[start:stop, self.present_classes_] = machines.decisions(values)

        weights, n_machines = dtypes.as_input(self.weights_), self.weights_.shape[1]
        parallel.for_chunks(answer, len(table), ROWS_PER_CHUNK, self.n_jobs)
        return decisions

    def encoded_answer(self, table: NDArray[Any]) -> Floats:
        """Return 1 for the class that each row of an encoded table is of: float64 (n_rows, n_classes)."""
        return as_votes(self.encoded_decisions(table))

    def decision_function(self, X: Any) -> Floats:
        """Return decision values, the largest one's class is predicted: float64 (n_samples, n_classes).

        Of two classes those of the second, (n_samples,). A class without a training row has -infinity.
        """
        values = self.encoded_decisions(check_X(self, X))
        return values[:, 1] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class with the largest decision value, the first on a tie: (n_samples,)."""
        codes = np.argmax(self.encoded_decisions(check_X(self, X)), axis=1)
        return np.asarray(self.classes_[codes])

    def check_parts(self) -> None:
        """Check that a loaded model fits together.

        Raises
        ------
        DataError
            It does not.
        """
        check_inputs(self, require)
        present = self.present_classes_
        require(isinstance(present, np.ndarray) and present.dtype == np.int64, "its classes have no rows")
        is_rising = present.ndim == 1 and len(present) > 0 and np.all(np.diff(present) > 0)
        require(is_rising and 0 <= present[0] <= present[-1] < len(self.classes_), "a class is unknown")
        weights = self.weights_
        require(isinstance(weights, np.ndarray) and weights.dtype == np.float64, "it has no weights")
        shape = (InputScaling.kept_in(self).n_inputs + 1, self._machines.signs.shape[1])
        require(weights.shape == shape and np.isfinite(weights).all(), "its weights are not whole")


def _share_done(n_done: int, n_planned: int) -> float:
    return PREPARING_SHARE + (1 - PREPARING_SHARE) * n_done / n_planned


def _known(loss: float) -> float | None:
    return None if math.isnan(loss) else loss


def _made(unfinished: PerceptronClassifier, weights: Floats, history: Sequence[Judged], n_epochs: int) -> Any:
    """Return the model after its first epochs, as if it had been stopped there."""
    made = copy.copy(unfinished)
    made._keep(weights, history[: n_epochs + 1])
    made.stopped_, made.why_ended_ = True, ""
    return made
