"""Ordered target statistics: worked numbers, their slow twin, and what trees grown on them promise."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import GradientBoostingClassifier as Classifier
from engine import GradientBoostingRegressor as Regressor
from engine import ParameterError
from engine.base import begin_fit
from engine.boosting import ordered
from engine.boosting.kernels.ordered import tell_in_order
from engine.boosting.ordered import order_table, ordered_statistics
from engine.dtypes import UNSEEN_LEVEL
from engine.export.json import from_json, to_json
from engine.features import encode
from engine.jit import specialisations
from engine.surface import encoded_answer, model_curve
from engine.tree.structure import IS_MISSING, LEAF, LEVEL_SET, THRESHOLD
from tests.engine import naive_boosting as naive
from tests.engine.test_boosting import Recorder, same_trees

SMALL = {"min_samples_leaf": 5, "random_state": 0, "categorical": "ordered"}


def told_of(levels, y, *, weights=None, order=None, n_levels=None):
    levels = np.asarray(levels, np.int64)
    return ordered_statistics(
        levels,
        int(levels.max()) if n_levels is None else n_levels,
        np.asarray(y, float),
        np.ones(len(y)) if weights is None else np.asarray(weights, float),
        np.arange(len(y)) if order is None else np.asarray(order),
    )


def make_table(n_rows=400, n_levels=30, *, seed=0, share_missing=0.1):
    """A number, a category of many levels whose means differ, one of two levels; and a target."""
    rng = np.random.default_rng(seed)
    level, effects = rng.integers(0, n_levels, n_rows), rng.normal(size=n_levels)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "c": pd.Categorical([f"l{i}" for i in level], [f"l{i}" for i in range(n_levels)]),
            "d": pd.Categorical(rng.choice(["u", "v"], n_rows)),
        }
    )
    y = X["x"].to_numpy() + effects[level] + (X["d"] == "u") * 0.5 + rng.normal(size=n_rows)
    X.loc[rng.random(n_rows) < share_missing, "c"] = None
    return X, y


def classes_of(y, n_classes):
    return np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)


def all_trees(model):
    return [tree for trees in model.estimators_ for tree in trees]


def permutation(seed, n_rows):
    """The order in which the rows of a fit are told of each other."""
    sequence = np.random.SeedSequence(seed, spawn_key=ordered.PERMUTATION_KEY)
    return np.random.default_rng(sequence).permutation(n_rows)


def test_worked_numbers():
    """Rows a1 b0 a0 a1 b1 in this order, prior 0.6."""
    told = told_of([0, 1, 0, 0, 1], [1, 0, 0, 1, 1], n_levels=2)
    assert told.prior == pytest.approx(0.6)
    np.testing.assert_allclose(told.rows, [0.6, 0.6, 0.8, 0.533333, 0.3], atol=5e-7)
    np.testing.assert_allclose(told.levels, [0.65, 0.533333, 0.6], atol=5e-7)


def test_a_row_s_own_target_is_not_in_what_it_is_told():
    rng = np.random.default_rng(0)
    levels, y = rng.integers(0, 4, 40), rng.normal(size=40)
    before = told_of(levels, y)
    for row in range(40):
        changed = y.copy()
        changed[row] += 1.0
        changed[39 - row] -= 1.0  # the same prior
        after = told_of(levels, changed)
        first = min(row, 39 - row)
        np.testing.assert_allclose(after.rows[: first + 1], before.rows[: first + 1], rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_statistics_are_those_of_the_loop(data):
    n_rows = data.draw(st.integers(1, 25))
    levels = data.draw(st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows))
    numbers = st.floats(-100, 100).map(lambda x: round(x, 3))
    y = data.draw(st.lists(numbers, min_size=n_rows, max_size=n_rows))
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=n_rows, max_size=n_rows))
    order = data.draw(st.permutations(range(n_rows)))
    told = told_of(levels, y, weights=weights, order=order, n_levels=4)
    rows, of_level = naive.ordered_statistics(levels, y, weights, order)
    np.testing.assert_allclose(told.rows, rows, rtol=1e-12, atol=1e-12)
    for level in range(5):
        expected = of_level.get(level, told.prior)
        assert told.levels[level] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("n_rows", [1, 7, 100])
def test_pieces_of_the_work_do_not_matter(n_rows, monkeypatch):
    rng = np.random.default_rng(n_rows)
    levels, y, order = rng.integers(0, 5, n_rows), rng.normal(size=n_rows), rng.permutation(n_rows)
    whole = told_of(levels, y, order=order, n_levels=5)
    monkeypatch.setattr(ordered, "ROW_CHUNK", 3)
    pieces = told_of(levels, y, order=order, n_levels=5)
    np.testing.assert_array_equal(pieces.rows, whole.rows)
    np.testing.assert_array_equal(pieces.levels, whole.levels)


def test_the_kernel_has_one_specialisation():
    for estimator, n_classes in ((Regressor, 0), (Classifier, 2), (Classifier, 3)):
        X, y = make_table(60, 5)
        weights = np.linspace(0.5, 1.5, 60)
        estimator(n_estimators=1, **SMALL).fit(X, classes_of(y, n_classes) if n_classes else y, weights)
    assert specialisations(tell_in_order) == 1


def test_every_bin_holds_a_level_and_every_class_has_its_statistic():
    X, y = make_table()
    model = Classifier()
    data = begin_fit(model, X, classes_of(y, 3), None, is_classifier=True)
    table = order_table(data, 3, 8, 0)
    assert table.columns.tolist() == [[0, 1, 2], [0, 3, 2], [0, 4, 2]]  # d has one question, and keeps it
    order = np.random.default_rng(np.random.SeedSequence(0, spawn_key=ordered.PERMUTATION_KEY)).permutation(
        400
    )
    levels = np.where(np.isnan(data.X[:, 1]), 30, data.X[:, 1]).astype(int)
    for class_idx, column in enumerate((1, 3, 4)):
        statistic = table.statistics[column]
        assert set(statistic.codes) == set(range(8))
        rows, of_level = naive.ordered_statistics(levels, data.y == class_idx, np.ones(400), order)
        values = np.array([of_level[level] for level in range(31)])
        assert np.all(np.diff(statistic.codes[np.argsort(values)]) >= 0)
        highest = [values[statistic.codes == code].max() for code in range(8)]
        lowest = [values[statistic.codes == code].min() for code in range(8)]
        cuts = (np.array(highest[:-1]) + np.array(lowest[1:])) / 2
        np.testing.assert_array_equal(table.X[:, column], np.searchsorted(cuts, rows))


def test_columns_without_a_choice_of_questions_are_left_as_they_are():
    X, y = make_table()
    X = X[["x", "d"]]
    same = {"n_estimators": 5, "min_samples_leaf": 5, "random_state": 0}
    assert same_trees(Regressor(**same).fit(X, y), Regressor(categorical="ordered", **same).fit(X, y))
    numbers = X[["x"]]
    assert same_trees(
        Regressor(**same).fit(numbers, y), Regressor(categorical="ordered", **same).fit(numbers, y)
    )


@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("growth", ["leaf", "oblivious"])
def test_stumps_are_those_of_the_naive_loop(growth, has_missing):
    X, y = make_table(120, 9, share_missing=0.2 * has_missing)
    X = X[["c"]]
    model = Regressor(
        n_estimators=6, learning_rate=0.5, max_depth=1, min_samples_leaf=1, growth=growth, random_state=4,
        categorical="ordered",
    ).fit(X, y)  # fmt: skip
    levels = [None if pd.isna(level) else level for level in X["c"]]
    rounds, losses = naive.ordered_stumps(levels, y, permutation(4, 120).tolist(), 6, 0.5)
    np.testing.assert_allclose(model.train_loss_[1:], losses, rtol=1e-12)
    table = pd.DataFrame({"c": pd.Categorical([*X["c"].cat.categories, None], X["c"].cat.categories)})
    before = np.full(len(table), y.mean())
    for after, (low, low_step, high_step) in zip(model.staged_predict(table), rounds, strict=True):
        expected = [low_step if (None if pd.isna(c) else c) in low else high_step for c in table["c"]]
        n_told = len(table) if has_missing else len(table) - 1
        np.testing.assert_allclose((after - before)[:n_told], expected[:n_told], rtol=1e-10)
        before = after


@pytest.mark.parametrize("growth", ["leaf", "depth", "oblivious"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_continuing_equals_one_fit(growth, n_classes):
    """It also tells that rows added up anew, tree by tree, go where they went when the trees were grown."""
    X, y = make_table()
    kind, y = (Classifier, classes_of(y, n_classes)) if n_classes else (Regressor, y)
    more = {"growth": growth, "init": "first_tree", "max_features": 2, "colsample_bytree": 0.7}
    noise = {"X_val": X[:50], "y_val": y[:50], "sample_weight": np.linspace(0.2, 2, 400)}
    for subsample in (1.0, 0.6):
        shared = SMALL | more | {"subsample": subsample, "max_leaf_nodes": 8}
        whole = kind(n_estimators=9, **shared).fit(X, y, **noise)
        parts = kind(n_estimators=4, warm_start=True, **shared).fit(X, y, **noise)
        for model in (parts, from_json(to_json(parts))):
            model.set_params(n_estimators=9).fit(X, y, **noise)
            assert same_trees(model, whole)
            np.testing.assert_array_equal(model.train_loss_, whole.train_loss_)
            np.testing.assert_array_equal(model.val_loss_, whole.val_loss_)


@pytest.mark.parametrize(
    ("kind", "loss"),
    [(Regressor, loss) for loss in ("absolute_error", "huber", "quantile", "poisson")]
    + [(Classifier, "exponential")],
)
def test_all_losses_continue_and_fall(kind, loss):
    X, y = make_table()
    y = np.maximum(np.round(y + 3), 0) if loss == "poisson" else y
    y = classes_of(y, 2) if kind is Classifier else y
    whole = kind(loss=loss, n_estimators=12, **SMALL).fit(X, y)
    parts = kind(loss=loss, n_estimators=5, warm_start=True, **SMALL).fit(X, y)
    parts.set_params(n_estimators=12).fit(X, y)
    assert same_trees(parts, whole)
    np.testing.assert_array_equal(parts.train_loss_, whole.train_loss_)
    assert whole.train_loss_[-1] < whole.train_loss_[0]


def test_a_model_of_another_way_with_categories_can_be_trained_on():
    X, y = make_table()
    model = Regressor(n_estimators=5, warm_start=True, **(SMALL | {"categorical": "partition"})).fit(X, y)
    model.set_params(n_estimators=9, categorical="ordered", max_bins=7).fit(X, y)
    assert np.all(np.isfinite(model.train_loss_))
    assert len(model.train_loss_) == 10


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_recorded_training_loss_never_rises(n_classes):
    X, y = make_table(seed=2)
    model = Classifier(n_estimators=40, learning_rate=1.0, **SMALL).fit(X, classes_of(y, n_classes))
    assert np.all(np.diff(model.train_loss_) <= 1e-12)
    model = Regressor(n_estimators=40, learning_rate=1.0, **SMALL).fit(X, y)
    assert np.all(np.diff(model.train_loss_) <= 1e-12)


def test_events_tell_the_curves_and_validation_is_by_the_finished_trees():
    X, y = make_table(600)
    new, watch = X[400:], Recorder()
    model = Regressor(n_estimators=15, **SMALL)
    model.fit(X[:400], y[:400], X_val=new, y_val=y[400:], monitor=watch)
    assert [event.train_loss for event in watch.rounds] == model.train_loss_.tolist()
    assert [event.val_loss for event in watch.rounds] == model.val_loss_.tolist()
    assert [event.new_trees for event in watch.rounds[1:]] == model.estimators_
    staged = [np.mean((answer - y[400:]) ** 2) / 2 for answer in model.staged_predict(new)]
    np.testing.assert_allclose(model.val_loss_[1:], staged, rtol=1e-12)
    np.testing.assert_array_equal(list(model.staged_predict(new))[-1], model.predict(new))
    np.testing.assert_array_equal(model.truncate(6).predict(new), list(model.staged_predict(new))[5])
    fractions = [event.fraction for event in watch.events]
    assert fractions == sorted(fractions)


def test_early_stopping_keeps_the_best_round():
    X, y = make_table(600)
    stopping = SMALL | {"early_stopping": True, "n_iter_no_change": 3, "learning_rate": 0.5}
    model = Regressor(n_estimators=100, **stopping).fit(X, y)
    assert model.n_estimators_ == model.best_round_ == np.argmin(model.val_loss_[1:]) + 1
    assert model.n_estimators_ < 100
    fewer = Regressor(n_estimators=model.n_estimators_, **stopping).fit(X, y)
    assert same_trees(model, fewer)


def test_a_stop_while_statistics_are_made_leaves_the_baseline():
    X, y = make_table()
    model = Regressor(**SMALL).fit(X, y, monitor=Recorder(lambda event: True))
    assert model.stopped_
    assert model.n_estimators_ == 0
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_rows_of_weight_0_are_as_absent():
    X, y = make_table()
    weights = np.random.default_rng(1).choice([0.0, 0.5, 2.0], 400)
    whole = Regressor(n_estimators=5, **SMALL).fit(X, y, weights)
    present = weights > 0
    assert same_trees(whole, Regressor(n_estimators=5, **SMALL).fit(X[present], y[present], weights[present]))


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**30])
def test_the_scale_of_the_weights_changes_nothing(scale):
    X, y = make_table()
    weights = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 400)
    one, other = (Regressor(n_estimators=5, **SMALL).fit(X, y, w) for w in (weights, scale * weights))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_threads_change_no_bit_and_the_seed_changes_the_order():
    X, y = make_table()
    one = Regressor(n_estimators=5, n_jobs=1, **SMALL).fit(X, y)
    assert same_trees(one, Regressor(n_estimators=5, n_jobs=4, **SMALL).fit(X, y))
    assert not same_trees(one, Regressor(n_estimators=5, **(SMALL | {"random_state": 1})).fit(X, y))


def test_levels_of_one_row_are_not_learned_by_heart():
    """Each row of an identifier is told the prior, so nothing is asked about it."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": pd.Categorical(np.arange(200)), "x": rng.normal(size=200)})
    y = rng.normal(size=200)
    model = Regressor(n_estimators=20, **SMALL).fit(X, y)
    assert model.feature_importances_.tolist() == [0.0, 1.0]
    by_heart = Regressor(n_estimators=20, **(SMALL | {"categorical": "partition"})).fit(X, y)
    assert by_heart.feature_importances_[0] > 0.5


