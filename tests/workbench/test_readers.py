"""Reading files: what is found, what is said, what is refused."""

import csv
import unicodedata

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.errors import DataError
from workbench.apply import Applied, save_predictions
from workbench.datasets import ReadOptions, default_roles
from workbench.document import Document
from workbench.project import load_project, save_project
from workbench.readers import memory, read_table


@pytest.fixture
def read(tmp_path):
    def read_content(content, options=None, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return read_table(path, options)

    return read_content


def kinds(table):
    return {column.name: column.kind for column in table.columns}


# --- C01 ---------------------------------------------------------------------------------------


C01 = (
    "zeit;temp;menge\n2024-03-01 08:00;21,5;1.250,75\n2024-03-01 08:10;22,0;980,00\n2024-03-01 08:20;;12,5\n"
)


def test_c01_semicolon_file_with_decimal_comma(read):
    table = read(C01)
    assert (table.options.separator, table.options.decimal, table.options.thousands) == (";", ",", ".")
    assert kinds(table) == {"zeit": "date", "temp": "number", "menge": "number"}
    np.testing.assert_array_equal(table.column("temp").values, [21.5, 22.0, np.nan])
    np.testing.assert_array_equal(table.column("menge").values, [1250.75, 980.0, 12.5])
    assert table.column("menge").values.mean() == 747.75
    day = (np.datetime64("2024-03-01") - np.datetime64("1970-01-01")).astype(int)
    np.testing.assert_allclose(
        table.column("zeit").values, day + np.array([8 * 60, 8 * 60 + 10, 8 * 60 + 20]) / 1440, rtol=1e-15
    )
    assert table.column("menge").text(0) == "1.250,75"


def test_c01_a_column_of_1_250_is_marked_as_ambiguous_and_can_be_switched(read):
    column = read("menge\n1.250\n2.500\n").column("menge")
    assert column.values.tolist() == [1.25, 2.5]
    assert "1.250 could be 1.25 or 1250" in column.reason
    assert any("ambiguous" in note for note in column.notes)
    assert "set decimal sign ',' and thousands sign '.'" in column.reason
    switched = read("menge\n1.250\n2.500\n", ReadOptions(decimal=",", thousands=".")).column("menge")
    assert switched.values.tolist() == [1250, 2500]
    assert "1.250 could be 1250 or 1.25" in switched.reason
    assert read("menge\n1.250\n", ReadOptions(decimal=",")).column("menge").values.tolist() == [1250]
    with pytest.raises(DataError, match=r"'\.' cannot be both"):
        read("menge\n1.250\n", ReadOptions(decimal=".", thousands="."))


def test_thousands_are_told_from_the_rest_of_the_table(read):
    table = read("a;b\n1.250;21,5\n2.500;3,25\n")
    assert table.column("a").values.tolist() == [1250, 2500]
    table = read('a,b\n"1,250",2\n"12,500,000",3\n')
    assert table.column("a").values.tolist() == [1250, 12_500_000]
    table = read("a;b\n1 250,5;2\n12 500 000;3\n")
    assert table.column("a").values.tolist() == [1250.5, 12_500_000]


# --- C02 ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_c02_marks_and_wide_encodings_leave_no_trace(read, encoding):
    table = read('"alter",klasse\r\n34,ja\r\n51,nein\r\n'.encode(encoding))
    assert table.names == ("alter", "klasse")
    assert table.column("alter").values.tolist() == [34, 51]
    assert table.column("klasse").levels == ("nein", "ja")
    assert table.column("klasse").values.tolist() == [1, 0]


def test_c02_latin_1_header(read):
    table = read("größe,klasse\n180,ja\n".encode("latin-1"))
    assert table.names == ("größe", "klasse")
    assert table.options.encoding == "cp1252"
    again = read("größe,klasse\n180,ja\n".encode("latin-1"), ReadOptions(encoding="latin-1"))
    assert again.names == table.names


def test_c02_bytes_that_fit_no_encoding_name_offset_and_line(read):
    with pytest.raises(DataError, match=r"t\.csv: .*0x81 at offset 6, line 2.*choose the encoding"):
        read(b"a,b\n1,\x81\n")
    with pytest.raises(DataError, match=r"not utf-8 \(byte 0xF6 at offset 2, line 1\)"):
        read("größe\n1\n".encode("latin-1"), ReadOptions(encoding="utf-8"))


# --- C04 ---------------------------------------------------------------------------------------


def test_c04_codes_keep_leading_zeros_and_long_integers_every_digit(read):
    table = read("plz,kunde,umsatz\n01067,1234567890123456789,10\n04109,,20\n10115,1234567890123456788,30\n")
    plz, kunde, umsatz = table.columns
    assert plz.kind in ("text", "category")
    assert plz.levels == ("01067", "04109", "10115")
    assert "leading zeros" in plz.reason
    assert (kunde.kind, kunde.n_distinct, kunde.n_missing) == ("text", 2, 1)
    assert kunde.text(0) == "1234567890123456789"
    assert kunde.text(2) == "1234567890123456788"
    assert kunde.levels == ("1234567890123456788", "1234567890123456789")
    forced = kunde.with_kind("number")
    assert any("above 2^53 are not exact" in note for note in forced.notes)
    assert umsatz.kind == "number"


def test_c04_codes_are_saved_and_exported_digit_by_digit(qapp, read, tmp_path):
    table = read("plz,kunde,umsatz\n01067,1234567890123456789,10\n04109,,20\n10115,1234567890123456788,30\n")
    document = Document()
    document.open_table(table)
    for include_rows in (True, False):
        save_project(document, tmp_path / "p.treewright", include_rows=include_rows)
        again = load_project(tmp_path / "p.treewright").data.table
        for name in ("plz", "kunde"):
            assert again.column(name).levels == table.column(name).levels
            assert [again.column(name).text(i) for i in range(3)] == [
                table.column(name).text(i) for i in range(3)
            ]
        applied = Applied((("predicted umsatz", np.array([10.0, 20.0, 30.0])),), (), np.zeros(3, bool))
        save_predictions(applied, again, tmp_path / "out.csv")
        lines = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()
        assert [line.split(",")[:2] for line in lines] == [
            ["plz", "kunde"],
            ["01067", "1234567890123456789"],
            ["04109", ""],
            ["10115", "1234567890123456788"],
        ]
    document.set_kind(["kunde"], "number")
    assert document.messages == ["kunde: whole numbers above 2^53 are not exact as numbers"]


# --- C05 ---------------------------------------------------------------------------------------


def days(*texts):
    return [int((np.datetime64(t) - np.datetime64("1970-01-01")).astype(int)) for t in texts]


def test_c05_one_date_format_for_the_column(read):
    column = read("datum\n10/9/2016\n05/9/2016\n30/9/2016\n").column("datum")
    assert column.values.tolist() == days("2016-09-10", "2016-09-05", "2016-09-30")
    assert "ambiguous" not in column.reason


def test_c05_ambiguous_dates_are_marked_and_can_be_switched(read):
    content = "datum\n03/04/2016\n05/06/2016\n"
    column = read(content).column("datum")
    assert column.values.tolist() == days("2016-04-03", "2016-06-05")
    assert "ambiguous" in column.reason
    assert "day-month-year" in column.reason
    switched = read(content, ReadOptions(day_first=False)).column("datum")
    assert switched.values.tolist() == days("2016-03-04", "2016-05-06")


def test_c05_no_single_format_stays_text_and_names_both_lines(read):
    column = read("datum\n30/9/2016\n9/30/2016\n").column("datum")
    assert column.kind in ("text", "category")
    assert any("line 2" in note and "line 3" in note for note in column.notes)


def test_impossible_days_are_no_dates(read):
    assert read("d,x\n2023-02-30,1\n2023-02-28,2\n").column("d").kind != "date"
    assert read("d,x\n2024-02-29,1\n2023-02-28,2\n").column("d").kind == "date"


# --- C06 ---------------------------------------------------------------------------------------


def test_c06_one_odd_cell_far_down_is_named_with_its_line(read):
    codes = [str(i % 1000) for i in range(200_000)]
    codes[150_000] = "A7"
    column = read("code,y\n" + "".join(f"{c},{i % 2}\n" for i, c in enumerate(codes))).column("code")
    assert (column.kind, column.n_distinct, column.n_missing) == ("number", 1000, 1)
    assert column.notes == ("line 150002: 'A7' is no number",)
    assert np.flatnonzero(np.isnan(column.values)).tolist() == [150_000]
    as_category = column.with_kind("category")
    assert as_category.n_distinct == 1001
    assert any("line 150002" in note and "'A7'" in note for note in as_category.notes)


def test_many_odd_cells_keep_a_column_text(read):
    column = read("code,y\n" + "".join(f"{'x' if i % 10 == 0 else i % 7},{i}\n" for i in range(100))).column(
        "code"
    )
    assert column.kind == "category"
    assert column.n_distinct == 8


# --- C08 ---------------------------------------------------------------------------------------


C08 = 'land,wert\nNA,1\nDE,2\n"NA",3\n,4\nN/A,5\n'


def test_c08_the_report_says_which_tokens_were_missing(read):
    table = read(C08)
    assert table.column("land").n_missing == 4
    assert "land: 4 missing: 'NA' 2, 'N/A' 1, empty 1" in table.notes


def test_c08_tokens_can_be_switched_off_for_one_column(read):
    column = read(C08, ReadOptions(column_tokens={"land": ("",)})).column("land")
    assert dict(zip(*np.unique(column.values, return_counts=True), strict=True)) == {-1: 1, 0: 1, 1: 1, 2: 2}
    assert column.levels == ("DE", "N/A", "NA")
    table = read(C08).with_column_tokens("land", ("",))
    assert table.column("land").levels == column.levels
    assert table.column("land").n_missing == 1
    assert "land: 1 missing: empty 1" in table.notes
    again = read(C08, table.options).column("land")
    assert again.levels == column.levels, "the choice is part of how the file is read"


# --- C15 ---------------------------------------------------------------------------------------


def test_c15_infinite_values_are_counted(read):
    table = read("x,y\n1,0\n2,0\ninf,1\ninf,1\n")
    assert table.column("x").kind == "number"
    assert any(note.startswith("x: 2 infinite values") for note in table.notes)


def test_c15_minus_zero_is_the_level_zero(read):
    column = read("x,y\n-0.0,0\n0.0,1\n1.0,1\n").column("x").with_kind("category")
    assert column.levels == ("0", "1.0")
    assert column.values.tolist() == [0, 0, 1]


# --- separators, headers, quotes ---------------------------------------------------------------


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", ":", " "])
def test_separators_are_found(read, separator):
    table = read(
        separator.join("abc") + "\n" + separator.join(["1", "x y" if separator != " " else "x", "2"]) + "\n"
    )
    assert table.options.separator == separator
    assert table.names == ("a", "b", "c")
    assert table.column("a").values.tolist() == [1]


def test_blanks_in_any_number_separate(read):
    table = read("  a   b\n  1  2.5\n 10  3\n")
    assert table.column("a").values.tolist() == [1, 10]
    assert table.column("b").values.tolist() == [2.5, 3]


def test_a_header_is_told_from_data(read):
    assert read("1,2\n3,4\n").names == ("column 1", "column 2")
    assert read("1,2\n3,4\n").n_rows == 2
    assert read("x,y\n3,4\n").n_rows == 1
    assert read("young,no\nold,no\nyoung,yes\n").n_rows == 3, "words that recur below are no names"
    assert read("age,lens\nold,no\nyoung,yes\n").n_rows == 2
    assert read("x,y\n3,4\n", ReadOptions(has_header=False)).n_rows == 2


def test_missing_and_repeated_names_become_unique_with_a_note(read):
    table = read(",v,v,v (2)\n1,2,3,4\n")
    assert table.names == ("column 1", "v", "v (3)", "v (2)")
    assert sum("name" in note for note in table.notes) == 2


def test_quoted_line_breaks_and_doubled_quotes(read):
    table = read('text,x\n"one\ntwo",1\n"say ""hi"", you",2\nplain,A\n')
    assert [table.column("text").text(row) for row in range(3)] == ["one\ntwo", 'say "hi", you', "plain"]


def test_lines_count_quoted_breaks_and_empty_lines(read):
    rows = ['"a\nb",1', "", *[f"c{i % 3},{i}" for i in range(200)], "d,odd"]
    table = read("text,x\n" + "\n".join(rows) + "\n")
    assert table.n_rows == 202
    assert "x: line 205: 'odd' is no number" in table.notes


def test_short_rows_are_filled_and_long_rows_refused(read):
    table = read("a,b,c\n1,2,3\n4,5\n6,7,8\n")
    np.testing.assert_array_equal(table.column("c").values, [3, np.nan, 8])
    assert any("1 row is shorter than the first (line 3)" in note for note in table.notes)
    with pytest.raises(DataError, match=r"t\.csv, line 3: 4 cells where the first row has 3"):
        read("a,b,c\n1,2,3\n4,5,6,7\n")
    assert read("a,b,c\n1,2,3,\n4,5,6\n").n_rows == 2, "a separator too many at the end holds nothing"


def test_row_names_without_a_header_as_r_writes_them(read):
    table = read('"x","y"\n"r1",1,2\n"r2",3,4\n')
    assert table.names == ("row name", "x", "y")
    assert table.column("y").values.tolist() == [2, 4]


def test_rows_without_any_cell_are_dropped_and_counted(read):
    table = read("a,b\n1,2\n,\n3,x\n")
    assert table.n_rows == 2
    assert any("1 empty row dropped (first: line 3)" in note for note in table.notes)
    assert table.column("a").reading.lines.of(1) == 4


def test_single_column_keeps_empty_lines_as_missing_cells(read):
    table = read("x\n1\n\n3\n")
    np.testing.assert_array_equal(table.column("x").values, [1, np.nan, 3])


def test_blanks_after_the_comma_belong_to_the_comma(read):
    table = read("a, b, c\n1, 2, red\n2, 3, blue\n")
    assert table.names == ("a", "b", "c")
    assert table.column("c").levels == ("blue", "red")
    assert table.column("c").text(0) == " red", "the cell itself is kept as it stands"


@pytest.mark.parametrize("seed", range(5))
def test_every_cell_is_kept_as_written(read, tmp_path, seed):
    rng = np.random.default_rng(seed)
    alphabet = np.array(list('ab1 ,;"\n.-é'))
    rows = [["".join(rng.choice(alphabet, rng.integers(0, 6))) for _ in range(4)] for _ in range(60)]
    rows = [[*row, "end"] for row in rows]
    path = tmp_path / "fuzz.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerows([["p", "q", "r", "s", "t"], *rows])
    table = read_table(path, ReadOptions(separator=",", has_header=True))
    assert [[c.text(i) for c in table.columns] for i in range(table.n_rows)] == rows


def test_titles_and_comments_above_the_header_are_left_out(read):
    table = read("Umsatz 2024\n\ndatum;betrag\n1.1.2024;21,5\n2.1.2024;x\n" + "3.1.2024;4,5\n" * 200)
    assert table.names == ("datum", "betrag")
    assert table.n_rows == 202
    assert "2 lines above the header left out" in table.notes
    assert "betrag: line 5: 'x' is no number" in table.notes, "lines are counted from the file's first"
    table = read("# made by hand, in March\n# v2\na,b,c\n1,2,3\n4,5,6\n")
    assert table.names == ("a", "b", "c")
    assert table.n_rows == 2
    assert read("menge\n21,5\n22,0\n3,5\n").column("menge").values.tolist() == [21.5, 22.0, 3.5]


def test_the_separator_line_of_spreadsheets(read):
    table = read("sep=|\na|b\n1|2\n")
    assert (table.names, table.options.separator) == (("a", "b"), "|")
    with pytest.raises(DataError, match="no more than a separator line"):
        read("sep=;\n\n")


def test_separators_at_the_end_of_every_line_make_no_column(read):
    table = read("a,b,\n1,2,\n3,4,\n")
    assert table.names == ("a", "b")
    assert any("1 column without name and cells left out" in note for note in table.notes)


def test_a_row_name_column_of_two(read):
    assert read("x\nr1,1\nr2,2\n", ReadOptions(separator=",")).names == ("row name", "x")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(read, end):
    table = read(end.join(["a;b", "1;x", "2;y", "3;z"]) + end)
    assert table.names == ("a", "b")
    assert table.column("a").values.tolist() == [1, 2, 3]
    assert table.column("a").reading.lines.of(2) == 4


def test_known_pairs_of_words_are_yes_and_no(read):
    table = read("a,b,c\nTrue,nein,m\nFalse,ja,f\nTrue,ja,m\n")
    assert kinds(table) == {"a": "yes_no", "b": "yes_no", "c": "category"}
    assert table.column("a").values.tolist() == [1, 0, 1]
    assert table.column("b").levels == ("nein", "ja")
    assert table.column("c").with_kind("yes_no").levels == ("f", "m")


def test_numbers_with_few_values_stay_numbers_and_say_so(read):
    column = read("x,y\n0,a\n1,b\n1,c\n").column("x")
    assert column.kind == "number"
    assert "2 distinct values" in column.reason
    assert "yes_no" in column.kind_choices


def test_c47_identifier_texts(read):
    table = read("name,x\n" + "".join(f"p{i:05d},{i % 7}\n" for i in range(50_000)))
    assert table.column("name").kind == "text"
    assert default_roles(table) == {"name": "id", "x": "feature"}


# --- bad input ---------------------------------------------------------------------------------


def test_bad_files_are_named_with_the_cure(read, tmp_path):
    for content in ("", "   \n\n"):
        with pytest.raises(DataError, match=r"t\.csv is empty.*choose a file"):
            read(content)
    with pytest.raises(DataError, match=r"t\.csv holds a header but no rows"):
        read("a,b,c\n")
    with pytest.raises(DataError, match=r"t\.csv is not a text file: byte 4"):
        read(b"\x7fELF\x00\x01\x02" * 100)
    with pytest.raises(DataError, match=r"lost\.csv is not there any more"):
        read_table(tmp_path / "lost.csv")
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path)
    for name in ("t.xlsx", "t.parquet"):
        with pytest.raises(DataError, match=rf"{name} is empty \(0 bytes\)"):
            read(b"", name=name)
        with pytest.raises(DataError, match=rf"{name} is not a"):
            read(b"rubbish" * 100, name=name)


