"""One tree of a round: histograms, split search, partition and sums, from given gradients."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from engine.binning import bin_table
from engine.boosting.blocks import RowBlocks
from engine.boosting.derivatives import Derivatives
from engine.boosting.grow import TreeGrower
from engine.boosting.grown import WEIGHT, GrowSettings
from engine.boosting.kernels import growing, splitting, team
from engine.boosting.kernels import histogram as histogram_kernels
from engine.boosting.kernels import partition as partition_kernels
from engine.boosting.team import Team
from engine.features import FeatureSpec
from engine.jit import specialisations
from engine.tree.structure import IS_MISSING, LEVEL_SET, THRESHOLD
from tests.engine import naive_boosting as naive

PLAIN = GrowSettings("leaf", 31, None, 1, 1, 0.0, 1.0, counts_are_hessians=False, n_jobs=1)


def grow(X, gradients, settings=PLAIN, *, hessians=None, weights=None, levels=None, max_bins=255):
    X = np.ascontiguousarray(X, dtype=float)
    levels = levels or {}
    features = tuple(FeatureSpec(f"x{i}", levels=levels.get(i)) for i in range(X.shape[1]))
    ones = np.ones(len(X))
    weights = ones if weights is None else weights
    binned = bin_table(X, features, max_bins)
    hessians = weights if hessians is None else hessians
    team = Team(settings.n_jobs)
    grower = TreeGrower(binned, weights, settings, lambda: None, team)
    with team.at_work():
        return grower.grow(derivatives_of(gradients, hessians), np.arange(len(X), dtype=np.int32))


def derivatives_of(gradients, hessians):
    """Return what a loss would leave that has such derivatives."""
    g, h = (np.array([values], float) for values in (gradients, hessians))
    largest = np.array([[[np.abs(g).max()], [np.abs(h).max()]]])
    return Derivatives(g, h, largest, np.zeros(2), np.empty((0, 0), np.int32))


def test_c47_the_last_of_2_500_000_000_cells_is_found(tmp_path):
    """Offset 2,499,999,999 is negative in 32 bits. A sparse file stands for the memory."""
    n_rows, n_features = 5_000_000, 500
    with open(tmp_path / "codes", "wb") as file:
        file.truncate(n_rows * n_features)
    codes = np.asarray(np.memmap(tmp_path / "codes", np.uint8, "r+", shape=(n_rows, n_features)))
    codes.reshape(-1)[2_499_999_999] = 1
    assert codes[-1, -1] == 1
    fixed = np.zeros((n_rows, 1), np.int32)
    fixed[-1] = 41
    offsets = np.arange(0, 2 * n_features + 1, 2, dtype=np.uint64)
    packed = np.zeros((2 * n_features, 1), np.int64)
    histogram_kernels.add_rows(codes, np.array([n_rows - 1], np.int32), 0, 1, fixed, offsets, 1, packed)
    assert packed[-2:].tolist() == [[0], [41 * 2 + 1]]
    assert (packed[:-2:2] == 41 * 2 + 1).all()


@pytest.mark.parametrize("kernel", [growing.grow, team.build, team.partition, team.add, team.serve])
def test_the_kernels_of_a_team_have_one_variant_a_code_width(kernel):
    grow(np.arange(6.0)[:, None], [1, 1, 1, -1, -1, 1])
    assert specialisations(kernel) <= 3


@pytest.mark.parametrize("n_rows", [0, 1, 2, 97])
def test_partition_keeps_the_order_of_rows(n_rows):
    rng = np.random.default_rng(n_rows)
    column, goes_left = rng.integers(0, 4, 200).astype(np.uint8), np.array([1, 0, 1, 0], np.uint8)
    rows = np.sort(rng.choice(200, n_rows, replace=False)).astype(np.int32)
    lefts, rights = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
    n_left = partition_kernels.split_rows(rows, 0, n_rows, column, goes_left, lefts, rights)
    is_left = goes_left[column[rows]] == 1
    np.testing.assert_array_equal(lefts[:n_left], rows[is_left])
    np.testing.assert_array_equal(rights[: n_rows - n_left], rows[~is_left])


@pytest.mark.parametrize("has_weights", [True, False])
@pytest.mark.parametrize("block", [1, 7, 64, 1000])
def test_rows_are_summed_and_changed_block_by_block(block, has_weights, monkeypatch):
    monkeypatch.setattr("engine.boosting.blocks.BLOCK", block)
    rng = np.random.default_rng(block)
    drawn = rng.choice(200, 150, replace=False)
    stretches = np.array([[0, 20], [20, 21], [30, 150]])
    rows = np.concatenate([np.sort(part) for part in np.split(drawn, [20, 21, 30])]).astype(np.int32)
    g, h, w = rng.normal(size=200), rng.uniform(1, 2, 200), rng.uniform(1, 2, 200)
    w = w if has_weights else np.ones(200)
    blocks, team = RowBlocks(rows, stretches), Team(2)
    raw, expected = np.zeros((200, 2)), np.zeros((200, 2))
    with team.at_work():
        sums = blocks.sums(g, h, w if has_weights else w[:0], team)
        blocks.add_values(np.array([1.0, 2.0, 3.0]), 1, raw, team)
    for value, (start, stop), of_node in zip((1.0, 2.0, 3.0), stretches, sums, strict=True):
        chosen = rows[start:stop]
        np.testing.assert_allclose(of_node, [g[chosen].sum(), h[chosen].sum(), w[chosen].sum()])
        expected[chosen, 1] = value
    np.testing.assert_array_equal(raw, expected)


def test_bounds_of_blocks_stay_few_where_nodes_are_many(monkeypatch):
    monkeypatch.setattr("engine.boosting.blocks.BLOCK", 1)
    monkeypatch.setattr("engine.boosting.blocks.MOST_BOUNDS", 60)
    rows = np.arange(100, dtype=np.int32)
    blocks = RowBlocks(rows, np.array([[i, i + 10] for i in range(0, 100, 10)]))
    assert blocks.n_blocks == 6
    sums = blocks.sums(np.ones(100), np.arange(100.0), np.ones(0), Team(1))
    np.testing.assert_array_equal(sums[:, 1], np.arange(100).reshape(10, 10).sum(axis=1))


def test_sorting_of_levels_equals_a_sort_by_key_then_code():
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 50, 301):
        keys, items = rng.integers(0, 9, n).astype(float), rng.permutation(n).astype(np.int64)
        expected = sorted(zip(keys.tolist(), items.tolist(), strict=True))
        splitting.sort_by_key(keys, items, n)
        assert list(zip(keys.tolist(), items.tolist(), strict=True)) == expected


def random_table(seed):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(6, 40))
    columns = np.column_stack(
        [
            rng.integers(0, 6, n_rows).astype(float),
            rng.normal(size=n_rows),
            rng.integers(0, 6, n_rows).astype(float),
        ]
    )
    columns[rng.random(columns.shape) < 0.15] = np.nan
    return rng, columns


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("order", [1, 2])
def test_the_root_split_equals_the_best_of_all_partitions(seed, order):
    rng, X = random_table(seed)
    n_rows = len(X)
    weights = rng.uniform(0.5, 3, n_rows)
    gradients, hessians = rng.normal(size=n_rows) * weights, rng.uniform(0.1, 1, n_rows) * weights
    min_samples_leaf = int(rng.integers(1, 3))
    settings = replace(PLAIN, order=order, max_depth=1, min_samples_leaf=min_samples_leaf)
    # the order by mean is exact for categories unless the leaf limit binds (D29)
    levels = {2: tuple("abcdef")} if min_samples_leaf == 1 else {}
    tree = grow(X, gradients, settings, hessians=hessians, weights=weights, levels=levels).to_tree(1.0)
    curvatures = weights if order == 1 else hessians
    best = naive.best_gain(X.T, [False, False, 2 in levels], gradients, curvatures, 0.0, min_samples_leaf)
    assert tree.gain[0] == pytest.approx(best, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_rows_and_gradients_add_up_at_every_node(seed):
    rng, X = random_table(seed)
    grown = grow(X, rng.normal(size=len(X)), replace(PLAIN, max_leaf_nodes=8), levels={2: tuple("abcdef")})
    tree = grown.to_tree(1.0)
    tree.validate()
    inner = np.flatnonzero(~tree.is_leaf)
    for name in ("n_node_samples", "weighted_n_node_samples"):
        counts = getattr(tree, name)
        np.testing.assert_allclose(counts[inner], counts[tree.left[inner]] + counts[tree.right[inner]])
    np.testing.assert_allclose(
        tree.gain[inner],
        tree.impurity[inner] - tree.impurity[tree.left[inner]] - tree.impurity[tree.right[inner]],
    )
    assert sorted(grown.sample_indices.tolist()) == list(range(len(X)))


def test_second_order_worked_example():
    y = np.array([0, 0, 0, 1, 1, 0.0])
    settings = replace(PLAIN, order=2, reg_lambda=1.0, max_depth=1)
    tree = grow(np.arange(6.0)[:, None], 0.5 - y, settings, hessians=np.full(6, 0.25)).to_tree(1.0)
    assert tree.threshold[0] == 2.5
    np.testing.assert_allclose(tree.value[1:, 0], [-0.857143, 0.285714], atol=5e-7)
    assert tree.gain[0] == pytest.approx(1.028571, abs=5e-7)


def test_a_split_on_missing_alone_is_an_is_missing_node():
    X = np.array([[0.0], [0.0], [np.nan], [np.nan]])
    tree = grow(X, [-1.0, -1.0, 1.0, 1.0]).to_tree(1.0)
    assert tree.kind[0] == IS_MISSING
    assert tree.n_missing[0] == 2
    np.testing.assert_array_equal(tree.value[tree.children(0), 0], [-1.0, 1.0])
    levels = grow(X, [-1.0, -1.0, 1.0, 1.0], levels={0: ("a",)}).to_tree(1.0)
    assert levels.kind[0] == IS_MISSING
    assert tree.unseen_child[0] == levels.unseen_child[0] == 1  # an unseen level is not missing


def test_missing_learns_its_side():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan]])
    right = grow(X, [-1, -1, 1, 1, 1.0], replace(PLAIN, max_depth=1)).to_tree(1.0)
    left = grow(X, [-1, -1, 1, 1, -1.0], replace(PLAIN, max_depth=1)).to_tree(1.0)
    assert (right.kind[0], right.threshold[0], right.missing_child[0]) == (THRESHOLD, 1.5, 1)
    assert (left.threshold[0], left.missing_child[0], left.n_missing[0]) == (1.5, 0, 1)


def test_without_missing_rows_missing_goes_to_the_heavier_child():
    X, gradients = np.arange(5.0)[:, None], [-1, -1, 1, 1, 1.0]
    assert grow(X, gradients).to_tree(1.0).missing_child[0] == 1
    heavy_left = grow(X, gradients, weights=np.array([2.0, 2, 1, 1, 1])).to_tree(1.0)
    assert heavy_left.missing_child[0] == 0
    tie = grow(X[:4], [-1, -1, 1, 1.0]).to_tree(1.0)
    assert tie.missing_child[0] == 0


def test_levels_split_by_mean_gradient_and_yes_has_fewer_levels():
    X = np.repeat(np.arange(5.0), 2)[:, None]
    tree = grow(X, np.repeat([3, -3, -3, 3, -3.0], 2), levels={0: tuple("abcde")}).to_tree(1.0)
    assert tree.kind[0] == LEVEL_SET
    np.testing.assert_array_equal(tree.levels(0), [[0, 0], [1, 1], [2, 1], [3, 0], [4, 1]])


def test_ties_go_to_the_lowest_column_then_the_lowest_threshold():
    column = np.array([1.0, 2, 3, 4])
    tree = grow(np.column_stack([column, column]), [1, 1, -1, -1.0]).to_tree(1.0)
    assert (tree.feature[0], tree.threshold[0]) == (0, 2.5)
    stump = replace(PLAIN, max_depth=1)
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        x, g = np.array([[1.0], [2], [3]])[order], np.array([1, -2, 1.0])[order]
        assert grow(x, g, stump).to_tree(1.0).threshold[0] == 1.5


def test_empty_bins_of_a_node_give_the_lowest_threshold():
    X = np.array([[0, 0], [0, 9], [1, 3], [1, 4], [1, 5.0]])
    tree = grow(X, [-20, -10, 9, 9, 9.0]).to_tree(1.0)
    at = int(np.flatnonzero((tree.feature == 1) & (tree.n_node_samples == 2))[0])
    assert tree.threshold[at] == 1.5  # between 0 and 3, neighbours in the whole column


def test_leaf_growth_takes_the_largest_gain_first_and_depth_growth_levels_first():
    X = np.arange(8.0)[:, None]
    gradients = np.array([-100, -99, -98.9, -98, 100, 110, 150, 300])
    by_leaf = grow(X, gradients, replace(PLAIN, max_leaf_nodes=4)).to_tree(1.0)
    by_depth = grow(X, gradients, replace(PLAIN, max_leaf_nodes=4, growth="depth")).to_tree(1.0)
    assert sorted(by_depth.depths[by_depth.is_leaf].tolist()) == [2, 2, 2, 2]
    assert by_leaf.n_leaves == 4
    assert by_leaf.max_depth == 3


def test_limits_hold():
    rng = np.random.default_rng(0)
    X, gradients = rng.normal(size=(300, 2)), rng.normal(size=300)
    full = grow(X, gradients, replace(PLAIN, max_leaf_nodes=None), max_bins=300)
    assert len(full.leaves) == 300
    leafy = grow(X, gradients, replace(PLAIN, max_leaf_nodes=None, min_samples_leaf=7))
    assert min(leaf.n_rows for leaf in leafy.leaves) >= 7
    assert grow(X, gradients, replace(PLAIN, max_leaf_nodes=None, max_depth=3)).to_tree(1.0).max_depth == 3


def test_unit_weights_as_counts_give_the_tree_of_unit_weights():
    rng = np.random.default_rng(5)
    X, gradients = rng.normal(size=(500, 4)), rng.normal(size=500)
    as_counts = grow(X, gradients, replace(PLAIN, counts_are_hessians=True)).to_tree(0.1)
    assert as_counts == grow(X, gradients).to_tree(0.1)


def test_subtraction_gives_the_sums_of_direct_building():
    """A node large enough to keep its histogram and a table in many pieces: gains equal the oracle's."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 6, (4000, 2)).astype(float)
    gradients = rng.normal(size=4000) + X[:, 0] * (X[:, 1] > 2)
    grown = grow(X, gradients, replace(PLAIN, max_leaf_nodes=6))
    objectives = grown.objectives()
    for i, node in enumerate(grown.nodes):
        rows = np.sort(grown.sample_indices[node.start : node.stop])
        assert node.sums[WEIGHT] == len(rows)
        if node.split is not None and node.first_child >= 0:
            gain = objectives[i] - objectives[node.first_child] - objectives[node.first_child + 1]
            best = naive.best_gain(X[rows].T, [False, False], gradients[rows], np.ones(len(rows)), 0.0, 1)
            assert gain == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("exponent", [-300, 0, 150])
