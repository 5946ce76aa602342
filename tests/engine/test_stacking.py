"""Stacks: out-of-fold answers against a loop, cases C27 and C28, folds, leakage, tuning inside, stops."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from engine import (
    DataError,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    ParameterError,
    RandomForestClassifier,
    StackingClassifier,
    StackingRegressor,
)
from engine.export.json import from_json, to_json
from engine.folds import deal_folds
from engine.stacking.leakage import check_leakage
from engine.stacking.out_of_fold import FoldFit
from engine.surface import encoded_answer

LOGISTIC = LogisticRegression()


def table(n_rows=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.4 * rng.normal(size=n_rows), [-0.5, 0.6])]


def bases():
    return [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]


class StopAfter:
    def __init__(self, n_events):
        self.n_left = n_events

    def on_iteration(self, _event):
        self.n_left -= 1
        return self.n_left < 0


def test_out_of_fold_answers_are_those_of_a_loop():
    X, y = table()
    stack = StackingClassifier(bases(), LOGISTIC, cv=4, random_state=0).fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    expected = np.empty((90, 2, 3))
    for fold in range(4):
        outside = stack.oof_fold_[:, 0] == fold
        for at, (_, model) in enumerate(bases()):
            expected[outside, at] = model.fit(X[~outside], codes[~outside]).predict_proba(X[outside])
    np.testing.assert_array_equal(stack.oof_predictions_, expected)
    meta = LogisticRegression().fit(expected.reshape(90, -1), codes)
    np.testing.assert_array_equal(stack.final_estimator_.coef_, meta.coef_)
    on_all = np.hstack([model.fit(X, codes).predict_proba(X) for _, model in bases()])
    np.testing.assert_allclose(stack.predict_proba(X), meta.predict_proba(on_all))
    np.testing.assert_array_equal(stack.base_answers(X), on_all)
    assert stack.meta_names_[:4] == ("bayes: a", "bayes: b", "bayes: c", "tree: a")
    scores = (expected.argmax(axis=2) == codes[:, None]).mean(axis=0)
    np.testing.assert_allclose(stack.oof_scores_, scores)


def test_the_stacks_own_out_of_fold_score_is_that_of_a_loop():
    X, y = table()
    stack = StackingClassifier(bases(), LOGISTIC, cv=3, random_state=2).fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    columns, fold_of = stack.oof_predictions_.reshape(90, -1), stack.oof_fold_[:, 0]
    n_right = 0
    for fold in range(3):
        inside = fold_of != fold
        meta = LogisticRegression().fit(columns[inside], codes[inside])
        n_right += np.count_nonzero(meta.predict(columns[~inside]) == codes[~inside])
    assert stack.oof_score_ == pytest.approx(n_right / 90)


def test_numbers_are_stacked():
    X, _ = table()
    y = X[:, 0] ** 2 + X[:, 1]
    named = [("line", LinearRegression()), ("knn", KNeighborsRegressor(4))]
    stack = StackingRegressor(named, Ridge(), cv=3, random_state=1).fit(X, y)
    expected = np.empty((90, 2))
    for fold in range(3):
        outside = stack.oof_fold_[:, 0] == fold
        for at, (_, model) in enumerate(named):
            expected[outside, at] = model.fit(X[~outside], y[~outside]).predict(X[outside])
    np.testing.assert_array_equal(stack.oof_predictions_[:, :, 0], expected)
    assert stack.score(X, y) > max(stack.oof_scores_)
    sizes = np.abs(stack.final_estimator_.coef_) * expected.std(axis=0)
    np.testing.assert_allclose(stack.base_weights_, sizes / sizes.sum())
    assert stack.meta_names_ == ("line", "knn")


def test_repeats_are_kept_and_averaged():
    X, y = table()
    stack = StackingClassifier(bases(), LOGISTIC, cv=3, n_repeats=2, random_state=0).fit(X, y)
    assert stack.oof_repeats_.shape == (2, 90, 2, 3)
    assert np.any(stack.oof_fold_[:, 0] != stack.oof_fold_[:, 1])
    np.testing.assert_array_equal(stack.oof_predictions_, stack.oof_repeats_.mean(axis=0))
    assert check_leakage(stack).n_fits == 2 * 3 * 2
    assert check_leakage(stack).is_clean


@pytest.mark.parametrize("seed", range(5))
def test_coin_flips_stay_coin_flips(seed):
    """Case C27."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(200, 5)), rng.integers(0, 2, 200)
    stack = StackingClassifier(
        [("tree", DecisionTreeClassifier(random_state=0))], LOGISTIC, cv=5, random_state=seed
    ).fit(X, y)
    assert stack.estimators_[0].predict(X).tolist() == y.tolist()  # in sample it knows all
    assert 0.40 <= stack.oof_scores_[0] <= 0.60
    assert 0.35 <= stack.oof_score_ <= 0.65
    report = check_leakage(stack)
    assert (report.n_rows, report.n_fits, report.n_seen_rows) == (200, 5, 0)
    for fit in stack.fold_rows_:
        assert np.all(stack.oof_fold_[fit.rows, fit.repeat] != fit.fold)
        assert np.all(stack.oof_fold_[fit.asked, fit.repeat] == fit.fold)


