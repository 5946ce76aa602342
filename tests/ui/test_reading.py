"""Reading a file otherwise, by the strip and by columns; in a worker, and kept by project and script."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import openpyxl
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QInputDialog, QLabel, QLineEdit, QMessageBox

from engine.errors import DataError
from tests.ui.person import CTRL, NONE, Person, prompt_of
from workbench.jobs import Job
from workbench.project import load_project
from workbench.scripts import make_script

C01 = (
    "zeit;temp;menge\n2024-03-01 08:00;21,5;1.250,75\n2024-03-01 08:10;22,0;980,00\n2024-03-01 08:20;;12,5\n"
)
C08 = "land,wert\n" + 'NA,1\nDE,2\n"NA",3\n,4\nN/A,5\n' * 8
DATES = "when,y\n" + "".join(f"{1 + i % 12:02d}/{1 + i % 9:02d}/2020,{i}\n" for i in range(60))


@pytest.fixture
def person(qtbot, window) -> Person:
    return Person(qtbot, window)


@pytest.fixture
def opened(person, window, document, tmp_path):
    """Write a file, open it, and unfold the strip."""

    def open_file(content: str, name: str = "t.csv", encoding: str = "utf-8"):
        path = tmp_path / name
        path.write_bytes(content.encode(encoding))
        window.files.open_path(str(path))
        person.wait(lambda: document.table is not None)
        person.click("data.import.change")
        return path

    return open_file


@pytest.fixture
def slow_worker(session, qtbot):
    """Keeps the lane of views busy until `set`, so that what is asked for waits."""
    may_go, ended = threading.Event(), []
    job = Job(lambda _monitor: may_go.wait(60))
    job.ended.connect(ended.append)

    def hold() -> threading.Event:
        job.start(session.lanes.views)
        return may_go

    yield hold
    may_go.set()
    qtbot.waitUntil(lambda: job.future is None or bool(ended))


def select(person, *names: str) -> None:
    if not person.find("data.columns").isVisible():
        person.click("data.import.change")  # the form makes room for the columns
    shown = person.rows("data.columns")
    for position, name in enumerate(names):
        person.click_row("data.columns", shown.index(name), CTRL if position else NONE)


def reopened(person, window, document, tmp_path, dialogs):
    """Save the project, open another table, and open the project again."""
    path = tmp_path / "kept.treewright"
    dialogs.answers = [path]
    person.press(Qt.Key.Key_S, CTRL)
    person.wait(lambda: not window.files.is_saving)
    window.files.open_sample("xor")
    person.wait(lambda: document.table.sample == "xor")
    window.files.open_path(str(path))
    person.wait(lambda: document.path == path)
    return path


def told_by_script(document, tmp_path, asked: str) -> str:
    """Run the current model's script, and print at its end what is asked."""
    script = make_script(document, document.current_run_id) + f"\nprint({asked})\n"
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    command = [sys.executable, tmp_path / "script.py"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1]


# ---- in a worker -------------------------------------------------------------------------------


def test_the_old_table_stays_until_the_new_one_is_there(person, document, opened, slow_worker):
    opened("a;b\n1,5;x\n2,5;y\n3,5;x\n")
    before, n_steps = document.table, document.undo_stack.count()
    may_go = slow_worker()
    person.choose("data.import.decimal", "point")
    person.choose("data.import.thousands", "comma")
    person.click("data.import.read")
    assert document.table is before
    assert person.find("data.import.summary").full_text() == "Reading the file again"
    may_go.set()
    person.wait(lambda: document.table is not before)
    assert document.table.options.decimal == "."
    assert "decimal point" in person.find("data.import.summary").full_text()
    assert document.undo_stack.count() == n_steps + 1
    document.undo_stack.undo()
    assert document.table is before
    assert person.find("data.import.decimal").currentText() == "comma"


