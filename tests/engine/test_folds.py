"""Groups in folds: numbered alike by any labels, rows without one alone, never parted otherwise."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import DataError, ParameterError, StackingClassifier
from engine.folds import deal_folds, group_numbers
from engine.stacking.leakage import check_leakage
from engine.tuning.folds import fold_of_rows

SEED = np.random.SeedSequence(0)


@pytest.mark.parametrize(
    "labels",
    [
        [7, 3, -1, 7, -1, 3],
        ["b", "a", None, "b", None, "a"],
        [2.5, 1.0, np.nan, 2.5, np.nan, 1.0],
        pd.Series(["b", "a", pd.NA, "b", pd.NA, "a"], dtype="string"),
        pd.factorize(np.array(["b", "a", None, "b", None, "a"], object))[0],
    ],
)
def test_groups_are_numbered_by_appearance_and_rows_without_one_are_alone(labels):
    assert group_numbers(labels, 6).tolist() == [0, 1, 2, 0, 3, 1]


@given(st.lists(st.integers(-1, 4), min_size=1, max_size=40))
def test_numbers_say_which_rows_are_together(codes):
    found = group_numbers(codes, len(codes))
    assert sorted(set(found.tolist())) == list(range(found.max() + 1))
    for i, one in enumerate(codes):
        for k, other in enumerate(codes):
            assert (found[i] == found[k]) == (i == k or (one == other and one >= 0))


def test_rows_without_a_group_are_spread_over_folds():
    groups = np.concatenate([np.repeat(np.arange(6), 5), np.full(30, -1)])
    for dealt in (
        deal_folds(np.zeros(60), 3, "grouped", SEED, groups),
        fold_of_rows(3, np.zeros(60), np.arange(60), groups, 0, lambda: None, is_classifier=False),
    ):
        assert all(len(set(dealt[groups == group])) == 1 for group in range(6))
        assert len(set(dealt[30:])) == 3
    other_codes = np.where(groups < 0, -1, 10 - groups)
    one, other = (deal_folds(np.zeros(60), 3, "grouped", SEED, codes) for codes in (groups, other_codes))
    assert np.bincount(one).tolist() == [20, 20, 20]
    np.testing.assert_array_equal(one, other)


def test_stacks_treat_them_alike_and_the_leak_check_does_not_mind():
    rng = np.random.default_rng(0)
    groups = np.concatenate([np.repeat(np.arange(8), 3), np.full(16, -1)])
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    stack = StackingClassifier(cv=4, folds="grouped", random_state=0).fit(X, y, groups=groups)
    assert check_leakage(stack, groups).is_clean
    assert len(set(stack.oof_fold_[24:, 0])) == 4


def test_what_does_not_go_is_refused():
    with pytest.raises(DataError, match="6 rows but 2 groups"):
        group_numbers([1, 2], 6)
    with pytest.raises(ParameterError, match="pass groups"):
        deal_folds(np.zeros(6), 2, "grouped", SEED)
    with pytest.raises(DataError, match="2 groups for 3 folds"):
        deal_folds(np.zeros(6), 3, "grouped", SEED, [0, 0, 0, 1, 1, 1])
