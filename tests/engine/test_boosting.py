"""The boosting estimators: worked numbers, monotone loss, stops, early stopping, threads, frames."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingRegressor as PeerRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import check_estimator

from engine import DataError, GradientBoostingClassifier, GradientBoostingRegressor, ParameterError
from engine.boosting.blocks import RowBlocks
from engine.boosting.early_stopping import EarlyStopping
from engine.boosting.parameters import BOOSTING_CLASSIFIER, BOOSTING_REGRESSOR
from engine.export.json import from_json, to_json
from engine.surface import summed_trees
from engine.tree.structure import LEVEL_SET


class Recorder:
    """Keeps all events; asks to stop at the first one that `wants_stop` accepts."""

    def __init__(self, wants_stop=lambda event: False):
        self.events, self.wants_stop = [], wants_stop

    def on_iteration(self, event):
        self.events.append(event)
        return self.wants_stop(event)

    @property
    def rounds(self):
        return [event for event in self.events if event.train_loss is not None]


def same_trees(one, other):
    return len(one.estimators_) == len(other.estimators_) and all(
        a == b
        for first, second in zip(one.estimators_, other.estimators_, strict=True)
        for a, b in zip(first, second, strict=True)
    )


def make_classes(n_rows=400, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[rng.random(n_rows) < 0.1, 2] = np.nan
    scores = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n_rows)
    return X, np.searchsorted(np.quantile(scores, np.arange(1, n_classes) / n_classes), scores)


def test_cosine_teaching_set():
    rng = np.random.default_rng(0)
    x = rng.uniform(-5, 5, 300)
    y = np.cos(x) + rng.normal(0, 0.2, 300)
    model = GradientBoostingRegressor(
        n_estimators=3, learning_rate=1, growth="depth", max_depth=2, min_samples_leaf=1, max_bins=300
    )
    model.fit(x[:, None], y)
    mse = 2 * model.train_loss_
    np.testing.assert_allclose(mse, [0.489054, 0.124514, 0.092417, 0.076913], atol=6e-7)
    assert np.mean((model.predict(x[:, None]) - y) ** 2) == pytest.approx(mse[-1], rel=1e-12)


def test_newton_boosting_worked_example():
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 0])
    model = GradientBoostingClassifier(
        n_estimators=1, learning_rate=1, order=2, reg_lambda=1, max_depth=1, min_samples_leaf=1
    )
    model.fit(X, y)
    ((tree,),) = model.estimators_
    p, left, right = 1 / 3, np.array([0, 0, 0]), np.array([1, 1, 0])
    for child, labels in ((1, left), (2, right)):
        step = np.sum(labels - p) / (len(labels) * p * (1 - p) + 1)
        assert tree.value[child, 0] == pytest.approx(step, rel=1e-12)


def test_diabetes_is_level_with_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    ours, theirs = [], []
    for seed in range(10):
        parts = train_test_split(X, y, test_size=0.25, random_state=seed)
        ours_model = GradientBoostingRegressor(growth="depth", max_depth=3, min_samples_leaf=1)
        for model, errors in ((ours_model, ours), (PeerRegressor(random_state=seed), theirs)):
            prediction = model.fit(parts[0], parts[2]).predict(parts[1])
            errors.append(np.mean((prediction - parts[3]) ** 2))
    assert np.mean(ours) <= 1.01 * np.mean(theirs)


def test_c19_two_rows_for_2000_rounds_stay_finite_and_never_rise():
    model = GradientBoostingClassifier(n_estimators=2000, learning_rate=1, min_samples_leaf=1)
    model.fit([[0.0], [1.0]], [0, 1])
    assert np.isfinite(model.train_loss_).all()
    assert np.diff(model.train_loss_).max() <= 1e-12
    assert all(np.isfinite(tree.value).all() for (tree,) in model.estimators_)
    np.testing.assert_array_equal(model.predict([[0.0], [1.0]]), [0, 1])


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_first_order_log_loss_never_rises_at_rate_one(n_classes, seed):
    X, y = make_classes(120, n_classes, seed)
    y[:3] = n_classes - 1  # some labels are wrong: steps that overshoot
    model = GradientBoostingClassifier(
        n_estimators=60, learning_rate=1, min_samples_leaf=1, max_leaf_nodes=40
    )
    model.fit(X, y, np.random.default_rng(seed).uniform(0.1, 5, 120))
    assert np.diff(model.train_loss_).max() <= 1e-12
    assert model.train_loss_[-1] < 0.02 * model.train_loss_[0]


def test_a_step_that_would_raise_a_leafs_loss_is_halved():
    """Rows of one leaf, one of them hopeless: the Newton step from far out overshoots."""
    from engine.boosting.grown import Grown, GrowSettings, Node
    from engine.boosting.line_search import shorten_leaf_steps

    X, y = np.zeros((4, 1)), np.array([1, 1, 1, 0])
    training, _ = GradientBoostingClassifier()._begin(X, y, None, (None, None, None))
    grow = GrowSettings("leaf", 31, None, 1, 1, 0.0, 1.0, counts_are_hessians=True, n_jobs=1)
    step = 700.0
    leaf = Node(0, 4, 0, np.zeros(4), step)
    rows = np.arange(4, dtype=np.int32)
    grown = Grown([leaf], rows, RowBlocks(rows, np.array([[0, 4]])), grow)
    shorten_leaf_steps(grown, np.full((4, 1), -6.0), training, 1.0, 1)

    def loss(f):
        return 3 * math.log1p(math.exp(-f)) + math.log1p(math.exp(f))

    assert 0 < leaf.value < step
    assert math.log2(step / leaf.value) == int(math.log2(step / leaf.value))
    assert loss(-6.0 + leaf.value) <= loss(-6.0) < loss(-6.0 + 2 * leaf.value)


def test_three_class_leaves_take_friedmans_step():
    X, y = np.repeat([0.0, 1.0], [5, 4])[:, None], np.array([0, 0, 0, 1, 2, 1, 2, 2, 2])
    model = GradientBoostingClassifier(n_estimators=1, min_samples_leaf=1).fit(X, y)
    for class_idx, tree in enumerate(model.estimators_[0]):
        p = np.mean(y == class_idx)
        for child, rows in ((1, slice(0, 5)), (2, slice(5, 9))):
            residuals = (y[rows] == class_idx) - p
            step = 2 / 3 * residuals.sum() / (len(residuals) * p * (1 - p))
            assert tree.value[child, 0] == pytest.approx(0.1 * step, rel=1e-12)


def test_a_round_that_would_raise_the_loss_is_halved_for_all_its_trees():
    X, y = make_classes(200, 3, seed=2)
    model = GradientBoostingClassifier(n_estimators=5, learning_rate=40).fit(X, y)
    assert np.diff(model.train_loss_).max() <= 1e-12
    p = model.predict_proba(X)[np.arange(200), y]
    assert model.train_loss_[-1] == pytest.approx(-np.mean(np.log(p)), rel=1e-9)
    small = GradientBoostingClassifier(n_estimators=1).fit(X, y)
    shares = {
        float(np.nanmax(big.value / tree.value)) / 400
        for big, tree in zip(model.estimators_[0], small.estimators_[0], strict=True)
    }
    assert len({round(np.log2(share), 9) for share in shares}) == 1
    halvings = -np.log2(shares.pop())
    assert halvings >= 1
    assert halvings == pytest.approx(round(halvings), abs=1e-9)


def test_squared_error_never_rises_and_predictions_stay_in_range():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    model = GradientBoostingRegressor(n_estimators=50, learning_rate=1, min_samples_leaf=1).fit(X, y)
    assert np.diff(model.train_loss_).max() <= 1e-12


def test_a_small_row_share_still_draws_a_row():
    """Case C20 (a)."""
    model = GradientBoostingRegressor(subsample=0.2, max_depth=2, min_samples_leaf=1, random_state=0)
    prediction = model.fit([[1.0], [2], [3]], [2.0, 4, 9]).predict([[1.0], [2], [3]])
    assert np.all((prediction >= 2) & (prediction <= 9))


def test_a_class_of_one_row_leaves_everything_finite():
    """Case C20 (b)."""
    y = np.repeat([0, 1, 2], [20, 20, 1])
    model = GradientBoostingClassifier(n_estimators=300, learning_rate=1, min_samples_leaf=1)
    X = np.arange(41.0)[:, None]
    probabilities = model.fit(X, y).predict_proba(X)
    assert all(np.isfinite(tree.value).all() for trees in model.estimators_ for tree in trees)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-12)
    newton = GradientBoostingClassifier(n_estimators=300, learning_rate=1, min_samples_leaf=1, order=2)
    newton.fit(X, y)
    assert all(np.isfinite(tree.value).all() for trees in newton.estimators_ for tree in trees)


def test_unbalanced_classes_start_at_their_shares_and_stay_there():
    """Case C24."""
    X, y = np.zeros((100, 1)), np.repeat(["a", "b", "c"], [90, 9, 1])
    watch = Recorder()
    model = GradientBoostingClassifier(n_estimators=5).fit(X, y, monitor=watch)
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], [0.9, 0.09, 0.01], rtol=1e-12)
    np.testing.assert_allclose(model.truncate(0).predict_proba(X[:1])[0], [0.9, 0.09, 0.01], rtol=1e-12)
    np.testing.assert_allclose(model.train_loss_, 0.35759127073059305, rtol=1e-13)
    assert "No column can be split" in watch.rounds[0].message
    for more in (
        {},
        {"order": 2},
        {"growth": "oblivious"},
        {"leaf_update": "per_tree"},
        {"estimator": Ridge()},
    ):
        binary = GradientBoostingClassifier(n_estimators=5, **more).fit(X, np.repeat([0, 1], [70, 30]))
        np.testing.assert_allclose(binary.decision_function(X[:1]), -0.8472978603872036, rtol=1e-14)
        three = GradientBoostingClassifier(n_estimators=5, **more).fit(X, y)
        np.testing.assert_allclose(three.predict_proba(X[:1])[0], [0.9, 0.09, 0.01], rtol=1e-12)


@pytest.mark.parametrize(
    ("losses", "n_rounds", "best"),
    [
        ([0.60, 0.50, 0.45, 0.46, 0.47, 0.1], 5, 3),
        ([0.60, math.nan, 0.45, 0.46, 0.47, 0.1], 5, 3),
        ([0.60, 0.50, 0.45, 0.45, 0.47, 0.1], 5, 3),
        ([math.nan, math.nan, 0.1], 3, 3),
    ],
)
def test_c22_early_stopping_counts_from_one(losses, n_rounds, best):
    stopping = EarlyStopping(n_iter_no_change=2, tol=0.0)
    told = [stopping.is_over(i, loss) for i, loss in enumerate(losses, 1)]
    assert told.index(True) + 1 == n_rounds if True in told else len(losses) == n_rounds
    fresh = EarlyStopping(2, 0.0)
    for i, loss in enumerate(losses[:n_rounds], 1):
        fresh.is_over(i, loss)
    assert fresh.best_round == best


def test_an_improvement_within_tol_is_none():
    stopping = EarlyStopping(n_iter_no_change=2, tol=0.1)
    assert [stopping.is_over(i, loss) for i, loss in enumerate([1.0, 0.95, 0.91], 1)] == [False, False, True]
    assert stopping.best_round == 1


def test_early_stopping_keeps_exactly_the_rounds_up_to_the_best():
    X, y = make_classes(300, 3)
    rng = np.random.default_rng(9)
    X_val, y_val = rng.normal(size=(100, 4)), rng.integers(0, 3, 100)
    watch = Recorder()
    model = GradientBoostingClassifier(
        n_estimators=200, learning_rate=0.3, early_stopping=True, n_iter_no_change=4
    )
    model.fit(X, y, X_val=X_val, y_val=y_val, monitor=watch)
    curve = [event.val_loss for event in watch.rounds]
    best = int(np.argmin(curve[1:])) + 1
    assert len(curve) - 1 == best + 4
    assert model.n_estimators_ == model.best_round_ == len(model.estimators_) == best
    assert not model.stopped_
    np.testing.assert_array_equal(model.val_loss_, curve[: best + 1])
    plain = GradientBoostingClassifier(n_estimators=best, learning_rate=0.3).fit(X, y)
    assert same_trees(model, plain)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.feature_importances_, plain.feature_importances_)
    written = from_json(to_json(model))
    assert [len(trees) for trees in written.estimators_] == [3] * best
    assert [len(trees) for trees in summed_trees(model)] == [best] * 3


def test_validation_rows_alone_only_draw_the_curve():
    X, y = make_classes(300, 2)
    model = GradientBoostingClassifier(n_estimators=8).fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert model.n_estimators_ == 8
    assert len(model.val_loss_) == 9
    assert model.best_round_ == int(np.argmin(model.val_loss_[1:])) + 1
    p = model.predict_proba(X[200:])[np.arange(100), y[200:]]
    assert model.val_loss_[-1] == pytest.approx(-np.mean(np.log(p)), rel=1e-12)


def test_rows_set_aside_hold_every_class_that_can_be_shared():
    X, y = np.arange(40.0)[:, None], np.repeat(["a", "b", "c"], [26, 13, 1])
    model = GradientBoostingClassifier(
        n_estimators=3, early_stopping=True, validation_fraction=0.25, random_state=0
    )
    model.fit(X, y)
    assert 1 <= model.n_estimators_ <= 3
    with pytest.raises(DataError, match="too few to set some aside"):
        model.fit(X[-1:], y[-1:])
    few = model.fit(np.arange(4.0)[:, None], list("aaab"))  # case C22: the only b is trained on
    assert few.predict_proba([[3.0]])[0, 1] == pytest.approx(1 / 3)
    assert few.val_loss_[0] == pytest.approx(-np.log(2 / 3))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_rounds", [0, 1, 4])
def test_stop_after_a_round_equals_training_that_many(n_rounds, n_classes):
    X, y = make_classes(300, n_classes)
    whole = GradientBoostingClassifier(n_estimators=6, subsample=0.7, random_state=3).fit(X, y)
    watch = Recorder(lambda event: event.train_loss is not None and event.iteration == n_rounds)
    stopped = GradientBoostingClassifier(n_estimators=6, subsample=0.7, random_state=3)
    stopped.fit(X, y, monitor=watch)
    assert stopped.stopped_
    assert stopped.n_estimators_ == n_rounds
    np.testing.assert_array_equal(stopped.predict_proba(X), whole.truncate(n_rounds).predict_proba(X))
    if n_rounds:
        few = GradientBoostingClassifier(n_estimators=n_rounds, subsample=0.7, random_state=3).fit(X, y)
        assert not few.stopped_
        assert same_trees(few, stopped)
        np.testing.assert_array_equal(few.train_loss_, stopped.train_loss_)


def test_stop_inside_binning_keeps_the_baseline():
    X, y = make_classes(300, 3)
    watch = Recorder(lambda event: event.phase == "binning")
    model = GradientBoostingClassifier().fit(X, y, monitor=watch)
    assert (model.stopped_, model.n_estimators_, len(watch.events)) == (True, 0, 1)
    np.testing.assert_allclose(model.predict_proba(X)[0], np.bincount(y) / 300)


def test_stop_inside_a_round_drops_that_round(monkeypatch):
    from engine.boosting import rounds

    monkeypatch.setattr(rounds, "ASK_EVERY_S", 0.0)  # ask at every step of growing
    X, y = make_classes(300, 2)
    watch = Recorder()
    watch.wants_stop = lambda event: (event.phase, event.train_loss, event.iteration) == ("boosting", None, 2)
    stopped = GradientBoostingClassifier(n_estimators=5).fit(X, y, monitor=watch)
    assert stopped.stopped_
    assert stopped.n_estimators_ == 2
    assert len(watch.rounds) == 3
    assert same_trees(stopped, GradientBoostingClassifier(n_estimators=2).fit(X, y))


@pytest.mark.parametrize("n_columns", range(1, 13))
def test_progress_never_falls_for_any_number_of_columns(n_columns):
    X, watch = np.arange(20.0 * n_columns).reshape(20, n_columns), Recorder()
    GradientBoostingRegressor(n_estimators=3, min_samples_leaf=2).fit(X, X[:, 0], monitor=watch)
    fractions = [event.fraction for event in watch.events]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
@pytest.mark.parametrize("with_validation", [False, True])
def test_rounds_that_overshoot_without_limit_are_refused(loss, with_validation):
    """Each round is past the target by nine times what it was before: 9^160 squared is infinite."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    validation = {"X_val": X[:20] * 2, "y_val": y[:20]} if with_validation else {}
    model = GradientBoostingRegressor(
        n_estimators=400, learning_rate=10, loss=loss, max_leaf_nodes=4, min_samples_leaf=2
    )
    with pytest.raises(ParameterError, match="learning_rate is 10, with which predictions grow without"):
        model.fit(X, y, **validation)
    steady = model.set_params(learning_rate=1.0, n_estimators=30).fit(X, y, **validation)
    assert np.isfinite(steady.train_loss_).all()


