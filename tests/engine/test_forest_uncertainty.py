"""A forest's uncertainty against a loop over its trees, on rows and on surfaces."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import engine
from engine.predict import leaf_numbers, tree_values
from engine.uncertainty import of_classes, of_numbers
from engine.uncertainty_surface import tells_uncertainty, uncertainty_curve, uncertainty_surface

FORESTS = ["RandomForest", "ExtraTrees", "Bagging"]


def table(n_rows=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    X[::9, 1] = np.nan
    return X, 1000 + 5 * X[:, 0] + np.abs(X[:, 2]) * rng.normal(size=n_rows)


def forest(name, kind, **settings):
    X, y = table()
    limits = {} if name == "Bagging" else {"min_samples_leaf": 5}
    target = y if kind == "Regressor" else np.digitize(y, [996, 1004])
    model = getattr(engine, name + kind)(n_estimators=8, random_state=0, **limits, **settings)
    return model.fit(X, target)


def by_loop(model, X):
    """Members' own means and leaf variances, or class fractions."""
    values = np.stack([tree_values([tree], X) for tree in model.estimators_])
    if hasattr(model, "classes_"):
        return of_classes(values)
    leaves = [leaf_numbers(tree, X) for tree in model.estimators_]
    noise = [tree.impurity[at] for tree, at in zip(model.estimators_, leaves, strict=True)]
    return of_numbers(values[:, :, 0], np.stack(noise))


@pytest.mark.parametrize("name", FORESTS)
@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_uncertainty_is_that_of_a_loop_over_the_trees(name, kind):
    model, (X, _) = forest(name, kind), table()
    found, expected = model.predict_uncertainty(X), by_loop(model, X)
    for part, of_loop in zip(found, expected, strict=True):
        np.testing.assert_allclose(part, of_loop, rtol=1e-7, atol=1e-7)
    predicted = model.predict(X) if kind == "Regressor" else model.predict_proba(X)
    np.testing.assert_allclose(found.mean, predicted)
    assert found.epistemic.max() > 0


@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_surfaces_and_curves_are_what_rows_say(kind):
    x_values, y_values, held = (
        np.array([-1.0, 0.0, 1.5, np.nan]),
        np.array([-0.5, 0.7]),
        np.array([0.1, 0.2, 0.3]),
    )
    rows = np.array([[0.1, x, y] for y in y_values for x in x_values])
    networks = getattr(engine, f"DeepEnsemble{kind}")(n_estimators=2, max_epochs=2, random_state=0)
    X, y = table()
    networks.fit(X, y if kind == "Regressor" else y > 1000)
    for model in (forest("RandomForest", kind), networks):
        assert tells_uncertainty(model)
        surface = uncertainty_surface(model, 1, 2, x_values, y_values, held)
        told = model.predict_uncertainty(rows)
        for part, of_rows in zip(surface, told, strict=True):
            assert part.shape == (*of_rows.shape[1:], 2, 4)
            np.testing.assert_allclose(
                np.moveaxis(part.reshape(*part.shape[:-2], 8), -1, 0), of_rows, atol=1e-6
            )
        curve = uncertainty_curve(model, 1, x_values, [0.1, 0.2, -0.5])
        for part, of_rows in zip(curve.uncertainty, told, strict=True):
            np.testing.assert_allclose(part, of_rows[:4], atol=1e-6)
        assert (curve.lower is None) == (model is not networks or kind == "Classifier")
    if kind == "Regressor":
        np.testing.assert_array_equal(np.column_stack(curve[1:]), networks.predict_interval(rows[:4]))


def test_counts_have_the_variance_of_their_mean_and_medians_tell_none():
    X, y = table()
    counts = engine.RandomForestRegressor(n_estimators=4, criterion="poisson", random_state=0)
    found = counts.fit(X, np.round(np.abs(y - 995))).predict_uncertainty(X)
    np.testing.assert_allclose(found.aleatoric, found.mean)
    medians = engine.RandomForestRegressor(n_estimators=4, criterion="absolute_error", random_state=0)
    found = medians.fit(X, y).predict_uncertainty(X)
    assert np.isnan(found.aleatoric).all()
    assert np.isnan(found.std).all()
    assert np.isfinite(found.epistemic).all()


def test_bags_of_other_learners_disagree_too():
    X, y = np.nan_to_num(table()[0]), table()[1]
    lines = engine.BaggingRegressor(LinearRegression(), n_estimators=4, random_state=0).fit(X, y)
    found = lines.predict_uncertainty(X)
    each = np.stack([member.predict(X) for member in lines.estimators_])
    np.testing.assert_allclose(found.epistemic, each.var(axis=0))
    np.testing.assert_allclose(found.mean, lines.predict(X))
    assert np.isnan(found.aleatoric).all()
    classes = engine.BaggingClassifier(LogisticRegression(), n_estimators=4, random_state=0).fit(X, y > 1000)
    found = classes.predict_uncertainty(X)
    np.testing.assert_allclose(found.mean, classes.predict_proba(X))
    assert (found.epistemic > 0).all()


def test_votes_have_no_noise_of_their_own():
    model, (X, _) = forest("RandomForest", "Classifier", voting="hard"), table()
    found = model.predict_uncertainty(X)
    np.testing.assert_allclose(found.mean, model.predict_proba(X))
    np.testing.assert_allclose(found.aleatoric, 0.0, atol=1e-12)


@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_trees_taken_some_at_a_time_say_the_same_and_the_monitor_is_told_of_each_batch(monkeypatch, kind):
    model, (X, _) = forest("RandomForest", kind), table()
    places = np.linspace(-1, 1, 4)
    whole = model.predict_uncertainty(X), uncertainty_surface(model, 1, 2, places, places, np.zeros(3))
    asked = []

    class Monitor:
        def on_iteration(self, event):
            asked.append(event.phase)
            return False

    monkeypatch.setattr("engine.forest.uncertainty.BATCH_NODES", 2 * model.estimators_[0].n_nodes + 1)
    again = (
        model.predict_uncertainty(X),
        uncertainty_surface(model, 1, 2, places, places, np.zeros(3), Monitor()),
    )
    assert 1 < len(asked) < len(model.estimators_)
    for before, now in zip(whole, again, strict=True):
        for part, of_batches in zip(before, now, strict=True):
            np.testing.assert_allclose(of_batches, part, rtol=1e-6, atol=1e-6)