def test_a_class_that_a_fold_lacks_keeps_its_column():
    """Case C28."""
    X, y = np.arange(13.0)[:, None], ["a"] * 6 + ["b"] * 6 + ["c"]
    named = [("bayes", GaussianNB(var_smoothing=1e-3)), ("knn", KNeighborsClassifier(3)), ("svm", SVC())]
    for folds in ("stratified", "plain"):
        stack = StackingClassifier(named, LOGISTIC, cv=3, folds=folds, random_state=0).fit(X, y)
        for base in range(3):
            said = stack.oof_predictions_[:, base]
            assert said.shape == (13, 3)
            np.testing.assert_allclose(said.sum(axis=1), 1.0)
            assert said[12, 2] == 0.0
        assert stack.notes_ == ("class c has 1 row, fewer than 3 folds",)
        assert stack.predict_proba(X).shape == (13, 3)


def test_the_default_models_keep_the_column_of_a_class_that_a_fold_lacks():
    """Case C28."""
    X, y = np.arange(13.0)[:, None], ["a"] * 6 + ["b"] * 6 + ["c"]
    stack = StackingClassifier(cv=3, random_state=0).fit(X, y)
    assert stack.oof_predictions_.shape == (13, 2, 3)
    np.testing.assert_allclose(stack.oof_predictions_.sum(axis=2), 1.0)
    np.testing.assert_array_equal(stack.oof_predictions_[12, :, 2], 0.0)
    assert stack.notes_[0] == "class c has 1 row, fewer than 3 folds"


def test_a_declared_class_without_rows_has_no_share():
    """Case C23 (f)."""
    X = np.arange(1.0, 7.0)[:, None]
    y = pd.Categorical([0, 1, 2, 4, 5, 5], categories=range(6))
    stack = StackingClassifier([("knn", KNeighborsClassifier(1))], LOGISTIC, cv=2, random_state=0).fit(X, y)
    assert stack.classes_.tolist() == list(range(6))
    assert np.all(stack.predict_proba(X)[:, 3] == 0.0)
    assert np.all(stack.oof_predictions_[:, :, 3] == 0.0)


@pytest.mark.parametrize(
    "y",
    [
        [3, 3, 5, 5, 9, 9],
        ["no"] * 3 + ["yes"] * 3,
        [False] * 3 + [True] * 3,
        [1.0, 1.0, 2.5, 2.5, 7.25, 7.25],
    ],
)
def test_labels_of_models_that_know_whole_numbers_alone_come_back(y):
    """Case C23, with models that would refuse fractions as labels."""
    X = np.arange(1.0, 7.0)[:, None]
    meta = LogisticRegression(C=1e4)
    stack = StackingClassifier([("knn", KNeighborsClassifier(1))], meta, cv=2, random_state=0).fit(X, y)
    assert stack.classes_.tolist() == sorted(set(y))
    assert set(stack.predict(X).tolist()) <= set(y)


