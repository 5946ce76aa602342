"""Subtrees grown apart in their own layout are those that the general kernels grow, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestRegressor, parallel
from engine.base import begin_fit
from engine.jit import specialisations
from engine.tree import grow, large_nodes, subtrees
from engine.tree.growth_rules import make_rules
from engine.tree.kernels import layout, small_nodes
from tests.engine import naive

KINDS = {"classes": DecisionTreeClassifier, "numbers": DecisionTreeRegressor}
LIMITS = [
    {},
    {"max_depth": 3},
    {"min_samples_leaf": 3},
    {"min_samples_split": 5},
    {"min_impurity_decrease": 0.004},
    {"min_relative_decrease": 3.0},
    {"min_weight_fraction_leaf": 0.07},
]
ASIDE = [3, 9, subtrees.MOST_ROWS]  # several subtrees, few, one
NUMBERS = [-1.7e308, -2.5, -0.0, 0.0, 5e-324, 1.0, 1.0000000000000002, 3.0, 1.0e308, np.nan]
every_kind = pytest.mark.parametrize("kind", KINDS)
examples = settings(max_examples=40, deadline=None, derandomize=True, database=None)


@pytest.fixture(autouse=True)
def small_tables_too(monkeypatch):
    monkeypatch.setattr(subtrees, "FEWEST_ROWS", 0)


def fit_with(most_rows, kind, settings, *data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subtrees, "MOST_ROWS", most_rows)
        return KINDS[kind](**settings).fit(*data).tree_


def random_table(seed, kind, n_rows=300, share_missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 1] = rng.integers(0, 4, n_rows)
    X[:, 2] = 0.5
    X[rng.random(X.shape) < share_missing] = np.nan
    y = np.nan_to_num(X[:, 0]) + rng.normal(size=n_rows)
    return X, (y > 0).astype(int) if kind == "classes" else y


@every_kind
@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("share_missing", [0.0, 0.1])
def test_the_layout_changes_no_bit(kind, limits, is_weighted, share_missing):
    X, y = random_table(len(str(limits)), kind, share_missing=share_missing)
    w = np.random.default_rng(1).integers(0, 4, len(y)) * 0.3 if is_weighted else None
    general = fit_with(0, kind, limits, X, y, w)
    assert general.n_nodes > 1
    for most_rows in ASIDE:
        assert fit_with(most_rows, kind, limits, X, y, w) == general


@every_kind
@examples
@given(data=st.data())
def test_it_changes_no_bit_of_any_tree(kind, data):
    n = data.draw(st.integers(2, 30), "rows")
    X = data.draw(arrays(float, (n, 3), elements=st.sampled_from(NUMBERS)))
    targets = [0.0, 1.0] if kind == "classes" else [-3.0, 0.0, 0.25, 1.0, 100.0]
    y = data.draw(arrays(float, n, elements=st.sampled_from(targets)))
    w = data.draw(arrays(float, n, elements=st.sampled_from([1.0, 1.0, 2.0, 0.7])))
    y[:2], w[:2] = targets[:2], 1.0
    limits = data.draw(st.sampled_from(LIMITS), "limits")
    general = fit_with(0, kind, limits, X, y, w)
    for most_rows in ASIDE:
        assert fit_with(most_rows, kind, limits, X, y, w) == general


@every_kind
@pytest.mark.parametrize("cells", [1, 700])
def test_columns_looked_at_apart_change_no_bit(monkeypatch, kind, cells):
    X, y = random_table(7, kind, share_missing=0.05)
    general = fit_with(0, kind, {}, X, y)
    monkeypatch.setattr(large_nodes, "CELLS_PER_CHUNK", cells)
    assert fit_with(9, kind, {}, X, y) == general


@every_kind
def test_drawn_columns_are_the_same_where_the_subtree_is_the_whole_tree(kind):
    X, y = random_table(0, kind)
    drawn = {"max_features": 2, "random_state": 3}
    assert fit_with(subtrees.MOST_ROWS, kind, drawn, X, y) == fit_with(0, kind, drawn, X, y)


@every_kind
@pytest.mark.parametrize("settings", [{}, {"max_features": 2, "random_state": 3}], ids=str)
def test_any_number_of_threads_gives_the_same_bits(monkeypatch, kind, settings):
    X, y = random_table(2, kind, share_missing=0.05)
    trees = []
    for n_threads in (1, 2, 8):
        monkeypatch.setattr(parallel, "resolve_jobs", lambda _n_jobs, n=n_threads: n)
        trees.append(fit_with(20, kind, settings, X, y))
    assert trees[0] == trees[1] == trees[2]


class StopAfter:
    def __init__(self, n_allowed):
        self.fractions, self.n_allowed = [], n_allowed

    def on_iteration(self, event):
        self.fractions.append(event.fraction)
        return len(self.fractions) > self.n_allowed


@every_kind
@pytest.mark.parametrize("most_rows", [20, subtrees.MOST_ROWS])
def test_a_stop_at_any_moment_leaves_a_valid_tree(monkeypatch, kind, most_rows):
    monkeypatch.setattr(subtrees, "MOST_ROWS", most_rows)
    monkeypatch.setattr(grow, "WORK_BUDGET", 1)
    monkeypatch.setattr(parallel, "resolve_jobs", lambda _n_jobs: 1)  # else asked by the clock
    X, y = random_table(3, kind, 100)
    whole = StopAfter(10**9)
    KINDS[kind]().fit(X, y, monitor=whole)
    assert whole.fractions == sorted(whole.fractions)
    n_leaves = []
    for n_allowed in range(0, len(whole.fractions) - 1, 5):
        model = KINDS[kind]().fit(X, y, monitor=StopAfter(n_allowed))
        assert model.stopped_
        model.tree_.validate()
        assert model.tree_.n_node_samples.tolist() == [
            len(rows) for rows in naive.rows_by_node(model.tree_, X)
        ]
        n_leaves.append(model.tree_.n_leaves)
    assert n_leaves == sorted(n_leaves)
    assert n_leaves[0] == 1 < n_leaves[-1]


class BrokenError(Exception):
    pass


def test_an_error_of_the_monitor_ends_the_fit(monkeypatch):
    monkeypatch.setattr(subtrees, "MOST_ROWS", 20)
    monkeypatch.setattr(grow, "WORK_BUDGET", 1)

    class Breaks:
        n_asked = 0

        def on_iteration(self, _event):
            self.n_asked += 1
            if self.n_asked > 100:
                raise BrokenError

    monkeypatch.setattr(parallel, "resolve_jobs", lambda _n_jobs: 1)
    with pytest.raises(BrokenError):
        DecisionTreeRegressor().fit(*random_table(3, "numbers"), monitor=Breaks())


@pytest.mark.parametrize(
    ("settings", "is_level", "expected"),
    [
        ({}, [0, 0], subtrees.MOST_ROWS),
        ({}, [0, 1], 0),
        ({"n_sums": 3}, [0, 0], 0),
        ({"criterion": layout.ENTROPY}, [0, 0], 0),
        ({"max_leaf_nodes": 5}, [0, 0], 0),
        ({"is_random": True}, [0, 0], 0),
        ({"directions": np.array([layout.RISES, layout.FREE], np.uint8)}, [0, 0], 0),
        ({}, [0] * 1000, subtrees.CELLS_AT_ONCE // 1000),
        ({}, [0] * 100_000, subtrees.LEAST_ROWS),
    ],
)
def test_what_the_layout_cannot_hold_is_not_set_aside(settings, is_level, expected):
    X, y = random_table(0, "classes", 30)
    model = DecisionTreeClassifier()
    rules = make_rules(model, begin_fit(model, X, y, None, is_classifier=True), 30.0)._replace(**settings)
    assert subtrees.rows_set_aside(rules, np.array(is_level, np.uint8)) == expected


def test_a_forest_inside_its_tasks_grows_the_same_trees_in_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(subtrees, "MOST_ROWS", 30)
    X, y = random_table(5, "numbers")
    forests = [RandomForestRegressor(n_estimators=4, random_state=0, n_jobs=n).fit(X, y) for n in (1, 2)]
    assert forests[0].estimators_ == forests[1].estimators_


def test_one_specialisation_serves_all():
    for kind, make in KINDS.items():
        X, y = random_table(0, kind, 30)
        make(max_features=2).fit(X.astype(np.float32), y, y * 0 + 0.5)
        make().fit(X, y)
    for kernel in (small_nodes.grow_small, small_nodes.gather):
        assert specialisations(kernel) == 1


@every_kind
def test_where_many_trees_are_grown_small_tables_are_set_aside_too(kind, monkeypatch):
    monkeypatch.setattr(subtrees, "FEWEST_ROWS", 10**6)
    X, y = random_table(5, kind, share_missing=0.1)
    forest = RandomForestRegressor(n_estimators=3, max_features=2, random_state=0)
    general, plain_forest = KINDS[kind]().fit(X, y).tree_, forest.fit(X, y).estimators_
    with subtrees.many_trees():
        assert subtrees.fewest_rows() == 0
        assert KINDS[kind]().fit(X, y).tree_ == general
        assert forest.fit(X, y).estimators_ == plain_forest
    assert subtrees.fewest_rows() == 10**6
