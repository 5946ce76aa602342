"""Trees of the engine as learners of boosting, sorted once: as if each had sorted the table itself."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from engine import DecisionTreeRegressor, ParameterError
from engine import GradientBoostingClassifier as Classifier
from engine import GradientBoostingRegressor as Regressor
from engine.boosting import any_learner, sorted_trees
from engine.boosting.any_learner import ScaledLearner
from engine.features import FeatureSpec
from tests.engine.test_boosting import Recorder


def make_table(n_rows=300):
    """Numbers with ties and gaps, a category, and a target."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n_rows),
            "tied": rng.integers(0, 4, n_rows).astype(float),
            "word": pd.Categorical(rng.choice(["a", "b", "c"], n_rows)),
        }
    )
    y = frame["x"] ** 2 + frame["tied"] + 2.0 * (frame["word"] == "b") + rng.normal(size=n_rows)
    frame.loc[rng.random(n_rows) < 0.1, "x"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "word"] = None
    return frame, y.to_numpy()


LEARNERS = [
    DecisionTreeRegressor(max_depth=1),
    DecisionTreeRegressor(max_depth=3),
    DecisionTreeRegressor(max_leaf_nodes=6, min_samples_leaf=0.05, max_features=2),
    DecisionTreeRegressor(max_depth=3, splitter="random", min_weight_fraction_leaf=0.02),
    DecisionTreeRegressor(max_depth=2, criterion="absolute_error", missing="level"),
    DecisionTreeRegressor(max_depth=3, monotonic_cst=[1, 0, 0], ccp_alpha=0.01),
]


def same_learners(one, other):
    for members, others in zip(one.estimators_, other.estimators_, strict=True):
        for mine, theirs in zip(members, others, strict=True):
            assert isinstance(mine, ScaledLearner)
            assert mine.scale == theirs.scale
            assert mine.learner.seed_ == theirs.learner.seed_
            for name in ("feature", "kind", "threshold", "level_sets", "value", "gain", "missing_child"):
                np.testing.assert_array_equal(
                    getattr(mine.learner.tree_, name), getattr(theirs.learner.tree_, name)
                )
            assert mine.learner.features_ == theirs.learner.features_
            assert mine.learner.n_features_in_ == theirs.learner.n_features_in_
            np.testing.assert_array_equal(
                mine.learner.feature_importances_, theirs.learner.feature_importances_
            )
            names = [getattr(tree.learner, "feature_names_in_", None) for tree in (mine, theirs)]
            np.testing.assert_array_equal(*names)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("kind", "n_classes"), [(Regressor, 0), (Classifier, 2), (Classifier, 3)])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_trees_are_those_that_sort_for_themselves(learner, kind, n_classes, subsample, monkeypatch):
    X, y = make_table()
    y = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y) if n_classes else y
    weight = np.random.default_rng(1).choice([0.0, 0.5, 2.0], len(y)) if subsample < 1.0 else None
    model = kind(estimator=learner, n_estimators=4, subsample=subsample, random_state=2)
    made = model.fit(X, y, weight, X_val=X[:50], y_val=y[:50])
    monkeypatch.setattr(any_learner, "is_sortable", lambda learner: False)
    plain = clone(model).fit(X, y, weight, X_val=X[:50], y_val=y[:50])
    same_learners(made, plain)
    np.testing.assert_array_equal(made.train_loss_, plain.train_loss_)
    np.testing.assert_array_equal(made.val_loss_, plain.val_loss_)
    np.testing.assert_array_equal(made.raw_predict(X), plain.raw_predict(X))


def test_arrays_are_sorted_once_too_and_rounds_can_be_added():
    X, y = make_table()
    X = X[["x", "tied"]].to_numpy()
    whole = Regressor(estimator=DecisionTreeRegressor(max_depth=2), n_estimators=5, random_state=0).fit(X, y)
    parts = Regressor(
        estimator=DecisionTreeRegressor(max_depth=2), n_estimators=2, random_state=0, warm_start=True
    )
    parts.fit(X, y).set_params(n_estimators=5).fit(X, y)
    same_learners(parts, whole)
    assert whole.estimators_[0][0].learner.features_ == (FeatureSpec("x0"), FeatureSpec("x1"))


def test_the_columns_are_sorted_once_a_fit(monkeypatch):
    X, y = make_table()
    calls = []
    presort = sorted_trees.presort
    monkeypatch.setattr(
        sorted_trees, "presort", lambda *given, **more: calls.append(1) or presort(*given, **more)
    )
    monkeypatch.setattr("engine.tree.estimators.presort", None)  # what a tree by itself would call
    Regressor(estimator=DecisionTreeRegressor(max_depth=3), n_estimators=6, subsample=0.5).fit(X, y)
    assert calls == [1]


def test_a_stop_while_columns_are_sorted_leaves_the_baseline():
    X, y = make_table()
    watch = Recorder(lambda event: event.phase == "sorting")
    model = Regressor(estimator=DecisionTreeRegressor(max_depth=2), n_estimators=4).fit(X, y, monitor=watch)
    assert (model.stopped_, model.n_estimators_) == (True, 0)
    np.testing.assert_allclose(model.predict(X), y.mean())
    whole = Recorder()
    Regressor(estimator=DecisionTreeRegressor(max_depth=2), n_estimators=4).fit(X, y, monitor=whole)
    fractions = [event.fraction for event in whole.events]
    assert fractions == sorted(fractions)


@pytest.mark.parametrize(
    "learner", [DecisionTreeRegressor(max_depth=0), DecisionTreeRegressor(splitter="no")]
)
def test_settings_of_the_tree_are_checked(learner):
    X, y = make_table()
    name = "max_depth" if learner.max_depth == 0 else "splitter"
    with pytest.raises(ParameterError, match=f"estimator is .*{name} is"):
        Regressor(estimator=learner).fit(X, y)


def test_residuals_near_the_limit_of_squares_go_the_tree_s_own_way():
    X = np.arange(40.0)[:, None]
    y = np.where(X[:, 0] < 20, 1e149, -1e149)
    model = Regressor(estimator=DecisionTreeRegressor(max_depth=1), n_estimators=2, learning_rate=1.0)
    np.testing.assert_allclose(model.fit(X, y).predict(X), y)
