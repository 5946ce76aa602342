"""Every loss against its definition: value, derivatives, start value, leaf and tree line search."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import DataError, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from engine.base import TrainingData
from engine.boosting.derivatives import room_for_derivatives
from engine.boosting.line_search import tree_step
from engine.boosting.losses import BinaryLogLoss, Exponential, MultinomialLogLoss, sum_losses
from engine.boosting.numeric_losses import AbsoluteError, Huber, Poisson, Quantile, number_loss
from engine.boosting.quantiles import value_at, weighted_quantile
from engine.boosting.team import Team
from tests.engine import naive_boosting as naive

NUMBERS = ["squared_error", "absolute_error", "huber", "quantile", "poisson"]
CLASSES = ["log_loss", "exponential"]


def make_rows(name, n=15, seed=0):
    """Targets, raw predictions and weights that suit a loss."""
    rng = np.random.default_rng(seed)
    raw, weights = rng.normal(size=n), rng.uniform(0.5, 3, n)
    if name in CLASSES:
        y = (rng.random(n) < 0.4).astype(float)
        y[:2] = 0, 1
    else:
        y = rng.poisson(2.0, n).astype(float) if name == "poisson" else rng.normal(size=n) * 2
    return y, raw, weights


def make_loss(name, alpha=0.8, delta=1.0):
    if name in CLASSES:
        return Exponential() if name == "exponential" else BinaryLogLoss()
    loss = number_loss(name, alpha)
    if name == "huber":
        loss.delta = loss.first_delta = delta
    return loss


def evaluate(loss, raw, y, weights):
    derivatives = room_for_derivatives(1, len(y), loss.row_chunk)
    for values in derivatives:
        values[:] = 99
    total = sum_losses(loss, np.ascontiguousarray(raw.reshape(-1, 1)), y, weights, derivatives, Team(1))
    mean = total / weights.sum()
    np.testing.assert_array_equal(np.abs(derivatives.gradients).max(), derivatives.largest[0, 0].max())
    np.testing.assert_array_equal(np.abs(derivatives.hessians).max(), derivatives.largest[0, 1].max())
    return mean, derivatives.gradients[0], derivatives.hessians[0]


def told(y, weights):
    """The rows as a fit hands them to a line search."""
    return TrainingData(y[:, None], y, weights, np.arange(len(y)), len(y), (), None, is_weighted=True)


@pytest.mark.parametrize("name", NUMBERS + CLASSES)
def test_value_gradient_and_hessian_equal_the_definition(name):
    y, raw, weights = make_rows(name)
    loss = make_loss(name)
    mean, gradients, hessians = evaluate(loss, raw, y, weights)
    rows = range(len(y))
    expected = math.fsum(weights[i] * naive.row_loss(name, y[i], raw[i], alpha=0.8) for i in rows)
    assert mean == pytest.approx(expected / weights.sum(), rel=1e-12)
    slopes, bends = zip(*(naive.derivatives(name, y[i], raw[i], alpha=0.8) for i in rows), strict=True)
    np.testing.assert_allclose(gradients, weights * slopes, atol=1e-7)
    if loss.has_curvature:
        np.testing.assert_allclose(hessians, weights * bends, rtol=1e-4, atol=1e-5)
    else:
        np.testing.assert_array_equal(hessians, weights)  # stands in: there is none to boost by


@pytest.mark.parametrize("name", NUMBERS + CLASSES)
def test_the_start_value_minimises_the_loss(name):
    y, _, weights = make_rows(name, n=40, seed=3)
    loss = make_loss(name)
    start = loss.baseline(y, weights)[0]
    more = {"alpha": 0.8} | ({"delta": loss.first_delta} if name == "huber" else {})
    best, least = naive.best_step(name, y, np.zeros(40), weights, **more)
    at_start = sum(w * naive.row_loss(name, a, start, **more) for a, w in zip(y, weights, strict=True))
    assert at_start <= least * (1 + 1e-12)
    assert start == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize("name", ["absolute_error", "quantile", "poisson", "exponential"])
@pytest.mark.parametrize("seed", range(4))
def test_a_leafs_step_minimises_the_loss_of_its_rows(name, seed):
    y, raw, weights = make_rows(name, seed=seed)
    loss = make_loss(name)
    step = loss.best_step(raw, y, weights)
    _, least = naive.best_step(name, y, raw, weights, alpha=0.8)
    rows = zip(y, raw, weights, strict=True)
    assert sum(w * naive.row_loss(name, a, f + step, alpha=0.8) for a, f, w in rows) <= least * (1 + 1e-12)


def test_hubers_leaf_takes_friedmans_step():
    y, raw, weights = np.array([0.0, 1, 2, 9]), np.zeros(4), np.array([1.0, 1, 1, 2])
    loss = make_loss("huber", delta=2.0)
    # the weighted median of 0, 1, 2, 9, 9 is 2; beyond it -2, -1, 0 and twice 2
    assert loss.best_step(raw, y, weights) == 2 + (-2 - 1 + 0 + 2 * 2) / 5


@pytest.mark.parametrize("name", NUMBERS + CLASSES)
@pytest.mark.parametrize("seed", range(4))
def test_a_trees_step_minimises_the_loss_along_it(name, seed):
    y, raw, weights = make_rows(name, n=60, seed=seed)
    loss = make_loss(name)
    leaf = np.arange(60) % 5
    _, gradients, _ = evaluate(loss, raw, y, weights)
    means = [-gradients[leaf == j].sum() / weights[leaf == j].sum() for j in range(5)]
    change = np.array(means)[leaf]
    every = np.arange(60, dtype=np.int32)
    step = tree_step(loss, raw[:, None], told(y, weights), change[:, None], every, lambda: None, Team(1))
    best, least = naive.best_step(name, y, raw, weights, change, low=0.0, high=60.0, alpha=0.8)
    rows = zip(y, raw, weights, change, strict=True)
    got = sum(w * naive.row_loss(name, a, f + step * c, alpha=0.8) for a, f, w, c in rows)
    assert got <= least * (1 + 1e-9)
    assert step == pytest.approx(best, rel=1e-3, abs=1e-3) or got == pytest.approx(least, rel=1e-9)


def test_a_trees_step_looks_at_the_drawn_rows_alone():
    y, raw = np.array([1.0, 2, 3, 1000]), np.zeros((4, 1))
    data, change = told(y, np.ones(4)), np.ones((4, 1))
    step = tree_step(
        make_loss("squared_error"), raw, data, change, np.arange(3, dtype=np.int32), lambda: None, Team(1)
    )
    assert step == 2.0


def test_steps_without_a_best_one_are_bounded():
    ones, raw, weights = np.ones(3), np.zeros(3), np.ones(3)
    assert Exponential().best_step(raw, ones, weights) == Exponential.largest_step
    assert Exponential().best_step(raw, 0 * ones, weights) == -Exponential.largest_step
    assert Poisson().best_step(raw, 0 * ones, weights) == -Poisson.largest_step
    every = np.arange(3, dtype=np.int32)
    step = tree_step(
        BinaryLogLoss(), raw[:, None], told(ones, weights), 0.5 * ones[:, None], every, lambda: None, Team(1)
    )
    assert step == 2 * BinaryLogLoss.largest_step


def test_quantiles_take_the_middle_of_what_is_as_good():
    values, ones = np.array([4.0, 1, 2, 3]), np.ones(4)
    assert weighted_quantile(values, ones, 0.5) == 2.5
    assert weighted_quantile(values, ones, 0.9) == 4.0
    assert weighted_quantile(values, ones, 0.1) == 1.0
    assert weighted_quantile(values, np.array([1.0, 5, 1, 1]), 0.5) == 1.0
    assert weighted_quantile(np.array([7.0]), np.array([2.0]), 0.3) == 7.0
    assert value_at(values, ones, 0.0) == 1.0
    assert value_at(values, ones, 99.0) == 4.0


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=12),
    st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9]),
)
@settings(max_examples=60, deadline=None)
def test_weights_are_repeated_rows_to_a_quantile(rows, share):
    values, weights = (np.array(column, float) for column in zip(*rows, strict=True))
    repeated = np.repeat(values, weights.astype(int))
    assert weighted_quantile(values, weights, share) == weighted_quantile(
        repeated, np.ones(len(repeated)), share
    )


def test_margins_beyond_what_exp_holds_stay_finite():
    y, raw = np.array([0.0, 1.0, 1.0]), np.array([900.0, -900.0, 900.0])
    for loss in (Exponential(), Poisson()):
        mean, gradients, hessians = evaluate(loss, raw, y, np.ones(3))
        assert np.isfinite([mean, *gradients, *hessians]).all()
        assert np.isfinite(loss.best_step(raw, y, np.ones(3)))


def test_classes_that_have_no_rows_leave_their_probability_at_zero():
    start = Exponential().baseline(np.zeros(4), np.ones(4))
    assert start[0] == -math.inf
    mean, gradients, hessians = evaluate(Exponential(), np.full(4, start[0]), np.zeros(4), np.ones(4))
    assert (mean, gradients.tolist(), hessians.tolist()) == (0.0, [0.0] * 4, [0.0] * 4)
    assert Exponential().best_step(np.full(4, start[0]), np.zeros(4), np.ones(4)) == 0.0


def test_hubers_delta_is_a_quantile_of_the_residuals():
    loss, y = Huber(0.5), np.array([0.0, 1, 2, 3, 100])
    loss.adapt(np.zeros((5, 1)), y, np.ones(5))
    assert loss.delta == 2.0
    loss.adapt(np.zeros((5, 1)), np.array([0.0, 0, 0, 0, 7]), np.ones(5))
    assert loss.delta == 7.0  # most residuals are 0


def make_table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    return rng, X, np.nan_to_num(X[:, 0]) + rng.standard_t(2, size=n)


@pytest.mark.parametrize("leaf_update", ["per_leaf", "per_tree"])
@pytest.mark.parametrize("loss", NUMBERS)
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_the_training_loss_never_rises(loss, leaf_update, rate):
    """D27 names squared error; convexity and the best step promise it for the others too."""
    rng, X, y = make_table()
    y = rng.poisson(np.exp(np.clip(y, -3, 2))) if loss == "poisson" else y
    model = GradientBoostingRegressor(
        loss=loss, leaf_update=leaf_update, learning_rate=rate, min_samples_leaf=3, n_estimators=30
    )
    model.fit(X, y, rng.uniform(0.1, 4, len(y)))
    if loss != "huber":
        assert np.diff(model.train_loss_).max() <= 1e-12
    assert model.train_loss_[-1] < 0.7 * model.train_loss_[0]
    assert (np.abs(model.steps_ - 1) > 1e-9).any() == (leaf_update == "per_tree" and loss != "squared_error")


@pytest.mark.parametrize("leaf_update", ["per_leaf", "per_tree"])
@pytest.mark.parametrize(("loss", "n_classes"), [("log_loss", 2), ("exponential", 2), ("log_loss", 3)])
def test_the_training_loss_of_classes_never_rises(loss, n_classes, leaf_update):
    rng, X, y = make_table(seed=1)
    y = np.digitize(y, [-0.5, 0.7]) if n_classes == 3 else (y > 0) * 1
    model = GradientBoostingClassifier(
        loss=loss, leaf_update=leaf_update, learning_rate=1, min_samples_leaf=3, n_estimators=30
    )
    model.fit(X, y, rng.uniform(0.1, 4, len(y)))
    assert np.diff(model.train_loss_).max() <= 1e-12
    assert model.train_loss_[-1] < 0.2 * model.train_loss_[0]
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    assert list(model.staged_decision_function(X))[-1].tolist() == model.decision_function(X).tolist()


def test_quantile_boosting_leaves_the_share_above():
    _, X, y = make_table(2000)
    model = GradientBoostingRegressor(loss="quantile", alpha=0.8, n_estimators=60).fit(X, y)
    assert np.mean(y <= model.predict(X)) == pytest.approx(0.8, abs=0.03)


def test_poisson_answers_expected_counts():
    rng, X, _ = make_table(500)
    y = rng.poisson(np.exp(np.nan_to_num(X[:, 0])))
    model = GradientBoostingRegressor(loss="poisson").fit(X, y)
    np.testing.assert_allclose(model.predict(X), np.exp(model.raw_predict(X)[:, 0]))
    assert model.truncate(0).predict(X[:1])[0] == pytest.approx(y.mean())
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    with pytest.raises(DataError, match="loss 'poisson' counts events, but the target goes down to -1"):
        model.fit(X, y - 1)
    with pytest.raises(DataError, match="y_val goes down to -1"):
        model.fit(X, y, X_val=X, y_val=y - 1)
    assert np.isfinite(model.fit(X, y, X_val=X[:5], y_val=np.zeros(5)).val_loss_).all()


def test_exponential_loss_answers_with_twice_its_margin():
    _, X, y = make_table()
    model = GradientBoostingClassifier(loss="exponential", n_estimators=20).fit(X, y > 0)
    margin = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * margin)), rtol=1e-10)
    with pytest.raises(ParameterError, match="there are 3 classes; it knows two: set loss='log_loss'"):
        model.fit(X, np.digitize(y, [-1, 1]))


def test_what_has_no_second_derivatives_is_not_boosted_by_them():
    _, X, y = make_table()
    for loss in ("absolute_error", "huber", "quantile"):
        with pytest.raises(ParameterError, match=f"order is 2 but loss '{loss}' has no second derivatives"):
            GradientBoostingRegressor(loss=loss, order=2).fit(X, y)
    with pytest.raises(ParameterError, match="leaf_update is 'per_tree' but with order=2"):
        GradientBoostingRegressor(leaf_update="per_tree", order=2).fit(X, y)


def test_inner_nodes_answer_the_mean_of_their_leaves():
    _, X, y = make_table()
    ((tree,), *_) = GradientBoostingRegressor(loss="absolute_error", n_estimators=1).fit(X, y).estimators_
    for node in np.flatnonzero(~tree.is_leaf):
        share = tree.weighted_n_node_samples[[tree.left[node], tree.right[node]]]
        values = tree.value[[tree.left[node], tree.right[node]], 0]
        assert tree.value[node, 0] == pytest.approx(np.average(values, weights=share))


def test_losses_of_one_name_are_of_one_kind():
    assert isinstance(number_loss("absolute_error", 0.9), AbsoluteError)
    assert isinstance(number_loss("quantile", 0.9), Quantile)
    assert MultinomialLogLoss(4).n_raw == 4