def test_a_quotation_mark_never_closed_is_named(read):
    for n_rows in (5, 50_000):
        with pytest.raises(DataError, match=r"t\.csv, line 3: .*never closed"):
            read('a,b\n1,2\n3,"4\n' + "5,6\n" * n_rows)
    assert read('a,b\n1,5" pipe\n3,x\n').n_rows == 2, "an inch mark is no quotation mark"


def test_too_large_for_memory_is_refused_before_reading(read, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "available_bytes", lambda: 100_000)
    with pytest.raises(DataError, match=r"t\.csv holds about 10,0\d\d rows and 3 columns.*GB of memory"):
        read("abc,def,ghi\n" + "123,456,789\n" * 10_000)
    pq.write_table(pa.table({"x": np.arange(100_000.0)}), tmp_path / "big.parquet")
    with pytest.raises(DataError, match=r"big\.parquet holds about 100,000 rows and 1 columns"):
        read_table(tmp_path / "big.parquet")
    write_workbook(tmp_path / "big.xlsx", [["a", "b"], *[[i, i] for i in range(2000)]])
    with pytest.raises(DataError, match=r"big\.xlsx holds about [\d,]+ cells"):
        read_table(tmp_path / "big.xlsx")


# --- workbooks and Parquet ---------------------------------------------------------------------


