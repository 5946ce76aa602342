"""The Tuning view: its form, live curve and map, taking settings by mouse and keyboard, stop, files."""

import csv

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QLineEdit, QPushButton, QToolButton, QWidget

from tests.workbench.test_figures_tuning import tuning
from workbench.figures.tuning import make_tuning
from workbench.project import load_project, save_project
from workbench.samples import load_sample
from workbench.ui.states import EmptyState

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def run_id(qtbot, session):
    """A decision tree on Penguins, not trained, and the view in front."""
    session.document.open_table(load_sample("penguins"))
    run_id = session.document.add_run("tree")
    look(qtbot, session)
    return run_id


def look(qtbot, session):
    session.window.centre.show_view("tuning")
    qtbot.waitUntil(lambda: part(session, QComboBox, "parameter1").count() > 0)


def panel_of(session):
    return session.window.findChild(QWidget, "panel.tuning")


def part(session, kind, name):
    return panel_of(session).findChild(kind, f"tuning.{name}")


def type_values(session, text, place=1):
    edit = part(session, QLineEdit, f"values{place}")
    edit.setFocus()
    edit.selectAll()
    QTest.keyClicks(edit, text)


def choose(session, label, name="parameter1"):
    box = part(session, QComboBox, name)
    box.setCurrentText(label)
    box.activated.emit(box.currentIndex())


def tune(qtbot, session, text=None):
    if text is not None:
        type_values(session, text)
    with qtbot.waitSignal(session.window.context.tuner.ended, timeout=60_000):
        QTest.mouseClick(part(session, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: panel_of(session).figure is not None)
    return panel_of(session).figure


def place_on_screen(plot, setting):
    return plot.mapFromScene(plot.plot.vb.mapViewToScene(plot.place_of(setting)))


def says(session):
    return part(session, QLabel, "says").full_text()


# ---- empty -------------------------------------------------------------------------------------


def test_what_is_missing_is_told(session):
    document, panel = session.document, panel_of(session)
    assert panel is None  # views are made with the first table
    document.open_table(load_sample("penguins"))
    session.window.centre.show_view("tuning")
    QApplication.processEvents()
    panel = panel_of(session)
    shown = next(state for state in panel.findChildren(EmptyState) if state.isVisible())
    assert shown._sentence.text() == "No model yet. Add one to tune its settings."
    QTest.mouseClick(shown.button, LEFT)
    assert document.current_run.spec.kind == "tree"
    shown = next(state for state in panel.findChildren(EmptyState) if state.isVisible())
    assert shown._sentence.text() == "No setting was tried yet."
    assert "press Tune" in shown._how.text()
    assert not session.window.actions_["action.tuning.take_best"].isEnabled()
    document.set_roles([document.target], "ignored")
    shown = next(state for state in panel.findChildren(EmptyState) if state.isVisible())
    assert shown._sentence.text() == "Nothing to predict yet."
    assert not session.window.actions_["action.tuning.start"].isEnabled()


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("averaging", "An average has no setting to tune."),
        (
            "naive_bayes",
            "Naive Bayes learns classes only; choose a target of classes, or another kind of model.",
        ),
    ],
)
def test_a_model_without_a_setting_to_tune_says_so(session, kind, told):
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target("body_mass_g")
    session.window.centre.show_view("tuning")
    document.add_run(kind)
    QApplication.processEvents()
    shown = next(state for state in panel_of(session).findChildren(EmptyState) if state.isVisible())
    assert shown._sentence.text() == told
    assert not session.window.actions_["action.tuning.start"].isEnabled()
    document.add_run("tree")
    QApplication.processEvents()
    assert part(session, QComboBox, "parameter1").count() > 0
    assert session.window.actions_["action.tuning.start"].isEnabled()


# ---- a curve -----------------------------------------------------------------------------------


