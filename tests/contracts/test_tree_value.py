"""`Tree` is a value: read-only arrays, canonical order, paths as identities (contracts D4, D5)."""

import copy
import pickle

import numpy as np
import pytest

from engine.errors import DataError
from engine.tree.structure import LEAF, LEVEL_SET, MULTIWAY, NO_CHILD, THRESHOLD, Tree, compact, single_leaf


def arrays_of_five_nodes():
    """x0 <= 0.5 ? (colour in {0, 2} ? a : b) : c, numbered depth first."""
    return {
        "feature": [0, 1, -1, -1, -1],
        "kind": [THRESHOLD, LEVEL_SET, LEAF, LEAF, LEAF],
        "threshold": [0.5, np.nan, np.nan, np.nan, np.nan],
        "level_offsets": [0, 0, 3, 3, 3, 3],
        "level_sets": [[0, 0], [1, 1], [2, 0]],
        "first_child": [1, 3, NO_CHILD, NO_CHILD, NO_CHILD],
        "n_children": [2, 2, 0, 0, 0],
        "missing_child": [1, 0, NO_CHILD, NO_CHILD, NO_CHILD],
        "unseen_child": [1, 1, NO_CHILD, NO_CHILD, NO_CHILD],
        "value": [[0.5], [0.4], [0.9], [0.1], [0.7]],
        "impurity": [0.5, 0.4, 0.0, 0.0, 0.0],
        "gain": [0.1, 0.2, 0.0, 0.0, 0.0],
        "n_node_samples": [10, 6, 4, 3, 3],
        "weighted_n_node_samples": [10.0, 6.0, 4.0, 3.0, 3.0],
        "n_missing": [1, 0, 0, 0, 0],
    }


def chain(depth):
    """A tree in which every first child is split again, `depth` times."""
    n_nodes = 2 * depth + 1
    inner = np.arange(n_nodes) % 2 == 1
    inner[0], inner[-2:] = True, False
    at = np.flatnonzero(inner)
    arrays = {name: np.zeros(n_nodes) for name in ("impurity", "gain", "n_missing")}
    arrays |= {name: np.ones(n_nodes) for name in ("n_node_samples", "weighted_n_node_samples")}
    arrays |= {name: np.where(inner, 0, -1) for name in ("feature", "missing_child", "unseen_child")}
    arrays["threshold"] = np.where(inner, 0.0, np.nan)
    arrays["kind"] = np.where(inner, THRESHOLD, LEAF)
    arrays["first_child"] = np.full(n_nodes, NO_CHILD)
    arrays["first_child"][at] = 1 + 2 * np.arange(len(at))
    arrays["n_children"] = np.where(inner, 2, 0)
    arrays["value"] = np.arange(n_nodes, dtype=float)[:, None]
    arrays["level_offsets"], arrays["level_sets"] = np.zeros(n_nodes + 1), np.empty((0, 2))
    return arrays


def all_frozen(tree):
    return all(not array.flags.writeable for array in tree.to_arrays().values())


def test_arrays_cannot_be_written_and_share_nothing_with_their_source():
    source = np.array([0.5, np.nan, np.nan, np.nan, np.nan])
    tree = Tree.from_arrays(arrays_of_five_nodes() | {"threshold": source})
    source[0] = 99.0
    assert tree.threshold[0] == 0.5
    assert all_frozen(tree)
    with pytest.raises(ValueError, match="read-only"):
        tree.value[0, 0] = 1.0


@pytest.mark.parametrize("again", [copy.deepcopy, lambda tree: pickle.loads(pickle.dumps(tree))])
def test_copies_are_equal_and_still_frozen(again):
    tree = Tree.from_arrays(arrays_of_five_nodes())
    assert again(tree) == tree
    assert all_frozen(again(tree))


def test_trees_differ_when_one_number_differs():
    changed = arrays_of_five_nodes()
    changed["value"] = [[0.5], [0.4], [0.9], [0.1], [0.7000000001]]
    assert Tree.from_arrays(changed) != Tree.from_arrays(arrays_of_five_nodes())


def test_paths_name_nodes_and_lead_back():
    tree = Tree.from_arrays(arrays_of_five_nodes())
    paths = {(): 0, (0,): 1, (1,): 2, (0, 0): 3, (0, 1): 4}
    assert {path: tree.node_at(path) for path in paths} == paths
    assert {tree.path_to(node): node for node in range(5)} == paths
    with pytest.raises(DataError, match=r'^below the node at "no" the tree has no such node'):
        tree.node_at((1, 0))


def test_messages_name_nodes_by_the_answers_on_the_way():
    tree = Tree.from_arrays(arrays_of_five_nodes())
    words = {(): "the root", (1,): 'the node at "no"', (0, 1): 'the node at "yes, no"'}
    assert {path: tree.words_of(path) for path in words} == words
    levels = {"level_offsets": [0, 0, 2, 2, 2, 2], "level_sets": [[0, 0], [1, 1]]}
    kinds = {"kind": [THRESHOLD, MULTIWAY, LEAF, LEAF, LEAF]}
    tree = Tree.from_arrays(arrays_of_five_nodes() | levels | kinds)
    assert tree.words_of((0, 1)) == 'the node at "yes, branch 2"'
    deep = Tree.from_arrays(chain(9))
    assert deep.words_of((0,) * 8) == f'the node at "{", ".join(["yes"] * 8)}"'
    assert deep.words_of((0,) * 9) == "a node at depth 9"


