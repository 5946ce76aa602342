"""Polynomial regression: scikit-learn's features and least squares, on columns that stay apart."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import engine
from engine import pieces
from engine.classical.pace import WORK
from engine.classical.powers import PolynomialColumns, n_terms
from engine.errors import ParameterError


def numbers(n_rows=150, n_columns=3):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, n_columns)) * [1, 10, 0.1][:n_columns] + [0, 5, 1e3][:n_columns]
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, z[:, 0] ** 3 - z[:, 0] * z[:, -1] + rng.normal(size=n_rows)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_it_is_scikit_learns(degree, alpha):
    X, y = numbers()
    low, high = X.min(axis=0), X.max(axis=0)
    scaled = 2 * (X - low) / (high - low) - 1
    peer = make_pipeline(
        PolynomialFeatures(degree, include_bias=False),
        StandardScaler(),
        Ridge(alpha, solver="svd") if alpha else LinearRegression(),
    ).fit(scaled, y)
    ours = engine.PolynomialRegressor(degree=degree, alpha=alpha).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), peer.predict(scaled), rtol=1e-6, atol=1e-8)


def test_degree_one_is_ridge_regression():
    X, y = numbers()
    ridge = engine.RidgeRegressor(alpha=3.0).fit(X, y)
    ours = engine.PolynomialRegressor(degree=1, alpha=3.0).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), ridge.predict(X), rtol=1e-9)


@pytest.mark.parametrize("degree", [1, 9, 20])
def test_a_polynomial_is_found_whatever_the_unit_and_the_origin(degree):
    """Powers of years would be one column to any solver: their condition number is beyond 1e40."""
    year = np.linspace(1990, 2020, 200)
    truth = np.polynomial.chebyshev.Chebyshev([*[0.3] * degree, 1.0], domain=(1990, 2020))
    model = engine.PolynomialRegressor(degree=degree).fit(year[:, None], truth(year))
    between = year[:-1] + 0.05
    np.testing.assert_allclose(model.predict(between[:, None]), truth(between), atol=1e-6)


@pytest.mark.parametrize(("degree", "largest"), [(9, 2e3), (20, 1e8)])
def test_terms_stay_apart(degree, largest):
    x = np.random.default_rng(0).uniform(1990, 2020, (300, 1))
    assert np.linalg.cond(PolynomialColumns([0], degree).fit_transform(x)) < largest


@pytest.mark.parametrize("terms", ["all", "powers"])
@pytest.mark.parametrize("n_numbers", [0, 1, 4])
@pytest.mark.parametrize("degree", [1, 2, 5])
def test_terms_are_counted_as_they_are_made(n_numbers, degree, terms):
    X = np.random.default_rng(0).normal(size=(20, n_numbers + 1))
    X[:, -1] = np.arange(20) % 3
    made = PolynomialColumns([0] * n_numbers + [3], degree, terms).fit_transform(X)
    assert made.shape == (20, n_terms(n_numbers, degree, terms) + 3)
    np.testing.assert_allclose(made[:, :-3].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(made[:, :-3].std(axis=0), 1)


def test_without_products_what_a_column_adds_does_not_depend_on_the_others():
    X, y = numbers()
    model = engine.PolynomialRegressor(degree=4, terms="powers").fit(X, y)
    low, high = X[0].copy(), X[1].copy()
    corners = [[low[0], low[1], low[2]], [high[0], low[1], low[2]], [low[0], high[1], low[2]]]
    a, b, c = model.predict(np.array(corners))
    both = model.predict(np.array([[high[0], high[1], low[2]]]))[0]
    assert both == pytest.approx(b + c - a)
    with_products = engine.PolynomialRegressor(degree=4).fit(X, y)
    a, b, c = with_products.predict(np.array(corners))
    assert with_products.predict(np.array([[high[0], high[1], low[2]]]))[0] != pytest.approx(b + c - a)


def test_categories_and_gaps_enter_as_they_are():
    rng = np.random.default_rng(0)
    level = rng.integers(0, 3, 200)
    x = rng.normal(size=200)
    table = pd.DataFrame({"x": x, "level": pd.Categorical.from_codes(level, ["a", "b", "c"])})
    table.loc[::10, "x"] = None
    y = np.where(table["x"].isna(), 4.0, x**2) + np.array([0.0, 5.0, -5.0])[level]
    model = engine.PolynomialRegressor().fit(table, y)
    assert model.pipeline_[-1].coef_.shape == (2 + 1 + 3,)  # x and its square, whether x is missing, levels
    np.testing.assert_allclose(model.predict(table), y, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 1e-6])
def test_powers_of_a_column_of_two_values_are_that_column(alpha):
    X, y = np.array([[0.0], [0.1]] * 30), np.array([1.0, 3.0] * 30) + np.linspace(-1, 1, 60)
    model = engine.PolynomialRegressor(degree=6, alpha=alpha).fit(X, y)
    np.testing.assert_allclose(model.predict(X[:2]), [y[::2].mean(), y[1::2].mean()], rtol=1e-6)
    assert np.count_nonzero(np.isfinite(model.pipeline_[0].deviation_)) == 3  # even powers are all alike
    assert np.abs(model.predict([[0.02], [0.05]])).max() < 4


def test_rows_by_weight_are_rows_given_so_often():
    X, y = numbers(60)
    times = np.random.default_rng(0).integers(1, 4, 60)
    weighted = engine.PolynomialRegressor(degree=3, alpha=0.5).fit(X, y, times.astype(float))
    repeated = engine.PolynomialRegressor(degree=3, alpha=0.5).fit(X.repeat(times, 0), y.repeat(times))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-8)


def test_too_many_terms_are_refused_by_degree_and_columns():
    X, y = np.random.default_rng(0).normal(size=(40, 10)), np.arange(40.0)
    told = (
        r"degree 9 of 10 columns makes 92,377 columns, more than 2,000; enter a degree of 4 or less, or "
        "terms 'powers', without products"
    )
    with pytest.raises(ParameterError, match=told):
        engine.PolynomialRegressor(degree=9).fit(X, y)
    assert engine.PolynomialRegressor(degree=9, terms="powers").fit(X, y).predict(X).shape == (40,)
    wide = np.random.default_rng(0).normal(size=(10, 2001))
    with pytest.raises(ParameterError, match="makes 2,001 columns, more than 2,000; use fewer columns"):
        engine.PolynomialRegressor(degree=1).fit(wide, np.arange(10.0))


def test_too_many_terms_for_many_rows_are_refused_before_they_are_made():
    rows = np.broadcast_to(np.arange(6.0), (1_000_000, 6))  # as it stands in memory, six numbers
    y = np.broadcast_to(np.arange(2.0), (500_000, 2)).reshape(-1)
    told = (
        "degree 4 of 6 columns makes 209 columns, more than the 100 that 1,000,000 rows have room for; enter "
        "a degree of 3 or less, or terms 'powers', without products"
    )
    with pytest.raises(ParameterError, match=told):
        engine.PolynomialRegressor(degree=4).fit(rows, y)


def test_as_many_terms_as_rows_are_noted():
    X, y = np.linspace(-1, 1, 8)[:, None], np.array([0, 1.0, 0, 1, 0, 1, 0, 1])
    model = engine.PolynomialRegressor(degree=8).fit(X, y)
    assert "8 terms and 8 training rows: it can go through every one of them" in model.notes_[0]
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    assert engine.PolynomialRegressor(degree=8, alpha=0.1).fit(X, y).notes_ == ()
    assert engine.PolynomialRegressor(degree=7).fit(X, y).notes_ == ()


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_far_rows_constant_columns_and_large_targets_have_finite_answers(alpha):
    X, y = numbers(40)
    X[:, 1] = 7.0
    model = engine.PolynomialRegressor(degree=20, terms="powers", alpha=alpha).fit(X, y * 1e100)
    far = np.array([[1e300, -1e300, 1e300], [-1e300, 8.0, 0.0], [np.nan, np.nan, np.nan]])
    assert np.isfinite(model.predict(far)).all()
    assert np.isfinite(model.predict(X)).all()


def test_many_rows_are_answered_by_pieces_between_which_somebody_is_asked():
    X, y = numbers(400)
    model = engine.PolynomialRegressor(degree=15).fit(X, y)  # 815 terms
    rows, works = np.tile(X, (30, 1)), []
    with pieces.asking(works.append):
        said = model.predict(rows)
    assert len(works) >= 3
    assert max(works) <= WORK
    np.testing.assert_allclose(said[:400], model.predict(X), rtol=1e-9)