def test_training_on_knows_how_far_the_earlier_rounds_overshot():
    X, y = np.arange(8.0)[:, None], np.arange(8.0) % 3
    model = GradientBoostingRegressor(n_estimators=150, learning_rate=10, min_samples_leaf=8, init="zero")
    model.fit(X, y)
    assert np.isfinite(model.train_loss_).all()
    with pytest.raises(ParameterError, match="grow without limit"):
        model.set_params(n_estimators=170, warm_start=True).fit(X, y)


@pytest.mark.parametrize("rate", [np.inf, 1001.0, 1e300])
@pytest.mark.parametrize("kind", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_a_rate_beyond_all_use_is_refused(kind, rate):
    with pytest.raises(ParameterError, match=r"learning_rate .* a number above 0 and at most 1,000"):
        kind(learning_rate=rate).fit([[0.0], [1.0]], [0, 1])


def test_events_carry_losses_progress_and_only_new_trees():
    X, y = make_classes(200, 3)
    watch = Recorder()
    model = GradientBoostingClassifier(n_estimators=4).fit(X, y, X_val=X, y_val=y, monitor=watch)
    assert [event.iteration for event in watch.rounds] == [0, 1, 2, 3, 4]
    assert [len(event.new_trees) for event in watch.rounds] == [0, 3, 3, 3, 3]
    assert [event.train_loss for event in watch.rounds] == model.train_loss_.tolist()
    assert watch.rounds[2].new_trees == model.estimators_[1]
    fractions = [event.fraction for event in watch.events]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert watch.events[0].phase == "binning"


@pytest.mark.parametrize("order", [1, 2])
def test_any_number_of_threads_gives_the_same_bits(order):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150_000, 3)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + rng.normal(size=150_000) > 0
    weights = rng.uniform(0.5, 2, 150_000)
    models = [
        GradientBoostingClassifier(n_estimators=2, max_leaf_nodes=6, order=order, n_jobs=n_jobs).fit(
            X, y, weights
        )
        for n_jobs in (1, 2, 8)
    ]
    for other in models[1:]:
        assert same_trees(models[0], other)
        np.testing.assert_array_equal(models[0].train_loss_, other.train_loss_)


