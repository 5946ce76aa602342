"""Reliability and coverage against slow twins, worked numbers, scikit-learn, and truthful models."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.calibration import calibration_curve

from engine import DeepEnsembleRegressor, RandomForestRegressor
from engine.reliability import (
    NOMINAL_COVERAGES,
    ROWS_PER_QUESTION,
    interval_coverage,
    predicted_intervals,
    reliability,
    tells_intervals,
)
from engine.uncertainty import Uncertainty
from tests.engine import naive_reliability


class Gaussians:
    """Tells a distribution of which the first column is the mean, the second the standard deviation."""

    def predict_interval(self, X, coverage=0.9):
        X = np.asarray(X)
        return np.column_stack([norm.ppf(share, X[:, 0], X[:, 1]) for share in _tails(coverage)])


class Moments:
    """Tells mean and standard deviation, and no interval."""

    def predict_uncertainty(self, X):
        X = np.asarray(X)
        return Uncertainty(X[:, 0], X[:, 1], X[:, 1] ** 2, np.zeros(len(X)))


class StopsAt:
    def __init__(self, n):
        self.n_left = n

    def on_iteration(self, event):
        self.n_left -= 1
        return self.n_left <= 0


def _tails(coverage):
    return 0.5 - coverage / 2, 0.5 + coverage / 2


def test_the_worked_diagram():
    """Eight rows by hand: |0.5 - 0.1| x 2/8 + |1/3 - 0.4| x 3/8 + |1 - 0.9| x 3/8 = 0.1625."""
    p = np.array([0.1, 0.1, 0.4, 0.4, 0.4, 0.9, 0.9, 0.9])
    happened = np.array([0, 1, 0, 0, 1, 1, 1, 1], bool)
    found = reliability(p, happened, n_bins=2)
    assert found.n_rows.tolist() == [5, 3]
    assert found.calibration_error == pytest.approx(abs(2 / 5 - 0.28) * 5 / 8 + 0.1 * 3 / 8)
    assert reliability(p, happened).calibration_error == pytest.approx(0.1625)
    assert reliability(p, happened).n_rows.tolist() == [2, 0, 0, 3, 0, 0, 0, 0, 3, 0]  # upper edges are in


def test_ends_and_empty_tables():
    found = reliability(np.array([0.0, 1.0]), np.array([False, True]))
    assert found.n_rows.tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert found.calibration_error == 0
    assert np.isnan(found.predicted[1:9]).all()
    empty = reliability(np.empty(0), np.empty(0, bool))
    assert not empty.n_rows.any()
    assert np.isnan(empty.calibration_error)
    weightless = reliability(np.array([0.3]), np.array([True]), np.array([0.0]))
    assert np.isnan(weightless.calibration_error)


ROWS = st.lists(
    st.tuples(
        st.floats(0, 1) | st.sampled_from([k / 10 for k in range(11)]),
        st.booleans(),
        st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    ),
    max_size=60,
)


@given(rows=ROWS, n_bins=st.sampled_from([1, 2, 4, 8]))
def test_the_diagram_matches_a_loop(rows, n_bins):
    p, happened, weights = np.array(rows, np.float64).reshape(-1, 3).T
    found = reliability(p, happened > 0, weights, n_bins)
    if not weights.any():
        assert not found.n_rows.any()
        return
    n_rows, weight, predicted, observed, effective, error = naive_reliability.reliability(
        p, happened > 0, weights, n_bins
    )
    assert found.n_rows.tolist() == n_rows
    np.testing.assert_allclose(found.weight, weight, atol=1e-12)
    np.testing.assert_allclose(found.predicted, predicted, atol=1e-12)
    np.testing.assert_allclose(found.observed, observed, atol=1e-12)
    np.testing.assert_allclose(found.n_effective, effective, atol=1e-9)
    assert found.calibration_error == pytest.approx(error, abs=1e-12)


def test_weight_two_is_two_rows_and_the_unit_of_weights_does_not_matter():
    rng = np.random.default_rng(1)
    p, weights = rng.random(200), rng.integers(0, 3, 200).astype(float)
    happened = rng.random(200) < p
    twice = np.repeat(np.arange(200), weights.astype(int))
    by_weight, by_rows = reliability(p, happened, weights), reliability(p[twice], happened[twice])
    np.testing.assert_allclose(by_weight.observed, by_rows.observed)
    assert by_weight.calibration_error == pytest.approx(by_rows.calibration_error)
    for unit in (1e-300, 1e300):
        scaled = reliability(p, happened, unit * weights)
        np.testing.assert_allclose(scaled.n_effective, by_weight.n_effective)
        np.testing.assert_allclose(scaled.predicted, by_weight.predicted)


def test_scikit_learn_draws_the_same_points():
    rng = np.random.default_rng(2)
    p = np.append(rng.random(500), np.linspace(0, 1, 11))
    happened = rng.random(len(p)) < p**2
    found = reliability(p, happened)
    observed, predicted = calibration_curve(happened, p, n_bins=10)
    np.testing.assert_allclose(found.observed[found.n_rows > 0], observed)
    np.testing.assert_allclose(found.predicted[found.n_rows > 0], predicted)


def test_true_probabilities_lie_on_the_diagonal():
    rng = np.random.default_rng(3)
    p = rng.random(100_000)
    assert reliability(p, rng.random(100_000) < p).calibration_error < 0.01
    assert reliability(p, rng.random(100_000) < p**2).calibration_error > 0.1


@pytest.mark.parametrize("model", [Gaussians(), Moments()])
def test_true_distributions_hold_what_they_promise(model):
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=20_000), 0.5 + rng.random(20_000)])
    y = rng.normal(X[:, 0], X[:, 1])
    found = interval_coverage(model, X, y)
    np.testing.assert_allclose(found.covered, found.nominal, atol=0.01)
    widths = [2 * norm.ppf(0.5 + level / 2) * X[:, 1].mean() for level in NOMINAL_COVERAGES]
    np.testing.assert_allclose(found.mean_width, widths)
    assert (found.n_rows, found.stopped) == (20_000, False)
    assert found.n_effective == pytest.approx(20_000)


def test_coverage_matches_a_loop_by_weight():
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=80), 0.2 + rng.random(80)])
    y, weights = rng.normal(size=80), rng.integers(0, 3, 80).astype(float)
    found = interval_coverage(Gaussians(), X, y, weights)
    covered, widths = naive_reliability.coverage(Gaussians(), X, y, weights, NOMINAL_COVERAGES)
    np.testing.assert_allclose(found.covered, covered)
    np.testing.assert_allclose(found.mean_width, widths)
    assert found.n_rows == np.count_nonzero(weights)
    assert found.n_effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_ends_of_intervals_are_inside():
    X, y = np.array([[0.0, 1.0]]), np.array([norm.ppf(0.95)])
    found = interval_coverage(Gaussians(), X, y, nominal=(0.5, 0.9, 0.99))
    assert found.covered.tolist() == [0.0, 1.0, 1.0]


def test_a_stop_keeps_what_was_counted():
    n = 3 * ROWS_PER_QUESTION
    X, y = np.column_stack([np.zeros(n), np.ones(n)]), np.zeros(n)
    found = interval_coverage(Gaussians(), X, y, monitor=StopsAt(2))
    assert (found.n_rows, found.stopped) == (2 * ROWS_PER_QUESTION, True)
    assert not interval_coverage(Gaussians(), X, y, monitor=StopsAt(3)).stopped


def test_nothing_is_told_without_rows_or_without_a_standard_deviation():
    assert interval_coverage(Gaussians(), np.empty((0, 2)), np.empty(0)) is None
    assert interval_coverage(Gaussians(), np.ones((2, 2)), np.ones(2), np.zeros(2)) is None
    assert interval_coverage(Moments(), np.array([[0.0, np.nan]]), np.zeros(1)) is None


def test_models_of_the_engine():
    """Networks tell intervals, forests a standard deviation; by absolute error a forest knows none."""
    rng = np.random.default_rng(6)
    X = pd.DataFrame({"a": rng.normal(size=120), "b": rng.normal(size=120)})
    y = X["a"].to_numpy() + rng.normal(0, 0.3, 120)
    networks = DeepEnsembleRegressor(n_estimators=2, hidden_layer_sizes=(4,), max_epochs=3, random_state=0)
    forest = RandomForestRegressor(n_estimators=5, min_samples_leaf=5, random_state=0)
    for model in (networks, forest):
        model.fit(X, y)
        assert tells_intervals(model)
        found = interval_coverage(model, X, y)
        assert (np.diff(found.covered) >= 0).all()
        assert (np.diff(found.mean_width) > 0).all()
    np.testing.assert_array_equal(
        predicted_intervals(networks, X, [0.8])[0], networks.predict_interval(X, 0.8)
    )
    medians = RandomForestRegressor(n_estimators=3, criterion="absolute_error", random_state=0).fit(X, y)
    assert tells_intervals(medians)
    assert interval_coverage(medians, X, y) is None


@pytest.mark.parametrize("n_bins", [1, 3, 7, 10, 15, 49])
def test_probabilities_on_an_edge_and_beside_it_lie_where_a_search_puts_them(n_bins):
    edges = np.linspace(0, 1, n_bins + 1)
    p = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1), np.linspace(0, 1, 997)])
    p = np.clip(p, 0, 1)
    expected = np.bincount(np.searchsorted(edges[1:-1], p), minlength=n_bins)
    assert reliability(p, p > 0.5, n_bins=n_bins).n_rows.tolist() == expected.tolist()
