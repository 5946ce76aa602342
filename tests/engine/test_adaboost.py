"""AdaBoost against its worked run, slow twins, scikit-learn, and what goes wrong elsewhere (case C21)."""

import math
from itertools import count

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.tree
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from engine import AdaBoostClassifier, AdaBoostRegressor, DataError, DecisionTreeClassifier, ParameterError
from engine.adaboost.learners import draw_counts
from engine.adaboost.reweighting import LEAST_ERROR, learner_weight
from engine.jit import specialisations
from engine.kernels import weighted_median as kernels
from tests.engine import naive_adaboost as naive

LINE = np.arange(6.0)[:, None]
SIGNS = np.array([-1, -1, 1, 1, -1, 1])
SQUARE, EITHER = np.repeat([[0, 0], [0, 1], [1, 0], [1, 1]], 2, axis=0), np.repeat([0, 1, 1, 0], 2)


class Recorder:
    def __init__(self, ends=lambda event: False):
        self.events, self._ends = [], ends

    def on_iteration(self, event):
        self.events.append(event)
        return self._ends(event)


def classes(n_classes, n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n_rows)
    return X, np.argsort(np.argsort(score)) * n_classes // n_rows


def numbers(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=n_rows)


def test_the_worked_run():
    model = AdaBoostClassifier(n_estimators=3).fit(LINE, SIGNS)
    assert [tree.threshold[0] for tree in model.estimators_] == [1.5, 4.5, 3.5]
    np.testing.assert_allclose(model.estimator_errors_, [1 / 6, 0.2, 0.1875], rtol=1e-14)
    np.testing.assert_allclose(model.estimator_weights_ / 2, [0.804719, 0.693147, 0.733169], atol=5e-7)
    after = [model.row_weights(LINE, SIGNS, n_rounds=k) for k in range(3)]
    np.testing.assert_allclose(after[0], np.full(6, 1 / 6))
    np.testing.assert_allclose(after[1], [0.1, 0.1, 0.1, 0.1, 0.5, 0.1], rtol=1e-14)
    np.testing.assert_allclose(after[2], [0.0625, 0.0625, 0.25, 0.25, 0.3125, 0.0625], rtol=1e-14)
    assert model.predict(LINE).tolist() == SIGNS.tolist()
    np.testing.assert_allclose(model.train_loss_, [0.5, 1 / 6, 1 / 6, 0.0], atol=1e-15)


def test_row_weights_of_two_classes_are_those_of_the_exponential_loss():
    """D26: w0 exp(-y f / 2) normalised, f the sum of learner weights times labels of -1 and +1."""
    X, y = classes(2)
    w0 = np.random.default_rng(1).uniform(0.5, 2, len(y))
    model = AdaBoostClassifier(n_estimators=20).fit(X, y, w0)
    expected = w0 * np.exp(-(2 * y - 1) * model.decision_function(X) / 2)
    np.testing.assert_allclose(model.row_weights(X, y, w0), expected / expected.sum(), rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_classes_agree_with_the_slow_twin(n_classes, rate):
    X, y = classes(n_classes)
    w0 = np.random.default_rng(1).uniform(0.5, 2, len(y))
    trees, errors, weights, rows = naive.samme(X, y, w0, n_classes, 12, rate)
    model = AdaBoostClassifier(n_estimators=12, learning_rate=rate).fit(X, y, w0)
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)
    np.testing.assert_allclose(model.estimator_weights_, weights, rtol=1e-9)
    for number, (ours, theirs) in enumerate(zip(model.estimators_, trees, strict=True)):
        np.testing.assert_array_equal(ours.threshold, theirs.tree_.threshold)
        np.testing.assert_allclose(model.row_weights(X, y, w0, number), rows[number], rtol=1e-9)
    votes = sum(
        a * (h.predict(X)[:, None] == np.arange(n_classes)) for a, h in zip(weights, trees, strict=True)
    )
    softmax = np.exp(votes) / np.exp(votes).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), softmax, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_classes_agree_with_scikit_learn(n_classes, depth):
    X, y = classes(n_classes, 400)
    ours = AdaBoostClassifier(n_estimators=25, max_depth=depth, learning_rate=0.8).fit(X, y)
    stump = sklearn.tree.DecisionTreeClassifier(max_depth=depth)
    theirs = sklearn.ensemble.AdaBoostClassifier(
        stump, n_estimators=25, learning_rate=0.8, random_state=0
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-8)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-8)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_large_tables_agree_with_scikit_learn():
    """Beyond 4,096 rows nodes are grown in the layout of large tables, on columns sorted once."""
    X, y = classes(2, 9_000)
    for depth in (1, 2):
        ours = AdaBoostClassifier(n_estimators=4, max_depth=depth).fit(X, y)
        stump = sklearn.tree.DecisionTreeClassifier(max_depth=depth)
        theirs = sklearn.ensemble.AdaBoostClassifier(stump, n_estimators=4, random_state=0).fit(X, y)
        np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-8)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_numbers_agree_with_the_slow_twin(loss, bootstrap):
    X, y = numbers()

    def drawn_of(w, number):
        return draw_counts(np.log(w), 3, number, lambda *_: False)

    drawn = drawn_of if bootstrap else None
    trees, errors, weights, rows = naive.r2(X, y, 10, loss, drawn, rate=0.9)
    model = AdaBoostRegressor(
        n_estimators=10, loss=loss, bootstrap=bootstrap, learning_rate=0.9, random_state=3
    ).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(model.estimator_errors_, errors, rtol=1e-9)
    np.testing.assert_allclose(model.estimator_weights_, weights, rtol=1e-9)
    np.testing.assert_allclose(model.row_weights(X, y), rows[-1], rtol=1e-8)
    said = np.array([h.predict(X) for h in trees])
    expected = [naive.weighted_median(said[:, row], weights) for row in range(len(y))]
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-12)
    assert model.train_loss_[0] == pytest.approx(np.var(y) / 2)
    assert model.train_loss_[-1] == pytest.approx(np.mean((y - expected) ** 2) / 2)