def test_staged_predictions_end_at_the_prediction():
    X, y = make_classes(200, 3)
    model = GradientBoostingClassifier(n_estimators=7).fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == 7
    np.testing.assert_array_equal(stages[-1], model.predict_proba(X))
    np.testing.assert_array_equal(stages[2], model.truncate(3).predict_proba(X))
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))
    regressor = GradientBoostingRegressor(n_estimators=3).fit(X, y)
    np.testing.assert_array_equal(list(regressor.staged_predict(X))[-1], regressor.predict(X))


def test_truncate_leaves_the_model_alone_and_checks_its_range():
    X, y = make_classes(200, 2)
    model = GradientBoostingClassifier(n_estimators=3).fit(X, y, X_val=X, y_val=y)
    cut = model.truncate(1)
    assert (cut.n_estimators_, model.n_estimators_) == (1, 3)
    assert len(cut.train_loss_) == len(cut.val_loss_) == 2
    assert cut.best_round_ == 1
    with pytest.raises(ParameterError, match="n_rounds is 4"):
        model.truncate(4)


def test_predicted_raw_scores_agree_with_the_training_loss():
    """Codes and thresholds route every training row alike, categories and missing included."""
    rng = np.random.default_rng(2)
    n = 500
    frame = pd.DataFrame(
        {
            "colour": pd.Categorical.from_codes(rng.integers(-1, 5, n), list("abcde")),
            "size": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "rank": pd.Categorical(rng.choice(["low", "mid", "top"], n), ["low", "mid", "top"], ordered=True),
            "flag": rng.random(n) < 0.5,
        }
    )
    score = frame["colour"].cat.codes.isin([1, 3]) * 2.0 + frame["size"].fillna(1.5) * frame["flag"]
    y = score + rng.normal(0, 0.1, n)
    model = GradientBoostingRegressor(n_estimators=30, min_samples_leaf=3).fit(frame, y)
    assert np.mean((model.predict(frame) - y) ** 2) / 2 == pytest.approx(model.train_loss_[-1], rel=1e-10)
    assert model.train_loss_[-1] < 0.02 * model.train_loss_[0]
    assert any(np.any(tree.kind == LEVEL_SET) for (tree,) in model.estimators_)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    sampled = GradientBoostingRegressor(n_estimators=30, min_samples_leaf=3, subsample=0.5, random_state=0)
    sampled.fit(frame, y)
    error = np.mean((sampled.predict(frame) - y) ** 2) / 2
    assert error == pytest.approx(sampled.train_loss_[-1], rel=1e-10)


