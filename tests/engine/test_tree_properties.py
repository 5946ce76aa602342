"""What holds for every tree on every table: hypothesis looks for a table on which it does not."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine import DecisionTreeClassifier, DecisionTreeRegressor, parallel
from engine.tree import grow
from engine.tree.cost_complexity import path_losses, prune_at, pruning_path
from engine.tree.edit import replay
from engine.tree.structure import LEVEL_SET, MULTIWAY, THRESHOLD
from tests.engine import naive

KINDS = [
    "gini", "entropy", "misclassification", "squared_error", "absolute_error", "poisson", "id3", "c4.5",
    "two classes",
]  # fmt: skip
OF_NUMBERS = ("squared_error", "absolute_error", "poisson")
LEVELS = [2, 3]  # columns of levels

# doubles next to each other, at both ends of the range, of both signs of zero, and missing
NUMBERS = [
    -1.7e308, -2.5, -5e-324, -0.0, 0.0, 5e-324, 1e-323, 0.1, 1.0, 1.0000000000000002, 1.0000000000000004,
    3.0, 16777216.0, 16777217.0, 1.0e308, 1.7e308, np.nan,
]  # fmt: skip
CODES = [0.0, 1.0, 2.0, 3.0, 4.0, np.nan]
CLASSES = [0.0, 1.0, 2.0]
TARGETS = {
    "squared_error": [-3.0, 0.0, 0.25, 1.0, 100.0],
    "absolute_error": [-3.0, 0.0, 0.25, 1.0, 100.0],
    "poisson": [0.0, 1.0, 2.0, 7.0],
    "two classes": [0.0, 1.0],
}
LIMITS = [
    {},
    {"max_depth": 2},
    {"min_samples_leaf": 3},
    {"min_impurity_decrease": 0.02},
    {"min_weight_fraction_leaf": 0.11},
    {"missing": "level"},
]
BEST_FIRST = {"max_leaf_nodes": 4}
DRAWN = {"splitter": "random", "random_state": 0}
DRAWN_LEVEL = DRAWN | {"missing": "level"}
DIRECTED = {"monotonic_cst": [1, -1, 0, 0]}
DIRECTED_LEVEL = DIRECTED | {"missing": "level", "max_leaf_nodes": 4}
OWN_LIMITS = {
    "id3": [],
    "c4.5": [{"confidence": None}],
    "absolute_error": [BEST_FIRST, DRAWN, DIRECTED, DIRECTED_LEVEL, DIRECTED | DRAWN_LEVEL],
    **{kind: [BEST_FIRST, DRAWN, DRAWN_LEVEL] for kind in ("gini", "entropy", "misclassification")},
    **{kind: [BEST_FIRST, DRAWN_LEVEL, DIRECTED, DIRECTED_LEVEL] for kind in ("squared_error", "poisson")},
    "two classes": [BEST_FIRST, DIRECTED, DIRECTED_LEVEL, DIRECTED | DRAWN],
}

examples = settings(max_examples=40, deadline=None, derandomize=True, database=None)
every_kind = pytest.mark.parametrize("kind", KINDS)


@dataclass
class Rows:
    """A small table: two columns of numbers, two of levels, a target of the kind, whole weights."""

    X: np.ndarray
    y: np.ndarray
    w: np.ndarray

    def take(self, rows):
        return Rows(self.X[rows], self.y[rows], self.w[rows])


def draw_rows(data, kind, least_weight=1, max_rows=30):
    """Every level and class occurs in the first rows, with weight: codes are positions then."""
    n = data.draw(st.integers(len(CODES), max_rows), "rows")
    numbers = data.draw(arrays(float, (n, 2), elements=st.sampled_from(NUMBERS)))
    codes = data.draw(arrays(float, (n, 2), elements=st.sampled_from(CODES)))
    targets = TARGETS.get(kind, CLASSES)
    y = data.draw(arrays(float, n, elements=st.sampled_from(targets)))
    w = data.draw(arrays(float, n, elements=st.integers(least_weight, 4).map(float)))
    codes[: len(CODES)] = np.array(CODES)[:, None]
    y[: len(targets)] = targets
    w[: len(CODES)] = np.maximum(w[: len(CODES)], 1.0)
    return Rows(np.column_stack([numbers, codes]), y, w)


def model_of(kind, **limits):
    if kind in OF_NUMBERS:
        return DecisionTreeRegressor(criterion=kind, categorical_features=LEVELS, **limits)
    if kind in ("id3", "c4.5"):
        return DecisionTreeClassifier(algorithm=kind, categorical_features=LEVELS, **limits)
    criterion = "gini" if kind == "two classes" else kind
    return DecisionTreeClassifier(criterion=criterion, categorical_features=LEVELS, **limits)


def draw_limits(data, kind):
    return data.draw(st.sampled_from([*LIMITS, *OWN_LIMITS[kind]]), "limits")


def fitted(kind, rows, weights, limits, monitor=None):
    return model_of(kind, **limits).fit(rows.X, rows.y, weights, monitor=monitor)


@every_kind
@examples
@given(data=st.data())
def test_rows_add_up_and_thresholds_lie_between_values(kind, data):
    rows = draw_rows(data, kind)
    limits = draw_limits(data, kind)
    tree = fitted(kind, rows, rows.w, limits).tree_
    tree.validate()
    assert (tree.n_node_samples[0], tree.weighted_n_node_samples[0]) == (len(rows.y), rows.w.sum())
    for node, inside in enumerate(naive.rows_by_node(tree, rows.X)):
        assert tree.n_node_samples[node] == len(inside)
        assert tree.weighted_n_node_samples[node] == rows.w[inside].sum()
        if tree.is_leaf[node]:
            continue
        below = np.array(tree.children(node))
        assert tree.n_node_samples[below].sum() == len(inside)
        x = rows.X[inside, tree.feature[node]]
        assert tree.n_missing[node] == np.isnan(x).sum()
        if "monotonic_cst" in limits:
            pass  # values are kept between bounds
        elif kind == "absolute_error":
            assert tree.value[node, 0] == naive.weighted_median(rows.y[inside], rows.w[inside])
        else:
            means = tree.value[below] * tree.weighted_n_node_samples[below, None]
            np.testing.assert_allclose(
                means.sum(axis=0) / tree.weighted_n_node_samples[node],
                tree.value[node],
                atol=1e-12,
                rtol=1e-12,
            )
        shares = tree.weighted_n_node_samples[below] / tree.weighted_n_node_samples[node]
        decrease = tree.impurity[node] - (shares * tree.impurity[below]).sum()
        assert tree.gain[node] == pytest.approx(decrease, abs=1e-12 * max(tree.impurity[0], 1.0))
        if tree.kind[node] == THRESHOLD:
            lower, upper = x[x <= tree.threshold[node]], x[x > tree.threshold[node]]
            assert lower.max() <= tree.threshold[node] < upper.min()
        elif tree.kind[node] in (LEVEL_SET, MULTIWAY):
            assert set(x[~np.isnan(x)]) <= set(tree.levels(node)[:, 0])


@every_kind
@examples
@given(data=st.data())
def test_the_pruning_path_is_nested_and_its_alphas_ascend(kind, data):
    rows = draw_rows(data, kind)
    tree = fitted(kind, rows, rows.w, draw_limits(data, kind)).tree_
    path = pruning_path(tree)
    assert path.alphas[0] == 0
    assert np.all(np.diff(path.alphas) > 0)
    assert np.all(np.diff(path.n_leaves) < 0)
    assert np.all(np.diff(path.impurities) >= -1e-12 * max(tree.impurity[0], 1.0))
    larger = inner_paths(tree)
    for step, alpha in enumerate(path.alphas):
        pruned = prune_at(tree, float(alpha), path)
        pruned.validate()
        assert pruned.n_leaves == path.n_leaves[step]
        assert inner_paths(pruned) <= larger
        larger = inner_paths(pruned)
        assert path.step_of(float(alpha)) == step
        assert path.step_of(float(np.nextafter(alpha, -1))) == max(step - 1, -1)
    assert path.n_leaves[-1] == 1


def inner_paths(tree):
    return {tree.path_to(int(node)) for node in np.flatnonzero(~tree.is_leaf)}


@every_kind
@examples
@given(data=st.data())
def test_weight_0_equals_absence(kind, data):
    rows = draw_rows(data, kind, least_weight=0)
    kept, limits = np.flatnonzero(rows.w), draw_limits(data, kind)
    absent = fitted(kind, rows.take(kept), rows.w[kept], limits)
    assert fitted(kind, rows, rows.w, limits).tree_ == absent.tree_


@every_kind
@examples
@given(data=st.data())
def test_levels_that_weight_0_rows_alone_have_change_no_answer(kind, data):
    """They keep their codes, so trees may be written differently; asked for, they are unseen in both."""
    rows, limits = draw_rows(data, kind), draw_limits(data, kind)
    rows.y[-3:] = np.resize(TARGETS.get(kind, CLASSES)[:3], 3)
    rows.w[-3:] = np.maximum(rows.w[-3:], 1.0)
    rows.w[: data.draw(st.integers(1, len(rows.y) - 3), "rows of weight 0")] = 0
    kept = np.flatnonzero(rows.w)
    whole, absent = fitted(kind, rows, rows.w, limits), fitted(kind, rows.take(kept), rows.w[kept], limits)
    assert whole.predict(rows.X).tolist() == absent.predict(rows.X).tolist()
    assert whole.get_n_leaves() == absent.get_n_leaves()


@every_kind
@pytest.mark.parametrize(
    "limits", [{}, {"min_weight_fraction_leaf": 0.11}, {"max_depth": 2}, {"missing": "level"}]
)
@examples
@given(data=st.data())
def test_whole_weights_equal_repetition(kind, limits, data):
    """A leaf of 1 row and a split of 2 are no limits, so a row of weight 3 is three rows."""
    limits = limits | {"min_samples_leaf": 1, "min_samples_split": 2}
    rows = draw_rows(data, kind, least_weight=0)
    weighted = fitted(kind, rows, rows.w, limits).tree_
    repeated = fitted(
        kind, rows.take(np.repeat(np.arange(len(rows.y)), rows.w.astype(int))), None, limits
    ).tree_
    for name in (
        "feature", "kind", "threshold", "first_child", "missing_child", "unseen_child", "level_sets",
        "weighted_n_node_samples",
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(weighted, name), getattr(repeated, name), err_msg=name)
    for name in ("value", "impurity", "gain"):
        np.testing.assert_allclose(
            getattr(weighted, name), getattr(repeated, name), rtol=1e-10, atol=1e-10, err_msg=name
        )


@every_kind
@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_any_number_of_threads_gives_the_same_bits(kind, data):
    rows = draw_rows(data, kind)
    limits, loss = draw_limits(data, kind), kind if kind in OF_NUMBERS else "misclassification"
    trees, losses = [], set()
    with pytest.MonkeyPatch.context() as patch:
        # several subtrees and chunks, so that threads have a say
        patch.setattr("engine.tree.subtrees.FEWEST_ROWS", 0)
        patch.setattr("engine.tree.subtrees.MOST_ROWS", 4)
        patch.setattr("engine.tree.cost_complexity.ROWS_PER_CHUNK", 4)
        for n_threads in (1, 2, 8):
            patch.setattr(parallel, "resolve_jobs", lambda _n_jobs, n=n_threads: n)
            tree = fitted(kind, rows, rows.w, limits).tree_
            path = pruning_path(tree)
            found = path_losses(tree, path, path.alphas, rows.X, rows.y, rows.w, loss=loss)
            trees.append(tree)
            losses.add(found.sums.tobytes())
    assert trees[1] == trees[0] == trees[2]
    assert len(losses) == 1


@every_kind
@examples
@given(data=st.data())
def test_replay_of_no_edits_is_the_identity(kind, data):
    rows = draw_rows(data, kind)
    tree = fitted(kind, rows, rows.w, draw_limits(data, kind)).tree_
    assert replay([], tree) == (tree, [])


class StopsAfter:
    def __init__(self, n_allowed):
        self.n_asked, self.n_allowed = 0, n_allowed

    def on_iteration(self, _event):
        self.n_asked += 1
        return self.n_asked > self.n_allowed


@every_kind
@examples
@given(data=st.data())
def test_a_stop_at_any_moment_leaves_a_valid_tree(kind, data):
    rows, limits = draw_rows(data, kind), draw_limits(data, kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grow, "WORK_BUDGET", 1)
        if data.draw(st.booleans(), "grows subtrees apart"):
            patch.setattr("engine.tree.subtrees.FEWEST_ROWS", 0)
            patch.setattr("engine.tree.subtrees.MOST_ROWS", 4)
            patch.setattr(parallel, "resolve_jobs", lambda _n_jobs: 1)  # else asked by the clock
        whole = StopsAfter(10**9)
        finished = fitted(kind, rows, rows.w, limits, whole).tree_
        monitor = StopsAfter(data.draw(st.integers(0, whole.n_asked), "allowed"))
        model = fitted(kind, rows, rows.w, limits, monitor)
    tree = model.tree_
    tree.validate()
    assert tree.n_node_samples.tolist() == [len(inside) for inside in naive.rows_by_node(tree, rows.X)]
    assert np.isfinite(tree.value).all()
    assert np.isfinite(tree.impurity).all()
    assert len(model.predict(rows.X)) == len(rows.y)
    assert model.stopped_ or tree == finished
    assert not (model.stopped_ and monitor.n_asked <= monitor.n_allowed)