def test_rare_levels_mislead_less_than_by_partition():
    losses = {"partition": [], "ordered": []}
    for seed in range(2):
        X, y = make_table(3000, 1000, seed=seed)
        for how, of_seeds in losses.items():
            model = Regressor(n_estimators=60, **(SMALL | {"categorical": how}))
            of_seeds.append(model.fit(X[:2000], y[:2000], X_val=X[2000:], y_val=y[2000:]).val_loss_.min())
    assert np.mean(losses["ordered"]) < 0.95 * np.mean(losses["partition"])


def test_trees_ask_for_levels_and_keep_the_limits():
    X, y = make_table()
    model = Regressor(n_estimators=10, **SMALL).fit(X, y)
    asked = set()
    for tree in all_trees(model):
        tree.validate()
        asked |= {(int(f), int(k)) for f, k in zip(tree.feature, tree.kind, strict=True)}
        assert tree.n_node_samples[tree.is_leaf].min() >= 5
        for node in np.flatnonzero(tree.feature == 1):
            levels = tree.levels(node)
            yes, no = np.sum(levels[:, 1] == 0), np.sum(levels[:, 1] == 1)
            if tree.kind[node] == LEVEL_SET:
                assert 0 < yes <= no  # the shorter list is the one to be read
    assert (1, LEVEL_SET) in asked
    assert {kind for _, kind in asked} <= {LEAF, THRESHOLD, LEVEL_SET, IS_MISSING}


