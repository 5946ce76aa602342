"""Texts as numbers and dates, against Python's own readings."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from workbench import dates, numerals
from workbench.cells import Lines, TextCells, as_text_cells
from workbench.numerals import NumberStyle


def texts(*items):
    return pa.array(items, pa.large_string())


def test_numbers_are_read_to_the_nearest_float():
    rng = np.random.default_rng(0)
    values = np.concatenate(
        [rng.normal(size=500), rng.normal(size=500) * 10.0 ** rng.integers(-300, 300, 500)]
    )
    spelled = [repr(float(v)) for v in values]
    np.testing.assert_array_equal(numerals.parse(texts(*spelled), NumberStyle()), [float(s) for s in spelled])
    comma = [s.replace(".", ",") for s in spelled]
    np.testing.assert_array_equal(
        numerals.parse(texts(*comma), NumberStyle(",")), [float(s) for s in spelled]
    )


@pytest.mark.parametrize(
    ("style", "text", "value"),
    [
        (NumberStyle(".", ","), "1,234,567.5", 1234567.5),
        (NumberStyle(",", "."), "-1.234.567,5", -1234567.5),
        (NumberStyle(",", " "), "1\u202f234\u00a0567,5", 1234567.5),
        (NumberStyle(".", "'"), "1’234'567", 1234567.0),
        (NumberStyle(), "\u22125", -5.0),
        (NumberStyle(), "+5e3", 5000.0),
        (NumberStyle(), ".5", 0.5),
        (NumberStyle(), "5.", 5.0),
        (NumberStyle(), "-Infinity", -np.inf),
        (NumberStyle(), "INF", np.inf),
    ],
)
def test_spellings_of_numbers(style, text, value):
    assert numerals.parse(texts(text), style)[0] == value
    assert numerals.is_number(texts(text), style)[0]


@pytest.mark.parametrize(
    "text",
    ["", "-", ".", "1,5", "1.2.3", "1 2", "0x10", "1_000", "nan", "e5", "5e", "--5", "12 %", "1/2", "٣"],
)
def test_texts_that_are_no_numbers(text):
    assert np.isnan(numerals.parse(texts(text), NumberStyle())[0])
    assert not numerals.is_number(texts(text), NumberStyle())[0]


def test_groups_of_thousands_have_three_digits():
    style = NumberStyle(".", ",")
    assert np.isnan(numerals.parse(texts("1,23", "12,3456", ",123", "1,2345"), style)).all()


@pytest.mark.parametrize(
    ("value", "spelled"),
    [(-0.0, "0"), (5.0, "5"), (0.1, "0.1"), (1e20, "1e+20"), (-3.25, "-3.25"), (float("-inf"), "-inf")],
)
def test_shortest_spelling(value, spelled):
    assert numerals.spell(value) == spelled
    assert float(spelled) == value


@pytest.mark.parametrize(
    ("text", "found"),
    [("9007199254740992", False), ("9007199254740993", True), ("-9007199254740993", True), ("12345", False)],
)
def test_integers_above_2_to_the_53_are_told(text, found):
    assert numerals.is_inexact_integer(texts(text))[0] == found


def days_of(moment):
    return (moment - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1)


@pytest.mark.parametrize(
    "form", ["%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M"]
)
def test_dates_as_python_reads_them(form):
    start = dt.datetime(1890, 1, 1, 7, 31, 12)
    written = [(start + dt.timedelta(days=97 * i, minutes=61 * i)).strftime(form) for i in range(600)]
    reading = dates.parse(texts(*written))
    np.testing.assert_allclose(
        reading.days, [days_of(dt.datetime.strptime(text, form)) for text in written], rtol=0, atol=1e-9
    )
    assert not reading.is_ambiguous


def test_every_day_of_four_years_and_no_other():
    real, invented = [], []
    for year in range(2096, 2101):  # 2100 is no leap year
        for month in range(1, 13):
            for day in range(1, 32):
                text = f"{year}-{month:02d}-{day:02d}"
                try:
                    dt.date(year, month, day)
                    real.append(text)
                except ValueError:
                    invented.append(text)
    assert np.isfinite(dates.parse(texts(*real)).days).all()
    assert np.isnan(dates.parse(texts(*invented)).days).all()


def test_two_digit_years():
    found = dates.parse(texts("31.12.68", "31.12.69")).days
    assert found.tolist() == [days_of(dt.datetime(2068, 12, 31)), days_of(dt.datetime(1969, 12, 31))]


@pytest.mark.parametrize(
    "text", ["2024-13-01", "10-30", "0-10", "12:30", "1.2", "2024", "2024-01-01 25:00", "a 1/2/2024"]
)
def test_texts_that_are_no_dates(text):
    assert np.isnan(dates.parse(texts(text)).days).all()


def test_days_as_text():
    assert dates.days_to_text(19864.0) == "2024-05-21"
    assert dates.days_to_text(19864.5) == "2024-05-21 12:00"
    assert dates.days_to_text(-0.25) == "1969-12-31 18:00"


def test_cells_keep_texts_once_and_rows_as_codes():
    cells = as_text_cells(["a", None, "b", "a", ""])
    assert list(cells) == ["a", None, "b", "a", ""]
    assert [cells[i] for i in range(5)] == ["a", None, "b", "a", ""]
    assert cells.codes.tolist() == [0, -1, 1, 0, 2]
    assert cells.counts().tolist() == [2, 1, 1]
    assert cells.to_list(slice(1, 3)) == [None, "b"]
    assert np.asarray(cells).tolist() == ["a", None, "b", "a", ""]
    assert len(TextCells.from_texts([])) == 0


def test_lines_of_rows():
    assert Lines(first=2).phrase(0) == "line 2"
    assert Lines(starts=np.array([2, 5])).of(1) == 5
    assert Lines(noun="row").phrase(3) == "row 4"