def write_workbook(path, rows, **sheets):
    book = openpyxl.Workbook()
    book.active.title = "first"
    for row in rows:
        book.active.append(row)
    for title, other in sheets.items():
        sheet = book.create_sheet(title)
        for row in other:
            sheet.append(row)
    book.save(path)


def test_workbook(tmp_path):
    import datetime as dt

    path = tmp_path / "t.xlsx"
    rows = [["probe", "wert", "datum", "ok"]]
    rows += [["A", 1.5, dt.date(2024, 5, 17), True], [None] * 4, ["B", None, dt.date(2024, 5, 20), False]]
    write_workbook(path, rows, second=[["x"], [1], [2]])
    table = read_table(path)
    assert kinds(table) == {"probe": "category", "wert": "number", "datum": "date", "ok": "yes_no"}
    np.testing.assert_array_equal(table.column("wert").values, [1.5, np.nan])
    assert table.column("datum").values.tolist() == days("2024-05-17", "2024-05-20")
    assert table.column("ok").values.tolist() == [1, 0]
    assert any("1 empty row dropped" in note for note in table.notes)
    assert any("second" in note for note in table.notes)
    assert table.column("wert").reading.lines.phrase(1) == "row 4"
    assert read_table(path, ReadOptions(sheet="second")).column("x").values.tolist() == [1, 2]
    with pytest.raises(DataError, match=r"no sheet 'third'; it has first, second"):
        read_table(path, ReadOptions(sheet="third"))


