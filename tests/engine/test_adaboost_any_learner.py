"""AdaBoost of other learners: their seeds, also inside others, and stops inside their own fit."""

from itertools import count

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from engine import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
)
from tests.engine.test_adaboost import Recorder, classes, numbers


def nested(is_classes):
    """A learner that draws, inside another that draws too; neither is told a seed."""
    if is_classes:
        return BaggingClassifier(TheirClassifier(max_depth=1, splitter="random"), n_estimators=2)
    return BaggingRegressor(TheirRegressor(max_depth=2, splitter="random"), n_estimators=2)


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_learners_inside_learners_draw_by_seeds_of_their_round(kind):
    X, y = classes(2) if kind is AdaBoostClassifier else numbers()
    learner = nested(kind is AdaBoostClassifier)
    made = [kind(estimator=learner, n_estimators=4, random_state=3).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(made[0].estimator_weights_, made[1].estimator_weights_)
    np.testing.assert_array_equal(made[0].estimator_errors_, made[1].estimator_errors_)
    np.testing.assert_array_equal(made[0].predict(X), made[1].predict(X))
    seeds = {(one.random_state, one.estimator.random_state) for one in made[0].estimators_}
    assert len({seed for pair in seeds for seed in pair}) == 2 * len(made[0].estimators_)
    assert learner.random_state is learner.estimator.random_state is None, "what was given stays as it was"
    other = kind(estimator=learner, n_estimators=4, random_state=4).fit(X, y)
    assert seeds.isdisjoint((one.random_state, one.estimator.random_state) for one in other.estimators_)


def test_a_learner_drawn_rows_at_the_end_of_a_pipeline_is_seeded():
    """The regressor draws rows, so a pipeline, which takes no weights, may stand in for the trees."""
    X, y = numbers()
    learner = make_pipeline(FunctionTransformer(), TheirRegressor(max_depth=2, max_features=1))
    one, other = (
        AdaBoostRegressor(estimator=learner, n_estimators=5, random_state=0).fit(X, y) for _ in range(2)
    )
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_nested_learners_continue_as_if_never_interrupted(kind):
    X, y = classes(3) if kind is AdaBoostClassifier else numbers()
    learner = nested(kind is AdaBoostClassifier)
    whole = kind(estimator=learner, n_estimators=5, random_state=1).fit(X, y)
    parts = kind(estimator=learner, n_estimators=2, random_state=1, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=5).fit(X, y)
    np.testing.assert_array_equal(parts.estimator_weights_, whole.estimator_weights_)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))


@pytest.mark.parametrize(
    ("kind", "learner"),
    [
        (AdaBoostClassifier, DecisionTreeClassifier(max_depth=3)),
        (AdaBoostClassifier, RandomForestClassifier(n_estimators=3, max_depth=2)),
        (AdaBoostRegressor, DecisionTreeRegressor(max_depth=3)),
    ],
)
def test_a_stop_inside_a_learner_drops_its_round(kind, learner):
    X, y = classes(2) if kind is AdaBoostClassifier else numbers()
    whole = kind(estimator=learner, n_estimators=4, random_state=1).fit(X, y)
    n_plain = len(stopped_after(kind, learner, X, y, 10**9)[1])
    n_inside = 0
    for n_events in range(0, n_plain, 3):
        model, events = stopped_after(kind, learner, X, y, n_events)
        assert len(events) <= n_events + 3, "what is unfinished ends, and nothing new begins"
        assert model.stopped_ or model.n_estimators_ == 4
        fewer = whole.truncate(model.n_estimators_)
        np.testing.assert_array_equal(model.estimator_weights_, fewer.estimator_weights_)
        np.testing.assert_array_equal(model.predict(X), fewer.predict(X))
        n_inside += events[n_events].train_loss is None if n_events < len(events) else 0
    assert n_inside > 0


def stopped_after(kind, learner, X, y, n_events):
    """Fit until so many questions were asked; returns the model and all events."""
    counted = count()
    watch = Recorder(lambda event: next(counted) >= n_events)
    return kind(estimator=learner, n_estimators=4, random_state=1).fit(X, y, monitor=watch), watch.events


def test_a_learner_s_own_questions_are_passed_on():
    """A tree asks before every column that it sorts; without that a stop would wait for the whole tree."""
    X, y = classes(2)
    _, alone = stopped_after(AdaBoostClassifier, TheirClassifier(max_depth=3), X, y, 10**9)
    _, passed = stopped_after(AdaBoostClassifier, DecisionTreeClassifier(max_depth=3), X, y, 10**9)
    assert len(passed) >= len(alone) + 4 * X.shape[1]
