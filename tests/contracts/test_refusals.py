"""What every estimator refuses, and that the message names place, value and cure (contracts D24)."""

import numpy as np
import pandas as pd
import pytest

import engine
from engine import DataError, ParameterError

NAMES = [name for name in engine.__all__ if name.endswith(("Classifier", "Regressor"))]
CLASSIFIERS = [name for name in NAMES if name.endswith("Classifier")]
REGRESSORS = [name for name in NAMES if name.endswith("Regressor")]
DRAWING = [name for name in NAMES if "random_state" in getattr(engine, name)().get_params()]
CATEGORISED = [name for name in NAMES if "categorical_features" in getattr(engine, name)().get_params()]
WEIGHTED = [name for name in CLASSIFIERS if "class_weight" in getattr(engine, name)().get_params()]
X, Y = np.arange(16.0).reshape(8, 2), np.array([0, 1] * 4)
INFINITE = np.column_stack([[1.0, 2, np.inf, np.inf, 3, 4, 5, 6], np.arange(8) % 3])


def fit(name, X, y, sample_weight=None, **settings):
    return getattr(engine, name)(**settings).fit(X, y, sample_weight)


@pytest.mark.parametrize("name", CATEGORISED)
@pytest.mark.parametrize("categorical", [None, [1], [0]], ids=["numbers", "beside a category", "as a level"])
def test_infinite_values(name, categorical):
    """Case C15 (a)."""
    told = r"column 'x0' holds 2 infinite values .* in row 2, 3; replace them or treat them as missing"
    with pytest.raises(DataError, match=told):
        fit(name, INFINITE, Y, categorical_features=categorical)
    frame = pd.DataFrame(INFINITE, columns=["width", "kind"])
    with pytest.raises(DataError, match="column 'width' holds 2 infinite values"):
        fit(name, frame, Y, categorical_features=categorical)


@pytest.mark.parametrize("name", CATEGORISED)
def test_infinite_values_at_prediction(name):
    model = fit(name, X, Y, categorical_features=[1])
    with pytest.raises(DataError, match="column 'x1' holds 1 infinite value "):
        model.predict([[0.0, np.inf]])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("column", "told"),
    [
        (["a", "b"] * 4, "column 'bad' holds text; give it the dtype 'category' or drop it"),
        (pd.date_range("2020", periods=8), "column 'bad' holds dates; turn it into numbers such as days"),
    ],
    ids=["text", "dates"],
)
def test_columns_that_are_neither_numbers_nor_categories(name, column, told):
    with pytest.raises(DataError, match=told):
        fit(name, pd.DataFrame({"good": range(8), "bad": column}), Y)


@pytest.mark.parametrize("name", NAMES)
def test_two_columns_of_one_name(name):
    with pytest.raises(DataError, match="more than one column 'a'; give every column its own name"):
        fit(name, pd.DataFrame(X, columns=["a", "a"]), Y)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize(
    "y",
    [
        pd.Series(["a", None, "b", "a"] * 2),
        pd.Series(["a", None, "b", "a"] * 2, dtype="string"),
        pd.Series(["a", None, "b", "a"] * 2, dtype="category"),
        pd.Categorical(["a", None, "b", "a"] * 2),
        pd.Series([1, None, 0, 1] * 2, dtype="Int64"),
        np.array([1.0, np.nan, 0.0, 1.0] * 2),
        np.array(["a", None, "b", "a"] * 2, dtype=object),
    ],
    ids=["str", "string", "category", "Categorical", "Int64", "float", "object"],
)
def test_missing_labels(name, y):
    with pytest.raises(DataError, match=r"target .*NaN.*leave"):
        fit(name, X, y)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (np.nan, "the target is NaN or infinity in 1 rows, first 1; leave them out"),
        (-1e200, "the target is -1e\\+200 in row 1; scale it"),
    ],
)
def test_target_numbers_nothing_can_be_computed_from(name, bad, told):
    with pytest.raises(DataError, match=told):
        fit(name, X, np.where(np.arange(8) == 1, bad, 1.0))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weight", [1e-300, 1e200])
def test_weights_whose_squares_are_nothing_or_infinite(name, weight):
    with pytest.raises(DataError, match=r"the largest sample_weight is .*; scale the weights"):
        fit(name, X, Y, np.full(8, weight))


def test_targets_and_weights_whose_squares_are_infinite_together_are_named():
    X, w = [[0.0], [1.0], [2.0]], [1e10, 1.0, 1.0]
    with pytest.raises(
        DataError, match=r"goes up to 1e\+149 and the weights sum to 1e\+10.*scale one of them"
    ):
        engine.DecisionTreeRegressor().fit(X, [0.0, 1.0, 1e149], w)
    assert np.isfinite(engine.DecisionTreeRegressor().fit(X, [0.0, 1.0, 1e142], w).tree_.impurity).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "weights",
    [np.zeros(8), np.full(8, -1.0), np.full(8, np.nan), np.ones(7), np.ones((8, 2))],
    ids=["all zero", "negative", "missing", "too few", "two columns"],
)
def test_weights_that_are_none(name, weights):
    with pytest.raises(DataError, match="Give sample_weight one finite number from 0 for every row"):
        fit(name, X, Y, weights)


@pytest.mark.parametrize("name", WEIGHTED)
def test_no_row_of_positive_weight_is_left_by_class_weights(name):
    with pytest.raises(DataError, match=r"all rows have weight 0 .*; give some rows weight"):
        fit(name, X, Y, class_weight={0: 0.0, 1: 0.0})


@pytest.mark.parametrize("name", WEIGHTED)
@pytest.mark.parametrize(
    ("class_weight", "told"),
    [
        ({0: -1.0}, "class_weight of 0 is -1.0; enter a finite number from 0"),
        ({1: np.nan}, "class_weight of 1 is nan; enter"),
        ({1: np.inf}, "class_weight of 1 is inf; enter"),
        ({2: 1.0}, r"class_weight names the class 2, but the classes are \[0, 1\]"),
        ("equal", "class_weight is 'equal'; enter one of 'balanced'"),
    ],
)
def test_class_weights(name, class_weight, told):
    with pytest.raises(ParameterError, match=told):
        fit(name, X, Y, class_weight=class_weight)


@pytest.mark.parametrize("name", DRAWING)
@pytest.mark.parametrize("random_state", [-1, 1.5, "a", True])
def test_seeds(name, random_state):
    told = "random_state is .*; enter a whole number from 0, None .drawn anew. or a generator"
    with pytest.raises(ParameterError, match=told):
        fit(name, X, Y, random_state=random_state)


@pytest.mark.parametrize("name", CATEGORISED)
def test_columns_listed_as_categories(name):
    with pytest.raises(
        ParameterError, match="categorical_features is 3; enter 'from_dtype', None, or a list"
    ):
        fit(name, X, Y, categorical_features=3)
    with pytest.raises(DataError, match="categorical_features names 'z', but the table has no such column"):
        fit(name, X, Y, categorical_features=["z"])