def test_groups_stay_together():
    X, y = table()
    groups = np.repeat(np.arange(30), 3)
    plain = StackingClassifier(bases(), LOGISTIC, cv=3, random_state=0).fit(X, y)
    assert check_leakage(plain, groups).n_shared_groups > 0
    assert not check_leakage(plain, groups).is_clean
    stack = StackingClassifier(bases(), LOGISTIC, cv=3, folds="grouped", random_state=0)
    stack.fit(X, y, groups=groups)
    assert check_leakage(stack, groups).n_shared_groups == 0
    assert check_leakage(stack, groups).is_clean
    with pytest.raises(ParameterError, match="pass groups"):
        stack.fit(X, y)
    with pytest.raises(DataError, match="90 rows but 5 groups"):
        stack.fit(X, y, groups=groups[:5])
    with pytest.raises(DataError, match="2 groups for 3 folds"):
        stack.fit(X, y, groups=groups > 10)


def test_the_leakage_check_finds_a_row_that_was_seen_and_one_that_was_not_asked():
    X, y = table()
    stack = StackingClassifier(bases(), LOGISTIC, cv=3, random_state=0).fit(X, y)
    first, *others = stack.fold_rows_
    stack.fold_rows_ = (first._replace(rows=np.append(first.rows, first.asked[0])), *others)
    assert check_leakage(stack).n_seen_rows == 1
    stack.fold_rows_ = tuple(
        FoldFit(*fit[:4], fit.asked[fit.asked != 7], fit.settings) for fit in (first, *others)
    )
    report = check_leakage(stack)
    assert (report.n_seen_rows, report.n_unasked_rows, report.is_clean) == (0, 1, False)


@pytest.mark.parametrize("kind", ["plain", "stratified"])
@pytest.mark.parametrize("n_rows", [5, 13, 60])
def test_folds_are_of_equal_size_and_classes_spread_evenly(kind, n_rows):
    y = np.sort(np.random.default_rng(0).integers(0, 3, n_rows)).astype(float)
    fold_of = deal_folds(y, 5, kind, np.random.SeedSequence(1))
    sizes = np.bincount(fold_of, minlength=5)
    assert sizes.max() - sizes.min() <= 1
    if kind == "stratified":
        for label in range(3):
            of_class = np.bincount(fold_of[y == label], minlength=5)
            assert of_class.max() - of_class.min() <= 1


def test_rows_of_no_weight_have_no_out_of_fold_answer():
    X, y = table()
    weights = np.where(np.arange(90) % 9 == 0, 0.0, 2.0)
    stack = StackingClassifier(bases(), LOGISTIC, cv=3, random_state=0).fit(X, y, weights)
    out = weights == 0
    assert np.isnan(stack.oof_predictions_[out]).all()
    assert np.isfinite(stack.oof_predictions_[~out]).all()
    assert np.all(stack.oof_fold_[out] == -1)
    assert check_leakage(stack).n_rows == np.count_nonzero(~out)
    with pytest.raises(ParameterError, match="KNeighborsClassifier takes none"):
        StackingClassifier([("knn", KNeighborsClassifier())], LOGISTIC).fit(X, y, weights)


