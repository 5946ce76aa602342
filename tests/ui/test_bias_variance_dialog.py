"""The Bias and Variance window: choosing, starting, stopping, taking a value, files; by mouse and keys."""

from dataclasses import replace
from functools import partial

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QToolButton

from tests.ui.study_help import LEFT, choose, enter, exported, open_refits, part
from workbench.bias_variance import BiasVarianceSettings
from workbench.samples import load_sample
from workbench.training_sets import BOOTSTRAP, FRESH
from workbench.ui import theme


@pytest.fixture
def cosine(session):
    """A tree on the table; a fixture that returned the window would keep it alive after the test."""
    session.document.open_table(load_sample("cosine"))
    session.document.add_run("tree")


def vary(qtbot, session, dialog, **changes):
    """Find the parts of two quick values."""
    settings = replace(dialog.settings, **{"values": (1, 4), "n_sets": 3, **changes})
    session.document.set_studies("Vary", bias_variance=settings)
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: session.document.studies.parts is not None, timeout=20_000)
    qtbot.waitUntil(lambda: session.window.context.laboratory.current_job is None)
    return dialog.figure


def test_it_waits_for_a_table_and_a_model(qtbot, session):
    action = session.window.actions_["action.study.bias_variance"]
    assert not action.isEnabled()
    session.document.open_table(load_sample("cosine"))
    assert action.isEnabled()
    dialog = open_refits(qtbot, session, "bias_variance")
    assert not dialog._switch.shows_content
    session.document.add_run("tree")
    qtbot.waitUntil(lambda: bool(dialog._switch.shows_content))
    assert dialog.settings.how == FRESH
    assert "11 values on each of 30 training sets" in part(dialog, QLabel, "says").text()
    assert dialog.figure is None


def test_it_finds_the_parts_and_shows_them(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "bias_variance")
    figure = vary(qtbot, session, dialog)
    assert figure.title == "Depth of Decision tree 1"
    assert figure.n_fits.tolist() == [3, 3]
    assert "3 training sets; the smallest error is at 4." in session.document.messages[-1]
    assert [name for name, line in dialog.plot.lines_.items() if line.isVisible()] == [
        "error", "bias", "variance", "noise"
    ]  # fmt: skip
    start = part(dialog, QPushButton, "start")
    assert start.text() == "Vary"
    start.setFocus()  # as a click on it does
    part(dialog, QLineEdit, "count").setFocus()
    assert start.isDefault()  # Enter in a field presses it still


def test_settings_are_changed_by_hand_in_undoable_steps(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "bias_variance")
    enter(dialog, "values", "2, 3")
    assert dialog.settings.values == (2, 3)
    enter(dialog, "count", "12")
    assert dialog.settings.n_sets == 12
    choose(dialog, "draws", "Bootstraps")
    assert dialog.settings.how == BOOTSTRAP
    choose(dialog, "parameter", "Rows per leaf")
    assert dialog.settings.parameter == "min_samples_leaf"
    choose(dialog, "parameter", "the models of the list")
    assert (dialog.settings.parameter, dialog.settings.values) == ("", ())
    assert not part(dialog, QLineEdit, "values").isVisible()
    assert "1 model on each of 12 training sets" in part(dialog, QLabel, "says").text()
    stack = session.document.undo_stack
    for _ in range(4):
        stack.undo()
    assert dialog.settings.values == (2, 3)
    assert part(dialog, QLineEdit, "values").text() == "2, 3"
    enter(dialog, "values", "7", end=None)
    session.document.set_studies("Draw more", bias_variance=replace(dialog.settings, n_sets=31))
    assert part(dialog, QLineEdit, "values").text() == "7", "what somebody types is left alone"
    stack.undo()
    QTest.keyClick(part(dialog, QLineEdit, "values"), Qt.Key.Key_Return)
    assert dialog.settings.values == (7,)
    stack.undo()
    assert part(dialog, QLineEdit, "values").hasFocus()
    assert part(dialog, QLineEdit, "values").text() == "2, 3", "undone where the focus still is"
    assert part(dialog, QLineEdit, "count").text() == "30"


@pytest.mark.parametrize(
    ("name", "text", "words"), [("values", "0", "enter a whole number"), ("count", "1", "from 2 to")]
)
def test_what_cannot_be_read_is_said(qtbot, session, cosine, name, text, words):
    dialog = open_refits(qtbot, session, "bias_variance")
    enter(dialog, name, text, end=None)
    error = part(dialog, QLabel, "error")
    assert error.isVisible()
    assert words in error.text()
    assert not part(dialog, QPushButton, "start").isEnabled()
    assert part(dialog, QLineEdit, name).property("invalid")
    enter(dialog, name, "3")
    assert not error.isVisible()
    assert part(dialog, QPushButton, "start").isEnabled()


