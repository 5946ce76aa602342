"""The order of best-first growth, and trees with some of their splits."""

import numpy as np
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.errors import DataError
from engine.tree.best_first import count_with_cut, first_splits, split_order, with_splits
from engine.tree.prune import cut, prune
from engine.tree.splice import branch_at, splice
from engine.tree.structure import Tree, single_leaf
from tests.engine.random_trees import random_tree


def mixed_table(seed, n_samples=120):
    """Numbers, levels and gaps; with random weights no two splits are worth the same."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 4))
    X[:, [0, 2]] = rng.integers(0, 6, (n_samples, 2))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.integers(0, 3, n_samples), rng.random(n_samples)


def naive_order(tree):
    """Best-first growth the plain way: look through all open nodes, in the order in which they came."""
    open_, order = [0], []
    while any(tree.n_children[node] for node in open_):
        asking = [node for node in open_ if tree.n_children[node]]
        best = max(asking, key=lambda node: tree.gain[node] * tree.weighted_n_node_samples[node])
        order.append(best)
        open_.remove(best)
        open_.extend(tree.children(best))
    return order


@pytest.mark.parametrize("seed", range(4))
def test_the_first_splits_are_those_of_a_tree_grown_to_as_many_leaves(seed):
    X, y, w = mixed_table(seed)
    makers = [
        (DecisionTreeClassifier, {"criterion": "gini"}, y),
        (DecisionTreeClassifier, {"criterion": "entropy", "categorical_features": [0, 2]}, y),
        (DecisionTreeRegressor, {}, y + 0.25 * np.nan_to_num(X[:, 1])),
    ]
    for make, parameters, target in makers:
        parameters |= {"random_state": 0, "min_samples_leaf": 2}
        whole = make(**parameters).fit(X, target, w).tree_
        n_splits = whole.n_leaves - 1
        assert first_splits(whole, 0) == single_leaf(
            whole.value[0], whole.impurity[0], whole.n_node_samples[0], whole.weighted_n_node_samples[0]
        )
        assert first_splits(whole, n_splits) == whole
        for k in range(1, n_splits):
            assert first_splits(whole, k) == make(max_leaf_nodes=k + 1, **parameters).fit(X, target, w).tree_


def test_the_order_is_that_of_looking_through_all_open_nodes():
    for seed in range(20):
        tree = random_tree(np.random.default_rng(seed), 25, categorical=(1, 2))
        assert split_order(tree).tolist() == naive_order(tree)


def test_each_step_adds_one_split_also_where_splits_were_cut_by_hand():
    rng = np.random.default_rng(5)
    for seed in range(20):
        whole = random_tree(np.random.default_rng(seed), 25, categorical=(1,))
        inner = np.flatnonzero(~whole.is_leaf)
        tree = cut(whole, rng.choice(inner, 3, replace=False))
        n_all, n_now = len(inner), int(np.sum(~tree.is_leaf))
        assert count_with_cut(tree, whole) == n_all
        assert with_splits(tree, whole, n_now) == tree
        assert with_splits(tree, whole, n_all) == whole
        before = tree
        for k in range(n_now + 1, n_all + 1):
            after = with_splits(tree, whole, k)
            assert int(np.sum(~after.is_leaf)) == k
            assert with_splits(before, whole, k) == after  # one step after another, or all at once
            opened = [p for p in map(after.path_to, np.flatnonzero(~after.is_leaf)) if is_leaf_at(before, p)]
            assert len(opened) == 1
            assert prune(after, opened[0]) == before
            assert decrease(whole, opened[0]) == max(
                decrease(whole, p) for p in leaves(before) if not is_leaf_at(whole, p)
            )
            before = after


def test_of_equal_splits_the_one_taken_back_comes_again():
    for seed in range(20):
        tree = random_tree(np.random.default_rng(seed), 25, categorical=(1,))
        levels = tree.gain.round()  # 0 or 1: most splits are worth the same
        equal = Tree(
            **(tree.to_arrays() | {"gain": levels, "weighted_n_node_samples": np.ones(tree.n_nodes)})
        )
        n_all = len(split_order(equal))
        for k in range(n_all):
            assert with_splits(first_splits(equal, k), equal, k + 1) == first_splits(equal, k + 1)
        before = prune(equal, ())
        for k in range(1, n_all + 1):
            before = with_splits(before, equal, k)
            assert before == first_splits(equal, k)


def leaves(tree):
    return [tree.path_to(node) for node in np.flatnonzero(tree.is_leaf)]


def is_leaf_at(tree, path):
    return bool(tree.is_leaf[tree.node_at(path)])


def decrease(tree, path):
    node = tree.node_at(path)
    return tree.gain[node] * tree.weighted_n_node_samples[node]


def test_a_branch_that_asks_something_else_is_followed():
    whole = random_tree(np.random.default_rng(1), 20, categorical=(1,))
    node = next(n for n in np.flatnonzero(~whole.is_leaf)[1:] if whole.n_nodes > 3)
    other = random_tree(np.random.default_rng(2), 6)
    tree = cut(splice(whole, node, other), [])
    elsewhere = next(
        path
        for path in map(tree.path_to, np.flatnonzero(~tree.is_leaf))
        if path
        and path[: len(whole.path_to(node))] != whole.path_to(node)
        and whole.path_to(node)[: len(path)] != path
    )
    cut_tree = prune(tree, elsewhere)
    n_all = int(np.sum(~tree.is_leaf))
    assert count_with_cut(cut_tree, whole) == n_all
    assert with_splits(cut_tree, whole, n_all) == tree


def test_a_branch_is_taken_out_and_put_back():
    tree = random_tree(np.random.default_rng(3), 30, categorical=(1, 2))
    for node in range(tree.n_nodes):
        branch = branch_at(tree, node)
        branch.validate()
        assert branch.n_node_samples[0] == tree.n_node_samples[node]
        assert splice(tree, node, branch) == tree


@pytest.mark.parametrize("k", [-1, 30])
def test_more_splits_than_there_are_are_refused(k):
    tree = random_tree(np.random.default_rng(0), 8)
    for ask in (lambda: first_splits(tree, k), lambda: with_splits(tree, tree, k)):
        with pytest.raises(DataError, match=f"{k}; choose 0 to 7"):
            ask()
