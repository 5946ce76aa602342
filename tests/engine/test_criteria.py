"""Criteria on worked numbers and beside scikit-learn; what a criterion cannot take is refused."""

import numpy as np
import pytest
import sklearn.tree
from sklearn.metrics import mean_poisson_deviance

from engine import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestRegressor
from engine.errors import DataError
from tests.engine import naive


def split_of(criterion, left, right):
    """Impurity and gain of the root for class counts on the two sides of one threshold."""
    counts = [*left, *right]
    X = np.repeat([0.0, 0.0, 1.0, 1.0], counts)[:, None]
    y = np.repeat([0, 1, 0, 1], counts)
    tree = DecisionTreeClassifier(criterion=criterion, max_depth=1).fit(X, y).tree_
    return tree.impurity[0], tree.gain[0]


@pytest.mark.parametrize(
    ("criterion", "left", "right", "impurity", "gain"),
    [
        ("entropy", (50, 0), (50, 49), 0.913756, 0.249376),  # the 149 fruits of algorithms.md
        ("misclassification", (50, 0), (50, 49), 49 / 149, 0.0),
        ("gini", (50, 0), (50, 49), 2 * (49 / 149) * (100 / 149), 0.109241),
        ("entropy", (1, 3), (1, 2), 0.863121, 0.005978),
        ("entropy", (0, 2), (2, 3), 0.863121, 0.169584),
        ("misclassification", (8, 2), (2, 8), 0.5, 0.3),
        ("gini", (8, 2), (2, 8), 0.5, 0.18),
        ("entropy", (8, 2), (2, 8), 1.0, 1 - 0.721928),
        ("misclassification", (6, 4), (4, 6), 0.5, 0.1),
        ("misclassification", (6, 0), (4, 10), 0.5, 0.3),
        ("gini", (6, 0), (4, 10), 0.5, 0.5 - 0.285714),
        ("entropy", (6, 0), (4, 10), 1.0, 1 - 0.604184),
        ("gini", (1, 4), (2, 3), 0.42, 0.02),
        ("gini", (0, 5), (3, 2), 0.42, 0.18),
    ],
)
def test_worked_numbers(criterion, left, right, impurity, gain):
    assert split_of(criterion, left, right) == pytest.approx((impurity, gain), abs=1e-6)


def counts(seed, n=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    return X, rng.poisson(np.exp(X[:, 0] - 0.5 * (X[:, 1] > 0))).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_poisson_is_scikit_learns(seed):
    X, y = counts(seed)
    settings = {"criterion": "poisson", "max_depth": 4, "min_samples_leaf": 20}
    ours, theirs = (
        DecisionTreeRegressor(**settings),
        sklearn.tree.DecisionTreeRegressor(random_state=0, **settings),
    )
    w = np.random.default_rng(seed).uniform(0.5, 2, len(y))
    ours.fit(X, y, w)
    theirs.fit(X, y, w)
    fresh = counts(seed + 100, 1000)[0]
    np.testing.assert_allclose(ours.predict(fresh), theirs.predict(fresh), rtol=1e-9)
    root = mean_poisson_deviance(y, np.full(len(y), np.average(y, weights=w)), sample_weight=w)
    assert ours.tree_.impurity[0] == pytest.approx(root)


def test_a_leaf_without_events_predicts_0():
    model = DecisionTreeRegressor(criterion="poisson").fit([[0.0], [1.0], [1.0]], [0.0, 2.0, 4.0])
    assert model.predict([[0.0], [1.0]]).tolist() == [0.0, 3.0]
    # root mean 2: 2/3 (2 log(2/2) + 4 log(4/2)); right mean 3: (2 log(2/3) + 4 log(4/3)), a share of 2/3
    root, right = 2 / 3 * 4 * np.log(2), 2 * np.log(2 / 3) + 4 * np.log(4 / 3)
    assert model.tree_.impurity.tolist() == pytest.approx([root, 0.0, right])
    assert model.tree_.gain[0] == pytest.approx(root - 2 / 3 * right)


def test_a_leaf_of_the_absolute_error_answers_its_weighted_median():
    X, y = [[0.0], [0.0], [0.0], [1.0], [1.0]], [1.0, 2.0, 30.0, 5.0, 7.0]
    model = DecisionTreeRegressor(criterion="absolute_error").fit(X, y)
    # root: 5, distances 4 3 25 0 2; left 2, distances 1 0 28; right between 5 and 7, distances 1 1
    assert model.tree_.value[:, 0].tolist() == [5.0, 2.0, 6.0]
    assert model.tree_.impurity.tolist() == pytest.approx([34 / 5, 29 / 3, 1.0])
    assert model.tree_.gain[0] == pytest.approx(34 / 5 - 31 / 5)
    model.fit(X, y, [3.0, 1.0, 1.0, 1.0, 1.0])  # half of the weight of 7 is passed at 2, of 5 at 1
    assert model.tree_.value[:, 0].tolist() == [2.0, 1.0, 6.0]


def test_one_row_far_out_moves_the_mean_and_not_the_median():
    X, y = np.arange(20.0)[:, None], np.r_[np.zeros(10), np.ones(9), 1e6]
    median = DecisionTreeRegressor(criterion="absolute_error", max_depth=1, min_samples_leaf=5).fit(X, y)
    assert median.predict([[0.0], [19.0]]).tolist() == [0.0, 1.0]
    assert median.tree_.threshold[0] == 9.5


def test_many_levels_are_cut_in_the_better_of_two_orders():
    """The order by means alone would miss some of these splits (D29)."""
    rng = np.random.default_rng(5)
    n_by_medians = 0
    for table in range(12):
        x = np.repeat(np.arange(13.0), 4)
        far_out, many_zeros = np.round(rng.standard_cauchy(len(x)), 2), rng.integers(1, 4, len(x)) // 2.0
        y = far_out if table % 2 else many_zeros
        tree = (
            DecisionTreeRegressor(criterion="absolute_error", max_depth=1, categorical_features=[0])
            .fit(x[:, None], y)
            .tree_
        )
        w, best = np.ones(len(x)), []
        for key in (np.mean, np.median):
            keys = np.array([key(y[x == level]) for level in range(13)])
            order = np.argsort(keys, kind="stable")
            ways = [np.isin(x, order[:cut]) for cut in range(1, 13)]
            best.append(max(naive.gain("absolute_error", way, y, w, 0) for way in ways))
        assert tree.gain[0] == pytest.approx(max(best), abs=1e-12)
        n_by_medians += best[1] > best[0] + 1e-9
    assert n_by_medians >= 3


@pytest.mark.parametrize("model", [DecisionTreeRegressor(), RandomForestRegressor(n_estimators=2)])
def test_targets_that_are_no_counts_are_refused(model):
    model.set_params(criterion="poisson")
    with pytest.raises(DataError, match=r"criterion 'poisson' counts events.* down to -1;.*squared_error"):
        model.fit([[0.0], [1.0], [2.0]], [1.0, 0.0, -1.0])
    with pytest.raises(DataError, match="above 0 in some row"):
        model.fit([[0.0], [1.0]], [0.0, 0.0])
    with pytest.raises(
        DataError, match=r"target is .*e-321 in some row, too small beside the weights.*scale"
    ):
        model.fit([[0.0], [1.0]], [1e-320, 3.0])
