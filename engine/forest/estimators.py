"""`RandomForestClassifier`, `RandomForestRegressor`, `ExtraTreesClassifier` and `ExtraTreesRegressor`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

from engine.base import ProbabilityClassifier
from engine.forest.base import TreeEnsemble
from engine.forest.parameters import (
    EXTRA_TREES_CLASSIFIER,
    EXTRA_TREES_REGRESSOR,
    FOREST_CLASSIFIER,
    FOREST_REGRESSOR,
)
from engine.tree.estimators import check_tree_parameters

_DOC = """{title}

    {prediction}

    Parameters
    ----------
    n_estimators : int, default 100{voting}
    bootstrap : bool, default {bootstrap}
        Draw each tree's rows with replacement.
    max_samples : int, float or None, default None
        Rows drawn a tree, or their share; None draws as many as there are.
    colsample_bytree : float, default 1.0
        Share of the columns that each tree may ask about, drawn once a tree; `max_features` are drawn of
        these at every node.{bins}
    oob_score : bool, default False
        Ask each row of the trees that did not draw it.
    warm_start : bool, default False
        A fit keeps the trees that are there and adds those that are missing; the model has the same bits
        as if all were grown in one go.
    n_jobs : int or None, default None
        Threads; the model has the same bits for any number.
    criterion, max_depth, max_leaf_nodes, min_samples_leaf, min_samples_split, min_impurity_decrease,
    min_weight_fraction_leaf, max_features, categorical_features{class_weight}
        As in the decision tree; `max_features` is {max_features} here. Rows are counted once however often
        they were drawn; weights count every draw.
    random_state : None, int or generator

    Attributes
    ----------
    estimators_ : list of Tree
    features_ : tuple of FeatureSpec{classes}
    feature_importances_ : float64 (n_features,)
        Mean over the trees of each tree's shares.
    oob_score_ : float
        {oob}; NaN when no row was left out by any tree.
    oob_loss_, member_oob_loss_ : float64 (n_trees,)
        {loss} after each tree, of all trees so far and of each tree alone.
    n_oob_rows_, n_rows_never_out_ : int
        Rows that some tree left out, which the score is over, and rows that all trees drew.
    {oob_rows} : float64
        Mean over the trees that left the row out; NaN where none did.
    seed_ : int
    stopped_ : bool
        A monitor ended the fit early; the trees grown so far are kept.
    """


class _Forest(TreeEnsemble):
    _table: tuple[Any, ...]
    colsample_bytree: float

    @property
    def _columns_wanted(self) -> Any:
        return self.colsample_bytree

    def _check_parameters(self) -> None:
        check_tree_parameters(self, self._table)


class _ForestClassifier(ProbabilityClassifier, _Forest):
    _is_classifier = True

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the trees' mean class fractions, or shares of votes: float64 (n_samples, n_classes)."""
        return self._mean_values(X)


class _ForestRegressor(RegressorMixin, _Forest):  # type: ignore[misc]
    _is_classifier = False

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean prediction: float64 (n_samples,)."""
        return self._mean_values(X)[:, 0]


_CLASSES = {
    "voting": """
    voting : "soft" or "hard", default "soft"
        soft: the mean of the trees' class fractions. hard: each tree has one vote.""",
    "prediction": "Class probabilities are the mean of the trees' class fractions, or their shares of votes.",
    "class_weight": ", class_weight",
    "max_features": '"sqrt"',
    "classes": "\n    classes_ : ndarray (n_classes,)",
    "oob": "Accuracy",
    "loss": "Share of wrong rows, each with its weight,",
    "oob_rows": "oob_decision_function_",
}
_NUMBERS = {
    "voting": "",
    "prediction": "Predictions are the mean of the trees' leaf means.",
    "class_weight": "",
    "max_features": "1.0 (all)",
    "classes": "",
    "oob": "Coefficient of determination",
    "loss": "Mean squared error, each row with its weight,",
    "oob_rows": "oob_prediction_",
}
_RANDOM_FOREST = {
    "title": "Random forest (Breiman 2001): trees on resampled rows, random columns at each node.",
    "bootstrap": "True",
    "bins": """
    max_bins : int or None, default None
        Distinct values kept of a number, up to 255; None tries every threshold.""",
}
_EXTRA_TREES = {
    "title": "Extremely randomised trees (Geurts, Ernst, Wehenkel 2006): one threshold drawn a column.",
    "bootstrap": "False",
    "bins": "",
}


