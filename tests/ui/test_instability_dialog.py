"""The Instability window: run, stop, follow the tree, two resampled trees, undo, files; mouse and keys."""

import csv

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from engine.errors import DataError
from engine.resampling.instability import Instability
from tests.ui.study_help import LEFT, enter, open_study, part
from tests.ui.training_help import train
from workbench.instability import InstabilitySettings
from workbench.project import load_project, save_project
from workbench.project.instability import firmness_arrays, found_from_json, found_to_json
from workbench.samples import load_sample
from workbench.ui import file_dialogs


@pytest.fixture
def run_id(qtbot, session):
    session.document.open_table(load_sample("iris"))
    return train(qtbot, session, "tree")


def opened(session):
    dialog = open_study(session, "instability")
    assert QTest.qWaitForWindowActive(dialog)  # where the focus leaves a field, it is read
    return dialog


def run(qtbot, dialog):
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    assert dialog._study.current_job is not None
    qtbot.waitUntil(lambda: dialog._study.current_job is None, timeout=60_000)
    qtbot.waitUntil(lambda: dialog.figure is not None)


def enter_once_seen(qtbot, dialog, name, text):
    qtbot.waitUntil(part(dialog, QWidget, name).isVisible)
    enter(dialog, name, text)


def quiet(qtbot, session):
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)


def test_what_is_missing_is_told(qtbot, session):
    assert not session.window.actions_["action.study.instability"].isEnabled()
    session.document.open_table(load_sample("iris"))
    dialog = opened(session)
    told = dialog._empty._sentence
    qtbot.waitUntil(lambda: told.text().startswith("No model yet."))
    train(qtbot, session, "forest", n_estimators=2)
    qtbot.waitUntil(lambda: "single one" in told.text())
    train(qtbot, session, "tree")
    qtbot.waitUntil(lambda: dialog._none_yet._sentence.text() == "No resample was looked at yet.")
    assert dialog.figure is None


def test_resamples_are_searched_and_the_root_is_shown_first(qtbot, session, run_id):
    dialog = opened(session)
    run(qtbot, dialog)
    figure = dialog.figure
    assert figure.found.n_resamples == 100
    session.window.context.tree_study.advanced.emit()
    assert dialog.figure is figure, "what is not new is not made again"
    assert dialog.model.rowCount() == figure.n_nodes
    assert dialog.table.currentIndex().row() == 0
    assert dialog.plot.figure.title.startswith("First split: ")
    assert dialog.plot.figure.values.sum() == 100
    for width in (900, 1120):
        dialog.resize(width, 700)
        assert dialog.table.columnWidth(0) >= 170, "questions are read, and what has no room is scrolled to"
        header = dialog.plot.header
        assert " ".join(header.shown_lines) == dialog.plot.figure.subtitle, "few bars leave it no less room"


def test_the_selected_node_and_the_row_are_the_same(qtbot, session, run_id):
    dialog = opened(session)
    run(qtbot, dialog)
    selection, figure = session.window.context.selection, dialog.figure
    selection.select_node(figure.paths[1])
    assert dialog.table.currentIndex().row() == 1
    assert figure.question(1) in dialog.plot.figure.title
    QTest.keyClick(dialog.table, Qt.Key.Key_Down)
    assert selection.node_path == figure.paths[2]
    selection.select_node(None)
    assert dialog.table.currentIndex().row() == 2  # the view stays where it was


def test_settings_are_undone_and_kept_in_the_project(qtbot, session, run_id, tmp_path):
    document, dialog = session.document, opened(session)
    enter_once_seen(qtbot, dialog, "n_resamples", "7")
    assert document.studies.instability == InstabilitySettings(7)
    run(qtbot, dialog)
    assert dialog.figure.found.n_resamples == 7
    enter_once_seen(qtbot, dialog, "second", "30")  # there are 7
    assert document.studies.instability.second == 7
    enter_once_seen(qtbot, dialog, "seed", "5")
    assert dialog.figure is None  # found by other resamples
    save_project(document.snapshot(), tmp_path / "a.treewright", include_rows=True)
    assert load_project(tmp_path / "a.treewright").studies.instability == InstabilitySettings(7, 5, 1, 7)
    for _ in range(3):
        document.undo_stack.undo()
    assert document.studies.instability is None
    quiet(qtbot, session)


def test_two_resampled_trees_stand_beside_each_other(qtbot, session, run_id):
    dialog = opened(session)
    run(qtbot, dialog)
    trees = dialog.trees
    qtbot.waitUntil(lambda: trees.canvases["second"].figure is not None)
    before = trees.canvases["second"].figure
    enter_once_seen(qtbot, dialog, "second", "1")
    qtbot.waitUntil(lambda: trees.canvases["second"].figure is not before)
    assert trees._titles["second"].full_text().endswith("; as the other tree")
    assert trees._marks["second"].words == {}
    assert session.document.undo_stack.undoText() == "Look at resample 1"


