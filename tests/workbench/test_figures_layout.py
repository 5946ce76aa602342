import numpy as np
import pytest

from workbench.figures.layout import tidy_positions


def random_tree(rng, n_splits, n_ways=2):
    """Links of a random tree: parents before children, children adjacent."""
    first, n_children, leaves = [-1], [0], [0]
    for _ in range(n_splits):
        node = leaves.pop(rng.integers(len(leaves)))
        n = int(rng.integers(2, n_ways + 1))
        first[node], n_children[node] = len(first), n
        leaves.extend(range(len(first), len(first) + n))
        first.extend([-1] * n)
        n_children.extend([0] * n)
    return np.array(first, np.int32), np.array(n_children, np.int32)


@pytest.mark.parametrize("seed", range(20))
def test_cards_of_one_level_never_overlap_and_parents_stand_in_the_middle(seed):
    rng = np.random.default_rng(seed)
    first, n_children = random_tree(rng, 60, n_ways=4)
    nodes, x, depth = tidy_positions(first, n_children, n_children > 0, 10.0)
    assert sorted(nodes) == list(range(len(first)))
    for level in range(depth.max() + 1):
        assert np.all(np.diff(x[depth == level]) >= 10.0 - 1e-9)
    place = dict(zip(nodes.tolist(), x.tolist(), strict=True))
    for node in np.flatnonzero(n_children):
        children = [place[first[node] + k] for k in range(n_children[node])]
        assert place[node] == pytest.approx((children[0] + children[-1]) / 2)
        assert children == sorted(children)
    assert x.min() == 0


def test_worked_positions_of_five_nodes():
    # 0 -> 1, 2; 1 -> 3, 4: the leaf 2 stands ten beside 1, not beside 4
    first, n_children = np.array([1, 3, -1, -1, -1], np.int32), np.array([2, 2, 0, 0, 0], np.int32)
    nodes, x, depth = tidy_positions(first, n_children, n_children > 0, 10.0)
    assert nodes.tolist() == [0, 1, 2, 3, 4]
    assert x.tolist() == [10.0, 5.0, 15.0, 0.0, 10.0]
    assert depth.tolist() == [0, 1, 1, 2, 2]


def test_closed_branches_take_no_room():
    first, n_children = np.array([1, 3, -1, -1, -1], np.int32), np.array([2, 2, 0, 0, 0], np.int32)
    is_open = np.array([True, False, False, False, False])
    nodes, x, _ = tidy_positions(first, n_children, is_open, 10.0)
    assert nodes.tolist() == [0, 1, 2]
    assert x.tolist() == [5.0, 0.0, 10.0]


def test_a_chain_of_1100_levels_needs_no_recursion():
    n = 1100
    first = np.full(2 * n + 1, -1, np.int32)
    first[0] = 1
    for level in range(1, n):
        first[2 * level] = 2 * level + 1  # the right child goes on
    n_children = np.where(first > 0, 2, 0).astype(np.int32)
    nodes, x, depth = tidy_positions(first, n_children, n_children > 0, 10.0)
    assert depth.max() == n
    assert len(nodes) == 2 * n + 1
    assert np.isfinite(x).all()
