"""Importances on out-of-bag rows, variance and correlation of trees: checked with plain loops."""

import numpy as np
import pytest

from engine import BaggingClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from engine.errors import DataError
from engine.export.json import from_json, to_json
from engine.forest.inspection import out_of_bag_importances, tree_spread
from tests.engine import naive


def table(n_rows=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, 2 * X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n_rows)


@pytest.mark.parametrize("forest", [RandomForestRegressor, ExtraTreesRegressor])
def test_spread_of_numbers_is_that_of_a_loop(forest):
    X, y = table()
    model = forest(n_estimators=5, random_state=0, max_depth=4).fit(X, y)
    new = np.random.default_rng(1).normal(size=(5000, 4))
    spread = tree_spread(model, new)
    told = np.array([naive.tree_values([tree], new)[:, 0] for tree in model.estimators_])
    np.testing.assert_allclose(spread.variance[:, 0], told.var(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(spread.correlations, np.corrcoef(told), rtol=1e-9)
    pairs = [np.corrcoef(told[i], told[j])[0, 1] for i in range(5) for j in range(i)]
    assert spread.correlation == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_spread_of_three_classes_is_that_of_a_loop(voting):
    X, y = table()
    labels = np.digitize(y, [0.0, 2.0])
    model = RandomForestClassifier(n_estimators=4, max_depth=3, voting=voting, random_state=0).fit(X, labels)
    spread = tree_spread(model, X)
    told = np.array([naive.tree_values([tree], X) for tree in model.estimators_])
    if voting == "hard":
        told = np.eye(3)[told.argmax(axis=2)]
    np.testing.assert_allclose(spread.variance, told.var(axis=0), atol=1e-12)
    centred = told - told.mean(axis=1, keepdims=True)
    for i in range(4):
        for j in range(4):
            both, squares = (centred[i] * centred[j]).sum(), [(c**2).sum() for c in (centred[i], centred[j])]
            assert spread.correlations[i, j] == pytest.approx(both / np.sqrt(np.prod(squares)))


def test_trees_that_say_the_same_of_all_rows_have_no_correlation():
    X, _ = table(30)
    spread = tree_spread(RandomForestRegressor(n_estimators=3).fit(X, np.ones(30)), X)
    assert np.isnan(spread.correlation)
    assert spread.variance.max() == 0


@pytest.mark.parametrize("is_classifier", [True, False])
def test_importances_are_those_of_a_loop_over_trees(is_classifier):
    X, y = table()
    weights = np.where(np.arange(150) % 5 == 0, 0.0, 1.0 + np.arange(150) % 3)
    y = np.digitize(y, [0.0, 2.0]) if is_classifier else y
    model = (RandomForestClassifier if is_classifier else RandomForestRegressor)(
        n_estimators=6, random_state=0, max_features=2, oob_score=True
    ).fit(X, y, weights)
    found = out_of_bag_importances(model, X, y, weights, rng=7)
    rng = np.random.default_rng(7)
    for member, tree in enumerate(model.estimators_):
        rows = np.setdiff1d(np.flatnonzero(weights), model.bootstrap_draws(member))

        def loss(table, rows=rows, tree=tree):
            said = naive.tree_values([tree], table)
            losses = said.argmax(axis=1) != y[rows] if is_classifier else (said[:, 0] - y[rows]) ** 2
            return np.average(losses, weights=weights[rows])

        assert loss(X[rows]) == pytest.approx(model.member_oob_loss_[member])
        for column in range(4):
            if column not in tree.feature:
                assert found.values[column, member] == 0
                continue
            shuffled = X[rows].copy()
            shuffled[:, column] = rng.permutation(shuffled[:, column])
            assert found.values[column, member] == pytest.approx(loss(shuffled) - loss(X[rows]))
    np.testing.assert_allclose(found.mean, found.values.mean(axis=1))
    np.testing.assert_allclose(found.std, found.values.std(axis=1))
    assert found.score == pytest.approx(model.member_oob_loss_.mean())
    assert found.mean.argmax() == 0


def test_a_stop_keeps_the_trees_done():
    X, y = table()
    model = RandomForestRegressor(n_estimators=6, random_state=0).fit(X, y)

    class StopAfterTwo:
        def on_iteration(self, event):
            return event.iteration >= 2

    assert out_of_bag_importances(model, X, y, monitor=StopAfterTwo()).values.shape == (4, 2)


def test_what_has_no_left_out_rows_or_no_trees_is_refused():
    X, y = table()
    forest = RandomForestRegressor(n_estimators=2, bootstrap=False).fit(X, y)
    with pytest.raises(DataError, match="no tree left a row out"):
        out_of_bag_importances(forest, X, y)
    read = from_json(to_json(RandomForestRegressor(n_estimators=2).fit(X, y)))
    with pytest.raises(DataError, match="does not know its training rows"):
        out_of_bag_importances(read, X, y)
    with pytest.raises(DataError, match="not the table"):
        out_of_bag_importances(forest, X[:100], y[:100])
    bag = BaggingClassifier(RandomForestClassifier(n_estimators=2), n_estimators=2).fit(X, y > 0)
    with pytest.raises(DataError, match="not made of trees"):
        tree_spread(bag, X)