def test_derived_views():
    tree = Tree.from_arrays(arrays_of_five_nodes())
    assert tree.parent.tolist() == [-1, 0, 0, 1, 1]
    assert tree.depths.tolist() == [0, 1, 1, 2, 2]
    assert tree.left.tolist() == [1, 3, -1, -1, -1]
    assert tree.right.tolist() == [2, 4, -1, -1, -1]
    assert list(tree.walk()) == [0, 1, 3, 4, 2]
    assert list(tree.walk(1)) == [1, 3, 4]
    assert (tree.n_nodes, tree.n_leaves, tree.max_depth, tree.n_outputs) == (5, 3, 2, 1)
    assert tree.levels(1).tolist() == [[0, 0], [1, 1], [2, 0]]


def test_right_is_refused_for_multiway_trees():
    arrays = arrays_of_five_nodes()
    arrays["n_children"] = [2, 2, 0, 0, 0]
    three_way = single_leaf([0.0], 0.0, 1, 1.0).to_arrays()
    three_way = {
        name: np.repeat(array, 4, axis=0)
        for name, array in three_way.items()
        if not name.startswith("level_")
    }
    three_way |= {"kind": [MULTIWAY, LEAF, LEAF, LEAF], "feature": [0, -1, -1, -1]}
    three_way |= {"n_children": [3, 0, 0, 0], "first_child": [1, -1, -1, -1]}
    three_way |= {"missing_child": [0, -1, -1, -1], "unseen_child": [0, -1, -1, -1]}
    three_way |= {"level_offsets": [0, 3, 3, 3, 3], "level_sets": [[0, 0], [1, 1], [2, 2]]}
    with pytest.raises(AttributeError, match="two-way"):
        Tree.from_arrays(three_way).right


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threshold": [0.5]}, "differ in length"),
        ({"first_child": [1, 1, -1, -1, -1]}, "do not form one tree"),
        ({"first_child": [1, 0, -1, -1, -1]}, "do not form one tree"),
        ({"missing_child": [2, 0, -1, -1, -1]}, "missing_child points outside"),
        ({"kind": [THRESHOLD, LEVEL_SET, LEAF, LEAF, 9]}, "unknown kind"),
        ({"level_offsets": [0, 0, 2, 2, 2, 2]}, "level offsets"),
        ({"feature": [0, -1, -1, -1, -1]}, "without a feature"),
        ({"threshold": [np.nan] * 5}, "a threshold that is no finite number"),
        ({"threshold": [np.inf] + [np.nan] * 4}, "a threshold that is no finite number"),
        ({"level_sets": [[0, 0], [1, 7], [2, 0]]}, "a level that goes to no child"),
        ({"level_sets": [[0, 0], [1, -1], [2, 0]]}, "a level that goes to no child"),
        ({"level_offsets": [0, 0, 2, 3, 3, 3]}, "a level that goes to no child"),  # at a leaf
        ({"level_sets": [[2, 0], [1, 1], [0, 0]]}, "not in order"),
        ({"level_sets": [[1, 0], [1, 1], [2, 0]]}, "not in order"),
        ({"first_child": [1, -1, -1, -1, -1], "n_children": [4, 0, 0, 0, 0], "kind": [1, 0, 0, 0, 0]}, "two"),
    ],
)
def test_damaged_arrays_are_refused(change, message):
    with pytest.raises(DataError, match=message):
        Tree.from_arrays(arrays_of_five_nodes() | change)


def test_compact_drops_unreachable_nodes_and_restores_the_canonical_order():
    """The right child is numbered before the left one's children, with a pruned pair in between."""
    wild = {
        "feature": [0, 1, -1, -1, -1, -1, -1],
        "kind": [THRESHOLD, LEVEL_SET, LEAF, LEAF, LEAF, LEAF, LEAF],
        "threshold": [0.5] + [np.nan] * 6,
        "level_offsets": [0, 0, 3, 3, 5, 5, 5, 5],
        "level_sets": [[0, 0], [1, 1], [2, 0], [7, 0], [8, 1]],
        "first_child": [1, 5, -1, -1, -1, -1, -1],
        "n_children": [2, 2, 0, 0, 0, 0, 0],
        "missing_child": [1, 0, -1, -1, -1, -1, -1],
        "unseen_child": [1, 1, -1, -1, -1, -1, -1],
        "value": [[0.5], [0.4], [0.9], [8.0], [8.0], [0.1], [0.7]],
        "impurity": [0.5, 0.4, 0.0, 8.0, 8.0, 0.0, 0.0],
        "gain": [0.1, 0.2, 0.0, 8.0, 8.0, 0.0, 0.0],
        "n_node_samples": [10, 6, 4, 8, 8, 3, 3],
        "weighted_n_node_samples": [10.0, 6.0, 4.0, 8.0, 8.0, 3.0, 3.0],
        "n_missing": [1, 0, 0, 0, 0, 0, 0],
    }
    tidy = compact(wild)
    tidy.validate()
    expected = arrays_of_five_nodes()
    assert tidy.to_arrays().keys() == expected.keys()
    for name, wanted in expected.items():
        np.testing.assert_array_equal(getattr(tidy, name), wanted, err_msg=name)
    assert compact(tidy.to_arrays()) == tidy


def test_deep_trees_need_no_recursion():
    tree = Tree.from_arrays(chain(20_000))
    assert tree.max_depth == 20_000
    assert sum(1 for _ in tree.walk()) == 40_001
    assert compact(tree.to_arrays()) == tree


def test_a_single_leaf_is_a_tree():
    tree = single_leaf([0.25, 0.75], 0.375, 8, 8.0)
    tree.validate()
    assert (tree.n_nodes, tree.max_depth, tree.n_outputs) == (1, 0, 2)
    assert tree.path_to(0) == ()
