"""Parameter tables (D22): they say what estimators take, and each parameter does something."""

import inspect

import numpy as np
import pandas as pd
import pytest

import engine
from engine.errors import ParameterError
from engine.export.json import to_json
from engine.parameters import UNSET
from workbench.catalog import CATALOG, start_parameters
from workbench.catalog_entry import SEED

CASES = [(key, task) for key, entry in CATALOG.items() for task in entry.tasks]
NOT_IN_TABLES = {"random_state", "categorical_features", "estimator"}  # set elsewhere in the window

# values that differ from the default enough to show; with what else must hold for them to act
TELLING = {
    "loss": ["exponential", "absolute_error", "square", "squared_error"],
    "alpha": [0.6],
    "leaf_update": ["per_tree"],
    "criterion": [],  # in OTHER_CRITERIA
    "n_estimators": [3],
    "learning_rate": [0.5],
    "growth": ["depth", "oblivious"],
    "max_leaf_nodes": [3],
    "max_depth": [2, 4],
    "min_samples_leaf": [9, 40],
    "min_samples_split": [60],
    "min_impurity_decrease": [0.05],
    "min_weight_fraction_leaf": [0.2],
    "max_features": [2],
    "class_weight": ["balanced", "balanced_subsample"],
    "voting": ["hard"],
    "colsample_bytree": [0.4],
    "bootstrap": [False, True],
    "max_samples": [0.3],
    "oob_score": [True, False],
    "max_bins": [4],
    "order": [
        2,
        {"order": 2, "reg_lambda": 5.0},
    ],  # squared error: only beside a shrinkage, legal with 2 alone
    "reg_lambda": [5.0],
    "reg_alpha": [3.0],
    "gamma": [2.0],
    "min_child_weight": [12.0, 40.0],
    "init": ["first_tree"],
    "scoring": ["accuracy", "mae"],
    "subsample": [0.5],
    "early_stopping": [True],
    "validation_fraction": [0.4],
    "n_iter_no_change": [1, 2, 3],
    "tol": [0.5],
    "random_state": [7],
    "max_nodes": [5],
    "min_relative_decrease": [20.0],
    "ccp_alpha": [0.05],
    "algorithm": ["id3", "c4.5"],
    "confidence": [0.01, None],
    "splitter": ["random"],
    "monotonic_cst": [{"monotonic_cst": {"a": -1}}],
    "missing": ["level"],
    "categorical": ["ordered"],
    "n_neighbors": [3],
    "weights": ["distance", [1.0, 3.0]],
    "metric": ["manhattan"],
    "hidden_layer_sizes": [(3,)],
    "averaged": [False],
    "activation": ["tanh"],
    "schedule": ["cosine"],
    "max_epochs": [2],
    "batch_size": [40],
    "weight_decay": [1.0],
    "dropout": [0.5],
    "variance_warm_up": [0],
    "variance_floor": [0.5],
    "calibrate": [True],
    "kernel": ["linear"],
    "C": [0.05],
    "multiclass": ["one_vs_all"],
    "answers": ["decision"],
    "epsilon": [0.6],
    "degree": [4],
    "terms": ["powers"],
    "max_iter": [2],
    "var_smoothing": [0.5],
    "estimators": [[{"name": "tree", "kind": "tree", "parameters": {"max_depth": 2}}]],
    "final_estimator": [{"final_estimator": {"kind": "tree", "parameters": {"max_depth": 2}}}],
    "cv": [3],
    "folds": ["plain"],
    "n_repeats": [2],
    "passthrough": [True],
}
DRAWING = [
    {"name": name, "kind": "forest", "parameters": {"n_estimators": n}} for name, n in (("a", 2), ("b", 3))
]
OTHER_CRITERIA = {"classes": ["entropy", "misclassification"], "numbers": ["poisson", "absolute_error"]}
CONTEXT = {
    "alpha": {"loss": "quantile"},
    "leaf_update": {"loss": {"classes": "log_loss", "numbers": "absolute_error"}},
    "confidence": {"algorithm": "c4.5"},
    **{key: {"order": 2} for key in ("reg_lambda", "reg_alpha", "gamma", "min_child_weight")},
    "validation_fraction": {"early_stopping": True},
    "n_iter_no_change": {
        "early_stopping": True, "n_estimators": 60, "max_leaf_nodes": 2, "subsample": 0.3,
        "hidden_layer_sizes": (4,), "variance_warm_up": 0,
    },
    "scoring": {"early_stopping": True, "n_iter_no_change": 1, "learning_rate": 0.8},
    "tol": {"early_stopping": True, "n_iter_no_change": {"classes": 2, "numbers": 5}},
    "max_leaf_nodes": {"max_depth": 4},  # a stump has two leaves under any limit
    "min_samples_split": {"max_depth": 4},
    "max_samples": {"bootstrap": True},
    "oob_score": {"bootstrap": True},
    "voting": {"bootstrap": True, "oob_score": True, "max_depth": 3},
    "random_state": {"max_features": 1, "subsample": 0.5, "estimators": DRAWING},
    "growth": {"max_leaf_nodes": 4},
    "calibrate": {"early_stopping": True},
}  # fmt: skip


