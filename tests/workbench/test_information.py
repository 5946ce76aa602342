"""Two columns counted against each other: values and ranges, what is entered, project files, undo."""

import numpy as np
import pytest

from engine.errors import DataError, ParameterError
from engine.information import EQUAL_COUNTS, EQUAL_WIDTHS
from workbench.datasets import make_table
from workbench.document import Document
from workbench.information import (
    OWN,
    Cutting,
    InformationSettings,
    count_jointly,
    cutting_text,
    first_settings,
    read_cutting,
)
from workbench.project import load_project, save_project
from workbench.samples import load_sample


def test_rain_and_clouds_are_as_the_book_has_them():
    joint = count_jointly(load_sample("rain_and_clouds"), InformationSettings("raining", "cloudy"))
    assert joint.x.labels == ("no", "yes")
    np.testing.assert_array_equal(joint.joint.counts, [[50, 25], [1, 24]])
    assert joint.joint.mutual_information == pytest.approx(0.250417, abs=5e-7)
    assert (joint.n_left_out, joint.x.how) == (0, "")


def test_numbers_are_cut_and_the_cuts_are_told():
    table = make_table("t", {"a": [1, 2, 3, 4, 5, 6, None, 8], "b": ["u", "v"] * 4})
    joint = count_jointly(table, InformationSettings("a", "b", Cutting(EQUAL_WIDTHS, 2)))
    assert joint.x.labels == ("≤ 4.5", "> 4.5")
    assert joint.x.how == "cut at 4.5: 2 ranges of equal widths"
    np.testing.assert_array_equal(joint.joint.counts, [[2, 2], [1, 2]])
    assert joint.n_left_out == 1


def test_own_cuts_and_ties_are_told():
    table = make_table("t", {"a": [0, 0, 0, 1.5, 2.5], "b": ["u", "v", "u", "v", "u"]})
    own = count_jointly(table, InformationSettings("a", "b", Cutting(OWN, 4, (1.0, 2.0))))
    assert own.x.labels == ("≤ 1", "1 to 2", "> 2")
    assert own.x.how == "cut at 1, 2"
    tied = count_jointly(table, InformationSettings("a", "b", Cutting(EQUAL_COUNTS, 5)))
    assert tied.x.how.endswith("5 ranges of equal counts, of which equal values leave 3")


def test_a_column_that_is_gone_is_named():
    with pytest.raises(DataError, match="no column 'c' any more"):
        count_jointly(load_sample("xor"), InformationSettings("a", "c"))


@pytest.mark.parametrize("text", ["", "0", "two", "1.5", "101", "3 4", "²", "9" * 5000])
def test_what_is_no_number_of_ranges_is_refused(text):
    with pytest.raises(ParameterError, match="enter a whole number from 1"):
        read_cutting(EQUAL_COUNTS, text, is_date=False)


@pytest.mark.parametrize(("text", "is_date"), [("", False), ("a", False), ("nan", False), ("3", True)])
def test_what_is_no_list_of_cuts_is_refused(text, is_date):
    with pytest.raises(ParameterError, match="no list of cuts"):
        read_cutting(OWN, text, is_date)


@pytest.mark.parametrize(
    ("way", "text", "is_date", "shown"),
    [
        (EQUAL_COUNTS, " 7 ", False, "7"),
        (OWN, "3.5; \N{MINUS SIGN}2, 3.5", False, "-2.0 3.5".replace(".0", "")),
        (OWN, "0.1 1e300", False, "0.1 1e+300"),
        (OWN, "2020-09-15 1969-12-31", True, "1969-12-31 2020-09-15"),
    ],
)
def test_what_is_entered_is_shown_and_read_again(way, text, is_date, shown):
    cutting = read_cutting(way, text, is_date)
    assert cutting_text(cutting, is_date) == shown
    assert read_cutting(way, shown, is_date) == cutting


def test_the_target_is_looked_at_first():
    assert first_settings(load_sample("penguins"), "species") == InformationSettings("island", "species")
    assert first_settings(make_table("t", {"a": [1, 2]}), None) is None


@pytest.fixture
def document(qapp):
    document = Document()
    document.open_table(load_sample("penguins"))
    return document


SETTINGS = InformationSettings("bill_length_mm", "species", Cutting(OWN, 4, (40.0, 45.5)))


def test_settings_are_undone_and_saved(document, tmp_path):
    document.set_studies("Look at bill_length_mm", information=SETTINGS)
    document.set_studies("Look at bill_length_mm", information=SETTINGS)
    assert document.undo_stack.count() == 1
    save_project(document, tmp_path / "p.treewright", include_rows=True)
    document.undo_stack.undo()
    assert document.studies.information is None
    document.restore(load_project(tmp_path / "p.treewright"))
    assert document.studies.information == SETTINGS
    document.open_table(load_sample("xor"))
    assert document.studies.information is None


def test_a_change_while_it_is_saved_is_not_saved(document, tmp_path):
    saved = document.snapshot()
    document.set_studies("Look", information=SETTINGS)
    document.mark_saved(tmp_path / "p.treewright", saved)
    assert document.is_dirty


@pytest.mark.parametrize(
    "damage", [{"way": "by hand"}, {"n_ranges": 0}, {"cuts": [2, 1]}, {"cuts": ["nan"]}, {"n_ranges": 1000}]
)
def test_damaged_settings_are_refused(damage):
    from workbench.project.studies import studies_from_json, studies_to_json
    from workbench.studies import Studies

    content = studies_to_json(Studies(SETTINGS))
    content["information"]["x_cutting"] |= damage
    with pytest.raises(DataError, match="damaged"):
        studies_from_json(content, dict)