def test_parquet_keeps_types_and_bits(tmp_path):
    path = tmp_path / "t.parquet"
    big = 2**60 + 1
    numbers = np.array([0.1, -1e-300, np.nan, 1 / 3])
    data = {
        "f64": numbers,
        "f32": numbers.astype(np.float32),
        "int": pa.array([1, None, 3, 4]),
        "big": pa.array([big, big + 1, None, 5]),
        "code": pa.array(["1", "2", "NA", None]),
        "flag": pa.array([True, False, None, True]),
        "day": pa.array([0, 1, 2, None], pa.date32()),
        "level": pa.array(["a", "b", "a", None]).dictionary_encode(),
        "nested": pa.array([[1], [2], [3], [4]]),
    }
    pq.write_table(pa.table(data), path)
    table = read_table(path)
    assert kinds(table) == {
        "f64": "number", "f32": "number", "int": "number", "big": "text", "code": "category",
        "flag": "yes_no", "day": "date", "level": "category",
    }  # fmt: skip
    np.testing.assert_array_equal(table.column("f64").values, numbers)
    np.testing.assert_array_equal(table.column("f32").values, numbers.astype(np.float32).astype(np.float64))
    assert table.column("big").text(0) == str(big)
    assert table.column("code").levels == ("1", "2", "NA")
    assert table.column("day").values.tolist()[:3] == [0, 1, 2]
    assert any(note.startswith("nested: left out") for note in table.notes)


