"""Training sets, fits on them, and where their errors come from, against plain loops."""

import threading

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.neighbors import KNeighborsClassifier

import engine
from engine.errors import DataError, ParameterError
from engine.resampling.decomposition import decompose
from engine.resampling.draws import FreshDraws, QueryRows, TableDraws
from engine.resampling.refits import Refits, fit_of, refit
from engine.resampling.truths import TRUTHS, Clouds, truth_of
from tests.engine import naive_resampling as naive

NOISE = {"cosine": 0.2, "few_points": 0.3, "gap": 0.15}  # standard deviations


def numbers_table(n_rows=80, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + rng.normal(0, 0.3, n_rows)


def classes_table(n_rows=90, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, np.array(["ash", "beech", "cedar"])[
        np.digitize(X[:, 0] + rng.normal(0, 0.7, n_rows), [-0.5, 0.6])
    ]


class StopsAfter:
    def __init__(self, n_done):
        self.n_done, self.events = n_done, []

    def on_iteration(self, event):
        self.events.append(event)
        return event.iteration >= self.n_done


# training sets


def test_a_training_set_is_the_same_however_many_there_are():
    X, y = numbers_table()
    few, many = (TableDraws(X, y, n_sets=n, seed=7) for n in (3, 50))
    for number in range(3):
        np.testing.assert_array_equal(few.rows(number), many.rows(number))
    assert not np.array_equal(few.rows(0), few.rows(1))
    assert not np.array_equal(few.rows(0), TableDraws(X, y, n_sets=3, seed=8).rows(0))


def test_a_bootstrap_draws_as_many_rows_as_there_are_and_a_subsample_each_once():
    X, y = numbers_table()
    assert len(TableDraws(X, y).rows(0)) == 80
    assert len(np.unique(TableDraws(X, y).rows(0))) < 80
    assert len(TableDraws(X, y, share=0.25).rows(0)) == 20
    half = TableDraws(X, y, how="subsample").rows(3)
    assert len(half) == len(np.unique(half)) == 40
    assert len(TableDraws(X, y, how="subsample", share=0.9).rows(3)) == 72


def test_rows_of_weight_0_are_never_drawn_and_the_others_take_their_weight_along():
    X, y = numbers_table()
    w = np.arange(80) % 3.0
    sets = TableDraws(X, y, w)
    rows, table = sets.rows(4), sets.table(4)
    assert (w[rows] > 0).all()
    assert len(rows) == np.count_nonzero(w)
    np.testing.assert_array_equal(table.weights, w[rows])
    np.testing.assert_array_equal(table.X, X[rows])


@pytest.mark.parametrize("how", ["bootstrap", "subsample"])
def test_whole_groups_are_drawn_and_rows_without_one_alone(how):
    X, y = numbers_table(12)
    groups = [1, 1, 1, 2, 2, None, 3, 3, 3, 3, None, 2]
    whole = [{0, 1, 2}, {3, 4, 11}, {5}, {6, 7, 8, 9}, {10}]
    sets = TableDraws(X, y, groups=groups, how=how, n_sets=40)
    for number in range(40):
        rows = sets.rows(number).tolist()
        times = [{rows.count(row) for row in group} for group in whole]
        assert all(len(each) == 1 for each in times)
        n_drawn = sum(min(each) for each in times)
        assert n_drawn == (5 if how == "bootstrap" else 2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"how": "jackknife"}, "bootstrap"), ({"share": 0.0}, "share"), ({"n_sets": 0}, "n_sets"),
     ({"how": "subsample", "share": 1.0}, "below 1")],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(wrong, words):
    with pytest.raises(ParameterError, match=words):
        TableDraws(*numbers_table(), **wrong)


def test_tables_that_cannot_be_drawn_from_are_refused():
    X, y = numbers_table()
    with pytest.raises(DataError, match="no row has a weight"):
        TableDraws(X, y, np.zeros(80))
    with pytest.raises(DataError, match="differ in length"):
        TableDraws(X, y[:-1])


# sources that are known


