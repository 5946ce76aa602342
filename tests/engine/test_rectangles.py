"""The leaves as rectangles in the plane of two columns: they tile it, and say what the tree says."""

import math

import numpy as np
import pytest

from engine.base import TrainingData
from engine.errors import DataError
from engine.features import FeatureSpec
from engine.tree.by_hand import force_split
from engine.tree.rectangles import leaf_rectangles
from engine.tree.structure import single_leaf
from tests.engine.random_trees import naive_leaf, random_tree
from tests.engine.test_tree_cases import chain_of_classes

INF = math.inf


def five_leaves():
    """The tree of five leaves, forced by hand: F2 < 0, then F1 < -0.25 (then F2 < -0.4), else F1 < 1.25."""
    F1, F2 = np.meshgrid(np.linspace(-2, 2, 21) + 0.01, np.linspace(-1, 1, 21) + 0.01)
    X = np.column_stack([F1.ravel(), F2.ravel()])
    y = np.arange(len(X), dtype=float)
    features = (FeatureSpec("F1"), FeatureSpec("F2"))
    data = TrainingData(
        X=X, y=y, sample_weight=np.ones(len(X)), rows=np.arange(len(X)), n_samples=len(X), features=features,
        classes=None, is_weighted=False,
    )  # fmt: skip
    tree = single_leaf([y.mean()], y.var(), len(X), len(X))
    for path, name, threshold in [
        ((), "F2", 0.0), ((0,), "F1", -0.25), ((0, 0), "F2", -0.4), ((1,), "F1", 1.25),
    ]:  # fmt: skip
        tree = force_split(tree, path, name, data, "squared_error", threshold=threshold)
    return tree


def test_the_five_leaves_are_five_rectangles():
    tree = five_leaves()
    assert tree.n_leaves == 5
    found = leaf_rectangles(tree, 0, 1, [0.0, 0.0])
    assert list(zip(*(bounds.tolist() for bounds in found[:4]), strict=True)) == [
        (-INF, -0.25, -INF, -0.4),
        (-INF, -0.25, -0.4, 0.0),
        (-0.25, INF, -INF, 0.0),
        (-INF, 1.25, 0.0, INF),
        (1.25, INF, 0.0, INF),
    ]
    assert [tree.path_to(node) for node in found.node] == [(0, 0, 0), (0, 0, 1), (0, 1), (1, 0), (1, 1)]
    np.testing.assert_array_equal(found.value, tree.value[found.node])


def test_with_the_axes_changed_the_rectangles_are_turned():
    tree = five_leaves()
    one, other = leaf_rectangles(tree, 0, 1, [0.0, 0.0]), leaf_rectangles(tree, 1, 0, [0.0, 0.0])
    np.testing.assert_array_equal(one.node, other.node)
    np.testing.assert_array_equal(one.x0, other.y0)
    np.testing.assert_array_equal(one.y1, other.x1)


@pytest.mark.parametrize("seed", range(12))
def test_every_point_lies_in_the_one_rectangle_of_its_leaf(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 60, 5, categorical=(3, 4))
    for held in ([0, 0, 5.5, 2, 1], [0, 0, np.nan, np.nan, -1]):
        found = leaf_rectangles(tree, 0, 1, held)
        assert len(np.unique(found.node)) == len(found.node)
        for x, y in rng.integers(-1, 21, (80, 2)) / 2:  # many lie on a threshold
            inside = (found.x0 < x) & (x <= found.x1) & (found.y0 < y) & (y <= found.y1)
            assert np.count_nonzero(inside) == 1
            assert found.node[inside][0] == naive_leaf(tree, [x, y, *held[2:]])


def test_the_areas_add_up_to_the_whole_window():
    tree = random_tree(np.random.default_rng(5), 200, 2)
    x0, x1, y0, y1, *_ = leaf_rectangles(tree, 0, 1, [0, 0])
    widths, heights = (np.clip(upper, 0, 10) - np.clip(lower, 0, 10) for lower, upper in ((x0, x1), (y0, y1)))
    assert float((widths * heights).sum()) == 100.0


def test_c42_a_deep_tree_has_a_rectangle_a_leaf():
    found = leaf_rectangles(chain_of_classes(), 0, 1, [0.0, 0.0])
    assert len(found.node) == 1101
    assert (found.x0[-1], found.x1[-1], found.y0[-1], found.y1[-1]) == (1100.5, INF, -INF, INF)
    np.testing.assert_array_equal(found.x1[:-1], found.x0[1:])


def test_what_is_no_plane_is_refused():
    tree = random_tree(np.random.default_rng(0), 60, 3, categorical=(2,))
    with pytest.raises(DataError, match="both sides of the rectangles are column 1"):
        leaf_rectangles(tree, 1, 1, [0, 0, 0])
    with pytest.raises(DataError, match="there is no column 3: 3 values are held"):
        leaf_rectangles(tree, 1, 3, [0, 0, 0])
    with pytest.raises(DataError, match="column 2 is a category"):
        leaf_rectangles(tree, 1, 2, [0, 0, 0])
