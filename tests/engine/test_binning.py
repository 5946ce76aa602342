from itertools import pairwise

import numpy as np
import pytest

from engine.binning import bin_table
from engine.features import FeatureSpec
from engine.jit import specialisations
from engine.kernels import binning as kernels
from tests.engine import naive_boosting as naive


def numbers(n_features):
    return tuple(FeatureSpec(f"x{i}") for i in range(n_features))


def test_few_distinct_values_keep_a_bin_each_at_the_midpoints():
    X = np.array([[3.0], [1.0], [1.0], [8.0], [np.nan]])
    binned = bin_table(X, numbers(1))
    np.testing.assert_array_equal(binned.thresholds[0], [2.0, 5.5])
    np.testing.assert_array_equal(binned.codes[:, 0], [1, 0, 0, 2, 3])  # missing is after the last bin
    assert binned.codes.dtype == np.uint8
    assert binned.n_bins[0] == 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 1001])
def test_codes_agree_with_thresholds_at_every_value(n_rows, dtype):
    rng = np.random.default_rng(n_rows)
    X = rng.normal(size=(n_rows, 3)).astype(dtype)
    X[rng.random(n_rows) < 0.2, 1] = np.nan
    binned = bin_table(X, numbers(3), max_bins=16)
    for f in range(3):
        cuts = binned.thresholds[f]
        assert np.all(np.diff(cuts) > 0)
        assert len(cuts) == max(binned.n_bins[f] - 1, 0)
        expected = [binned.n_bins[f] if code is None else code for code in naive.bins(X[:, f], cuts)]
        np.testing.assert_array_equal(binned.codes[:, f], expected)
    np.testing.assert_array_equal(binned.codes, binned.columns.T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("max_bins", [2, 16, 255, 5000])
def test_codes_of_numbers_of_every_size_agree_with_thresholds(max_bins, dtype):
    """Few rows and many, crowded and far apart, both zeros, both infinities, the smallest numbers."""
    rng = np.random.default_rng(max_bins)
    tiny, large = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    odd = np.array([-0.0, 0.0, tiny, -tiny, 2 * tiny, large, -large, np.inf, -np.inf, np.nan], dtype)
    columns = [
        rng.normal(size=4000) * 10.0 ** rng.integers(-30, 30, 4000),
        1 + rng.integers(0, 40, 4000) * np.finfo(dtype).eps,
        rng.normal(size=4000),
    ]
    for column in columns:
        x = rng.permutation(np.concatenate([column.astype(dtype), np.repeat(odd, 3)]))
        binned = bin_table(x[:, None].copy(), numbers(1), max_bins)
        cuts = binned.thresholds[0]
        expected = np.where(np.isnan(x), binned.n_bins[0], np.searchsorted(cuts, x.astype(float)))
        np.testing.assert_array_equal(binned.codes[:, 0], expected)


def test_thresholds_lie_halfway_between_adjacent_values_of_the_whole_column():
    x = np.sort(np.random.default_rng(1).normal(size=5000))
    binned = bin_table(x[:, None].copy(), numbers(1), max_bins=50)
    halfway = {float((a + b) * 0.5) for a, b in pairwise(x)}
    assert set(binned.thresholds[0].tolist()) <= halfway
    counts = np.bincount(binned.codes[:, 0])
    assert len(counts) == 50
    assert counts.min() == counts.max() == 100


def test_a_value_of_many_rows_has_a_bin_of_its_own():
    x = np.concatenate([np.linspace(0, 1, 500), np.full(2000, 0.5005), np.linspace(2, 3, 500)])
    binned = bin_table(x[:, None].copy(), numbers(1), max_bins=20)
    heavy = binned.codes[600, 0]
    assert np.count_nonzero(binned.codes[:, 0] == heavy) <= 2001
    assert binned.n_bins[0] == 20


def test_minus_zero_and_zero_are_one_value():
    binned = bin_table(np.array([[-0.0], [0.0], [1.0]]), numbers(1))
    np.testing.assert_array_equal(binned.thresholds[0], [0.5])
    np.testing.assert_array_equal(binned.codes[:, 0], [0, 0, 1])


def test_neighbouring_doubles_and_huge_values_are_told_apart():
    pairs = [
        (1.0e308, 1.7e308),
        (-1.7e308, 1.7e308),
        (1.0000000000000002, 1.0000000000000004),
        (5e-324, 1e-323),
    ]
    for low, high in pairs:
        binned = bin_table(np.array([[low], [high]]), numbers(1))
        (threshold,) = binned.thresholds[0]
        assert low <= threshold < high
        np.testing.assert_array_equal(binned.codes[:, 0], [0, 1])


def test_300_levels_do_not_wrap_round():
    levels = tuple(f"l{i}" for i in range(300))
    X = np.column_stack([np.arange(300.0), np.arange(300.0) % 2])
    X[7, 0] = np.nan
    binned = bin_table(X, (FeatureSpec("lev", levels=levels), FeatureSpec("x")))
    assert binned.codes.dtype == np.uint16
    assert binned.codes[299, 0] == 299
    assert binned.codes[7, 0] == 300
    np.testing.assert_array_equal(binned.offsets, [0, 301, 304])


def test_a_column_without_values_has_no_bin_and_a_constant_one():
    X = np.array([[np.nan, 4.0], [np.nan, 4.0]])
    binned = bin_table(X, numbers(2))
    np.testing.assert_array_equal(binned.n_bins, [0, 1])
    np.testing.assert_array_equal(binned.codes, [[0, 0], [0, 0]])


def test_any_number_of_threads_gives_the_same_codes():
    X = np.random.default_rng(0).normal(size=(2000, 17))
    one = bin_table(X, numbers(17), 31, n_jobs=1)
    for n_jobs in (2, 8):
        other = bin_table(X, numbers(17), 31, n_jobs=n_jobs)
        np.testing.assert_array_equal(one.codes, other.codes)


@pytest.mark.parametrize(("n_cells", "told"), [(1, [1, 2, 3, 4, 5]), (600, [3, 5]), (2**23, [5])])
def test_the_more_rows_a_table_has_the_fewer_columns_are_binned_between_two_questions(
    n_cells, told, monkeypatch
):
    monkeypatch.setattr("engine.binning.CELLS_A_WAVE", n_cells)
    X, asked = np.random.default_rng(0).normal(size=(200, 5)), []
    binned = bin_table(X, numbers(5), 31, n_jobs=1, on_column=asked.append)
    assert asked == told
    for column, cuts, codes in zip(X.T, binned.thresholds, binned.columns, strict=True):
        np.testing.assert_array_equal(codes, np.searchsorted(cuts, column))


def test_the_copy_to_rows_has_one_variant_a_code_width():
    columns = np.arange(3 * 1100).reshape(3, 1100).astype(np.uint8)
    codes = np.zeros((1100, 3), np.uint8)
    kernels.copy_to_rows(columns, 0, 1100, codes)
    np.testing.assert_array_equal(codes, columns.T)
    assert specialisations(kernels.copy_to_rows) <= 3
