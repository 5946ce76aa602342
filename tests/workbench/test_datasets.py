"""Columns, tables and what of them goes to the engine."""

import numpy as np
import pytest

from engine.errors import DataError
from workbench.datasets import (
    default_roles,
    feature_frame,
    make_column,
    make_table,
    proposes_classes,
    target_values,
)


def test_feature_frame_gives_numbers_and_unordered_categories():
    table = make_table(
        "t", {"size": [1.5, None, 3], "colour": ["red", "blue", None], "wet": ["yes", "no", "yes"]}
    )
    frame = feature_frame(table, ["colour", "size", "wet"])
    assert list(frame.columns) == ["colour", "size", "wet"]
    assert frame["size"].dtype == np.float64
    np.testing.assert_array_equal(frame["size"], [1.5, np.nan, 3])
    assert frame["colour"].cat.categories.tolist() == ["blue", "red"]
    assert not frame["colour"].cat.ordered
    assert frame["colour"].cat.codes.tolist() == [1, 0, -1]
    assert frame["wet"].cat.categories.tolist() == ["no", "yes"]
    assert frame["wet"].tolist() == ["yes", "no", "yes"]


def test_target_as_classes_keeps_the_spelling_and_marks_missing_rows():
    table = make_table("t", {"y": ["5", "1", None, "5"]})
    labels, valid = target_values(table, "y", as_classes=True)
    assert labels.tolist() == ["5", "1", "", "5"]
    assert valid.tolist() == [True, True, False, True]
    values, valid = target_values(table, "y", as_classes=False)
    np.testing.assert_array_equal(values, [5, 1, np.nan, 5])
    assert valid.tolist() == [True, True, False, True]


def test_infinite_targets_are_not_valid_numbers():
    _, valid = target_values(make_table("t", {"y": ["1", "inf", "2"]}), "y", as_classes=False)
    assert valid.tolist() == [True, False, True]


def test_text_target_as_number_is_refused_naming_the_column():
    table = make_table("t", {"colour": ["red", "blue", "red"]})
    with pytest.raises(DataError, match=r"'colour' is category.*change its kind"):
        target_values(table, "colour", as_classes=False)


@pytest.mark.parametrize(
    ("values", "proposed", "reason"),
    [
        ([i % 10 for i in range(40)], True, "only 10 distinct values"),
        ([i % 11 for i in range(40)], False, "11 distinct values, more than 10"),
        ([i / 2 for i in range(4)], False, "fractions"),
        (["no", "yes", "no"], True, "always classes"),
        (["red", "blue", "red"], True, "always classes"),
    ],
)
def test_whole_numbers_with_up_to_ten_values_are_proposed_as_classes(values, proposed, reason):
    is_proposed, why = proposes_classes(make_column("y", values))
    assert is_proposed is proposed
    assert reason in why


def test_unknown_column_is_named_together_with_the_known_ones():
    with pytest.raises(DataError, match="no column 'z'; it has x, y"):
        make_table("t", {"x": [1], "y": [2]}).column("z")


def test_replacing_a_column_replaces_its_notes():
    table = make_table("t", {"x": ["1", None, "2"], "y": ["a", None, None]})
    assert table.notes == ("x: 1 missing: empty 1", "y: 2 missing: empty 2")
    changed = table.replace_column(table.column("x").with_kind("category"))
    assert changed.column("x").kind == "category"
    assert table.column("x").kind == "number", "tables are values"
    assert changed.notes == ("y: 2 missing: empty 2", "x: 1 missing: empty 1")


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("id", "id"), ("ID", "id"), ("row_nr", "id"), ("Kunden-Nr", "id"), ("id_row", "id"), ("idRow", "id"),
        ("rowID", "id"), ("userid", "id"), ("CustomerId", "id"),
        ("bid", "feature"), ("grid", "feature"), ("idle", "feature"), ("idade", "feature"),
        ("casino", "feature"), ("monkey", "feature"),
    ],
)  # fmt: skip
def test_distinct_whole_numbers_are_an_identifier_only_by_a_name_that_says_so(name, role):
    values = np.random.default_rng(0).permutation(100)[:40] * 7
    assert default_roles(make_table("t", {name: values}))[name] == role


def test_identifiers_and_empty_columns_are_no_features_by_default():
    n = 50
    table = make_table(
        "t",
        {
            "row": range(1, n + 1),
            "customer_id": [(i * 37) % 1009 for i in range(n)],
            "population": [(i * 37) % 1009 for i in range(n)],
            "name": [f"person {i}" for i in range(n)],
            "nothing": [None] * n,
            "colour": [("red", "blue")[i % 2] for i in range(n)],
        },
    )
    assert default_roles(table) == {
        "row": "id",
        "customer_id": "id",
        "population": "feature",
        "name": "id",
        "nothing": "ignored",
        "colour": "feature",
    }


def test_kinds_can_be_changed_and_impossible_ones_are_refused():
    column = make_column("grade", ["3", "1", "2", "10", None])
    category = column.with_kind("category")
    assert category.levels == ("1", "2", "3", "10"), "numbers in their order, not as texts"
    assert category.values.tolist() == [2, 0, 1, 3, -1]
    assert category.values.dtype == np.int32
    assert category.text(3) == "10"
    assert category.with_kind("number").values[3] == 10
    with pytest.raises(DataError, match="'grade' cannot be read as 'yes or no'"):
        column.with_kind("yes_no")


def test_c15_minus_zero_and_zero_are_one_level():
    column = make_column("x", ["-0.0", "0.0", "1.0"])
    assert column.n_distinct == 2
    assert column.with_kind("category").levels == ("0", "1.0")
