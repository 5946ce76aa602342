"""Forests with `max_bins`: the kernel on codes grows what the exact kernels grow on a table of codes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import RandomForestClassifier, RandomForestRegressor
from engine.base import begin_fit, member_seed
from engine.binning import bin_table
from engine.errors import ParameterError
from engine.forest.binned import BinnedGrower, between_bins, codes_as_numbers
from engine.forest.kernels import binned as kernels
from engine.jit import specialisations
from engine.tree.grow import Grower
from engine.tree.growth_rules import make_rules
from engine.tree.presort import presort
from engine.tree.structure import THRESHOLD
from tests.engine import naive


def never(*_):
    return False


def both_ways(model, X, y, weights=None, max_bins=8):
    """Grow one tree by the kernel on codes, and by the exact kernels on the codes as a table."""
    is_classifier = isinstance(model, RandomForestClassifier)
    data = begin_fit(model, X, y, weights, is_classifier=is_classifier)
    binned = bin_table(data.X, data.features, max_bins)
    rules = make_rules(model, data, float(data.sample_weight.sum()))
    drawn = (data.y, data.sample_weight, rules, member_seed(5, 0))
    rows, columns = np.arange(data.n_rows), np.arange(data.n_features)
    fast = BinnedGrower(binned, rows, columns, *drawn).grow(never).tree
    presorted = presort(codes_as_numbers(data.X, binned), data.features, never)
    exact = Grower(presorted, presorted.order.copy(), *drawn).grow(never).tree
    return fast, between_bins(exact, binned), data


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows, n_features = draw(st.integers(1, 90)), draw(st.integers(1, 5))
    X = rng.normal(size=(n_rows, n_features)).round(draw(st.integers(0, 2)))
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.2, 1.0]))] = np.nan
    weights = rng.integers(0, 4, n_rows).astype(float)
    weights[0] = 1.0
    settings = {
        "max_features": draw(st.sampled_from([None, 1, 2])),
        "min_samples_leaf": draw(st.sampled_from([1, 4])),
        "max_depth": draw(st.sampled_from([None, 2])),
        "max_leaf_nodes": draw(st.sampled_from([None, 5])),
    }
    return X, rng, weights, settings, draw(st.sampled_from([2, 5, 255]))


@settings(deadline=None)
@given(tables(), st.integers(2, 4), st.sampled_from(["gini", "entropy", "misclassification"]))
def test_trees_for_classes_have_the_bits_of_the_exact_kernels(table, n_classes, criterion):
    X, rng, weights, limits, max_bins = table
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, len(X))])[: len(X)]
    model = RandomForestClassifier(criterion=criterion, **limits)
    fast, exact, _ = both_ways(model, X, y, weights, max_bins)
    fast.validate()
    if criterion == "entropy":  # sums of logarithms, whose rounding may settle a tie
        assert fast.n_nodes == pytest.approx(exact.n_nodes, abs=4)
    else:
        assert fast == exact


@settings(deadline=None)
@given(tables(), st.sampled_from(["squared_error", "poisson"]))
def test_trees_for_numbers_answer_with_the_means_of_their_rows(table, criterion):
    X, rng, weights, limits, max_bins = table
    y = rng.gamma(1.0, size=len(X)).round(1) + 0.1
    fast, _, data = both_ways(RandomForestRegressor(criterion=criterion, **limits), X, y, weights, max_bins)
    fast.validate()
    for node, rows in enumerate(naive.rows_by_node(fast, data.X)):
        w = data.sample_weight[rows]
        assert fast.n_node_samples[node] == len(rows)
        assert fast.weighted_n_node_samples[node] == pytest.approx(w.sum())
        assert fast.value[node, 0] == pytest.approx(np.average(data.y[rows], weights=w))


def test_trees_for_numbers_are_those_of_the_exact_kernels():
    """Distinct targets without ties: sums that are rounded in another order choose the same splits."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 4)), rng.normal(size=400)
    X[::6, 1] = np.nan
    fast, exact, _ = both_ways(RandomForestRegressor(max_features=2, min_samples_leaf=5), X, y, max_bins=30)
    for name in ("feature", "kind", "first_child", "missing_child", "n_node_samples"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(exact, name))
    np.testing.assert_array_equal(fast.threshold, exact.threshold)
    np.testing.assert_allclose(fast.value, exact.value, rtol=1e-12)