def test_levels_that_cannot_come_to_a_node_are_not_named_there():
    X, y = make_table(2000, 12)
    (tree,) = Regressor(n_estimators=1, **SMALL).fit(X[["c"]], y).estimators_[0]
    possible = {0: set(range(12))}
    for node in np.flatnonzero(tree.kind != LEAF):  # parents first
        levels = tree.levels(node)
        assert set(levels[:, 0]) == possible[node] or tree.kind[node] == IS_MISSING
        for side, child in enumerate(tree.children(node)):
            if tree.kind[node] == LEVEL_SET:
                possible[child] = set(levels[levels[:, 1] == side, 0])
            else:
                possible[child] = possible[node] if side else set()


def test_all_nodes_of_an_oblivious_level_ask_for_the_same_levels():
    X, y = make_table(1000)
    model = Regressor(n_estimators=5, growth="oblivious", max_depth=4, max_leaf_nodes=None, **SMALL).fit(X, y)
    for tree in all_trees(model):
        for depth in range(tree.max_depth):
            nodes = np.flatnonzero((tree.depths == depth) & ~tree.is_leaf)
            asked = {(tree.feature[i], tree.levels(i).tobytes(), tree.missing_child[i]) for i in nodes}
            assert len(asked) == 1 or {feature for feature, *_ in asked} <= {0, 2}


