import numpy as np
import pytest

from engine.errors import DataError, ParameterError
from engine.split import NONE, TEST, TRAIN, VALIDATION, split_rows


def count(parts, rows=slice(None)):
    return [int(np.count_nonzero(parts[rows] == part)) for part in (TRAIN, VALIDATION, TEST)]


def test_classes_have_the_same_shares_in_every_part():
    y = np.repeat([0, 1, 2], [100, 40, 10])
    parts, messages = split_rows(y, True, seed=3)
    assert [count(parts, y == k) for k in range(3)] == [[60, 20, 20], [24, 8, 8], [6, 2, 2]]
    assert messages == []


@pytest.mark.parametrize(("n", "expected"), [(3, [1, 1, 1]), (4, [2, 1, 1]), (2, [2, 0, 0]), (1, [1, 0, 0])])
def test_small_classes(n, expected):
    y = np.repeat([0, 1], [50, n])
    parts, messages = split_rows(y, True, class_names=("a", "b"))
    assert count(parts, y == 1) == expected
    noun = "1 row" if n == 1 else f"{n} rows"
    wanted = [f"class 'b' has only {noun}: used for training alone"] if n < 3 else []
    assert messages == wanted


def test_numbers_are_split_by_quantile():
    y = np.random.default_rng(0).normal(size=1000)
    parts, _ = split_rows(y, False, seed=1)
    assert count(parts) == [600, 200, 200]
    tenths = np.argsort(np.argsort(y)) // 100
    assert [count(parts, tenths == k) for k in range(10)] == [[60, 20, 20]] * 10


@pytest.mark.parametrize("n", [1, 2, 5, 11, 23])
def test_rounding_never_adds_up(n):
    parts, _ = split_rows(np.arange(n), False)
    counts = count(parts)
    assert sum(counts) == n
    assert counts[0] >= 1
    assert all(abs(c - share * n) <= 1 for c, share in zip(counts, (0.6, 0.2, 0.2), strict=True))


@pytest.mark.parametrize("is_classification", [True, False])
def test_rows_without_target_are_in_no_part_and_counted(is_classification):
    y = np.tile([0.0, 1.0, np.nan, 1.0], 25)
    parts, messages = split_rows(y, is_classification)
    np.testing.assert_array_equal(parts == NONE, np.isnan(y))
    assert messages == ["25 rows without target, in no part"]


def test_negative_numbers_are_targets_but_negative_codes_are_not():
    assert np.all(split_rows([-3.0, -2.0, -1.0], False)[0] != NONE)
    assert split_rows([-1, 0, 0], True)[0][0] == NONE


@pytest.mark.parametrize("is_classification", [True, False])
def test_groups_stay_whole(is_classification):
    rng = np.random.default_rng(4)
    groups = rng.integers(-1, 40, 400)
    y = rng.integers(0, 3, 400).astype(float)
    parts, messages = split_rows(y, is_classification, groups, seed=5)
    for group in range(40):
        assert len(set(parts[groups == group])) == 1
    assert np.allclose(count(parts), [240, 80, 80], atol=12)
    assert messages == []


def test_too_few_groups_are_told():
    parts, messages = split_rows([0, 1, 0, 1], True, [7, 7, 7, 7])
    assert count(parts) == [4, 0, 0]
    assert messages == [
        f"no row is left for {name}: there are too few groups" for name in ("validation", "test")
    ]


def test_no_test_part():
    parts, _ = split_rows(np.repeat([0, 1], 50), True, fractions=(0.75, 0.25, 0))
    assert count(parts) == [74, 26, 0] or count(parts) == [75, 25, 0]


def test_seeds_repeat_and_differ():
    y = np.repeat([0, 1], 50)
    np.testing.assert_array_equal(split_rows(y, True, seed=1)[0], split_rows(y, True, seed=1)[0])
    assert np.any(split_rows(y, True, seed=1)[0] != split_rows(y, True, seed=2)[0])


@pytest.mark.parametrize(
    "fractions", [(0.5, 0.2, 0.2), (0, 0.5, 0.5), (1.2, -0.1, -0.1), (1, 0), (np.nan, 0, 1)]
)
def test_fractions_that_are_no_shares(fractions):
    with pytest.raises(ParameterError, match="fractions"):
        split_rows([0, 1], True, fractions=fractions)


def test_groups_of_another_length():
    with pytest.raises(DataError, match="group codes"):
        split_rows([0, 1, 1], True, [0, 1])