def test_300_levels_are_learned():
    lev = np.repeat(np.arange(300), 3)
    frame = pd.DataFrame({"lev": pd.Categorical(lev)})
    model = GradientBoostingClassifier(n_estimators=20).fit(frame, lev >= 256)
    assert model.score(frame, lev >= 256) == 1.0


@pytest.mark.parametrize(
    "labels",
    [
        [3, 3, 5, 5, 9, 9],
        ["no"] * 3 + ["yes"] * 3,
        [False] * 3 + [True] * 3,
        [1.0, 1.0, 2.5, 2.5, 7.25, 7.25],
        [-1] * 3 + [1] * 3,
    ],
)
def test_labels_come_back_as_they_were(labels):
    X = np.arange(1.0, 7.0)[:, None]
    model = GradientBoostingClassifier(min_samples_leaf=1).fit(X, labels)
    assert model.predict(X).tolist() == labels
    assert type(model.predict(X)[0]) is type(np.array(labels)[0])


def test_a_declared_level_without_rows_has_probability_zero():
    X = np.arange(1.0, 7.0)[:, None]
    y = pd.Series(pd.Categorical([0, 1, 2, 4, 5, 5], categories=range(6)))
    model = GradientBoostingClassifier(min_samples_leaf=1).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X)[:, 3], 0.0)
    assert model.predict(X).tolist() == [0, 1, 2, 4, 5, 5]
    binary = GradientBoostingClassifier().fit(X, pd.Series(pd.Categorical(["a"] * 6, categories=["a", "b"])))
    np.testing.assert_array_equal(binary.predict_proba(X), np.tile([1.0, 0.0], (6, 1)))