class RandomForestClassifier(_ForestClassifier):  # noqa: D101 - set below
    _table = FOREST_CLASSIFIER
    __doc__ = _DOC.format(**_RANDOM_FOREST, **_CLASSES)

    def __init__(
        self, *, n_estimators: int = 100, criterion: str = "gini", max_depth: int | None = None,
        max_leaf_nodes: int | None = None, min_samples_leaf: float = 1, min_samples_split: float = 2,
        min_impurity_decrease: float = 0.0, min_weight_fraction_leaf: float = 0.0, max_features: Any = "sqrt",
        bootstrap: bool = True, max_samples: Any = None, oob_score: bool = False, class_weight: Any = None,
        categorical_features: Any = "from_dtype", n_jobs: int | None = None, random_state: Any = None,
        voting: str = "soft", colsample_bytree: float = 1.0, warm_start: bool = False,
        max_bins: int | None = None,
    ) -> None:  # fmt: skip
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.voting = voting
        self.colsample_bytree = colsample_bytree
        self.warm_start = warm_start
        self.max_bins = max_bins


class RandomForestRegressor(_ForestRegressor):  # noqa: D101 - set below
    _table = FOREST_REGRESSOR
    __doc__ = _DOC.format(**_RANDOM_FOREST, **_NUMBERS)

    def __init__(
        self, *, n_estimators: int = 100, criterion: str = "squared_error", max_depth: int | None = None,
        max_leaf_nodes: int | None = None, min_samples_leaf: float = 1, min_samples_split: float = 2,
        min_impurity_decrease: float = 0.0, min_weight_fraction_leaf: float = 0.0, max_features: Any = 1.0,
        bootstrap: bool = True, max_samples: Any = None, oob_score: bool = False,
        categorical_features: Any = "from_dtype", n_jobs: int | None = None, random_state: Any = None,
        colsample_bytree: float = 1.0, warm_start: bool = False, max_bins: int | None = None,
    ) -> None:  # fmt: skip
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.colsample_bytree = colsample_bytree
        self.warm_start = warm_start
        self.max_bins = max_bins


class ExtraTreesClassifier(_ForestClassifier):  # noqa: D101 - set below
    _table = EXTRA_TREES_CLASSIFIER
    splitter = "random"
    __doc__ = _DOC.format(**_EXTRA_TREES, **_CLASSES)

    def __init__(
        self, *, n_estimators: int = 100, criterion: str = "gini", max_depth: int | None = None,
        max_leaf_nodes: int | None = None, min_samples_leaf: float = 1, min_samples_split: float = 2,
        min_impurity_decrease: float = 0.0, min_weight_fraction_leaf: float = 0.0, max_features: Any = "sqrt",
        bootstrap: bool = False, max_samples: Any = None, oob_score: bool = False, class_weight: Any = None,
        categorical_features: Any = "from_dtype", n_jobs: int | None = None, random_state: Any = None,
        voting: str = "soft", colsample_bytree: float = 1.0, warm_start: bool = False,
    ) -> None:  # fmt: skip
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.voting = voting
        self.colsample_bytree = colsample_bytree
        self.warm_start = warm_start


class ExtraTreesRegressor(_ForestRegressor):  # noqa: D101 - set below
    _table = EXTRA_TREES_REGRESSOR
    splitter = "random"
    __doc__ = _DOC.format(**_EXTRA_TREES, **_NUMBERS)

    def __init__(
        self, *, n_estimators: int = 100, criterion: str = "squared_error", max_depth: int | None = None,
        max_leaf_nodes: int | None = None, min_samples_leaf: float = 1, min_samples_split: float = 2,
        min_impurity_decrease: float = 0.0, min_weight_fraction_leaf: float = 0.0, max_features: Any = 1.0,
        bootstrap: bool = False, max_samples: Any = None, oob_score: bool = False,
        categorical_features: Any = "from_dtype", n_jobs: int | None = None, random_state: Any = None,
        colsample_bytree: float = 1.0, warm_start: bool = False,
    ) -> None:  # fmt: skip
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.colsample_bytree = colsample_bytree
        self.warm_start = warm_start
