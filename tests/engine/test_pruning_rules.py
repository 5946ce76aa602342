"""Reduced-error and pessimistic pruning, and merging of equal leaves, on hand-computed examples."""

import numpy as np
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.predict import tree_values
from engine.tree.cost_complexity import cut_prices
from engine.tree.prune import cut, prune
from engine.tree.pruning_rules import (
    added_errors,
    merge_same_prediction_leaves,
    pessimistic_prune,
    reduced_error_prune,
)
from engine.tree.structure import Tree


@pytest.mark.parametrize(
    ("n", "errors", "limit"),
    # Quinlan 1993, chapter 4: U25%(0,6) = 0.206, (0,9) = 0.143, (0,1) = 0.750, (1,16) = 0.157
    [(6, 0, 0.206), (9, 0, 0.143), (1, 0, 0.750), (16, 1, 0.157)],
)
def test_upper_limits_are_those_of_quinlans_book(n, errors, limit):
    assert (errors + added_errors(n, errors, 0.25)) / n == pytest.approx(limit, abs=0.001)


def votes():
    """The book's branch: 6 and 9 democrats and 1 republican in three leaves, or 16 rows with one error."""
    X = np.repeat([[0.0], [1.0], [2.0]], [6, 9, 1], axis=0)
    return X, np.repeat([0, 0, 1], [6, 9, 1])


def test_a_branch_that_a_leaf_is_expected_to_beat_is_replaced():
    X, y = votes()
    tree = DecisionTreeClassifier(algorithm="id3", categorical_features=[0]).fit(X, y).tree_
    assert tree.n_leaves == 3
    # 6 x 0.206 + 9 x 0.143 + 1 x 0.750 = 3.273 expected errors, a leaf's 16 x 0.157 = 2.512
    assert pessimistic_prune(tree).n_nodes == 1
    assert DecisionTreeClassifier(algorithm="c4.5", categorical_features=[0]).fit(X, y).get_n_leaves() == 1
    whole = DecisionTreeClassifier(algorithm="c4.5", categorical_features=[0], confidence=None).fit(X, y)
    assert whole.get_n_leaves() == 3


def test_a_branch_that_is_worth_it_stays():
    X = np.repeat([[0.0], [1.0]], [20, 20], axis=0)
    tree = DecisionTreeClassifier().fit(X, np.repeat([0, 1], 20)).tree_
    assert pessimistic_prune(tree) == tree
    assert pessimistic_prune(tree, 0.001) == tree


def table(seed, is_classifier, n=120):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).round(1)
    y = X[:, 0] + rng.normal(0, 0.8, n)
    return X, (y > 0).astype(int) if is_classifier else y


def all_prunings(tree, node=0):
    """Every set of nodes that can be cut below a node, each as a frozenset."""
    if tree.is_leaf[node]:
        return [frozenset()]
    found = [frozenset()]
    for k in tree.children(node):
        found = [a | b for a in found for b in all_prunings(tree, k)]
    return [*found, frozenset([node])]


@pytest.mark.parametrize("is_classifier", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_reduced_error_is_the_best_of_all_prunings(is_classifier, seed):
    X, y = table(seed, is_classifier)
    kind = DecisionTreeClassifier if is_classifier else DecisionTreeRegressor
    tree = kind(max_leaf_nodes=8).fit(X, y).tree_
    Z, z = table(seed + 50, is_classifier, 80)
    w = np.random.default_rng(seed).integers(1, 3, 80) * 1.0

    def loss(t):
        answer = tree_values([t], Z)
        return np.average(np.argmax(answer, 1) != z if is_classifier else (answer[:, 0] - z) ** 2, weights=w)

    pruned = reduced_error_prune(
        tree, Z, z.astype(float), w, loss="misclassification" if is_classifier else "squared_error"
    )
    candidates = [cut(tree, np.array(sorted(nodes), int)) for nodes in all_prunings(tree)]
    least = min(loss(t) for t in candidates)
    assert loss(pruned) == pytest.approx(least)
    assert pruned.n_leaves == min(t.n_leaves for t in candidates if loss(t) <= least + 1e-12)


def test_reduced_error_by_hand():
    """x <= 0.5: 4 a; else x <= 1.5: 2 b, 2 a. Validation: 3 a left, 1 a at 1, 2 b at 2."""
    X = np.array([[0]] * 4 + [[1]] * 2 + [[2]] * 2, float)
    tree = DecisionTreeClassifier().fit(X, [0] * 4 + [1] * 2 + [0] * 2).tree_
    assert tree.n_leaves == 3
    Z, z = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [2.0]]), np.array([0, 0, 0, 0, 1, 1], float)
    prices = cut_prices(tree, Z, z, np.ones(6), loss="misclassification") * 6
    lower = int(np.flatnonzero(~tree.is_leaf)[1])
    assert (prices[0], prices[lower]) == pytest.approx((-1, -1))  # 3 wrong as it is; as leaves 2 wrong
    assert reduced_error_prune(tree, Z, z, np.ones(6), loss="misclassification").n_nodes == 1


def test_leaves_that_answer_the_same_are_merged_up():
    X = np.array([[0], [1], [2], [3]] * 10, float)
    y = np.array(([0, 0, 0, 1] * 10)[:40])
    y[[0, 1]] = 1, 1
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y).tree_
    merged = merge_same_prediction_leaves(tree, is_classifier=True)
    assert merged.n_leaves < tree.n_leaves
    before, after = (np.argmax(tree_values([t], X), 1) for t in (tree, merged))
    np.testing.assert_array_equal(before, after)
    for node in np.flatnonzero(~merged.is_leaf):
        answers = {int(np.argmax(merged.value[k])) for k in merged.children(node) if merged.is_leaf[k]}
        assert len(answers) == 2 or not all(merged.is_leaf[k] for k in merged.children(node))
    assert merge_same_prediction_leaves(merged, is_classifier=True) == merged
    numbers = DecisionTreeRegressor().fit(X, X[:, 0]).tree_
    assert merge_same_prediction_leaves(numbers, is_classifier=False) == numbers
    assert merge_same_prediction_leaves(prune(tree, ()), is_classifier=True).n_nodes == 1


def stump_saying(*values):
    """A tree of one question whose root and leaves have the given values."""
    arrays = DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).tree_.to_arrays()
    return Tree(**(arrays | {"value": values}))


def test_leaves_with_the_same_number_are_merged():
    same = stump_saying([0.1 + 0.2], [0.3], [0.3])  # but for rounding
    assert merge_same_prediction_leaves(same, is_classifier=False).n_nodes == 1
    other = stump_saying([0.3], [0.3], [0.4])
    assert merge_same_prediction_leaves(other, is_classifier=False) == other


def test_leaves_that_met_half_way_stay_where_the_node_would_answer_otherwise():
    numbers = stump_saying([0.75], [0.5], [0.5])  # as a column that must rise makes of means of 1 and 0
    assert merge_same_prediction_leaves(numbers, is_classifier=False) == numbers
    classes = stump_saying([0.25, 0.75], [0.5, 0.5], [0.5, 0.5])
    assert merge_same_prediction_leaves(classes, is_classifier=True) == classes