def test_a_stop_keeps_what_is_done(qtbot, session, cosine):
    dialog, laboratory = open_refits(qtbot, session, "bias_variance"), session.window.context.laboratory
    session.document.set_studies("Vary", bias_variance=replace(dialog.settings, values=(1, 2), n_sets=9000))
    start = part(dialog, QPushButton, "start")
    QTest.mouseClick(start, LEFT)
    qtbot.waitUntil(lambda: dialog.figure is not None, timeout=20_000)
    assert start.text() == "Stop"
    assert dialog.figure.is_running
    QTest.mouseClick(start, LEFT)
    qtbot.waitUntil(lambda: laboratory.current_job is None)
    assert session.document.studies.parts.stopped
    assert "stopped after" in dialog.figure.subtitle
    assert start.text() == "Vary"


def test_another_table_ends_it(qtbot, session, cosine):
    dialog, laboratory = open_refits(qtbot, session, "bias_variance"), session.window.context.laboratory
    session.document.set_studies("Vary", bias_variance=replace(dialog.settings, values=(1, 2), n_sets=9000))
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: dialog.figure is not None, timeout=20_000)
    session.document.open_table(load_sample("moons"))
    assert laboratory.current_job is None
    qtbot.waitUntil(lambda: session.lanes.are_quiet)
    assert session.document.studies.parts is None
    assert dialog.figure is None


def test_a_value_is_taken_by_mouse_or_key_and_undone(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "bias_variance")
    vary(qtbot, session, dialog)
    run_id, plot = session.document.current_run_id, dialog.plot
    plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Home)
    QTest.keyClick(plot, Qt.Key.Key_Return)
    assert session.document.run(run_id).spec.parameters["max_depth"] == 1
    assert dialog.figure.now == 0
    at = plot.plot.vb.mapViewToScene(plot.place_of(1)).toPoint()
    QTest.mouseClick(plot.viewport(), LEFT, pos=plot.mapFromScene(at))
    qtbot.waitUntil(lambda: session.document.run(run_id).spec.parameters["max_depth"] == 4)
    session.document.undo_stack.undo()
    assert session.document.run(run_id).spec.parameters["max_depth"] == 1


@pytest.fixture
def every_move(monkeypatch):
    """Let no move of the pointer be passed over for coming soon after another."""
    monkeypatch.setitem(pg.CONFIG_OPTIONS, "mouseRateLimit", -1)


def drag(dialog, end, place):
    """Take hold of an end of the curve (0 or 1) and move it to a place; returns what lets go of it."""
    plot = dialog.plot
    vb, view, line = plot.plot.vb, plot.viewport(), plot.ends_.lines[end]
    low, high = vb.viewRange()[1]

    def at(x):
        return plot.mapFromScene(vb.mapViewToScene(QPointF(x, low + 0.3 * (high - low))))

    start, stop = at(line.value()), at(place)
    QTest.mouseMove(view, start)
    QTest.mousePress(view, LEFT, pos=start)
    for share in (0.3, 0.6, 1.0):
        QTest.mouseMove(view, (start + (stop - start) * share))
    return partial(QTest.mouseRelease, view, LEFT, pos=stop)


def test_the_curves_ends_are_dragged_and_only_what_is_missing_is_fitted(qtbot, session, cosine, every_move):
    dialog, document = open_refits(qtbot, session, "bias_variance"), session.document
    vary(qtbot, session, dialog, values=(2, 3, 4))
    plot, laboratory = dialog.plot, session.window.context.laboratory
    before, taken = dialog.figure, []
    plot.setting_asked.connect(taken.append)
    assert [line.value() for line in plot.ends_.lines] == [0, 2]
    assert before.reach.values == (1, 2, 3, 4, 5, 6, None)
    assert plot.ends_.lines[0].cursor().shape() == Qt.CursorShape.SizeHorCursor
    let_go = drag(dialog, 1, 4)
    assert plot.ends_.is_dragged
    assert plot._hover.isVisible()
    assert plot._hover.toPlainText() == "Depth from 2 to 6"
    assert document.studies.bias_variance.values == (2, 3, 4), "nothing is set while it is held"
    let_go()
    assert dialog.settings.values == (2, 3, 4, 5, 6)
    assert part(dialog, QLineEdit, "values").text() == "2, 3, 4, 5, 6"
    assert document.undo_stack.undoText() == "Vary depth from 2 to 6"
    qtbot.waitUntil(lambda: laboratory.current_job is None and dialog.figure.n_settings == 5, timeout=20_000)
    assert dialog.figure.n_fits.tolist() == [3] * 5
    for old, new in zip(before.series, dialog.figure.series, strict=True):
        assert new.values[:3].tolist() == old.values.tolist()
    drag(dialog, 0, 3)()
    qtbot.waitUntil(lambda: laboratory.current_job is None and dialog.figure.n_settings == 2, timeout=20_000)
    assert dialog.settings.values == (5, 6)
    document.undo_stack.undo()
    assert dialog.figure.n_fits.tolist() == [3] * 5, "what is undone is known still"
    document.undo_stack.undo()
    assert part(dialog, QLineEdit, "values").text() == "2, 3, 4"
    assert document.undo_stack.redoText() == "Vary depth from 2 to 6"
    assert dialog.figure.to_csv() == before.to_csv()
    assert "found with other settings" not in dialog.figure.subtitle
    assert laboratory.current_job is None
    assert taken == [], "letting go is no click on a value"


