"""Columns drawn per tree and per node, and columns along which the prediction rises or falls."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from engine.binning import bin_table
from engine.boosting.grow import TreeGrower
from engine.boosting.team import Team
from engine.dtypes import as_input
from engine.features import FeatureSpec
from engine.tree.kernels.layout import FALLS, RISES
from tests.engine.test_boosting_grow import PLAIN, derivatives_of, grow


def make_table(n=300, n_columns=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    return X, X @ rng.normal(size=n_columns) + 0.3 * rng.normal(size=n)


def columns_of(trees):
    return [set(tree.feature[~tree.is_leaf].tolist()) for tree in trees]


def test_a_tree_asks_about_its_drawn_columns_alone():
    X, y = make_table()
    model = GradientBoostingRegressor(
        n_estimators=40, colsample_bytree=0.3, random_state=1, max_leaf_nodes=64
    )
    model.fit(X, y)
    asked = columns_of(tree for (tree,) in model.estimators_)
    assert max(map(len, asked)) == 2  # 0.3 of 8, rounded down
    assert set().union(*asked) == set(range(8))
    one = GradientBoostingRegressor(n_estimators=9, colsample_bytree=0.01, random_state=1).fit(X, y)
    assert {len(columns) for columns in columns_of(tree for (tree,) in one.estimators_)} == {1}


def test_each_class_has_columns_of_its_own():
    X, y = make_table()
    model = GradientBoostingClassifier(n_estimators=6, colsample_bytree=0.13, random_state=1)
    model.fit(X, np.digitize(y, [-1, 1]))
    firsts = [columns_of(trees) for trees in model.estimators_]
    assert any(len({tuple(columns) for columns in of_round}) > 1 for of_round in firsts)


def test_nodes_draw_columns_of_their_own():
    X, y = make_table()
    model = GradientBoostingRegressor(n_estimators=10, max_features=1, random_state=1, max_leaf_nodes=16)
    model.fit(X, y)
    asked = columns_of(tree for (tree,) in model.estimators_)
    assert max(map(len, asked)) > 2
    roots = {int(tree.feature[0]) for (tree,) in model.estimators_}
    assert len(roots) > 2
    every = GradientBoostingRegressor(n_estimators=3).fit(X, y)
    for wanted in (8, 1.0, None):
        again = GradientBoostingRegressor(n_estimators=3, max_features=wanted).fit(X, y)
        assert again.estimators_ == every.estimators_
    with pytest.raises(ParameterError, match=r"max_features is 1\.5"):
        GradientBoostingRegressor(max_features=1.5).fit(X, y)


def test_the_search_goes_on_while_all_drawn_columns_are_constant():
    X = np.column_stack([np.zeros((20, 6)), np.arange(20.0)])
    for seed in range(5):
        model = GradientBoostingRegressor(
            n_estimators=1, max_features=1, min_samples_leaf=1, random_state=seed
        )
        ((tree,),) = model.fit(X, np.arange(20.0) > 9).estimators_
        assert tree.feature[0] == 6


@pytest.mark.parametrize("settings", [{"colsample_bytree": 0.5}, {"max_features": 2}, {"subsample": 0.5}])
def test_draws_depend_on_the_seed_and_the_round_alone(settings):
    X, y = make_table()
    few, many, other = (
        GradientBoostingRegressor(n_estimators=n, random_state=seed, n_jobs=jobs, **settings).fit(X, y)
        for n, seed, jobs in ((3, 5, 1), (6, 5, 2), (3, 6, 1))
    )
    assert few.estimators_ == many.estimators_[:3]
    assert few.estimators_ != other.estimators_


def test_columns_that_no_tree_may_ask_about_are_left():
    X, y = make_table(60)
    binned = bin_table(X, tuple(FeatureSpec(f"x{i}") for i in range(8)), 255)
    grower = TreeGrower(binned, np.ones(60), PLAIN, lambda: None, Team(1))
    grown = grower.grow(derivatives_of(-y, np.ones(60)), np.arange(60, dtype=np.int32), np.array([3, 5]))
    assert columns_of([grown.to_tree(1.0)]) == [{3, 5}]


def is_monotone(predict, X, column, sign):
    """Walk the column's values with all others held at those of each of some rows."""
    steps = np.sort(X[~np.isnan(X[:, column]), column])
    for row in X[:25]:
        table = np.tile(row, (len(steps), 1))
        table[:, column] = steps
        if np.any(np.diff(predict(table)) * sign < 0):
            return False
    return True


