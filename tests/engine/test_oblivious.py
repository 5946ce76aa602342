"""Oblivious growth: one question a level, the best by the sum over the level's nodes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine import GradientBoostingClassifier, GradientBoostingRegressor
from engine.binning import bin_table
from engine.boosting.oblivious import LevelGrower
from engine.boosting.team import Team
from engine.features import FeatureSpec
from engine.tree.structure import IS_MISSING, LEVEL_SET
from tests.engine import naive_boosting as naive
from tests.engine.test_boosting_grow import PLAIN, derivatives_of, random_table
from tests.engine.test_boosting_sampling import crooked, is_monotone

LEVELS = replace(PLAIN, growth="oblivious", max_leaf_nodes=None)


def grow(X, gradients, settings=LEVELS, *, hessians=None, weights=None, levels=None):
    X = np.ascontiguousarray(X, dtype=float)
    features = tuple(FeatureSpec(f"x{i}", levels=(levels or {}).get(i)) for i in range(X.shape[1]))
    weights = np.ones(len(X)) if weights is None else weights
    grower = LevelGrower(bin_table(X, features, 255), weights, settings, lambda: None, Team(1))
    hessians = weights if hessians is None else hessians
    return grower.grow(derivatives_of(gradients, hessians), np.arange(len(X), dtype=np.int32))


def questions(tree):
    """What the inner nodes of every level ask."""
    inner = ~tree.is_leaf
    asked = []
    for depth in range(tree.max_depth):
        nodes = np.flatnonzero(inner & (tree.depths == depth))
        asked.append({(int(tree.feature[i]), int(tree.kind[i]), str(tree.threshold[i])) for i in nodes})
    return asked


@pytest.mark.parametrize("seed", range(15))
def test_every_level_asks_the_best_question_of_all(seed):
    rng, X = random_table(seed)
    n_rows = len(X)
    is_odd = seed % 2
    rules = {"reg_lambda": 1.0 * is_odd, "gamma": 0.2 * is_odd, "min_samples_leaf": 1 + seed % 3}
    gradients, hessians = rng.normal(size=n_rows), rng.uniform(0.1, 1, n_rows)
    settings = replace(LEVELS, order=2, max_depth=3, **rules)
    grown = grow(X, gradients, settings, hessians=hessians)
    got = sorted(
        tuple(sorted(grown.sample_indices[leaf.start : leaf.stop].tolist())) for leaf in grown.leaves
    )
    assert got == sorted(naive.oblivious_leaves(X, gradients, hessians, 3, **rules))


def test_all_nodes_of_a_level_ask_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0] * X[:, 1]) + 0.3 * rng.normal(size=400)
    model = GradientBoostingRegressor(growth="oblivious", n_estimators=15, max_depth=5, max_leaf_nodes=None)
    model.fit(X, y)
    for (tree,) in model.estimators_:
        assert all(len(asked) == 1 for asked in questions(tree))
        assert tree.max_depth <= 5
        assert tree.n_node_samples[tree.is_leaf].min() >= 20
        tree.validate()
    assert np.mean((model.predict(X) - y) ** 2) / 2 == pytest.approx(model.train_loss_[-1], rel=1e-10)
    assert model.train_loss_[-1] < 0.7 * model.train_loss_[0]


def test_a_level_that_exceeds_the_leaves_is_not_begun():
    rng = np.random.default_rng(1)
    X, gradients = rng.normal(size=(300, 3)), rng.normal(size=300)
    for limit, n_leaves in ((2, 2), (3, 3), (4, 3), (7, 7), (8, 7)):
        assert len(grow(X, gradients, replace(LEVELS, max_leaf_nodes=limit)).leaves) == n_leaves


def test_categories_and_missing_values_are_asked_about():
    rng = np.random.default_rng(2)
    colour = rng.integers(0, 5, 500)
    size = np.where(rng.random(500) < 0.3, np.nan, rng.normal(size=500))
    frame = pd.DataFrame({"colour": pd.Categorical.from_codes(colour, list("abcde")), "size": size})
    y = np.isin(colour, [1, 3]) * 2.0 + np.isnan(size) * 1.0 + 0.1 * rng.normal(size=500)
    model = GradientBoostingRegressor(growth="oblivious", n_estimators=10).fit(frame, y)
    kinds = np.concatenate([tree.kind for (tree,) in model.estimators_])
    assert np.any(kinds == LEVEL_SET)
    assert np.any(kinds == IS_MISSING)
    assert np.mean((model.predict(frame) - y) ** 2) / 2 == pytest.approx(model.train_loss_[-1], rel=1e-10)
    (first, *_) = (tree for (tree,) in model.estimators_)
    assert sorted(first.levels(0)[first.levels(0)[:, 1] == 0, 0].tolist()) == [1, 3]


def test_one_level_is_the_best_split_of_the_root():
    rng, X = random_table(3)
    gradients = rng.normal(size=len(X))
    levels = {2: tuple("abcdef")}
    one = grow(X, gradients, replace(LEVELS, max_depth=1), levels=levels).to_tree(1.0)
    best = naive.best_gain(X.T, [False, False, True], gradients, np.ones(len(X)), 0.0, 1)
    assert one.gain[0] == pytest.approx(best, rel=1e-9)


def test_weights_threads_draws_and_directions():
    X, y = crooked()
    weights = np.random.default_rng(0).uniform(0.2, 3, len(y))
    shared = {"growth": "oblivious", "n_estimators": 8, "min_samples_leaf": 3, "random_state": 0}
    one, two = (
        GradientBoostingClassifier(**shared, max_features=1, n_jobs=n_jobs).fit(X, y > 0, weights)
        for n_jobs in (1, 2)
    )
    assert one.estimators_ == two.estimators_
    assert all(len(asked) == 1 for (tree,) in one.estimators_ for asked in questions(tree))
    model = GradientBoostingRegressor(**shared, monotonic_cst=[1, -1, 0]).fit(X, y, weights)
    assert is_monotone(model.predict, X, 0, 1)
    assert is_monotone(model.predict, X, 1, -1)
    assert not is_monotone(GradientBoostingRegressor(**shared).fit(X, y, weights).predict, X, 0, 1)
