import math

import numpy as np
import pytest

from engine.boosting.derivatives import room_for_derivatives
from engine.boosting.losses import BinaryLogLoss, MultinomialLogLoss, SquaredError, sum_losses
from engine.boosting.team import Team
from tests.engine import naive_boosting as naive


def evaluate(loss, raw, y, weights=None):
    raw, y = np.asarray(raw, float).reshape(len(y), -1), np.asarray(y, float)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, float)
    told = room_for_derivatives(loss.n_raw, len(y), loss.row_chunk)
    mean = sum_losses(loss, raw, y, weights, told, Team(1)) / weights.sum()
    np.testing.assert_array_equal(np.abs(told.gradients).max(axis=1), told.largest[:, 0].max(axis=1))
    np.testing.assert_array_equal(np.abs(told.hessians).max(axis=1), told.largest[:, 1].max(axis=1))
    if np.all(weights == 1.0):  # need not be told, then
        again = room_for_derivatives(loss.n_raw, len(y), loss.row_chunk)
        assert sum_losses(loss, raw, y, np.empty(0), again, Team(1)) / weights.sum() == mean
        np.testing.assert_array_equal(again.gradients, told.gradients)
        np.testing.assert_array_equal(again.hessians, told.hessians)
    return mean, told.gradients, told.hessians


@pytest.mark.parametrize(
    ("label", "raw", "loss", "gradient"),
    [
        (1, -1000.0, 1000.0, -1.0),
        (0, 1000.0, 1000.0, 1.0),
        (1, 40.0, 4.248354255291589e-18, -4.248354255291589e-18),
        (1, 1000.0, 0.0, 0.0),
    ],
)
def test_c19_log_loss_at_large_margins(label, raw, loss, gradient):
    mean, gradients, hessians = evaluate(BinaryLogLoss(), [raw], [label])
    assert mean == pytest.approx(loss, rel=1e-15)
    assert gradients[0, 0] == pytest.approx(gradient, rel=1e-15)
    assert hessians[0, 0] == pytest.approx(abs(gradient) if abs(gradient) < 1 else 0.0, abs=1e-30)


def test_c19_three_classes_at_large_margins():
    loss = MultinomialLogLoss(3)
    mean, gradients, hessians = evaluate(loss, [[1000.0, 0.0, -1000.0]], [2])
    assert mean == 2000.0
    np.testing.assert_array_equal(gradients[:, 0], [1.0, 0.0, -1.0])
    np.testing.assert_array_equal(hessians[:, 0], 0.0)
    np.testing.assert_array_equal(loss.probabilities(np.array([[1000.0, 0.0, -1000.0]])), [[1.0, 0.0, 0.0]])


LOSSES = [SquaredError(), BinaryLogLoss(), MultinomialLogLoss(3)]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_derivatives_are_the_slopes_of_the_loss(loss):
    rng = np.random.default_rng(0)
    n, step = 12, 1e-5
    raw, weights = rng.normal(size=(n, loss.n_raw)) * 2, rng.uniform(0.5, 3, n)
    y = rng.normal(size=n) if isinstance(loss, SquaredError) else rng.integers(0, max(loss.n_raw, 2), n)
    _, gradients, hessians = evaluate(loss, raw, y, weights)
    for k in range(loss.n_raw):
        for row in range(n):
            up, down = raw.copy(), raw.copy()
            up[row, k] += step
            down[row, k] -= step
            mean_up, g_up, _ = evaluate(loss, up, y, weights)
            mean_down, g_down, _ = evaluate(loss, down, y, weights)
            slope = (mean_up - mean_down) / (2 * step) * weights.sum()
            assert gradients[k, row] == pytest.approx(slope, abs=1e-8)
            bend = (g_up[k, row] - g_down[k, row]) / (2 * step)
            assert hessians[k, row] == pytest.approx(bend, abs=1e-8)


def test_multinomial_loss_equals_the_definition():
    rng = np.random.default_rng(3)
    raw, y = rng.normal(size=(9, 4)) * 5, rng.integers(0, 4, 9)
    expected = np.mean([naive.log_loss(raw[i], y[i]) for i in range(9)])
    assert evaluate(MultinomialLogLoss(4), raw, y)[0] == pytest.approx(expected, rel=1e-14)


def test_two_classes_agree_with_the_softmax_of_two_scores():
    raw = np.array([-3.0, 0.0, 0.4, 7.0])
    two = MultinomialLogLoss(2).probabilities(np.column_stack([np.zeros(4), raw]))
    np.testing.assert_allclose(BinaryLogLoss().probabilities(raw[:, None]), two, rtol=1e-14)


def test_baselines_minimise_the_loss():
    y, w = np.array([1.0, 2.0, 6.0]), np.array([1.0, 1.0, 2.0])
    assert SquaredError().baseline(y, w)[0] == 3.75
    binary = BinaryLogLoss().baseline(np.array([0, 0, 0, 0, 0, 0, 0, 1, 1, 1.0]), np.ones(10))
    assert binary[0] == pytest.approx(-0.8472978603872036, rel=1e-15)
    three = np.repeat([0.0, 1.0, 2.0], [90, 9, 1])
    baseline = MultinomialLogLoss(3).baseline(three, np.ones(100))
    np.testing.assert_allclose(np.exp(baseline), [0.9, 0.09, 0.01], rtol=1e-14)
    mean, gradients, _ = evaluate(MultinomialLogLoss(3), np.tile(baseline, (100, 1)), three)
    assert mean == pytest.approx(0.35759127073059305, rel=1e-14)
    np.testing.assert_allclose(gradients.sum(axis=1), 0.0, atol=1e-13)


def test_a_class_without_rows_has_probability_zero_and_no_gradient():
    loss, y = MultinomialLogLoss(3), np.array([0.0, 2.0])
    baseline = loss.baseline(y, np.ones(2))
    assert baseline[1] == -math.inf
    mean, gradients, hessians = evaluate(loss, np.tile(baseline, (2, 1)), y)
    assert mean == pytest.approx(math.log(2))
    np.testing.assert_array_equal(gradients[1], 0.0)
    np.testing.assert_array_equal(hessians[1], 0.0)
    assert loss.probabilities(baseline[None])[0, 1] == 0.0


def test_losses_have_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(0)
    n = 100_001
    raw, y = rng.normal(size=(n, 1)), rng.integers(0, 2, n).astype(float)
    results = []
    for n_jobs in (1, 2, 8):
        team, told = Team(n_jobs), room_for_derivatives(1, n, BinaryLogLoss.row_chunk)
        told = told._replace(scales=np.array([2.0**30, 2.0**31]), fixed=np.empty((n, 2), np.int32))
        with team.at_work():
            mean = sum_losses(BinaryLogLoss(), raw, y, np.ones(n), told, team) / n
        results.append((mean, *(values.tobytes() for values in told)))
        expected = np.rint(told.gradients[0] * 2.0**30), np.rint(told.hessians[0] * 2.0**31)
        np.testing.assert_array_equal(told.fixed, np.column_stack(expected))
    assert results[0] == results[1] == results[2]