class Stubborn(RegressorMixin, BaseEstimator):
    """Says its first column whatever it is fitted to, so that other people's draws do not matter."""

    def fit(self, X, y, sample_weight=None):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0] * 0.7


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_weights_of_numbers_agree_with_scikit_learn(loss):
    X, y = numbers()
    y = X[:, 0] + 0.1 * y
    ours = AdaBoostRegressor(estimator=Stubborn(), n_estimators=6, loss=loss).fit(X, y)
    theirs = sklearn.ensemble.AdaBoostRegressor(Stubborn(), n_estimators=6, loss=loss).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert not hasattr(ours, "feature_importances_"), "not available"


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_medians_match_the_sorted_twin(n):
    rng = np.random.default_rng(n)
    sizes = rng.integers(1, 5, n)
    values = rng.integers(-3, 4, sizes.sum()).astype(float)
    codes = np.array([rng.integers(0, size, 50) for size in sizes], np.int32)
    offsets, weights = np.cumsum(sizes) - sizes, rng.integers(1, 6, n).astype(float)
    medians = np.empty(50)
    arrays = [np.ascontiguousarray(a).view() for a in (codes, offsets, values, weights)]
    for array in arrays:
        array.flags.writeable = False
    kernels.write_medians(*arrays, 0, 50, np.empty(n), np.empty(n), medians)
    expected = [naive.weighted_median(values[offsets + codes[:, row]], weights) for row in range(50)]
    np.testing.assert_array_equal(medians, expected)
    assert specialisations(kernels.write_medians) == 1


def test_a_perfect_first_learner_is_the_only_one():
    """Case C21 (a)."""
    monitor = Recorder()
    model = AdaBoostClassifier(n_estimators=50).fit([[0], [1], [2], [3]], list("nnjj"), monitor=monitor)
    assert model.predict([[0], [1], [2], [3]]).tolist() == list("nnjj")
    assert (model.n_estimators_, model.why_ended_) == (1, "round 1 fits all rows")
    assert monitor.events[-1].message == "round 1 fits all rows"
    assert model.estimator_weights_ == [math.log((1 - LEAST_ERROR) / LEAST_ERROR)]
    assert model.estimator_errors_ == [0.0]
    assert not model.stopped_


def test_a_perfect_learner_of_numbers_is_the_last():
    model = AdaBoostRegressor(bootstrap=False, max_depth=None).fit(LINE, LINE[:, 0] ** 2)
    assert (model.n_estimators_, model.why_ended_) == (1, "round 1 fits all rows")
    np.testing.assert_array_equal(model.predict(LINE), LINE[:, 0] ** 2)


