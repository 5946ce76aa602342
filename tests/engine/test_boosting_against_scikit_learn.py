"""The same training predictions as scikit-learn's GradientBoosting, where the settings coincide."""

import numpy as np
import pytest
from sklearn import ensemble as sk

from engine import GradientBoostingClassifier, GradientBoostingRegressor

# Leaves of 15 rows: few rows are often parted alike by two columns. Every column has fewer values than bins.
COMMON = {"n_estimators": 12, "learning_rate": 0.1, "max_depth": 3, "min_samples_leaf": 15}
DEPTH_ALONE = {"growth": "depth", "max_leaf_nodes": None}


def table(seed):
    """Numbers that single precision holds, a target, and weights that leave no splits of equal gain."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(150, 250)), 4)).astype(np.float32)
    target = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + 0.5 * rng.normal(size=len(X))
    return X, target, rng.uniform(0.5, 2, len(X))


@pytest.mark.parametrize("seed", range(12))
def test_numbers_by_squared_error(seed):
    X, y, weight = table(seed)
    theirs = sk.GradientBoostingRegressor(random_state=0, **COMMON).fit(X, y, weight)
    ours = GradientBoostingRegressor(**DEPTH_ALONE, **COMMON).fit(X, y, weight)
    assert sum(tree.n_leaves for (tree,) in ours.estimators_) > 3 * COMMON["n_estimators"]
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("loss", ["absolute_error", "huber"])
@pytest.mark.parametrize("seed", range(12))
def test_numbers_by_robust_losses(seed, loss):
    """From zero on: no residual is 0, where the sign is either library's own affair."""
    X, y, weight = table(seed)
    more = {"loss": loss, "alpha": 0.8, "init": "zero"}
    theirs = sk.GradientBoostingRegressor(random_state=0, **more, **COMMON).fit(X, y, weight)
    ours = GradientBoostingRegressor(**more, **DEPTH_ALONE, **COMMON).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("cuts", [[0.8], [0.2, 0.8, 1.6]])
@pytest.mark.parametrize("seed", range(12))
def test_classes_by_log_loss(seed, cuts):
    X, target, weight = table(seed)
    y = np.digitize(target, cuts)
    theirs = sk.GradientBoostingClassifier(random_state=0, **COMMON).fit(X, y, weight)
    ours = GradientBoostingClassifier(**DEPTH_ALONE, **COMMON).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10, atol=1e-12)