def test_the_latest_request_wins(person, document, opened, slow_worker):
    opened("a;b\n1,5;x\n2,5;NA\n3,5;-\n")
    n_steps = document.undo_stack.count()
    may_go = slow_worker()
    for tokens in ("x", "-", "(empty cell), NA, -"):
        person.type_in("data.import.tokens", tokens)
        person.click("data.import.read")
    may_go.set()
    person.wait(lambda: document.undo_stack.count() > n_steps)
    assert document.undo_stack.count() == n_steps + 1
    assert document.table.options.missing_tokens == ("", "NA", "-")
    assert document.table.column("b").n_missing == 2


def test_what_cannot_be_read_leaves_everything_as_it_was(person, window, document, opened):
    path = opened("a,b\n1,x\n2,y\n3,x\n")
    before, n_steps = document.table, document.undo_stack.count()
    path.unlink()
    person.choose("data.import.separator", "semicolon")
    person.click("data.import.read")
    notes = person.find("data.import.notes", QLabel)
    person.wait(lambda: "is not there any more" in notes.text())
    assert "t.csv" in notes.text()
    assert document.messages[-1].endswith("the table stays as it was")
    assert document.table is before
    assert document.undo_stack.count() == n_steps
    assert person.find("data.import.separator").currentText() == "comma"
    assert "comma" in person.find("data.import.summary").full_text()


def test_another_table_opened_meanwhile_is_not_replaced(person, window, document, opened, slow_worker):
    opened("a,b\n1,x\n2,y\n3,x\n")
    may_go = slow_worker()
    person.click("data.import.read")
    window.files.open_sample("xor")
    may_go.set()
    person.wait(lambda: prompt_of(window) is not None)  # the file was read anew first: a change
    prompt_of(window).button(QMessageBox.StandardButton.Discard).click()
    person.wait(lambda: document.table.sample == "xor")
    assert document.undo_stack.count() == 0
    assert person.find("data.import.summary").full_text() == "Sample table"


@pytest.fixture
def opening(person, window, document, small_table, tmp_path, slow_worker):
    """A clean document, and another file that a worker is about to read; call it to let the worker go."""
    document.open_table(small_table)
    document.mark_saved(tmp_path / "small.treewright")
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,x\n2,y\n" * 10, encoding="utf-8")
    may_go = slow_worker()
    window.files.open_path(str(path))
    assert prompt_of(window) is None
    return may_go.set


def test_what_is_changed_while_another_file_is_read_is_asked_about(
    person, window, document, small_table, opening
):
    document.set_target("y")
    opening()
    person.wait(lambda: prompt_of(window) is not None)
    assert prompt_of(window).text() == "Save what was changed while t.csv was read?"
    prompt_of(window).button(QMessageBox.StandardButton.Cancel).click()
    assert document.table is small_table
    assert document.target == "y"
    assert document.is_dirty


@pytest.mark.parametrize("answer", ["Save", "Discard"])
def test_the_file_that_was_read_is_shown_after_the_answer(
    person, window, document, small_table, opening, tmp_path, answer
):
    document.set_target("y")
    opening()
    person.wait(lambda: prompt_of(window) is not None)
    prompt_of(window).button(QMessageBox.StandardButton[answer]).click()
    person.wait(lambda: document.table is not small_table)
    assert document.table.names == ("a", "b")
    assert (tmp_path / "small.treewright").exists() == (answer == "Save")
    if answer == "Save":
        assert load_project(tmp_path / "small.treewright").data.roles["y"] == "target"


def test_a_view_moved_while_a_file_is_read_is_no_work_to_ask_about(
    person, window, document, small_table, opening
):
    document.set_view_state("surface", {"x": "size"})
    opening()
    person.wait(lambda: document.table is not small_table)
    assert document.table.names == ("a", "b")
    assert prompt_of(window) is None


def test_changes_that_were_discarded_before_the_reading_are_not_asked_about_again(
    person, window, document, small_table, tmp_path, slow_worker
):
    document.open_table(small_table)
    document.set_target("y")
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,x\n2,y\n" * 10, encoding="utf-8")
    may_go = slow_worker()
    window.files.open_path(str(path))
    prompt_of(window).button(QMessageBox.StandardButton.Discard).click()
    may_go.set()
    person.wait(lambda: document.table is not small_table)
    assert prompt_of(window) is None


