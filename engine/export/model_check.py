"""Is a model that was read from a file whole? Kernels do not check: they would read outside arrays."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from engine.base import Learner
from engine.composition import Composition
from engine.errors import DataError
from engine.export.network_check import check_networks
from engine.features import FeatureSpec
from engine.other_learners import OneClass
from engine.parameters import check_parameters
from engine.tree.structure import LEVEL_SET, MULTIWAY, Tree, single_leaf

EMPTY = single_leaf(0.0, 0.0, 0, 0.0).to_arrays()
"""Names and dtypes of a tree's arrays."""

_TABLES = {
    "DecisionTreeClassifier": ("engine.tree.parameters", "TREE_CLASSIFIER"),
    "DecisionTreeRegressor": ("engine.tree.parameters", "TREE_REGRESSOR"),
    "RandomForestClassifier": ("engine.forest.parameters", "FOREST_CLASSIFIER"),
    "RandomForestRegressor": ("engine.forest.parameters", "FOREST_REGRESSOR"),
    "ExtraTreesClassifier": ("engine.forest.parameters", "EXTRA_TREES_CLASSIFIER"),
    "ExtraTreesRegressor": ("engine.forest.parameters", "EXTRA_TREES_REGRESSOR"),
    "BaggingClassifier": ("engine.forest.parameters", "BAGGING_CLASSIFIER"),
    "BaggingRegressor": ("engine.forest.parameters", "BAGGING_REGRESSOR"),
    "GradientBoostingClassifier": ("engine.boosting.parameters", "BOOSTING_CLASSIFIER"),
    "GradientBoostingRegressor": ("engine.boosting.parameters", "BOOSTING_REGRESSOR"),
    "AdaBoostClassifier": ("engine.adaboost.parameters", "ADABOOST_CLASSIFIER"),
    "AdaBoostRegressor": ("engine.adaboost.parameters", "ADABOOST_REGRESSOR"),
    "AveragingClassifier": ("engine.averaging.parameters", "AVERAGING_CLASSIFIER"),
    "AveragingRegressor": ("engine.averaging.parameters", "AVERAGING_REGRESSOR"),
    "StackingClassifier": ("engine.stacking.parameters", "STACKING_CLASSIFIER"),
    "StackingRegressor": ("engine.stacking.parameters", "STACKING_REGRESSOR"),
    "NearestNeighborsClassifier": ("engine.classical.parameters", "NEIGHBORS_CLASSIFIER"),
    "NearestNeighborsRegressor": ("engine.classical.parameters", "NEIGHBORS_REGRESSOR"),
    "SVMClassifier": ("engine.classical.parameters", "SVM_CLASSIFIER"),
    "SVMRegressor": ("engine.classical.parameters", "SVM_REGRESSOR"),
    "LogisticClassifier": ("engine.classical.parameters", "LOGISTIC_CLASSIFIER"),
    "RidgeRegressor": ("engine.classical.parameters", "RIDGE_REGRESSOR"),
    "PolynomialRegressor": ("engine.classical.parameters", "POLYNOMIAL_REGRESSOR"),
    "NaiveBayesClassifier": ("engine.classical.parameters", "NAIVE_BAYES_CLASSIFIER"),
    "PerceptronClassifier": ("engine.linear.parameters", "PERCEPTRON_CLASSIFIER"),
    "DeepEnsembleClassifier": ("engine.neural.parameters", "DEEP_ENSEMBLE_CLASSIFIER"),
    "DeepEnsembleRegressor": ("engine.neural.parameters", "DEEP_ENSEMBLE_REGRESSOR"),
}


def check_parameters_of(estimator: Any) -> None:
    """Raise ParameterError, a ValueError, where a parameter is outside its range."""
    module, table = _TABLES[type(estimator).__name__]
    check_parameters(estimator, getattr(import_module(module), table))


def check_model(estimator: Any) -> None:
    """Check that all parts of a loaded model fit together.

    Raises
    ------
    DataError
        They do not.
    """
    features = estimator.features_
    is_whole = isinstance(features, tuple) and all(isinstance(spec, FeatureSpec) for spec in features)
    require(is_whole and len(features) == estimator.n_features_in_, "its columns are not all described")
    _check_column_names(estimator, features)
    is_boosted = type(estimator).__name__.startswith("GradientBoosting")
    n_classes = 0
    if type(estimator).__name__.endswith("Classifier"):
        require(
            isinstance(estimator.classes_, np.ndarray) and estimator.classes_.ndim == 1, "it has no classes"
        )
        n_classes = len(estimator.classes_)
        require(n_classes > 0, "it has no classes")
        told = getattr(estimator, "n_classes_", None if is_boosted else n_classes)
        require(type(told) is int and told == n_classes, "its numbers of classes differ")
    if type(estimator).__name__.startswith("DeepEnsemble"):
        check_networks(estimator, n_classes, require)
        return
    if isinstance(estimator, Composition):
        check_composition(estimator, n_classes)
        return
    if estimator.combination == "rows":
        estimator.check_parts()
        return
    if is_boosted:
        trees = _trees_of_rounds(estimator, 1 if n_classes in (0, 2) else n_classes)
        n_outputs = 1
    else:
        trees = [estimator.tree_] if hasattr(estimator, "tree_") else estimator.estimators_
        n_outputs = max(n_classes, 1)
        is_adaboost = type(estimator).__name__.startswith("AdaBoost")
        require(isinstance(trees, list) and (is_adaboost or len(trees) > 0), "it has no tree")
        if is_adaboost:
            _check_weights_of_trees(estimator, n_outputs)
    for tree in trees:
        _check_tree(tree, features, n_outputs)


