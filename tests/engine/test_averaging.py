"""Averages of any models: weights, votes, classes put side by side by label, fitted models as they are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from engine import (
    AveragingClassifier,
    AveragingRegressor,
    DataError,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ParameterError,
    RandomForestClassifier,
)
from engine.surface import encoded_answer


def table(n_rows=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.4 * rng.normal(size=n_rows), [-0.5, 0.6])]


def test_the_average_is_that_of_models_fitted_alone():
    X, y = table()
    named = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    average = AveragingClassifier(named, weights=[1, 3]).fit(X, y)
    alone = [model.fit(X, y).predict_proba(X) for _, model in named]
    np.testing.assert_allclose(average.predict_proba(X), 0.25 * alone[0] + 0.75 * alone[1], atol=1e-15)
    assert average.predict(X).tolist() == average.classes_[average.predict_proba(X).argmax(axis=1)].tolist()


def test_a_hard_vote_counts_first_choices():
    X, y = table()
    named = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2)), ("svm", LinearSVC())]
    votes = AveragingClassifier(named, voting="hard", random_state=0).fit(X, y)
    said = np.array([model.fit(X, y).predict(X) for _, model in named])
    shares = (said[:, :, None] == np.unique(y)).mean(axis=0)
    np.testing.assert_allclose(votes.predict_proba(X), shares)


def test_numbers_are_averaged():
    X, _ = table()
    y = X[:, 0] ** 2 + X[:, 1]
    named = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3))]
    average = AveragingRegressor(named).fit(X, y)
    expected = np.mean([model.fit(X, y).predict(X) for _, model in named], axis=0)
    np.testing.assert_allclose(average.predict(X), expected)


def test_fitted_models_of_other_classes_are_put_side_by_side_by_label():
    X, y = table()
    first = GaussianNB().fit(X[y != "c"], y[y != "c"])
    second = KNeighborsClassifier(3).fit(X[y != "a"], y[y != "a"])
    average = AveragingClassifier([("first", first), ("second", second)], prefit=True)
    average.fit(X[y != "c"], y[y != "c"])
    assert average.classes_.tolist() == ["a", "b", "c"]
    expected = np.zeros((len(X), 3))
    expected[:, :2] += first.predict_proba(X) / 2
    expected[:, 1:] += second.predict_proba(X) / 2
    np.testing.assert_allclose(average.predict_proba(X), expected)
    assert average.estimators_ == [first, second], "taken as they are"


def test_fitted_models_are_asked_about_the_columns_they_know():
    X, y = table()
    frame = pd.DataFrame(X, columns=["one", "two", "three"]).assign(
        colour=pd.Categorical(np.where(X[:, 1] > 0, "red", "blue"))
    )
    tree = DecisionTreeClassifier(max_depth=3).fit(frame[["colour", "one"]], y)
    forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(frame, y)
    average = AveragingClassifier([("tree", tree), ("forest", forest)], prefit=True).fit(frame, y)
    expected = (tree.predict_proba(frame[["colour", "one"]]) + forest.predict_proba(frame)) / 2
    np.testing.assert_array_equal(average.predict_proba(frame), expected)
    encoded = np.column_stack([X, X[:, 1] > 0])
    np.testing.assert_array_equal(encoded_answer(average, encoded), expected)


def test_a_model_of_another_package_fitted_on_a_frame_cannot_be_asked_with_codes():
    X, y = table()
    frame = pd.DataFrame(X, columns=["one", "two", "three"])
    average = AveragingClassifier([("bayes", GaussianNB())]).fit(frame, y)
    with pytest.raises(DataError, match="GaussianNB was trained on a frame"):
        encoded_answer(average, X)
    on_array = AveragingClassifier([("bayes", GaussianNB())]).fit(X, y)
    np.testing.assert_array_equal(encoded_answer(on_array, X), average.predict_proba(frame))


def test_decision_values_are_turned_into_shares():
    X, y = table()
    two = np.where(y == "a", "a", "b")
    model = LinearSVC().fit(X, two)
    average = AveragingClassifier([("svm", model)], prefit=True).fit(X, two)
    expected = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(average.predict_proba(X)[:, 1], expected)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"estimators": []}, "estimators is"),
        ({"estimators": [("x", LinearRegression())]}, "no classifier"),
        ({"estimators": [("x", GaussianNB()), ("x", GaussianNB())]}, "give each its own"),
        ({"estimators": [("a__b", GaussianNB())]}, "without two underscores"),
        ({"estimators": [("x", GaussianNB())], "weights": [1, 2]}, "weights is"),
        ({"estimators": [("x", GaussianNB())], "weights": [0.0]}, "not all 0"),
        ({"estimators": [("x", GaussianNB())], "weights": [-1.0]}, "weights is"),
        ({"estimators": [("x", {"kind": "tree", "parameters": {}})]}, "enter an estimator"),
    ],
)
def test_what_does_not_go_is_refused_by_name(settings, told):
    X, y = table()
    with pytest.raises(ParameterError, match=told):
        AveragingClassifier(**settings).fit(X, y)


def test_weights_of_rows_go_to_the_models_and_those_that_take_none_are_refused():
    X, y = table()
    weights = np.where(y == "a", 3.0, 1.0)
    average = AveragingClassifier([("bayes", GaussianNB())]).fit(X, y, weights)
    np.testing.assert_allclose(average.predict_proba(X), GaussianNB().fit(X, y, weights).predict_proba(X))
    with pytest.raises(ParameterError, match="a KNeighborsClassifier takes none"):
        AveragingClassifier([("knn", KNeighborsClassifier())]).fit(X, y, weights)


def test_seeds_that_are_set_stay_and_others_come_from_the_models_own():
    X, y = table()
    fixed = RandomForestClassifier(n_estimators=3, random_state=5)
    average = AveragingClassifier([("fixed", fixed), ("open", RandomForestClassifier(n_estimators=3))])
    average.set_params(random_state=1).fit(X, y)
    assert average.estimators_[0].estimators_ == fixed.fit(X, y).estimators_
    again = AveragingClassifier(average.estimators, random_state=1, n_jobs=1).fit(X, y)
    assert again.estimators_[1].estimators_ == average.estimators_[1].estimators_
    assert average.set_params(fixed=LogisticRegression()).estimators[0][1].C == 1.0
