"""Columns shuffled out of bag, in the Scores view: on request, by mouse and palette, stoppable."""

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QWidget

from engine.forest.inspection import out_of_bag_importances, tree_spread
from tests.ui.person import Person
from tests.ui.training_help import train
from workbench.fitting import inputs_of_result
from workbench.samples import load_sample


@pytest.fixture
def forest(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    run_id = train(qtbot, session, "forest", n_estimators=20)
    session.window.centre.show_view("scores")
    return session.document.run(run_id).result


def box(session):
    return session.window.findChild(QWidget, "scores.more")


def training_of(session, result):
    inputs = inputs_of_result(result, session.document.table)
    return inputs, inputs.learnable().take(inputs.rows_of("train"))


@pytest.mark.parametrize("hand", ["mouse", "action"])
def test_columns_are_ranked_by_what_their_shuffling_costs(qtbot, session, forest, hand):
    shown = box(session)
    assert not shown.plot.isVisibleTo(shown)
    if hand == "mouse":
        session.window.findChild(QWidget, "scores.page").ensureWidgetVisible(shown.start)
        Person(qtbot, session.window).click("scores.shuffle")
    else:
        session.window.actions_["action.scores.shuffle"].trigger()
    qtbot.waitUntil(lambda: shown.plot.figure is not None, timeout=60_000)
    inputs, rows = training_of(session, forest)
    expected = out_of_bag_importances(forest.estimator, rows.X, rows.labels, rows.weights)
    order = np.argsort(-expected.mean, kind="stable")
    figure = shown.plot.figure
    assert figure.names == tuple(forest.features[k] for k in order)
    np.testing.assert_array_equal(figure.values, expected.mean[order])
    np.testing.assert_array_equal(figure.spreads, expected.std[order])
    assert figure.text(0) == f"{expected.mean[order[0]]:.3f} ± {expected.std[order[0]]:.3f}"
    assert "share of wrong rows" in figure.subtitle
    assert "20 trees" in figure.subtitle
    validation = inputs.learnable().take(inputs.rows_of("validation"))
    alike = tree_spread(forest.estimator, validation.X)
    text = session.window.findChild(QLabel, "scores.alike").text()
    assert f"correlate by {alike.correlation:.2f}" in text
    assert f"differ by {np.sqrt(alike.variance.mean()):.2f}" in text
    assert shown.start.isVisibleTo(shown)


def test_a_stop_keeps_the_trees_done_and_says_how_many(qtbot, session):
    document = session.document
    document.open_table(load_sample("breast_cancer"))
    train(qtbot, session, "forest", n_estimators=2000, max_depth=4)
    session.window.centre.show_view("scores")
    shown = box(session)
    shown.ask()
    progress = session.window.findChild(QLabel, "scores.shuffle_progress")
    qtbot.waitUntil(lambda: progress.text().startswith("tree "), timeout=60_000)
    assert shown.stop.isVisibleTo(shown)
    shown.stop.click()
    qtbot.waitUntil(lambda: shown.plot.figure is not None, timeout=60_000)
    assert "the first " in shown.plot.figure.subtitle
    assert " of 2,000 trees" in shown.plot.figure.subtitle
    assert not shown.stop.isVisibleTo(shown)


def test_it_is_absent_where_no_row_was_left_out(qtbot, session, forest):
    assert box(session).isVisibleTo(session.window)
    for kind, parameters in (
        ("tree", {}),
        ("boosting", {"n_estimators": 3}),
        ("forest", {"bootstrap": False}),
    ):
        train(qtbot, session, kind, **parameters)
        assert not box(session).isVisibleTo(session.window)
        assert not session.window.actions_["action.scores.shuffle"].isEnabled()


def test_another_model_meanwhile_drops_it(qtbot, session, forest):
    shown = box(session)
    shown.ask()
    train(qtbot, session, "tree")
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)
    assert shown.plot.figure is None