def test_a_curve_over_one_setting(qtbot, session, run_id):
    assert part(session, QComboBox, "parameter1").currentText() == "Depth"
    assert part(session, QLineEdit, "values1").text() == "1, 2, 3, 4, 5, 6, 8, 10, 15, 20, no limit"
    assert says(session) == "11 settings, 55 trainings"
    figure, plot = tune(qtbot, session, "1, 2, 5"), panel_of(session).curve
    search = session.document.run(run_id).tuning.search
    assert search.values == ((1, 2, 5),)
    np.testing.assert_allclose(figure.mean, -search.means)
    x, y = plot.means_.getData()
    np.testing.assert_array_equal(x, [0, 1, 2])
    np.testing.assert_allclose(y, figure.mean)
    assert len(plot.folds_.data) == 15
    assert plot.band_.isVisible()
    assert plot.best_.value() == figure.at_x[figure.best]
    assert figure.now == 2
    assert plot.here_.data["x"].tolist() == [2.0]
    assert plot.isVisible()
    assert "3 settings tried; best is depth" in session.window.status.message


def test_a_click_takes_a_setting_and_undo_takes_it_back(qtbot, session, run_id):
    tune(qtbot, session, "1, 2, 7")
    document, plot = session.document, panel_of(session).curve
    steps = document.undo_stack.count()
    QTest.mouseClick(plot.viewport(), LEFT, pos=place_on_screen(plot, 2))
    assert document.parameter(run_id, "max_depth") == 7
    assert document.undo_stack.count() == steps + 1
    assert document.undo_stack.undoText() == "Take depth 7"
    assert (
        document.messages[-1] == "Decision tree 1: depth 7 taken; train it to use that, Undo takes it back."
    )
    assert panel_of(session).figure.now == 2
    assert plot.here_.data["x"].tolist() == [2.0]
    QTest.mouseClick(plot.viewport(), LEFT, pos=place_on_screen(plot, 2))
    assert document.messages[-1] == "Decision tree 1: it has depth 7 already."
    QTest.keyClick(plot, Qt.Key.Key_Left)
    assert plot.cursor == 1, "keys go on from there"
    document.undo_stack.undo()
    assert document.parameter(run_id, "max_depth") == 5
    assert panel_of(session).figure.now is None
    assert len(plot.here_.data) == 0


def test_keys_go_from_setting_to_setting_and_enter_takes_one(qtbot, session, run_id):
    tune(qtbot, session, "1, 2, 7")
    document, panel = session.document, panel_of(session)
    plot = panel.curve
    plot.setFocus(Qt.FocusReason.TabFocusReason)
    assert plot.cursor == panel.figure.best
    assert len(plot.ring_.data) == 1
    QTest.keyClick(plot, Qt.Key.Key_Home)
    assert plot.cursor == 0
    assert plot._hover.toPlainText().startswith("Depth 1\nwrong rows")
    QTest.keyClick(plot, Qt.Key.Key_Right)
    QTest.keyClick(plot, Qt.Key.Key_Right)
    QTest.keyClick(plot, Qt.Key.Key_Right)
    assert plot.cursor == 2
    QTest.keyClick(plot, Qt.Key.Key_Return)
    assert document.parameter(run_id, "max_depth") == 7
    assert "as the model is set now" in plot._hover.toPlainText(), "what is told follows what is known"
    QTest.keyClick(plot, Qt.Key.Key_End)
    assert plot.cursor == 2
    part(session, QLineEdit, "values1").setFocus()
    assert len(plot.ring_.data) == 0
    assert not plot._hover.isVisible()


@pytest.mark.parametrize(("name", "mark"), [("best", "best"), ("one_standard_error", "one_se")])
def test_the_chosen_ones_can_be_taken(qtbot, session, run_id, name, mark):
    figure = tune(qtbot, session, "1..6, 50")
    QTest.mouseClick(part(session, QPushButton, name), LEFT)
    assert panel_of(session).figure.now == getattr(figure, mark)
    session.document.undo_stack.undo()
    assert session.document.parameter(run_id, "max_depth") == 5


def test_the_pointer_tells_a_settings_figures(qtbot, session, run_id):
    tune(qtbot, session, "1, 2")
    plot = panel_of(session).curve
    plot._on_mouse_moved(plot.plot.vb.mapViewToScene(plot.place_of(1)))
    told = plot._hover.toPlainText()
    assert told == panel_of(session).figure.story(1)
    assert told.startswith("Depth 2\nwrong rows ")
    assert told.count(" %") == 7