def test_a_first_learner_no_better_than_chance_is_told():
    """Case C21 (b)."""
    monitor = Recorder()
    model = AdaBoostClassifier().fit(SQUARE, EITHER, monitor=monitor)
    told = "the first learner has error 0.50, no better than chance: boosting cannot start"
    assert model.why_ended_ == monitor.events[-1].message == told
    assert (model.n_estimators_, model.best_round_, model.estimators_) == (0, 0, [])
    np.testing.assert_array_equal(model.predict_proba(SQUARE), np.full((8, 2), 0.5))
    assert model.feature_importances_.tolist() == [0.0, 0.0]
    deeper = AdaBoostClassifier(max_depth=2).fit(SQUARE, EITHER)
    assert deeper.predict(SQUARE).tolist() == EITHER.tolist()


def test_a_high_learning_rate_keeps_weights_finite():
    """Case C21 (c)."""
    X, y = classes(3, 150)
    model = AdaBoostClassifier(n_estimators=50, learning_rate=3).fit(X, y)
    assert model.n_estimators_ == 50 or model.why_ended_
    for number in range(model.n_estimators_ + 1):
        weights = model.row_weights(X, y, n_rounds=number)
        assert np.isfinite(weights).all()
        assert (weights >= 0).all()
        assert weights.sum() == pytest.approx(1.0, abs=1e-9)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_learner_weights_by_hand():
    """Case C21 (d)."""
    assert learner_weight(0.25, 2, 1.0) == pytest.approx(1.0986122886681098, rel=1e-15)
    assert learner_weight(0.25, 3, 1.0) == pytest.approx(1.791759469228055, rel=1e-15)
    assert learner_weight(0.25, 3, 0.1) == pytest.approx(0.1791759469228055, rel=1e-15)


def test_a_class_without_rows_does_not_change_the_others():
    """log(K - 1) counts classes that have rows."""
    X, y = classes(2)
    declared = pd.Categorical(np.array(["a", "c"])[y], ["a", "b", "c"])
    two, three = (AdaBoostClassifier(n_estimators=5).fit(X, target) for target in (y, declared))
    np.testing.assert_array_equal(two.estimator_weights_, three.estimator_weights_)
    np.testing.assert_array_equal(two.predict_proba(X), three.predict_proba(X)[:, [0, 2]])


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_nothing_is_ever_nan(data):
    n = data.draw(st.integers(1, 12))
    X = data.draw(hnp.arrays(float, (n, 2), elements=st.sampled_from([0.0, 1.0, -1e300, 5e-324, np.nan])))
    w = data.draw(hnp.arrays(float, n, elements=st.sampled_from([0.0, 1e-90, 1.0, 3.0, 1e90])))
    w[0] = 1.0
    y = data.draw(hnp.arrays(np.int64, n, elements=st.integers(0, 3)))
    rate = data.draw(st.sampled_from([0.1, 1.0, 30.0]))
    for kind, target in ((AdaBoostClassifier, y), (AdaBoostRegressor, y * 1e100)):
        if kind is AdaBoostRegressor:
            w = np.minimum(w, 3.0)
        model = kind(n_estimators=6, learning_rate=rate, random_state=0).fit(X, target, w)
        assert np.isfinite(model.estimator_weights_).all()
        assert (model.estimator_weights_ > 0).all()
        assert np.isfinite(model.train_loss_).all()
        weights = model.row_weights(X, target, w)
        assert np.nansum(weights) == pytest.approx(1.0)
        np.testing.assert_array_equal(np.isnan(weights), w == 0)
        assert np.isfinite(model.predict(X)).all()
        if kind is AdaBoostClassifier:
            np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_added_rounds_are_those_of_one_fit(kind):
    X, y = classes(3) if kind is AdaBoostClassifier else numbers()
    for extra in ({}, {"max_features": 1}):
        whole = kind(n_estimators=9, random_state=5, **extra).fit(X, y)
        some = kind(n_estimators=4, random_state=5, warm_start=True, **extra).fit(X, y)
        first = some.estimators_[0]
        some.set_params(n_estimators=9).fit(X, y)
        assert some.estimators_[0] is first
        assert_same_rounds(some, whole, X)
        np.testing.assert_array_equal(some.train_loss_, whole.train_loss_)
    with pytest.raises(ParameterError, match="n_estimators is 3 but the model has 9 rounds already"):
        some.set_params(n_estimators=3).fit(X, y)
    with pytest.raises(DataError, match="other columns or classes"):
        some.set_params(n_estimators=12).fit(X[:, :2], y)


