"""A model in training answers as the finished one cut to the same rounds, asked then, later or elsewhere."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import engine
from engine.monitor import IterationEvent, SubMonitor
from tests.engine.test_staged import table


class Watcher:
    """Keeps every event; asks the models of some at once, in another thread."""

    def __init__(self, ask_at=(), X=None, stop_at=None):
        self.events, self.answers = [], {}
        self._ask_at, self._X, self._stop_at = ask_at, X, stop_at

    def on_iteration(self, event):
        self.events.append(event)
        if event.iteration in self._ask_at and event.so_far is not None:
            with ThreadPoolExecutor(1) as other:
                model = other.submit(event.so_far).result()
            self.answers[len(model.estimators_)] = answer_of(model, self._X)
        return event.iteration == self._stop_at

    @property
    def models(self):
        """By their number of rounds."""
        made = [event.so_far() for event in self.events if event.so_far is not None]
        return {len(model.estimators_): model for model in made}


def answer_of(model, X):
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


def kinds():
    for n_classes in (0, 2, 3):
        what = "Regressor" if n_classes == 0 else "Classifier"
        yield pytest.param(
            f"GradientBoosting{what}", n_classes, {"init": "first_tree"}, id=f"boosting-{n_classes}"
        )
        yield pytest.param(f"AdaBoost{what}", n_classes, {}, id=f"adaboost-{n_classes}")
    yield pytest.param("GradientBoostingClassifier", 2, {"subsample": 0.5, "order": 2}, id="second order")
    yield pytest.param("RandomForestClassifier", 3, {"voting": "hard", "oob_score": True}, id="forest")
    yield pytest.param("ExtraTreesRegressor", 0, {}, id="extra trees")
    yield pytest.param("BaggingClassifier", 2, {"max_features": 0.5}, id="bag")


@pytest.mark.parametrize(("name", "n_classes", "parameters"), list(kinds()))
def test_it_answers_as_the_truncated_model(name, n_classes, parameters):
    X, y = table(n_classes)
    watcher = Watcher(ask_at=(1, 4), X=X)
    model = getattr(engine, name)(n_estimators=8, random_state=0, **parameters)
    model.fit(X, y, monitor=watcher)
    made = watcher.models
    assert set(range(1, len(model.estimators_) + 1)) <= set(made)
    for n_rounds, so_far in made.items():
        cut = model.truncate(n_rounds)
        np.testing.assert_array_equal(answer_of(so_far, X), answer_of(cut, X))
        np.testing.assert_array_equal(so_far.feature_importances_, cut.feature_importances_)
    assert watcher.answers
    for n_rounds, answer in watcher.answers.items():
        np.testing.assert_array_equal(answer, answer_of(made[n_rounds], X))


@pytest.mark.parametrize("name", ["GradientBoostingRegressor", "AdaBoostRegressor"])
def test_before_the_first_round_it_is_the_baseline(name):
    X, y = table(0)
    watcher = Watcher()
    model = getattr(engine, name)(n_estimators=3, random_state=0).fit(X, y, monitor=watcher)
    np.testing.assert_array_equal(watcher.models[0].predict(X), model.truncate(0).predict(X))


def test_rounds_that_early_stopping_drops_are_among_them():
    X, y = table(2)
    watcher = Watcher()
    settings = {"n_estimators": 60, "learning_rate": 1.0, "random_state": 0}
    model = engine.GradientBoostingClassifier(early_stopping=True, n_iter_no_change=3, **settings)
    model.fit(X, y, monitor=watcher)
    assert max(watcher.models) == model.n_estimators_ + 3


def test_a_training_that_goes_on_begins_with_the_rounds_there_are():
    X, y = table(2)
    for name in ("GradientBoostingClassifier", "RandomForestClassifier", "AdaBoostClassifier"):
        model = getattr(engine, name)(n_estimators=4, random_state=0, warm_start=True).fit(X, y)
        watcher = Watcher()
        model.set_params(n_estimators=7).fit(X, y, monitor=watcher)
        assert max(watcher.models) == 7
        for n_rounds in (5, 6):
            cut = model.truncate(n_rounds)
            np.testing.assert_array_equal(answer_of(watcher.models[n_rounds], X), answer_of(cut, X))


def test_a_stopped_fit_and_a_second_one_leave_it_as_it_was():
    X, y = table(2)
    watcher = Watcher(stop_at=3)
    model = engine.GradientBoostingClassifier(n_estimators=9, random_state=0)
    model.fit(X, y, monitor=watcher)
    expected = answer_of(model, X)
    model.fit(X[:, :2], y)
    np.testing.assert_array_equal(answer_of(watcher.models[3], X), expected)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_adaboost_s_rows_weigh_what_they_do_after_these_rounds(early_stopping):
    X, y = table(3)
    watcher = Watcher()
    model = engine.AdaBoostClassifier(n_estimators=6, random_state=0, early_stopping=early_stopping)
    model.fit(X, y, monitor=watcher)
    for n_rounds in range(model.n_estimators_ + 1):
        weights = model.row_weights(X, y, n_rounds=n_rounds)
        np.testing.assert_array_equal(watcher.models[n_rounds].row_weights_, weights)


def test_a_bag_of_other_learners_and_a_part_of_a_fit_have_none():
    X, y = table(0)
    watcher = Watcher()
    engine.BaggingRegressor(LinearRegression(), n_estimators=3).fit(np.nan_to_num(X), y, monitor=watcher)
    SubMonitor(watcher, 0, 1).on_iteration(IterationEvent("growing", so_far=lambda: None))
    assert all(event.so_far is None for event in watcher.events)
