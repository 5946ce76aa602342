"""The engine: tree models on numpy and numba, others beside them, with scikit-learn's estimator contract.

Public names are imported on first use; nothing is compiled at import.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "DecisionTreeClassifier": "engine.tree.estimators",
    "DecisionTreeRegressor": "engine.tree.estimators",
    "RandomForestClassifier": "engine.forest.estimators",
    "RandomForestRegressor": "engine.forest.estimators",
    "ExtraTreesClassifier": "engine.forest.estimators",
    "ExtraTreesRegressor": "engine.forest.estimators",
    "BaggingClassifier": "engine.forest.bagging",
    "BaggingRegressor": "engine.forest.bagging",
    "GradientBoostingClassifier": "engine.boosting.estimators",
    "GradientBoostingRegressor": "engine.boosting.estimators",
    "AdaBoostClassifier": "engine.adaboost.estimators",
    "AdaBoostRegressor": "engine.adaboost.estimators",
    "AveragingClassifier": "engine.averaging.estimators",
    "AveragingRegressor": "engine.averaging.estimators",
    "StackingClassifier": "engine.stacking.estimators",
    "StackingRegressor": "engine.stacking.estimators",
    "NearestNeighborsClassifier": "engine.classical.neighbors",
    "NearestNeighborsRegressor": "engine.classical.neighbors",
    "SVMClassifier": "engine.classical.svm",
    "SVMRegressor": "engine.classical.svm",
    "LogisticClassifier": "engine.classical.linear",
    "RidgeRegressor": "engine.classical.linear",
    "PolynomialRegressor": "engine.classical.polynomial",
    "NaiveBayesClassifier": "engine.classical.bayes",
    "PerceptronClassifier": "engine.linear.estimators",
    "DeepEnsembleClassifier": "engine.neural.estimators",
    "DeepEnsembleRegressor": "engine.neural.estimators",
    "tune": "engine.tuning.tune",
    "DataError": "engine.errors",
    "NotFittedError": "engine.errors",
    "ParameterError": "engine.errors",
    "IterationEvent": "engine.monitor",
    "Tree": "engine.tree.structure",
}

__all__ = tuple(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