def test_a_stop_keeps_what_is_done(qtbot, session, run_id):
    dialog = opened(session)
    enter_once_seen(qtbot, dialog, "n_resamples", "10000")
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: dialog.figure is not None, timeout=60_000)
    assert part(dialog, QPushButton, "start").text() == "Stop"
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: dialog._study.current_job is None, timeout=60_000)
    assert 0 < dialog.figure.found.n_resamples < 10_000
    assert "of 10,000 resamples" in dialog.figure.subtitle


def test_return_in_a_field_runs_with_what_is_typed(qtbot, session, run_id):
    dialog = opened(session)
    edit = part(dialog, QWidget, "n_resamples").focusProxy()
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, "9")
    QTest.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog._study.current_job is None and dialog.figure is not None, timeout=60_000)
    assert dialog.figure.found.n_resamples == 9


def test_another_tree_is_not_shown_with_what_was_found_of_this_one(qtbot, session, run_id):
    dialog = opened(session)
    run(qtbot, dialog)
    document = session.document
    other = train(qtbot, session, "tree", max_depth=1)
    assert dialog.figure is None
    document.select_run(run_id)
    assert isinstance(dialog.figure.found, Instability)
    document.delete_run(other)
    quiet(qtbot, session)


def test_files(qtbot, session, run_id, tmp_path, monkeypatch):
    dialog = opened(session)
    run(qtbot, dialog)
    monkeypatch.setattr(file_dialogs, "ask_save", lambda *arguments: arguments[-1](str(tmp_path / "a.csv")))
    QTest.mouseClick(part(dialog, QToolButton, "csv"), LEFT)
    with open(tmp_path / "a.csv") as file:
        assert len(list(csv.reader(file))) == dialog.figure.n_nodes + 1
    monkeypatch.setattr(file_dialogs, "ask_save", lambda *arguments: arguments[-1](str(tmp_path / "a.png")))
    QTest.mouseClick(part(dialog, QToolButton, "export"), LEFT)
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_what_cannot_be_drawn_is_said_and_not_run(qtbot, session, run_id):
    dialog = opened(session)
    enter_once_seen(qtbot, dialog, "n_resamples", "1")
    assert "whole number from 2" in dialog._says.full_text()
    assert not dialog.start.isEnabled()
    enter_once_seen(qtbot, dialog, "n_resamples", "3")
    assert dialog.start.isEnabled()
    run(qtbot, dialog)
    assert dialog.figure.found.n_resamples == 3


def test_what_was_found_is_there_again_in_the_project_and_after_undo(qtbot, session, run_id, tmp_path):
    document, dialog = session.document, opened(session)
    enter_once_seen(qtbot, dialog, "n_resamples", "6")
    run(qtbot, dialog)
    before = dialog.figure.to_csv()
    document.set_parameter(run_id, "max_depth", 1)
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        session.trainer.train(run_id)
    qtbot.waitUntil(lambda: dialog.figure is None)
    document.undo_stack.undo()
    save_project(document.snapshot(), tmp_path / "a.treewright", include_rows=True)
    read = load_project(tmp_path / "a.treewright").studies.firmness
    kept = document.studies.firmness
    assert (read.settings, read.tree_mark, read.name) == (kept.settings, kept.tree_mark, kept.name)
    for name in ("columns", "thresholds", "is_same", "bands", "nodes", "own"):
        np.testing.assert_array_equal(getattr(read.instability, name), getattr(kept.instability, name))
    assert read.instability.n_wanted == 6
    document.set_parameter(run_id, "max_depth", 5)
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        session.trainer.train(run_id)
    qtbot.waitUntil(lambda: dialog.figure is not None)  # the same tree again
    assert dialog.figure.to_csv() == before


@pytest.mark.parametrize(
    ("name", "damage"),
    [("columns", lambda a: a + 50), ("own", lambda a: a[:-1]), ("nodes", lambda a: a[::-1])],
)
def test_a_damaged_study_is_refused(qtbot, session, run_id, name, damage):
    dialog = opened(session)
    run(qtbot, dialog)
    kept = session.document.studies.firmness
    arrays = firmness_arrays(kept)
    assert found_from_json(found_to_json(kept), arrays).instability.n_resamples == 100
    with pytest.raises(DataError, match="does not hold together"):
        found_from_json(found_to_json(kept), {**arrays, name: damage(arrays[name])})
