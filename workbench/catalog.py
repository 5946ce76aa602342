"""What can be trained: the registry behind forms, project files and the command line (D22)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from engine.errors import ParameterError
from engine.parameters import Parameter
from workbench.model_choice import as_estimators, check_choice

TASKS = ("classes", "numbers")
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

SEED = Parameter(
    "random_state",
    None,
    "int",
    minimum=0,
    label="Seed",
    group="More",
    help="The same seed and settings give the same model.",
    form_default=0,  # the window always passes a number and shows it (D9)
)


@dataclass(frozen=True)
class CatalogEntry:
    """One kind of model.

    Attributes
    ----------
    key : str
        As in project files and on the command line.
    title, one_line : str
        For menus.
    icon : str
        Name in the window's icon table.
    is_ensemble : bool
        Holds several trees.
    has_curve : bool
        Reports a loss after every step.
    step_name : str
        What one step of a fit is called; "" where steps are not told.
    warm_up_step : str
        What `engine.warmup` calls the kind; "" where nothing has to be compiled.
    warm_up_of_large : str
        And what it calls kernels that are used on tables of `LARGE_ROWS` rows or more; "" where none are.
    curve_names : tuple of str or None
        What the loss by step is called, for classes and for numbers; None, or "" for one of them, where its
        own setting says so.
    out_of_bag_names : tuple of str or None
        What the error on rows that members left out is called, likewise; None where none leaves rows out.
    has_members : bool
        Its members are told one by one, each with a curve of its own.
    has_trees : bool
        It is made of trees, which can be looked at, pruned and exported.
    draws : tuple of bool
        Whether chance has a part in it, for classes and for numbers: then it has a seed.
    fits_apart : bool
        Its fit cannot ask whether to stop, and so runs in a process of its own.
    tasks : tuple of str
        What it can learn: "classes", "numbers" or both.
    is_of_models : bool
        It is made of other models, which are chosen among its settings.
    """

    key: str
    title: str
    one_line: str
    icon: str
    is_ensemble: bool
    has_curve: bool
    step_name: str
    warm_up_step: str
    _module: str
    _tables: tuple[str, str]
    _estimators: tuple[str, str]
    warm_up_of_large: str = ""
    curve_names: tuple[str, str] | None = None
    out_of_bag_names: tuple[str, str] | None = None
    has_members: bool = False
    has_trees: bool = True
    draws: tuple[bool, bool] = (True, True)
    tasks: tuple[str, ...] = TASKS
    fits_apart: bool = False
    is_of_models: bool = False
    _subject: str = ""

    @property
    def subject(self) -> str:
        """What begins a sentence about such a model: "A decision tree"."""
        return self._subject or f"A {self.title.lower()}"

    def why_not(self, task: str) -> str:
        """Say why it cannot learn a task, and the cure; "" where it can."""
        if task in self.tasks:
            return ""
        only = "classes" if self.tasks == ("classes",) else "numbers"
        return f"{self.subject} learns {only} only; choose a target of {only}, or another kind of model"

    def curve_name(self, task: str, parameters: Mapping[str, Any]) -> str:
        """Return what the loss by step is called with these settings."""
        if self.curve_names is not None and self.curve_names[TASKS.index(task)]:
            return self.curve_names[TASKS.index(task)]
        words: dict[str, str] = import_module(f"{self._module}.parameters").LOSS_WORDS
        return words[parameters.get("loss", self.parameter(task, "loss").default)]

    def out_of_bag_name(self, task: str) -> str:
        """Return what the error on rows that members left out is called; "" where none leaves rows out."""
        return "" if self.out_of_bag_names is None else self.out_of_bag_names[TASKS.index(task)]

    def warm_up_of(self, n_rows: int) -> str:
        """Return the last step of the warm-up that a training on so many rows needs."""
        return self.warm_up_of_large if self.warm_up_of_large and n_rows >= LARGE_ROWS else self.warm_up_step

    def parameters(self, task: str) -> tuple[Parameter, ...]:
        """Return the parameter table for a task, "classes" or "numbers"."""
        table = getattr(import_module(f"{self._module}.parameters"), self._tables[TASKS.index(task)])
        own = tuple(parameter for parameter in table if parameter.name != SEED.name)
        return (*own, SEED) if self.draws[TASKS.index(task)] else own

    def estimator_name(self, task: str) -> str:
        """Name of the estimator in `engine`."""
        return self._estimators[TASKS.index(task)]

    def make(self, task: str, parameters: Mapping[str, Any], n_classes: int = 0) -> Any:
        """Return an estimator that is not fitted yet; imports the learner.

        Raises
        ------
        ParameterError
            It does not learn this task.
        """
        if why := self.why_not(task):
            raise ParameterError(why)
        applying = self.applying(task, parameters, n_classes)
        for parameter in self.parameters(task):
            if parameter.name in applying:
                applying[parameter.name] = as_estimators(parameter, applying[parameter.name], task)
        return getattr(import_module("engine"), self.estimator_name(task))(**applying)

    def applying(self, task: str, parameters: Mapping[str, Any], n_classes: int = 0) -> dict[str, Any]:
        """Return the parameters without those that have no effect beside the others.

        A form does not show them, so a value left over in one must not keep a model from training.
        """
        tables = {parameter.name: parameter for parameter in self.parameters(task)}
        return {
            name: value
            for name, value in parameters.items()
            if name not in tables
            or (
                all(parameters.get(k, tables[k].default) in v for k, v in tables[name].applies_when.items())
                and n_classes <= (tables[name].max_classes or n_classes)
            )
        }

    def label(self, task: str, name: str) -> str:
        """Return what a setting is called; also one of the other task, left over from another target."""
        for known in (task, *TASKS):
            for parameter in self.parameters(known):
                if parameter.name == name:
                    return parameter.label or name
        return name

    def parameter(self, task: str, name: str) -> Parameter:
        """Return one parameter by name.

        Raises
        ------
        ParameterError
            There is none; names those there are.
        """
        table = self.parameters(task)
        for parameter in table:
            if parameter.name == name:
                return parameter
        known = ", ".join(parameter.name for parameter in table)
        raise ParameterError(f"a {self.title.lower()} has no parameter {name!r}; it has {known}")


OUT_OF_BAG_NAMES = "share of wrong rows", "mean squared error"  # as in `engine.forest.out_of_bag`
LARGE_ROWS = 4096  # as in `engine.tree.subtrees`, which loads the compiler

CATALOG: dict[str, CatalogEntry] = {
    entry.key: entry
    for entry in (
        CatalogEntry(
            "tree",
            "Decision tree",
            "One tree of questions that can be read and pruned",
            "tree",
            is_ensemble=False,
            has_curve=False,
            step_name="",
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
            has_curve=False,
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
            has_curve=False,
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
            has_curve=False,
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
            is_ensemble=False,
            has_curve=False,
            step_name="",
            warm_up_step="",
            _module="engine.classical",
            _tables=("NEIGHBORS_CLASSIFIER", "NEIGHBORS_REGRESSOR"),
            _estimators=("NearestNeighborsClassifier", "NearestNeighborsRegressor"),
            has_trees=False,
            fits_apart=True,
            draws=(False, False),
            _subject="K nearest neighbours",
        ),
        CatalogEntry(
            "networks",
            "Deep ensemble",
            "Neural networks from different starts, averaged: they tell what they do not know",
            "networks",
            is_ensemble=False,
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
            is_ensemble=False,
            has_curve=False,
            step_name="",
            warm_up_step="",
            _module="engine.classical",
            _tables=("SVM_CLASSIFIER", "SVM_REGRESSOR"),
            _estimators=("SVMClassifier", "SVMRegressor"),
            has_trees=False,
            fits_apart=True,
            draws=(True, False),
        ),
        CatalogEntry(
            "linear",
            "Linear model",
            "Logistic regression for classes, ridge regression for numbers",
            "linear",
            is_ensemble=False,
            has_curve=False,
            step_name="",
            warm_up_step="",
            _module="engine.classical",
            _tables=("LOGISTIC_CLASSIFIER", "RIDGE_REGRESSOR"),
            _estimators=("LogisticClassifier", "RidgeRegressor"),
            has_trees=False,
            fits_apart=True,
            draws=(False, False),
        ),
        CatalogEntry(
            "perceptron",
            "Perceptron",
            "Straight borders, moved by every row on their wrong side until none is",
            "perceptron",
            is_ensemble=False,
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
            is_ensemble=False,
            has_curve=False,
            step_name="",
            warm_up_step="",
            _module="engine.classical",
            _tables=("NAIVE_BAYES_CLASSIFIER", "NAIVE_BAYES_CLASSIFIER"),
            _estimators=("NaiveBayesClassifier", "NaiveBayesClassifier"),
            has_trees=False,
            fits_apart=True,
            draws=(False, False),
            tasks=("classes",),
            _subject="Naive Bayes",
        ),
        CatalogEntry(
            "stacking",
            "Stacking",
            "A model that learns from what others say of rows they did not see",
            "stacking",
            is_ensemble=False,
            has_curve=False,
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
            is_ensemble=False,
            has_curve=False,
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
