"""One contract for every public estimator (contracts D1, D9, D25; architecture decisions 2 and 4)."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import engine
from engine.base import check_X
from engine.dtypes import UNSEEN_LEVEL
from engine.surface import model_curve
from engine.tree.inspect import decision_path, merged_rule
from engine.tree.structure import IS_MISSING


def members(kind):
    """Names and models of which others are made."""
    tree, forest = getattr(engine, f"DecisionTree{kind}"), getattr(engine, f"RandomForest{kind}")
    return [("tree", tree()), ("forest", forest(n_estimators=3))]


COMPOSED = {
    "AveragingClassifier": {"estimators": members("Classifier")},
    "AveragingRegressor": {"estimators": members("Regressor")},
    "StackingClassifier": {
        "estimators": members("Classifier"), "final_estimator": LogisticRegression(C=100.0), "cv": 2
    },
    "StackingRegressor": {"estimators": members("Regressor"), "final_estimator": Ridge(), "cv": 2},
}  # fmt: skip
SMALL = {
    "DecisionTreeClassifier": {},
    "DecisionTreeRegressor": {},
    "RandomForestClassifier": {"n_estimators": 6},
    "RandomForestRegressor": {"n_estimators": 6},
    "ExtraTreesClassifier": {"n_estimators": 6},
    "ExtraTreesRegressor": {"n_estimators": 6},
    "BaggingClassifier": {"n_estimators": 6},
    "BaggingRegressor": {"n_estimators": 6},
    "GradientBoostingClassifier": {"n_estimators": 6, "min_samples_leaf": 2},
    "GradientBoostingRegressor": {"n_estimators": 6, "min_samples_leaf": 2},
    "AdaBoostClassifier": {"n_estimators": 6},
    "AdaBoostRegressor": {"n_estimators": 6},
    **COMPOSED,
    "NearestNeighborsClassifier": {},
    "NearestNeighborsRegressor": {},
    "SVMClassifier": {},
    "SVMRegressor": {},
    "LogisticClassifier": {},
    "RidgeRegressor": {},
    "PolynomialRegressor": {},
    "NaiveBayesClassifier": {},
    "PerceptronClassifier": {},
    "DeepEnsembleClassifier": {
        "n_estimators": 2, "hidden_layer_sizes": (16,), "learning_rate": 0.02, "max_epochs": 20
    },
    "DeepEnsembleRegressor": {
        "n_estimators": 2, "hidden_layer_sizes": (16,), "learning_rate": 0.02, "max_epochs": 20
    },
}  # fmt: skip
NAMES = list(SMALL)
CLASSIFIERS = [name for name in NAMES if "Classifier" in name]
OF_TREES = [name for name in NAMES if getattr(engine, name).combination != "rows"]
DRAWING = [name for name in NAMES if "random_state" in getattr(engine, name)().get_params()]
THREADED = [name for name in NAMES if "n_jobs" in getattr(engine, name)().get_params()]

_RESAMPLES = "rows are drawn at random: a row of weight 2 is not a row given twice"
_SHUFFLES = "batches are drawn at random: a row of weight 2 is not a row given twice"
EXPECTED_FAILURES = {  # D25: the only ones allowed, scikit-learn's own forests fail them too
    name: {
        "check_sample_weight_equivalence_on_dense_data": _RESAMPLES,
        "check_sample_weight_equivalence_on_sparse_data": _RESAMPLES,
    }
    for name in (
        "RandomForestClassifier",
        "RandomForestRegressor",
        "BaggingClassifier",
        "BaggingRegressor",
        "AdaBoostRegressor",
        *COMPOSED,
    )
} | {
    name: {
        "check_sample_weight_equivalence_on_dense_data": _SHUFFLES,
        "check_sample_weight_equivalence_on_sparse_data": _SHUFFLES,
    }
    for name in ("DeepEnsembleClassifier", "DeepEnsembleRegressor")
}
_IN_TURN = "rows are gone through in an order drawn at random: a row of weight 2 is not a row given twice"
EXPECTED_FAILURES["PerceptronClassifier"] = {
    "check_sample_weight_equivalence_on_dense_data": _IN_TURN,
    "check_sample_weight_equivalence_on_sparse_data": _IN_TURN,
}
_CALIBRATES = "probabilities come from folds that are drawn at random"
EXPECTED_FAILURES["SVMClassifier"] = {
    "check_sample_weight_equivalence_on_dense_data": _CALIBRATES,
    "check_sample_weight_equivalence_on_sparse_data": _CALIBRATES,
}
LARGE_ENOUGH = {  # scikit-learn's small tables need leaves of fewer rows than the default
    "GradientBoostingClassifier": {"n_estimators": 20, "min_samples_leaf": 1},
    "GradientBoostingRegressor": {"n_estimators": 20, "min_samples_leaf": 1},
}
LARGE_ENOUGH["SVMRegressor"] = {"tol": 1e-10}  # so that weights and repeated rows end at the same place
SIX_ROWS = {
    "NearestNeighborsClassifier": {
        "n_neighbors": 1
    },  # enough trees, and leaves small enough, to learn a table of six rows by heart
    "RandomForestClassifier": {"n_estimators": 100},
    "BaggingClassifier": {"n_estimators": 100},
    "GradientBoostingClassifier": {"n_estimators": 60, "min_samples_leaf": 1},
    "DeepEnsembleClassifier": {"max_epochs": 400},
    "PerceptronClassifier": {"max_epochs": 1000},
}
MORE_IN_FIT = {"StackingClassifier": ["groups"], "StackingRegressor": ["groups"]}
AGREED_FIT = ["self", "X", "y", "sample_weight", "X_val", "y_val", "sample_weight_val", "monitor"]


class Recorder:
    def __init__(self, n_allowed=10**9):
        self.events, self.n_allowed = [], n_allowed

    def on_iteration(self, event):
        self.events.append(event)
        return len(self.events) > self.n_allowed


def make(name, **settings):
    seed = {"random_state": 0} if name in DRAWING else {}
    return getattr(engine, name)(**(SMALL[name] | seed | settings))


def frame(name, n_rows=150):
    """A table with categories and missing values, and a target of three labels or a number."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], n_rows)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n_rows),
            "colour": pd.Categorical(colour),
            "grade": pd.Categorical(rng.choice(["low", "high"], n_rows), ["low", "high"], ordered=True),
            "flag": rng.random(n_rows) < 0.5,
            "count": pd.array(rng.integers(0, 9, n_rows), dtype="Int64"),
        }
    )
    y = X["size"] + (colour == "red") * 2.0 + 0.3 * rng.normal(size=n_rows)
    for i, column in enumerate(["size", "colour", "count"]):
        X.loc[i :: 7 + i, column] = None
    if "Classifier" in name:
        y = pd.cut(y, [-np.inf, 0, 1.5, np.inf], labels=["a", "b", "c"]).astype(str)
    return X, y.to_numpy()


