"""`DeepEnsembleClassifier` and `DeepEnsembleRegressor`: networks from different starts, averaged."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import RegressorMixin

from engine.base import ProbabilityClassifier, TrainingData
from engine.errors import ParameterError
from engine.neural.base import DeepEnsemble
from engine.neural.calibration import best_temperature, best_variance_factor, widened
from engine.neural.kernels import losses
from engine.neural.kernels.losses import LARGEST_LOG_VARIANCE
from engine.neural.parameters import DEEP_ENSEMBLE_CLASSIFIER, DEEP_ENSEMBLE_REGRESSOR
from engine.uncertainty import Uncertainty, mixture_quantile, of_classes, of_numbers
from engine.units import unit_of

_DOC = """Deep ensemble (Lakshminarayanan, Pritzel, Blundell 2017): multilayer perceptrons, averaged.

    {prediction} Networks are trained in single precision and answer in double. Numbers are standardised,
    categories become one input a level (none for a level that training never saw), missing values the mean
    and, where training had some in the column, an input that says so.

    Parameters
    ----------
    n_estimators : int, default 5
    hidden_layer_sizes : sequence of int, default (64, 64)
        Units of each hidden layer; none at all is a linear model.
    activation : "relu" or "tanh", default "relu"{loss}
    learning_rate : float, default 0.001
        Of Adam (Kingma and Ba 2015).
    schedule : "constant" or "cosine", default "constant"
        cosine: the rate falls to 0 along half a cosine over `max_epochs`.
    max_epochs : int, default 100
    batch_size : int or None, default None
        Rows a step; None is a 20th of the rows, but 16 to 200.
    bootstrap : bool, default False
        Draw each network's rows with replacement.
    weight_decay : float, default 0.0
        Decoupled from the gradient (Loshchilov and Hutter 2019).
    dropout : float, default 0.0
        Share of the hidden units left out; none is when the model answers.
    early_stopping : bool, default False
        Each network ends after `n_iter_no_change` epochs whose validation loss is not below the best by
        more than `tol`, and is put back to its best epoch.
    validation_fraction : float, default 0.1
        Share of the rows set aside for it where no validation part is given.
    calibrate : bool, default False
        {calibrate}{class_weight}
    categorical_features
        As in the decision tree.
    n_jobs : int or None, default None
        Threads; the model has the same bits for any number.
    random_state : None, int or generator

    Attributes
    ----------
    parameters_ : float32 (n_kept, n_parameters)
        Of each network that was kept; see `member_layers`.
    layer_sizes_ : int64 (n_layers + 1,)
    members_, n_epochs_ : int64 (n_kept,)
        Which networks they are, from 0, and the epoch that each is of.
    train_loss_, val_loss_ : float64 (n_estimators, n_epochs)
        Of every network after every epoch, NaN beyond its last and without a validation part. The training
        loss is the mean over the epoch's batches, with dropout, each before its step.
    diverged_ : list of (int, int)
        Networks whose numbers became infinite, and in which epoch. They are put back to an earlier one, or
        left out where there is none.
    is_constant_ : bool
        Every row gets the same answer: a stop came before any step, or there is one class or value alone.
    features_ : tuple of FeatureSpec{attributes}
    batch_size_, seed_ : int
    stopped_ : bool
        A monitor ended the fit early; the epochs so far are kept.
    """

_CLASSES = {
    "prediction": "Class probabilities are the mean of the networks' softmax.",
    "loss": "",
    "calibrate": "Divide all outputs by the temperature that has the least log loss on the validation part.",
    "class_weight": "\n    class_weight : dict, 'balanced' or None, default None",
    "attributes": """
    classes_ : ndarray (n_classes,)
    temperature_ : float
        1 without `calibrate`, or where a stop came first.""",
}
_NUMBERS = {
    "prediction": "The prediction is the mean of the networks' means, its distribution their equal mixture.",
    "loss": """
    loss : "gaussian" or "squared_error", default "gaussian"
        gaussian: each network learns a mean and a variance by the Gaussian likelihood (Nix and Weigend 1994).
        squared_error: a mean alone; its variance is its mean squared error on the validation part, or on the
        rows of its last epoch where there is none.
    variance_warm_up : int, default 10
        Epochs in which the mean alone is learned; the variance is then one for all rows, the mean squared
        error of the epoch before.
    variance_floor : float, default 1e-4
        Added to each variance, as a share of the target's.""",
    "calibrate": "Multiply all variances by the one factor under which the validation part is most likely.",
    "class_weight": "",
    "attributes": """
    noise_variance_ : float64 (n_kept,)
        Of each network by squared error, in the target's square; NaN where networks learn it.
    variance_factor_ : float
        1 without `calibrate`, or where a stop came first.""",
}