def table(task):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=150), "b": rng.normal(size=150), "c": rng.normal(size=150)})
    score = X["a"] + X["a"] * X["b"] + rng.normal(0, 0.6, 150)
    return (X, (score > 0.6).map({True: "yes", False: "no"})) if task == "classes" else (X, score + 20)


def fitted(key, task, *, has_gaps=False, has_categories=False, has_more_classes=False, **parameters):
    """Everything a fit leaves behind, without the parameters; the answer of a model without trees."""
    estimator = CATALOG[key].make(task, parameters)
    X, y = table(task)
    if has_more_classes:
        y = y.mask(X["b"] > 0.5, "perhaps")
    if has_categories:
        X["a"] = pd.cut(X["a"], 12, labels=list("abcdefghijkl"), ordered=False)
    if has_gaps:
        X["a"] = X["a"].mask(X["a"] > 1)  # missing is like the few high values that are left
    estimator.fit(X, y)
    if estimator.combination == "rows":
        return answer_of(estimator, X).tobytes()
    text = to_json(estimator)
    return text[text.index('"fitted"') :]


def answer_of(estimator, X):
    """What a model says that is not made of trees."""
    if hasattr(estimator, "predict_uncertainty"):
        return np.concatenate([part.ravel() for part in estimator.predict_uncertainty(X)])
    asked = ("predict_proba", "decision_function", "predict")
    return next(getattr(estimator, name)(X) for name in asked if hasattr(estimator, name))


def estimator_of(key, task):
    return getattr(engine, CATALOG[key].estimator_name(task))


@pytest.mark.parametrize(("key", "task"), CASES)
def test_names_and_defaults_are_those_of_the_estimator(key, task):
    estimator = getattr(engine, CATALOG[key].estimator_name(task))
    signature = inspect.signature(estimator.__init__).parameters
    defaults = {name: p.default for name, p in signature.items() if name != "self"}
    listed = {p.name: p.default for p in CATALOG[key].parameters(task)}
    assert {name: defaults[name] for name in listed} == listed
    assert set(defaults) - set(listed) <= NOT_IN_TABLES
    assert estimator().get_params(deep=False) == defaults


@pytest.mark.parametrize(("key", "task"), CASES)
def test_every_parameter_has_words_a_group_and_legal_start_values(key, task):
    for parameter in CATALOG[key].parameters(task):
        assert parameter.label, parameter.name
        assert parameter.help.endswith("."), parameter.name
        assert parameter.group in ("Size", "Sampling", "Stopping", "More")
        if parameter is not SEED:  # an estimator draws one; the window always shows one
            parameter.check(parameter.default)
        parameter.check(parameter.start_value)
    draws = "random_state" in {p.name for p in CATALOG[key].parameters(task)}
    assert draws == ("random_state" in inspect.signature(estimator_of(key, task)).parameters)
    assert not draws or start_parameters(key, task, 344)["random_state"] == 0
    assert SEED.form_default is not UNSET


