"""How far fits lie apart at every place, against plain loops over each fit's answers."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import engine
from engine.errors import DataError
from engine.resampling.draws import TableDraws
from engine.resampling.refits import refit
from engine.resampling.spread import refit_spread
from tests.engine import naive_resampling as naive
from tests.engine.test_resampling import StopsAfter, classes_table, numbers_table


def trees(kind, **parameters):
    return getattr(engine, f"DecisionTree{kind}")(**parameters)


@pytest.mark.parametrize(("n_sets", "n_query"), [(1, 1), (2, 7), (30, 33)])
def test_of_numbers_it_is_the_mean_squared_distance_from_the_mean(n_sets, n_query):
    X, y = numbers_table()
    y += 1e6  # where sums of squares would lose most of their digits
    query, sets = numbers_table(n_query, seed=9)[0], TableDraws(X, y, n_sets=n_sets)
    found = refit_spread(trees("Regressor", max_depth=3), sets, query)
    fits = refit(trees("Regressor", max_depth=3), sets, query).predictions
    np.testing.assert_array_equal(found.answers, fits)
    mean, variance = np.array(naive.spread(fits)).T
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.variance, variance, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(found.deviation, np.sqrt(found.variance))


def test_of_classes_it_is_that_of_one_share_and_threads_do_not_matter():
    X, y = classes_table()
    query, sets = classes_table(40, seed=4)[0], TableDraws(X, y, n_sets=12, how="subsample")
    model = trees("Classifier", max_depth=4)
    one, two = (refit_spread(model, sets, query, "beech", n_jobs=n) for n in (1, 2))
    shares = refit(model, sets, query).predictions[:, :, 1]
    np.testing.assert_array_equal(one.answers, shares)
    np.testing.assert_allclose(one.variance, np.array(naive.spread(shares))[:, 1], atol=1e-12)
    for name in ("answers", "mean", "variance"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    with pytest.raises(DataError, match="no class 'oak'; choose one of ash, beech, cedar"):
        refit_spread(model, sets, query, "oak")


def test_a_stop_keeps_what_is_done_and_what_was_told_stays():
    X, y = numbers_table()
    monitor, sets = StopsAfter(6), TableDraws(X, y, n_sets=80)
    found = refit_spread(trees("Regressor"), sets, X[:9], n_jobs=1, monitor=monitor)
    assert found.stopped
    assert 6 <= len(found.answers) < 80 == found.n_wanted
    told = [event.so_far() for event in monitor.events if event.so_far is not None]
    counts = [len(each.answers) for each in told]
    assert counts == sorted(counts)
    for each in (*told, found):  # none is changed by what comes later
        np.testing.assert_allclose(each.mean, each.answers.mean(axis=0))
        np.testing.assert_allclose(each.variance, each.answers.var(axis=0), atol=1e-12)


class FailsOnSome(RegressorMixin, BaseEstimator):
    """Refuses training sets without the first row."""

    def __init__(self, first=0.0):
        self.first = first

    def fit(self, X, y):
        if self.first not in y:
            raise ValueError("the first row is missing")
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_fits_that_fail_are_left_out_and_none_is_an_error():
    X, y = numbers_table()
    sets = TableDraws(X, y, n_sets=20, how="subsample")
    found = refit_spread(FailsOnSome(float(y[0])), sets, X[:3])
    done = [n for n in range(20) if 0 in sets.rows(n)]
    assert 0 < len(done) < 20
    np.testing.assert_allclose(found.answers[:, 0], [y[sets.rows(n)].mean() for n in done])
    assert sorted(found.errors) == [n for n in range(20) if n not in done]
    np.testing.assert_allclose(found.variance, found.answers.var(axis=0))
    with pytest.raises(DataError, match="no fit succeeded"):
        refit_spread(FailsOnSome(1e9), sets, X[:3])
