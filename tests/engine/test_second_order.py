"""Second order as in XGBoost: leaves and gains against a brute-force twin, and the worked numbers."""

from dataclasses import replace

import numpy as np
import pytest

from engine import GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from tests.engine import naive_boosting as naive
from tests.engine.test_boosting_grow import PLAIN, grow, random_table

SECOND = replace(PLAIN, order=2)
X6, Y6 = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 0.0])
HALVES = {"gradients": 0.5 - Y6, "hessians": np.full(6, 0.25)}


def worked(**settings):
    """Six rows by log loss from probability one half; left and right of 2.5 G is 1.5 and -0.5, H 0.75."""
    tree = grow(
        X6, HALVES["gradients"], replace(SECOND, reg_lambda=1.0, max_depth=1, **settings),
        hessians=HALVES["hessians"],
    )  # fmt: skip
    return tree.to_tree(1.0)


def test_gamma_must_be_exceeded_on_xgboosts_scale():
    assert worked(gamma=1.0285).n_leaves == 2
    assert worked(gamma=1.0286).n_leaves == 1
    exact = 1.5**2 / 1.75 + 0.5**2 / 1.75 - 1.0 / 2.5
    assert worked().gain[0] == pytest.approx(exact, rel=1e-14)
    assert worked(gamma=exact).n_leaves == 1


def test_alpha_takes_its_size_off_sums_of_gradients():
    tree = worked(reg_alpha=0.4)
    assert tree.threshold[0] == 2.5
    np.testing.assert_allclose(tree.value[1:, 0], [-1.1 / 1.75, 0.1 / 1.75], rtol=1e-14)
    assert tree.gain[0] == pytest.approx(1.1**2 / 1.75 + 0.1**2 / 1.75 - 0.6**2 / 2.5, rel=1e-13)
    tree = worked(reg_alpha=0.6)
    assert tree.value[2, 0] == 0.0  # 0.5 is less than alpha
    assert worked(reg_alpha=2.0).n_leaves == 1


def test_children_hold_the_least_sum_of_hessians():
    assert worked(min_child_weight=0.75).threshold[0] == 2.5
    assert worked(min_child_weight=0.76).n_leaves == 1
    loose = worked(min_child_weight=0.25)
    assert loose.threshold[0] == 2.5


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("reg_lambda", [0.0, 1.0])
@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
def test_a_tree_equals_the_twin_that_tries_everything(seed, reg_lambda, gamma):
    rng, X = random_table(seed)
    n_rows = len(X)
    gradients, hessians = rng.normal(size=n_rows), rng.uniform(0.05, 1, n_rows)
    rules = {
        "reg_lambda": reg_lambda, "gamma": gamma, "reg_alpha": [0.0, 0.5][seed % 2],
        "min_child_weight": [0.0, 0.7, 1.5][seed % 3],
    }  # fmt: skip
    settings = replace(SECOND, max_depth=3, max_leaf_nodes=None, growth="depth", **rules)
    grown = grow(X, gradients, settings, hessians=hessians)
    leaves = naive.newton_leaves(X, gradients, hessians, 3, **rules)
    got = {
        tuple(sorted(grown.sample_indices[leaf.start : leaf.stop].tolist())): leaf.value
        for leaf in grown.leaves
    }
    assert set(got) == set(leaves)
    for rows, value in leaves.items():
        assert got[rows] == pytest.approx(value, rel=1e-10, abs=1e-13)


def test_the_parameters_reach_the_trees_of_a_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    plain = {"order": 2, "n_estimators": 3, "min_samples_leaf": 1}
    leaves = [
        sum(tree.n_leaves for (tree,) in GradientBoostingRegressor(**plain, **more).fit(X, y).estimators_)
        for more in ({}, {"gamma": 8.0}, {"reg_alpha": 6.0}, {"min_child_weight": 30.0})
    ]
    assert leaves[0] > max(leaves[1:])
    for name in ("reg_lambda", "reg_alpha", "gamma", "min_child_weight"):
        with pytest.raises(ParameterError, match=f"{name} is 2.0 with order=1, where it has no effect"):
            GradientBoostingClassifier(**{name: 2.0}).fit(X, y > 0)


@pytest.mark.parametrize("exponent", [-900, 150])
def test_a_gamma_beyond_any_gain_is_no_accident_of_scale(exponent):
    tree = grow(
        X6, HALVES["gradients"] * 2.0**exponent, replace(SECOND, gamma=1.0), hessians=HALVES["hessians"]
    )
    assert len(tree.leaves) == (1 if exponent < 0 else 3)


def test_leaves_of_three_classes_take_two_thirds_of_the_newton_step():
    y = np.array([0, 1, 2, 2, 0, 1, 1, 1, 0])
    X = np.arange(9.0)[:, None]
    model = GradientBoostingClassifier(
        n_estimators=1, learning_rate=1.0, order=2, max_depth=1, min_samples_leaf=3, reg_lambda=0.5
    ).fit(X, y)
    p = np.bincount(y) / 9
    for k, tree in enumerate(model.estimators_[0]):
        goes_left = X[:, 0] <= tree.threshold[0]
        for side, leaf in zip((goes_left, ~goes_left), tree.children(0), strict=True):
            newton = np.sum((y[side] == k) - p[k]) / (side.sum() * p[k] * (1 - p[k]) + 0.5)
            assert tree.value[leaf, 0] == pytest.approx(2 / 3 * newton, rel=1e-12)