def test_rows_of_weight_zero_change_nothing():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(60, 3)), rng.normal(size=60), np.ones(60)
    w[:10] = 0
    wild = X.copy()
    wild[:10] = 1e6
    a = GradientBoostingRegressor(min_samples_leaf=3).fit(X, y, w)
    b = GradientBoostingRegressor(min_samples_leaf=3).fit(wild, y, w)
    c = GradientBoostingRegressor(min_samples_leaf=3).fit(X[10:], y[10:])
    np.testing.assert_array_equal(a.predict(X), b.predict(X))
    np.testing.assert_array_equal(a.predict(X), c.predict(X))


CHANGES = {
    "n_estimators": 7, "learning_rate": 0.5, "growth": "depth", "max_leaf_nodes": 3, "max_depth": 2,
    "min_samples_leaf": 40, "max_bins": 4, "order": 2, "subsample": 0.5, "early_stopping": True,
}  # fmt: skip
CHANGES_TOGETHER = {
    "reg_lambda": ({"order": 2}, 5.0),
    "validation_fraction": ({"early_stopping": True}, 0.4),
    "n_iter_no_change": ({"early_stopping": True, "learning_rate": 1.0, "n_estimators": 30}, 1),
    "tol": ({"early_stopping": True}, 0.9),
}


