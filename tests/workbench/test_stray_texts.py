"""Columns that a few texts keep from being numbers or dates: the question, and the cure by tokens."""

import numpy as np
import pytest

from workbench.cells import TextCells
from workbench.columns import Reading
from workbench.datasets import default_roles
from workbench.kinds import read_column
from workbench.problems import find_problems
from workbench.readers import read_table

NUMBERS = [f"{value:.3f}" for value in np.linspace(1, 9, 566)]
DAYS = [f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024" for i in range(90)]


def column_of(cells, **reading):
    return read_column("x", TextCells.from_texts(cells), Reading(**reading))


def table_of(folder, cells):
    path = folder / "t.csv"
    rows = "".join(f"{cell},{i % 7}\n" for i, cell in enumerate(cells))
    path.write_text("x,y\n" + rows, encoding="utf-8")
    return read_table(path)


def test_numbers_with_a_word_for_missing_raise_the_question():
    column = column_of(NUMBERS + ["k.A."] * 34 + [""] * 5)
    assert column.kind == "text"
    assert column.reason == "566 of 600 cells are numbers; the others say 'k.A.': is that missing?"
    assert column.stray_texts == ("k.A.",)


def test_the_tokens_make_the_column_a_number_with_its_values():
    column = column_of(NUMBERS + ["k.A."] * 30 + ["-"] * 40)
    assert column.stray_texts == ("-", "k.A."), "the most frequent first"
    assert column.reason.endswith("the others say '-' or 'k.A.': is that missing?")
    cured = column.with_missing_tokens(column.reading.missing_tokens + column.stray_texts)
    assert (cured.kind, cured.n_missing, cured.stray_texts) == ("number", 70, ())
    np.testing.assert_array_equal(cured.values[:566], [float(text) for text in NUMBERS])


def test_dates_of_one_format_too():
    column = column_of([*DAYS, "offen", "offen"])
    assert column.reason == "90 of 92 cells are dates; the others say 'offen': is that missing?"
    cured = column.with_missing_tokens(("", "offen"))
    assert (cured.kind, cured.n_missing) == ("date", 2)
    assert cured.values[0] == (np.datetime64("2024-01-01") - np.datetime64("1970-01-01")).astype(int)


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ([*NUMBERS[:60], *["A1"] * 5], "a code tells a value"),
        ([*NUMBERS[:60], *[">9"] * 5], "a bound tells a value"),
        (["0", "1", "2", "3+"] * 20 + ["1", "2"] * 50, "levels, one of them open"),
        (["1", "2", "3"] * 30 + ["X"] * 9, "a handful of numbers beside a letter are codes"),
        (["01067", "04109", "10115"] * 9 + ["k.A."], "leading zeros are codes (C04)"),
        (NUMBERS[:79] + ["k.A."] * 21, "under 80 % are numbers"),
        ([*NUMBERS[:9], "k.A."], "under ten cells are numbers"),
        (NUMBERS[:60] + list("abcdef"), "more than five texts"),
        (["DE", "NA", "FR"] * 20, "no numbers at all (C08)"),
        (["yes", "no"] * 20, "no numbers at all"),
        (NUMBERS, "nothing is in the way"),
    ],
)
def test_other_columns_raise_no_question(cells, why):
    column = column_of(cells, missing_tokens=("",))
    assert column.stray_texts == (), why
    assert "missing?" not in column.reason


def test_the_thresholds_are_inclusive():
    assert column_of(NUMBERS[:80] + ["k.A."] * 20).stray_texts == ("k.A.",)
    assert column_of([*NUMBERS[:10], "k.A."]).stray_texts == ("k.A.",)
    assert column_of(NUMBERS[:60] + list("abcde")).stray_texts == tuple("abcde")


def test_a_few_whole_numbers_beside_a_word_for_missing_are_asked_about():
    assert column_of(["1", "2", "3"] * 30 + ["k. A."] * 9).stray_texts == ("k. A.",)
    assert column_of(["1", "2", "3"] * 30 + ["-"] * 9).stray_texts == ("-",)


def test_a_file_that_states_texts_is_not_doubted():
    assert column_of(NUMBERS + ["k.A."] * 34, is_text=True).stray_texts == ()


def test_a_kind_chosen_by_hand_is_not_doubted():
    column = column_of(NUMBERS + ["k.A."] * 34).with_kind("number")
    assert (column.n_missing, column.stray_texts) == (34, ())
    assert column.reason.startswith("chosen by hand; found as text: 566 of 600 cells")


def test_the_problem_is_named_even_where_no_text_repeats(tmp_path):
    table = table_of(tmp_path, NUMBERS + ["k.A."] * 10)
    roles = default_roles(table)
    assert roles == {"x": "feature", "y": "feature"}, "no identifier: its texts are numbers"
    (problem,) = find_problems(table, roles | {"y": "target"})
    assert (problem.kind, problem.column) == ("stray", "x")
    assert problem.message == "566 of 576 cells are numbers; the others say 'k.A.': is that missing?"
    cured = table.with_column_tokens("x", (*table.options.tokens_of("x"), "k.A."))
    assert find_problems(cured, roles | {"y": "target"}) == ()
