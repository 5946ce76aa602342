"""Searching settings by cross-validation, against loops and scikit-learn's own searches."""

import threading
from concurrent.futures import CancelledError

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, StratifiedKFold, validation_curve
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier as TheirTree

import engine
from engine.errors import DataError, FitStopped, ParameterError
from engine.tuning.search import Search, best_of, order_of, settings_of
from engine.tuning.tune import tune

TREE = {"max_depth": [1, 2, 4, None], "min_samples_leaf": [1, 5]}


@pytest.fixture(scope="module")
def rows():
    return make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)


def loop(make, X, y, names, values, fold_of, w=None):
    """Accuracy of every pair of settings on every fold, the plain way."""
    scores = []
    for first in values[0]:
        for second in values[1]:
            line = []
            for fold in range(fold_of.max() + 1):
                inside, outside = (fold_of >= 0) & (fold_of != fold), fold_of == fold
                model = make().set_params(**{names[0]: first, names[1]: second})
                model.fit(X[inside], y[inside], None if w is None else w[inside])
                weights = None if w is None else w[outside]
                line.append(accuracy_score(y[outside], model.predict(X[outside]), sample_weight=weights))
            scores.append(line)
    return np.array(scores)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_scores_are_those_of_a_loop(rows, is_weighted):
    X, y = rows
    w = np.arange(len(y)) % 4.0 if is_weighted else None
    found = tune(engine.DecisionTreeClassifier(random_state=0), X, y, TREE, w, folds=4)
    wanted = loop(
        lambda: engine.DecisionTreeClassifier(random_state=0), X, y, tuple(TREE), tuple(TREE.values()),
        found.folds, w,
    )  # fmt: skip
    np.testing.assert_array_equal(found.fold_scores, wanted)
    np.testing.assert_allclose(found.means, wanted.mean(axis=1))
    np.testing.assert_allclose(found.standard_errors, wanted.std(axis=1, ddof=1) / 2)
    assert found.best == int(np.argmax(wanted.mean(axis=1)))
    assert found.shape == (4, 2)
    assert not found.stopped
    assert (found.folds[w == 0] == -1).all() if is_weighted else (found.folds >= 0).all()


def test_folds_are_dealt_by_class_and_settings_chosen_as_by_grid_search(rows):
    X, y = rows
    found = tune(
        TheirTree(random_state=0), X, y, TREE, folds=StratifiedKFold(5, shuffle=True, random_state=3)
    )
    theirs = GridSearchCV(
        TheirTree(random_state=0), TREE, cv=StratifiedKFold(5, shuffle=True, random_state=3)
    )
    theirs.fit(X, y)
    np.testing.assert_allclose(found.means, theirs.cv_results_["mean_test_score"])
    assert found.settings[found.best] == theirs.best_params_
    assert found.settings == theirs.cv_results_["params"]
    counts = [np.bincount(y[tune(TheirTree(), X, y, {"max_depth": [1]}).folds == k]) for k in range(5)]
    assert np.ptp(counts, axis=0).max() <= 1


def test_one_parameter_is_scikit_learns_validation_curve(rows):
    X, y = rows
    depths = [1, 3, 5]
    found = tune(
        TheirTree(random_state=0), X, y, {"max_depth": depths}, folds=KFold(3), scoring="neg_log_loss"
    )
    _, theirs = validation_curve(
        TheirTree(random_state=0), X, y, param_name="max_depth", param_range=depths, cv=KFold(3),
        scoring="neg_log_loss",
    )  # fmt: skip
    np.testing.assert_allclose(found.fold_scores, theirs)


