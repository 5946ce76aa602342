"""The Many Fits window: choosing, fitting, stopping, looking at a place, files; by mouse and keys."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QPushButton, QToolButton

from tests.ui.study_help import LEFT, choose, enter, exported, open_refits, part
from workbench.samples import load_sample
from workbench.training_sets import BOOTSTRAP


@pytest.fixture
def cosine(session):
    """A tree on the table; a fixture that returned the window would keep it alive after the test."""
    session.document.open_table(load_sample("cosine"))
    session.document.add_run("tree")


def fit(qtbot, session, dialog):
    enter(dialog, "count", "5")
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: session.document.studies.curves is not None, timeout=20_000)
    qtbot.waitUntil(lambda: session.window.context.many_fits.current_job is None)
    return dialog.figure


def test_it_fits_and_draws(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "many_fits")
    assert dialog.figure is None
    figure = fit(qtbot, session, dialog)
    assert figure.n_fits == 5
    assert "fresh tables" in figure.subtitle
    assert dialog.plot.truth_.isVisible()
    x, truth = dialog.plot.truth_.getData()
    np.testing.assert_allclose(truth, np.cos(x), atol=1e-6)  # no steps, which are the trees'
    assert dialog.answers.figure.counts.sum() == 5
    assert "5 fits along x" in session.document.messages[-1]
    assert not part(dialog, QComboBox, "class").isVisible()


def test_a_place_is_looked_at_by_mouse_and_keys(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "many_fits")
    fit(qtbot, session, dialog)
    plot, at, spots = dialog.plot, dialog.figure.at, dialog.plot.points_.data
    np.testing.assert_array_equal(plot.points_.getData()[0], dialog.figure.points_x)
    plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert dialog.figure.at == at + 1
    assert plot.points_.data is spots, "rows that are the same are not drawn anew"
    assert dialog.answers.figure is dialog.figure.answers
    x = dialog.figure.x
    middle = (x.edges[40] + x.edges[41]) / 2
    scene = plot.plot.vb.mapViewToScene(QPointF(middle, 0.0))
    QTest.mouseClick(plot.viewport(), LEFT, pos=plot.mapFromScene(scene))
    qtbot.waitUntil(lambda: abs(dialog.figure.at - 40) <= 1)


def test_settings_are_undone_and_what_cannot_be_read_is_said(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    session.document.add_run("tree")
    dialog = open_refits(qtbot, session, "many_fits")
    column = part(dialog, QComboBox, "column")
    choose(dialog, "column", "bill_depth_mm")
    choose(dialog, "class", "Gentoo")
    choose(dialog, "draws", "Halves")
    assert (dialog.settings.column, dialog.settings.label) == ("bill_depth_mm", "Gentoo")
    enter(dialog, "count", "1", end=None)
    error = part(dialog, QLabel, "error")
    assert "from 2 to" in error.text()
    assert not part(dialog, QPushButton, "start").isEnabled()
    enter(dialog, "count", "8")
    assert not error.isVisible()
    assert dialog.settings.n_sets == 8
    for _ in range(4):
        session.document.undo_stack.undo()
    assert session.document.studies.many_fits is None
    assert column.currentText() == session.document.features[0]
    assert dialog.settings.how == BOOTSTRAP
    assert part(dialog, QLineEdit, "count").text() == "50"


def test_a_stop_keeps_what_is_done_and_another_table_drops_it(qtbot, session, cosine):
    dialog, fits = open_refits(qtbot, session, "many_fits"), session.window.context.many_fits
    enter(dialog, "count", "9000")
    start = part(dialog, QPushButton, "start")
    QTest.mouseClick(start, LEFT)
    qtbot.waitUntil(lambda: dialog.figure is not None, timeout=20_000)
    assert start.text() == "Stop"
    QTest.mouseClick(start, LEFT)
    qtbot.waitUntil(lambda: fits.current_job is None)
    assert session.document.studies.curves.stopped
    QTest.mouseClick(start, LEFT)
    qtbot.waitUntil(lambda: fits.current_job is not None)
    session.document.open_table(load_sample("moons"))
    assert fits.current_job is None
    qtbot.waitUntil(lambda: session.lanes.are_quiet)
    assert dialog.figure is None


def test_without_a_model_it_says_so(qtbot, session):
    session.document.open_table(load_sample("cosine"))
    dialog = open_refits(qtbot, session, "many_fits")
    assert not dialog._switch.shows_content


def test_tables_and_pictures_are_saved(qtbot, session, cosine, tmp_path, monkeypatch):
    dialog = open_refits(qtbot, session, "many_fits")
    assert not part(dialog, QToolButton, "csv").isEnabled()
    fit(qtbot, session, dialog)
    made = exported(dialog, tmp_path, monkeypatch)
    curves = session.document.studies.curves.curves
    assert made[0].name == "Decision tree 1 many fits.csv"
    assert made[0].read_text("utf-8") == dialog.figure.to_csv(curves)


def test_two_places_are_thrown_at_the_truth_by_mouse_and_keys(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "many_fits")
    fit(qtbot, session, dialog)
    two, plot = part(dialog, QCheckBox, "two"), dialog.plot
    two.click()
    assert dialog.darts.isVisible()
    assert not dialog.answers.isVisible()
    assert plot.second_.isVisible()
    assert len(dialog.darts.throws_.data) == 5
    second = dialog.figure.second
    plot.setFocus()
    QTest.keyClick(plot, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert dialog.figure.second == second - 1
    two.click()
    assert dialog.figure.darts is None
    assert dialog.answers.isVisible()
    QTest.keyClick(plot, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert two.isChecked()


def fit_moons(qtbot, session):
    session.document.open_table(load_sample("moons"))
    session.document.add_run("tree")
    dialog = open_refits(qtbot, session, "many_fits")
    choose(dialog, "second_column", "x2")
    fit(qtbot, session, dialog)
    return dialog


def test_over_two_columns_colours_tell_how_far_fits_lie_apart(qtbot, session):
    dialog = fit_moons(qtbot, session)
    surface, figure = dialog.surface, dialog.figure
    assert surface.isVisible()
    assert not dialog.plot.isVisible()
    assert "5 fits over x1 and x2" in session.document.messages[-1]
    np.testing.assert_array_equal(surface.image.image, figure.mapped)
    assert tuple(surface.image.levels) == figure.range
    assert surface.bar.axis.name == "probability of upper (standard deviation)"
    assert "60 x 60 cells" in surface.header.texts[1]
    assert [name for name, _ in surface.legend_.entries] == ["lower", "upper"]
    assert sum(len(item.data) for item in surface._points) == len(figure.points.rows)
    assert tuple(surface.here_.getData()[0]) == figure.position(figure.at)[:1]
    part(dialog, QLineEdit, "count").setFocus()
    session.document.undo_stack.undo()  # the number of training sets
    session.document.undo_stack.undo()
    assert part(dialog, QComboBox, "second_column").currentIndex() == 0
    assert "fitted with other settings" in surface.header.texts[1]
    choose(dialog, "second_column", "x2")
    choose(dialog, "column", "x2")  # they change places
    assert (dialog.settings.column, dialog.settings.second_column) == ("x2", "x1")
    assert part(dialog, QComboBox, "second_column").currentText() == "x1"
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: session.document.studies.curves.x.name == "x2", timeout=20_000)
    assert surface.plot.getAxis("bottom").name == "x2"


def test_a_place_of_two_columns_is_looked_at_by_mouse_and_keys(qtbot, session, tmp_path, monkeypatch):
    dialog = fit_moons(qtbot, session)
    surface, at = dialog.surface, dialog.figure.at
    surface.setFocus()
    QTest.keyClick(surface, Qt.Key.Key_Up)
    QTest.keyClick(surface, Qt.Key.Key_Right)
    assert dialog.figure.at == at + 61
    assert dialog.answers.figure is dialog.figure.answers
    corner = surface.plot.vb.mapViewToScene(QPointF(*dialog.figure.position(605)))
    QTest.mouseClick(surface.viewport(), LEFT, pos=surface.mapFromScene(corner))
    qtbot.waitUntil(lambda: dialog.figure.at != at + 61)
    assert all(abs(a - b) <= 1 for a, b in zip(divmod(dialog.figure.at, 60), (10, 5), strict=True))
    QTest.keyClick(surface, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    assert part(dialog, QCheckBox, "two").isChecked()
    assert dialog.figure.second == dialog.figure.at - 60
    assert surface.second_.isVisible()
    assert dialog.darts.isVisible()
    assert " and " in dialog.darts.figure.x_name  # a comma is within numbers too

    made = exported(dialog, tmp_path, monkeypatch)
    assert made[0].read_text("utf-8") == dialog.figure.to_csv()


def test_a_table_of_one_column_has_no_second_one(qtbot, session, cosine):
    dialog = open_refits(qtbot, session, "many_fits")
    second = part(dialog, QComboBox, "second_column")
    assert not second.isEnabled()
    assert second.toolTip() == "The model is given one column alone"
    session.document.open_table(load_sample("penguins"))
    session.document.add_run("tree")
    assert second.isEnabled()
    offered = [second.itemText(place) for place in range(second.count())]
    assert offered == ["no second column", *session.document.features[1:]]
    assert dialog.minimumSizeHint().width() <= 900