def test_the_scale_of_gradients_does_not_change_the_partition(exponent):
    rng = np.random.default_rng(4)
    X, gradients = rng.normal(size=(60, 3)), rng.normal(size=60)
    plain, scaled = grow(X, gradients), grow(X, gradients * 2.0**exponent)
    np.testing.assert_array_equal(plain.sample_indices, scaled.sample_indices)
    np.testing.assert_array_equal(plain.to_tree(1.0).value * 2.0**exponent, scaled.to_tree(1.0).value)


def test_cutting_the_work_into_other_pieces_gives_the_same_tree(monkeypatch):
    """Many pieces and waves of them, as a table of millions of rows has."""
    from engine.boosting import grower as module

    rng = np.random.default_rng(6)
    X, gradients = rng.normal(size=(3000, 3)), rng.normal(size=3000)
    X[rng.random(X.shape) < 0.1] = np.nan
    whole = grow(X, gradients)
    monkeypatch.setattr(module, "ROW_CHUNK", 64)
    monkeypatch.setattr(module, "CELLS_A_CHUNK", 90)
    for n_jobs in (1, 2):
        pieces = grow(X, gradients, replace(PLAIN, n_jobs=n_jobs))
        np.testing.assert_array_equal(whole.sample_indices, pieces.sample_indices)
        for one, other in zip(whole.nodes, pieces.nodes, strict=True):
            np.testing.assert_allclose(one.sums, other.sums, atol=1e-10)