def test_words_have_bars_and_failed_settings_a_cross(qtbot, session, run_id):
    choose(session, "Rows to split")
    tune(qtbot, session, "1, 2, 40")
    panel = panel_of(session)
    plot = panel.curve
    assert panel.figure.errors.keys() == {0}
    assert plot.failed_.data["x"].tolist() == [0.0]
    plot._on_mouse_moved(plot.plot.vb.mapViewToScene(QPointF(0.0, plot.plot.vb.viewRange()[1][0] + 0.01)))
    assert "failed in fold 1 of 5: min_samples_split is 1" in plot._hover.toPlainText()
    tune(qtbot, session, "1")
    assert panel.figure.best is None
    assert not part(session, QPushButton, "best").isEnabled()
    choose(session, "Criterion")
    assert part(session, QLineEdit, "values1").text() == "gini, entropy, misclassification"
    tune(qtbot, session)
    assert plot.bars_.isVisible()
    assert not plot.band_.isVisible()
    assert not part(session, QPushButton, "one_standard_error").isEnabled()


# ---- a map -------------------------------------------------------------------------------------


@pytest.fixture
def map_plot(qtbot, session, run_id):
    choose(session, "Rows per leaf", "parameter2")
    type_values(session, "1, 40", place=2)
    tune(qtbot, session, "1, 3, no limit")
    return panel_of(session).map


def test_a_map_over_two_settings(session, run_id, map_plot):
    figure = panel_of(session).figure
    assert map_plot.isVisible()
    assert figure.y.words == ("1", "40")
    pixels = map_plot.image_.image
    assert pixels.shape == (2, 3, 4)
    best = pixels[figure.at_y[figure.best], figure.at_x[figure.best]]
    worst = np.argmax(figure.mean)
    assert best[:3].astype(int).sum() < pixels[figure.at_y[worst], figure.at_x[worst]][:3].astype(int).sum()
    texts = [text.toPlainText() for text in map_plot.texts_ if text.isVisible()]
    assert len(texts) == 6
    assert texts[figure.best].splitlines()[0] == figure.score_text(figure.mean[figure.best])
    assert map_plot.best_.getData()[0].min() == pytest.approx(figure.at_x[figure.best] - 0.46)
    assert map_plot.bar.isVisible()
    assert "one standard error" in "".join(map_plot.header.texts)


def test_a_cell_is_taken_by_mouse_and_keys(qtbot, session, run_id, map_plot):
    document = session.document

    def values():
        return tuple(document.parameter(run_id, name) for name in ("max_depth", "min_samples_leaf"))

    before = values()
    QTest.mouseClick(map_plot.viewport(), LEFT, pos=place_on_screen(map_plot, 5))
    assert values() == (None, 40)
    document.undo_stack.undo()
    assert values() == before
    map_plot.setFocus(Qt.FocusReason.TabFocusReason)
    for key in (Qt.Key.Key_Home, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Space):
        QTest.keyClick(map_plot, key)
    assert values() == (3, 40)
    assert len(map_plot.ring_.getData()[0]) == 8


def test_the_picture_changes_between_curve_and_map(qtbot, session, run_id, map_plot):
    choose(session, "no second one", "parameter2")
    assert part(session, QLineEdit, "values2").isHidden()
    tune(qtbot, session, "1, 2")
    assert panel_of(session).curve.isVisible()
    assert not map_plot.isVisible()


# ---- while it runs -----------------------------------------------------------------------------


@pytest.fixture
def endless(qtbot, session):
    """Boosting whose first setting is done at once and whose second one never is."""
    session.document.open_table(load_sample("penguins"))
    run_id = session.document.add_run("boosting")
    look(qtbot, session)
    choose(session, "Rounds")
    type_values(session, "2, 100000000")
    return run_id


