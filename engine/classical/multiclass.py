"""More than two classes out of models of two: one against all others, or every one against every other.

As scikit-learn's `OneVsRestClassifier` and `OneVsOneClassifier`, but with weights of rows, and with
probabilities in both.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from engine.classical.pace import work_of_row

Floats = NDArray[np.float64]
SCHEMES = ("direct", "one_vs_all", "all_vs_all")
LEAST_SHARE = 1e-12  # of one of two classes, so that none divides by 0


class _Split(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Floats, y: NDArray[Any], sample_weight: Floats) -> Self:
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.estimators_ = []
        for is_event, is_in in self._questions(codes, len(self.classes_)):
            asked = clone(self.estimator)
            self.estimators_.append(asked.fit(X[is_in], is_event[is_in], sample_weight=sample_weight[is_in]))
        return self

    @property
    def work_of_row(self) -> float:
        """As `engine.classical.pace.work_of_row`."""
        return sum(map(work_of_row, self.estimators_))

    def _questions(self, codes: NDArray[Any], n_classes: int) -> Any:
        """Yield, for every model of two classes, which rows are of the first and which have a part in it."""
        raise NotImplementedError

    def _decisions(self, values: Floats) -> Floats:
        """Turn the models' decision values into the classes'."""
        raise NotImplementedError

    def _probabilities(self, events: Floats) -> Floats:
        """Turn the models' probabilities into the classes', up to a factor a row."""
        raise NotImplementedError

    def decision_function(self, X: Floats) -> Floats:
        """Return decision values: float64 (n_rows, n_classes), or (n_rows,) of two classes."""
        given = np.column_stack([model.decision_function(X) for model in self.estimators_])
        values: Floats = self._decisions(given)
        return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values

    def predict_proba(self, X: Floats) -> Floats:
        """Return probabilities: float64 (n_rows, n_classes)."""
        events = np.column_stack([model.predict_proba(X)[:, 1] for model in self.estimators_])
        shares = self._probabilities(np.clip(events, LEAST_SHARE, 1 - LEAST_SHARE))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Floats) -> NDArray[Any]:
        """Return the class with the largest decision value."""
        values = self.decision_function(X)
        codes = values > 0 if values.ndim == 1 else np.argmax(values, axis=1)
        return np.asarray(self.classes_[np.asarray(codes, np.intp)])


class OneVsAll(_Split):
    """One model a class: is it this class or another? The surest has it."""

    def _questions(self, codes: NDArray[Any], n_classes: int) -> Any:
        for class_idx in range(n_classes):
            yield codes == class_idx, np.ones(len(codes), bool)

    def _decisions(self, values: Floats) -> Floats:
        return values

    def _probabilities(self, events: Floats) -> Floats:
        return events


class AllVsAll(_Split):
    """One model for every two classes, on their rows alone; each has a vote.

    Equal votes are told apart by the sums of the decision values, shrunk to less than a vote. Probabilities
    of pairs r are joined as p_i = 1 / (sum over j of 1 / r_ij - (K - 2)), which is exact where the
    pairs agree (Price, Knerr, Personnaz, Dreyfus 1995).
    """

    def _questions(self, codes: NDArray[Any], n_classes: int) -> Any:
        for first, second in pairs(n_classes):
            yield codes == second, (codes == first) | (codes == second)

    def _decisions(self, values: Floats) -> Floats:
        return votes_of_pairs(values, len(self.classes_))

    def _probabilities(self, events: Floats) -> Floats:
        n_classes = len(self.classes_)
        inverses = np.zeros((len(events), n_classes))
        for k, (first, second) in enumerate(pairs(n_classes)):
            inverses[:, first] += 1 / (1 - events[:, k])
            inverses[:, second] += 1 / events[:, k]
        return np.asarray(1 / (inverses - (n_classes - 2)))


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return all pairs of classes, the lower first."""
    return [(first, second) for first in range(n_classes) for second in range(first + 1, n_classes)]


def votes_of_pairs(values: Floats, n_classes: int) -> Floats:
    """Return the votes of every class, with less than half a vote for how sure the pairs are.

    Parameters
    ----------
    values : float64 (n_rows, n_pairs)
        Decision values of `pairs`; above 0 for the second class.

    Returns
    -------
    float64 (n_rows, n_classes)
    """
    votes, sums = np.zeros((2, len(values), n_classes))
    for k, (first, second) in enumerate(pairs(n_classes)):
        is_second = values[:, k] > 0
        votes[:, second] += is_second
        votes[:, first] += ~is_second
        sums[:, second] += values[:, k]
        sums[:, first] -= values[:, k]
    return np.asarray(votes + sums / (3 * (np.abs(sums) + 1)))


def split_into(scheme: str, estimator: Any) -> Any:
    """Return an estimator, of classes as they are or split into models of two."""
    return {"direct": lambda model: model, "one_vs_all": OneVsAll, "all_vs_all": AllVsAll}[scheme](estimator)
