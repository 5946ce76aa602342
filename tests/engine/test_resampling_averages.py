"""Variance of an average of trees over training sets, against loops over stored predictions."""

from itertools import combinations

import numpy as np
import pytest

import engine
from engine.errors import DataError, ParameterError
from engine.resampling.averages import average_variance
from engine.resampling.draws import TableDraws
from engine.resampling.refits import fit_of
from tests.engine.test_resampling import StopsAfter, classes_table, numbers_table


def stored(model, sets, X_query, n_fits):
    """What each tree of each forest says: (n_fits, n_trees, n_query, n_outputs)."""
    said = []
    for number in range(n_fits):
        forest = fit_of(model, sets, number)
        one_each = [forest._of_trees([tree]) for tree in forest.estimators_]
        ask = "predict_proba" if hasattr(forest, "classes_") else "predict"
        said.append([getattr(tree, ask)(X_query).reshape(len(X_query), -1) for tree in one_each])
    return np.array(said)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_it_is_measured_as_by_a_loop(kind):
    X, y = numbers_table(60) if kind == "numbers" else classes_table(60)
    model = {"numbers": engine.ExtraTreesRegressor, "classes": engine.RandomForestClassifier}[kind](
        n_estimators=6, max_depth=4
    )
    X_query, sets = numbers_table(15, seed=8)[0], TableDraws(X, y, n_sets=7)
    found = average_variance(model, sets, X_query, [1, 2, 4, 6])
    said = stored(model, sets, X_query, 7)
    for at, m in enumerate((1, 2, 4, 6)):
        wanted = said[:, :m].mean(axis=1).var(axis=0, ddof=1).sum(axis=1).mean()
        assert found.measured[at] == pytest.approx(wanted)
    single = said.var(axis=0, ddof=1).sum(axis=2).mean()
    centred = said - said.mean(axis=0)
    pairs = [
        (centred[:, i] * centred[:, j]).sum(axis=(0, 2)).mean() / 6 for i, j in combinations(range(6), 2)
    ]
    assert found.variance == pytest.approx(single)
    assert found.correlation == pytest.approx(np.mean(pairs) / single)
    assert found.limit == pytest.approx(np.mean(pairs))
    assert found.line(6) == pytest.approx(found.measured[-1])
    assert (found.n_fits, found.n_sets) == (7, 7)


def test_the_line_runs_through_what_is_measured():
    X, y = numbers_table(60)
    sets = TableDraws(X, y, n_sets=30)
    found = average_variance(
        engine.RandomForestRegressor(max_features=1), sets, numbers_table(50, seed=3)[0], [1, 2, 4, 8]
    )
    np.testing.assert_allclose(found.measured, found.line(found.n_trees), rtol=0.15)
    assert 0 < found.correlation < 1
    assert found.measured[-1] > found.limit


def test_trees_that_are_all_alike_gain_nothing_by_being_averaged():
    X, y = numbers_table(50)
    same = engine.RandomForestRegressor(bootstrap=False, max_features=None)
    found = average_variance(same, TableDraws(X, y, n_sets=4), X, [1, 5])
    assert found.correlation == pytest.approx(1.0)
    assert found.measured[0] == pytest.approx(found.measured[1])


def test_a_training_set_of_one_class_counts_as_well():
    X = np.arange(12.0)[:, np.newaxis]
    y = np.array(["ash"] * 11 + ["yew"])
    sets = TableDraws(X, y, n_sets=8)
    assert any(11 not in sets.rows(k) for k in range(8))
    found = average_variance(engine.RandomForestClassifier(), sets, X, [1, 3])
    assert found.n_fits == 8
    assert not found.errors


def test_any_number_of_threads_gives_the_same_bits_and_a_stop_what_is_done():
    X, y = numbers_table(50)
    sets = TableDraws(X, y, n_sets=12)
    one, two = (average_variance(engine.BaggingRegressor(), sets, X, [1, 4], n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.measured, two.measured)
    assert one.correlation == two.correlation
    monitor = StopsAfter(4)
    found = average_variance(engine.BaggingRegressor(), sets, X, [1, 4], monitor=monitor)
    assert found.stopped
    assert 4 <= found.n_fits < 12
    told = [event.so_far() for event in monitor.events if event.so_far is not None]
    assert told[0] is None  # of one fit there is no variance
    assert told[-1].n_fits >= 2
    assert average_variance(engine.BaggingRegressor(), sets, X, [2], monitor=StopsAfter(0)) is None


def test_what_is_no_average_of_trees_is_refused():
    X, y = numbers_table(30)
    sets = TableDraws(X, y, n_sets=3)
    for model in (engine.GradientBoostingRegressor(), engine.DecisionTreeRegressor(),
                  engine.BaggingRegressor(estimator=engine.DecisionTreeRegressor())):  # fmt: skip
        with pytest.raises(ParameterError, match="no average of trees"):
            average_variance(model, sets, X, [1])
    for wrong in ([], [0, 1], [2, 2], [1.5]):
        with pytest.raises(ParameterError, match="n_trees"):
            average_variance(engine.RandomForestRegressor(), sets, X, wrong)
    with pytest.raises(DataError, match="takes two"):
        average_variance(engine.RandomForestRegressor(), TableDraws(X, y, n_sets=1), X, [1])
    with pytest.raises(DataError, match="no fit succeeded"):
        average_variance(engine.RandomForestRegressor(max_depth=-1), sets, X, [1])
