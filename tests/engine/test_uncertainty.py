"""Mixture formulas against sums written out, and quantiles against the distribution function (case C29)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from engine.uncertainty import mixture_log_density, mixture_quantile, of_classes, of_numbers


def test_the_worked_mixture_of_two():
    """Case C29 (b): variances add up, not standard deviations."""
    told = of_numbers(np.array([[1.0], [3.0]]), np.array([[1.0], [4.0]]))
    assert told.mean[0] == 2
    assert (told.aleatoric[0], told.epistemic[0]) == (2.5, 1.0)
    assert told.std[0] == 1.8708286933869707


def test_one_member_alone_disagrees_with_nobody():
    """Case C29 (c)."""
    told = of_numbers(np.array([[1.0]]), np.array([[4.0]]))
    assert (told.mean[0], told.std[0], told.epistemic[0]) == (1, 2, 0)
    classes = of_classes(np.array([[[0.2, 0.8]]]))
    assert classes.epistemic[0] == 0
    assert not classes.std.any()
    assert classes.aleatoric[0] == pytest.approx(-0.2 * math.log(0.2) - 0.8 * math.log(0.8))


def test_classes_split_entropy_into_noise_and_disagreement():
    told = of_classes(np.array([[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]))
    np.testing.assert_allclose(told.mean, 0.5)
    np.testing.assert_allclose(told.aleatoric, [0.0, math.log(2)])
    np.testing.assert_allclose(told.epistemic, [math.log(2), 0.0])
    np.testing.assert_allclose(told.std, [[0.5, 0.5], [0.0, 0.0]])


@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6)), min_size=1, max_size=5),
    st.floats(0.01, 0.99),
)
def test_quantiles_solve_the_mixture(members, share):
    means, variances = (np.array(column)[:, None] for column in zip(*members, strict=True))
    quantile = mixture_quantile(share, means, variances)
    assert norm.cdf(quantile[0], means[:, 0], np.sqrt(variances[:, 0])).mean() == pytest.approx(
        share, abs=1e-6
    )


def test_a_gaussian_alone_has_its_own_quantiles():
    found = mixture_quantile(0.95, np.array([[3.0]]), np.array([[4.0]]))
    assert found[0] == pytest.approx(norm.ppf(0.95, 3, 2), rel=1e-12)


def test_members_without_variance_are_steps():
    means, variances = np.array([[1.0], [2.0], [3.0]]), np.zeros((3, 1))
    assert mixture_quantile(0.5, means, variances)[0] == pytest.approx(2.0)
    assert mixture_quantile(0.05, means, variances)[0] == 1.0
    assert mixture_quantile(0.95, means, variances)[0] == pytest.approx(3.0)


def test_the_density_is_the_mean_of_densities():
    rng = np.random.default_rng(0)
    y, means, variances = rng.normal(size=6), rng.normal(size=(4, 6)), rng.uniform(0.5, 2, (4, 6))
    expected = np.log(norm.pdf(y, means, np.sqrt(variances)).mean(axis=0))
    np.testing.assert_allclose(mixture_log_density(y, means, variances), expected)
    far = mixture_log_density(np.array([1e6]), means[:, :1], variances[:, :1])
    assert np.isfinite(far).all()