@pytest.mark.parametrize("name", [*CHANGES, *CHANGES_TOGETHER])
def test_every_parameter_changes_some_fit(name):
    X, y = make_classes(300, 2, seed=4)
    around, value = CHANGES_TOGETHER.get(name, ({}, CHANGES.get(name)))
    base = {"n_estimators": 10, "random_state": 0, "max_leaf_nodes": 6, "min_samples_leaf": 5, **around}
    plain = GradientBoostingClassifier(**base).fit(X, y)
    changed = GradientBoostingClassifier(**{**base, name: value}).fit(X, y)
    assert not np.array_equal(plain.predict_proba(X), changed.predict_proba(X))


@pytest.mark.parametrize(
    ("table", "estimator"),
    [(BOOSTING_CLASSIFIER, GradientBoostingClassifier), (BOOSTING_REGRESSOR, GradientBoostingRegressor)],
)
def test_the_parameter_table_names_what_the_estimator_has(table, estimator):
    defaults = estimator().get_params()
    elsewhere = {"categorical_features", "random_state", "estimator"}
    assert {parameter.name: parameter.default for parameter in table} == {
        name: value for name, value in defaults.items() if name not in elsewhere
    }


def test_impossible_parameters_and_tables_are_named():
    X, y = make_classes(50, 2)
    for wrong in (
        {"learning_rate": 0}, {"max_bins": 1}, {"order": 3}, {"growth": "tall"}, {"subsample": 0},
        {"loss": "x"},
    ):  # fmt: skip
        with pytest.raises(ParameterError, match=f"{next(iter(wrong))} is"):
            GradientBoostingClassifier(**wrong).fit(X, y)
    with pytest.raises(ParameterError, match="order=2"):
        GradientBoostingClassifier(reg_lambda=1.0).fit(X, y)
    X[3, 1] = np.inf
    with pytest.raises(DataError, match="'x1' holds 1 infinite value"):
        GradientBoostingClassifier().fit(X, y)


def test_a_fitted_model_survives_pickling():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=5).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
    assert same_trees(copy, model)


@pytest.mark.parametrize("estimator", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_scikit_learns_own_checks_pass(estimator):
    check_estimator(estimator(n_estimators=10, min_samples_leaf=1), on_skip=None)


def test_huge_targets_are_no_overshoot():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    large = GradientBoostingRegressor(min_samples_leaf=5, random_state=0).fit(X, 1e149 * y)
    assert np.isfinite(large.raw_predict(X)).all()