@pytest.mark.parametrize("name", sorted(TRUTHS))
def test_a_source_draws_as_it_says(name):
    truth, rng = truth_of(name), np.random.default_rng(0)
    X, y = truth.draw(4000, rng)
    expected = truth.expected(X)
    assert X.shape == (4000, len(truth.columns))
    if truth.classes is None:
        assert np.mean(y - expected) == pytest.approx(0.0, abs=0.01)
        assert np.mean((y - expected) ** 2) == pytest.approx(NOISE[name] ** 2, rel=0.07)
        return
    np.testing.assert_allclose(expected.sum(axis=1), 1.0)
    observed = y[:, None] == truth.classes
    # where a class has a chance of about p it is seen about as often: in tenths of p, within three errors
    for column in range(len(truth.classes)):
        p, seen = expected[:, column], observed[:, column]
        for lower in np.arange(10) / 10:
            inside = (p >= lower) & (p <= lower + 0.1)
            if inside.sum() > 50:
                error = 3 * np.sqrt(max(p[inside].mean() * (1 - p[inside].mean()), 1e-4) / inside.sum())
                assert seen[inside].mean() == pytest.approx(p[inside].mean(), abs=error + 0.005)


@pytest.mark.parametrize("name", sorted(set(TRUTHS)))
def test_shipped_samples_come_from_their_sources(name):
    from workbench.samples import load_sample

    truth, sample = truth_of(name), load_sample(name)
    X = np.column_stack([sample.column(column).values for column in truth.columns])
    target = next(column.name for column in sample.columns if column.name not in truth.columns)
    drawn, _ = truth.draw(len(X), np.random.default_rng(1))
    np.testing.assert_allclose(X.mean(axis=0), drawn.mean(axis=0), atol=5 * X.std() / np.sqrt(len(X)))
    np.testing.assert_allclose(X.std(axis=0), drawn.std(axis=0), rtol=0.25)
    if truth.classes is None:
        noise = sample.column(target).values - truth.expected(X)
        assert np.std(noise) == pytest.approx(NOISE[name], rel=3 / np.sqrt(2 * len(X)))
    else:
        codes, levels = sample.column(target).label_codes()
        assert sorted(levels) == truth.classes.tolist()
        labels = np.array(levels)[codes]
        chance = truth.expected(X)[np.arange(len(X)), np.searchsorted(truth.classes, labels)]
        best = truth.expected(X).max(axis=1)
        assert np.mean(chance) == pytest.approx(np.mean(best**2 + (1 - best) ** 2), abs=0.1)


def test_of_other_tables_no_source_is_known():
    with pytest.raises(ParameterError, match="cosine"):
        truth_of("iris")


def test_densities_are_the_same_in_pieces(monkeypatch):
    moons = truth_of("moons")
    assert isinstance(moons, Clouds)
    X, _ = moons.draw(50, np.random.default_rng(0))
    whole = moons.expected(X)
    monkeypatch.setattr("engine.resampling.truths.CELLS_AT_ONCE", 401)
    np.testing.assert_array_equal(moons.expected(X), whole)


# fits


@pytest.mark.parametrize(
    "model",
    [engine.DecisionTreeRegressor(max_depth=4), engine.RandomForestRegressor(n_estimators=5, oob_score=True),
     engine.NearestNeighborsRegressor(n_neighbors=3)],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_predictions_are_those_of_a_loop(model):
    X, y = numbers_table()
    X_query = np.random.default_rng(5).normal(size=(30, 3))
    sets = TableDraws(X, y, n_sets=4)
    found = refit(model, sets, X_query, random_state=3)
    assert found.predictions.shape == (4, 30)
    for number in range(4):
        rows = sets.rows(number)
        again = fit_of(model, sets, number, random_state=3)
        plain = clone(again).fit(X[rows], y[rows])
        np.testing.assert_array_equal(found.predictions[number], again.predict(X_query))
        np.testing.assert_array_equal(found.predictions[number], plain.predict(X_query))
    assert not found.stopped


def test_every_fit_draws_by_seeds_of_its_own_also_where_one_is_set():
    X, y = numbers_table()
    sets = TableDraws(X, y, n_sets=3)
    seeds = {
        fit_of(engine.RandomForestRegressor(n_estimators=2, random_state=0), sets, k).random_state
        for k in range(3)
    }
    assert len(seeds) == 3


def test_classes_absent_from_a_draw_keep_their_column():
    X, y = classes_table(30)
    y = np.where(np.arange(30) == 4, "yew", np.where(y == "cedar", "ash", y))
    sets = TableDraws(X, y, n_sets=12)
    found = refit(engine.DecisionTreeClassifier(), sets, X)
    assert found.predictions.shape == (12, 30, 3)
    assert found.classes.tolist() == ["ash", "beech", "yew"]
    without = [k for k in range(12) if 4 not in sets.rows(k)]
    assert without
    assert not found.predictions[without][:, :, 2].any()
    np.testing.assert_allclose(found.predictions.sum(axis=2), 1.0)
    labels = fit_of(engine.DecisionTreeClassifier(), sets, 0).predict(X)
    np.testing.assert_array_equal(found.classes[found.labels[0]], labels)


def test_a_draw_of_one_class_says_that_class():
    X = np.arange(12.0)[:, None]
    y = np.array([0] * 11 + [1])
    found = refit(KNeighborsClassifier(1), TableDraws(X, y, n_sets=20), X)
    alone = [k for k in range(20) if 11 not in TableDraws(X, y, n_sets=20).rows(k)]
    assert alone
    assert not found.errors
    assert (found.labels[alone] == 0).all()


def test_frames_categories_and_class_weights_by_label():
    X, y = classes_table()
    table = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(X[:, 1] > 0, "high", "low"))})
    model = engine.DecisionTreeClassifier(max_depth=3, class_weight={"ash": 5.0})
    sets = TableDraws(table, pd.Series(pd.Categorical(y)), n_sets=3)
    found = refit(model, sets, table.iloc[:20])
    for number in range(3):
        rows = sets.rows(number)
        plain = clone(model).fit(table.iloc[rows], y[rows])
        np.testing.assert_array_equal(found.predictions[number], plain.predict_proba(table.iloc[:20]))