def test_roles_chosen_while_reading_are_kept(person, document, opened, slow_worker):
    opened("a,b,c\n1,x,3\n2,y,4\n3,x,4\n")
    may_go = slow_worker()
    before = document.table
    person.click("data.import.read")
    document.set_target("b")
    document.set_roles(["c"], "weight")
    may_go.set()
    person.wait(lambda: document.table is not before)
    assert (document.target, document.roles["c"]) == ("b", "weight")


# ---- what the strip tells, and changes (C01, C02) ------------------------------------------------


def read_again(person, document, **choices: str) -> None:
    before = document.table
    for name, text in choices.items():
        person.choose(f"data.import.{name}", text)
    person.click("data.import.read")
    person.wait(lambda: document.table is not before)


def test_c01_the_strip_names_the_signs_that_were_found(person, window, document, opened):
    opened(C01)
    strip = person.find("data.import.summary")
    assert strip.full_text() == "semicolon, decimal comma, thousands point, UTF-8, header"
    assert document.table.column("menge").values.tolist() == [1250.75, 980.0, 12.5]
    window.centre.show_view("table")
    model = person.find("table.view").model()
    shown = [[model.index(row, k).data() for k in range(3)] for row in range(3)]
    assert [line[2] for line in shown] == ["1.250,75", "980,00", "12,5"]
    assert shown[0][1] == "21,5"
    window.resize(1024, 700)  # the tip is made anew with the label's width
    window.resize(1440, 900)
    assert "Missing is (empty cell), NA, N/A" in strip.toolTip()


def test_c01_which_reading_was_taken_is_shown_and_switched(person, document, opened):
    opened("menge\n1.250\n2.500\n")
    notes, strip = person.find("data.import.notes", QLabel), person.find("data.import.summary")
    assert "1.250 could be 1.25 or 1250; read as 1.25, set decimal sign ','" in notes.text()
    assert document.table.column("menge").values.tolist() == [1.25, 2.5]
    read_again(person, document, decimal="comma", thousands="point")
    assert document.table.column("menge").values.tolist() == [1250, 2500]
    assert "decimal comma, thousands point" in strip.full_text()
    assert "1.250 could be 1250 or 1.25; read as 1250" in notes.text()


def test_c02_the_strip_names_the_encoding_and_changes_it(person, document, opened):
    opened("größe,klasse\n180,ja\n", encoding="latin-1")
    strip, encoding = person.find("data.import.summary"), person.find("data.import.encoding")
    assert "CP1252" in strip.full_text()
    assert encoding.currentText() == "CP1252"
    assert document.table.names == ("größe", "klasse")
    before = document.table
    person.choose("data.import.encoding", "UTF-8")
    person.click("data.import.read")
    notes = person.find("data.import.notes", QLabel)
    person.wait(lambda: "not utf-8 (byte 0xF6 at offset 2, line 1)" in notes.text())
    assert document.table is before
    assert encoding.currentText() == "CP1252"
    read_again(person, document, encoding="CP1251")
    assert document.table.names[0] == "grцЯe"
    assert "CP1251" in strip.full_text()


def test_c02_a_file_that_fits_no_encoding_is_opened_with_the_one_that_is_chosen(
    person, window, document, small_table, tmp_path
):
    document.open_table(small_table)
    document.mark_saved(tmp_path / "small.treewright")
    path = tmp_path / "jp.csv"
    path.write_bytes("番号,値\n東京,1\n".encode("shift_jis"))
    window.files.open_path(str(path))
    notice = person.find("notice.text", QLabel)
    person.wait(notice.isVisible)
    assert "jp.csv" in notice.text()
    assert "offset 2, line 1" in notice.text()
    assert document.table is small_table, "nothing is half loaded"
    assert person.find("notice.mend").text() == "Choose the Encoding"
    person.click("notice.mend")
    box = person.find("prompt.encoding", QInputDialog)
    choice = box.findChild(QComboBox)
    choice.setCurrentText("SHIFT_JIS")
    box.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok).click()
    person.wait(lambda: document.table is not small_table)
    assert document.table.names == ("番号", "値")
    assert document.table.column("番号").text(0) == "東京"
    assert "SHIFT_JIS" in person.find("data.import.summary").full_text()