# --- C48 ---------------------------------------------------------------------------------------


def test_c48_any_folder_and_file_name(tmp_path):
    folder = tmp_path / "Jürgen Müß – Übung" / "数据 🌳"
    folder.mkdir(parents=True)
    for form in ("NFC", "NFD"):
        name = unicodedata.normalize(form, "größe")
        (folder / f"{name}.csv").write_text("a,b\n1,x\n", encoding="utf-8")
        (folder / f"{name}.tsv").write_text("a\tb\n1\tx\n", encoding="utf-8")
        write_workbook(folder / f"{name}.xlsx", [["a", "b"], [1, "x"]])
        pq.write_table(pa.table({"a": [1], "b": ["x"]}), str(folder / f"{name}.parquet"))
        for suffix in ("csv", "tsv", "xlsx", "parquet"):
            table = read_table(folder / f"{name}.{suffix}")
            assert table.names == ("a", "b")
            assert table.name == name
            assert table.column("a").values.tolist() == [1]


def test_fingerprint_and_time_tell_files_apart(read):
    one, two = read("a\n1\n"), read("a\n2\n")
    assert one.fingerprint != two.fingerprint
    assert len(one.fingerprint) == 64
    assert two.modified_ns > 0


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("suffix", [".xlsx", ".parquet"])
def test_bytes_changed_anywhere_are_refused_with_name_and_cure_or_harmless(tmp_path, suffix, seed):
    path = tmp_path / f"t{suffix}"
    frame = pd.DataFrame({"a": [1.5, 2.5, 3.5] * 20, "b": ["x", "y", "z"] * 20})
    if suffix == ".xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_parquet(path)
    content, rng = bytearray(path.read_bytes()), np.random.default_rng(seed)
    for place in rng.integers(len(content) * seed // 30, len(content), 6):  # towards the end: its directory
        content[place] ^= int(rng.integers(1, 256))
    path.write_bytes(content)
    refusal = ""
    try:
        read_table(path)
    except DataError as error:
        refusal = str(error)
    assert not refusal or path.name in refusal
    assert not refusal or "choose" in refusal or "save it again" in refusal
