"""The surface of a model in training: after the rounds there are, whatever is done meanwhile."""

import re

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QWidget

from engine.surface import model_curve, model_surface
from tests.ui.person import Person
from tests.ui.training_help import train
from workbench.datasets import make_table
from workbench.figures.surface import CurveFigure
from workbench.ui.forms.surface_columns import NO_COLUMN

ENDLESS = 100_000  # rounds: every test stops its training


def panel(session):
    return session.window.findChild(QWidget, "panel.surface")


def open_table(session, is_classes=True):
    """Rows enough that a round takes its time."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4))
    score = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.5, len(X))
    labels = np.array(["low", "middle", "high"], dtype=object)
    columns = {f"x{k}": X[:, k].tolist() for k in range(4)}
    columns["y"] = (labels[np.digitize(score, [-0.5, 0.5])] if is_classes else score).tolist()
    session.document.open_table(make_table("rows", columns))
    session.document.set_target("y")


def begin(session, kind, is_classes=True, **parameters):
    document = session.document
    if document.table is None:
        open_table(session, is_classes)
    run_id = document.add_run(kind)
    document.select_run(run_id)
    for name, value in {"n_estimators": ENDLESS, **parameters}.items():
        document.set_parameter(run_id, name, value)
    assert session.trainer.train(run_id), document.messages
    return run_id


def wait_for_live(qtbot, session, after=0, is_wanted=lambda figure: True):
    """Wait for a picture of more than `after` rounds; that picture, and of how many rounds it is."""

    def n_rounds():
        figure = panel(session).figure
        found = re.search(
            r", after ([\d,]+) of 100,000 \w+s, still training$", figure.title if figure else ""
        )
        return int(found.group(1).replace(",", "")) if found and is_wanted(figure) else 0

    qtbot.waitUntil(lambda: n_rounds() > after, timeout=120_000)
    return panel(session).figure, n_rounds()


def stop(qtbot, session, run_id):
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        session.trainer.stop(run_id)
    return session.document.run(run_id).result


def wait_for_title(qtbot, session, title):
    qtbot.waitUntil(lambda: getattr(panel(session).figure, "title", "") == title, timeout=60_000)


@pytest.mark.parametrize("kind", ["boosting", "forest", "adaboost"])
def test_it_shows_what_the_rounds_so_far_say_and_in_the_end_all(qtbot, session, kind):
    run_id = begin(session, kind, max_depth=4)
    _, n_first = wait_for_live(qtbot, session)
    figure, n_rounds = wait_for_live(qtbot, session, after=n_first)
    assert session.document.run(run_id).result is None  # nothing else knows it yet
    result = stop(qtbot, session, run_id)
    cut = result.estimator.truncate(n_rounds)
    over = figure.x.feature, figure.y.feature, figure.x.values, figure.y.values, figure.held_encoded
    expected = model_surface(cut, *over)
    np.testing.assert_allclose(figure.answer, expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(figure.labels, np.argmax(expected, axis=0))
    assert len(figure.points.rows) == np.count_nonzero(result.parts <= 1) // 2  # 4,000 at most
    if kind == "adaboost":
        assert f"as large as they weigh after round {n_rounds:,}" in figure.subtitle
        assert np.nanmean(figure.points.weights) == pytest.approx(1.0, rel=0.05)  # of the half that is drawn
    wait_for_title(qtbot, session, session.document.run(run_id).name)
    assert panel(session).figure.answer.shape == figure.answer.shape


def test_numbers_and_one_column_are_drawn_too(qtbot, session):
    run_id = begin(session, "boosting", is_classes=False)
    figure, n_rounds = wait_for_live(qtbot, session)
    combo = session.window.findChild(QComboBox, "surface.y_column")
    combo.setCurrentText(NO_COLUMN)
    combo.activated.emit(combo.currentIndex())
    figure, n_rounds = wait_for_live(qtbot, session, n_rounds, lambda f: isinstance(f, CurveFigure))
    held = np.array([h.encoded for h in panel(session)._inputs.held])
    cut = stop(qtbot, session, run_id).estimator.truncate(n_rounds)
    expected = model_curve(cut, figure.x.feature, figure.x.values, held)
    np.testing.assert_allclose(figure.answer, expected, rtol=1e-9)
    wait_for_title(qtbot, session, session.document.current_run.name)


def test_other_columns_are_chosen_by_keys_while_it_trains(qtbot, session):
    run_id = begin(session, "boosting")
    figure, _ = wait_for_live(qtbot, session)
    combo, person = session.window.findChild(QComboBox, "surface.x_column"), Person(qtbot, session.window)
    combo.setFocus()
    person.press(Qt.Key.Key_End)
    chosen = combo.currentText()
    assert chosen != figure.x.name
    figure, _ = wait_for_live(qtbot, session, 0, lambda f: f.x.name == chosen)
    person.click("surface.swap")
    wait_for_live(qtbot, session, 0, lambda f: (f.x.name, f.y.name) == (figure.y.name, figure.x.name))
    stop(qtbot, session, run_id)
    wait_for_title(qtbot, session, session.document.current_run.name)
    assert panel(session).figure.y.name == chosen


def test_another_model_is_looked_at_meanwhile_and_this_one_again(qtbot, session):
    open_table(session)
    tree = train(qtbot, session, "tree")
    name = session.document.run(tree).name
    wait_for_title(qtbot, session, name)
    run_id = begin(session, "forest")
    wait_for_live(qtbot, session)
    session.document.select_run(tree)
    wait_for_title(qtbot, session, name)
    session.document.select_run(run_id)
    _, n_rounds = wait_for_live(qtbot, session)
    wait_for_live(qtbot, session, after=n_rounds)
    stop(qtbot, session, run_id)
    wait_for_title(qtbot, session, session.document.run(run_id).name)


def test_a_model_deleted_in_training_takes_its_picture_with_it(qtbot, session):
    run_id = begin(session, "boosting")
    wait_for_live(qtbot, session)
    with qtbot.waitSignal(session.trainer.ended):
        session.document.delete_run(run_id)
    assert panel(session).figure is None
    assert session.trainer.so_far(run_id) is None
    qtbot.waitUntil(lambda: not session.lanes.live_jobs, timeout=60_000)
    assert panel(session).figure is None


def test_training_again_shows_the_new_rounds_over_the_columns_in_sight(qtbot, session):
    open_table(session)
    run_id = train(qtbot, session, "boosting", n_estimators=3)
    wait_for_title(qtbot, session, session.document.run(run_id).name)
    before = panel(session).figure
    session.document.set_parameter(run_id, "n_estimators", ENDLESS)
    assert session.trainer.train(run_id)
    figure, _ = wait_for_live(qtbot, session)
    assert (figure.x.name, figure.y.name) == (before.x.name, before.y.name)
    stop(qtbot, session, run_id)
    wait_for_title(qtbot, session, session.document.run(run_id).name)


def test_columns_that_no_picture_can_be_made_of_stop_it_alone(qtbot, session, monkeypatch):
    monkeypatch.setattr("workbench.figures.surface.MAX_BYTES", 1000)
    run_id = begin(session, "boosting")
    with qtbot.waitSignal(panel(session).live.given_up, timeout=60_000):
        pass
    assert panel(session).figure is None
    assert session.trainer.trains(run_id)
    stop(qtbot, session, run_id)
    assert session.document.run(run_id).result.n_rounds > 0


def test_the_window_closes_while_it_draws(qtbot, session):
    begin(session, "adaboost", is_classes=False)
    wait_for_live(qtbot, session)  # the fixture shuts down, and fails where anything is left