@pytest.mark.parametrize("extra", [{}, {"early_stopping": True}])
@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_a_stop_while_rounds_are_added_takes_none_of_those_there_were(kind, extra):
    X, y = classes(3) if kind is AdaBoostClassifier else numbers()
    before = kind(n_estimators=4, random_state=5, **extra).fit(X, y)
    counts = set()
    for n_events in (0, 1, 3, 6, 8, 12, 16, 20):
        some = kind(n_estimators=4, random_state=5, **extra).fit(X, y)
        events = count()
        monitor = Recorder(lambda event, events=events, n=n_events: next(events) >= n)
        some.set_params(n_estimators=9, warm_start=True).fit(X, y, monitor=monitor)
        assert some.n_estimators_ >= before.n_estimators_
        assert_same_rounds(some.truncate(before.n_estimators_), before, X)
        n_losses = before.n_estimators_ + 1
        np.testing.assert_array_equal(some.train_loss_[:n_losses], before.train_loss_)
        np.testing.assert_array_equal(some.val_loss_[:n_losses], before.val_loss_)
        counts.add(some.n_estimators_)
    assert before.n_estimators_ in counts


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_a_stop_at_any_round_is_fewer_rounds(kind):
    X, y = classes(3) if kind is AdaBoostClassifier else numbers()
    for k in range(4):
        monitor = Recorder(lambda event, k=k: event.iteration == k and event.train_loss is not None)
        stopped = kind(n_estimators=7, random_state=1).fit(X, y, monitor=monitor)
        assert stopped.stopped_
        assert stopped.n_estimators_ == k
        fewer = kind(n_estimators=7, random_state=1).fit(X, y).truncate(k)
        assert_same_rounds(stopped, fewer, X)
        if k:
            assert_same_rounds(stopped, kind(n_estimators=k, random_state=1).fit(X, y), X)


def assert_same_rounds(one, other, X):
    assert one.n_estimators_ == other.n_estimators_
    np.testing.assert_array_equal(one.estimator_weights_, other.estimator_weights_)
    np.testing.assert_array_equal(one.estimator_errors_, other.estimator_errors_)
    for mine, theirs in zip(one.estimators_, other.estimators_, strict=True):
        np.testing.assert_array_equal(mine.threshold, theirs.threshold)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_staged_answers_end_at_the_model_and_make_the_curves(kind):
    X, y = classes(3) if kind is AdaBoostClassifier else numbers()
    model = kind(n_estimators=8, random_state=0).fit(X[:150], y[:150], X_val=X[150:], y_val=y[150:])
    for rows, curve in ((slice(150), model.train_loss_), (slice(150, None), model.val_loss_)):
        staged = list(model.staged_predict(X[rows]))
        np.testing.assert_array_equal(staged[-1], model.predict(X[rows]))
        is_class = kind is AdaBoostClassifier
        losses = [np.mean(s != y[rows]) if is_class else np.mean((s - y[rows]) ** 2) / 2 for s in staged]
        np.testing.assert_allclose(curve[1:], losses, rtol=1e-12)
    for k, answer in enumerate(model.staged_predict(X), start=1):
        np.testing.assert_array_equal(answer, model.truncate(k).predict(X))
    with pytest.raises(ParameterError, match="n_rounds is 9; the model has 8 rounds"):
        model.truncate(9)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_early_stopping_keeps_the_rounds_up_to_the_best(kind):
    """Case C22."""
    X, y = classes(2, 200) if kind is AdaBoostClassifier else numbers()
    whole = kind(n_estimators=80, random_state=0).fit(X[:120], y[:120], X_val=X[120:], y_val=y[120:])
    early = kind(n_estimators=80, random_state=0, early_stopping=True, n_iter_no_change=5)
    monitor = Recorder()
    early.fit(X[:120], y[:120], X_val=X[120:], y_val=y[120:], monitor=monitor)
    losses, best = whole.val_loss_[1:], 0
    for number, loss in enumerate(losses):
        best = number if loss < losses[best] else best
        if number - best >= 5:
            break
    assert early.n_estimators_ == early.best_round_ == best + 1
    assert monitor.events[-1].iteration == number + 1
    assert monitor.events[-1].fraction == 1.0
    assert_same_rounds(early, whole.truncate(best + 1), X)
    assert len(early.val_loss_) == best + 2


