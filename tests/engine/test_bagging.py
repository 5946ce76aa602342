"""Bags of any learner: draws, votes, weights, columns, out-of-bag results against a loop."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC

from engine import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
)
from engine.errors import ParameterError
from engine.export.json import from_json, to_json


def table(n_rows=120):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, 1] + X[:, 2] * X[:, 3] + rng.normal(size=n_rows) * 0.5 > 0).astype(int)


def test_a_bag_of_trees_is_a_forest_that_looks_at_all_columns():
    X, y = table()
    bag = BaggingClassifier(n_estimators=5, oob_score=True, random_state=3).fit(X, y)
    forest = RandomForestClassifier(n_estimators=5, max_features=None, oob_score=True, random_state=3)
    assert bag.estimators_ == forest.fit(X, y).estimators_
    np.testing.assert_array_equal(bag.oob_loss_, forest.oob_loss_)
    assert from_json(to_json(bag)).estimators_ == bag.estimators_


def test_members_are_fitted_to_the_rows_drawn_and_the_columns_given():
    X, y = table()
    target = X[:, 0] - X[:, 3] + 0.1 * y
    bag = BaggingRegressor(
        LinearRegression(), n_estimators=4, max_features=2, max_samples=0.5, random_state=0
    )
    bag.fit(X, target)
    predicted = []
    for member, (estimator, columns) in enumerate(
        zip(bag.estimators_, bag.estimators_features_, strict=True)
    ):
        draws = bag.bootstrap_draws(member)
        assert (len(draws), len(columns)) == (60, 2)
        alone = LinearRegression().fit(X[draws][:, columns], target[draws])
        np.testing.assert_allclose(estimator.coef_, alone.coef_)
        predicted.append(alone.predict(X[:, columns]))
    np.testing.assert_allclose(bag.predict(X), np.mean(predicted, axis=0))


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_out_of_bag_results_are_those_of_a_loop(voting):
    X, y = table(40)
    labels = np.array(["no", "yes"])[y]
    bag = BaggingClassifier(
        KNeighborsClassifier(3), n_estimators=6, voting=voting, oob_score=True, random_state=1
    ).fit(X, labels)
    sums, n_votes, losses, of_members = np.zeros((40, 2)), np.zeros(40), [], []
    for member, estimator in enumerate(bag.estimators_):
        out = np.setdiff1d(np.arange(40), bag.bootstrap_draws(member))
        proba = estimator.predict_proba(X[out])
        said = proba if voting == "soft" else np.eye(2)[estimator.predict(X[out])]
        sums[out] += said
        n_votes[out] += 1
        seen = n_votes > 0
        losses.append(np.mean(sums[seen].argmax(axis=1) != y[seen]))
        of_members.append(np.mean(said.argmax(axis=1) != y[out]))
    np.testing.assert_allclose(bag.oob_loss_, losses)
    np.testing.assert_allclose(bag.member_oob_loss_, of_members)
    assert bag.oob_score_ == pytest.approx(1 - losses[-1])
    assert (bag.n_oob_rows_, bag.n_rows_never_out_) == (seen.sum(), 40 - seen.sum())
    np.testing.assert_allclose(bag.oob_decision_function_[seen], sums[seen] / n_votes[seen, None])


def test_a_learner_without_probabilities_votes():
    X, y = table()
    bag = BaggingClassifier(LinearSVC(), n_estimators=5, random_state=0).fit(X, y)
    votes = np.mean([np.eye(2)[member.predict(X)] for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.predict_proba(X), votes)
    assert set(np.unique(votes)) <= {0, 0.2, 0.4, 0.6, 0.8, 1}


def test_a_learner_without_weights_has_rows_drawn_in_proportion_to_them():
    X, y = table()
    weights = np.where(np.arange(120) < 20, 50.0, 1.0)
    bag = BaggingClassifier(KNeighborsClassifier(1), n_estimators=20, random_state=0).fit(X, y, weights)
    draws = np.concatenate([bag.bootstrap_draws(member) for member in range(20)])
    assert np.mean(draws < 20) == pytest.approx(1000 / 1100, abs=0.02)
    weighted = BaggingClassifier(LogisticRegression(), n_estimators=2, random_state=0).fit(X, y, weights)
    rows = weighted.bootstrap_draws(0)
    alone = LogisticRegression().fit(X[rows], y[rows], weights[rows])
    np.testing.assert_allclose(weighted.estimators_[0].coef_, alone.coef_)
    with pytest.raises(
        ParameterError, match="KNeighborsClassifier, which takes no sample_weight; set bootstr"
    ):
        BaggingClassifier(KNeighborsClassifier(), bootstrap=False).fit(X, y, weights)


def test_rows_of_weight_zero_are_as_good_as_absent():
    X, y = table()
    weights, wild = np.repeat([0.0, 1.0], [20, 100]), X.copy()
    wild[:20] = 1e6
    alone = BaggingClassifier(LogisticRegression(), random_state=0).fit(X[20:], y[20:])
    for rows in (X, wild):
        bag = BaggingClassifier(LogisticRegression(), random_state=0).fit(rows, y, weights)
        np.testing.assert_array_equal(bag.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize("estimator", [None, KNeighborsClassifier(), DecisionTreeClassifier(max_features=1)])
def test_a_warm_start_adds_members_as_if_all_were_fitted_in_one_go(estimator):
    X, y = table()
    settings = {"oob_score": True, "random_state": 2, "max_features": 0.5}
    whole = BaggingClassifier(estimator, n_estimators=7, **settings).fit(X, y)
    grown = BaggingClassifier(estimator, n_estimators=3, warm_start=True, **settings).fit(X, y)
    grown.set_params(n_estimators=7).fit(X, y)
    np.testing.assert_array_equal(grown.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(grown.oob_loss_, whole.oob_loss_)
    with pytest.raises(ParameterError, match="column share"):
        grown.set_params(max_features=1).fit(X, y)


@pytest.mark.parametrize("estimator", [DecisionTreeRegressor(max_features=1), LinearRegression()])
def test_any_number_of_threads_gives_the_same_bits(estimator):
    X, _ = table()
    one, *others = (
        BaggingRegressor(estimator, n_jobs=n, random_state=0).fit(X, X[:, 0] * X[:, 1]).predict(X)
        for n in (1, 2, 8)
    )
    for other in others:
        np.testing.assert_array_equal(other, one)


def test_members_draw_by_seeds_of_their_own():
    X, y = table()
    bag = BaggingClassifier(
        DecisionTreeClassifier(max_features=1, random_state=0),
        n_estimators=3,
        bootstrap=False,
        random_state=0,
    ).fit(X, y)
    first, second, third = (member.tree_ for member in bag.estimators_)
    assert first != second
    assert second != third


def test_bags_that_lack_classes_answer_for_all_of_them():
    X, y = np.arange(9.0)[:, None], ["a"] * 4 + ["b"] * 4 + ["c"]
    bag = BaggingClassifier(LogisticRegression(), n_estimators=30, max_samples=3, random_state=0).fit(X, y)
    assert {len(member.classes_) for member in bag.estimators_} == {1, 2, 3}
    np.testing.assert_allclose(bag.predict_proba(X).sum(axis=1), 1.0)
    assert bag.predict(X)[0] == "a"


def test_frames_reach_the_members_as_frames():
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        colour=pd.Categorical(np.where(y, "red", "blue")), extra=1.0
    )
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    bag = BaggingClassifier(make_pipeline(encode, LogisticRegression()), random_state=0).fit(frame, y)
    assert bag.score(frame, y) == 1.0


@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(), KNeighborsClassifier()])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stop_after_member_k_equals_a_bag_of_k_members(estimator, n_jobs):
    X, y = table()

    class StopAfterMembers:
        def __init__(self, n_members):
            self.n_members = n_members

        def on_iteration(self, event):
            return event.iteration >= self.n_members

    for n_members in (1, 3):
        stopped = BaggingClassifier(estimator, n_estimators=9, random_state=0, n_jobs=n_jobs)
        stopped.fit(X, y, monitor=StopAfterMembers(n_members))
        fewer = BaggingClassifier(estimator, n_estimators=n_members, random_state=0).fit(X, y)
        assert stopped.stopped_
        np.testing.assert_array_equal(stopped.predict_proba(X), fewer.predict_proba(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimator": 3}, "estimator is 3; enter an estimator with fit, predict and get_params"),
        ({"estimator": LinearRegression()}, "which is no classifier"),
        ({"max_features": 1.5}, "max_features is 1.5"),
        ({"oob_score": True, "bootstrap": False}, "bootstrap is False"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(ParameterError, match=message):
        BaggingClassifier(**settings).fit(*table())
