"""Surfaces of fitted models: every point equals what the model predicts there."""

import numpy as np
import pytest

import engine
from engine import surface

SETTINGS = {
    "DecisionTree": {"max_depth": 5},
    "RandomForest": {"n_estimators": 7, "max_depth": 5},
    "GradientBoosting": {"n_estimators": 7, "max_leaf_nodes": 8, "min_samples_leaf": 3},
    "AdaBoost": {"n_estimators": 7, "max_depth": 2},
}
NAMES = [f"{kind}{task}" for kind in SETTINGS for task in ("Classifier", "Regressor")]


def make_data():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 6, 200), rng.normal(size=200)])
    y = X[:, 0] + X[:, 1] % 3 + rng.normal(size=200)
    X[::7, 0] = np.nan
    X[::9, 1] = np.nan
    return X, y


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("axes", [(0, 2), (1, 0), (2, 1)], ids=["numbers", "levels across", "levels up"])
@pytest.mark.parametrize("held", [0.5, np.nan, 2.0])
def test_random_points_equal_prediction(name, n_classes, axes, held):
    X, y = make_data()
    is_classifier = name.endswith("Classifier")
    if is_classifier:
        y = np.array(["a", "b", "c"])[np.digitize(y, [0.5, 2.0][: n_classes - 1])]
    settings = next(of for start, of in SETTINGS.items() if name.startswith(start))
    model = getattr(engine, name)(**settings, categorical_features=[1], random_state=0).fit(X, y)
    positions = [np.array([*surface.cell_centres(-3, 3, 50), np.nan]), np.array([0.0, 1, 2, 3, 4, 5, np.nan])]
    x_values, y_values = (positions[axis == 1] for axis in axes)
    held_row = np.full(3, held if 1 in axes or np.isnan(held) else 2.0)
    answer = surface.model_surface(model, *axes, x_values, y_values, held_row)
    rng = np.random.default_rng(3)
    columns, rows = rng.integers(len(x_values), size=1000), rng.integers(len(y_values), size=1000)
    table = np.tile(held_row, (1000, 1))
    table[:, axes[0]], table[:, axes[1]] = x_values[columns], y_values[rows]
    told = answer[:, rows, columns].T
    if is_classifier:
        np.testing.assert_allclose(told, model.predict_proba(table), rtol=0, atol=1e-9)
        np.testing.assert_array_equal(model.classes_[told.argmax(axis=1)], model.predict(table))
    else:
        np.testing.assert_allclose(told[:, 0], model.predict(table), rtol=0, atol=1e-9 * np.abs(y).max())
    curve = surface.model_curve(model, axes[0], x_values, table[0])
    np.testing.assert_allclose(curve, answer[:, rows[0]], rtol=0, atol=1e-9 * np.abs(answer).max())


@pytest.mark.parametrize("name", ["AdaBoostClassifier", "AdaBoostRegressor"])
def test_adaboost_without_a_round_answers_its_baseline_everywhere(name):
    X, y = make_data()
    model = getattr(engine, name)(n_estimators=2).fit(X, y > 0 if "Class" in name else y).truncate(0)
    answer = surface.model_surface(model, 0, 2, [0.0, 1.0, 2.0], [0.0, np.nan], np.zeros(3))
    np.testing.assert_array_equal(answer, np.tile(model.baseline_[:, None, None], (1, 2, 3)))


@pytest.mark.parametrize("seed", range(4))
def test_ties_are_settled_cell_by_cell_where_thresholds_outnumber_positions(seed):
    """Two trees, a class a row: most positions are ties, and few positions lie between many thresholds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 2))
    model = engine.RandomForestClassifier(n_estimators=2, random_state=seed).fit(X, np.arange(60))
    x_values, y_values = (np.sort(rng.normal(size=5)) for _ in range(2))
    answer = surface.model_surface(model, 0, 1, x_values, y_values, np.zeros(2))
    table = np.column_stack([np.tile(x_values, 5), np.repeat(y_values, 5)])
    np.testing.assert_allclose(answer.reshape(60, 25).T, model.predict_proba(table), rtol=0, atol=1e-12)


def test_positions_may_span_all_numbers():
    X = np.array([[-1.7e308, 0.0], [1.7e308, 1.0]] * 4)
    model = engine.RandomForestRegressor(n_estimators=3, random_state=0).fit(X, X[:, 1])
    ends = np.array([-1.7e308, 1.7e308])
    answer = surface.model_surface(model, 0, 1, ends, [0.0, 1.0], np.zeros(2))
    table = np.column_stack([np.tile(ends, 2), [0.0, 0.0, 1.0, 1.0]])
    np.testing.assert_allclose(answer.ravel(), model.predict(table))
