"""Noise, bias and variance along a setting: every value as if it were fitted alone."""

import numpy as np
import pytest

import engine
from engine.errors import DataError, ParameterError
from engine.resampling.along import decompose_along, is_stageable
from engine.resampling.decomposition import decompose
from engine.resampling.draws import FreshDraws, QueryRows, TableDraws
from engine.resampling.refits import refit
from engine.resampling.truths import truth_of
from tests.engine.test_resampling import StopsAfter, classes_table, numbers_table

PARTS = ("bias", "variance", "error")
STAGED = {
    "forest": engine.RandomForestRegressor(oob_score=True),
    "extra trees": engine.ExtraTreesRegressor(max_depth=4),
    "bagging": engine.BaggingRegressor(),
    "boosting": engine.GradientBoostingRegressor(min_samples_leaf=3, subsample=0.8),
    "AdaBoost": engine.AdaBoostRegressor(),
}
STAGED_CLASSES = {
    "forest": engine.RandomForestClassifier(voting="hard"),
    "boosting": engine.GradientBoostingClassifier(min_samples_leaf=3),
    "AdaBoost": engine.AdaBoostClassifier(max_depth=2),
}


def assert_is_each_alone(curve, model, sets, query, name):
    for at, value in enumerate(curve.values):
        refits = refit(type(model)(**{**model.get_params(deep=False), name: value}), sets, query.X)
        alone = decompose(refits, query)
        for part in PARTS:
            wanted, found = getattr(alone, part), getattr(curve.parts[at], part)
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12, err_msg=f"{value} {part}")
            assert curve.means(part)[at] == pytest.approx(alone.means()[part])


@pytest.mark.parametrize("kind", STAGED)
def test_stages_of_one_fit_are_fits_of_fewer_trees(kind):
    X, y = numbers_table(60)
    X_query, y_query = numbers_table(20, seed=9)
    sets, query = TableDraws(X, y, n_sets=3), QueryRows(X_query, y_query, np.arange(20) + 1.0)
    curve = decompose_along(STAGED[kind], sets, query, "n_estimators", [4, 1, 7])
    assert curve.is_staged
    assert curve.n_fits.tolist() == [3, 3, 3]
    assert_is_each_alone(curve, STAGED[kind], sets, query, "n_estimators")


@pytest.mark.parametrize("kind", STAGED_CLASSES)
def test_stages_of_classes_too(kind):
    X, y = classes_table(60)
    y[7] = "yew"  # some training sets are without
    X_query, y_query = classes_table(20, seed=9)
    sets, query = TableDraws(X, y, n_sets=4), QueryRows(X_query, y_query)
    curve = decompose_along(STAGED_CLASSES[kind], sets, query, "n_estimators", [1, 5])
    assert curve.is_staged
    assert_is_each_alone(curve, STAGED_CLASSES[kind], sets, query, "n_estimators")


@pytest.mark.parametrize(
    ("model", "name", "values"),
    [(engine.DecisionTreeRegressor(), "max_depth", [1, 3, None]),
     (engine.RandomForestRegressor(n_estimators=3), "max_features", [1, 3, "sqrt"]),
     (engine.NearestNeighborsRegressor(), "n_neighbors", [1, 9])],
    ids=["depth", "m", "k"],
)  # fmt: skip
def test_other_settings_are_fitted_anew(model, name, values):
    X, y = numbers_table(60)
    X_query, y_query = numbers_table(20, seed=9)
    sets, query = TableDraws(X, y, n_sets=3), QueryRows(X_query, y_query)
    curve = decompose_along(model, sets, query, name, values)
    assert not curve.is_staged
    assert_is_each_alone(curve, model, sets, query, name)


def test_stages_are_taken_of_trees_alone_where_nothing_else_chooses_their_number():
    assert is_stageable(engine.GradientBoostingClassifier())
    assert not is_stageable(engine.GradientBoostingClassifier(early_stopping=True))
    assert not is_stageable(engine.BaggingRegressor(estimator=engine.DecisionTreeRegressor()))
    assert not is_stageable(engine.RandomForestClassifier(warm_start=True))
    assert not is_stageable(engine.DecisionTreeRegressor())
    assert not is_stageable(engine.DeepEnsembleRegressor())