def test_missing_is_a_level_and_unseen_levels_follow_it():
    X, y = make_table(300, 5, share_missing=0.3)
    y = y + 9.0 * X["c"].isna()
    model = Regressor(n_estimators=1, max_leaf_nodes=2, **SMALL).fit(X[["c"]], y)
    (tree,) = model.estimators_[0]
    assert tree.kind[0] == IS_MISSING
    assert tree.n_missing[0] == X["c"].isna().sum()
    new = pd.DataFrame({"c": pd.Categorical([None, "l0", "new"])})
    missing, known, unseen = model.predict(new)
    assert missing > known
    assert unseen == known  # "is it missing?" is answered with no
    y = y + 9.0 * (X["c"] == "l0")
    model = Regressor(n_estimators=1, max_leaf_nodes=2, **SMALL).fit(X[["c"]], y)
    assert model.estimators_[0][0].kind[0] == LEVEL_SET
    missing, known, unseen = model.predict(new)
    assert missing == known == unseen


@pytest.mark.parametrize("high", [["l0"], ["l1", "l2", "l3", "l4"]])
def test_where_nothing_was_missing_unknown_values_go_where_first_rows_did(high):
    """A level's first row is told the prior: so is a row of which nothing is known."""
    X, y = make_table(300, 5, share_missing=0.0)
    y = 0.1 * y + X["c"].isin(high) * 10.0
    model = Regressor(n_estimators=1, max_leaf_nodes=2, **SMALL).fit(X[["c"]], y)
    new = pd.DataFrame({"c": pd.Categorical([None, "l0", "l1", "new"])})
    missing, first, second, unseen = model.predict(new)
    prior_is_high = y.mean() > 5.0
    assert missing == unseen == (max if prior_is_high else min)(first, second)