def test_settings_are_chosen_inside_each_fits_rows_as_a_grid_search_does():
    X, y = table(60)
    grid = {"n_neighbors": [1, 5, 15], "weights": ["uniform", "distance"]}
    stack = StackingClassifier(
        [("knn", KNeighborsClassifier())], LOGISTIC, cv=3, grids={"knn": grid}, random_state=0
    ).fit(X, y)
    codes = np.unique(y, return_inverse=True)[1]
    n_looked = 0
    for task, fit in enumerate(stack.fold_rows_, start=1):  # task 0 is the fit on all rows
        seed = np.random.SeedSequence(0, spawn_key=(task, 4))
        fold_of = deal_folds(codes[fit.rows].astype(float), 3, "stratified", seed)
        search = GridSearchCV(KNeighborsClassifier(), grid, cv=PredefinedSplit(fold_of))
        search.fit(X[fit.rows], codes[fit.rows])
        scores = search.cv_results_["mean_test_score"]
        chosen = search.cv_results_["params"].index(fit.settings)
        assert scores[chosen] == pytest.approx(scores.max())
        best = KNeighborsClassifier(**fit.settings).fit(X[fit.rows], codes[fit.rows])
        np.testing.assert_array_equal(stack.oof_predictions_[fit.asked, 0], best.predict_proba(X[fit.asked]))
        n_looked += 1
    assert n_looked == 3
    assert stack.estimators_[0].get_params()["n_neighbors"] == stack.settings_[0]["n_neighbors"]
    for wrong, told in (({"svm": {}}, "grids names 'svm'"), ({"knn": {"depth": [1]}}, "names 'depth'")):
        with pytest.raises(ParameterError, match=told):
            stack.set_params(grids=wrong).fit(X, y)


def test_the_meta_model_may_see_the_tables_columns():
    X, y = table()
    frame = pd.DataFrame(X, columns=["one", "bayes: a", "three"]).assign(
        colour=pd.Categorical(np.where(X[:, 1] > 0, "red", "blue"))
    )
    named = [("bayes", DecisionTreeClassifier(max_depth=2)), ("tree", DecisionTreeClassifier(max_depth=3))]
    meta = DecisionTreeClassifier(max_depth=4)
    stack = StackingClassifier(named, meta, cv=3, passthrough=True, random_state=0).fit(frame, y)
    assert stack.final_estimator_.n_features_in_ == 4 + 6
    assert stack.final_estimator_.feature_names_in_[4] == "bayes: a "
    assert stack.final_estimator_.features_[3].levels == ("blue", "red")
    encoded = np.column_stack([X, X[:, 1] > 0])
    np.testing.assert_array_equal(encoded_answer(stack, encoded), stack.predict_proba(frame))
    arrays = StackingClassifier(named, meta, cv=3, passthrough=True, random_state=0).fit(X, y)
    assert arrays.final_estimator_.n_features_in_ == 3 + 6


def test_the_same_bits_for_any_number_of_threads_and_inside_another():
    X, y = table()
    inner = StackingClassifier(bases(), LOGISTIC, cv=2)
    named = [("inner", inner), ("forest", RandomForestClassifier(n_estimators=3))]
    one, two, eight = (
        StackingClassifier(named, LOGISTIC, cv=3, n_jobs=n, random_state=0).fit(X, y) for n in (1, 2, 8)
    )
    for other in (two, eight):
        np.testing.assert_array_equal(one.oof_predictions_, other.oof_predictions_)
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_a_stop_after_the_base_models_leaves_their_average():
    X, y = table()
    codes = np.unique(y, return_inverse=True)[1]
    stack = StackingClassifier(bases(), LOGISTIC, cv=3, n_jobs=1, random_state=0)
    stopped = []
    for n_events in range(1, 40):
        stack.fit(X, y, monitor=StopAfter(n_events))
        stopped.append(stack.stopped_)
        if stack.stopped_ and len(stack.estimators_) == 2:
            expected = np.mean([model.fit(X, codes).predict_proba(X) for _, model in bases()], axis=0)
            np.testing.assert_allclose(stack.predict_proba(X), expected)
            assert stack.final_estimator_ is None
            assert np.isnan(stack.oof_score_)
            with pytest.raises(DataError, match="stopped"):
                check_leakage(stack)
            break
    assert stopped[-1]


def test_progress_is_nested():
    X, y = table(400)
    events = []

    class Record:
        def on_iteration(self, event):
            events.append(event)
            return False

    named = [("boost", GradientBoostingClassifier(n_estimators=30, min_samples_leaf=5))]
    StackingClassifier(named, LOGISTIC, cv=2, n_jobs=1, random_state=0).fit(X, y, monitor=Record())
    fractions = [event.fraction for event in events]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert len(set(fractions)) > 40, "the base models' own rounds move it"
    assert {event.member for event in events} == {None, 0}
    assert "boost, fold 2" in {event.message for event in events}