def test_deeper_trees_have_less_bias_and_more_variance():
    sets = FreshDraws(truth_of("cosine"), 120, n_sets=25, seed=0)
    tree = engine.DecisionTreeRegressor()
    curve = decompose_along(tree, sets, sets.query(1500), "max_depth", [1, 4, 12])
    assert (np.diff(curve.means("bias")) < 1e-3).all()
    stump, middle, deep = curve.means("variance")
    assert deep > middle
    assert stump > deep  # cos is symmetric: the first split lies on either side by chance
    assert curve.best == 1
    parts = [curve.means(name) for name in ("noise", "bias", "variance")]
    np.testing.assert_allclose(sum(parts), curve.means("error"), rtol=0.02)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_whole_curve_is_told_early_and_a_stop_keeps_it(n_jobs):
    X, y = numbers_table(60)
    sets, query = TableDraws(X, y, n_sets=9), QueryRows(X, y)
    model, values = engine.DecisionTreeRegressor(), [1, 2, 5]
    monitor = StopsAfter(8)
    curve = decompose_along(model, sets, query, "max_depth", values, n_jobs=n_jobs, monitor=monitor)
    assert curve.stopped
    assert curve.n_fits.min() >= 2
    assert curve.n_fits.max() < 9
    told = [event.so_far() for event in monitor.events if event.so_far is not None]
    assert told[0].parts == (None, None, None)
    assert told[0].best is None
    fits = [each.n_fits.tolist() for each in told]
    assert fits == sorted(fits)
    few = decompose_along(model, TableDraws(X, y, n_sets=2), query, "max_depth", values)
    first = next(each for each in told if each.n_fits.min() == 2)
    np.testing.assert_allclose(first.means("error")[-1], few.means("error")[-1])
    assert "training set 1 of 9, max_depth = 1" in {event.message for event in monitor.events}


def test_any_number_of_threads_gives_the_same_bits():
    X, y = classes_table(60)
    sets, query = TableDraws(X, y, n_sets=3), QueryRows(X, y)
    for model, name in ((engine.RandomForestClassifier(), "n_estimators"),
                        (engine.DecisionTreeClassifier(), "max_depth")):  # fmt: skip
        one, two = (decompose_along(model, sets, query, name, [2, 4], n_jobs=n) for n in (1, 2))
        for part in PARTS:
            np.testing.assert_array_equal(one.means(part), two.means(part))


def test_a_value_that_fails_is_said_and_the_others_stay():
    X, y = numbers_table(40)
    sets, query = TableDraws(X, y, n_sets=2), QueryRows(X, y)
    curve = decompose_along(engine.DecisionTreeRegressor(), sets, query, "max_depth", [2, -3])
    assert list(curve.errors) == [1]
    assert "max_depth" in curve.errors[1]
    assert curve.n_fits.tolist() == [2, 0]
    assert np.isnan(curve.means("bias")[1])
    assert curve.best == 0
    with pytest.raises(DataError, match="no fit succeeded; the first says: max_depth"):
        decompose_along(engine.DecisionTreeRegressor(), sets, query, "max_depth", [-3])


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [("depth", [1], "no setting 'depth'"), ("max_depth", [], "no value"), ("max_depth", [1, 2, 1], "twice")],
)
def test_values_that_make_no_curve_are_refused(name, values, words):
    X, y = numbers_table(40)
    with pytest.raises(ParameterError, match=words):
        decompose_along(engine.DecisionTreeRegressor(), TableDraws(X, y), QueryRows(X, y), name, values)


def test_query_rows_of_an_unknown_class_are_refused_before_the_work():
    X, y = classes_table(40)
    query = QueryRows(X, np.where(np.arange(40) == 3, "yew", y))
    with pytest.raises(DataError, match="yew"):
        decompose_along(engine.DecisionTreeClassifier(), TableDraws(X, y), query, "max_depth", [1])


@pytest.mark.parametrize(
    ("model", "name", "values"),
    [(engine.RandomForestRegressor(), "n_estimators", [2, 5, 9]),
     (engine.GradientBoostingRegressor(min_samples_leaf=3, subsample=0.8), "n_estimators", [9, 2, 5]),
     (engine.DecisionTreeRegressor(max_features=1), "max_depth", [1, None, 4])],
    ids=["forest", "boosting", "depth"],
)  # fmt: skip
def test_what_was_stopped_goes_on_and_values_may_be_added_to_the_same_bits(model, name, values):
    X, y = numbers_table(60)
    sets, query = TableDraws(X, y, n_sets=5), QueryRows(X[:20], y[:20])
    whole = decompose_along(model, sets, query, name, values)
    half = decompose_along(model, sets, query, name, values[:2], n_jobs=1, monitor=StopsAfter(3))
    assert half.stopped
    assert 0 < max(each.n_over for each in half.begun) < 5
    monitor = StopsAfter(99)
    both = decompose_along(model, sets, query, name, values, begun=[*half.begun, None], monitor=monitor)
    for part in PARTS:
        np.testing.assert_array_equal(both.means(part), whole.means(part))
    done = {event.message for event in monitor.events}
    assert f"training set 1 of 5, {name} = {values[2]}" in done, "the first two values are not done again"
    again = decompose_along(model, sets, query, name, values, begun=both.begun)
    assert not again.stopped
    np.testing.assert_array_equal(again.means("error"), whole.means("error"))
    with pytest.raises(ParameterError, match="with 5 training sets at most of 4"):
        decompose_along(model, TableDraws(X, y, n_sets=4), query, name, values, begun=both.begun)
