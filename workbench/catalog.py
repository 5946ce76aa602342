"""What can be trained: the registry behind forms, project files and the command line (D22)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ParameterError
from engine.parameters import Parameter
from workbench.catalog_entry import CatalogEntry
from workbench.model_choice import check_choice

FORM_LEAF_SHARE = 0.01  # a leaf of the form's default tree holds 1 % of the rows or more (D32)
FORM_LEAF_ROWS = 5

SEARCH_TERMS = {  # what R and everyday speech call them; other libraries' names are in the tables (D22)
    "hidden_layer_sizes": ("layers", "units", "neurons"),
    "max_depth": ("maxdepth",),
    "max_features": ("mtry",),
    "max_epochs": ("epochs",),
    "max_leaf_nodes": ("maxnodes",),
    "min_samples_leaf": ("minbucket", "nodesize"),
    "min_samples_split": ("minsplit",),
    "n_estimators": ("n_trees", "ntree", "num_trees", "rounds"),
    "random_state": ("seed",),
    "learning_rate": ("shrinkage",),
}


OUT_OF_BAG_NAMES = "share of wrong rows", "mean squared error"  # as in `engine.forest.out_of_bag`

CATALOG: dict[str, CatalogEntry] = {
    entry.key: entry
    for entry in (
        CatalogEntry(
            "tree",
            "Decision tree",
            "One tree of questions that can be read and pruned",
            "tree",
            warm_up_step="decision tree",
            _module="engine.tree",
            _tables=("TREE_CLASSIFIER", "TREE_REGRESSOR"),
            _estimators=("DecisionTreeClassifier", "DecisionTreeRegressor"),
            warm_up_of_large="large tables",
        ),
        CatalogEntry(
            "forest",
            "Random forest",
            "Many trees on random samples, averaged",
            "forest",
            is_ensemble=True,
            step_name="tree",
            warm_up_step="random forest",
            _module="engine.forest",
            _tables=("FOREST_CLASSIFIER", "FOREST_REGRESSOR"),
            _estimators=("RandomForestClassifier", "RandomForestRegressor"),
            warm_up_of_large="large tables",
            out_of_bag_names=OUT_OF_BAG_NAMES,
        ),
        CatalogEntry(
            "extra_trees",
            "Extra trees",
            "Many trees whose splits are drawn at random, averaged",
            "forest",
            is_ensemble=True,
            step_name="tree",
            warm_up_step="extra trees",
            _module="engine.forest",
            _tables=("EXTRA_TREES_CLASSIFIER", "EXTRA_TREES_REGRESSOR"),
            _estimators=("ExtraTreesClassifier", "ExtraTreesRegressor"),
            out_of_bag_names=OUT_OF_BAG_NAMES,
        ),
        CatalogEntry(
            "bagging",
            "Bagging",
            "Full trees on resampled rows, averaged",
            "forest",
            is_ensemble=True,
            step_name="tree",
            warm_up_step="random forest",
            _module="engine.forest",
            _tables=("BAGGING_CLASSIFIER", "BAGGING_REGRESSOR"),
            _estimators=("BaggingClassifier", "BaggingRegressor"),
            warm_up_of_large="large tables",
            out_of_bag_names=OUT_OF_BAG_NAMES,
        ),
        CatalogEntry(
            "boosting",
            "Gradient boosting",
            "Small trees in a row, each mending what is left",
            "boosting",
            is_ensemble=True,
            has_curve=True,
            step_name="round",
            warm_up_step="boosting",
            _module="engine.boosting",
            _tables=("BOOSTING_CLASSIFIER", "BOOSTING_REGRESSOR"),
            _estimators=("GradientBoostingClassifier", "GradientBoostingRegressor"),
        ),
        CatalogEntry(
            "adaboost",
            "AdaBoost",
            "Stumps in a row, on rows that weigh more the more often they were wrong",
            "adaboost",
            is_ensemble=True,
            has_curve=True,
            step_name="round",
            warm_up_step="AdaBoost",
            _module="engine.adaboost",
            _tables=("ADABOOST_CLASSIFIER", "ADABOOST_REGRESSOR"),
            _estimators=("AdaBoostClassifier", "AdaBoostRegressor"),
            warm_up_of_large="large tables",
            curve_names=("share of wrong rows", "half the squared error"),
        ),
        CatalogEntry(
            "neighbors",
            "Nearest neighbours",
            "The answer of the k training rows that are most alike",
            "neighbors",
            _module="engine.classical",
            _tables=("NEIGHBORS_CLASSIFIER", "NEIGHBORS_REGRESSOR"),
            _estimators=("NearestNeighborsClassifier", "NearestNeighborsRegressor"),
            has_trees=False,
            fits_whole=True,
            draws=(False, False),
            _subject="K nearest neighbours",
        ),
        CatalogEntry(
            "networks",
            "Deep ensemble",
            "Neural networks from different starts, averaged: they tell what they do not know",
            "networks",
            has_curve=True,
            step_name="epoch",
            warm_up_step="networks",
            _module="engine.neural",
            _tables=("DEEP_ENSEMBLE_CLASSIFIER", "DEEP_ENSEMBLE_REGRESSOR"),
            _estimators=("DeepEnsembleClassifier", "DeepEnsembleRegressor"),
            curve_names=("log loss", ""),
            has_members=True,
            has_trees=False,
        ),
        CatalogEntry(
            "svm",
            "Support vector machine",
            "A border as far from both sides as can be, straight or curved by a kernel",
            "svm",
            _module="engine.classical",
            _tables=("SVM_CLASSIFIER", "SVM_REGRESSOR"),
            _estimators=("SVMClassifier", "SVMRegressor"),
            has_trees=False,
            fits_whole=True,
            draws=(True, False),
        ),
        CatalogEntry(
            "linear",
            "Linear model",
            "Logistic regression for classes, ridge regression for numbers",
            "linear",
            _module="engine.classical",
            _tables=("LOGISTIC_CLASSIFIER", "RIDGE_REGRESSOR"),
            _estimators=("LogisticClassifier", "RidgeRegressor"),
            has_trees=False,
            fits_whole=True,
            draws=(False, False),
        ),
        CatalogEntry(
            "polynomial",
            "Polynomial regression",
            "Least squares over powers and products of the columns",
            "polynomial",
            _module="engine.classical",
            _tables=("POLYNOMIAL_REGRESSOR", "POLYNOMIAL_REGRESSOR"),
            _estimators=("PolynomialRegressor", "PolynomialRegressor"),
            has_trees=False,
            fits_whole=True,
            draws=(False, False),
            tasks=("numbers",),
        ),
        CatalogEntry(
            "perceptron",
            "Perceptron",
            "Straight borders, moved by every row on their wrong side until none is",
            "perceptron",
            has_curve=True,
            step_name="epoch",
            warm_up_step="perceptron",
            _module="engine.linear",
            _tables=("PERCEPTRON_CLASSIFIER", "PERCEPTRON_CLASSIFIER"),
            _estimators=("PerceptronClassifier", "PerceptronClassifier"),
            curve_names=("share of wrong rows", ""),
            has_trees=False,
            tasks=("classes",),
        ),
        CatalogEntry(
            "naive_bayes",
            "Naive Bayes",
            "Every column tells the class by itself, and their evidence is added up",
            "naive_bayes",
            _module="engine.classical",
            _tables=("NAIVE_BAYES_CLASSIFIER", "NAIVE_BAYES_CLASSIFIER"),
            _estimators=("NaiveBayesClassifier", "NaiveBayesClassifier"),
            has_trees=False,
            fits_whole=True,
            draws=(False, False),
            tasks=("classes",),
            _subject="Naive Bayes",
        ),
        CatalogEntry(
            "stacking",
            "Stacking",
            "A model that learns from what others say of rows they did not see",
            "stacking",
            step_name="fit",
            warm_up_step="AdaBoost",
            _module="engine.stacking",
            _tables=("STACKING_CLASSIFIER", "STACKING_REGRESSOR"),
            _estimators=("StackingClassifier", "StackingRegressor"),
            warm_up_of_large="large tables",
            has_trees=False,
            is_of_models=True,
            _subject="A stack",
        ),
        CatalogEntry(
            "averaging",
            "Averaging",
            "The mean of what several models say",
            "averaging",
            step_name="model",
            warm_up_step="AdaBoost",
            _module="engine.averaging",
            _tables=("AVERAGING_CLASSIFIER", "AVERAGING_REGRESSOR"),
            _estimators=("AveragingClassifier", "AveragingRegressor"),
            warm_up_of_large="large tables",
            has_trees=False,
            is_of_models=True,
            _subject="An average",
        ),
    )
}


def entry_of(key: str) -> CatalogEntry:
    """Return the catalog entry of a key.

    Raises
    ------
    ParameterError
        There is none; lists the keys.
    """
    if key not in CATALOG:
        raise ParameterError(f"there is no kind of model {key!r}; there are {', '.join(CATALOG)}")
    return CATALOG[key]


def start_parameters(key: str, task: str, n_rows: int) -> dict[str, Any]:
    """Return what a new model in the window starts with: every parameter of its table.

    Parameters
    ----------
    n_rows : int
        Rows of the table: a single tree's leaves hold 1 % of them or more (D32).
    """
    values = {parameter.name: parameter.start_value for parameter in entry_of(key).parameters(task)}
    if key == "tree":
        values["min_samples_leaf"] = max(FORM_LEAF_ROWS, round(FORM_LEAF_SHARE * n_rows))
    return values


def adapted_parameters(key: str, task: str, n_rows: int, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters for another task: values that are legal there stay, the others start anew."""
    adapted = start_parameters(key, task, n_rows)
    for parameter in entry_of(key).parameters(task):
        if parameter.name in values and _is_legal(parameter, values[parameter.name], task):
            adapted[parameter.name] = values[parameter.name]
    return adapted


def _is_legal(parameter: Parameter, value: Any, task: str) -> bool:
    try:
        parameter.check(value)
        check_choice(parameter, value, task)
    except ParameterError:
        return False
    return True


def check_parameter_values(key: str, task: str, values: Mapping[str, Any]) -> None:
    """Check all values of a model.

    Raises
    ------
    ParameterError
        A value is outside its range, or there is no such parameter.
    """
    for name, value in values.items():
        parameter = entry_of(key).parameter(task, name)
        parameter.check(value)
        check_choice(parameter, value, task)
