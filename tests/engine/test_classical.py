"""The classical models: what scikit-learn answers on columns prepared by hand, and rows by weight."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

import engine
from engine import pieces
from engine.classical.columns import PreparedColumns
from engine.classical.multiclass import AllVsAll, OneVsAll, pairs, votes_of_pairs
from engine.classical.pace import WORK
from engine.errors import FitStopped, ParameterError


def numbers(n_rows=120, n_classes=3):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 4)) * [1, 10, 0.1, 1e6] + [0, 5, 0, 1e7]
    score = X[:, 0] + X[:, 1] / 10 + 0.4 * rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))
    return X, y, score


def scaled(X):
    return StandardScaler().fit_transform(X)


def test_columns_are_scaled_one_hot_encoded_and_without_gaps():
    X = np.array([[1.0, 0, 5], [3, 1, 5], [np.nan, 2, 5], [5, np.nan, 5]])
    made = PreparedColumns([0, 3, 0]).fit_transform(X)
    spread = np.std([1, 3, 5])
    np.testing.assert_allclose(made[:, 0], np.array([-2, 0, 0, 2]) / spread)  # a gap is the mean
    np.testing.assert_array_equal(made[:, 1], [0, 0, 1, 0])  # and is told
    np.testing.assert_array_equal(made[:, 2:5], np.vstack([np.eye(3), np.zeros(3)]))
    np.testing.assert_array_equal(made[:, 5], [0, 0, 0, 1])
    np.testing.assert_array_equal(made[:, 6], 0)
    later = PreparedColumns([0, 3, 0]).fit(X).transform([[1e300, -1, 7], [1.0, 1, np.nan]])
    np.testing.assert_array_equal(later[0, 2:6], 0)  # a level that training never saw
    assert np.isfinite(later).all()


def test_columns_are_scaled_by_weight():
    X, w = np.array([[0.0], [1.0], [4.0]]), np.array([1.0, 2, 1])
    repeated = PreparedColumns([0]).fit(X[[0, 1, 1, 2]])
    np.testing.assert_allclose(
        PreparedColumns([0]).fit(X, sample_weight=w).transform(X), repeated.transform(X)
    )


def test_columns_are_those_of_scikit_learn():
    X, _, _ = numbers()
    levels = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    ours = PreparedColumns([0, 0, 0, 0, 3]).fit_transform(np.column_stack([X, levels]))
    np.testing.assert_allclose(ours[:, :4], scaled(X), atol=1e-12)
    np.testing.assert_array_equal(ours[:, 4:], OneHotEncoder().fit_transform(levels[:, None]).toarray())


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_neighbours_are_those_of_scikit_learn(weights, metric):
    X, y, score = numbers()
    settings = {"n_neighbors": 7, "weights": weights, "metric": metric}
    ours = engine.NearestNeighborsClassifier(**settings).fit(X[:80], y[:80])
    scale = StandardScaler().fit(X[:80])
    peer = KNeighborsClassifier(**settings).fit(scale.transform(X[:80]), y[:80])
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(scale.transform(X)), atol=1e-12)
    of_numbers = KNeighborsRegressor(**settings).fit(scale.transform(X[:80]), score[:80])
    regressor = engine.NearestNeighborsRegressor(**settings).fit(X[:80], score[:80])
    np.testing.assert_allclose(regressor.predict(X), of_numbers.predict(scale.transform(X)), rtol=1e-9)


def test_a_row_of_weight_two_is_two_neighbours():
    X, y = np.array([[0.0], [1], [2], [10]]), np.array([0, 1, 1, 1])
    model = engine.NearestNeighborsClassifier(n_neighbors=3).fit(X, y, [2.0, 1, 1, 1])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[2 / 3, 1 / 3]])
    half = engine.NearestNeighborsClassifier(n_neighbors=2).fit(X, y, [0.5, 1, 1, 1])
    np.testing.assert_allclose(half.predict_proba([[0.0]]), [[0.25, 0.75]])  # half of one, one, half of one


def test_a_search_for_neighbours_goes_to_another_process_as_it_is():
    X, y, _ = numbers()
    model = engine.NearestNeighborsClassifier().fit(X, y)
    content = pickle.dumps(model)
    assert b"KDTree" in content  # building it anew holds up all threads
    np.testing.assert_array_equal(pickle.loads(content).predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("is_in_a_stack", [False, True])
@pytest.mark.parametrize("kind", ["SVM", "NearestNeighbors"])
def test_slow_answers_are_made_by_pieces_between_which_somebody_is_asked(kind, is_in_a_stack):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 40)), rng.integers(0, 2, 6000)
    model = getattr(engine, f"{kind}Classifier")(**({"random_state": 0} if kind == "SVM" else {}))
    model = engine.AveragingClassifier([("one", model)]) if is_in_a_stack else model
    n_rows = 600 if kind == "SVM" else len(X)
    model.fit(X[:n_rows], y[:n_rows])
    whole, works = model.predict_proba(X), []
    with pieces.asking(works.append):
        np.testing.assert_allclose(model.predict_proba(X), whole, rtol=1e-12)
    assert len(works) >= 3
    assert max(works) <= WORK
    with pytest.raises(FitStopped), pieces.asking(lambda work: works.append(work) or len(works) % 2 == 0):
        model.predict(X)


def test_who_answers_quickly_does_no_work_worth_asking_for():
    X, y, score = numbers()
    works = []
    with pieces.asking(works.append):
        engine.LogisticClassifier().fit(X, y).predict(X)
        engine.RidgeRegressor().fit(X, score).predict(X)
        engine.NaiveBayesClassifier().fit(X, y).predict(X)
    assert set(works) == {0.0}


def test_more_neighbours_than_rows_are_refused():
    with pytest.raises(ParameterError, match="n_neighbors is 5, but the training rows count as 4"):
        engine.NearestNeighborsClassifier().fit(np.arange(4.0)[:, None], [0, 1, 0, 1])


@pytest.mark.parametrize(("ours", "peer"), [(OneVsAll, OneVsRestClassifier), (AllVsAll, OneVsOneClassifier)])
@pytest.mark.parametrize("model", [SVC(), LogisticRegression()])
def test_schemes_are_those_of_scikit_learn(ours, peer, model):
    X, y, _ = numbers(n_classes=4)
    X = scaled(X)
    made, theirs = ours(model).fit(X, y, np.ones(len(y))), peer(model).fit(X, y)
    np.testing.assert_array_equal(made.predict(X), theirs.predict(X))
    np.testing.assert_allclose(made.decision_function(X), theirs.decision_function(X), atol=1e-9)
    if hasattr(theirs, "predict_proba") and isinstance(model, LogisticRegression):
        np.testing.assert_allclose(made.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_probabilities_of_pairs_that_agree_are_joined_exactly():
    truth = np.array([[0.5, 0.2, 0.25, 0.05], [0.1, 0.1, 0.1, 0.7]])
    joined = AllVsAll()
    joined.classes_ = np.arange(4)
    shares = np.column_stack([truth[:, b] / (truth[:, a] + truth[:, b]) for a, b in pairs(4)])
    np.testing.assert_allclose(joined._probabilities(shares), truth)


def test_a_vote_weighs_more_than_any_sum_of_decision_values():
    values = np.array([[1e9, -1e-9, 1e-9]])  # 1 beats 0 by far, 0 beats 2 and 2 beats 1 just so
    votes = votes_of_pairs(values, 3)
    np.testing.assert_array_equal(np.round(votes), 1)
    assert votes.argmax() == 1


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_machines_are_those_of_scikit_learn(kernel):
    X, y, score = numbers()
    peer = SVC(kernel=kernel, gamma="auto", tol=1e-8).fit(scaled(X), y)
    ours = engine.SVMClassifier(kernel=kernel, answers="decision", tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(scaled(X)), atol=1e-6)
    assert not hasattr(ours, "predict_proba")
    np.testing.assert_array_equal(ours.predict(X), peer.predict(scaled(X)))
    z = (score - score.mean()) / score.std()
    of_numbers = SVR(kernel=kernel, gamma="auto", tol=1e-8).fit(scaled(X), z)
    np.testing.assert_allclose(
        engine.SVMRegressor(kernel=kernel, tol=1e-8).fit(X, score).predict(X),
        of_numbers.predict(scaled(X)) * score.std() + score.mean(),
        atol=1e-6,
    )


def test_crammer_and_singers_machine_is_scikit_learns():
    X, y, _ = numbers()
    ours = engine.SVMClassifier(kernel="linear", multiclass="direct", answers="decision", tol=1e-8).fit(X, y)
    peer = LinearSVC(multi_class="crammer_singer", tol=1e-8, max_iter=100_000).fit(scaled(X), y)
    np.testing.assert_allclose(ours.decision_function(X), peer.decision_function(scaled(X)), atol=1e-3)
    with pytest.raises(ParameterError, match="has no kernel 'rbf'; enter kernel 'linear', or multiclass"):
        engine.SVMClassifier(multiclass="direct").fit(X, y)


def test_calibrated_probabilities_are_better_than_the_classes_shares():
    X, y, _ = numbers()
    model = engine.SVMClassifier(random_state=0).fit(X[:80], y[:80])
    assert not hasattr(model, "decision_function")
    shares = model.predict_proba(X[80:])
    assert -np.log(shares[np.arange(40), y[80:]]).mean() < 0.8 * np.log(3)


@pytest.mark.parametrize("multiclass", ["all_vs_all", "one_vs_all"])
def test_a_class_of_one_row_is_calibrated_by_that_row_and_noted(multiclass):
    """Cases C23 (f) and C28."""
    X, y = np.arange(9.0)[:, None], np.array(["a"] * 4 + ["b"] * 4 + ["rare"])
    model = engine.SVMClassifier(multiclass=multiclass, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.predict_proba(X)[:, 2].argmax() == 8
    assert len(model.notes_) == 1
    assert "1 class has one training row" in model.notes_[0]
    plain = engine.SVMClassifier(multiclass=multiclass, answers="decision").fit(X, y)
    assert plain.notes_ == ()
    machine = model.pipeline_[-1].calibrated_classifiers_[0].estimator
    scaled_rows = model.pipeline_[0].transform(X)
    np.testing.assert_allclose(
        machine.decision_function(scaled_rows), plain.decision_function(X), atol=1e-2
    )  # of a row given twice, each of half its weight, the machine is the same


def test_classes_of_one_row_each_are_told_apart():
    X, y = np.array([[0.0], [1.0], [5.0]]), ["no", "yes", "perhaps"]
    model = engine.SVMClassifier(random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert "3 classes have one training row" in model.notes_[0]


def test_linear_models_are_those_of_scikit_learn():
    X, y, score = numbers()
    peer = LogisticRegression(C=0.3, max_iter=1000).fit(scaled(X), y)
    ours = engine.LogisticClassifier(C=0.3).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), peer.predict_proba(scaled(X)), atol=1e-6)
    ridge = Ridge(alpha=3.0).fit(scaled(X), score)
    np.testing.assert_allclose(
        engine.RidgeRegressor(alpha=3.0).fit(X, score).predict(X), ridge.predict(scaled(X)), rtol=1e-9
    )


def test_naive_bayes_adds_up_both_kinds_of_columns():
    X, y, _ = numbers()
    levels = (y + np.random.default_rng(3).integers(0, 2, len(y))) % 3
    table = pd.DataFrame(X).assign(level=pd.Categorical.from_codes(levels, ["a", "b", "c"]))
    table.columns = table.columns.astype(str)
    model = engine.NaiveBayesClassifier().fit(table, y)
    normal = GaussianNB().fit(scaled(X), y)
    shares = CategoricalNB(min_categories=4).fit(levels[:, None], y)
    joint = normal.predict_joint_log_proba(scaled(X)) + shares.feature_log_prob_[0][:, levels].T
    wanted = np.exp(joint - joint.max(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(table), wanted / wanted.sum(axis=1, keepdims=True))


def test_naive_bayes_without_smoothing_knows_classes_of_one_value():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), [0, 0, 1, 1]
    model = engine.NaiveBayesClassifier(var_smoothing=0.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0.0], [1.0], [0.5]]), [[1, 0], [0, 1], [0.5, 0.5]])


def test_naive_bayes_of_constant_columns_answers_the_shares():
    model = engine.NaiveBayesClassifier().fit(np.ones((8, 2)), [0] * 2 + [1] * 6)
    np.testing.assert_allclose(model.predict_proba([[1.0, 1.0], [-1e300, np.nan]]), [[0.25, 0.75]] * 2)


def test_in_naive_bayes_an_unseen_level_says_nothing():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60), "level": pd.Categorical(rng.choice(["a", "b"], 60))})
    y = np.where(table["x"] + (table["level"] == "a") > 0.5, "yes", "no")
    model = engine.NaiveBayesClassifier().fit(table, y)
    without = engine.NaiveBayesClassifier().fit(table[["x"]], y)
    for given in ("violet", None):
        rows = table.assign(level=pd.Categorical([given] * 60, ["a", "b", "violet"]))
        np.testing.assert_allclose(model.predict_proba(rows), without.predict_proba(table[["x"]]))