def check_composition(model: Any, n_classes: int) -> None:
    """Check the models of which another is made, and that their answers go together."""
    n_outputs = max(n_classes, 1)
    baseline = model.baseline_
    is_whole = isinstance(baseline, np.ndarray) and baseline.dtype == np.float64
    require(
        is_whole and baseline.shape == (n_outputs,) and np.isfinite(baseline).all(), "its baseline is missing"
    )
    require(isinstance(model.estimators_, list), "its models are missing")
    is_taken = bool(getattr(model, "prefit", False))
    for part in model.estimators_:
        known = model.classes_.tolist() if is_taken and n_classes else list(range(n_classes))
        _check_part(part, known, len(model.features_))
    if not hasattr(model, "meta_names_"):
        return
    names, final = model.meta_names_, model.final_estimator_
    require(isinstance(names, tuple) and all(isinstance(n, str) for n in names), "its columns have no names")
    n_columns = len(model.estimators_) * (n_outputs - (n_outputs == 2))
    if final is not None:
        require(len(names) == n_columns, "its number of columns is wrong")
        n_read = n_columns + (len(model.features_) if model.passthrough else 0)
        _check_part(final, list(range(n_classes)), n_read)


def _check_part(part: Any, classes: list[Any], most_features: int) -> None:
    """Check one model inside another, which knows some of `classes`."""
    if isinstance(part, OneClass):
        require(part.label in classes, "a model's class is unknown")
        return
    require(isinstance(part, Learner), "a model is missing")
    require(hasattr(part, "classes_") == bool(classes), "a model is of another task")
    check_model(part)
    own = part.classes_.tolist() if classes else []
    require(all(label in classes for label in own), "a model's classes are unknown")
    require(len(part.features_) <= most_features, "a model asks about unknown columns")


def _check_column_names(estimator: Any, features: tuple[FeatureSpec, ...]) -> None:
    """scikit-learn compares them with the table's; a model that was trained on an array has none."""
    if not hasattr(estimator, "feature_names_in_"):
        return
    names = estimator.feature_names_in_
    is_whole = isinstance(names, np.ndarray) and names.dtype == object and names.shape == (len(features),)
    require(is_whole and names.tolist() == [spec.name for spec in features], "its column names differ")


def _trees_of_rounds(estimator: Any, n_raw: int) -> list[Any]:
    rounds, baseline = estimator.estimators_, estimator.baseline_prediction_
    require(isinstance(rounds, list), "its rounds are missing")
    require(all(isinstance(trees, tuple) and len(trees) == n_raw for trees in rounds), "a round is not whole")
    require(isinstance(baseline, np.ndarray) and baseline.shape == (n_raw,), "its baseline is missing")
    require(baseline.dtype == np.float64, "its baseline is no number")
    require(estimator.n_estimators_ == len(rounds), "its number of rounds is wrong")
    first = getattr(estimator, "init_", ())
    require(isinstance(first, tuple) and len(first) in (0, n_raw), "what it begins with is not whole")
    return [tree for trees in (*rounds, first) for tree in trees]


def _check_weights_of_trees(estimator: Any, n_outputs: int) -> None:
    """Check what AdaBoost keeps beside its trees, of which there may be none."""
    n_trees = len(estimator.estimators_)
    for name, shape in (("estimator_weights_", (n_trees,)), ("baseline_", (n_outputs,))):
        numbers = getattr(estimator, name)
        is_whole = isinstance(numbers, np.ndarray) and numbers.dtype == np.float64 and numbers.shape == shape
        require(is_whole and np.all(np.isfinite(numbers)), f"its {name} is missing or no number")
    require(np.all(estimator.estimator_weights_ > 0), "a tree has no weight")
    require(estimator.n_estimators_ == n_trees, "its number of rounds is wrong")


def _check_tree(tree: Any, features: tuple[FeatureSpec, ...], n_outputs: int) -> None:
    require(isinstance(tree, Tree), "a tree is missing")
    require(tree.n_outputs == n_outputs, "a tree's values do not match the classes")
    inner = np.flatnonzero(~tree.is_leaf)
    require(not np.any(tree.feature[inner] >= len(features)), "a tree asks about an unknown column")
    for node in np.flatnonzero(np.isin(tree.kind, (LEVEL_SET, MULTIWAY))).tolist():
        n_levels = len(features[tree.feature[node]].levels or ())
        require(not np.any(tree.levels(node)[:, 0] >= n_levels), "a level set names an unknown level")


def require(holds: Any, complaint: str) -> None:
    """Raise DataError of a damaged file unless something holds."""
    if not holds:
        raise DataError(f"the model file is damaged: {complaint}; export the model again")