def test_results_are_drawn_while_it_runs_and_stop_keeps_them(qtbot, session, endless):
    panel, document, tuner = panel_of(session), session.document, session.window.context.tuner
    start = part(session, QPushButton, "start")
    QTest.mouseClick(start, LEFT)
    assert start.text() == "Stop"
    place = start.pos()
    qtbot.waitUntil(lambda: panel.figure is not None, timeout=60_000)
    assert start.pos() == place, "it stays under the pointer when there is more beside it"
    assert panel.figure.is_running
    assert "1 of 2 settings tried" in panel.figure.subtitle
    qtbot.waitUntil(lambda: says(session).startswith("setting 2 of 2, fold "), timeout=60_000)
    job = session.window.findChild(QLabel, "status.job")
    assert job.full_text().startswith("Tuning Gradient boosting 1: setting 2 of 2, fold")
    assert not session.window.actions_["action.tuning.start"].isEnabled()
    with qtbot.waitSignal(tuner.ended, timeout=60_000):
        QTest.mouseClick(start, LEFT)
    assert start.text() == "Tune"
    assert document.run(endless).tuning.search.stopped
    assert "stopped after 1 of 2 settings" in panel.figure.subtitle
    assert np.isnan(panel.figure.mean[1])


def test_the_stop_command_ends_it_too(qtbot, session, endless):
    QTest.mouseClick(part(session, QPushButton, "start"), LEFT)
    stop = session.window.actions_["action.model.stop"]
    assert stop.isEnabled()
    with qtbot.waitSignal(session.window.context.tuner.ended, timeout=60_000):
        stop.trigger()
    assert not stop.isEnabled()


def test_another_model_can_be_looked_at_meanwhile(qtbot, session, endless):
    document, panel = session.document, panel_of(session)
    QTest.mouseClick(part(session, QPushButton, "start"), LEFT)
    document.add_run("tree")
    assert says(session) == "Gradient boosting 1 is being tuned"
    assert part(session, QComboBox, "parameter1").currentText() == "Depth"
    assert not part(session, QPushButton, "start").isEnabled()
    assert panel.figure is None
    document.select_run(endless)
    assert part(session, QLineEdit, "values1").text() == "2, 100000000", "the draft is kept"
    with qtbot.waitSignal(session.window.context.tuner.ended, timeout=60_000):
        session.window.context.tuner.stop()


