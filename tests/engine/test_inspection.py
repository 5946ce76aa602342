import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression

from engine.inspection import impurity_importances, permutation_importances, total_gains
from engine.tree.structure import single_leaf
from tests.engine.random_trees import random_tree


def test_gains_are_summed_by_column():
    tree = random_tree(np.random.default_rng(0), 20, 3)
    expected, plain = np.zeros(4), np.zeros(4)
    for node in range(tree.n_nodes):
        if tree.feature[node] >= 0:
            share = tree.weighted_n_node_samples[node] / tree.weighted_n_node_samples[0]
            expected[tree.feature[node]] += tree.gain[node] * share
            plain[tree.feature[node]] += tree.gain[node]
    np.testing.assert_allclose(total_gains(tree, 4), expected)
    np.testing.assert_allclose(total_gains(tree, 4, by_weight=False), plain)
    assert total_gains(tree, 4)[3] == 0


def test_every_tree_weighs_the_same():
    trees = [random_tree(np.random.default_rng(seed), 12, 3) for seed in range(3)]
    shares = [total_gains(tree, 3) / total_gains(tree, 3).sum() for tree in trees]
    got = impurity_importances([*trees, single_leaf(0.0, 0.0, 1, 1.0)], 3)
    np.testing.assert_allclose(got, np.mean(shares, axis=0))
    assert got.sum() == pytest.approx(1)
    np.testing.assert_array_equal(impurity_importances([single_leaf(0.0, 0.0, 1, 1.0)], 2), [0, 0])


@pytest.mark.parametrize("as_frame", [False, True])
def test_permutation_agrees_with_scikit_learn(as_frame):
    X, y = load_iris(return_X_y=True)
    X = pd.DataFrame(X, columns=list("abcd")) if as_frame else X
    weight = np.linspace(1, 2, 150)
    model = LinearRegression().fit(X, y)
    got = permutation_importances(model, X, y, weight, rng=0, n_repeats=30)
    theirs = permutation_importance(model, X, y, n_repeats=30, random_state=0, sample_weight=weight)
    np.testing.assert_allclose(got.mean, theirs.importances_mean, atol=0.03)
    assert got.values.shape == (4, 30)
    assert got.score == model.score(X, y, weight)
    np.testing.assert_allclose(got.std, got.values.std(axis=1))


def test_permutation_can_be_stopped():
    class StopAfterTwo:
        def on_iteration(self, event):
            return event.iteration == 2

    X, y = load_iris(return_X_y=True)
    got = permutation_importances(LinearRegression().fit(X, y), X, y, monitor=StopAfterTwo())
    assert got.mean.shape == (2,)
