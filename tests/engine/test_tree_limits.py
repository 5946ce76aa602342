"""Limits on a tree's size by nodes, by relative gain and by the price of a leaf."""

import numpy as np
import pytest
import sklearn.tree

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.tree.cost_complexity import prune_at


def numbers(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    return X, np.sign(X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(size=n)


@pytest.mark.parametrize(("max_nodes", "n_leaves"), [(1, 1), (2, 1), (3, 2), (8, 4), (9, 5)])
def test_nodes_are_counted_leaves_included(max_nodes, n_leaves):
    X, y = numbers()
    tree = DecisionTreeRegressor(max_nodes=max_nodes).fit(X, y).tree_
    assert tree.n_leaves == n_leaves
    assert tree.n_nodes <= max_nodes
    assert tree == DecisionTreeRegressor(max_leaf_nodes=max(n_leaves, 2), max_nodes=max_nodes).fit(X, y).tree_
    if n_leaves > 1:
        assert tree == DecisionTreeRegressor(max_leaf_nodes=n_leaves).fit(X, y).tree_


def test_the_narrower_of_two_limits_holds():
    X, y = numbers()
    assert DecisionTreeRegressor(max_nodes=9, max_leaf_nodes=3).fit(X, y).get_n_leaves() == 3
    assert DecisionTreeRegressor(max_nodes=5, max_leaf_nodes=30).fit(X, y).get_n_leaves() == 3


@pytest.mark.parametrize("max_leaf_nodes", [None, 40])
def test_relative_decrease_is_a_share_of_the_roots_impurity(max_leaf_nodes):
    X, y = numbers(1)
    whole = DecisionTreeRegressor(max_leaf_nodes=max_leaf_nodes).fit(X, y).tree_
    relative = DecisionTreeRegressor(min_relative_decrease=2.0, max_leaf_nodes=max_leaf_nodes).fit(X, y).tree_
    absolute = DecisionTreeRegressor(
        min_impurity_decrease=0.02 * whole.impurity[0], max_leaf_nodes=max_leaf_nodes
    ).fit(X, y)
    assert 3 < relative.n_leaves < whole.n_leaves
    assert relative == absolute.tree_
    inner = ~relative.is_leaf
    decrease = relative.gain * relative.n_node_samples / relative.n_node_samples[0]
    assert np.all(decrease[inner] >= 0.02 * relative.impurity[0] - 1e-12)


@pytest.mark.parametrize("alpha", [0.002, 0.01, 0.05])
def test_price_of_a_leaf_is_scikit_learns(alpha):
    X, y = numbers(2)
    ours = DecisionTreeRegressor(ccp_alpha=alpha, min_samples_leaf=5).fit(X, y)
    theirs = sklearn.tree.DecisionTreeRegressor(ccp_alpha=alpha, min_samples_leaf=5, random_state=0).fit(X, y)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    whole = DecisionTreeRegressor(min_samples_leaf=5).fit(X, y).tree_
    assert ours.tree_ == prune_at(whole, alpha)
    np.testing.assert_allclose(
        ours.feature_importances_, theirs.feature_importances_, atol=1e-9
    )  # of the pruned tree


def test_a_price_of_0_prunes_nothing():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2, float)
    assert DecisionTreeClassifier(max_depth=1).fit(X, [0, 1, 1, 0] * 2).get_n_leaves() == 2


def test_the_last_event_brings_the_pruned_tree():
    X, y = numbers(3)
    seen = []

    class Watches:
        def on_iteration(self, event):
            seen.extend(event.new_trees)
            return False

    model = DecisionTreeRegressor(ccp_alpha=0.05).fit(X, y, monitor=Watches())
    assert seen == [model.tree_]
