"""Entropies of two columns: the worked numbers, a loop as oracle, identities for any counts, cuts."""

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from engine.errors import DataError, ParameterError
from engine.information import EQUAL_COUNTS, EQUAL_WIDTHS, JointCounts, cut, cut_points, entropy, joint_counts

COUNTS = arrays(np.int64, st.tuples(st.integers(1, 5), st.integers(1, 5)), elements=st.integers(0, 40))


def test_rain_and_clouds_are_as_the_book_has_them():
    joint = JointCounts(np.array([[24, 1], [25, 50]]))  # raining, dry; cloudy, not
    assert joint.joint_entropy == pytest.approx(1.560573, abs=5e-7)
    assert joint.y_given_each_x[0] == pytest.approx(0.242292, abs=5e-7)
    assert joint.y_given_x == pytest.approx(0.749295, abs=5e-7)
    assert joint.mutual_information == pytest.approx(0.250417, abs=5e-7)


@pytest.mark.parametrize(
    ("counts", "bits"), [([8, 1], 0.503258), ([4, 5], 0.991076), ([1, 1], 1.0), ([7, 0], 0.0), ([0, 0], 0.0)]
)
def test_entropies_of_two_counts(counts, bits):
    assert entropy(np.array(counts)) == pytest.approx(bits, abs=5e-7)


def test_a_column_tells_itself_whole():
    joint = JointCounts(np.diag([3, 4, 5]))
    assert joint.y_given_x == joint.x_given_y == 0.0
    assert joint.mutual_information == pytest.approx(joint.entropy_x)


@given(COUNTS)
def test_the_chain_rule_holds_for_any_counts(counts):
    joint = JointCounts(counts)
    close = pytest.approx(joint.joint_entropy, abs=1e-9)
    assert joint.x_given_y + joint.entropy_y == close
    assert joint.y_given_x + joint.entropy_x == close
    assert joint.entropy_x - joint.x_given_y == pytest.approx(joint.mutual_information, abs=1e-9)
    assert joint.y_given_x <= joint.entropy_y + 1e-9
    assert joint.mutual_information >= 0


@given(COUNTS)
def test_mutual_information_is_that_of_a_loop(counts):
    n, total = counts.sum(), 0.0
    for i, j in np.ndindex(*counts.shape):
        if counts[i, j]:
            total += counts[i, j] / n * log2(counts[i, j] * n / (counts[i].sum() * counts[:, j].sum()))
    assert JointCounts(counts).mutual_information == pytest.approx(total, abs=1e-9)


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (1, 1)])
def test_entropies_of_all_values_are_worked_out_together_and_once(shape):
    counts = np.random.default_rng(0).integers(0, 4, shape)
    counts[0] = 0
    joint = JointCounts(counts)
    np.testing.assert_allclose(joint.y_given_each_x, [entropy(row) for row in counts], atol=1e-12)
    np.testing.assert_allclose(joint.x_given_each_y, [entropy(row) for row in counts.T], atol=1e-12)
    assert joint.y_given_each_x is joint.y_given_each_x
    assert not np.signbit(joint.y_given_each_x).any()


def test_rows_without_a_value_are_left_out():
    x, y = np.array([0, 0, -1, 1, 1]), np.array([0, 1, 1, -1, 1])
    joint = joint_counts(x, y, 2, 3)
    np.testing.assert_array_equal(joint.counts, [[1, 1, 0], [0, 1, 0]])
    assert joint.n_rows == 3


def test_too_many_cells_are_refused():
    with pytest.raises(DataError, match="choose columns of fewer values"):
        joint_counts(np.zeros(1, np.int64), np.zeros(1, np.int64), 2000, 2000)


def test_equal_counts_are_cut_between_values():
    np.testing.assert_array_equal(cut_points(np.arange(12.0), 3, EQUAL_COUNTS), [3.5, 7.5])
    np.testing.assert_array_equal(cut_points(np.array([1.0, 1, 1, 1, 2]), 4, EQUAL_COUNTS), [1.5])


def test_equal_widths_are_cut_from_least_to_largest():
    np.testing.assert_allclose(cut_points(np.array([0.0, 9, 1, np.nan]), 3, EQUAL_WIDTHS), [3, 6])


@pytest.mark.parametrize("way", [EQUAL_COUNTS, EQUAL_WIDTHS])
@pytest.mark.parametrize("values", [[], [np.nan], [5.0, 5.0]])
def test_nothing_to_cut_is_one_range(values, way):
    assert not len(cut_points(np.array(values), 4, way))


@given(
    arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e300, 1e300) | st.just(np.nan)),
    st.integers(1, 6), st.sampled_from([EQUAL_COUNTS, EQUAL_WIDTHS]),
)  # fmt: skip
def test_ranges_hold_all_values_and_none_is_too_many(values, n_ranges, way):
    cuts = cut_points(values, n_ranges, way)
    ranges = cut(values, cuts)
    assert len(cuts) < n_ranges
    assert np.all(np.diff(cuts) > 0)
    np.testing.assert_array_equal(ranges < 0, np.isnan(values))
    assert ranges.max() <= len(cuts)
    for value, at in zip(values, ranges, strict=True):
        assert at < 0 or ((at == len(cuts) or value <= cuts[at]) and (at == 0 or value > cuts[at - 1]))


def test_a_way_that_is_none_is_refused():
    with pytest.raises(ParameterError, match="equal counts or equal widths"):
        cut_points(np.ones(3), 2, "by hand")
