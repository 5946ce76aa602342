"""The Experiments menu: each opens, trains, and says above its view what to look at."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit, QMessageBox, QPushButton, QToolButton, QWidget

from workbench.__main__ import main
from workbench.experiments import EXPERIMENTS, find_experiment
from workbench.figures.surface import CurveFigure
from workbench.project import load_project, save_project
from workbench.ui.application import open_first

KEYS = [experiment.key for experiment in EXPERIMENTS]


def begin(qtbot, session, key):
    """Choose an experiment in the menu and wait for its models; the experiment."""
    experiment = find_experiment(key)
    session.window.actions_[f"action.experiment.{key}"].trigger()
    qtbot.waitUntil(lambda: session.window.experiments.bar.text == experiment.text, timeout=30_000)
    return experiment


def trained(qtbot, session, key):
    experiment, document = begin(qtbot, session, key), session.document
    qtbot.waitUntil(
        lambda: (
            len(document.runs) == len(experiment.models)
            and all(record.state == "done" for record in document.runs.values())
            and session.lanes.are_quiet
        ),
        timeout=120_000,
    )
    return experiment


def stop(qtbot, session):
    session.window.context.tuner.stop()
    session.window.context.laboratory.stop()
    for run_id in session.document.runs:
        session.trainer.stop(run_id)
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)


def panel(session, name):
    return session.window.findChild(QWidget, f"panel.{name}")


@pytest.mark.parametrize("key", KEYS)
def test_it_opens_its_view_and_begins_to_train(qtbot, session, key):
    with qtbot.waitSignal(session.trainer.started, timeout=30_000):
        session.window.actions_[f"action.experiment.{key}"].trigger()
    experiment, document, window = find_experiment(key), session.document, session.window
    assert window.experiments.bar.text == " ".join(experiment.look)
    assert document.table.sample == experiment.sample
    qtbot.waitUntil(lambda: window.centre.names_in_front() == [experiment.view])
    assert all(session.trainer.trains(run_id) for run_id in document.runs)
    assert document.current_run.name == experiment.models[0].name
    tuner = window.context.tuner
    assert tuner.current_run_id == (document.current_run_id if experiment.tuned else None)
    stop(qtbot, session)


def test_all_surfaces_stand_beside_each_other(qtbot, session):
    experiment = trained(qtbot, session, "averaging_trees")
    surface = panel(session, "surface")
    names = [model.name for model in experiment.models]
    qtbot.waitUntil(lambda: [plot.figure.title for plot in surface.beside.shown] == names[1:])
    assert surface.figure.title == names[0]
    assert [surface.figure.x.name, surface.figure.y.name] == list(experiment.columns)


def test_polynomials_lie_in_one_picture_whichever_is_looked_at(qtbot, session):
    experiment = trained(qtbot, session, "polynomials")
    curve = panel(session, "surface").curve
    names = [model.name for model in experiment.models]
    qtbot.waitUntil(lambda: [other.title for other in curve.others] == names[1:])
    session.document.select_run("run2")
    qtbot.waitUntil(lambda: curve.figure.title == names[1] and len(curve.others) == 2)
    assert [other.title for other in curve.others] == [names[0], names[2]]


def test_the_curve_along_one_column_is_drawn(qtbot, session):
    trained(qtbot, session, "networks_outside")
    qtbot.waitUntil(lambda: isinstance(panel(session, "surface").figure, CurveFigure))


def test_the_curves_of_boosting_lie_over_one_another(qtbot, session):
    experiment = trained(qtbot, session, "shrinkage")
    plot = panel(session, "compare").plot
    names = {f"{model.name}, {part}" for model in experiment.models for part in ("training", "validation")}
    qtbot.waitUntil(lambda: plot.isVisible() and {line.name for line in plot.figure.lines} == names)


def test_the_parts_of_the_error_stand_side_by_side_in_a_window_of_their_own(qtbot, session):
    experiment, document = begin(qtbot, session, "error_parts"), session.document
    window = session.window
    dialog = window.studies.window_of("bias_variance")
    qtbot.waitUntil(
        lambda: dialog.figure is not None and bool(dialog.figure.n_fits.min() > 0), timeout=60_000
    )
    assert dialog.isVisible()
    assert dialog.figure.x.words == tuple(model.name for model in experiment.models)
    assert len(dialog.plot.bars_.opts["height"]) == 4 * 4
    assert dialog.look.text == experiment.text
    assert dialog.focusWidget() is dialog.line.box
    assert not dialog.line.edit.isVisible(), "models have no values to try"
    window.actions_["action.experiment.look"].trigger()
    assert dialog.look.text == ""
    stop(qtbot, session)
    document.undo_stack.undo()
    assert (document.runs, document.studies.bias_variance) == ({}, None)
    dialog.close()


def test_the_bar_is_closed_and_opened_again(qtbot, session):
    begin(qtbot, session, "box")
    window = session.window
    bar, look = window.experiments.bar, window.actions_["action.experiment.look"]
    assert look.isChecked()
    QTest.mouseClick(bar.findChild(QToolButton, "experiment.close"), Qt.MouseButton.LeftButton)
    assert bar.text == ""
    assert not look.isChecked()
    look.trigger()
    assert "Four cuts" in bar.text
    assert look.isChecked()


def test_the_bar_and_the_room_go_with_the_table(qtbot, session):
    window = session.window
    assert not window.actions_["action.experiment.look"].isEnabled()
    window.files.open_sample("iris")
    qtbot.waitUntil(lambda: session.document.table is not None)
    before = window.centre.names_in_front()
    assert len(before) == 3
    begin(qtbot, session, "box")
    begin(qtbot, session, "neighbors")
    qtbot.waitUntil(lambda: window.centre.names_in_front() == ["surface"])
    assert window.experiments.places_before is not None, "what is remembered for the next start"
    window.files.open_sample("iris")
    qtbot.waitUntil(lambda: session.document.table.sample == "iris")
    qtbot.waitUntil(lambda: len(window.centre.names_in_front()) == 3)
    assert window.experiments.bar.text == ""
    assert not window.actions_["action.experiment.look"].isEnabled()


def test_views_that_a_person_put_back_stay(qtbot, session):
    window = session.window
    begin(qtbot, session, "box")
    qtbot.waitUntil(lambda: window.centre.names_in_front() == ["surface"])
    assert window.experiments.places_before is not None
    window.actions_["action.view.arrange"].trigger()
    assert window.experiments.places_before is None


def test_it_is_found_by_the_palette_and_the_keyboard(qtbot, session):
    window = session.window
    window.actions_["action.view.palette"].trigger()
    QTest.keyClicks(window.palette_.edit, "experiment")
    model = window.palette_.model
    told = [model.index(row).data() for row in range(model.rowCount())]
    assert told[: len(EXPERIMENTS)] == [f"Experiment: {experiment.title}" for experiment in EXPERIMENTS]
    window.palette_.edit.clear()
    QTest.keyClicks(window.palette_.edit, "slanted")
    QTest.keyClick(window.palette_.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "slanted line" in window.experiments.bar.text, timeout=30_000)


def test_it_is_on_the_welcome_page_and_in_the_menu_bar(qtbot, session):
    window = session.window
    buttons = {
        button.objectName().removeprefix("welcome.experiment.")
        for button in window.welcome.findChildren(QPushButton)
        if button.objectName().startswith("welcome.experiment.")
    }
    assert buttons == set(KEYS)
    menu = next(a.menu() for a in window.menuBar().actions() if a.text() == "E&xperiments")
    assert {f"action.experiment.{key}" for key in KEYS} <= {a.objectName() for a in menu.actions()}
    entry = window.welcome.findChild(QPushButton, "welcome.experiment.box")
    entry.setFocus()
    QTest.keyClick(entry, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: "Four cuts" in window.experiments.bar.text, timeout=30_000)


def test_a_persons_work_is_asked_for_and_an_untouched_experiment_is_not(qtbot, session):
    begin(qtbot, session, "box")
    begin(qtbot, session, "neighbors")
    document, window = session.document, session.window
    document.set_parameter(document.current_run_id, "n_neighbors", 2)
    window.actions_["action.experiment.box"].trigger()
    qtbot.waitUntil(lambda: window.findChild(QMessageBox) is not None)
    box = window.findChild(QMessageBox)
    assert "Save before opening a sample?" in box.text()
    box.button(QMessageBox.StandardButton.Discard).click()
    qtbot.waitUntil(lambda: document.view_state.get("experiment") == "box", timeout=30_000)
    window.close()
    assert not window.isVisible(), "nothing of a person's would be lost"


def test_a_saved_project_shows_what_to_look_at_again(qtbot, session, tmp_path):
    begin(qtbot, session, "box")
    stop(qtbot, session)
    document, window = session.document, session.window
    save_project(document.snapshot(), tmp_path / "box.treewright", include_rows=True)
    window.files.open_sample("iris")
    qtbot.waitUntil(lambda: document.table.sample == "iris")
    document.restore(load_project(tmp_path / "box.treewright"))
    assert "Four cuts" in window.experiments.bar.text


def test_the_form_shows_what_an_experiment_tries(qtbot, session):
    begin(qtbot, session, "columns_per_node")
    tuner = session.window.context.tuner
    qtbot.waitUntil(lambda: tuner.current_plan is not None)
    view = panel(session, "tuning")
    assert view.findChild(QComboBox, "tuning.parameter1").currentText() == "Columns per node"
    assert view.findChild(QLineEdit, "tuning.values1").text() == "1, 2, 3, 5, 7, 9, 11, 13"
    assert view.form.plan() == tuner.current_plan
    stop(qtbot, session)


def test_the_command_line_opens_one(qtbot, session):
    open_first(session.window, experiment="box")
    qtbot.waitUntil(lambda: "Four cuts" in session.window.experiments.bar.text, timeout=30_000)
    stop(qtbot, session)


def test_the_command_line_names_the_keys_where_there_is_none_such(capsys):
    with pytest.raises(SystemExit):
        main(["--experiment", "luck"])
    told = capsys.readouterr().err
    assert "luck" in told
    assert all(key in told for key in KEYS)


def test_undo_takes_the_models_away_while_they_train(qtbot, session):
    begin(qtbot, session, "networks_outside")
    document, n_models = session.document, len(find_experiment("networks_outside").models)
    session.window.actions_["action.edit.undo"].trigger()
    assert not document.runs
    qtbot.waitUntil(lambda: session.lanes.are_quiet, timeout=60_000)
    session.window.actions_["action.edit.redo"].trigger()
    assert [record.state for record in document.runs.values()] == ["new"] * n_models