def test_a_window_closes_while_it_runs(qtbot, session, endless):
    """The fixture's end closes the window: nothing may be left running or waiting."""
    QTest.mouseClick(part(session, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: panel_of(session).figure is not None, timeout=60_000)
    assert session.window.context.tuner.current_run_id == endless


def test_the_view_behind_a_tab_catches_up(qtbot, session, run_id):
    session.window.centre.show_view("tree")
    QApplication.processEvents()
    with qtbot.waitSignal(session.window.context.tuner.ended, timeout=60_000):
        session.window.actions_["action.tuning.start"].trigger()
    assert session.document.run(run_id).tuning.search.n_settings == 11
    session.window.centre.show_view("tuning")
    qtbot.waitUntil(lambda: panel_of(session).figure is not None)


# ---- the form ----------------------------------------------------------------------------------


def test_what_is_wrong_is_said_under_the_fields(session, run_id):
    error, start = part(session, QLabel, "error"), part(session, QPushButton, "start")
    type_values(session, "1, 0")
    assert error.isVisible()
    assert error.text().startswith("Max_depth is 0; enter a whole number from 1")
    assert not start.isEnabled()
    type_values(session, "1, 2")
    assert not error.isVisible()
    assert start.isEnabled()
    choose(session, "Depth", "parameter2")
    assert error.text() == "Depth is there twice; choose another one."


def test_other_scores_and_settings_are_offered_with_the_task(qtbot, session, run_id):
    document = session.document
    box = part(session, QComboBox, "metric")
    assert [box.itemText(k) for k in range(box.count())] == ["Wrong rows", "Log loss", "ROC area"]
    choose(session, "Log loss", "metric")
    figure = tune(qtbot, session, "1, 2")
    assert figure.score_name == "log loss"
    document.set_target("body_mass_g")
    assert [box.itemText(k) for k in range(box.count())] == ["RMSE", "MAE", "R²"]
    assert panel_of(session).figure.subtitle.endswith("tried for predicting species")
    document.set_target("species")
    document.set_parameter(run_id, "algorithm", "c4.5")
    names = part(session, QComboBox, "parameter1")
    shown = [names.itemText(k) for k in range(names.count())]
    assert "Confidence" in shown
    assert "Criterion" not in shown


# ---- files -------------------------------------------------------------------------------------


def test_it_is_there_again_when_the_project_is_opened(qtbot, session, run_id, tmp_path):
    figure = tune(qtbot, session, "1, 2, 3")
    path = tmp_path / "p.treewright"
    save_project(session.document, path, include_rows=True)
    session.document.mark_saved(path)
    session.document.restore(load_project(path))
    session.window.centre.show_view("tuning")
    qtbot.waitUntil(lambda: panel_of(session).figure is not None)
    again = panel_of(session).figure
    np.testing.assert_array_equal(again.folds, figure.folds)
    assert again.subtitle == figure.subtitle
    assert part(session, QLineEdit, "values1").text() == "1, 2, 3"
    QTest.mouseClick(
        panel_of(session).curve.viewport(), LEFT, pos=place_on_screen(panel_of(session).curve, 0)
    )
    assert session.document.parameter(run_id, "max_depth") == 1


def test_picture_and_csv_are_saved(qtbot, session, run_id, tmp_path, dialogs):
    figure = tune(qtbot, session, "1, 2, 3")
    (tmp_path / "t.csv").write_text("before")
    (tmp_path / "same").hardlink_to(tmp_path / "t.csv")
    dialogs.answers = [tmp_path / "t.csv", tmp_path / "t.png", tmp_path / "no" / "t.csv"]
    QTest.mouseClick(part(session, QToolButton, "csv"), LEFT)
    assert (tmp_path / "same").read_text() == "before"  # a new file took its place: never half of one
    lines = list(csv.reader((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()))
    assert [float(line[1]) for line in lines[1:]] == figure.mean.tolist()
    QTest.mouseClick(part(session, QToolButton, "export"), LEFT)
    assert (tmp_path / "t.png").stat().st_size > 5000
    QTest.mouseClick(part(session, QToolButton, "csv"), LEFT)
    assert "cannot be written" in session.document.messages[-1]
    assert dialogs.proposals == [
        "Decision tree 1 tuning.csv", "Decision tree 1 tuning.png", "Decision tree 1 tuning.csv",
    ]  # fmt: skip


@pytest.mark.parametrize("size", [(1440, 900), (1024, 700)])
def test_no_control_is_cut_off(qtbot, session, run_id, size):
    tune(qtbot, session, "1, 2")
    session.window.resize(*size)
    session.window.centre.show_view("tuning")
    QApplication.processEvents()
    panel = panel_of(session)
    for made in (*panel.findChildren(QPushButton), *panel.findChildren(QToolButton)):
        if made.isVisible():
            corner = made.mapTo(panel, QPoint(made.width(), made.height()))
            assert corner.x() <= panel.width()
            assert made.width() >= made.sizeHint().width()
    for box in (part(session, QComboBox, name) for name in ("parameter2", "metric")):
        assert box.width() >= box.room_wanted()


@pytest.mark.parametrize(("metric", "is_up"), [("auc", False), ("log_loss", True)])
def test_a_setting_that_diverged_stands_at_the_edge_and_is_told(session, run_id, metric, is_up):
    values, worst = (0.001, 0.01, 0.1, 10.0), [-1e30, -3e30]
    scores = [[-0.50, -0.52], [-0.40, -0.42], [-0.45, -0.43], worst]
    curve = make_tuning("t", tuning(("min_impurity_decrease",), (values,), scores, metric=metric), {})
    plot = panel_of(session).curve
    plot.set_figure(curve)
    low, high = plot.plot.vb.viewRange()[1]
    assert high - low < 1, "the others have the height"
    assert len(plot.far_.data) == 1
    assert low < plot.place_of(3).y() < high
    assert (plot.place_of(3).y() > (low + high) / 2) == is_up
    assert "Least gain 10 is far beyond" in " ".join(plot.header.texts)
    pairs = tuning(("max_depth", "max_leaf_nodes"), ((1, 2), (4, 8)), scores, metric=metric)
    cells = panel_of(session).map
    cells.set_figure(make_tuning("t", pairs, {}))
    assert cells._range() == pytest.approx((0.41, 0.51) if is_up else (-0.51, -0.41))
    assert "far beyond" in " ".join(cells.header.texts)
