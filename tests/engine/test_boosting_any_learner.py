"""Boosting of any regressor: Friedman's algorithm 1, against a slow twin and the built-in trees."""

import math
import pickle
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import check_estimator

from engine import DataError, DecisionTreeRegressor, ParameterError, RandomForestRegressor
from engine import GradientBoostingClassifier as Classifier
from engine import GradientBoostingRegressor as Regressor
from engine.base import member_seed
from engine.boosting import rounds
from engine.boosting.parameters import LOSS_WORDS
from engine.export.json import from_json, to_json
from engine.surface import grid_surface, model_surface
from tests.engine import naive_boosting as naive
from tests.engine.test_boosting import Recorder


class Line:
    """A least-squares line through one column: the four methods that are asked for, and no more."""

    n_rows_seen: ClassVar = []  # of every fit, whichever clone's

    def __init__(self, column=0):
        self.column = column

    def get_params(self, deep=True):
        return {"column": self.column}

    def set_params(self, **parameters):
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def fit(self, X, y):
        self.n_rows_seen.append(len(y))
        x = X[:, self.column]
        spread = np.mean((x - x.mean()) ** 2)
        self.slope_ = np.mean((x - x.mean()) * (y - y.mean())) / spread if spread > 0 else 0.0
        self.start_ = y.mean() - self.slope_ * x.mean()
        return self

    def predict(self, X):
        return self.start_ + self.slope_ * X[:, self.column]


