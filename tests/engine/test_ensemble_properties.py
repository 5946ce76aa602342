"""What holds for every ensemble on any finite table: nothing is NaN, and a stop and going on lose nothing."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.linear_model import Ridge

import engine
from engine import DecisionTreeRegressor
from engine.boosting import rounds
from engine.boosting.parameters import LOSS_WORDS
from engine.export.json import from_json, to_json
from engine.scores import r_squared
from engine.tree.structure import Tree

BAGS = ("RandomForest", "ExtraTrees", "Bagging")
SAMPLED = {"bootstrap": True, "oob_score": True}
ENSEMBLES = {  # by name; each with the settings that are drawn from
    "RandomForest": {
        "max_bins": [None, 4], "voting": ["soft", "hard"], "criterion": ["squared_error", "poisson"],
    },
    "ExtraTrees": {"max_features": [None, 1], "criterion": ["squared_error", "poisson"]},
    "Bagging": {"max_samples": [None, 0.5], "max_features": [1.0, 0.5]},
    "AdaBoost": {"learning_rate": [0.1, 1.0, 30.0], "loss": ["linear", "square", "exponential"]},
    "GradientBoosting": {
        "loss": list(LOSS_WORDS),
        "growth": ["leaf", "depth", "oblivious"], "init": ["constant", "zero", "first_tree"],
        "learning_rate": [0.1, 1.0, 3.0], "subsample": [1.0, 0.4], "order": [1, 2], "reg_lambda": [0.0, 0.5],
        "reg_alpha": [0.0, 0.5], "gamma": [0.0, 1.0], "leaf_update": ["per_leaf", "per_tree"],
    },
}  # fmt: skip
OF_CLASSES = ("log_loss", "exponential")
SECOND_ORDER_ONLY = ("reg_lambda", "reg_alpha", "gamma")
CELLS = [0.0, 0.5, 1.0, -1.0, 3.0, 1e-300, 5e-324, 1e300, -1.7e308, 1.7e308, np.nan]
WEIGHTS = [0.0, 1e-90, 1e-3, 1.0, 3.0, 1e6]
TARGETS = [0.0, 1.0, -1.0, 2.5, 1e-200, 1e100, -1e100]


@st.composite
def settings_of(draw, name, is_classifier):
    """Any of the settings that an ensemble has for a task, none of them without effect beside another."""
    known = engine_class(name, is_classifier)().get_params()
    drawn = {key: draw(st.sampled_from(values)) for key, values in ENSEMBLES[name].items() if key in known}
    if name == "GradientBoosting":
        of_task = [loss for loss in ENSEMBLES[name]["loss"] if (loss in OF_CLASSES) == is_classifier]
        drawn["loss"] = draw(st.sampled_from(of_task))
        if drawn["loss"] in ("absolute_error", "huber", "quantile"):
            drawn["order"] = 1
        for key in ("leaf_update",) if drawn["order"] == 2 else SECOND_ORDER_ONLY:
            del drawn[key]
    elif is_classifier:
        drawn.pop("criterion", None)
    return drawn | (SAMPLED if name in BAGS else {})


def engine_class(name, is_classifier):
    return getattr(engine, name + ("Classifier" if is_classifier else "Regressor"))


def trees_of(model):
    for members in (*model.estimators_, getattr(model, "init_", ())):
        yield from (members,) if isinstance(members, Tree) else members


def answer(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_nothing_is_ever_nan(data):
    name, is_classifier = data.draw(st.sampled_from(list(ENSEMBLES))), data.draw(st.booleans())
    n_rows = data.draw(st.integers(1, 12))
    X = data.draw(hnp.arrays(float, (n_rows, 2), elements=st.sampled_from(CELLS)))
    weights = data.draw(hnp.arrays(float, n_rows, elements=st.sampled_from(WEIGHTS)))
    weights[0] = 1.0
    chosen = data.draw(settings_of(name, is_classifier))
    if is_classifier:
        y = data.draw(hnp.arrays(np.int64, n_rows, elements=st.integers(0, 3)))
        y = np.array(list("abcd"))[np.minimum(y, 1) if chosen.get("loss") == "exponential" else y]
    else:
        y = data.draw(hnp.arrays(float, n_rows, elements=st.sampled_from(TARGETS)))
        y = np.abs(y) + 1e-3 if "poisson" in chosen.values() else y  # all are counts, and not all 0
    kept = weights > 0
    given = {} if name in BAGS else {"X_val": X[kept][::-1], "y_val": y[kept]}  # rows of other targets
    kind = engine_class(name, is_classifier)
    model = kind(n_estimators=4, random_state=0, **chosen).fit(X, y, weights, **given)
    assert len(getattr(model, "val_loss_", ())) == (len(model.train_loss_) if given else 0)
    for tree in trees_of(model):
        assert np.isfinite(tree.value).all()
        assert not np.isnan(tree.gain).any()
    for curve in ("train_loss_", "val_loss_", "steps_", "estimator_weights_", "estimator_errors_"):
        assert not np.isnan(getattr(model, curve, np.zeros(1))).any(), curve
    total = model.feature_importances_.sum()
    assert total == pytest.approx(1.0) or total == 0.0
    if is_classifier:
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)
        assert set(model.predict(X)) <= set(y)
    else:
        assert np.isfinite(model.predict(X)).all()
    for stage in model.staged_predict(X) if given else ():
        assert is_classifier or np.isfinite(stage).all()


class StopAt:
    """Asks to stop from the n-th event on."""

    def __init__(self, n_events):
        self.n_events, self.n_seen = n_events, 0

    def on_iteration(self, _event):
        self.n_seen += 1
        return self.n_seen >= self.n_events


OTHER_LEARNERS = [None, Ridge(), DecisionTreeRegressor(max_depth=2, splitter="random")]
RESULTS = (
    "train_loss_", "oob_loss_", "member_oob_loss_", "oob_score_", "steps_", "estimator_weights_",
    "estimator_errors_", "feature_importances_", "best_round_",
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_stop_at_any_event_keeps_whole_rounds_and_going_on_equals_no_stop(data):
    name, is_classifier = data.draw(st.sampled_from(list(ENSEMBLES))), data.draw(st.booleans())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    X, weights = rng.normal(size=(30, 3)).round(1), rng.choice([0.0, 1.0, 2.0], 30)
    target = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=30)
    weights[:6] = 1.0
    y = np.digitize(target, [-0.5, 0.7]) if is_classifier else target
    more = SAMPLED | {"n_jobs": data.draw(st.sampled_from([1, 2]))} if name in BAGS else {}
    if name == "GradientBoosting":
        learner = data.draw(st.sampled_from(OTHER_LEARNERS))
        own = {"min_samples_leaf": 2, "max_features": 2}
        own["init"] = data.draw(st.sampled_from(["constant", "first_tree"]))
        more = {"subsample": 0.6} | (own if learner is None else {"estimator": learner})
    kind, n_rounds = engine_class(name, is_classifier), data.draw(st.integers(2, 6))
    whole = kind(n_estimators=n_rounds, random_state=0, **more).fit(X, y, weights)
    parts = kind(n_estimators=n_rounds, random_state=0, warm_start=True, **more)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "ASK_EVERY_S", 0.0)  # asked at every step of a round
        parts.fit(X, y, weights, monitor=StopAt(data.draw(st.integers(1, 40))))
    n_kept = len(parts.estimators_)
    if parts.stopped_ and n_kept > (1 if name in BAGS else 0):  # a bag's first tree may be unfinished
        fewer = kind(n_estimators=n_kept, random_state=0, **more).fit(X, y, weights)
        np.testing.assert_array_equal(answer(parts, X), answer(fewer, X))
    parts.fit(X, y, weights)
    assert len(parts.estimators_) == len(whole.estimators_)
    np.testing.assert_array_equal(answer(parts, X), answer(whole, X))
    for result in RESULTS:
        assert hasattr(parts, result) == hasattr(whole, result)
        np.testing.assert_array_equal(getattr(parts, result, 0.0), getattr(whole, result, 0.0))


FILES = [
    *((name, {}) for name in ENSEMBLES),
    *(("GradientBoosting", more) for more in (
        {"init": "first_tree", "subsample": 0.5}, {"order": 2, "max_features": 1}, {"leaf_update": "per_tree"}
    )),
]  # fmt: skip


@pytest.mark.parametrize("is_classifier", [False, True])
@pytest.mark.parametrize(("name", "more"), FILES, ids=str)
def test_going_on_after_a_file_equals_one_fit(name, more, is_classifier):
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(80, 3)), rng.uniform(0.5, 2, 80)
    target = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=80)
    y = np.array(list("abc"))[np.digitize(target, [-0.5, 0.7])] if is_classifier else target
    kind, more = engine_class(name, is_classifier), more | (SAMPLED if name in BAGS else {})
    whole = kind(n_estimators=7, random_state=0, **more).fit(X, y, weights)
    parts = kind(n_estimators=3, random_state=0, warm_start=True, **more).fit(X, y, weights)
    parts = from_json(to_json(parts)).set_params(n_estimators=7).fit(X, y, weights)
    assert list(trees_of(parts)) == list(trees_of(whole))
    np.testing.assert_array_equal(answer(parts, X), answer(whole, X))
    for result in RESULTS:
        assert hasattr(parts, result) == hasattr(whole, result)
        np.testing.assert_array_equal(getattr(parts, result, 0.0), getattr(whole, result, 0.0))


@pytest.mark.parametrize("name", ENSEMBLES)
def test_c47_three_hundred_levels_do_not_wrap(name):
    """Case C47 (a)."""
    codes = np.repeat(np.arange(300), 6)
    X, y = pd.DataFrame({"lev": pd.Categorical(codes)}), codes >= 256
    for more in ({}, {"max_bins": 255}) if name in ("RandomForest", "GradientBoosting") else ({},):
        model = engine_class(name, True)(n_estimators=20, random_state=0, **more).fit(X, y)
        assert model.score(X, y) == 1.0


def test_r_squared_of_few_rows_and_of_huge_errors():
    ones = np.ones(2)
    assert r_squared(np.array([20.0, 60.0]), np.array([10.0, 50.0]), ones) == 0.75
    assert r_squared(np.array([20.0, 60.0]), np.array([20.0, 50.0]), np.array([1.0, 3.0])) == 0.75
    assert np.isnan(r_squared(ones[:1], ones[:1], ones[:1]))
    assert r_squared(np.array([1e-160, 2e-160]), np.array([1e149, 1e149]), ones) == -np.inf