def test_numbers_frames_and_a_callable_score():
    X, y = make_regression(60, 3, noise=5.0, random_state=0)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["d"] = pd.Categorical(np.where(y > 0, "up", "down"))
    score = get_scorer("neg_mean_squared_error")
    found = tune(engine.DecisionTreeRegressor(random_state=0), frame, pd.Series(y), {"max_depth": [1, 3]},
                 folds=np.arange(60) % 3, scoring=score)  # fmt: skip
    for at, depth in enumerate((1, 3)):
        for fold in range(3):
            inside = np.arange(60) % 3 != fold
            model = engine.DecisionTreeRegressor(random_state=0, max_depth=depth).fit(
                frame[inside], y[inside]
            )
            assert found.fold_scores[at, fold] == score(model, frame[~inside], y[~inside])


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
def test_any_number_of_threads_gives_the_same_bits(rows, n_jobs):
    """Open seeds too: all settings draw alike on a fold."""
    X, y = rows
    grid = {"max_features": [1, 2, 6]}
    forest = engine.RandomForestClassifier(n_estimators=5, random_state=None)
    found, again = (tune(forest, X, y, grid, random_state=1, n_jobs=n) for n in (n_jobs, None))
    np.testing.assert_array_equal(found.fold_scores, again.fold_scores)
    np.testing.assert_array_equal(found.folds, again.folds)
    other = tune(forest, X, y, grid, folds=found.folds, random_state=2)
    assert np.any(other.fold_scores != found.fold_scores)


def test_groups_are_kept_whole(rows):
    X, y = rows
    groups = np.arange(len(y)) // 4
    for model, target in ((TheirTree(), y), (engine.DecisionTreeRegressor(), y + 0.5)):
        folds = tune(model, X, target, {"max_depth": [1]}, groups=groups, folds=3).folds
        assert all(len(set(folds[groups == group])) == 1 for group in set(groups))
        assert set(folds) == {0, 1, 2}


def test_rare_classes_do_not_keep_the_folds_from_being_dealt(rows):
    X, _ = rows
    y = np.where(np.arange(120) < 2, "rare", "frequent")
    found = tune(engine.DecisionTreeClassifier(), X, y, {"max_depth": [1, 2]})
    assert found.is_done.all()


class Picky(ClassifierMixin, BaseEstimator):
    """Refuses one setting, and answers nothing usable with another."""

    def __init__(self, way="fine"):
        self.way = way

    def fit(self, X, y):
        if self.way == "refuses":
            raise ValueError("this way leads nowhere")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        return np.nan if self.way == "not a number" else super().score(X, y)


def test_settings_that_fail_are_kept_with_the_reason_and_the_others_stay(rows):
    found = tune(Picky(), *rows, {"way": ["refuses", "fine", "not a number"]})
    assert found.errors == {
        0: "fold 1 of 5: this way leads nowhere",
        2: "fold 1 of 5: its score is nan",
    }
    assert found.is_done.tolist() == [False, True, False]
    assert found.best == 1
    assert found.n_over == 3
    assert np.isnan(found.means[[0, 2]]).all()
    assert not found.stopped
    nothing = tune(Picky(), *rows, {"way": ["refuses"]})
    assert nothing.best is nothing.one_standard_error is None
    illegal = tune(engine.DecisionTreeClassifier(), *rows, {"max_depth": [0, 2]})
    assert "max_depth is 0" in illegal.errors[0]


# ---- the choices -------------------------------------------------------------------------------


def search_of(scores, values, simpler):
    names = tuple("ab"[: len(values)])
    ways = dict(zip(names, simpler, strict=True))
    return Search(names, values, np.asarray(scores, float), np.arange(2), {}, ways)


def test_the_simplest_within_one_standard_error_is_chosen():
    spread = np.array([-1.0, 1.0])  # a standard error of 1
    means = np.array([6.0, 9.1, 10.0, 9.0, 8.9])
    scores = means[:, None] + spread
    smaller = search_of(scores, ((1, 2, 3, 4, None),), ["smaller"])
    assert (smaller.best, smaller.one_standard_error) == (2, 1)
    larger = search_of(scores, ((1, 2, 3, 4, None),), ["larger"])
    assert (larger.best, larger.one_standard_error) == (2, 3)
    assert search_of(scores, ((1, 2, 3, 4, None),), [""]).one_standard_error is None
    assert search_of(scores, (("x", "y", 3, 4, None),), ["smaller"]).one_standard_error is None