def test_the_forms_first_tree_can_be_read():
    assert start_parameters("tree", "classes", 344)["max_depth"] == 5
    assert start_parameters("tree", "classes", 344)["min_samples_leaf"] == 5
    assert start_parameters("tree", "classes", 20_000)["min_samples_leaf"] == 200


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")  # told to end early
@pytest.mark.parametrize(
    ("key", "task", "name"),
    [(key, task, p.name) for key, task in CASES for p in CATALOG[key].parameters(task) if p.in_form],
)
def test_every_parameter_of_a_form_changes_some_fit(key, task, name):
    if name == "n_jobs":
        return  # the number of threads changes no bit, which is the promise
    parameter = CATALOG[key].parameter(task, name)
    known = {p.name for p in CATALOG[key].parameters(task)}
    context = {
        k: v[task] if isinstance(v, dict) else v for k, v in CONTEXT.get(name, {}).items() if k in known
    }
    base = (
        ({"random_state": 0} if "random_state" in known else {})
        | ({"n_estimators": 12} if "n_estimators" in known else {})
        | context
    )
    if parameter.choices and len(parameter.choices) == 1 and parameter.kind == "choice":
        return  # nothing to choose yet
    if (key, task, name) == ("stacking", "numbers", "folds"):
        return  # the other choice needs a column of groups: see test_stacking
    told = OTHER_CRITERIA[task] if name == "criterion" else TELLING[name]
    base |= {"has_gaps": name == "missing", "has_categories": parameter.needs_categories}
    base |= {"has_more_classes": name == "multiclass"}
    before = fitted(key, task, **base)
    assert fitted(key, task, **base) == before
    changes = [value if isinstance(value, dict) else {name: value} for value in told]
    changes = [change for change in changes if parameter.is_legal(change.get(name, parameter.default))]
    assert any(fitted(key, task, **base | change) != before for change in changes)


def test_a_value_left_over_where_it_does_not_apply_is_not_passed_on():
    values = start_parameters("boosting", "classes", 100) | {"reg_lambda": 5.0}
    assert "reg_lambda" not in CATALOG["boosting"].applying("classes", values)
    assert CATALOG["boosting"].applying("classes", values | {"order": 2})["reg_lambda"] == 5.0
    estimator = CATALOG["boosting"].make("classes", values | {"n_estimators": 2})
    X, y = table("classes")
    assert estimator.fit(X, y).n_estimators_ == 2


def test_a_direction_left_over_is_not_passed_on_where_there_are_three_classes():
    """No form shows it there, so it must not keep a model from training."""
    values = start_parameters("tree", "classes", 100) | {"monotonic_cst": {"a": 1}}
    assert CATALOG["tree"].make("classes", values, 3).monotonic_cst is None
    assert CATALOG["tree"].make("classes", values, 2).monotonic_cst == {"a": 1}


@pytest.mark.parametrize(("key", "task"), CASES)
def test_values_outside_the_range_are_refused_by_name(key, task):
    X, y = table(task)
    for parameter in CATALOG[key].parameters(task):
        if parameter.name == "random_state":
            continue  # scikit-learn's own kinds of generators are legal there
        estimator = getattr(engine, CATALOG[key].estimator_name(task))(**{parameter.name: "nonsense"})
        with pytest.raises(ParameterError, match=parameter.name):
            estimator.fit(X, y)


def test_a_scheme_for_more_classes_has_no_effect_with_two():
    for key in ("svm", "linear", "perceptron"):
        entry, values = CATALOG[key], {"multiclass": "one_vs_all"}
        assert entry.applying("classes", values, 2) == {}
        assert entry.applying("classes", values, 3) == values
        assert entry.applying("classes", values) == values, "not known yet"
    assert CATALOG["boosting"].applying("classes", {"monotonic_cst": {"x": 1}}, 3) == {}
