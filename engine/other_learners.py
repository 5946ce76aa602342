"""Learners of any kind inside an ensemble: what they are given to read, their weights, seeds and stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter

from engine.errors import ParameterError
from engine.features import is_frame
from engine.monitor import FitMonitor, IterationEvent

OF_SEEDS = 2  # second number of the key of a member's seeds


class Rows(NamedTuple):
    """Rows to be answered for.

    Attributes
    ----------
    encoded : float32 or float64 (n_rows, n_features)
        What trees read.
    given : DataFrame or ndarray
        What other learners read: a frame as the caller gave it, else the encoded table.
    """

    encoded: NDArray[Any]
    given: Any

    @classmethod
    def of(cls, X: Any, encoded: NDArray[Any], rows: NDArray[np.int64] | None = None) -> Rows:
        """Take `rows` of a caller's table, of which `encoded` holds just these already."""
        if not is_frame(X):
            return cls(encoded, encoded)
        return cls(encoded, X if rows is None else X.iloc[rows])


class StopOnly:
    """A monitor for a learner of this package inside another fit: it passes on that this is to stop.

    Parameters
    ----------
    is_stopped : callable
        Tells whether; asked where the learner asks its monitor.
    """

    def __init__(self, is_stopped: Callable[[], bool]) -> None:
        self._is_stopped = is_stopped

    def on_iteration(self, _event: IterationEvent) -> bool:
        return self._is_stopped()


def takes_weights(estimator: Any) -> bool:
    """Tell whether an estimator's `fit` takes weights of rows."""
    return bool(has_fit_parameter(estimator, "sample_weight"))


def can_stop(estimator: Any) -> bool:
    """Tell whether an estimator's `fit` takes a monitor."""
    return bool(has_fit_parameter(estimator, "monitor"))


def seeded(estimator: Any, seed: int, member: int, *, only_open: bool = False) -> Any:
    """Return a clone that draws by seeds of its own, also in estimators inside it.

    With `only_open`, seeds that are set stay: of an estimator of which there is one alone.
    """
    copy = clone(estimator)
    params = copy.get_params(deep=True)
    names = [
        name
        for name in sorted(params)
        if name == "random_state" or name.endswith("__random_state")
        if not only_open or params[name] is None
    ]
    seeds = np.random.SeedSequence(seed, spawn_key=(member, OF_SEEDS)).generate_state(max(len(names), 1))
    return copy.set_params(**{name: int(word >> 1) for name, word in zip(names, seeds, strict=False)})


class OneClass:
    """What is learned from rows of one class alone, which many classifiers refuse: to answer that class.

    Parameters
    ----------
    label : object
        The class.
    """

    def __init__(self, label: Any) -> None:
        self.label = label
        self.classes_ = np.array([label])

    def predict(self, X: Any) -> NDArray[Any]:
        return np.repeat(self.classes_, len(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        return np.ones((len(X), 1))


def check_learner(name: str, learner: Any, *, is_classification: bool) -> None:
    """Check a learner that is to be a part of another.

    Raises
    ------
    ParameterError
        It has not the methods of an estimator, or predicts numbers where classes are wanted, or the like.
    """
    methods = ("fit", "predict", "get_params")
    if isinstance(learner, type) or not all(hasattr(learner, method) for method in methods):
        raise ParameterError(f"{name} is {learner!r}; enter an estimator with fit, predict and get_params")
    is_other = is_regressor if is_classification else is_classifier
    if hasattr(learner, "__sklearn_tags__") and is_other(learner):
        kind = "classifier" if is_classification else "regressor"
        raise ParameterError(f"{name} is {learner!r}, which is no {kind}; enter one")


def fit_learner(
    learner: Any, X: Any, y: NDArray[Any], sample_weight: NDArray[np.float64] | None, monitor: FitMonitor
) -> Any:
    """Fit a learner in place, and return it; of rows of one class return a `OneClass`.

    Parameters
    ----------
    y : (n_rows,)
        Whole numbers are classes.
    sample_weight : float64 (n_rows,) or None
    monitor : FitMonitor
        Given to those that take one.

    Raises
    ------
    ParameterError
        There are weights and it takes none.
    """
    if y.dtype.kind == "i" and np.all(y == y[0]):
        return OneClass(int(y[0]))
    extra: dict[str, Any] = {"monitor": monitor} if can_stop(learner) else {}
    if sample_weight is not None:
        if not takes_weights(learner):
            raise ParameterError(
                f"rows have weights, but a {type(learner).__name__} takes none; choose another model, or "
                "leave the weights out"
            )
        extra["sample_weight"] = sample_weight
    return learner.fit(X, y, **extra)