def test_of_two_parameters_both_orders_count():
    values = ((1, 2, 3), (10, 20, 30))
    means = np.array([9.5, 5, 5, 5, 9.5, 9.8, 5, 5, 10.0])
    found = search_of(means[:, None] + np.array([-1.0, 1.0]), values, ["smaller", "larger"])
    np.testing.assert_allclose(found.complexity(), [1, 0.5, 0, 1.5, 1, 0.5, 2, 1.5, 1])
    assert found.best == 8
    assert found.one_standard_error == 5  # a = 2, b = 30
    of_one = search_of(
        means[:, None] + np.array([-1.0, 1.0]), (("x", "y", "z"), (10, 20, 30)), ["", "larger"]
    )
    assert of_one.one_standard_error == 8


def test_no_limit_is_the_largest():
    np.testing.assert_array_equal(order_of([None, 5, 1], "smaller"), [1, 0.5, 0])
    np.testing.assert_array_equal(order_of([0.1, 1.0, 10.0], "larger"), [1, 0.5, 0])
    np.testing.assert_array_equal(order_of([3], "larger"), [0])
    assert order_of([True, False], "larger") is None


# ---- being watched -----------------------------------------------------------------------------


class Watcher:
    """Keeps events; says stop at the first that `is_enough` holds of."""

    def __init__(self, is_enough=lambda _event: False):
        self.events, self._is_enough = [], is_enough

    def on_iteration(self, event):
        self.events.append(event)
        return self._is_enough(event)


def test_results_come_while_it_runs(rows):
    watcher = Watcher()
    whole = tune(engine.DecisionTreeClassifier(), *rows, {"max_depth": [1, 2, 3]}, folds=4, monitor=watcher)
    told = {event.iteration: event for event in watcher.events if event.phase == "tuning"}
    assert list(told) == list(range(13))
    assert told[0].message == "setting 1 of 3, fold 1 of 4"
    assert told[6].message == "setting 2 of 3, fold 3 of 4"
    assert {event.n_iterations for event in told.values()} == {12}
    fractions = [event.fraction for event in watcher.events]
    assert fractions[-1] == 1.0
    for n_over, event in told.items():
        search = event.so_far()
        assert search.n_over == n_over // 4
        np.testing.assert_array_equal(search.fold_scores[: n_over // 4], whole.fold_scores[: n_over // 4])
        assert np.isnan(search.fold_scores[n_over // 4 :]).all()


@pytest.mark.parametrize("n_jobs", [1, None])
def test_a_stop_keeps_the_settings_that_are_done(rows, n_jobs):
    watcher = Watcher(lambda event: event.iteration >= 6)
    found = tune(engine.DecisionTreeClassifier(), *rows, {"max_depth": [1, 2, 3]}, folds=4, monitor=watcher,
                 n_jobs=n_jobs)  # fmt: skip
    whole = tune(engine.DecisionTreeClassifier(), *rows, {"max_depth": [1, 2, 3]}, folds=4)
    assert found.stopped
    assert found.is_done.tolist() == [True, False, False]
    assert found.n_over == 1
    np.testing.assert_array_equal(found.fold_scores[0], whole.fold_scores[0])
    folds = np.arange(120) % 3
    nothing = tune(
        engine.DecisionTreeClassifier(), *rows, TREE, folds=folds, monitor=Watcher(lambda _e: True)
    )
    assert nothing.stopped
    assert nothing.n_over == 0
    assert nothing.best is None


def test_a_stop_while_rows_are_dealt_leaves_nothing(rows):
    with pytest.raises(FitStopped):
        tune(engine.DecisionTreeClassifier(), *rows, TREE, monitor=Watcher(lambda _event: True))


@pytest.mark.parametrize("n_jobs", [1, None])
def test_a_stop_reaches_into_a_long_fit(rows, n_jobs):
    """A million rounds would not end; the fraction of the fit under way is told meanwhile."""
    boosting = engine.GradientBoostingClassifier(n_estimators=1_000_000, min_samples_leaf=1)
    watcher = Watcher(lambda event: event.fraction > 0)
    found = tune(boosting, *rows, {"max_depth": [1, 2]}, folds=2, monitor=watcher, n_jobs=n_jobs)
    assert found.stopped
    assert found.n_over == 0


class Waits(ClassifierMixin, BaseEstimator):
    """Cannot be stopped: fits until it is let go."""

    let_go = threading.Event()

    def __init__(self, way=0):
        self.way = way

    def __deepcopy__(self, memo):
        return clone(self)

    def fit(self, X, y):
        assert self.let_go.wait(60)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_learner_that_cannot_stop_is_not_waited_for(rows):
    asked = []

    def is_enough(event):
        asked.extend([event] * (event.phase == "tuning"))
        return len(asked) > 2

    Waits.let_go.clear()
    try:
        found = tune(Waits(), *rows, {"way": [1, 2]}, monitor=Watcher(is_enough), n_jobs=2)
        assert not Waits.let_go.is_set()
    finally:
        Waits.let_go.set()
    assert found.stopped


def test_what_ends_the_monitor_ends_the_search(rows):
    def cancel(event):
        if event.iteration == 1:
            raise CancelledError
        return False

    with pytest.raises(CancelledError):
        tune(engine.DecisionTreeClassifier(), *rows, TREE, monitor=Watcher(cancel))


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({}, "0 parameters; enter one or two"),
        ({"a": [1], "b": [1], "c": [1]}, "3 parameters; enter one or two"),
        ({"depth": [1]}, "names 'depth'; choose one of .*max_depth"),
        ({"max_depth": []}, "no value of max_depth"),
        ({"max_depth": [1, 2, 1]}, "max_depth = 1 twice"),
    ],
)
def test_grids_that_are_none_are_refused(rows, grid, message):
    with pytest.raises(ParameterError, match=message):
        tune(engine.DecisionTreeClassifier(), *rows, grid)


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"folds": 1}, ParameterError, "folds is 1; enter a whole number from 2"),
        ({"folds": ShuffleSplit(3)}, ParameterError, "leaves every row out once"),
        ({"folds": "five"}, ParameterError, "enter how many, a splitter"),
        ({"folds": np.arange(3)}, DataError, "3 entries and X 120 rows"),
        ({"folds": np.zeros(120, int)}, DataError, "fewer than two folds"),
        ({"folds": 121}, DataError, "120 rows for 121 folds"),
        ({"folds": StratifiedKFold(100)}, DataError, "cannot be dealt into folds"),
        ({"groups": np.zeros(120)}, DataError, "1 groups for 5 folds"),
        ({"sample_weight": np.ones(3)}, DataError, "sample_weight has shape"),
        ({"simpler": {"max_depth": "less"}}, ParameterError, "simpler is 'less' for max_depth"),
    ],
)
def test_folds_and_weights_that_do_not_fit_are_refused(rows, more, error, message):
    with pytest.raises(error, match=message):
        tune(engine.DecisionTreeClassifier(), *rows, {"max_depth": [1]}, **more)