class DeepEnsembleClassifier(ProbabilityClassifier, DeepEnsemble):  # noqa: D101 - set below
    _is_classifier = True
    _table = DEEP_ENSEMBLE_CLASSIFIER
    _n_learned_at_once = 0  # all of them
    __doc__ = _DOC.format(**_CLASSES)

    def __init__(
        self, *, n_estimators: int = 5, hidden_layer_sizes: Any = (64, 64), activation: str = "relu",
        learning_rate: float = 0.001, schedule: str = "constant", max_epochs: int = 100,
        batch_size: int | None = None, bootstrap: bool = False, weight_decay: float = 0.0,
        dropout: float = 0.0, early_stopping: bool = False, validation_fraction: float = 0.1,
        n_iter_no_change: int = 10, tol: float = 0.0, calibrate: bool = False, class_weight: Any = None,
        categorical_features: Any = "from_dtype", n_jobs: int | None = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_estimators = n_estimators
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.bootstrap = bootstrap
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the networks' mean probabilities: float64 (n_samples, n_classes), as in `classes_`."""
        return np.asarray(self._probabilities(self._outputs(X)).mean(axis=0))

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Return mean probabilities, their spread, mean entropy and mutual information; see `Uncertainty`."""
        return of_classes(self._probabilities(self._outputs(X)))

    def encoded_uncertainty(self, encoded: NDArray[Any]) -> Uncertainty:
        """As `predict_uncertainty`, of an encoded table."""
        return of_classes(self._probabilities(self._encoded_outputs(encoded)))

    def encoded_answer(self, encoded: NDArray[Any]) -> NDArray[np.float64]:
        """As `predict_proba`, of an encoded table."""
        return np.asarray(self._probabilities(self._encoded_outputs(encoded)).mean(axis=0))

    def _probabilities(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities of all classes: float64 (n_members, n_rows, n_classes), 0 without rows."""
        given = softmax(self._of_all_classes(outputs) / self.temperature_, axis=2)
        if len(self.present_classes_) == len(self.classes_):
            return np.asarray(given)
        probabilities = np.zeros((*outputs.shape[:2], len(self.classes_)))
        probabilities[:, :, self.present_classes_] = given
        return probabilities

    def _of_all_classes(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return an output for every class; of two a network has one, the log odds of the second."""
        if len(self.present_classes_) != 2:
            return outputs
        return np.concatenate([np.zeros_like(outputs), outputs], axis=2)

    @property
    def _is_constant(self) -> bool:
        return len(self.present_classes_) == 1

    @property
    def _loss_code(self) -> int:
        return losses.LOG_LOSS

    def _learn_target(self, training: TrainingData, validation: TrainingData | None) -> None:
        rows = [part.y for part in (training, validation) if part is not None]
        self.present_classes_ = np.unique(np.concatenate(rows)).astype(np.int64)

    def _standardised(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.searchsorted(self.present_classes_, y.astype(np.intp)), np.float64)

    def _in_units(self, loss: float) -> float:
        return loss

    def _biases_for(self, training: TrainingData) -> NDArray[np.float32]:
        shares = np.bincount(training.y.astype(np.intp), training.sample_weight, training.n_classes)
        given = shares[self.present_classes_] / shares.sum()
        logs = np.log(np.maximum(given, np.finfo(np.float32).tiny))
        return np.asarray(logs[1:] - logs[0] if len(logs) == 2 else logs, np.float32)

    def _be_uncalibrated(self) -> None:
        self.temperature_ = 1.0

    def _calibrate(
        self, outputs: NDArray[np.float64], validation: TrainingData, check: Callable[[], None]
    ) -> None:
        codes = self._standardised(validation.y).astype(np.intp)
        self.temperature_ = best_temperature(
            self._of_all_classes(outputs), codes, validation.sample_weight, check
        )


class DeepEnsembleRegressor(RegressorMixin, DeepEnsemble):  # type: ignore[misc]  # noqa: D101 - set below
    _is_classifier = False
    _table = DEEP_ENSEMBLE_REGRESSOR
    _n_learned_at_once = 1  # the mean; the variance comes after its warm-up
    __doc__ = _DOC.format(**_NUMBERS)

    def __init__(
        self, *, n_estimators: int = 5, hidden_layer_sizes: Any = (64, 64), activation: str = "relu",
        loss: str = "gaussian", learning_rate: float = 0.001, schedule: str = "constant",
        max_epochs: int = 100, batch_size: int | None = None, bootstrap: bool = False,
        weight_decay: float = 0.0, dropout: float = 0.0, early_stopping: bool = False,
        validation_fraction: float = 0.1, n_iter_no_change: int = 10, tol: float = 0.0,
        variance_warm_up: int = 10, variance_floor: float = 1e-4, calibrate: bool = False,
        categorical_features: Any = "from_dtype", n_jobs: int | None = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_estimators = n_estimators
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.loss = loss
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.bootstrap = bootstrap
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.variance_warm_up = variance_warm_up
        self.variance_floor = variance_floor
        self.calibrate = calibrate
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean of the networks' means: float64 (n_samples,)."""
        return np.asarray(self._means(self._outputs(X)).mean(axis=0))

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Return mean, standard deviation and both parts of the variance; see `Uncertainty`."""
        return of_numbers(*self._mixture(self._outputs(X)))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> NDArray[np.float64]:
        """Return the ends between which the target lies with a probability: float64 (n_samples, 2).

        As much is left out below as above. The ends are quantiles of the mixture itself, not of one
        Gaussian with its variance; see `engine.uncertainty.mixture_quantile`.

        Raises
        ------
        ParameterError
            `coverage` is not above 0 and below 1.
        """
        return self._interval(self._outputs(X), coverage)

    def encoded_uncertainty(self, encoded: NDArray[Any]) -> Uncertainty:
        """As `predict_uncertainty`, of an encoded table."""
        return of_numbers(*self._mixture(self._encoded_outputs(encoded)))

    def encoded_interval(self, encoded: NDArray[Any], coverage: float = 0.9) -> NDArray[np.float64]:
        """As `predict_interval`, of an encoded table."""
        return self._interval(self._encoded_outputs(encoded), coverage)

    def encoded_answer(self, encoded: NDArray[Any]) -> NDArray[np.float64]:
        """As `predict`, of an encoded table: float64 (n_rows, 1)."""
        return np.asarray(self._means(self._encoded_outputs(encoded)).mean(axis=0)).reshape(-1, 1)

    def predict_members(self, X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return each network's means and variances, scaled if `calibrate`: float64 (n_kept, n_samples)."""
        return self._mixture(self._outputs(X))

    def _interval(self, outputs: NDArray[np.float64], coverage: float) -> NDArray[np.float64]:
        if not 0 < coverage < 1:
            raise ParameterError(f"coverage is {coverage!r}; enter a number above 0 and below 1, such as 0.9")
        mixture = self._mixture(outputs)
        ends = [mixture_quantile(share, *mixture) for share in (0.5 - coverage / 2, 0.5 + coverage / 2)]
        return np.column_stack(ends)

    def _means(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.target_unit_ * (self.target_mean_ + self.target_scale_ * outputs[:, :, 0]))

    def _mixture(self, outputs: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return widened(self._means(outputs), self._variances(outputs), self.variance_factor_)

    def _variances(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        scale = self.target_unit_ * self.target_scale_
        if self.loss == "squared_error":
            return np.repeat(self.noise_variance_[:, None], outputs.shape[1], axis=1)
        raw = np.clip(outputs[:, :, 1], -LARGEST_LOG_VARIANCE, LARGEST_LOG_VARIANCE)
        return np.asarray(scale * scale * (self.variance_floor + np.exp(raw)))

    @property
    def _is_constant(self) -> bool:
        return self.target_scale_ == 0

    @property
    def _loss_code(self) -> int:
        return losses.GAUSSIAN if self.loss == "gaussian" else losses.SQUARED_ERROR

    @property
    def _warm_up(self) -> int:
        return int(self.variance_warm_up) if self.loss == "gaussian" else 0

    def _learn_target(self, training: TrainingData, validation: TrainingData | None) -> None:
        self.target_unit_ = unit_of(training.y)
        scaled = training.y / self.target_unit_
        self.target_mean_ = float(np.average(scaled, weights=training.sample_weight))
        if scaled.min() == scaled.max():
            self.target_mean_, self.target_scale_ = float(scaled[0]), 0.0
            return
        squares = np.average((scaled - self.target_mean_) ** 2, weights=training.sample_weight)
        self.target_scale_ = math.sqrt(float(squares)) or 1.0

    def _standardised(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        scaled = y / self.target_unit_ - self.target_mean_
        return np.asarray(scaled / (self.target_scale_ or 1.0))

    def _in_units(self, loss: float) -> float:
        scale = self.target_unit_ * self.target_scale_
        if self.loss == "gaussian":
            return loss + 0.5 * math.log(2 * math.pi) + math.log(scale)
        return loss * scale * scale

    def _biases_for(self, training: TrainingData) -> NDArray[np.float32]:
        return np.zeros(2 if self.loss == "gaussian" else 1, np.float32)

    def _learn_noise(self, member_losses: list[float]) -> None:
        self.noise_variance_ = np.full(len(member_losses), np.nan)
        if self.loss == "squared_error":
            # before an epoch is done a network knows no more than the mean
            known = [0.5 if math.isnan(loss) else loss for loss in member_losses]
            self.noise_variance_ = np.array([2 * self._in_units(loss) for loss in known])

    def _be_uncalibrated(self) -> None:
        self.variance_factor_ = 1.0

    def _calibrate(
        self, outputs: NDArray[np.float64], validation: TrainingData, check: Callable[[], None]
    ) -> None:
        means, variances = self._mixture(outputs)
        scale = self.target_unit_ * self.target_scale_  # in standardised units nothing overflows
        self.variance_factor_ = best_variance_factor(
            validation.y / scale, means / scale, variances / scale**2, validation.sample_weight, check
        )
