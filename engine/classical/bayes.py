"""`NaiveBayesClassifier`: every column by itself, normal where it is a number, by shares where a category."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from engine.base import TrainingData
from engine.classical.base import ClassicalClassifier
from engine.classical.columns import PreparedColumns
from engine.classical.parameters import NAIVE_BAYES_CLASSIFIER
from engine.dtypes import UNSEEN_LEVEL

Floats = NDArray[np.float64]
LEAST_VARIANCE = 1e-12  # of scaled numbers: where a class has one value alone, it is 0 without smoothing


class MixedBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """scikit-learn's `GaussianNB` over the numbers and `CategoricalNB` over the categories of a table.

    A missing number counts as the mean; that it is missing is a category of its own, as it is of a
    category's levels, in columns with gaps among the training rows. A level that training never saw, and a
    gap in a column that had none, say nothing about the class.
    """

    def __init__(self, n_levels: Any = (), var_smoothing: float = 1e-9, alpha: float = 1.0) -> None:
        self.n_levels = n_levels
        self.var_smoothing = var_smoothing
        self.alpha = alpha

    def fit(self, X: Floats, y: NDArray[Any], sample_weight: Floats) -> Self:
        """Fit both to an encoded table."""
        self.classes_ = np.unique(y)
        is_number = np.array([n == 0 for n in self.n_levels], bool)
        self.numbers_ = np.flatnonzero(is_number)
        self.scales_ = PreparedColumns([0] * len(self.numbers_)).fit(
            X[:, self.numbers_], sample_weight=sample_weight
        )
        self.has_gaps_: NDArray[np.bool_] = np.asarray(np.isnan(X).any(axis=0))
        self.categories_ = np.flatnonzero(~is_number | self.has_gaps_)
        self.normal_ = self.shares_ = None
        if len(self.numbers_):
            self.normal_ = GaussianNB(var_smoothing=self.var_smoothing)
            self.normal_.fit(self._numbers(X), y, sample_weight=sample_weight)
            self.normal_.var_ = np.maximum(self.normal_.var_, LEAST_VARIANCE)
        if len(self.categories_):
            self.shares_ = CategoricalNB(alpha=self.alpha, min_categories=self._n_codes())
            self.shares_.fit(self._codes(X), y, sample_weight=sample_weight)
        return self

    def _n_codes(self) -> NDArray[np.int64]:
        """Return how many codes every one of `categories_` has: its levels, and one for the rest."""
        return np.array([(self.n_levels[column] or 1) + 1 for column in self.categories_], np.int64)

    def _numbers(self, X: Floats) -> Floats:
        gaps = self.scales_.has_gaps_
        prepared = self.scales_.transform(X[:, self.numbers_])
        return np.asarray(prepared[:, np.arange(len(gaps)) + np.cumsum(gaps) - gaps])

    def _codes(self, X: Floats) -> NDArray[np.int64]:
        codes = np.empty((len(X), len(self.categories_)), np.int64)
        for place, (column, n) in enumerate(zip(self.categories_, self._n_codes(), strict=True)):
            values = X[:, column]
            known = np.where(np.isnan(values), n - 1, 0 if self.n_levels[column] == 0 else values)
            codes[:, place] = np.where(known == UNSEEN_LEVEL, n - 1, known)
        return codes

    def _says_nothing(self, X: Floats, column: Any) -> NDArray[np.bool_]:
        """Tell in which rows a column has a level, or a gap, as in no training row: bool (n_rows,)."""
        values = X[:, column]
        is_new_gap = np.isnan(values) & ~self.has_gaps_[column]
        return np.asarray(is_new_gap | ((values == UNSEEN_LEVEL) & (self.n_levels[column] > 0)))

    def predict_proba(self, X: Floats) -> Floats:
        """Return probabilities: float64 (n_rows, n_classes)."""
        X = np.asarray(X, np.float64)
        joint = np.zeros((len(X), len(self.classes_)))
        if self.normal_ is not None:
            joint += self.normal_.predict_joint_log_proba(self._numbers(X))
        if self.shares_ is not None:
            joint += self.shares_.predict_joint_log_proba(self._codes(X))
            if self.normal_ is not None:
                joint -= self.shares_.class_log_prior_
            for place, column in enumerate(self.categories_):
                is_mute = self._says_nothing(X, column)
                joint -= is_mute[:, None] * self.shares_.feature_log_prob_[place][:, -1]
        shares = np.exp(joint - joint.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))


class NaiveBayesClassifier(ClassicalClassifier):
    """Naive Bayes: columns tell the class each by itself, and their evidence is added up.

    Numbers are taken to be normal in every class, categories to have shares of their levels.

    Parameters
    ----------
    var_smoothing : float, default 1e-9
        Added to the variances of the numbers, as a share of the largest one.
    alpha : float, default 1
        Added to the count of every level (Laplace).
    class_weight : dict, "balanced" or None, default None
    categorical_features : "from_dtype", None or sequence, default "from_dtype"
        See `engine.features.learn_features`.

    Attributes
    ----------
    pipeline_ : sklearn.pipeline.Pipeline
        Over the encoded table.
    features_ : tuple of FeatureSpec
    classes_ : ndarray (n_classes,)
    stopped_ : bool
        A monitor ended the fit; the model is a constant.
    """

    _table = NAIVE_BAYES_CLASSIFIER

    def __init__(
        self, *, var_smoothing: float = 1e-9, alpha: float = 1.0, class_weight: Any = None,
        categorical_features: Any = "from_dtype",
    ) -> None:  # fmt: skip
        self.var_smoothing = var_smoothing
        self.alpha = alpha
        self.class_weight = class_weight
        self.categorical_features = categorical_features

    def _make_columns(self, data: TrainingData) -> None:
        return None  # each of its parts prepares its own

    def _make_model(self, data: TrainingData) -> MixedBayes:
        n_levels = [len(spec.levels or ()) for spec in data.features]
        return MixedBayes(n_levels, self.var_smoothing, self.alpha)
