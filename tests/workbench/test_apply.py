"""Applying a model to another table: by name, by level, with a report."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest

from engine import DecisionTreeClassifier, DecisionTreeRegressor
from engine.errors import DataError
from workbench.apply import apply_model, read_like, save_predictions
from workbench.datasets import ReadOptions, feature_frame, make_table, target_values
from workbench.readers import read_table


def trained(table, target, features, as_classes=True):
    """What `apply_model` reads of a RunResult, around a real tree."""
    y, valid = target_values(table, target, as_classes)
    estimator = (DecisionTreeClassifier if as_classes else DecisionTreeRegressor)(random_state=0)
    estimator.fit(feature_frame(table, features)[valid], y[valid])
    classes = tuple(map(str, estimator.classes_)) if as_classes else ()
    return SimpleNamespace(estimator=estimator, features=tuple(features), target=target, classes=classes)


def predicted(applied):
    return applied.predictions[0][1].tolist()


@pytest.fixture
def colours():
    """C10: a gives 0, b gives 1, missing gives 1."""
    table = make_table("train", {"colour": ["a"] * 10 + ["b"] * 10 + [None] * 10, "y": [0] * 10 + [1] * 20})
    return trained(table, "y", ["colour"])


def test_c10_unseen_levels_are_marked_and_do_not_shift_the_known_ones(colours):
    table = make_table("new", {"colour": ["a", "b", None, "zz", "aa"]}, {"colour": "category"})
    applied = apply_model(colours, table)
    assert predicted(applied)[:3] == ["0", "1", "1"]
    assert predicted(applied)[3] == predicted(applied)[4]
    assert applied.has_unseen.tolist() == [False, False, False, True, True]
    assert applied.report == ("column 'colour': 2 rows hold levels unknown to the model: 'aa' (1), 'zz' (1)",)


def test_c11_levels_are_matched_by_name_not_by_place():
    lands = ["Belgium", "France", "Germany", "Italy", "Spain"]
    table = make_table("train", {"land": lands * 4, "y": [0, 1, 0, 1, 0] * 4})
    applied = apply_model(
        trained(table, "y", ["land"]), make_table("new", {"land": ["France", "Germany", "Italy", "Spain"]})
    )
    assert predicted(applied) == ["1", "0", "1", "0"]
    assert applied.report == ()


def test_columns_are_matched_by_name_in_any_order_and_extra_ones_reported():
    train = make_table("train", {"a": [1, 2, 3, 4], "b": [5, 1, 5, 1], "y": ["u", "v", "u", "v"]})
    result = trained(train, "y", ["a", "b"])
    table = make_table("new", {"note": ["x", "y"], "b": [1, 5], "y": ["v", "u"], "a": [9, 9]})
    applied = apply_model(result, table)
    assert predicted(applied) == ["v", "u"]
    names = [name for name, _ in applied.predictions]
    assert names == ["predicted y", "probability of u", "probability of v"]
    np.testing.assert_array_equal(applied.predictions[1][1], [0.0, 1.0])
    np.testing.assert_array_equal(applied.predictions[2][1], [1.0, 0.0])
    assert applied.report == (
        "column 'y' is what the model predicts; it was not looked at",
        "1 column was not used: note",
    )


def test_a_missing_column_is_named():
    train = make_table("train", {"a": [1, 2], "b": [5, 1], "c": [1, 1], "y": ["u", "v"]})
    result = trained(train, "y", ["a", "b", "c"])
    with pytest.raises(DataError, match="lacks the columns 'a', 'c'"):
        apply_model(result, make_table("new", {"b": [1]}))


def test_text_where_numbers_are_needed_is_refused_and_odd_cells_reported():
    train = make_table("train", {"a": [1, 2, 3, 4], "y": [1.5, 1.5, 7.5, 7.5]})
    result = trained(train, "y", ["a"], as_classes=False)
    with pytest.raises(DataError, match=r"column 'a' holds numbers.*first cell 'red'"):
        apply_model(result, make_table("new", {"a": ["red", "blue"]}))
    applied = apply_model(result, make_table("new", {"a": ["1", "four", "4"]}))
    assert applied.predictions[0][0] == "predicted y"
    assert np.array(predicted(applied))[[0, 2]].tolist() == [1.5, 7.5]
    assert applied.report[0] == "column 'a': 1 cell is no number and counted as missing"
    assert "'four'" in applied.report[1]


def test_number_levels_are_matched_by_value_but_codes_are_not():
    kinds = {"k": "category"}
    train = make_table("train", {"k": ["1", "2"] * 5, "y": ["u", "v"] * 5}, kinds)
    result = trained(train, "y", ["k"])
    applied = apply_model(result, make_table("new", {"k": ["1.0", "2.0"]}, kinds))
    assert (predicted(applied), applied.report) == (["u", "v"], ())
    applied = apply_model(result, make_table("new", {"k": ["01", "2"]}, kinds))
    assert applied.has_unseen.tolist() == [True, False]


def test_c08_missing_tokens_and_signs_hold_for_the_prediction_file(tmp_path):
    train_path, new_path = tmp_path / "train.csv", tmp_path / "new.csv"
    train_path.write_text("land;x;y\n" + "NA;1,5;u\nDE;2,5;v\nNA;3,5;u\n;4,5;v\n" * 5, "utf-8")
    new_path.write_text("land;x\nDE;1.250\nNA;9,5\n", "utf-8")
    train = read_table(train_path, ReadOptions(column_tokens={"land": ("",)}))
    assert train.column("land").levels == ("DE", "NA")
    kinds = {column.name: column.kind for column in train.columns}
    new = read_like(new_path, train.options, kinds)
    assert new.column("land").levels == ("DE", "NA")
    assert new.column("land").n_missing == 0
    applied = apply_model(trained(train, "y", ["land"]), new)
    assert predicted(applied) == ["v", "u"]
    assert new.column("x").values.tolist() == [1250, 9.5], "the comma is the decimal sign, as in training"


def test_signs_of_the_file_count_where_those_of_the_training_lose_numbers(tmp_path):
    path, kinds = tmp_path / "neu.csv", {"a": "number", "b": "number"}
    path.write_text("a;b\n" + "4,5;1\n50,5;2\n" * 10 + "k.A.;3\n", "utf-8")
    new = read_like(path, ReadOptions(separator=",", decimal=".", thousands=""), kinds)
    assert new.options.decimal == ","
    assert new.column("a").values[:2].tolist() == [4.5, 50.5]
    train = make_table("train", {"a": [1, 2, 30, 40], "y": [1.5, 1.5, 7.5, 7.5]})
    applied = apply_model(trained(train, "y", ["a"], as_classes=False), new)
    assert np.array(predicted(applied))[:2].tolist() == [1.5, 7.5]
    assert applied.report[0] == "column 'a': 1 cell is no number and counted as missing"
    assert "'k.A.' is no number" in applied.report[1]


def test_kinds_of_the_training_table_hold_for_the_prediction_file(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("k,flag,name\n1,yes,x\n2,yes,y\n", "utf-8")
    new = read_like(path, ReadOptions(separator=","), {"k": "category", "flag": "yes_no", "gone": "date"})
    assert [column.kind for column in new.columns] == ["category", "yes_no", "category"]


def test_saved_predictions_keep_the_files_own_cells(tmp_path, colours):
    path = tmp_path / "neu.csv"
    path.write_text('plz;colour;predicted y\n01067;a;"1.250,75"\n04109;zz;x\n99;;\n', "utf-8")
    table = read_table(path)
    applied = apply_model(colours, table)
    save_predictions(applied, table, tmp_path / "größe.csv")
    with (tmp_path / "größe.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter=";"))
    assert rows[0] == [
        "plz", "colour", "predicted y", "predicted y (2)", "probability of 0", "probability of 1",
        "unknown level",
    ]  # fmt: skip
    assert [row[:3] for row in rows[1:]] == [["01067", "a", "1.250,75"], ["04109", "zz", "x"], ["99", "", ""]]
    assert [row[3] for row in rows[1:]] == predicted(applied)
    assert [row[-1] for row in rows[1:]] == ["no", "yes", "no"]
    decimal = table.options.decimal
    saved = [float(row[4].replace(decimal, ".")) for row in rows[1:]]
    assert saved == applied.predictions[1][1].tolist()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["größe.csv", "neu.csv"], "no partial file is left"


def test_a_place_that_cannot_be_written_is_named(tmp_path, colours):
    table = make_table("new", {"colour": ["a"]})
    with pytest.raises(DataError, match=r"out\.csv cannot be written"):
        save_predictions(apply_model(colours, table), table, tmp_path / "gone" / "out.csv")