# ---- missing values of single columns (C08) ----------------------------------------------------


def test_c08_na_becomes_a_value_in_one_column(person, window, document, opened, tmp_path, dialogs):
    opened(C08)
    person.click("data.import.change")
    tokens = person.find("data.column_tokens", QLineEdit)
    assert not tokens.isVisible(), "without a selected column there is nothing to say"
    select(person, "land")
    assert tokens.isVisible()
    assert tokens.text().startswith("(empty cell), NA, N/A")
    assert document.table.column("land").n_missing == 32
    person.type_in("data.column_tokens", "(empty cell), N/A")
    assert document.table.column("land").levels == ("DE", "NA")
    assert document.table.column("land").n_missing == 16
    assert document.table.column("wert").n_missing == 0
    assert document.undo_stack.undoText() == "Set missing values of land"
    reopened(person, window, document, tmp_path, dialogs)
    assert document.table.options.column_tokens == {"land": ("", "N/A")}
    assert document.table.column("land").levels == ("DE", "NA")
    select(person, "land")
    assert tokens.text() == "(empty cell), N/A"
    person.click("data.column_tokens_reset")
    assert document.table.column("land").n_missing == 32
    assert document.table.options.column_tokens == {}
    assert not person.find("data.column_tokens_reset").isVisible()


def test_several_columns_take_the_same_tokens(person, document, opened):
    opened("a,b,c\n-,x,-\n2,-,4\n3,x,4\n")
    select(person, "a", "c")
    person.type_in("data.column_tokens", "-")
    assert [document.table.column(name).n_missing for name in "abc"] == [1, 0, 1]
    assert [document.table.column(name).kind for name in "ac"] == ["number", "number"]
    assert document.undo_stack.undoText() == "Set missing values of 2 columns"
    select(person, "a", "b")
    tokens = person.find("data.column_tokens", QLineEdit)
    assert (tokens.text(), tokens.placeholderText()) == ("", "Different texts")


def test_a_focus_that_passes_through_changes_nothing(person, document, opened):
    opened(C08)
    select(person, "land")
    before = document.table
    tokens = person.find("data.column_tokens", QLineEdit)
    tokens.setFocus()
    person.find("data.columns").setFocus()
    assert document.table is before


def test_tokens_of_a_sample_s_column_are_kept_too(person, window, document, tmp_path, dialogs):
    person.open_sample("penguins")
    select(person, "island")
    person.type_in("data.column_tokens", "Dream")
    assert document.table.column("island").n_missing == 124
    reopened(person, window, document, tmp_path, dialogs)
    assert document.table.sample == "penguins"
    assert document.table.column("island").n_missing == 124


# ---- order of day and month --------------------------------------------------------------------


def test_the_date_order_is_offered_where_dates_fit_both(person, window, document, opened, tmp_path, dialogs):
    opened(DATES)
    order = person.find("data.import.date_order")
    assert order.isVisible()
    assert order.currentText() == "day, a guess"
    assert any("ambiguous" in note for note in document.table.notes)
    first = float(document.table.column("when").values[1])
    assert first == _days("2020-02-02")
    assert document.table.column("when").values[2] == _days("2020-03-03")
    assert document.table.column("when").values[9] == _days("2020-01-10")
    before = document.table
    person.choose("data.import.date_order", "month")
    person.click("data.import.read")
    person.wait(lambda: document.table is not before)
    assert document.table.column("when").values[9] == _days("2020-10-01")
    assert not any("ambiguous" in note for note in document.table.notes)
    assert order.isVisible(), "it can be put back"
    reopened(person, window, document, tmp_path, dialogs)
    assert document.table.options.day_first is False
    assert document.table.column("when").values[9] == _days("2020-10-01")
    person.click("data.import.change")
    assert order.currentText() == "month"