@pytest.mark.parametrize("growth", ["leaf", "oblivious"])
def test_what_reads_trees_answers_as_the_model_does(growth):
    X, y = make_table()
    model = Classifier(n_estimators=6, growth=growth, **SMALL).fit(X, classes_of(y, 3))
    encoded = encode(X, model.features_)
    np.testing.assert_array_equal(encoded_answer(model, encoded), model.predict_proba(X))
    shares = model_curve(model, 1, [UNSEEN_LEVEL, 0.0, 7.0, np.nan], [0.5, np.nan, 1.0])
    levels = pd.Categorical(["new", "l0", "l7", None])
    rows = pd.DataFrame({"x": 0.5, "c": levels, "d": pd.Categorical(["v"] * 4, ["u", "v"])})
    np.testing.assert_allclose(shares.T, model.predict_proba(rows), rtol=1e-12)


def test_columns_with_a_direction_keep_it():
    X, y = make_table()
    model = Regressor(n_estimators=30, monotonic_cst={"x": -1}, **SMALL).fit(
        X, y - 2 * X["x"] * (X["d"] == "u")
    )
    grid = np.linspace(-3, 3, 40)
    for level in ("l0", "l7", None):
        rows = pd.DataFrame(
            {
                "x": grid,
                "c": pd.Categorical([level] * 40, X["c"].cat.categories),
                "d": pd.Categorical(["u"] * 40, ["u", "v"]),
            }
        )
        assert np.all(np.diff(model.predict(rows)) <= 1e-12)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_any_table_gives_finite_trees_that_continue(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_levels = int(rng.integers(1, 60)), int(rng.integers(1, 12))
    codes = rng.integers(-1, n_levels, n_rows)
    levels = [f"l{i}" for i in range(n_levels)]
    X = pd.DataFrame(
        {"a": pd.Categorical.from_codes(codes, levels), "b": rng.integers(0, 3, n_rows).astype(float)}
    )
    y = rng.integers(0, int(rng.integers(1, 5)), n_rows)
    kind = Classifier if seed % 2 else Regressor
    growth = ("leaf", "depth", "oblivious")[seed % 3]
    shared = {
        "growth": growth,
        "min_samples_leaf": 1,
        "max_bins": int(rng.integers(2, 9)),
        "random_state": seed,
    }
    shared |= {"categorical": "ordered", "subsample": float(rng.choice([0.7, 1.0])), "order": 1 + seed % 2}
    shared["max_bins"] = int(rng.integers(2, 9))
    weights = rng.choice([0.0, 0.5, 1.0, 7.0], n_rows)
    weights[0] = 1.0
    whole = kind(n_estimators=5, **shared).fit(X, y, weights)
    parts = kind(n_estimators=2, warm_start=True, **shared).fit(X, y, weights)
    parts.set_params(n_estimators=5).fit(X, y, weights)
    assert same_trees(parts, whole)
    for tree in all_trees(whole):
        tree.validate()
        assert np.all(np.isfinite(tree.value))
    np.testing.assert_array_equal(from_json(to_json(whole)).predict(X), whole.predict(X))


def test_another_word_is_refused_by_name():
    X, y = make_table()
    with pytest.raises(ParameterError, match="categorical is 'onehot'; enter one of 'partition', 'ordered'"):
        Regressor(categorical="onehot").fit(X, y)