def make_table(n_rows=200, n_classes=0, seed=0):
    """Numbers without repetition, a target of that many classes (0: a number), and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    target = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + X[:, 3] + 0.5 * rng.normal(size=n_rows)
    y = np.digitize(target, np.linspace(0.3, 1.6, n_classes - 1)) if n_classes else target
    return X, y, rng.uniform(0.5, 2, n_rows)


def target_of(loss, target):
    return np.floor(np.exp(np.clip(target, -2, 2))) if loss == "poisson" else target


def kind_of(loss):
    return Classifier if loss in ("log_loss", "exponential") else Regressor


def answer(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def same_models(one, other, X):
    for name in ("train_loss_", "val_loss_", "steps_", "n_estimators_", "best_round_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(one.raw_predict(X), other.raw_predict(X))
    scales = [[member.scale for members in model.estimators_ for member in members] for model in (one, other)]
    assert scales[0] == scales[1]


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "quantile", "poisson", "log_loss", "exponential"]
)
def test_rounds_are_those_of_the_slow_twin(loss):
    X, target, _ = make_table(40)
    is_class = kind_of(loss) is Classifier
    y = (target > 0.8).astype(int) if is_class else target_of(loss, target)
    model = kind_of(loss)(loss=loss, estimator=Line(), n_estimators=4, learning_rate=0.5).fit(X, y)
    raw, line = np.full(40, model.baseline_prediction_[0]), Line()
    for (member,), step, loss_after in zip(
        model.estimators_, model.steps_, model.train_loss_[1:], strict=True
    ):
        residuals = [-naive.derivatives(loss, a, f)[0] for a, f in zip(y, raw, strict=True)]
        change = line.fit(X, np.array(residuals)).predict(X)
        np.testing.assert_allclose([member.learner.slope_, member.learner.start_],
                                   [line.slope_, line.start_], rtol=1e-4, atol=1e-7)  # fmt: skip
        change = member.learner.predict(X)
        _, least = naive.best_step(loss, y, raw, np.ones(40), change)
        chosen = math.fsum(
            naive.row_loss(loss, a, f + step * c) for a, f, c in zip(y, raw, change, strict=True)
        )
        assert chosen == pytest.approx(least, rel=1e-9)
        assert member.scale == 0.5 * step
        raw = raw + 0.5 * step * change
        assert loss_after == pytest.approx(
            np.mean([naive.row_loss(loss, a, f) for a, f in zip(y, raw, strict=True)]), rel=1e-9
        )
    np.testing.assert_allclose(model.raw_predict(X)[:, 0], raw, rtol=1e-12)


def test_rounds_of_three_classes_take_one_step_together():
    X, y, _ = make_table(60, 3)
    model = Classifier(estimator=LinearRegression(), n_estimators=3, learning_rate=1.0).fit(X, y)
    raw = np.tile(np.log(np.bincount(y) / 60), (60, 1))
    for members, step in zip(model.estimators_, model.steps_, strict=True):
        shares = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
        change = np.empty((60, 3))
        for k, member in enumerate(members):
            change[:, k] = LinearRegression().fit(X, (y == k) - shares[:, k]).predict(X)
            np.testing.assert_allclose(member.learner.predict(X), change[:, k], atol=1e-12)
            assert member.scale == step

        def total(multiple, raw=raw, change=change):
            rows = (raw + multiple * change).tolist()
            return math.fsum(naive.log_loss(row, label) for row, label in zip(rows, y, strict=True))

        low, high = 0.0, 100.0
        for _ in range(150):
            first, second = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, second) if total(first) <= total(second) else (first, high)
        assert total(step) == pytest.approx(total(low), rel=1e-10)
        assert step == pytest.approx(low, rel=1e-4)
        raw = raw + step * change
    np.testing.assert_allclose(model.raw_predict(X), raw, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, atol=1e-15)


TREE = {"max_depth": 3, "min_samples_leaf": 15}


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(
    ("loss", "n_classes"),
    [("squared_error", 0), ("absolute_error", 0), ("huber", 0), ("quantile", 0), ("poisson", 0),
     ("log_loss", 2), ("exponential", 2), ("log_loss", 4)],
)  # fmt: skip
def test_our_own_tree_makes_the_rounds_that_built_in_trees_make(loss, n_classes, is_weighted):
    X, y, weight = make_table(n_classes=n_classes)
    y, weight = target_of(loss, y), (weight if is_weighted else None)
    shared = {"loss": loss, "n_estimators": 10, "learning_rate": 0.3}
    built_in = {"growth": "depth", "max_leaf_nodes": None, "leaf_update": "per_tree", **TREE}
    trees = kind_of(loss)(**shared, **built_in).fit(X, y, weight)
    other = kind_of(loss)(**shared, estimator=DecisionTreeRegressor(**TREE)).fit(X, y, weight)
    np.testing.assert_allclose(other.raw_predict(X), trees.raw_predict(X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(other.train_loss_, trees.train_loss_, rtol=1e-12)
    np.testing.assert_allclose(other.steps_, trees.steps_, rtol=1e-9)
    if loss == "squared_error":  # there the loss falls by the sum of gains
        np.testing.assert_allclose(other.feature_importances_, trees.feature_importances_, rtol=1e-9)
    assert other.feature_importances_.sum() == pytest.approx(1.0)


def test_a_line_is_its_own_best_step():
    X, y, _ = make_table()
    whole = Regressor(estimator=LinearRegression(), n_estimators=3, learning_rate=1).fit(X, y)
    expected = LinearRegression().fit(X, y)
    np.testing.assert_allclose(whole.predict(X), expected.predict(X), rtol=1e-10, atol=1e-12)
    assert whole.steps_[0] == pytest.approx(1.0, rel=1e-12)
    slow = Regressor(estimator=LinearRegression(), n_estimators=200, learning_rate=0.1).fit(X, y)
    np.testing.assert_allclose(slow.predict(X), expected.predict(X), atol=1e-7)
    left = 0.9 ** np.arange(201)  # of the way to the line, after every round
    np.testing.assert_allclose(
        slow.train_loss_ - whole.train_loss_[-1],
        left**2 * (whole.train_loss_[0] - whole.train_loss_[-1]),
        atol=1e-12,
    )


VARIANTS = [
    ("squared_error", 0, DecisionTreeRegressor(max_depth=2, splitter="random")),
    ("poisson", 0, Line(3)),
    ("huber", 0, Ridge()),
    ("log_loss", 2, KNeighborsRegressor(9)),
    ("exponential", 2, DecisionTreeRegressor(max_depth=2, max_features=2)),
    ("log_loss", 3, Ridge()),
]


def made(loss, learner, **more):
    return kind_of(loss)(
        loss=loss, estimator=learner, **({"n_estimators": 8, "subsample": 0.7, "random_state": 3} | more)
    )


@pytest.mark.parametrize(("loss", "n_classes", "learner"), VARIANTS)
def test_fewer_rounds_are_the_same_however_they_came_about(loss, n_classes, learner):
    X, y, _ = make_table(n_classes=n_classes)
    y = target_of(loss, y)
    given = {"X_val": X[:50], "y_val": y[:50]}
    whole = made(loss, learner).fit(X, y, **given)
    assert whole.n_estimators_ == 8
    for n_rounds in (0, 1, 5):
        watch = Recorder(
            lambda event, n_rounds=n_rounds: event.train_loss is not None and event.iteration == n_rounds
        )
        stopped = made(loss, learner).fit(X, y, **given, monitor=watch)
        assert (stopped.stopped_, stopped.n_estimators_) == (True, n_rounds)
        same_models(stopped, whole.truncate(n_rounds), X)
    same_models(made(loss, learner, n_estimators=5).fit(X, y, **given), whole.truncate(5), X)
    parts = made(loss, learner, n_estimators=3, warm_start=True).fit(X, y, **given)
    parts = pickle.loads(pickle.dumps(parts))
    same_models(parts.set_params(n_estimators=8).fit(X, y, **given), whole, X)
    stages = list(whole.staged_predict_proba(X) if n_classes else whole.staged_predict(X))
    for n_rounds in range(1, 9):
        np.testing.assert_array_equal(stages[n_rounds - 1], answer(whole.truncate(n_rounds), X))
    if hasattr(learner, "random_state"):
        assert not np.array_equal(made(loss, learner, random_state=4).fit(X, y).raw_predict(X),
                                  whole.raw_predict(X))  # fmt: skip
    same_models(made(loss, learner, n_jobs=1).fit(X, y, **given), whole, X)


@pytest.mark.parametrize(("loss", "n_classes", "learner"), VARIANTS)
def test_curves_are_of_the_rounds_kept_and_stopping_keeps_the_best(loss, n_classes, learner):
    X, y, weight = make_table(n_classes=n_classes)
    y = target_of(loss, y)
    weight = None if isinstance(learner, (Line, KNeighborsRegressor)) else weight[80:]
    rng = np.random.default_rng(5)
    watch, noisy = Recorder(), rng.permutation(y[:80])
    shared = {"subsample": 1.0, "n_estimators": 40}
    model = made(loss, learner, early_stopping=True, n_iter_no_change=2, **shared)
    model.fit(X[80:], y[80:], weight, X_val=X[:80], y_val=noisy, monitor=watch)
    best = int(np.argmin([event.val_loss for event in watch.rounds][1:])) + 1
    assert model.n_estimators_ == model.best_round_ == best
    assert len(watch.rounds) == model.n_estimators_ + 3, "a baseline, the rounds kept, and patience"
    assert [event.new_trees for event in watch.events] == [()] * len(watch.events)
    assert all(a.fraction <= b.fraction for a, b in zip(watch.events, watch.events[1:], strict=False))
    told = [event.train_loss for event in watch.rounds][: model.n_estimators_ + 1]
    assert told == model.train_loss_.tolist()
    assert [event.val_loss for event in watch.rounds][: len(told)] == model.val_loss_.tolist()
    if loss != "huber":
        assert np.diff([event.train_loss for event in watch.rounds]).max() <= 1e-12 * model.train_loss_[0]
    again = made(loss, learner, **shared | {"n_estimators": model.n_estimators_})
    same_models(again.fit(X[80:], y[80:], weight, X_val=X[:80], y_val=noisy), model, X)
    aside = made(loss, learner, early_stopping=True, n_iter_no_change=2, scoring=last_word, **shared)
    assert aside.fit(X, y).n_estimators_ == 1, "a score that never gets better"
    assert aside.val_score_.tolist() == [1.0, 1.0]


def last_word(model, X, y):
    assert len(model.predict(X)) == len(y)
    return 1.0


def test_a_round_sees_the_drawn_rows_alone():
    X, y, _ = make_table(50)
    Line.n_rows_seen.clear()
    model = Regressor(estimator=Line(), subsample=0.3, n_estimators=2, random_state=7).fit(X, y)
    assert Line.n_rows_seen == [15, 15]
    generator = np.random.default_rng(int(member_seed(7, 1)))
    drawn = generator.choice(50, 15, replace=False, shuffle=False)
    line = Line().fit(X[drawn], y[drawn] - y.mean())
    ((first,), _) = model.estimators_
    assert first.learner.slope_ == pytest.approx(line.slope_, rel=1e-12)
    assert model.steps_[0] == pytest.approx(1.0, rel=1e-9), "its step is that of the drawn rows"


def test_every_round_and_class_draws_by_a_seed_of_its_own():
    X, y, _ = make_table(n_classes=3)
    learner = DecisionTreeRegressor(max_depth=1, splitter="random", random_state=0)
    model = Classifier(estimator=learner, n_estimators=3, random_state=1).fit(X, y)
    seeds = {member.learner.random_state for members in model.estimators_ for member in members}
    assert len(seeds) == 9
    assert (learner.random_state, hasattr(learner, "tree_")) == (0, False), "what was given stays as it was"


def test_weights_reach_the_learner_and_nothing_stands_for_a_weight_of_zero():
    X, y, _ = make_table(80)
    weight = np.random.default_rng(2).integers(0, 4, 80)
    shared = {"estimator": Ridge(), "n_estimators": 5, "loss": "poisson"}
    y = target_of("poisson", y)
    weighted = Regressor(**shared).fit(X, y, weight)
    repeated = Regressor(**shared).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)
    wild = np.where(weight[:, None] > 0, X, 1e6)
    kept = weight > 0
    absent = Regressor(**shared).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(Regressor(**shared).fit(wild, y, weight).predict(X), absent.predict(X))


def test_frames_reach_the_learner_as_frames():
    X, y, _ = make_table(150)
    colour = np.random.default_rng(0).choice(["red", "green", "blue"], 150)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(colour=pd.Categorical(colour), extra=1.0)
    y = y + 2.0 * (colour == "red")
    encode = make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough")
    learner = make_pipeline(encode, LinearRegression())
    model = Regressor(estimator=learner, n_estimators=30, subsample=0.8, random_state=0)
    model.fit(frame[50:], y[50:], X_val=frame[:50], y_val=y[:50])
    plain = learner.fit(frame[50:], y[50:])
    assert np.mean((model.predict(frame) - plain.predict(frame)) ** 2) < 0.02
    assert model.val_loss_[-1] == pytest.approx(np.mean((model.predict(frame[:50]) - y[:50]) ** 2) / 2)
    aside = model.set_params(early_stopping=True).fit(frame, y)
    assert aside.val_loss_[-1] < 0.8 * aside.val_loss_[0]


def test_the_start_may_be_zero_or_another_model():
    X, y, _ = make_table()
    zero = Regressor(estimator=Ridge(), init="zero", n_estimators=2).fit(X, y)
    assert zero.baseline_prediction_.tolist() == [0.0]
    y_classes = (y > 0.8).astype(int)
    started = Classifier(estimator=KNeighborsRegressor(5), init=LogisticRegression(), n_estimators=4)
    started.fit(X, y_classes)
    expected = LogisticRegression().fit(X, y_classes).predict_proba(X)
    np.testing.assert_allclose(started.truncate(0).predict_proba(X), expected, atol=1e-12)
    assert np.all(np.diff(started.train_loss_) < 0)


def test_models_of_other_learners_are_drawn_point_by_point_and_not_written():
    X, y, _ = make_table()
    model = Regressor(estimator=Line(), n_estimators=3).fit(X, y)
    with pytest.raises(DataError, match="is not made of trees or not fitted; use grid_surface"):
        model_surface(model, 0, 1, [-1.0, 0.0], [0.0, 1.0], X[0])
    surface = grid_surface(model.predict, 0, 1, [-1.0, 0.0], [0.0, 1.0], X[0])
    np.testing.assert_array_equal(surface[0, 1, 0], model.predict([[-1.0, 1.0, *X[0, 2:]]])[0])
    with pytest.raises(DataError, match="estimator is a Line, which a model file cannot hold"):
        to_json(model)
    trees = Regressor(n_estimators=3).fit(X, y)
    assert from_json(to_json(trees)).estimator is None


def test_importances_are_those_of_the_learners_where_all_have_some():
    X, y, _ = make_table()
    model = Regressor(estimator=DecisionTreeRegressor(max_depth=2), n_estimators=4).fit(X, y)
    falls = -np.diff(model.train_loss_)
    shares = [member.learner.feature_importances_ for (member,) in model.estimators_]
    np.testing.assert_allclose(model.feature_importances_, falls @ shares / falls.sum(), rtol=1e-12)
    assert not hasattr(model.set_params(estimator=Line()).fit(X, y), "feature_importances_")
    assert model.truncate(0).feature_importances_.tolist() == [0.0] * 4


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_stop_reaches_a_learner_of_the_engine(monkeypatch, n_jobs):
    monkeypatch.setattr(rounds, "ASK_EVERY_S", 0.0)
    X, y, _ = make_table()
    learner = RandomForestRegressor(n_estimators=30, n_jobs=n_jobs)
    watch, seen = Recorder(), []

    def wants_stop(event):
        if (event.train_loss, event.iteration) == (None, 2):
            seen.append(event)
        return len(seen) >= 5

    watch.wants_stop = wants_stop
    stopped = Regressor(estimator=learner, n_estimators=20, random_state=0).fit(X, y, monitor=watch)
    assert (stopped.stopped_, stopped.n_estimators_, len(seen)) == (True, 2, 5)
    few = Regressor(estimator=learner, n_estimators=2, random_state=0).fit(X, y)
    same_models(stopped, few, X)


def test_training_on_with_another_kind_of_round_is_refused():
    X, y, _ = make_table()
    model = Regressor(n_estimators=2, warm_start=True).fit(X, y)
    with pytest.raises(ParameterError, match="rounds are of trees; set warm_start=False"):
        model.set_params(estimator=Ridge(), n_estimators=4).fit(X, y)
    model.set_params(warm_start=False).fit(X, y)
    with pytest.raises(ParameterError, match="rounds are not of trees; set warm_start=False"):
        model.set_params(warm_start=True, estimator=None).fit(X, y)
    assert model.predict(X).shape == (200,)
    slower = model.set_params(estimator=Line(), learning_rate=0.01, n_estimators=5)
    before = slower.raw_predict(X)
    np.testing.assert_array_equal(slower.fit(X, y).truncate(4).raw_predict(X), before)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"estimator": 3}, "estimator is 3; enter a regressor with fit, predict, get_params and set_params"),
        ({"estimator": Ridge}, "enter a regressor with fit"),
        ({"estimator": LogisticRegression()}, "which is no regressor; enter one, or None"),
        ({"estimator": Ridge(), "max_depth": 3}, "max_depth is 3 but the trees are replaced by estimator"),
        ({"estimator": Ridge(), "order": 2}, "order is 2 but the trees are replaced"),
        ({"estimator": Ridge(), "monotonic_cst": [1, 0, 0, 0]}, r"monotonic_cst is \[1, 0, 0, 0\] but the"),
        ({"estimator": Ridge(), "init": "first_tree"}, "init is 'first_tree' but the trees are replaced"),
        ({"estimator": Ridge(alpha=-1.0)}, "cannot be trained on this table: The 'alpha' parameter"),
        ({"estimator": Ridge(), "learning_rate": 0}, "learning_rate is 0; enter a number above 0"),
    ],
)
@pytest.mark.parametrize("kind", [Regressor, Classifier])
def test_settings_that_mean_nothing_are_refused(kind, settings, told):
    X, _, _ = make_table()
    with pytest.raises(ParameterError, match=told):
        kind(**settings).fit(X, (X[:, 0] > 0).astype(int))


class Broken(RegressorMixin, BaseEstimator):
    """Says `word` of every row."""

    def __init__(self, word=0.0, width=None):
        self.word, self.width = word, width

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X) if self.width is None else (len(X), self.width), self.word)


def test_learners_that_do_not_serve_are_named():
    X, y, weight = make_table()
    with pytest.raises(ParameterError, match="estimator is a Line, which takes no sample_weight; enter one"):
        Regressor(estimator=Line()).fit(X, y, weight)
    Regressor(estimator=Line(), n_estimators=1).fit(X, y, np.ones(len(y)))
    for word in (np.nan, np.inf):
        with pytest.raises(DataError, match="estimator is a Broken, whose answers hold NaN or infinity"):
            Regressor(estimator=Broken(word)).fit(X, y)
    with pytest.raises(DataError, match=r"answers 200 row\(s\) with an array of shape \(200, 2\)"):
        Regressor(estimator=Broken(1.0, 2)).fit(X, y)
    column = Regressor(estimator=Broken(1.0, 1), n_estimators=3).fit(X, y)
    np.testing.assert_allclose(column.predict(X), y.mean(), rtol=1e-12)
    assert column.steps_.tolist() == [0.0] * 3, "what does not help has no step"
    X[3, 1] = np.nan
    with pytest.raises(ParameterError, match="cannot be trained on this table: Input X contains NaN"):
        Regressor(estimator=LinearRegression()).fit(X, y)
    with pytest.raises(ParameterError, match="learning_rate is 500, with which predictions grow without lim"):
        Regressor(estimator=DecisionTreeRegressor(), learning_rate=500, n_estimators=100).fit(X, y)


def test_a_declared_class_without_rows_keeps_probability_zero():
    X, y, _ = make_table(n_classes=2)
    labels = pd.Categorical(np.array(["a", "c"])[y], ["a", "b", "c"])
    model = Classifier(estimator=Ridge(), n_estimators=5).fit(X, labels)
    assert model.predict_proba(X)[:, 1].tolist() == [0.0] * len(X)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, atol=1e-15)
    one = Classifier(estimator=Ridge(), n_estimators=2).fit(X, np.zeros(len(X), int))
    np.testing.assert_array_equal(one.predict_proba(X), 1.0)


finite = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e6, -1e6]), st.floats(-100, 100))


@given(
    rows=st.lists(
        st.tuples(finite, finite, st.integers(0, 2), st.sampled_from([0.0, 1e-3, 1.0, 7.0])),
        min_size=3, max_size=14,
    ),
    loss=st.sampled_from(list(LOSS_WORDS)),
    learner=st.sampled_from([Line(), Line(1), Ridge(), DecisionTreeRegressor(max_depth=2)]),
    init=st.sampled_from(["constant", "zero"]),
    rate=st.sampled_from([0.1, 1.0, 3.0]), subsample=st.sampled_from([1.0, 0.4]),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_nothing_is_ever_nan(rows, loss, learner, init, rate, subsample):
    a, b, target, weights = (np.array(column, float) for column in zip(*rows, strict=True))
    if not weights.any() or (loss == "poisson" and not (target * weights).any()):
        weights, target = weights + 1, target + 1
    if isinstance(learner, Line):
        weights = np.ones(len(a))  # it takes none
    is_class = kind_of(loss) is Classifier
    target = np.minimum(target, 1) if loss == "exponential" else target
    y = target.astype(int) if is_class else target
    X = np.column_stack([a, b])
    if isinstance(learner, Line):
        X = np.round(X, 3)  # a line through rows that are closer leads where predictions are refused
    more = {"n_estimators": 6, "learning_rate": rate, "subsample": subsample, "init": init}
    model = made(loss, learner, **more)
    given = {"X_val": X[:2], "y_val": y[weights > 0][[0, 0]]}
    model.fit(X, y, weights, **given)
    assert not np.isnan(model.train_loss_).any()
    assert not np.isnan(model.val_loss_).any()
    assert np.isfinite(model.steps_).all()
    assert (model.steps_ >= 0).all()
    assert not np.isnan(answer(model, X)).any()
    if is_class:
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)
    if rate <= 1 and subsample == 1 and loss != "huber":
        assert np.diff(model.train_loss_).max(initial=0.0) <= 1e-12 * max(1.0, model.train_loss_[0])
    few = made(loss, learner, **more | {"n_estimators": 3}).fit(X, y, weights, **given)
    same_models(few, model.truncate(3), X)


@pytest.mark.parametrize(
    ("kind", "learner"), [(Classifier, DecisionTreeRegressor(max_depth=3)), (Regressor, Ridge())]
)
def test_scikit_learns_own_checks_pass(kind, learner):
    check_estimator(kind(n_estimators=10, estimator=learner), on_skip=None)
