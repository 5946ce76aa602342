"""Criteria on worked numbers and beside scikit-learn; what a criterion cannot take is refused."""

import numpy as np
import pytest
import sklearn.tree
from sklearn.metrics import mean_poisson_deviance

from engine import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestRegressor
from engine.errors import DataError


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


@pytest.mark.parametrize("model", [DecisionTreeRegressor(), RandomForestRegressor(n_estimators=2)])
def test_targets_that_are_no_counts_are_refused(model):
    model.set_params(criterion="poisson")
    with pytest.raises(DataError, match=r"criterion 'poisson' counts events.* down to -1;.*squared_error"):
        model.fit([[0.0], [1.0], [2.0]], [1.0, 0.0, -1.0])
    with pytest.raises(DataError, match="above 0 in some row"):
        model.fit([[0.0], [1.0]], [0.0, 0.0])
