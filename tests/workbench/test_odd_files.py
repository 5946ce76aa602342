"""Files that are nearly tables: rows of several lengths, dates of no calendar, names that none can read."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.errors import DataError
from workbench.readers import read_table


@pytest.fixture
def read(tmp_path):
    def read_content(text):
        path = tmp_path / "t.csv"
        path.write_text(text, encoding="utf-8")
        return read_table(path)

    return read_content


@pytest.fixture
def read_columns(tmp_path):
    def read_arrays(names, arrays):
        path = tmp_path / "t.parquet"
        pq.write_table(pa.Table.from_arrays(arrays, names), path)
        return read_table(path)

    return read_arrays


# ---- rows of several lengths ---------------------------------------------------------------------


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_rows_shorter_and_longer_than_the_header_are_no_single_column(read, sign):
    with pytest.raises(DataError, match=r"t\.csv, line 3: 4 cells where the first row has 3; put cells"):
        read("a,b,c\n1,2\n1,2,3,4\n5,6,7\n".replace(",", sign))


def test_short_rows_are_filled_up_with_a_note(read):
    table = read("a,b,c\n1,2\n3\n5,6,7\n4\n1,2,3\n")
    assert table.names == ("a", "b", "c")
    np.testing.assert_array_equal(table.column("a").values, [1, 3, 5, 4, 1])
    np.testing.assert_array_equal(table.column("c").values, [np.nan, np.nan, 7, np.nan, 3])
    assert "3 rows are shorter than the first (line 2); the cells that lack count as empty" in table.notes


@pytest.mark.parametrize(
    "text",
    [
        "remark\nDear Sir, hello\nwell, yes, no\nnothing\n",
        "wert\n1,5\n2,5\n3\n",
        "one, two\nthree\nfour\nfive\n",
    ],
)
def test_a_sign_that_the_first_row_or_most_rows_lack_cuts_nothing(read, text):
    table = read(text)
    assert len(table.columns) == 1
    assert table.n_rows in (len(text.splitlines()) - 1, len(text.splitlines()))


def test_a_title_with_the_sign_of_decimals_is_still_a_title(read):
    table = read("Report, 2020, all\nx;y\n1,5;2\n2,5;3,25\n3,5;4\n")
    assert table.names == ("x", "y")
    assert table.column("y").values.tolist() == [2, 3.25, 4]


# ---- dates of no calendar ------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_moments_outside_of_the_calendar_count_as_missing(read_columns, unit):
    factor = {"s": 1, "ms": 1000, "us": 10**6}[unit]
    first, last = -62_135_596_800, 253_402_300_799  # 0001-01-01 and the last second of 9999
    seconds = [0, first - 1, first, None, last, last + 1, 86_400, 2**43]
    moments = pa.array([None if s is None else s * factor for s in seconds], pa.timestamp(unit))
    table = read_columns(["when"], [moments])
    column = table.column("when")
    assert column.kind == "date"
    days = [0, np.nan, -719_162, np.nan, last / 86_400, np.nan, 1, np.nan]
    np.testing.assert_allclose(column.values, days, rtol=1e-15)
    assert "when: 3 dates count as missing, outside of the years 1 to 9999 (first: row 2)" in table.notes


def test_moments_too_large_for_microseconds_do_not_become_other_dates(read_columns):
    table = read_columns(["when"], [pa.array([0, 2**62, -(2**62)], pa.timestamp("ms"))])
    np.testing.assert_array_equal(table.column("when").values, [0, np.nan, np.nan])


def test_days_outside_of_the_calendar_count_as_missing(read_columns):
    days = pa.array([0, 2_932_896, 2_932_897, None, -719_163], pa.int32()).cast(pa.date32())
    table = read_columns(["day", "other"], [days, days.dictionary_encode()])
    for name in ("day", "other"):
        np.testing.assert_array_equal(table.column(name).values, [0, 2_932_896, np.nan, np.nan, np.nan])
        assert (
            f"{name}: 2 dates count as missing, outside of the years 1 to 9999 (first: row 3)" in table.notes
        )


def test_nanoseconds_and_dates_of_the_calendar_say_nothing(read_columns):
    moments = pa.array([dt.datetime(2020, 1, 1, 12), dt.datetime(1700, 1, 1)], pa.timestamp("ns"))
    table = read_columns(["when"], [moments])
    assert table.column("when").values.tolist() == [18_262.5, -98_615.0]
    assert not [note for note in table.notes if "calendar" in note or "9999" in note]


# ---- names that none can read --------------------------------------------------------------------


def test_control_characters_leave_names(read_columns):
    numbers = pa.array([1, 2])
    names = ["a", "\x00", "b\x00\x1f", "b", "c\x7fd"]
    table = read_columns(names, [numbers] * 5)
    assert table.names == ("a", "column 2", "b", "b (2)", "cd")
    assert "column 2 has no name; it is called 'column 2'" in table.notes
    assert "the name of column 3 holds control characters; it is called 'b'" in table.notes
    assert "the name 'b' occurs again in column 4; it is called 'b (2)'" in table.notes


def test_a_renamed_column_stays_the_text_that_the_file_says_it_is(read_columns):
    codes = pa.array(["01", "2", "3"])
    table = read_columns(["code", "code\x01", "code"], [codes] * 3)
    assert table.names == ("code", "code (2)", "code (3)")
    assert [column.kind for column in table.columns] == ["category"] * 3
    assert [column.levels for column in table.columns] == [("01", "2", "3")] * 3
