"""Sums of leaf values against a walk of every row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import GradientBoostingRegressor, parallel, predict
from engine.dtypes import UNSEEN_LEVEL, as_input
from engine.jit import specialisations
from engine.kernels import small_trees
from engine.kernels.routing import find_level
from engine.tree.structure import single_leaf
from tests.engine.random_trees import naive_leaf, naive_sum, random_tree


def trees_and_rows(n_rows, n_outputs=2):
    """Trees of every node kind over two numbers and a category with missing and unseen levels."""
    rng = np.random.default_rng(5)
    trees = [random_tree(rng, 20, 3, n_outputs, categorical=(1,)) for _ in range(5)]
    X = np.column_stack([rng.uniform(0, 10, n_rows), rng.integers(0, 5, n_rows), rng.uniform(0, 10, n_rows)])
    X[rng.random(n_rows) < 0.2, 1] = UNSEEN_LEVEL
    X[rng.random(X.shape) < 0.2] = np.nan
    return trees, X


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("n_rows", [0, 1, 97])
def test_sums_equal_a_walk_of_every_row(n_rows, n_outputs, dtype):
    trees, X = trees_and_rows(n_rows, n_outputs)
    X = X.astype(dtype)
    expected = naive_sum(trees, X.astype(np.float64)).reshape(n_rows, n_outputs)
    np.testing.assert_array_equal(predict.tree_values(trees, X), expected)
    leaves = [naive_leaf(trees[0], row) for row in X.astype(np.float64)]
    assert predict.leaf_numbers(trees[0], X).tolist() == leaves


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_leaves", [[1, 2, 3], [64, 1, 63, 64]])
@pytest.mark.parametrize("n_rows", [1, 64, 200])
def test_small_trees_asked_all_questions_answer_as_a_walk_does(monkeypatch, n_rows, n_leaves, dtype):
    rng = np.random.default_rng(n_rows)
    trees = [random_tree(rng, n, 3, 2, categorical=(1,), is_binary=True) for n in n_leaves]
    assert [tree.n_leaves for tree in trees] == n_leaves
    _, X = trees_and_rows(n_rows)
    X = X.astype(dtype)
    X[::5, 0] = np.round(X[::5, 0] * 2) / 2  # on a threshold
    walked = predict.tree_values(trees, X)
    monkeypatch.setattr(predict, "MANY_VISITS", 0)
    monkeypatch.setattr(predict.kernels, "add_leaf_values", None)  # it must not be asked
    for n_jobs in (1, 2):
        np.testing.assert_array_equal(predict.tree_values(trees, X, n_jobs), walked)
    np.testing.assert_array_equal(walked, naive_sum(trees, X.astype(np.float64)).reshape(n_rows, 2))
    assert specialisations(small_trees.add_small_tree_values) <= 2


def test_larger_and_multiway_trees_are_walked(monkeypatch):
    rng, (_, X) = np.random.default_rng(0), trees_and_rows(70)
    monkeypatch.setattr(predict.small_trees, "add_small_tree_values", None)
    monkeypatch.setattr(predict, "MANY_VISITS", 0)
    multiway = next(tree for tree in trees_and_rows(1)[0] if tree.n_children.max() > 2)
    for trees in ([random_tree(rng, 65, 3)], [random_tree(rng, 3, 3, 2), multiway]):
        expected = naive_sum(trees, X).reshape(len(X), -1)
        np.testing.assert_array_equal(predict.tree_values(trees, X), expected)


def test_any_number_of_threads_and_any_chunk_gives_the_same_bits(monkeypatch):
    trees, X = trees_and_rows(500)
    whole = predict.tree_values(trees, X, 1)
    monkeypatch.setattr(predict, "ROWS_PER_CHUNK", 7)
    for n_jobs in (1, 2, 8):
        np.testing.assert_array_equal(predict.tree_values(trees, X, n_jobs), whole)
        leaves = predict.leaf_numbers(trees[1], X, n_jobs)
        assert leaves.tolist() == [naive_leaf(trees[1], row) for row in X]


def test_listed_rows_alone_are_added_to():
    trees, X = trees_and_rows(60)
    rows, sums = np.array([3, 4, 59]), np.full((60, 2), 10.0)
    predict.add_values_of_rows(trees[0], as_input(X), rows, sums)
    expected = np.full((60, 2), 10.0)
    expected[rows] += naive_sum(trees[:1], X[rows])
    np.testing.assert_array_equal(sums, expected)


def test_a_single_leaf_predicts_its_value_everywhere():
    leaf = single_leaf([0.25, 0.75], 0.375, 8, 8.0)
    assert predict.tree_values([leaf, leaf], np.zeros((3, 1))).tolist() == [[0.5, 1.5]] * 3


def test_column_major_and_sliced_tables_are_read_as_they_are():
    trees, X = trees_and_rows(40)
    whole = predict.tree_values(trees, X)
    np.testing.assert_array_equal(predict.tree_values(trees, np.asfortranarray(X)), whole)
    np.testing.assert_array_equal(predict.tree_values(trees, X[::2]), whole[::2])


def test_prediction_inside_a_task_runs_serially():
    trees, X = trees_and_rows(40)
    inside = list(parallel.map_tasks(lambda i: predict.tree_values(trees, X[i : i + 20]), [0, 20], 2))
    np.testing.assert_array_equal(np.concatenate(inside), predict.tree_values(trees, X))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 60), unique=True, max_size=40), st.integers(-3, 70))
def test_a_level_is_found_among_any_others(codes, wanted):
    """Also where the entries before and behind belong to other nodes, which may list the same codes."""
    own = [[code, at % 3] for at, code in enumerate(sorted(codes))]
    level_sets = np.array([[wanted, 7], *own, [wanted, 8]], np.int32)
    assert find_level(level_sets, 1, 1 + len(own), wanted) == dict(own).get(wanted, -1)


def test_levels_of_many_are_predicted_as_row_by_row(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 500, 4000), rng.normal(size=4000)]).astype(float)
    model = GradientBoostingRegressor(n_estimators=3, categorical_features=[0], random_state=0)
    model.fit(X, rng.normal(size=500)[X[:, 0].astype(int)] + X[:, 1])
    trees = [tree for (tree,) in model.estimators_]
    answers = []
    for few in (0, 10**9):  # down to a leaf, and all questions
        monkeypatch.setattr(predict, "FEW_LEVELS", few)
        monkeypatch.setattr(predict, "MANY_VISITS", 1)
        answers.append(predict.tree_values(trees, X))
    np.testing.assert_array_equal(*answers)
