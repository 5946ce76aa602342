"""What the window tells of its own accord: time left, files that changed, errors nobody expected."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox, QPlainTextEdit

from tests.ui.person import CTRL, LEFT, Person
from workbench.project import save_project
from workbench.readers import read_table
from workbench.samples import load_sample
from workbench.ui import error_dialog
from workbench.ui.error_dialog import ExceptionHook


@pytest.fixture
def person(qtbot, window) -> Person:
    return Person(qtbot, window)


@pytest.fixture
def open_dialogs():
    yield error_dialog._open_dialogs
    for dialog in list(error_dialog._open_dialogs):
        dialog.close()


def test_what_runs_is_read_to_its_end_in_a_narrow_window(session, person):
    """How long still stands at its end, and was cut."""
    session.window.resize(1024, 700)
    session.document.open_table(load_sample("penguins"))
    run_id = session.document.add_run("boosting")
    session.document.set_parameter(run_id, "n_estimators", 20_000)
    assert session.trainer.train(run_id)
    job = person.find("status.job")
    person.wait(lambda: job.full_text().endswith(" left"), 120_000)
    person.wait(lambda: job.text() == job.full_text())
    session.trainer.stop()
    person.wait(lambda: not job.isVisible())
    assert job.minimumWidth() < 100


def test_the_status_line_counts_rounds_and_the_seconds_left(person):
    person.open_sample("penguins")
    person.add("boosting", n_estimators="2000")
    person.click("settings.train")
    job, bar = person.find("status.job"), person.find("status.progress")
    wanted = re.compile(r"(?P<name>.+): round (?P<done>[\d,]+) of 2,000, [\d.]+ (s|min|h) left")
    told: list[re.Match] = []

    def tells() -> bool:
        found = wanted.fullmatch(job.full_text())
        if found:
            told.append(found)
        return found is not None

    person.wait(tells, 120_000)
    assert told[0]["name"].endswith(person.rows("models.list")[0])
    assert 0 < int(told[0]["done"].replace(",", "")) < 2000
    assert bar.isVisible()
    QTest.mouseClick(person.find("settings.train"), LEFT)  # Stop
    person.wait_for_training()
    assert not job.isVisible()
    assert not bar.isVisible()


def test_a_data_file_that_changed_since_is_told_when_the_project_opens(
    person, window, document, tmp_path, dialogs
):
    data, project = tmp_path / "ernte.csv", tmp_path / "ernte.treewright"
    data.write_text("size,colour,y\n" + "1,red,no\n9,blue,yes\n" * 20, encoding="utf-8")
    document.open_table(read_table(data))
    document.set_target("y")
    save_project(document, project, include_rows=False)
    document.mark_saved(project)
    data.write_text("size,shade,y\n" + "1,red,no\n9,blue,yes\n" * 21, encoding="utf-8")
    dialogs.answers = [project]
    person.press(Qt.Key.Key_O, CTRL)
    person.wait(lambda: document.table is not None and document.table.n_rows == 42)
    said = (
        "The data file ernte changed since the project was saved "
        "(40 rows then, 42 now; gone: colour; new: shade)."
    )
    person.wait(lambda: said in document.messages)
    assert said in person.find("jobs.messages", QPlainTextEdit).toPlainText()
    assert document.target == "y"


def test_an_error_in_a_job_shows_details_and_the_window_goes_on(
    person, document, monkeypatch, caplog, open_dialogs
):
    from workbench import training_work

    cell = "4711"

    def broken(*_arguments):
        raise RuntimeError(cell)

    person.open_sample("penguins")
    person.add("tree")
    with monkeypatch.context() as patch:
        patch.setattr(training_work, "fit_run", broken)
        person.train()
    person.wait(lambda: len(open_dialogs) == 1)
    details = open_dialogs[0].findChild(QPlainTextEdit, "error.details").toPlainText()
    assert ", in broken" in details
    assert cell not in details + caplog.text
    assert document.current_run.state == "failed"
    open_dialogs[0].close()
    person.train()
    assert document.current_run.state == "done"


def test_an_error_in_a_slot_shows_details_and_the_window_goes_on(
    qtbot, person, window, document, open_dialogs
):
    hook = ExceptionHook()
    try:
        with qtbot.captureExceptions() as caught:  # what Qt hands to `sys.excepthook`
            QTimer.singleShot(0, window, lambda: {}["nothing"])
            qtbot.waitUntil(lambda: bool(caught))
        (error,) = caught
        hook.handle(*error)
    finally:
        hook.remove()
    assert len(open_dialogs) == 1
    person.open_sample("penguins")
    assert document.table.n_rows == 344


def test_training_again_asks_before_changes_by_hand_are_lost(person, window, document):
    person.open_sample("penguins")
    person.add("tree")
    person.train()
    first = document.current_run
    person.find("tree.canvas").setFocus()
    person.press(Qt.Key.Key_Down)  # the root
    person.press(Qt.Key.Key_Delete)
    assert document.current_run.result.tree(0).n_nodes == 1

    def answer(text: str) -> None:
        person.click("settings.train")
        box = person.find("prompt.retrain", QMessageBox)
        assert box.windowModality() == Qt.WindowModality.WindowModal
        button = next(b for b in box.buttons() if b.text().replace("&", "") == text)
        QTest.mouseClick(button, LEFT)
        person.wait(lambda: window.findChild(QMessageBox, "prompt.retrain") is None)

    answer("Cancel")
    assert document.current_run.result.tree(0).n_nodes == 1
    assert len(document.runs) == 1
    answer("Train a Copy")
    person.wait_for_training()
    assert len(document.runs) == 2
    assert document.runs[first.run_id].result.tree(0).n_nodes == 1
    assert list(document.runs.values())[1].result.tree(0).n_nodes > 1
    person.click_row("models.list", 0)
    answer("Train and Change Again")
    person.wait_for_training()
    assert document.runs[first.run_id].result.tree(0).n_nodes == 1
    assert "1 change by hand made again" in document.messages[-1]
    answer("Train Again")
    person.wait_for_training()
    assert document.runs[first.run_id].result.tree(0).n_nodes > 1