def test_rows_set_aside_have_no_weight():
    X, y = classes(2, 100)
    model = AdaBoostClassifier(n_estimators=5, early_stopping=True, random_state=2).fit(X, y)
    weights = model.row_weights(X, y)
    assert model.n_set_aside_ == np.isnan(weights).sum() == 10
    kept = ~np.isnan(weights)
    alone = AdaBoostClassifier(n_estimators=model.n_estimators_, random_state=2).fit(X[kept], y[kept])
    np.testing.assert_array_equal(alone.row_weights(X[kept], y[kept]), weights[kept])


def test_events_tell_the_error_of_every_round():
    X, y = classes(2)
    monitor = Recorder()
    model = AdaBoostClassifier(n_estimators=4).fit(X, y, X_val=X, y_val=y, monitor=monitor)
    told = [event for event in monitor.events if event.train_loss is not None]
    assert [event.iteration for event in told] == [0, 1, 2, 3, 4]
    assert [event.step_error for event in told] == [None, *model.estimator_errors_]
    assert [event.train_loss for event in told] == model.train_loss_.tolist()
    assert [event.val_loss for event in told] == model.val_loss_.tolist()
    assert [event.new_trees for event in told] == [(), *((tree,) for tree in model.estimators_)]
    inside = [event for event in monitor.events if event.phase == "boosting" and event.train_loss is None]
    assert {event.iteration for event in inside} == {0, 1, 2, 3}, "asked inside every round"


def test_other_learners_are_weighted_too():
    X, y = classes(3)
    ours = AdaBoostClassifier(estimator=GaussianNB(), n_estimators=5).fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(GaussianNB(), n_estimators=5).fit(X, y)
    n_kept = ours.n_estimators_  # scikit-learn fills up with ones behind the last
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n_kept], rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(list(ours.staged_predict(X))[-1], ours.predict(X))
    line = AdaBoostRegressor(estimator=LinearRegression(), n_estimators=3).fit(*numbers())
    assert len(line.estimators_) == line.n_estimators_


def test_our_own_tree_as_learner_reads_categories_by_name():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 120)
    X = pd.DataFrame({"colour": pd.Categorical(colour), "x": rng.normal(size=120)})
    y = np.where((colour == "green") ^ (X["x"] > 1), "yes", "no")
    given = AdaBoostClassifier(estimator=DecisionTreeClassifier(max_depth=1), n_estimators=6).fit(X, y)
    own = AdaBoostClassifier(n_estimators=6).fit(X, y)
    np.testing.assert_allclose(given.estimator_weights_, own.estimator_weights_, rtol=1e-12)
    np.testing.assert_array_equal(given.predict(X), own.predict(X))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"estimator": KNeighborsClassifier()}, "KNeighborsClassifier, which takes no sample_weight"),
        ({"estimator": LogisticRegression(), "max_depth": 3}, "max_depth is 3 but the trees are replaced"),
        ({"estimator": 3}, "estimator is 3; enter an estimator"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0; enter a number above 0"),
        ({"n_estimators": 0}, "n_estimators is 0; enter a whole number from 1"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings, told):
    with pytest.raises(ParameterError, match=told):
        AdaBoostClassifier(**settings).fit(*classes(2))


def test_row_weights_of_other_columns_are_refused():
    X, y = classes(2)
    model = AdaBoostClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(DataError, match="other columns or classes"):
        model.row_weights(X[:, :3], y)
    with pytest.raises(ParameterError, match="n_rounds is 3; the model has 2 rounds"):
        model.row_weights(X, y, n_rounds=3)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_the_largest_rate_trains_and_a_larger_one_is_refused(kind):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = kind(n_estimators=30, learning_rate=1000, random_state=0).fit(X, y)
    assert np.isfinite(model.train_loss_).all()
    assert np.isfinite(model.row_weights(X, y)).all()
    for rate in (1001.0, np.inf):
        with pytest.raises(
            ParameterError, match=r"learning_rate is .*; enter a number above 0 and at most 1,000"
        ):
            kind(learning_rate=rate).fit(X, y)
