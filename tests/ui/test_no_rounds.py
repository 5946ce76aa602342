"""A model that was stopped before its first round: every view says so, none fails."""

import pytest
from PySide6.QtWidgets import QLabel, QWidget

from tests.ui.training_help import train
from workbench.fitting import fit_run
from workbench.project import load_project, save_project
from workbench.samples import load_sample
from workbench.training_work import training_inputs


class StopsAtOnce:
    """Lets the table be made ready, and stops before the first round."""

    def on_iteration(self, event):
        return event.train_loss is not None


def stopped_at_once(session, kind, target="species"):
    """A model without rounds, current and in all views."""
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target(target)
    run_id = document.add_run(kind)
    document.select_run(run_id)
    document.apply_result(run_id, fit_run(training_inputs(document, run_id), StopsAtOnce()))
    assert document.run(run_id).result.n_rounds == 0
    return run_id


def words_of(session, name):
    panel = session.window.findChild(QWidget, name)
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisibleTo(panel)]


@pytest.mark.parametrize("target", ["species", "body_mass_g"])
@pytest.mark.parametrize("kind", ["boosting", "adaboost"])
def test_all_views_open_and_say_why_there_is_no_tree(qtbot, session, tmp_path, kind, target):
    run_id = stopped_at_once(session, kind, target)
    document, centre = session.document, session.window.centre
    for view in centre.docks:
        centre.show_view(view)
        qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)
    surface = session.window.findChild(QWidget, "panel.surface")
    centre.show_view("surface")
    qtbot.waitUntil(lambda: surface.figure is not None and session.lanes.are_quiet, timeout=60_000)
    answers = surface.figure.answer
    assert (answers == answers[:, :1, :1]).all()  # the same for every row
    for view in ("tree", "trees"):
        centre.show_view(view)
        qtbot.waitUntil(lambda view=view: "This model has no tree." in words_of(session, f"panel.{view}"))
        assert "It was stopped before its first round." in words_of(session, f"panel.{view}")
    training = session.window.findChild(QWidget, "panel.training")
    assert training.plot.figure.sentence == ""
    assert "stopped before the first round" in training.plot.figure.subtitle
    save_project(document.snapshot(), tmp_path / "a.treewright", include_rows=True)
    read = load_project(tmp_path / "a.treewright").runs[0].result
    assert read.n_rounds == 0
    assert document.run(run_id).result.scores


def test_an_ensemble_of_one_tree_is_listed(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "forest", n_estimators=1)
    session.window.centre.show_view("trees")
    panel = session.window.findChild(QWidget, "panel.trees")
    qtbot.waitUntil(lambda: panel.model.rowCount() == 1)
    train(qtbot, session, "tree")
    qtbot.waitUntil(lambda: "This model is a single tree." in words_of(session, "panel.trees"))
