"""`LogisticClassifier` and `RidgeRegressor`: scikit-learn's linear models on prepared columns."""

from __future__ import annotations

from typing import Any

from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline

from engine.base import TrainingData
from engine.classical.base import ClassicalClassifier, ClassicalRegressor
from engine.classical.multiclass import split_into
from engine.classical.parameters import LOGISTIC_CLASSIFIER, RIDGE_REGRESSOR
from engine.monitor import FitMonitor

_DOC = """{title}.

    scikit-learn's, on columns prepared as in `engine.classical.columns`; the intercept is not shrunk.

    Parameters
    ----------{own}
    categorical_features : "from_dtype", None or sequence, default "from_dtype"
        See `engine.features.learn_features`.

    Attributes
    ----------
    pipeline_ : sklearn.pipeline.Pipeline
        Over the encoded table.
    features_ : tuple of FeatureSpec{fitted}
    stopped_ : bool
        A monitor ended the fit; the model is a constant.
    """


class LogisticClassifier(ClassicalClassifier):  # noqa: D101 - see _DOC
    _table = LOGISTIC_CLASSIFIER
    __doc__ = _DOC.format(
        title="Logistic regression with a penalty on the squared coefficients",
        own="""
    C : float, default 1
        Inverse of the penalty: smaller is smoother.
    multiclass : "direct", "one_vs_all" or "all_vs_all", default "direct"
        With three classes or more: multinomial, or a model for every class against the others, or for
        every two classes.
    max_iter : int, default 1000
        Steps of the solver (L-BFGS) at most.
    class_weight : dict, "balanced" or None, default None""",
        fitted="""
    classes_ : ndarray (n_classes,)
    n_iter_ : int
        Steps the solver took; `max_iter` where it had to end.""",
    )

    def __init__(
        self, *, C: float = 1.0, multiclass: str = "direct", max_iter: int = 1000, class_weight: Any = None,
        categorical_features: Any = "from_dtype",
    ) -> None:  # fmt: skip
        self.C = C
        self.multiclass = multiclass
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.categorical_features = categorical_features

    def _fitted(self, data: TrainingData, monitor: FitMonitor) -> Pipeline:
        pipeline = super()._fitted(data, monitor)
        models = getattr(pipeline[-1], "estimators_", [pipeline[-1]])
        self.n_iter_ = max(int(model.n_iter_.max()) for model in models)
        if self.n_iter_ >= self.max_iter:
            self._note_early_end(self.max_iter, "set a larger max_iter, or a smaller C")
        return pipeline

    def _constant(self, data: TrainingData) -> Pipeline:
        self.n_iter_ = 0
        return super()._constant(data)

    def _make_model(self, data: TrainingData) -> Any:
        return split_into(self.multiclass, LogisticRegression(C=self.C, max_iter=self.max_iter))


class RidgeRegressor(ClassicalRegressor):  # noqa: D101 - see _DOC
    _table = RIDGE_REGRESSOR
    __doc__ = _DOC.format(
        title="Least squares with a penalty on the squared coefficients (Hoerl, Kennard 1970)",
        own="""
    alpha : float, default 1
        The penalty; 0 is plain least squares.""",
        fitted="",
    )

    def __init__(self, *, alpha: float = 1.0, categorical_features: Any = "from_dtype") -> None:
        self.alpha = alpha
        self.categorical_features = categorical_features

    def _make_model(self, data: TrainingData) -> Ridge:
        return Ridge(alpha=self.alpha, solver="svd")