def test_an_end_that_is_dragged_while_it_works_goes_on_with_what_is_done(qtbot, session, cosine, every_move):
    dialog, laboratory = open_refits(qtbot, session, "bias_variance"), session.window.context.laboratory
    session.document.set_studies("Vary", bias_variance=replace(dialog.settings, values=(2, 3), n_sets=9000))
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: dialog.figure is not None, timeout=20_000)
    first, n_done = laboratory.current_job, int(dialog.figure.n_fits.min())
    drag(dialog, 1, 2)()
    assert dialog.settings.values == (2, 3, 4)
    qtbot.waitUntil(
        lambda: laboratory.current_job not in (first, None) and dialog.figure.n_settings == 3, timeout=20_000
    )
    assert dialog.figure.is_running
    assert dialog.figure.n_fits[:2].min() >= n_done
    qtbot.waitUntil(lambda: bool(dialog.figure.n_fits[2] > 0), timeout=20_000)
    assert not any("stopped" in message for message in session.document.messages)
    laboratory.stop()
    qtbot.waitUntil(lambda: laboratory.current_job is None)
    assert session.document.studies.parts.stopped


def test_a_value_beyond_the_ends_is_told_of_and_a_picture_in_a_file_has_no_ends(
    qtbot, session, cosine, every_move
):
    dialog = open_refits(qtbot, session, "bias_variance")
    vary(qtbot, session, dialog, values=(2, 3))
    plot, taken = dialog.plot, []
    plot.setting_asked.connect(taken.append)
    at = plot.plot.vb.mapViewToScene(QPointF(-1.0, plot.place_of(0).y()))
    plot._on_mouse_moved(at)
    assert plot._hover.toPlainText() == "Depth 1\nnot tried: drag the curve's end here"
    QTest.mouseClick(plot.viewport(), LEFT, pos=plot.mapFromScene(at))
    assert taken == []
    ticks = [word for _, word in plot.plot.getAxis("bottom")._names]
    assert ticks == ["1", "2", "3", "4", "5", "no limit"]
    with theme.exporting():
        plot.redraw()
        assert not any(line.isVisible() for line in plot.ends_.lines)
        assert [word for _, word in plot.plot.getAxis("bottom")._names] == ["2", "3"]
    plot.redraw()
    assert all(line.isVisible() for line in plot.ends_.lines)
    let_go = drag(dialog, 1, 2)
    session.document.set_studies("Vary", bias_variance=replace(dialog.settings, parameter="", values=()))
    assert not plot.ends_.is_dragged, "there are no ends of a curve of something else"
    let_go()
    assert session.document.undo_stack.undoText() == "Vary"


def test_models_stand_side_by_side_and_one_is_chosen(qtbot, session, cosine):
    document = session.document
    second = document.add_run("tree")
    document.set_studies("Vary", bias_variance=BiasVarianceSettings(how=FRESH))
    dialog = open_refits(qtbot, session, "bias_variance")
    assert part(dialog, QLineEdit, "values").isHidden()  # models have none, also where they are shown first
    figure = vary(qtbot, session, dialog, parameter="", values=())
    assert figure.x.words == ("Decision tree 1", "Decision tree 2")
    assert len(dialog.plot.bars_.opts["height"]) == 8
    assert not any(line.isVisible() for line in dialog.plot.lines_.values())
    dialog.plot.setting_asked.emit(0)
    assert document.current_run_id != second
    dialog.plot.setting_asked.emit(1)
    assert document.current_run_id == second


def test_what_it_was_found_with_is_said_where_it_is_other_now(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "bias_variance")
    vary(qtbot, session, dialog)
    assert "other" not in dialog.figure.subtitle
    enter(dialog, "count", "8")
    assert dialog.figure.subtitle.endswith("found with other settings")
    session.document.undo_stack.undo()
    assert "other" not in dialog.figure.subtitle


def test_tables_and_pictures_are_saved(qtbot, session, cosine, tmp_path, monkeypatch):
    dialog = open_refits(qtbot, session, "bias_variance")
    assert not part(dialog, QToolButton, "csv").isEnabled()
    vary(qtbot, session, dialog)
    made = exported(dialog, tmp_path, monkeypatch)
    assert made[0].read_text("utf-8") == dialog.figure.to_csv()


def test_escape_closes_it_while_it_works_and_it_opens_again(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "bias_variance")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert open_refits(qtbot, session, "bias_variance") is dialog
