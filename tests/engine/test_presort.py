"""Columns are sorted by the bits of their values: in the order of the numbers, whatever these are."""

import numpy as np
import pytest

from engine.features import FeatureSpec
from engine.jit import specialisations
from engine.tree import presort
from engine.tree.kernels import radix
from engine.tree.kernels.sort import keep_rows

TINY, HUGE = 5e-324, 1.7e308
COLUMNS = {
    "ties": [2.0, 1.0, 2.0, 2.0, 1.0],
    "both zeros are one value": [0.0, -0.0, 0.0, -0.0, -1.0, 1.0],
    "every kind of number": [HUGE, -HUGE, TINY, -TINY, 0.0, 1.0, np.nextafter(1.0, 2.0), -1.0, 1e-300],
    "all of 64 bits, and missing": [-HUGE, np.nan, HUGE, TINY, np.nan],
    "whole numbers beyond float32": [16777217.0, 16777216.0, 16777218.0, np.nan, 16777217.0],
    "narrow around an offset": [1.6e9 + 0.25, 1.6e9, 1.6e9 + 0.5, 1.6e9 + 0.125],
    "constant": [3.5, 3.5, 3.5],
    "missing alone": [np.nan, np.nan],
    "one row": [7.0],
}


def expected_order(column, is_level):
    rows = np.argsort(column, kind="stable")
    present = column[rows][: np.count_nonzero(~np.isnan(column))]
    ranks = present if is_level else np.unique(present, return_inverse=True)[1]
    return rows, [*ranks.astype(int), *[2**31 - 1] * (len(column) - len(present))]


def assert_sorted(column, order, is_level=False):
    rows, ranks = expected_order(column, is_level)
    assert (order & 0xFFFFFFFF).tolist() == rows.tolist()
    assert (order >> 32).tolist() == ranks


@pytest.mark.parametrize("values", COLUMNS.values(), ids=COLUMNS)
def test_a_column_is_sorted_like_its_numbers(values):
    column, order = np.array(values), np.empty(len(values), np.int64)
    presort.sort_column(column, False, order)
    assert_sorted(column, order)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_rows", [1, 2, 7, 64, 1001])
@pytest.mark.parametrize("share_missing", [0.0, 0.2])
def test_random_columns_are_sorted(dtype, n_rows, share_missing):
    rng = np.random.default_rng(n_rows)
    X = np.column_stack(
        [rng.normal(size=n_rows) * 10.0 ** rng.integers(-9, 9, n_rows), rng.integers(0, 6, (n_rows, 2))]
    ).astype(dtype)
    X[rng.random(X.shape) < share_missing] = np.nan
    features = (FeatureSpec("a"), FeatureSpec("b"), FeatureSpec("level", levels=tuple(range(6))))
    order = presort.presort(X, features, lambda *_: False).order
    for feature in range(3):
        assert_sorted(X[:, feature].astype(float), order[feature], is_level=feature == 2)


def test_keys_are_as_short_as_the_values_allow():
    rng = np.random.default_rng(0)
    n_bits = [presort.sortable_keys(column)[1] for column in (np.round(rng.normal(size=500) * 2) / 2,)]
    n_bits.append(presort.sortable_keys(rng.normal(size=500).astype(np.float32).astype(float))[1])
    n_bits.append(presort.sortable_keys(rng.normal(size=500))[1])
    assert n_bits[0] <= 16 < n_bits[1] <= 32 < n_bits[2] <= 64


@pytest.mark.parametrize("cells", [1, 40, 10**9])
def test_batches_change_nothing_and_a_stop_is_heard_between_them(monkeypatch, cells):
    X, asked = np.random.default_rng(0).normal(size=(20, 5)), []
    features = tuple(FeatureSpec(str(k)) for k in range(5))
    whole = presort.presort(X, features, lambda *_: False)
    monkeypatch.setattr(presort, "CELLS_PER_BATCH", cells)
    pieces = presort.presort(X, features, lambda *told: bool(asked.append(told)), 2)
    assert (pieces.order == whole.order).all()
    assert [fraction for _, fraction in asked] == sorted(fraction for _, fraction in asked)
    assert asked[-1] == (5, 1.0)
    seen = {1: {0, 1, 2, 3, 4, 5}, 40: {0, 2, 4, 5}, 10**9: {0, 5}}[cells]
    assert {n_sorted for n_sorted, _ in asked} == seen
    for n_allowed in range(len(asked)):
        answers = iter([False] * n_allowed + [True])
        ask = lambda *_, answers=answers: next(answers)  # noqa: E731
        assert presort.presort(X, features, ask, 2, keeps_values=n_allowed % 2 == 0) is None


@pytest.mark.parametrize("few_cells", [0, presort.FEW_CELLS], ids=["several threads", "one thread"])
@pytest.mark.parametrize("columns", [None, [3], np.array([6, 0, 2])], ids=str)
@pytest.mark.parametrize("n_rows", [1, 97])
def test_rows_are_taken_out_in_their_order(monkeypatch, n_rows, columns, few_cells):
    monkeypatch.setattr(presort, "FEW_CELLS", few_cells)
    rng = np.random.default_rng(n_rows)
    X = np.where(rng.random((n_rows, 7)) < 0.2, np.nan, rng.integers(0, 9, (n_rows, 7)).astype(float))
    whole = presort.presort(X, tuple(FeatureSpec(str(k)) for k in range(7)), presort.never)
    for n_drawn in (rng.integers(0, 3, n_rows), rng.random(n_rows) < 0.5, np.zeros(n_rows, bool)):
        asked = []
        kept = presort.orders_of_rows(whole, n_drawn, lambda *told, a=asked: bool(a.append(told)), columns)
        for at, feature in enumerate(range(7) if columns is None else columns):
            expected = [entry for entry in whole.order[feature].tolist() if n_drawn[entry & 0xFFFFFFFF] > 0]
            assert kept[at].tolist() == expected
        for n_allowed in range(len(asked)):
            answers = iter([False] * n_allowed + [True] * 99)
            ask = lambda *_, answers=answers: next(answers)  # noqa: E731
            assert presort.orders_of_rows(whole, n_drawn, ask, columns, 1) is None
    assert specialisations(keep_rows) == 1


def test_each_sorting_kernel_is_compiled_once():
    for dtype in (np.float32, np.float64):
        presort.sort_column(np.arange(5, dtype=dtype), False, np.empty(5, np.int64))
    for kernel in (radix.sort_by_digit, radix.write_ranks):
        assert specialisations(kernel) == 1