def answers(model, X):
    """Shares of the classes, or numbers; of a model that only names a class, 1 for that one."""
    if not hasattr(model, "predict_proba") and hasattr(model, "decision_function"):
        return model.encoded_answer(check_X(model, X))
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def check_by_scikit_learn(name, estimator):
    allowed = EXPECTED_FAILURES.get(name, {})
    results = check_estimator(estimator, expected_failed_checks=allowed, on_skip=None, on_fail=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert {r["check_name"] for r in results if r["status"] == "xfail"} <= set(allowed)
    assert sum(r["status"] == "passed" for r in results) > 40


@pytest.mark.parametrize("name", NAMES)
def test_scikit_learns_checks_pass(name):
    check_by_scikit_learn(name, getattr(engine, name)(**(SMALL[name] | LARGE_ENOUGH.get(name, {}))))


@pytest.mark.parametrize("name", COMPOSED)
def test_scikit_learns_checks_pass_with_the_default_models(name):
    """Neighbours and a support vector machine, under logistic or ridge regression (D23)."""
    check_by_scikit_learn(name, getattr(engine, name)())


def test_the_list_holds_every_public_estimator():
    public = [name for name in engine.__all__ if name.endswith(("Classifier", "Regressor"))]
    assert sorted(public) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_fit_has_the_agreed_signature(name):
    parameters = inspect.signature(getattr(engine, name).fit).parameters
    assert list(parameters) == AGREED_FIT + MORE_IN_FIT.get(name, [])
    assert all(parameters[p].kind is inspect.Parameter.KEYWORD_ONLY for p in AGREED_FIT[4:])
    assert all(parameters[p].default is None for p in AGREED_FIT[3:])


@pytest.mark.parametrize("name", NAMES)
def test_fitting_again_forgets_the_first_fit(name):
    X, y = frame(name)
    fresh = make(name).fit(X, y)
    again = make(name).fit(X.iloc[:60, ::-1], y[:60]).fit(X, y)
    np.testing.assert_array_equal(answers(again, X), answers(fresh, X))
    assert vars(again).keys() == vars(fresh).keys()


@pytest.mark.parametrize("name", DRAWING)
def test_the_same_seed_gives_the_same_bits(name):
    X, y = frame(name)
    first, second = (make(name, random_state=5).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(answers(first, X), answers(second, X))
    assert first.seed_ == second.seed_ == 5


@pytest.mark.parametrize("name", DRAWING)
def test_a_drawn_seed_repeats_the_fit(name):
    X, y = frame(name)
    first = make(name, random_state=None).fit(X, y)
    second = make(name, random_state=first.seed_).fit(X, y)
    np.testing.assert_array_equal(answers(first, X), answers(second, X))


@pytest.mark.parametrize("name", THREADED)
def test_any_number_of_threads_gives_the_same_bits(name):
    X, y = frame(name)
    one, *others = (answers(make(name, n_jobs=n).fit(X, y), X) for n in (1, 2, 8))
    for other in others:
        np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("name", NAMES)
def test_watching_changes_nothing(name):
    X, y = frame(name)
    monitor = Recorder()
    watched = make(name).fit(X, y, monitor=monitor)
    np.testing.assert_array_equal(answers(watched, X), answers(make(name).fit(X, y), X))
    assert not watched.stopped_
    fractions = [event.fraction for event in monitor.events]
    assert fractions == sorted(fractions)
    assert 0 <= fractions[0] <= fractions[-1] == 1.0
    assert all(event.elapsed_s >= 0 for event in monitor.events)


@pytest.mark.parametrize("name", NAMES)
def test_a_stop_at_any_event_leaves_a_usable_model(name):
    X, y = frame(name)
    whole = Recorder()
    unstopped = answers(make(name).fit(X, y, monitor=whole), X)
    n_stopped = 0
    for n_allowed in range(len(whole.events) - 1):
        model = make(name).fit(X, y, monitor=Recorder(n_allowed))
        n_stopped += model.stopped_
        given = answers(model, X)
        if not model.stopped_:  # the stop came when all was done
            np.testing.assert_array_equal(given, unstopped)
        assert np.isfinite(given).all()
        if "Classifier" in name:
            np.testing.assert_allclose(given.sum(axis=1), 1.0)
        assert name not in OF_TREES or len(model.feature_importances_) == X.shape[1]
    assert n_stopped > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_stop_before_anything_is_labelled_so(name):
    X, y = frame(name)
    model = make(name).fit(X, y, monitor=Recorder(0))
    assert model.stopped_
    assert len(np.unique(answers(model, X), axis=0)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_frames_with_categories_and_missing_values_are_taken_as_they_are(name):
    X, y = frame(name)
    model = make(name).fit(X, y)
    assert [spec.name for spec in model.features_] == list(X.columns)
    assert model.features_[1].levels == ("blue", "green", "red")
    assert model.features_[2].ordered_levels == ("low", "high")
    assert model.score(X, y) > 0.6
    unseen = [X.assign(colour=pd.Categorical([level] * len(X))) for level in ("violet", "a")]
    np.testing.assert_array_equal(answers(model, unseen[0]), answers(model, unseen[1]))
    recoded = X.assign(colour=X["colour"].cat.reorder_categories(["red", "blue", "green"]))
    np.testing.assert_array_equal(answers(model, recoded), answers(model, X))  # by name, not by code
    as_array = pytest.raises(engine.DataError, match="'colour' was a category")
    with as_array, pytest.warns(UserWarning, match="valid feature names"):
        model.predict(np.zeros((2, 5)))


@pytest.mark.parametrize("name", OF_TREES)
def test_importances_are_shares(name):
    X, y = frame(name)
    importances = make(name).fit(X, y).feature_importances_
    assert importances.shape == (5,)
    assert (importances >= 0).all()
    assert importances.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", NAMES)
def test_pickled_and_cloned(name):
    X, y = frame(name)
    model = make(name).fit(X, y)
    np.testing.assert_array_equal(answers(pickle.loads(pickle.dumps(model)), X), answers(model, X))
    assert repr(clone(model).get_params()) == repr(model.get_params())


@pytest.mark.parametrize("name", NAMES)
def test_a_validation_part_is_checked(name):
    X, y = frame(name)
    make(name).fit(X, y, X_val=X[:20], y_val=y[:20])
    parts = {"X_val": X[:20], "y_val": y[:20], "sample_weight_val": np.ones(20)}
    for wrong, told in (
        ({"X_val"}, "X_val is given without y_val; pass X_val and y_val together, or none"),
        ({"y_val"}, "y_val is given without X_val; pass"),
        ({"sample_weight_val"}, "sample_weight_val is given without X_val; pass"),
    ):
        with pytest.raises(engine.ParameterError, match=told):
            make(name).fit(X, y, **{key: parts[key] for key in wrong})
    for short in ("y_val", "sample_weight_val"):
        with pytest.raises(engine.ParameterError, match=f"X_val has 20 rows but {short} has 19; give one"):
            make(name).fit(X, y, **(parts | {short: parts[short][:19]}))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_class_of_weight_0_alone_is_known_and_never_predicted(name):
    """As in scikit-learn: labels are those of y, also where all their rows have weight 0."""
    X, labels = np.arange(40.0)[:, None], np.repeat(["a", "b", "c", "d"], 10)
    weights = np.where(labels == "c", 0.0, 1.0)
    model = make(name).fit(X, labels, weights)
    assert model.classes_.tolist() == DecisionTreeClassifier().fit(X, labels, weights).classes_.tolist()
    proba = answers(model, X)
    assert proba.shape == (40, 4)
    np.testing.assert_allclose(proba[:, 2], 0.0, atol=1e-9)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    kept = labels != "c"
    assert (model.predict(X) != "c").all()
    known = pd.Categorical(labels[kept], ["a", "b", "c", "d"])
    np.testing.assert_array_equal(proba, answers(make(name).fit(X[kept], known), X))


@pytest.mark.parametrize("name", OF_TREES)
def test_an_unseen_level_is_not_missing(name):
    """A node that asks only "is it missing?" answers no for a level that training never saw (D7)."""
    colour = pd.Categorical(["red", None] * 20)
    y = np.array([0, 1] * 20)
    extra = {"bootstrap": False} if "bootstrap" in make(name).get_params() else {}
    model = make(name).set_params(**extra).fit(pd.DataFrame({"colour": colour}), y)
    first = model.tree_ if hasattr(model, "tree_") else model.estimators_[0]
    tree = first[0] if isinstance(first, tuple) else first
    assert (tree.kind[0], tree.unseen_child[0]) == (IS_MISSING, 1)
    rows = pd.DataFrame({"colour": pd.Categorical(["red", "violet", None])})
    known, unseen, missing = answers(model, rows)
    np.testing.assert_array_equal(unseen, known)
    assert np.any(missing != known)
    spots = model_curve(model, 0, [UNSEEN_LEVEL, 0.0, np.nan], [0.0])
    np.testing.assert_allclose(spots.T.reshape(3, -1), np.reshape(answers(model, rows), (3, -1))[[1, 0, 2]])
    assert merged_rule(tree, (1,), model.features_) == ["colour is not missing"]
    assert decision_path(tree, [UNSEEN_LEVEL]) == decision_path(tree, [0.0])


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize(
    "y",
    [
        [3, 3, 5, 5, 9, 9],
        ["no", "no", "no", "yes", "yes", "yes"],
        [False] * 3 + [True] * 3,
        [1.0, 1.0, 2.5, 2.5, 7.25, 7.25],
        [-1] * 3 + [1] * 3,
    ],
    ids=["numbers", "text", "booleans", "fractions", "signs"],
)
def test_labels_come_back_as_they_were_given(name, y):
    """Case C23."""
    X = np.arange(1.0, 7.0)[:, None]
    model = make(name, **SIX_ROWS.get(name, {})).fit(X, y)
    assert model.predict(X).tolist() == y
    assert model.predict(X).dtype == np.asarray(y).dtype
    assert model.classes_.tolist() == sorted(set(y))


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_declared_level_without_rows_has_probability_zero(name):
    """Case C23 (f)."""
    X = np.arange(1.0, 7.0)[:, None]
    y = pd.Categorical([0, 1, 2, 4, 5, 5], categories=range(6))
    for target in (y, pd.Series(y, index=range(50, 56))):
        model = make(name, **SIX_ROWS.get(name, {})).fit(X, target)
        assert model.classes_.tolist() == [0, 1, 2, 3, 4, 5]
        assert answers(model, X).shape == (6, 6)
        np.testing.assert_allclose(answers(model, X)[:, 3], 0.0, atol=1e-12)
        assert set(model.predict(X)) <= {0, 1, 2, 4, 5}


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize(
    ("y", "plain_type"),
    [
        (pd.Series([True, False] * 9, dtype="boolean"), np.bool_),
        (pd.Series([3, 7] * 9, dtype="Int64"), np.int64),
        (pd.Series(["no", "yes"] * 9, dtype="string"), str),
        (pd.Series(["no", "yes"] * 9), str),
    ],
    ids=["boolean", "Int64", "string", "str"],
)
def test_labels_of_nullable_types_keep_their_type(name, y, plain_type):
    X = np.arange(18.0)[:, None] % 2
    model = make(name).fit(X, y)
    assert model.classes_.tolist() == sorted(set(y))
    assert all(isinstance(label, plain_type) for label in model.classes_)
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_single_and_double_precision_of_the_same_table_give_the_same_bits(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)).astype(np.float32)
    X[::6, 1] = np.nan
    y = X[:, 0] + np.nan_to_num(X[:, 1]) + rng.normal(size=120)
    y = (y > 0) * 1 if "Classifier" in name else y.astype(float)
    narrow, wide = (make(name).fit(table, y) for table in (X, X.astype(np.float64)))
    np.testing.assert_array_equal(answers(narrow, X), answers(wide, X.astype(np.float64)))
    np.testing.assert_array_equal(answers(narrow, X), answers(wide, X))


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_weight_zero_are_as_good_as_absent(name):
    """Case C25 (c), also with class weights that are counted from the rows."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(60, 3)), np.repeat([0.0, 1.5], [10, 50])
    wild = X.copy()
    wild[:10] = 1e6
    y = X[:, 0] + rng.normal(size=60)
    if "Classifier" in name:
        y = np.digitize(y, [-0.5, 0.4])
        y[:10] = 2
    balanced = {"class_weight": "balanced"} if "class_weight" in make(name).get_params() else {}
    for settings in ({}, balanced):
        absent = answers(make(name, **settings).fit(X[10:], y[10:], w[10:]), X[10:])
        for table in (X, wild):
            model = make(name, **settings).fit(table, y, w)
            np.testing.assert_array_equal(answers(model, X[10:]), absent)


@pytest.mark.parametrize("name", NAMES)
def test_an_ordered_category_is_split_by_its_order(name):
    levels = ["tiny", "small", "large", "huge"]
    codes = np.random.default_rng(0).integers(0, 4, 80)
    X = pd.DataFrame({"grade": pd.Categorical.from_codes(codes, levels, ordered=True)})
    y = np.where(codes >= 2, 1, 0)
    model = make(name).fit(X, y)
    as_codes = make(name).fit(codes[:, None].astype(float), y)
    np.testing.assert_array_equal(answers(model, X), answers(as_codes, codes[:, None].astype(float)))
    assert model.features_[0].ordered_levels == tuple(levels)
    assert not model.features_[0].is_categorical
    unknown = pd.DataFrame({"grade": pd.Categorical(["vast", None], [*levels, "vast"], ordered=True)})
    first, second = answers(model, unknown)
    np.testing.assert_array_equal(first, second)  # a level without a place is missing


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (1.0e308, 1.7e308),
        (-1.7e308, 1.7e308),
        (1.0000000000000002, 1.0000000000000004),
        (5e-324, 1e-323),
        (0.0, 1e-7),
        (16777216, 16777217),
    ],
)
def test_any_two_values_are_kept_apart(name, lower, upper):
    """Cases C12 and C13: also whole numbers beyond single precision, given as lists."""
    X, y = [[lower]] * 10 + [[upper]] * 10, [0] * 10 + [1] * 10
    predicted = make(name).fit(X, y).predict(X)
    assert predicted[0] < predicted[-1]
    assert len(set(predicted.tolist())) == 2


@pytest.mark.parametrize("name", NAMES)
def test_one_class_or_one_value_trains_a_constant(name):
    """D17."""
    model = make(name).fit(np.arange(8.0)[:, None], np.ones(8, int))
    assert model.predict([[3.0], [99.0]]).tolist() == [1, 1]


@pytest.mark.parametrize("name", NAMES)
def test_of_constant_columns_answers_are_finite(name):
    """D17."""
    model = make(name).fit(np.ones((48, 2)), np.repeat([0, 1], [16, 32]))
    assert np.isfinite(answers(model, np.array([[1.0, 1.0], [2.0, 0.5], [-1e300, np.nan]]))).all()


@pytest.mark.parametrize("name", DRAWING)
def test_generators_are_drawn_from(name):
    X, y = frame(name)
    for generator in (np.random.default_rng(3), np.random.RandomState(3)):
        model = make(name, random_state=generator).fit(X, y)
        again = make(name, random_state=model.seed_).fit(X, y)
        np.testing.assert_array_equal(answers(model, X), answers(again, X))
