"""What boosting begins with, training on, and stopping by a score."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor as TheirTree

from engine import DataError, DecisionTreeClassifier, DecisionTreeRegressor, ParameterError
from engine import GradientBoostingClassifier as Classifier
from engine import GradientBoostingRegressor as Regressor
from engine.boosting.early_stopping import validation_score
from engine.boosting.parameters import LOSS_WORDS
from engine.export.json import from_json, to_json
from engine.surface import encoded_answer, model_curve, model_surface
from tests.engine.test_boosting import Recorder, make_classes, same_trees


def cosine():
    rng = np.random.default_rng(0)
    x = rng.uniform(-5, 5, 300)
    return x[:, None], np.cos(x) + rng.normal(0, 0.2, 300)


EXACT = {"learning_rate": 1, "growth": "depth", "max_depth": 2, "min_samples_leaf": 1, "max_bins": 300}


def test_starting_with_a_tree_is_one_round_earlier():
    X, y = cosine()
    watch = Recorder()
    model = Regressor(n_estimators=2, init="first_tree", **EXACT).fit(X, y, X_val=X, y_val=y, monitor=watch)
    np.testing.assert_allclose(2 * model.train_loss_, [0.124514, 0.092417, 0.076913], atol=6e-7)
    np.testing.assert_array_equal(model.val_loss_, model.train_loss_)
    assert watch.rounds[0].new_trees == model.init_
    assert 2 * watch.rounds[0].train_loss == pytest.approx(0.124514, abs=6e-7)
    assert np.mean((model.truncate(0).predict(X) - y) ** 2) == pytest.approx(0.124514, abs=6e-7)
    constant = Regressor(n_estimators=3, **EXACT).fit(X, y)
    np.testing.assert_allclose(model.predict(X), constant.predict(X), rtol=1e-13)
    assert constant.init_ == ()


def test_the_first_tree_counts_in_full_at_any_rate():
    X, y = cosine()
    slow = Regressor(n_estimators=1, init="first_tree", **(EXACT | {"learning_rate": 0.01})).fit(X, y)
    assert 2 * slow.train_loss_[0] == pytest.approx(0.124514, abs=6e-7)


@pytest.mark.parametrize("loss", ["squared_error", "poisson"])
def test_starting_at_zero(loss):
    X, y = cosine()
    y = np.exp(y)
    model = Regressor(loss=loss, init="zero", n_estimators=5).fit(X, y)
    assert model.baseline_prediction_.tolist() == [0.0]
    np.testing.assert_array_equal(model.truncate(0).predict(X), 1.0 if loss == "poisson" else 0.0)


def test_starting_from_another_model():
    X, y = cosine()
    line = LinearRegression()
    model = Regressor(init=line, n_estimators=20).fit(X, y)
    fitted = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.truncate(0).predict(X), fitted.predict(X))
    assert model.train_loss_[0] == pytest.approx(np.mean((fitted.predict(X) - y) ** 2) / 2)
    assert model.train_loss_[-1] < 0.2 * model.train_loss_[0]
    assert not hasattr(line, "coef_"), "what was given stays as it was"
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    np.testing.assert_array_equal(encoded_answer(model, X)[:, 0], model.predict(X))
    positions = np.linspace(-4, 4, 30)
    np.testing.assert_allclose(model_curve(model, 0, positions, [0.0])[0], model.predict(positions[:, None]))
    with pytest.raises(DataError, match="init is a LinearRegression, which a model file cannot hold"):
        to_json(model)


def test_a_model_to_start_from_draws_by_the_seed_of_the_rounds_and_keeps_its_own():
    X, y = cosine()
    start = BaggingRegressor(TheirTree(max_depth=3, splitter="random"), n_estimators=2)
    one, again, other = (
        Regressor(init=start, n_estimators=2, random_state=seed).fit(X, y) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one.predict(X), again.predict(X))
    assert np.any(one.predict(X) != other.predict(X))
    assert start.random_state is start.estimator.random_state is None, "what was given stays as it was"
    start.set_params(random_state=5, estimator__random_state=6)
    kept = Regressor(init=start, n_estimators=2, random_state=1).fit(X, y)
    np.testing.assert_array_equal(kept.truncate(0).predict(X), start.fit(X, y).predict(X))


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_start_from_another_models_probabilities(n_classes, loss):
    if loss == "exponential" and n_classes == 3:
        loss = "log_loss"
    X, y = make_classes(300, n_classes)
    X = np.nan_to_num(X)
    model = Classifier(loss=loss, init=LogisticRegression(), n_estimators=5).fit(X, np.array(list("pqr"))[y])
    expected = LogisticRegression().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.truncate(0).predict_proba(X), expected, atol=1e-9)
    surface = model_surface(model, 0, 1, [-1.0, 0.0, 1.0], [0.0, 2.0], X[0])
    table = np.tile(X[0], (6, 1))
    table[:, 0], table[:, 1] = [-1, 0, 1] * 2, [0] * 3 + [2] * 3
    np.testing.assert_allclose(surface, model.predict_proba(table).T.reshape(n_classes, 2, 3), atol=1e-9)


def test_our_own_trees_may_be_the_start():
    X, y = make_classes(200, 3)
    model = Classifier(init=DecisionTreeClassifier(max_depth=1), n_estimators=5).fit(X, y)
    assert np.diff(model.train_loss_).max() <= 1e-12
    assert Regressor(init=DecisionTreeRegressor(max_depth=2), n_estimators=5).fit(X, y).score(X, y) > 0.3


def test_a_start_that_cannot_be_is_named():
    X, y = make_classes(60, 2)
    with pytest.raises(ParameterError, match="init is 'nonsense'; enter one of 'constant', 'zero'"):
        Classifier(init="nonsense").fit(X, y)
    with pytest.raises(ParameterError, match="has no predict_proba"):
        Classifier(init=SVC()).fit(np.nan_to_num(X), y)
    with pytest.raises(ParameterError, match="cannot be trained on this table: Input X contains NaN"):
        Regressor(init=LinearRegression()).fit(X, y)


def test_models_that_begin_with_trees_are_drawn_and_kept():
    X, y = make_classes(200, 3)
    X = np.nan_to_num(X)
    model = Classifier(init="first_tree", n_estimators=4).fit(X, y)
    loaded = from_json(to_json(model))
    assert loaded.init_ == model.init_
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_allclose(encoded_answer(model, X), model.predict_proba(X), rtol=1e-12)
    curve = model_curve(model, 0, np.sort(X[:20, 0]), X[0])
    table = np.tile(X[0], (20, 1))
    table[:, 0] = np.sort(X[:20, 0])
    np.testing.assert_allclose(curve, model.predict_proba(table).T, atol=1e-9)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


VARIANTS = [
    {}, {"init": "first_tree"}, {"order": 2, "reg_lambda": 1.0}, {"leaf_update": "per_tree"},
    {"subsample": 0.6, "max_features": 2, "colsample_bytree": 0.7}, {"growth": "oblivious"},
    {"monotonic_cst": [1, 0, 0, 0]},
]  # fmt: skip


@pytest.mark.parametrize("more", VARIANTS, ids=str)
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_training_on_equals_training_in_one_go(n_classes, more):
    if n_classes == 3 and "monotonic_cst" in more:
        more = {}
    X, y = make_classes(200, n_classes or 5)
    kind = Classifier if n_classes else Regressor
    validation = {"X_val": X[::3], "y_val": y[::3]}
    shared = {"min_samples_leaf": 5, "learning_rate": 0.4, "random_state": 3, **more}
    whole = kind(n_estimators=9, **shared).fit(X, y, **validation)
    parts = kind(n_estimators=4, warm_start=True, **shared).fit(X, y, **validation)
    parts = pickle.loads(pickle.dumps(parts))
    parts.set_params(n_estimators=9).fit(X, y, **validation)
    assert same_trees(whole, parts)
    for name in ("train_loss_", "val_loss_", "steps_", "feature_importances_", "best_round_", "init_"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    np.testing.assert_array_equal(parts.raw_predict(X), whole.raw_predict(X))


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile", "poisson"])
def test_every_loss_can_be_trained_on(loss):
    X, y = make_classes(200, 5)
    whole = Regressor(loss=loss, n_estimators=8, min_samples_leaf=5).fit(X, y)
    parts = Regressor(loss=loss, n_estimators=3, min_samples_leaf=5, warm_start=True).fit(X, y)
    assert same_trees(whole, parts.set_params(n_estimators=8).fit(X, y))
    np.testing.assert_array_equal(parts.train_loss_, whole.train_loss_)


def test_training_on_keeps_the_seed_that_was_drawn_and_the_best_round():
    X, y = make_classes(300, 2)
    model = Classifier(n_estimators=3, subsample=0.5, warm_start=True).fit(X, y)
    seed, first = model.seed_, list(model.estimators_)
    model.set_params(n_estimators=6).fit(X, y)
    assert (model.seed_, model.n_estimators_) == (seed, 6)
    assert model.estimators_[:3] == first
    rng = np.random.default_rng(9)
    noise = {"X_val": rng.normal(size=(80, 4)), "y_val": rng.integers(0, 2, 80)}
    stopping = {"early_stopping": True, "n_iter_no_change": 4, "learning_rate": 0.3}
    whole = Classifier(n_estimators=90, **stopping).fit(X, y, **noise)
    parts = Classifier(n_estimators=whole.n_estimators_ + 2, warm_start=True, **stopping).fit(X, y, **noise)
    assert same_trees(parts.set_params(n_estimators=90).fit(X, y, **noise), whole)


def test_a_stop_while_training_on_keeps_what_there_was():
    X, y = make_classes(200, 2)
    model = Classifier(n_estimators=4, warm_start=True).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(n_estimators=8).fit(X, y, monitor=Recorder(lambda event: event.phase == "binning"))
    assert (model.stopped_, model.n_estimators_, len(model.train_loss_)) == (True, 4, 5)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    watch = Recorder(lambda event: event.train_loss is not None and event.iteration == 6)
    model.fit(X, y, monitor=watch)
    assert (model.stopped_, model.n_estimators_) == (True, 6)
    assert [event.iteration for event in watch.rounds] == [4, 5, 6]
    assert watch.rounds[0].new_trees == ()


def test_a_stop_while_the_start_trains_ends_it_and_a_later_fit_trains_it_anew():
    X, y = make_classes(200, 3)
    shared = {"init": Classifier(n_estimators=50, random_state=1), "random_state": 2}
    parts = Classifier(n_estimators=2, warm_start=True, **shared)
    watch = Recorder(lambda event: event.phase == "training the start")  # once, then never again
    parts.fit(X, y, monitor=watch)
    assert [event.phase for event in watch.events] == ["training the start"]
    assert (parts.stopped_, parts.n_estimators_, parts.init_) == (True, 0, ())
    np.testing.assert_allclose(parts.predict_proba(X[:1])[0], np.bincount(y) / 200)
    parts.fit(X, y)
    whole = Classifier(n_estimators=2, **shared).fit(X, y)
    assert parts.init_.n_estimators_ == 50
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("phase", ["binning", "boosting"])
def test_a_stop_before_the_first_tree_lets_a_later_fit_grow_it(phase):
    X, y = make_classes(200, 3)
    shared = {"init": "first_tree", "subsample": 0.7, "random_state": 2}
    whole = Classifier(n_estimators=4, **shared).fit(X, y)
    parts = Classifier(n_estimators=4, warm_start=True, **shared)
    # inside a round the monitor is asked by the clock: only the first tree's own event has one
    parts.fit(X, y, monitor=Recorder(lambda event: event.phase == phase == "binning" or event.new_trees))
    assert (parts.stopped_, parts.n_estimators_, len(parts.init_)) == (
        True,
        0,
        0 if phase == "binning" else 3,
    )
    parts.fit(X, y)
    assert parts.init_ == whole.init_
    assert same_trees(parts, whole)
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))


def test_training_on_with_other_columns_or_fewer_rounds_is_refused():
    X, y = make_classes(200, 2)
    model = Classifier(n_estimators=4, warm_start=True).fit(X, y)
    with pytest.raises(ParameterError, match="but the model has 4 rounds; enter more, or use truncate"):
        model.set_params(n_estimators=3).fit(X, y)
    model.set_params(n_estimators=6)
    for table, target in ((pd.DataFrame(X, columns=list("abcd")), y), (X, y + 1)):
        with pytest.raises(DataError, match="not those that the model was trained on"):
            model.fit(table, target)
        assert model.classes_.tolist() == [0, 1]
    fresh = model.set_params(warm_start=False).fit(X, y + 1)
    assert fresh.classes_.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("n_classes", "name", "peer"),
    [
        (2, "accuracy", "accuracy"), (3, "accuracy", "accuracy"), (2, "auc", "roc_auc"),
        (3, "auc", "roc_auc_ovr"), (2, "log_loss", "neg_log_loss"), (3, "log_loss", "neg_log_loss"),
        (0, "r2", "r2"), (0, "rmse", "neg_root_mean_squared_error"), (0, "mae", "neg_mean_absolute_error"),
    ],
)  # fmt: skip
def test_scores_are_those_of_scikit_learn_and_scorers_do_too(n_classes, name, peer):
    X, y = make_classes(400, n_classes or 7)
    train, test = (X[:250], y[:250]), (X[250:], y[250:])
    kind = Classifier if n_classes else Regressor
    settings = {"n_estimators": 12, "learning_rate": 0.3}
    given = {"X_val": test[0], "y_val": test[1]}
    model = kind(scoring=name, **settings).fit(*train, **given)
    stages = [model.truncate(k) for k in range(13)]
    expected = [get_scorer(peer)(stage, *test) for stage in stages]
    np.testing.assert_allclose(model.val_score_, expected, rtol=1e-9)
    assert model.best_round_ == int(np.argmax(model.val_score_[1:])) + 1
    by_scorer = kind(scoring=get_scorer(peer), **settings).fit(*train, **given)
    np.testing.assert_allclose(by_scorer.val_score_, model.val_score_, rtol=1e-9)
    weighted = kind(scoring=name, **settings).fit(*train, sample_weight_val=np.full(150, 2.0), **given)
    np.testing.assert_allclose(weighted.val_score_, model.val_score_, rtol=1e-9)


def test_early_stopping_by_a_score_keeps_its_best_round():
    X, y = make_classes(400, 2)
    given = {"X_val": X[250:], "y_val": y[250:]}
    shared = {"early_stopping": True, "n_iter_no_change": 3, "learning_rate": 0.3, "n_estimators": 80}
    model = Classifier(scoring="auc", **shared).fit(X[:250], y[:250], **given)
    assert model.n_estimators_ == model.best_round_ == int(np.argmax(model.val_score_[1:])) + 1
    never = Classifier(scoring="auc", **shared).fit(X[:250], y[:250], X_val=X[:9], y_val=np.zeros(9, int))
    assert np.isnan(never.val_score_).all()  # one class alone has no such score
    assert never.n_estimators_ == 1
    with pytest.raises(ParameterError, match="scoring is 'r2'; enter one of 'loss', 'accuracy'"):
        Classifier(scoring="r2").fit(X, y)
    assert len(Classifier(scoring="auc", n_estimators=2).fit(X, y).val_score_) == 0


def test_scores_of_text_labels_reach_a_scorer():
    X, y = make_classes(100, 2)
    seen = []

    def scorer(model, table, labels):
        seen.append((model.predict(table).tolist(), labels.tolist()))
        return 1.0

    labels = np.array(["no", "yes"])[y]
    Classifier(n_estimators=2, scoring=scorer).fit(X, labels, X_val=X[:5], y_val=labels[:5])
    assert len(seen) == 3
    assert seen[0][1] == labels[:5].tolist()
    assert set(seen[-1][0]) <= {"no", "yes"}
    assert callable(validation_score)


finite = st.one_of(st.sampled_from([0.0, 1.0, -1.0, 1e-300, 1e6, -1e6, np.nan]), st.floats(-100, 100))


@given(
    rows=st.lists(
        st.tuples(finite, finite, st.integers(0, 2), st.sampled_from([0.0, 1e-3, 1.0, 7.0])),
        min_size=3, max_size=14,
    ),
    loss=st.sampled_from(list(LOSS_WORDS)),
    order=st.sampled_from([1, 2]), leaf_update=st.sampled_from(["per_leaf", "per_tree"]),
    growth=st.sampled_from(["leaf", "depth", "oblivious"]),
    init=st.sampled_from(["constant", "zero", "first_tree"]),
    rate=st.sampled_from([0.1, 1.0, 3.0]), subsample=st.sampled_from([1.0, 0.4]),
)  # fmt: skip
@settings(max_examples=120, deadline=None)
def test_nothing_is_ever_nan(rows, loss, order, leaf_update, growth, init, rate, subsample):
    a, b, target, weights = (np.array(column, float) for column in zip(*rows, strict=True))
    if not weights.any() or (loss == "poisson" and not (target * weights).any()):
        weights, target = weights + 1, target + 1
    is_class = loss in ("log_loss", "exponential")
    if loss in ("absolute_error", "huber", "quantile"):
        order = 1
    if loss == "exponential":
        target = np.minimum(target, 1)
    more = {"leaf_update": leaf_update} if order == 1 else {"reg_lambda": 0.5}
    model = (Classifier if is_class else Regressor)(
        loss=loss, order=order, growth=growth, init=init, learning_rate=rate, subsample=subsample,
        n_estimators=8, min_samples_leaf=1, random_state=0, **more,
    )  # fmt: skip
    X = np.column_stack([a, b])
    given = {"X_val": X[:2], "y_val": target[weights > 0][[0, 0]]}
    model.fit(X, target.astype(int) if is_class else target, weights, **given)
    for trees in (*model.estimators_, model.init_):
        assert all(np.isfinite(tree.value).all() for tree in trees)
    assert not np.isnan(model.train_loss_).any()
    assert not np.isnan(model.val_loss_).any()
    assert not np.isnan(model.predict(X).astype(float)).any()
    if is_class:
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0, atol=1e-12)
    if rate <= 1 and subsample == 1 and order == 1 and loss != "huber":
        slack = 1e-12 * max(1.0, model.train_loss_[0])
        assert np.diff(model.train_loss_).max(initial=0.0) <= slack
    cut = model.truncate(min(3, model.n_estimators_))
    again = model.__class__(**(model.get_params() | {"n_estimators": 3})).fit(
        X, target.astype(int) if is_class else target, weights, **given
    )
    assert same_trees(cut, again)