def test_the_date_order_is_absent_where_it_says_nothing(person, opened):
    opened("when,y\n2020-03-04,1\n2020-03-05,2\n2020-03-06,3\n")
    assert not person.find("data.import.date_order").isVisible()


@pytest.mark.parametrize("order", ["day", "month"])
def test_the_script_reads_dates_in_the_chosen_order(person, document, opened, tmp_path, order):
    opened(DATES)
    before = document.table
    person.choose("data.import.date_order", order)
    person.click("data.import.read")
    person.wait(lambda: document.table is not before)
    document.set_target("y")
    person.add("tree")
    person.train()
    told = told_by_script(document, tmp_path, "[float(day) for day in X['when']]")
    assert told == str(document.table.column("when").values.tolist())


def test_the_script_reads_a_column_s_own_tokens(person, document, opened, tmp_path):
    opened(C08)
    select(person, "land")
    person.type_in("data.column_tokens", "(empty cell), N/A")
    document.set_target("wert")
    document.set_as_classes(False)
    person.add("tree")
    person.train()
    asked = "X['land'].value_counts(sort=False).to_dict(), int(X['land'].isna().sum())"
    assert told_by_script(document, tmp_path, asked) == "{'DE': 8, 'NA': 16} 16"


# ---- sheets of a workbook ----------------------------------------------------------------------


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "first"
    for line in [["a", "b"], [1, "x"], [2, "y"], [3, "x"]]:
        book.active.append(line)
    second = book.create_sheet("zweites Blatt")
    for line in [[10, 0.5], [20, 1.5], [30, 2.5], [40, 3.5]]:
        second.append(line)
    path = tmp_path / "book.xlsx"
    book.save(path)
    return path


def test_a_sheet_is_chosen_and_kept(person, window, document, workbook, tmp_path, dialogs):
    window.files.open_path(str(workbook))
    person.wait(lambda: document.table is not None)
    person.click("data.import.change")
    sheet = person.find("data.import.sheet")
    assert sheet.isVisible()
    assert sheet.currentText() == "first"
    assert not person.find("data.import.separator").isVisible(), "a workbook has no separator"
    before = document.table
    person.choose("data.import.sheet", "zweites Blatt")
    person.click("data.import.read")
    person.wait(lambda: document.table is not before)
    assert document.table.names == ("column 1", "column 2"), "its header is found anew: it has none"
    assert document.table.column("column 1").values.tolist() == [10, 20, 30, 40]
    assert "sheet zweites Blatt" in person.find("data.import.summary").full_text()
    path = reopened(person, window, document, tmp_path, dialogs)
    assert document.table.options.sheet == "zweites Blatt"
    assert load_project(path).data.table.sheets == ("first", "zweites Blatt")
    person.click("data.import.change")
    assert sheet.isVisible()
    assert sheet.currentText() == "zweites Blatt"
    window.actions_["action.file.include_rows"].setChecked(False)
    document.set_roles(["column 1"], "ignored")
    person.press(Qt.Key.Key_S, CTRL)
    person.wait(lambda: not window.files.is_saving)
    assert load_project(path).data.table.column("column 2").values.tolist() == [0.5, 1.5, 2.5, 3.5]


def test_a_workbook_of_one_sheet_offers_no_choice(person, window, document, tmp_path):
    book = openpyxl.Workbook()
    for line in [["a", "b"], [1, "x"], [2, "y"]]:
        book.active.append(line)
    book.save(tmp_path / "one.xlsx")
    window.files.open_path(str(tmp_path / "one.xlsx"))
    person.wait(lambda: document.table is not None)
    person.click("data.import.change")
    assert not person.find("data.import.sheet").isVisible()


def test_no_script_is_copied_of_a_workbook(person, window, document, workbook):
    window.files.open_path(str(workbook))
    person.wait(lambda: document.table is not None)
    document.set_target("b")
    person.add("tree")
    person.train()
    with pytest.raises(DataError, match=r"book\.xlsx is not a text file"):
        make_script(document, document.current_run_id)


def _days(text: str) -> float:
    return float((np.datetime64(text) - np.datetime64("1970-01-01")).astype(int))
