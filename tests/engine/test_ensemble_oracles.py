"""Whole models against slow twins: every leaf of a first tree, steps of a round, weights as repeated rows."""

import math

import numpy as np
import pytest

import engine
from engine import GradientBoostingClassifier as Classifier
from engine import GradientBoostingRegressor as Regressor
from engine import RandomForestRegressor
from engine.boosting.kernels import splitting
from engine.boosting.losses import Exponential, Loss
from engine.boosting.numeric_losses import Poisson
from engine.predict import leaf_numbers
from tests.engine import naive_boosting as naive

SEARCHED = ["squared_error", "absolute_error", "quantile", "poisson", "exponential"]


def make_table(n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.4 * rng.normal(size=n_rows), rng.uniform(0.5, 3, n_rows)


def target_of(loss, y):
    if loss == "poisson":
        return np.round(np.exp(np.clip(y, -1, 2)))
    return (y > 0.3).astype(int) if loss in ("exponential", "log_loss") else y


def first_tree(loss, X, y, weight, **more):
    """The model of one round at rate 0.3, its tree, and the node of every row's leaf."""
    kind = Classifier if loss in ("exponential", "log_loss") else Regressor
    model = kind(
        loss=loss, n_estimators=1, learning_rate=0.3, max_leaf_nodes=5, min_samples_leaf=6, **more
    ).fit(X, y, weight)  # fmt: skip
    tree = model.estimators_[0][0]
    return model, tree, leaf_numbers(tree, X)


@pytest.mark.parametrize("loss", SEARCHED)
@pytest.mark.parametrize("seed", range(3))
def test_every_leaf_of_a_fit_takes_the_step_of_least_loss(loss, seed):
    X, y, weight = make_table(seed=seed)
    y = target_of(loss, y)
    more = {"alpha": 0.7} if loss == "quantile" else {}
    model, tree, leaf_of = first_tree(loss, X, y, weight, **more)
    limit = {"exponential": Exponential, "poisson": Poisson}.get(
        loss, Loss
    ).largest_step  # of one class alone
    limit = min(limit, 20.0)
    start = float(model.baseline_prediction_[0])
    assert tree.n_leaves == 5
    for leaf in np.unique(leaf_of):
        rows = leaf_of == leaf
        raw, step = np.full(rows.sum(), start), tree.value[leaf, 0] / 0.3
        _, least = naive.best_step(loss, y[rows], raw, weight[rows], low=-limit, high=limit, alpha=0.7)
        at_step = math.fsum(
            w * naive.row_loss(loss, a, start + step, alpha=0.7)
            for w, a in zip(weight[rows], y[rows], strict=True)
        )
        assert at_step <= least + 1e-9 * max(abs(least), 1.0)


def test_every_leaf_of_hubers_loss_takes_friedmans_step():
    """Median of the residuals, then the mean of what is left, cut at delta (Friedman 2001, equation 29)."""
    X, y, _ = make_table(seed=3)
    model, tree, leaf_of = first_tree("huber", X, y, None, alpha=0.79)
    residuals = y - float(model.baseline_prediction_[0])
    delta = np.sort(np.abs(residuals))[math.ceil(0.79 * len(y)) - 1]
    for leaf in np.unique(leaf_of):
        here = residuals[leaf_of == leaf]
        median = np.median(here)
        rest = here - median
        step = median + np.mean(np.sign(rest) * np.minimum(delta, np.abs(rest)))
        assert tree.value[leaf, 0] == pytest.approx(0.3 * step, rel=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_every_leaf_of_two_classes_takes_the_newton_step(order):
    X, y, weight = make_table(seed=4)
    y = target_of("log_loss", y)
    _, tree, leaf_of = first_tree("log_loss", X, y, weight, order=order)
    p = np.average(y, weights=weight)
    for leaf in np.unique(leaf_of):
        rows = leaf_of == leaf
        newton = np.sum(weight[rows] * (y[rows] - p)) / np.sum(weight[rows] * p * (1 - p))
        assert tree.value[leaf, 0] == pytest.approx(0.3 * newton, rel=1e-12)


def test_one_step_for_the_trees_of_all_classes_has_the_least_loss_along_them():
    X, y, weight = make_table(seed=5)
    y = np.digitize(y, [0.0, 1.0])
    shared = {"n_estimators": 1, "leaf_update": "per_tree", "max_leaf_nodes": 4, "min_samples_leaf": 6}
    model = Classifier(learning_rate=1.0, **shared).fit(X, y, weight)
    start, change = model.baseline_prediction_, model.raw_predict(X) - model.baseline_prediction_

    def loss(share):
        raw = start + share * change
        return math.fsum(w * naive.log_loss(r, k) for w, r, k in zip(weight, raw.tolist(), y, strict=True))

    least = loss(1.0)
    assert model.steps_[0] > 0
    assert all(loss(share) >= least for share in (0.5, 0.9, 0.999, 1.001, 1.1, 2.0))
    assert model.train_loss_[1] == pytest.approx(least / weight.sum(), rel=1e-12)
    shorter = Classifier(learning_rate=0.25, **shared).fit(X, y, weight)
    np.testing.assert_allclose(shorter.raw_predict(X) - start, 0.25 * change, rtol=1e-9, atol=1e-12)


def test_leaves_without_slope_or_curvature_answer_zero():
    """Case C20 (b): 0 / 0 is no number; with lambda it is 0 anyway."""
    for reg_lambda in (0.0, 1.0):
        assert splitting.leaf_value(0.0, 0.0, reg_lambda, 0.0) == 0.0
        assert splitting.score(0.0, 0.0, reg_lambda, 0.0) == 0.0
    assert splitting.leaf_value(3.0, 0.0, 0.0, 0.0) == 0.0


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("growth", ["leaf", "depth", "oblivious"])
def test_c25_a_row_of_weight_zero_has_no_part_in_boosting(growth, order):
    """Case C25 (a) and (b)."""
    shared = {"n_estimators": 1, "learning_rate": 1.0, "max_depth": 1, "growth": growth, "order": order}
    x, y = np.array([[1.0], [2], [3], [4], [1000]]), [0.0, 0, 1, 1, 999]
    model = Regressor(min_samples_leaf=1, **shared).fit(x, y, [1, 1, 1, 1, 0])
    ((tree,),) = model.estimators_
    assert (tree.threshold[0], tree.n_node_samples[0]) == (2.5, 4)
    np.testing.assert_allclose(model.predict([[1.0], [4.0]]), [0.0, 1.0], atol=1e-15)
    few = Regressor(min_samples_leaf=2, **shared).fit(x[:4], [5.0, 0, 0, 0], [1, 1, 1, 0])
    assert few.estimators_[0][0].n_leaves == 1


@pytest.mark.parametrize("max_bins", [None, 255])
def test_c25_a_row_of_weight_zero_has_no_part_in_a_forest(max_bins):
    """Case C25 (a) and (b)."""
    x, y = np.array([[1.0], [2], [3], [4], [1000]]), [0.0, 0, 1, 1, 999]
    shared = {"n_estimators": 1, "bootstrap": False, "max_bins": max_bins}
    (tree,) = RandomForestRegressor(max_depth=1, **shared).fit(x, y, [1, 1, 1, 1, 0]).estimators_
    assert (tree.threshold[0], tree.n_node_samples[0]) == (2.5, 4)
    assert tree.value[1:, 0].tolist() == [0.0, 1.0]
    (leaf,) = (
        RandomForestRegressor(min_samples_leaf=2, **shared)
        .fit(x[:4], [5.0, 0, 0, 0], [1, 1, 1, 0])
        .estimators_
    )
    assert leaf.n_leaves == 1


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("growth", ["leaf", "oblivious"])
def test_c26_weights_are_repeated_rows_but_for_limits_that_count_rows(growth, order):
    """Case C26: four weighted rows, and the ten rows that they stand for."""
    x, y, weight = np.array([[0.0], [0], [1], [1]]), np.array([0, 1, 0, 1]), np.array([3, 1, 1, 5])
    repeated = np.repeat(x, weight, axis=0), np.repeat(y, weight)
    shared = {"n_estimators": 3, "growth": growth, "order": order, "max_depth": 3}
    weighted = Classifier(min_samples_leaf=1, **shared).fit(x, y, weight)
    whole = Classifier(min_samples_leaf=1, **shared).fit(*repeated)
    np.testing.assert_allclose(weighted.predict_proba(x), whole.predict_proba(x), rtol=1e-12)
    np.testing.assert_allclose(weighted.train_loss_, whole.train_loss_, rtol=1e-12)
    first, other = weighted.estimators_[0][0], whole.estimators_[0][0]
    np.testing.assert_allclose(first.weighted_n_node_samples, [10, 4, 6])
    assert (first.n_node_samples.tolist(), other.n_node_samples.tolist()) == ([4, 2, 2], [10, 4, 6])
    for limit, n_leaves in ((2, (2, 2)), (3, (1, 2)), (5, (1, 1))):
        made = (
            Classifier(min_samples_leaf=limit, **shared).fit(x, y, weight),
            Classifier(min_samples_leaf=limit, **shared).fit(*repeated),
        )
        assert tuple(model.estimators_[0][0].n_leaves for model in made) == n_leaves


@pytest.mark.parametrize("name", ["RandomForest", "ExtraTrees", "AdaBoost"])
@pytest.mark.parametrize("class_weight", [{"a": 3.0, "c": 0.5}, "balanced"])
def test_weights_of_classes_are_weights_of_their_rows(name, class_weight):
    kind = getattr(engine, f"{name}Classifier")
    X, y, weight = make_table(seed=6)
    y = np.array(list("abc"))[np.digitize(y, [0.0, 1.5])]
    if class_weight == "balanced":  # counted from rows, as in scikit-learn
        factor = {label: len(y) / (3 * np.sum(y == label)) for label in "abc"}
    else:
        factor = {"b": 1.0} | class_weight
    more = {"n_estimators": 5, "max_depth": 3, "random_state": 0}
    by_class = kind(class_weight=class_weight, **more).fit(X, y, weight)
    by_row = kind(**more).fit(X, y, weight * np.vectorize(factor.get)(y))
    np.testing.assert_allclose(by_class.predict_proba(X), by_row.predict_proba(X), rtol=1e-12)
    plain = kind(**more).fit(X, y, weight)
    assert np.any(by_class.predict_proba(X) != plain.predict_proba(X))