def test_two_classes_have_one_column_a_model():
    X, y = table()
    two = np.where(y == "a", "a", "b")
    stack = StackingClassifier(bases(), LOGISTIC, cv=3, random_state=0).fit(X, two)
    assert stack.meta_names_ == ("bayes: b", "tree: b")
    assert stack.final_estimator_.coef_.shape == (1, 2)
    scaled = StackingClassifier(
        bases(), make_pipeline(StandardScaler(), LogisticRegression()), cv=3, random_state=0
    )
    scaled.fit(X, two)
    np.testing.assert_allclose(
        scaled.base_weights_,
        np.abs(scaled.final_estimator_[-1].coef_[0]) / np.abs(scaled.final_estimator_[-1].coef_).sum(),
    )
    trees = StackingClassifier(bases(), DecisionTreeClassifier(max_depth=2), cv=3, random_state=0).fit(X, two)
    assert not hasattr(trees, "base_weights_")


def test_fewer_rows_than_folds_is_told():
    with pytest.raises(DataError, match="3 rows for 5 folds"):
        StackingClassifier(bases(), LOGISTIC).fit(np.arange(3.0)[:, None], [0, 1, 1])


def test_fits_of_one_class_answer_it():
    X, y = np.arange(8.0)[:, None], [0] * 7 + [1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stack = StackingClassifier([("svm", SVC())], LOGISTIC, cv=4, random_state=0).fit(X, y)
    assert stack.oof_predictions_[7, 0].tolist() == [1.0, 0.0]
    assert StackingRegressor([("tree", DecisionTreeRegressor())], Ridge(), cv=2).fit(X, y).predict(
        X
    ).shape == (8,)


@pytest.mark.parametrize("passthrough", [False, True])
def test_a_stack_of_own_learners_is_a_model_file(passthrough):
    X, y = table()
    frame = pd.DataFrame(X, columns=["one", "two", "three"]).assign(
        colour=pd.Categorical(np.where(X[:, 1] > 0, "red", "blue"))
    )
    named = [
        ("forest", RandomForestClassifier(n_estimators=3)),
        ("inner", StackingClassifier([("tree", DecisionTreeClassifier())], DecisionTreeClassifier(), cv=2)),
    ]
    meta = GradientBoostingClassifier(n_estimators=5, min_samples_leaf=3)
    stack = StackingClassifier(named, meta, cv=3, passthrough=passthrough, random_state=0).fit(frame, y)
    text = to_json(stack)
    loaded = from_json(text)
    np.testing.assert_array_equal(loaded.predict_proba(frame), stack.predict_proba(frame))
    assert repr(loaded.get_params()) == repr(stack.get_params())
    assert to_json(loaded) == text
    assert loaded.oof_scores_.tolist() == stack.oof_scores_.tolist()
    content = json.loads(text)
    content["fitted"]["estimators_"]["list"][0]["model"]["fitted"]["classes_"]["array"] = [0, 1, 7]
    with pytest.raises(DataError, match="damaged"):
        from_json(json.dumps(content))
    content["fitted"]["estimators_"]["list"][0]["model"]["estimator"] = "os.system"
    with pytest.raises(DataError, match="does not know"):
        from_json(json.dumps(content))


def test_a_stack_of_other_packages_models_is_no_model_file():
    X, y = table()
    stack = StackingClassifier(bases(), LOGISTIC, cv=3, random_state=0).fit(X, y)
    with pytest.raises(DataError, match="cannot hold"):
        to_json(stack)


def test_a_model_file_keeps_the_settings_that_were_chosen_inside():
    X, y = table()
    stack = StackingClassifier(
        bases()[1:],
        DecisionTreeClassifier(max_depth=2),
        cv=3,
        grids={"tree": {"max_depth": [1, 4]}},
        random_state=0,
    ).fit(X, y)
    assert stack.settings_ == ({"max_depth": 4},)
    again = from_json(to_json(stack))
    assert again.settings_ == stack.settings_
    assert again.grids == stack.grids