@pytest.mark.parametrize("kind", ["tree", "forest", "boosting"])
def test_any_number_of_threads_gives_the_same_bits(kind):
    X, y = classes_table()
    model = {
        "tree": engine.DecisionTreeClassifier(max_features=1),
        "forest": engine.RandomForestClassifier(n_estimators=4),
        "boosting": engine.GradientBoostingClassifier(n_estimators=3, min_samples_leaf=2, subsample=0.7),
    }[kind]  # fmt: skip
    sets = TableDraws(X, y, n_sets=5)
    one, two = (refit(model, sets, X, n_jobs=n_jobs).predictions for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)
    fewer = refit(model, TableDraws(X, y, n_sets=2), X, n_jobs=2).predictions
    np.testing.assert_array_equal(one[:2], fewer)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stop_keeps_the_fits_that_are_done(n_jobs):
    X, y = numbers_table()
    sets = TableDraws(X, y, n_sets=30)
    model = engine.RandomForestRegressor(n_estimators=3)
    whole, monitor = refit(model, sets, X), StopsAfter(4)
    found = refit(model, sets, X, n_jobs=n_jobs, monitor=monitor)
    assert found.stopped
    assert 4 <= len(found.predictions) < 30
    assert found.n_wanted == 30
    np.testing.assert_array_equal(found.predictions, whole.predictions[: len(found.predictions)])


def test_what_is_done_so_far_is_told_and_stays_as_it_was():
    X, y = numbers_table()
    monitor = StopsAfter(99)
    found = refit(engine.DecisionTreeRegressor(), TableDraws(X, y, n_sets=6), X, monitor=monitor)
    told = [event.so_far() for event in monitor.events if event.so_far is not None]
    assert sorted({len(each.predictions) for each in told}) == [1, 2, 3, 4, 5, 6]
    for each in told:
        np.testing.assert_array_equal(each.predictions, found.predictions[: len(each.predictions)])
    fractions = [event.fraction for event in monitor.events]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert "training set 6 of 6" in {event.message for event in monitor.events}


class RefusesSome(ClassifierMixin, BaseEstimator):
    """Says the first class, and refuses tables of which the first row is among the first few."""

    def __init__(self, below=0.0):
        self.below = below

    def fit(self, X, y):
        if X[0, 0] < self.below:
            raise ValueError("the first row is too small")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[:1], len(X))


def test_a_fit_that_fails_ends_none_of_the_others():
    X, y = classes_table()
    sets = TableDraws(X, y, n_sets=10)
    failing = [k for k in range(10) if sets.table(k).X[0, 0] < 0]
    assert 0 < len(failing) < 10
    found = refit(RefusesSome(0.0), sets, X)
    assert sorted(found.errors) == failing
    assert len(found.done) == 10 - len(failing)
    assert np.isnan(found.predictions[failing]).all()
    with pytest.raises(DataError, match="no fit succeeded; the first says: the first row"):
        refit(RefusesSome(99.0), sets, X)


def test_learners_that_cannot_be_stopped_are_not_waited_for():
    X, y = classes_table()
    go_on = threading.Event()

    class Waits(RefusesSome):
        def fit(self, X, y):
            go_on.wait(20)
            return super().fit(X, y)

    try:
        found = refit(Waits(-99.0), TableDraws(X, y, n_sets=3), X, n_jobs=2, monitor=StopsAfter(0))
        assert found.stopped
        assert len(found.predictions) == 0
    finally:
        go_on.set()