def crooked(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + np.sin(4 * X[:, 0]) + X[:, 1] * X[:, 2] - np.abs(X[:, 1]) + 0.3 * rng.normal(size=n)
    X[rng.random(X.shape) < 0.08] = np.nan
    return X, np.nan_to_num(y, nan=0.5)


SETTINGS = [
    {}, {"order": 2, "reg_lambda": 1.0}, {"leaf_update": "per_tree"}, {"growth": "depth", "max_depth": 4},
    {"max_features": 1}, {"subsample": 0.5},
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("seed", range(2))
def test_predictions_keep_their_directions(settings, seed):
    X, y = crooked(seed=seed)
    shared = {"n_estimators": 15, "learning_rate": 0.5, "min_samples_leaf": 3, "random_state": 0, **settings}
    model = GradientBoostingRegressor(**shared, monotonic_cst=[1, -1, 0]).fit(X, y)
    assert is_monotone(model.predict, X, 0, 1)
    assert is_monotone(model.predict, X, 1, -1)
    free = GradientBoostingRegressor(**shared).fit(X, y)
    assert not is_monotone(free.predict, X, 0, 1)
    classifier = GradientBoostingClassifier(**shared, monotonic_cst=[1, -1, 0]).fit(X, y > 0.3)
    assert is_monotone(lambda table: classifier.predict_proba(table)[:, 1], X, 0, 1)
    assert is_monotone(classifier.decision_function, X, 1, -1)


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile", "poisson"])
def test_every_loss_keeps_directions_and_its_training_loss(loss):
    X, y = crooked()
    y = np.round(np.exp(y / 2)) if loss == "poisson" else y
    model = GradientBoostingRegressor(
        loss=loss, monotonic_cst={"x0": 1}, n_estimators=15, learning_rate=1, min_samples_leaf=3
    )
    model.fit(pd.DataFrame(X, columns=["x0", "x1", "x2"]), y)
    names = model.feature_names_in_
    assert is_monotone(lambda table: model.predict(pd.DataFrame(table, columns=names)), X, 0, 1)
    assert np.diff(model.train_loss_).max() <= 1e-12
    assert model.train_loss_[-1] < 0.9 * model.train_loss_[0]


def test_directions_hold_where_the_training_loss_is_watched_too():
    X, y = crooked()
    for target, estimator in ((y, GradientBoostingRegressor), (y > 0, GradientBoostingClassifier)):
        model = estimator(monotonic_cst=[1, 1, 1], learning_rate=1, min_samples_leaf=2).fit(X, target)
        assert np.diff(model.train_loss_).max() <= 1e-12


def test_a_split_against_the_direction_is_not_taken():
    X, gradients = np.arange(4.0)[:, None], np.array([-3.0, -3.0, 1.0, 1.0])  # falls
    rises, falls = (
        grow(X, gradients, replace(PLAIN, max_depth=1, directions=as_input([way], np.uint8)))
        for way in (RISES, FALLS)
    )
    assert len(rises.leaves) == 1
    assert [leaf.value for leaf in falls.leaves] == [3.0, -1.0]


def test_missing_values_may_take_either_side():
    X, y = np.array([[0.0], [1], [2], [np.nan]] * 10), np.array([0.0, 1, 2, -50] * 10)
    model = GradientBoostingRegressor(monotonic_cst=[1], min_samples_leaf=1).fit(X, y)
    np.testing.assert_allclose(model.predict(X[:4]), y[:4], atol=0.01)


def test_more_classes_and_categories_have_no_direction():
    X, y = crooked()
    with pytest.raises(ParameterError, match="monotonic_cst is set but there are 3 classes"):
        GradientBoostingClassifier(monotonic_cst=[1, 0, 0]).fit(X, np.digitize(y, [0, 1]))
    frame = pd.DataFrame({"colour": pd.Categorical(list("ab") * 20)})
    with pytest.raises(ParameterError, match="'colour', but that is a category"):
        GradientBoostingRegressor(monotonic_cst=[1]).fit(frame, np.arange(40.0))
