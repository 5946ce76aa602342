"""The Variance of a Forest window: choosing, fitting, stopping, what is missing, files."""

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QToolButton

from tests.ui.study_help import LEFT, choose, enter, exported, open_refits, part
from workbench.samples import load_sample
from workbench.training_sets import BOOTSTRAP


@pytest.fixture
def cosine(session):
    """A forest on the table; a fixture that returned the window would keep it alive after the test."""
    session.document.open_table(load_sample("cosine"))
    session.document.add_run("forest")


def fit(qtbot, session, dialog):
    enter(dialog, "trees", "1 2 4")
    enter(dialog, "count", "3")
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: session.document.studies.variances is not None, timeout=20_000)
    qtbot.waitUntil(lambda: session.window.context.averages.current_job is None)
    return dialog.figure


def test_it_measures_and_draws(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "averages")
    assert dialog.figure is None
    figure = fit(qtbot, session, dialog)
    assert figure.n_trees.tolist() == [1, 2, 4]
    assert dialog.plot.limit_.isVisible()
    assert len(dialog.plot.points_.data) == 3
    assert "3 forests; two trees correlate" in session.document.messages[-1]


def test_settings_are_undone_and_what_cannot_be_read_is_said(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "averages")
    error, start = part(dialog, QLabel, "error"), part(dialog, QPushButton, "start")
    for name, text, words in (("trees", "0 2", "from 1 to"), ("count", "1", "from 2 to")):
        enter(dialog, name, text, end=None)
        assert words in error.text()
        assert part(dialog, QLineEdit, name).property("invalid")
        assert not start.isEnabled()
        enter(dialog, name, "3 9" if name == "trees" else "9")
        assert not error.isVisible()
    choose(dialog, "draws", "Bootstraps")
    assert dialog.settings.n_trees == (3, 9)
    assert (dialog.settings.how, dialog.settings.n_sets) == (BOOTSTRAP, 9)
    for _ in range(3):
        session.document.undo_stack.undo()
    assert session.document.studies.averages is None
    assert part(dialog, QLineEdit, "trees").text() == "1, 2, 5, 10, 20, 50, 100"


def test_a_stop_keeps_what_is_done(qtbot, session, cosine):
    dialog, averages = open_refits(qtbot, session, "averages"), session.window.context.averages
    enter(dialog, "trees", "1 2")
    enter(dialog, "count", "9000")
    start = part(dialog, QPushButton, "start")
    QTest.mouseClick(start, LEFT)
    qtbot.waitUntil(lambda: dialog.figure is not None, timeout=20_000)
    assert start.text() == "Stop"
    QTest.mouseClick(start, LEFT)
    qtbot.waitUntil(lambda: averages.current_job is None)
    assert session.document.studies.variances.stopped


def test_other_models_are_no_averages(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "averages")
    session.document.add_run("boosting")
    qtbot.waitUntil(lambda: not dialog._switch.shows_content)
    assert dialog.figure is None


def test_tables_and_pictures_are_saved(qtbot, session, cosine, tmp_path, monkeypatch):
    dialog = open_refits(qtbot, session, "averages")
    assert not part(dialog, QToolButton, "csv").isEnabled()
    fit(qtbot, session, dialog)
    made = exported(dialog, tmp_path, monkeypatch)
    assert made[0].read_text("utf-8") == dialog.figure.to_csv()