def test_a_node_of_many_rows_is_counted_as_one_of_few():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(4 * kernels.FEW_ROWS, 12))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=len(X)) > 0).astype(int)
    for wanted in (None, 3):
        fast, exact, _ = both_ways(RandomForestClassifier(max_features=wanted), X, y, max_bins=255)
        assert fast == exact
    assert specialisations(kernels.grow_binned) <= 2  # of weights and codes there is one type each


def test_a_bin_for_every_value_is_the_exact_forest_but_for_the_place_of_its_thresholds():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 40, (200, 4)).astype(float)
    y = (X[:, 0] + X[:, 1] * X[:, 2] % 7 > 25).astype(int)
    exact = RandomForestClassifier(n_estimators=4, random_state=0).fit(X, y)
    binned = RandomForestClassifier(n_estimators=4, random_state=0, max_bins=255).fit(X, y)
    for ours, theirs in zip(binned.estimators_, exact.estimators_, strict=True):
        np.testing.assert_array_equal(ours.feature, theirs.feature)
        np.testing.assert_array_equal(ours.n_node_samples, theirs.n_node_samples)
    np.testing.assert_array_equal(binned.predict(X), exact.predict(X))


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
@pytest.mark.parametrize("settings", [{}, {"colsample_bytree": 0.5, "max_samples": 0.6}])
def test_any_number_of_threads_gives_the_same_bits(forest, settings):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 6))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.5, 0.5])
    models = [
        forest(n_estimators=8, random_state=3, n_jobs=n, max_bins=20, oob_score=True, **settings).fit(X, y)
        for n in (1, 2, 8)
    ]
    for other in models[1:]:
        assert other.estimators_ == models[0].estimators_
        np.testing.assert_array_equal(other.oob_loss_, models[0].oob_loss_)


def test_categories_and_medians_have_bins_too():
    rng = np.random.default_rng(4)
    colour = rng.choice(["red", "green", "blue"], 150)
    X = pd.DataFrame({"colour": pd.Categorical(colour), "size": rng.normal(size=150)})
    X.loc[::8, "colour"] = None
    X.loc[::9, "size"] = np.nan
    y = np.where(colour == "red", 3.0, 0.0) + X["size"].fillna(2.0)
    for criterion in ("squared_error", "absolute_error"):
        model = RandomForestRegressor(n_estimators=5, max_bins=6, random_state=0, criterion=criterion)
        model.fit(X, y)
        asked = set()
        assert model.score(X, y) > 0.7
        for tree in model.estimators_:
            tree.validate()
            asked |= set(tree.threshold[tree.kind == THRESHOLD])
        assert 2 < len(asked) <= 5  # between six bins of the whole column, in all trees


@pytest.mark.parametrize("max_bins", [1, 256, 3.5])
def test_numbers_of_bins_that_fit_no_byte_are_refused(max_bins):
    with pytest.raises(ParameterError, match="max_bins is"):
        RandomForestClassifier(max_bins=max_bins).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stop_at_any_event_keeps_whole_trees(n_jobs):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] > X[:, 1]).astype(int)
    whole = RandomForestClassifier(n_estimators=6, max_bins=16, random_state=0).fit(X, y)

    class StopAfter:
        def __init__(self, n_events):
            self.n_left = n_events

        def on_iteration(self, event):
            self.n_left -= 1
            return self.n_left < 0

    for n_events in range(15):
        model = RandomForestClassifier(n_estimators=6, max_bins=16, random_state=0, n_jobs=n_jobs)
        model.fit(X, y, monitor=StopAfter(n_events))
        n_whole = len(model.estimators_)
        if n_whole > 1:
            assert model.estimators_ == whole.estimators_[:n_whole]
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
