import numpy as np
import pytest

from engine.errors import DataError
from engine.tree.prune import prune
from engine.tree.structure import LEAF, LEVEL_SET
from tests.engine.random_trees import naive_leaf, random_tree


@pytest.mark.parametrize("seed", range(6))
def test_pruning_changes_only_the_rows_below(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 20, 3, 2, categorical=(1,))
    before = tree.to_arrays()
    rows = np.column_stack([rng.uniform(0, 10, 200), rng.integers(-1, 5, 200), rng.uniform(0, 10, 200)])
    rows[rng.random(rows.shape) < 0.2] = np.nan
    node = int(rng.choice(np.flatnonzero(tree.kind != LEAF)))
    path = tree.path_to(node)
    pruned = prune(tree, path)
    pruned.validate()
    assert pruned.kind[pruned.node_at(path)] == LEAF
    assert pruned.n_nodes == tree.n_nodes - len(list(tree.walk(node))) + 1
    below = set(tree.walk(node))
    for row in rows:
        old = naive_leaf(tree, row)
        expected = tree.value[node] if old in below else tree.value[old]
        np.testing.assert_array_equal(pruned.value[naive_leaf(pruned, row)], expected)
    for name, array in before.items():
        np.testing.assert_array_equal(getattr(tree, name), array), "the old tree is undo"


def test_pruned_node_keeps_its_counts_and_drops_its_question():
    tree = random_tree(np.random.default_rng(1), 20, 3, 1, categorical=(0, 1, 2))
    node = int(np.flatnonzero(tree.kind == LEVEL_SET)[-1])
    pruned = prune(tree, tree.path_to(node))
    leaf = pruned.node_at(tree.path_to(node))
    assert pruned.n_node_samples[leaf] == tree.n_node_samples[node]
    assert pruned.impurity[leaf] == tree.impurity[node]
    assert pruned.gain[leaf] == 0
    assert pruned.n_missing[leaf] == 0
    assert len(pruned.levels(leaf)) == 0


def test_order_of_prunes_does_not_matter():
    tree = random_tree(np.random.default_rng(2), 30)
    inner = [tree.path_to(node) for node in np.flatnonzero(tree.kind != LEAF).tolist()]
    pairs = [(a, b) for a in inner for b in inner if a < b and b[: len(a)] != a]
    for a, b in pairs[:20]:
        assert prune(prune(tree, a), b) == prune(prune(tree, b), a)


def test_pruning_the_root_leaves_one_leaf():
    tree = random_tree(np.random.default_rng(4), 9)
    assert prune(tree, ()).n_nodes == 1


def test_leaves_and_unknown_nodes_are_refused():
    tree = random_tree(np.random.default_rng(4), 9)
    leaf = tree.path_to(int(np.flatnonzero(tree.is_leaf)[0]))
    with pytest.raises(DataError, match=r'^the node at ".*" is a leaf already'):
        prune(tree, leaf)
    with pytest.raises(DataError, match="the tree has no such node"):
        prune(tree, (*leaf, 0))