# decompositions


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_squared_error_is_decomposed_as_by_a_loop(data):
    n_fits, n_query = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 5))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    predictions, y = rng.normal(3.0, 2.0, (n_fits, n_query)), rng.normal(size=n_query)
    truth = rng.normal(size=n_query) if data.draw(st.booleans()) else None
    weights = rng.integers(1, 5, n_query).astype(float) if data.draw(st.booleans()) else None
    parts = decompose(Refits(predictions, None, n_fits), QueryRows(None, y, weights, truth))
    wanted = naive.squared_error(predictions, y, truth)
    for at, name in ((1, "bias"), (2, "variance"), (3, "error")):
        np.testing.assert_allclose(getattr(parts, name), [row[at] for row in wanted], atol=1e-12)
        mean = np.average([row[at] for row in wanted], weights=weights)
        assert parts.means()[name] == pytest.approx(mean)
    assert parts.is_truth_known == (truth is not None)
    if truth is None:
        np.testing.assert_allclose(parts.bias + parts.variance, parts.error)
        assert np.isnan(parts.means()["noise"])
    else:
        np.testing.assert_allclose(parts.noise, [row[0] for row in wanted])


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_wrong_rows_are_decomposed_as_by_domingos(data):
    n_fits, n_query, n_classes = (data.draw(st.integers(low, 5)) for low in (1, 1, 2))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    labels, y = rng.integers(n_classes, size=(n_fits, n_query)), rng.integers(n_classes, size=n_query)
    truth = rng.dirichlet(np.ones(n_classes), n_query) if data.draw(st.booleans()) else None
    weights = rng.integers(1, 5, n_query).astype(float)
    refits = Refits(np.eye(n_classes)[labels], np.arange(n_classes), n_fits)
    parts = decompose(refits, QueryRows(None, y, weights, truth))
    wanted = naive.zero_one(labels, y, truth)
    names = ["bias", "variance", "unbiased", "biased", "error"]
    for name in [*names, "noise", "net_noise"] if truth is not None else names:
        column = [row[name] for row in wanted]
        np.testing.assert_allclose(getattr(parts, name), column, atol=1e-12, err_msg=name)
        assert parts.means()[name] == pytest.approx(np.average(column, weights=weights))
    net_noise = 0.0 if truth is None else parts.net_noise
    np.testing.assert_allclose(
        net_noise + parts.bias + parts.unbiased - parts.biased, parts.error, atol=1e-12
    )


def test_on_cosine_the_parts_add_up_and_noise_is_that_of_the_source():
    sets = FreshDraws(truth_of("cosine"), 300, n_sets=30, seed=1)
    query = sets.query(8000)
    for depth in (2, 10):
        refits = refit(engine.DecisionTreeRegressor(max_depth=depth), sets, query.X)
        means = decompose(refits, query).means()
        measured = np.mean((refits.done - query.y) ** 2)
        assert means["error"] == pytest.approx(measured)
        assert means["noise"] + means["bias"] + means["variance"] == pytest.approx(measured, rel=0.02)
        assert means["noise"] == pytest.approx(0.04, rel=0.05)
        assert (means["bias"] > means["variance"]) == (depth == 2)


def test_query_rows_are_fresh_and_the_same_for_any_number_of_sets():
    one, other = (FreshDraws(truth_of("moons"), 50, n_sets=n, seed=2) for n in (2, 9))
    np.testing.assert_array_equal(one.query(20).X, other.query(20).X)
    np.testing.assert_array_equal(one.table(1).X, other.table(1).X)
    assert not np.array_equal(one.query(50).X, one.table(0).X)
    found = refit(engine.DecisionTreeClassifier(max_depth=2), one, one.query(20).X)
    parts = decompose(found, one.query(20))
    assert parts.is_truth_known
    assert parts.n_fits == 2


def test_rows_that_do_not_fit_the_fits_are_refused():
    refits = Refits(np.zeros((2, 3)), None, 2)
    with pytest.raises(DataError, match="answered 3 rows"):
        decompose(refits, QueryRows(None, np.zeros(4)))
    with pytest.raises(DataError, match="no fit is done"):
        decompose(Refits(np.zeros((0, 3)), None, 2), QueryRows(None, np.zeros(3)))
    of_classes = Refits(np.ones((2, 1, 1)), np.array(["ash"]), 2)
    with pytest.raises(DataError, match="'yew', which training never saw"):
        decompose(of_classes, QueryRows(None, np.array(["yew"])))