def test_a_column_of_only_missing_values_is_no_choice():
    X = np.column_stack([np.full(6, np.nan), np.ones(6)])
    grown = grow(X, [1, 1, 1, -1, -1, -1.0])
    assert len(grown.nodes) == 1


def test_room_for_nodes_and_codes_grows_with_the_tree(monkeypatch):
    rng = np.random.default_rng(7)
    X, gradients = np.column_stack([rng.integers(0, 9, 300), rng.normal(size=300)]), rng.normal(size=300)
    settings, levels = replace(PLAIN, max_leaf_nodes=None), {0: tuple("abcdefghi")}
    roomy = grow(X, gradients, settings, levels=levels).to_tree(1.0)
    monkeypatch.setattr("engine.boosting.grow.FIRST_NODES", 2)
    monkeypatch.setattr("engine.boosting.grow.FIRST_CODES", 2)
    assert grow(X, gradients, settings, levels=levels).to_tree(1.0) == roomy


def test_nodes_split_by_other_columns_have_no_room_for_all_levels_of_the_widest():
    X = np.column_stack([np.arange(100.0), np.zeros(100)])
    gradients = np.random.default_rng(8).normal(size=100)
    levels = {1: tuple(map(str, range(20_000)))}
    grow(X, gradients, replace(PLAIN, max_leaf_nodes=2), levels=levels)  # what is compiled is no part of it
    tracemalloc.start()
    try:
        grown = grow(X, gradients, replace(PLAIN, max_leaf_nodes=None), levels=levels)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(grown.nodes) == 199
    assert most < 199 * 20_000
