"""The slider over an ensemble's rounds: marker, tree, surface and scores follow; kept rounds are undoable."""

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QStyle, QStyleOptionSlider, QWidget

from engine.surface import model_curve, model_surface
from tests.ui.person import ALT, CTRL, NONE, SHIFT, Person
from tests.ui.training_help import train
from workbench.datasets import feature_frame
from workbench.figures.surface import CurveFigure
from workbench.rounds import can_go_on
from workbench.samples import load_sample


@pytest.fixture(params=["forest", "boosting"])
def run_id(request, qtbot, session):
    session.document.open_table(load_sample("penguins"))
    run_id = train(qtbot, session, request.param, n_estimators=9)
    session.window.centre.show_view("training")
    surface = panel(session, "surface")
    qtbot.waitUntil(lambda: surface.figure is not None, timeout=60_000)
    return run_id


def panel(session, name):
    return session.window.findChild(QWidget, f"panel.{name}")


def bar(session):
    return session.window.findChild(QWidget, "rounds.bar")


def says(session):
    return session.window.findChild(QLabel, "rounds.says").text()


def wait_for_round(qtbot, session, n_rounds):
    """Wait until every view shows the first rounds, and compare each with the truncated model."""
    result = session.document.current_run.result
    unit = session.window.findChild(QWidget, "rounds.bar")._unit.text().lower()
    surface, selection = panel(session, "surface"), session.window.context.selection
    title = f"{session.document.current_run.name}, first {n_rounds} of 9 {unit}"
    qtbot.waitUntil(lambda: surface.figure.title == title, timeout=60_000)
    cut, figure = result.estimator.truncate(n_rounds), surface.figure
    expected = model_surface(
        cut, figure.x.feature, figure.y.feature, figure.x.values, figure.y.values, figure.held_encoded
    )
    np.testing.assert_allclose(figure.answer, expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(np.argmax(figure.answer, axis=0), np.argmax(expected, axis=0))
    rows = figure.points.rows
    wrong = figure.points.codes != np.argmax(_proba(session, cut), axis=1)[rows]
    np.testing.assert_array_equal(figure.points.is_wrong, wrong)
    trees = panel(session, "tree").canvas
    n_a_round = len(result.trees) // 9
    assert selection.tree_idx // n_a_round == n_rounds - 1
    assert trees.figure.tree == result.trees[selection.tree_idx]
    assert says(session) == f"{n_rounds} of 9"
    assert panel(session, "training").plot.marker_.value() == n_rounds


def _proba(session, estimator):
    result = session.document.current_run.result
    return estimator.predict_proba(feature_frame(session.document.table, result.features))


def test_a_drag_of_the_slider_moves_marker_tree_and_surface(qtbot, session, run_id):
    slider, n_steps = bar(session).slider, session.document.undo_stack.count()
    assert says(session) == "9 of 9"
    assert not panel(session, "training").plot.marker_.isVisible()
    option = QStyleOptionSlider()
    slider.initStyleOption(option)
    parts = (QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, slider)
    handle = slider.style().subControlRect(*parts).center()
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, NONE, handle)
    QTest.mouseMove(slider, QPoint(slider.width() // 2, handle.y()))
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, NONE, QPoint(slider.width() // 2, handle.y()))
    assert 1 < slider.value() < 9
    wait_for_round(qtbot, session, slider.value())
    assert session.document.undo_stack.count() == n_steps  # looking changes nothing


def test_keys_step_through_the_rounds(qtbot, session, run_id):
    window, person = session.window, Person(qtbot, session.window)
    for _ in range(3):
        person.press(Qt.Key.Key_Left, ALT)
    wait_for_round(qtbot, session, 6)
    person.press(Qt.Key.Key_Right, ALT)
    wait_for_round(qtbot, session, 7)
    bar(session).slider.setFocus()
    person.press(Qt.Key.Key_Home)
    wait_for_round(qtbot, session, 1)
    assert not window.actions_["action.rounds.back"].isEnabled()
    person.press(Qt.Key.Key_End)
    surface = panel(session, "surface")
    qtbot.waitUntil(lambda: surface.figure.title == session.document.current_run.name, timeout=60_000)
    assert not window.actions_["action.rounds.on"].isEnabled()
    assert not window.actions_["action.rounds.keep"].isEnabled()


def test_scores_follow_and_say_of_how_many_rounds_they_are(qtbot, session, run_id):
    bar(session).slider.setValue(1)
    session.window.centre.show_view("scores")
    scores = panel(session, "scores")
    qtbot.waitUntil(lambda: scores._result is not None and scores._result.n_rounds == 1, timeout=60_000)
    is_test = session.document.current_run.result.parts == 2
    cut = session.document.current_run.result.estimator.truncate(1)
    np.testing.assert_array_equal(scores._result.scores["test"].proba, _proba(session, cut)[is_test])
    titles = [label.text() for label in scores.findChildren(QLabel)]
    assert any("first 1 of 9" in title for title in titles)
    assert "first 1 of 9" in scores.confusion.figure.title
    bar(session).slider.setValue(9)
    qtbot.waitUntil(lambda: scores._result is session.document.current_run.result)


@pytest.mark.parametrize("hand", ["mouse", "keyboard"])
def test_kept_rounds_are_one_step_and_come_back(qtbot, session, run_id, hand):
    document, window = session.document, session.window
    before, n_steps = document.run(run_id).result, document.undo_stack.count()
    bar(session).slider.setValue(4)
    if hand == "mouse":
        QTest.mouseClick(window.findChild(QPushButton, "rounds.keep"), Qt.MouseButton.LeftButton)
    else:
        Person(qtbot, window).press(Qt.Key.Key_K, CTRL | SHIFT)
    qtbot.waitUntil(lambda: document.run(run_id).result is not before, timeout=60_000)
    assert document.undo_stack.count() == n_steps + 1
    assert document.run(run_id).result.n_rounds == 4
    assert says(session) == "4 of 4"
    assert document.parameter(run_id, "n_estimators") == 4
    surface, name = panel(session, "surface"), document.run(run_id).name
    qtbot.waitUntil(lambda: surface.figure.title == name, timeout=60_000)
    document.undo_stack.undo()
    assert document.run(run_id).result is before
    assert says(session) == "4 of 9"  # still looked at
    wait_for_round(qtbot, session, 4)
    document.undo_stack.redo()
    assert document.run(run_id).result.n_rounds == 4


def test_another_column_is_drawn_of_the_rounds_that_are_looked_at(qtbot, session, run_id):
    bar(session).slider.setValue(2)
    wait_for_round(qtbot, session, 2)
    surface = panel(session, "surface")
    surface._columns.swap.click()
    x_name = surface._columns.x.currentText()
    qtbot.waitUntil(lambda: surface.figure.x.name == x_name, timeout=60_000)
    wait_for_round(qtbot, session, 2)
    surface._choose(x_name, None)
    qtbot.waitUntil(lambda: isinstance(surface.figure, CurveFigure), timeout=60_000)
    qtbot.waitUntil(lambda: "first 2 of 9" in surface.figure.title, timeout=60_000)
    cut = session.document.current_run.result.estimator.truncate(2)
    held, figure = np.array([h.encoded for h in surface._inputs.held]), surface.figure
    expected = model_curve(cut, figure.x.feature, figure.x.values, held)
    np.testing.assert_allclose(figure.answer, expected, rtol=0, atol=1e-9)


def test_a_click_on_the_curve_looks_at_its_round(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "boosting", n_estimators=9)
    session.window.centre.show_view("training")
    plot = panel(session, "training").plot
    low, high = plot.plot.vb.viewRange()[1]
    place = plot.mapFromScene(plot.plot.vb.mapViewToScene(QPointF(5, (low + high) / 2)))
    QTest.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, NONE, place)
    qtbot.waitUntil(lambda: says(session) == "5 of 9")


def test_a_single_tree_has_no_slider(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    assert not bar(session).isVisible()


def test_rounds_are_added_where_a_kind_can_go_on(qtbot, session, run_id):
    document, window = session.document, session.window
    before = document.run(run_id).result
    add = window.actions_["action.rounds.add"]
    assert add.isEnabled() == add.isVisible() == can_go_on(before)
    if not can_go_on(before):
        return
    add.trigger()
    menu = bar(session).findChild(QMenu, "rounds.amounts")
    with qtbot.waitSignal(session.trainer.ended, timeout=120_000):
        QTest.keyClick(menu, Qt.Key.Key_Down)  # the fewest: as many again
        QTest.keyClick(menu, Qt.Key.Key_Return)
    assert document.run(run_id).result.n_rounds == 18
    document.undo_stack.undo()
    assert document.run(run_id).result is before
