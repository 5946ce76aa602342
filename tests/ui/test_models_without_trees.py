"""Models that are not made of trees: every view shows what they have, or says what they lack."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from tests.ui.training_help import train
from workbench.apply import apply_model
from workbench.catalog import CATALOG
from workbench.datasets import make_table
from workbench.figures.surface import CurveFigure
from workbench.project import load_project, save_project
from workbench.samples import load_sample
from workbench.ui.states import EmptyState

CASES = [(key, task) for key, entry in CATALOG.items() if not entry.has_trees for task in entry.tasks]
TARGETS = {"classes": "species", "numbers": "body_mass_g"}
OF_TREES = ("tree", "trees", "pruning", "splits")


def words_of(session, name):
    panel = session.window.findChild(QWidget, name)
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel)]


def trained(qtbot, session, key, task):
    session.document.open_table(load_sample("penguins"))
    session.document.set_target(TARGETS[task])
    return train(qtbot, session, key)


def quiet(qtbot, session):
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)


@pytest.mark.parametrize(("key", "task"), CASES)
def test_every_view_opens_and_says_what_there_is(qtbot, session, tmp_path, key, task):
    run_id = trained(qtbot, session, key, task)
    document, centre = session.document, session.window.centre
    result = document.run(run_id).result
    for view in centre.docks:
        centre.show_view(view)
        quiet(qtbot, session)
    for view in OF_TREES:
        centre.show_view(view)
        told = f"{CATALOG[key].subject} has no trees."
        qtbot.waitUntil(lambda view=view, told=told: told in words_of(session, f"panel.{view}"))
    centre.show_view("scores")
    bars = session.window.findChild(QWidget, "scores.importances").figure
    assert "when the column is shuffled, validation rows" in bars.subtitle
    np.testing.assert_array_equal(bars.values, np.sort(result.importances)[::-1])
    assert bars.values[0] > 0.02
    save_project(document.snapshot(), tmp_path / "a.treewright", include_rows=True)
    read = load_project(tmp_path / "a.treewright").runs[0].result
    for part, scores in result.scores.items():
        np.testing.assert_array_equal(read.scores[part].prediction, scores.prediction)


@pytest.mark.parametrize(
    ("key", "view"), [("linear", "scores"), ("stacking", "stack"), ("averaging", "stack")]
)
def test_where_there_is_no_tree_and_no_curve_the_view_that_tells_most_is_a_click_away(session, key, view):
    session.document.open_table(load_sample("penguins"))
    session.document.add_run(key)
    centre = session.window.centre
    for empty in ("tree", "training"):
        centre.show_view(empty)
        panel = session.window.findChild(QWidget, f"panel.{empty}")
        shown = next(state for state in panel.findChildren(EmptyState) if state.isVisible())
        QTest.mouseClick(shown.button, Qt.MouseButton.LeftButton)
        assert session.window.findChild(QWidget, f"panel.{view}").isVisible()
        assert view.capitalize() in shown._how.text()


def test_views_of_trees_promise_none_before_the_training(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    session.document.select_run(session.document.add_run("svm"))
    for view in OF_TREES:
        session.window.centre.show_view(view)
        told = "A support vector machine has no trees."
        qtbot.waitUntil(lambda view=view, told=told: told in words_of(session, f"panel.{view}"))


@pytest.mark.parametrize("key", ["neighbors", "stacking"])
def test_every_view_opens_on_a_model_that_was_stopped_while_it_was_scored(qtbot, session, key):
    run_id = trained(qtbot, session, key, "classes")
    document, centre = session.document, session.window.centre
    result = document.run(run_id).result
    bare = replace(result, scores={}, importances=np.zeros(len(result.features)), cv=None)
    quiet(qtbot, session)
    document.apply_result(run_id, bare)
    for view in centre.docks:
        centre.show_view(view)
        quiet(qtbot, session)
    centre.show_view("scores")
    assert "It was stopped before it was scored." in words_of(session, "panel.scores")


@pytest.mark.parametrize(("key", "task"), CASES)
def test_the_surface_says_what_the_model_answers(qtbot, session, key, task):
    run_id = trained(qtbot, session, key, task)
    result = session.document.run(run_id).result
    session.window.centre.show_view("surface")
    panel = session.window.findChild(QWidget, "panel.surface")
    qtbot.waitUntil(lambda: panel.figure is not None and session.lanes.are_quiet, timeout=60_000)
    figure = panel.figure
    most = np.argsort(-result.importances, kind="stable")[:2]
    assert [figure.x.name, figure.y.name] == [result.features[k] for k in most]
    row, cell = 1, 2
    point = figure.held_encoded.copy()
    point[figure.x.feature], point[figure.y.feature] = figure.x.values[cell], figure.y.values[row]
    said = result.estimator.encoded_answer(point[None])[0]
    # a stack's scaled columns round otherwise for one row than for many
    rtol = 1e-13 if CATALOG[key].is_of_models else 0
    np.testing.assert_allclose(figure.answer[:, row, cell], said, rtol=rtol)
    panel._choose(figure.x.name, None)
    qtbot.waitUntil(lambda: isinstance(panel.figure, CurveFigure) and session.lanes.are_quiet, timeout=60_000)
    point = figure.held_encoded.copy()
    point[panel.figure.x.feature] = panel.figure.x.values[cell]
    said = result.estimator.encoded_answer(point[None])[0]
    np.testing.assert_allclose(panel.figure.answer[:, cell], said, rtol=rtol)


def test_files_of_trees_are_not_offered_and_the_reason_is_told(qtbot, session):
    trained(qtbot, session, "neighbors", "classes")
    actions = session.window.actions_
    for verb, why in (
        ("export", "Model files hold trees, networks and perceptrons; a saved project keeps this model."),
        ("export_rules", "Only for a single decision tree."),
        ("export_sql", "Only for a single decision tree."),
        ("copy_sql", "Only for a single decision tree."),
    ):
        action = actions[f"action.model.{verb}"]
        assert not action.isEnabled()
        assert why in action.toolTip()
    assert actions["action.model.apply"].isEnabled()
    train(qtbot, session, "tree")
    assert actions["action.model.export"].isEnabled()
    assert "hold trees" not in actions["action.model.export"].toolTip()


def test_compared_beside_a_tree(qtbot, session):
    trained(qtbot, session, "neighbors", "classes")
    train(qtbot, session, "tree")
    session.window.centre.show_view("compare")
    quiet(qtbot, session)
    rows = session.window.findChild(QWidget, "panel.compare").model.figure.rows
    assert [row.kind for row in rows] == ["Nearest neighbours", "Decision tree"]
    assert all(row.cells[0][0].isdigit() for row in rows)


def test_a_model_that_only_names_classes_shows_no_probabilities(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target("sex")
    run_id = train(qtbot, session, "svm", answers="decision")
    centre = session.window.centre
    result = document.run(run_id).result
    scores = result.scores["validation"]
    assert scores.proba is None
    assert np.isnan(scores.log_loss.value)
    assert scores.auc.value > 0.9
    assert scores.accuracy.value > 0.8
    centre.show_view("scores")
    quiet(qtbot, session)
    assert "needs probabilities" in words_of(session, "panel.scores")
    assert not session.window.findChild(QWidget, "scores.cut_off").isVisible()
    centre.show_view("surface")
    panel = session.window.findChild(QWidget, "panel.surface")
    qtbot.waitUntil(lambda: panel.figure is not None and session.lanes.are_quiet, timeout=60_000)
    assert set(np.unique(panel.figure.answer)) == {0.0, 1.0}
    told = panel.figure.text_at(float(panel.figure.x.values[3]), float(panel.figure.y.values[3]))
    assert told.splitlines()[-1] in ("sex female", "sex male")
    applied = apply_model(result, document.table)
    assert [name for name, _ in applied.predictions] == [
        "predicted sex",
        "decision value of female",
        "decision value of male",
    ]


def test_a_model_of_classes_alone_says_so_where_the_target_is_a_number(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target("species")
    run_id = document.add_run("naive_bayes")
    document.set_target("body_mass_g")
    assert not session.trainer.train(run_id)
    assert "Naive Bayes learns classes only; choose a target of classes" in document.messages[-1]
    action = session.window.actions_["action.model.add_naive_bayes"]
    assert not action.isEnabled()
    assert "learns classes only" in action.toolTip()


def test_a_fit_that_cannot_be_asked_is_stopped_with_its_process(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target("species")
    run_id = document.add_run("svm")
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        assert session.trainer.train(run_id)
        session.trainer.stop(run_id)
    assert document.run(run_id).state == "new"
    assert "stopped before there was anything to keep" in document.messages[-1]
    assert train(qtbot, session, "svm")


def test_a_stopped_fit_of_another_library_leaves_the_model_from_before(qtbot, session):
    run_id = trained(qtbot, session, "svm", "classes")
    before = session.document.run(run_id).result
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        assert session.trainer.train(run_id)
        session.trainer.stop(run_id)
    assert session.document.run(run_id).result is before
    assert session.document.run(run_id).state == "done"


def test_with_a_single_validation_row_training_rows_are_shuffled(qtbot, session):
    """R squared of one row is not defined, and scikit-learn's warning of it would be an error here."""
    session.document.open_table(
        make_table("few", {"x": [1.0, 2.0, 4.0, 5.0, 7.0, 8.0], "y": [1.5, 2.5, 4.0, 5.0, 7.5, 8.0]})
    )
    session.document.set_target("y")
    run_id = train(qtbot, session, "linear")
    result = session.document.run(run_id).result
    assert np.bincount(result.parts).tolist() == [4, 1, 1]
    assert result.importances[0] > 0.5  # by the training rows, as the caption says
    bars = session.window.findChild(QWidget, "scores.importances")
    session.window.centre.show_view("scores")
    qtbot.waitUntil(lambda: bars.figure is not None)
    assert "training rows" in bars.figure.subtitle


def test_a_cross_validation_in_a_process_is_attached(qtbot, session):
    run_id = trained(qtbot, session, "linear", "classes")
    session.trainer.cross_validates = True
    with qtbot.waitSignal(session.trainer.cross_validation_ended, timeout=60_000):
        assert session.trainer.train(run_id)
    found = session.document.run(run_id).result.cv
    assert not found.stopped
    assert found.metrics["accuracy"].value > 0.95