def test_weights_without_use_are_refused(rows):
    with pytest.raises(ParameterError, match="takes no sample_weight"):
        tune(KNeighborsClassifier(), *rows, {"n_neighbors": [1]}, np.ones(120))


def test_a_maker_chooses_the_estimator_of_a_setting(rows):
    made = tune(
        engine.DecisionTreeClassifier(random_state=0), *rows, {"size": ["small", "large"]},
        make=lambda setting: TheirTree(max_depth={"small": 1, "large": 5}[setting["size"]], random_state=0),
    )  # fmt: skip
    plain = tune(TheirTree(random_state=0), *rows, {"max_depth": [1, 5]}, folds=made.folds)
    np.testing.assert_array_equal(made.fold_scores, plain.fold_scores)


def test_the_best_of_scores_is_the_first_of_equals_and_never_missing():
    assert best_of(np.array([np.nan, 0.5, -np.inf, 0.7, 0.7])) == 3
    assert best_of(np.array([-np.inf, np.nan])) == 0
    assert best_of(np.array([np.nan, np.nan])) is None


def test_settings_of_a_grid_change_the_last_parameter_first():
    told = settings_of({"a": (1, 2), "b": ("x", "y")})
    assert [tuple(setting.values()) for setting in told] == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]


def test_layers_are_ordered_by_their_units():
    np.testing.assert_allclose(order_of([(64, 64), (), (16,), (100,)], "smaller"), [1, 0, 1 / 3, 2 / 3])
    assert order_of([("a",), (1,)], "smaller") is None
