"""A tree may be stopped at any moment, and what is kept is a tree (architecture decision 4)."""

import numpy as np
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.jit import specialisations
from engine.tree import grow
from engine.tree.kernels import grow as kernels
from tests.engine import naive


class StopAfter:
    def __init__(self, n_allowed):
        self.events, self.n_allowed = [], n_allowed

    def on_iteration(self, event):
        self.events.append(event)
        return len(self.events) > self.n_allowed


def table(n_rows=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    X[::9, 1] = np.nan
    X[:, 2] = rng.integers(0, 6, n_rows)
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)


@pytest.mark.parametrize("budget", [1, 100, 1000])
@pytest.mark.parametrize("settings", [{}, {"max_leaf_nodes": 20}])
def test_the_budget_changes_nothing(monkeypatch, settings, budget):
    X, y = table()
    whole = DecisionTreeClassifier(categorical_features=[2], **settings).fit(X, y)
    monkeypatch.setattr(grow, "WORK_BUDGET", budget)
    pieces = DecisionTreeClassifier(categorical_features=[2], **settings).fit(X, y)
    assert pieces.tree_ == whole.tree_


@pytest.mark.parametrize("settings", [{}, {"max_leaf_nodes": 20}])
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_a_stop_at_any_moment_leaves_a_valid_tree(monkeypatch, kind, settings):
    X, y = table(120)
    monkeypatch.setattr(grow, "WORK_BUDGET", 1)
    whole = StopAfter(10**9)
    kind(categorical_features=[2], **settings).fit(X, y, monitor=whole)
    n_leaves = []
    for n_allowed in range(0, len(whole.events) - 1, 3):
        model = kind(categorical_features=[2], **settings).fit(X, y, monitor=StopAfter(n_allowed))
        assert model.stopped_
        tree = model.tree_
        tree.validate()
        assert tree.n_node_samples.tolist() == [len(rows) for rows in naive.rows_by_node(tree, X)]
        assert np.isfinite(model.predict(X).astype(float)).all()
        n_leaves.append(tree.n_leaves)
    assert n_leaves == sorted(n_leaves)
    assert n_leaves[0] == 1 < n_leaves[-1]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_a_stop_before_anything_keeps_the_root_as_it_would_have_been(criterion):
    X, y = table()
    whole = DecisionTreeClassifier(criterion=criterion).fit(X, y, y + 1.0).tree_
    stopped = DecisionTreeClassifier(criterion=criterion).fit(X, y, y + 1.0, monitor=StopAfter(0)).tree_
    assert stopped.n_nodes == 1
    for name in ("value", "impurity", "n_node_samples", "weighted_n_node_samples"):
        np.testing.assert_allclose(
            getattr(stopped, name)[0], getattr(whole, name)[0], rtol=1e-12, err_msg=name
        )


@pytest.mark.parametrize("budget", [1, 1000])
@pytest.mark.parametrize("n_levels", [0, 3, 14])
def test_a_column_of_many_rows_is_searched_by_medians_in_parts_that_change_nothing(
    monkeypatch, n_levels, budget
):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.integers(0, n_levels or 500, 700), rng.normal(size=700)]).astype(float)
    X[::7] = np.nan
    y = np.nan_to_num(X[:, 0] % 5) + rng.normal(size=700).round(1)
    settings = {"criterion": "absolute_error", "max_depth": 3, "max_features": 1, "random_state": 0}
    settings["categorical_features"] = [0] if n_levels else []
    whole = DecisionTreeRegressor(**settings).fit(X, y)
    monkeypatch.setattr(grow, "WORK_BUDGET", budget)
    monitor = StopAfter(10**9)
    pieces = DecisionTreeRegressor(**settings).fit(X, y, monitor=monitor)
    assert pieces.tree_ == whole.tree_
    # the root alone walks 2 or 4 times through 700 rows, 64 at a time
    if budget == 1 and n_levels != 3:  # few levels are divided in all ways at once
        assert sum(event.iteration == 1 and event.phase == "growing" for event in monitor.events) >= 20
    for n_allowed in range(3, 30, 4):
        model = DecisionTreeRegressor(**settings).fit(X, y, monitor=StopAfter(n_allowed))
        model.tree_.validate()
        assert model.stopped_
        assert model.tree_.n_node_samples.tolist() == [
            len(rows) for rows in naive.rows_by_node(model.tree_, X)
        ]


def test_events_tell_of_sorting_then_growing_and_end_with_the_tree():
    monitor = StopAfter(10**9)
    model = DecisionTreeClassifier().fit(*table(), monitor=monitor)
    phases = [event.phase for event in monitor.events]
    assert sorted(phases, key=["sorting", "growing"].index) == phases
    assert set(phases) == {"sorting", "growing"}
    fractions = [event.fraction for event in monitor.events]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert monitor.events[-1].new_trees == (model.tree_,)
    assert monitor.events[-1].iteration == model.tree_.n_nodes
    assert not model.stopped_


def test_one_specialisation_serves_all_criteria_of_best_splits():
    X, y = table(60)
    DecisionTreeClassifier().fit(X, y)
    DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=4).fit(X.astype(np.float32), y, y + 1.0)
    DecisionTreeRegressor(categorical_features=[2]).fit(X, y)
    assert specialisations(kernels.grow) <= 2  # the other one draws its splits
