"""The Bootstrap window: what is asked, live pictures, stop, undo, refusals, models' scores, files."""

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton, QToolButton, QWidget

from tests.ui.study_help import LEFT, choose, enter, open_study, part, save_into
from tests.ui.training_help import train
from workbench.bootstrap import EXPRESSION, SCORE, BootstrapSettings
from workbench.project import load_project, save_project
from workbench.samples import load_sample


@pytest.fixture
def penguins(session):
    session.document.open_table(load_sample("penguins"))


def opened(qtbot, session):
    dialog = open_study(session, "bootstrap")
    qtbot.waitUntil(dialog.form.statistic.isVisible)
    return dialog


def resample(qtbot, session, dialog):
    before = session.document.studies.found
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: session.document.studies.found is not before)
    qtbot.waitUntil(lambda: part(dialog, QPushButton, "start").text() == "Resample")
    return dialog.figure


def test_a_mean_is_offered_first_and_drawn(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    assert dialog.figure is None
    assert dialog.settings == BootstrapSettings("mean", "bill_length_mm", "bill_depth_mm")
    figure = resample(qtbot, session, dialog)
    assert figure.resamples.counts.sum() == 1000
    assert "342 rows, 2 left out" in figure.resamples.subtitle
    assert figure.fresh is None
    assert not dialog.fresh.isVisible()
    assert len(dialog.plot.figure.intervals) == 3
    texts = [label.full_text() for label in dialog.findChildren(QLabel) if hasattr(label, "full_text")]
    assert dict(figure.lines)["Standard error"] in texts
    assert session.document.is_dirty


def test_two_assets_stand_beside_fresh_samples_with_the_truth(qtbot, session):
    session.document.open_table(load_sample("two_assets"))
    dialog = opened(qtbot, session)
    figure = resample(qtbot, session, dialog)
    assert dialog.fresh.isVisible()
    assert figure.fresh.truth == pytest.approx(0.6)
    assert dialog.fresh.truth_.isVisible()
    assert not dialog.fresh.value_.isVisible()
    assert (
        dialog.fresh.mapToGlobal(dialog.fresh.rect().topRight()).x()
        <= dialog.plot.mapToGlobal(dialog.plot.rect().topLeft()).x()
    )


def test_an_expression_is_typed_checked_and_drawn_by_enter(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    choose(dialog, "statistic", "Expression")
    error, start = part(dialog, QLabel, "error"), part(dialog, QPushButton, "start")
    assert part(dialog, QLineEdit, "expression").text() == "mean(bill_length_mm)"
    assert start.isEnabled()
    enter(dialog, "expression", "mean(bill)", end=None)
    assert "there is no such column" in error.text()
    assert not start.isEnabled()
    edit = enter(dialog, "expression", "mean(bill_length_mm) / mean(bill_depth_mm)", end=None)
    assert not error.isVisible()
    QTest.keyClick(edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.document.studies.found is not None)
    table = session.document.table
    length, depth = (table.column(f"bill_{name}_mm").values for name in ("length", "depth"))
    right = np.nanmean(length) / np.nanmean(depth)
    assert session.document.studies.found.bootstrap.value == pytest.approx(right)
    start.setFocus()  # as a click on it does
    enter(dialog, "expression", "mean(bill_depth_mm)", end=Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: session.document.studies.found.name == "mean(bill_depth_mm)")
    assert session.document.studies.bootstrap.statistic == EXPRESSION


def test_settings_are_undone_from_this_window(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    choose(dialog, "first", "body_mass_g")
    enter(dialog, "n_replicates", "200", end=None)
    QTest.keyClick(part(dialog, QWidget, "n_replicates").focusProxy(), Qt.Key.Key_Tab)
    assert session.document.studies.bootstrap.n_replicates == 200
    dialog.plot.setFocus()
    stack = session.document.undo_stack
    assert [stack.text(k) for k in range(stack.count())] == ["Bootstrap body_mass_g", "Set resamples"]
    QTest.keyClick(dialog, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: session.document.studies.bootstrap.n_replicates == 1000)
    assert part(dialog, QWidget, "n_replicates").value_text() == "1000"


def test_another_level_moves_the_intervals_without_drawing_again(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    wide = resample(qtbot, session, dialog)
    enter(dialog, "level", "50", end=None)
    QTest.keyClick(part(dialog, QWidget, "level").focusProxy(), Qt.Key.Key_Tab)
    assert dialog.figure is not wide
    assert dialog.figure.found is wide.found
    assert "other settings" not in dialog.figure.resamples.subtitle
    assert dialog.figure.resamples.intervals[0].interval.low > wide.resamples.intervals[0].interval.low
    choose(dialog, "first", "year")
    assert "found with other settings" in dialog.figure.resamples.subtitle


def test_a_stop_keeps_what_is_done(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    session.document.set_studies(
        "Set", bootstrap=BootstrapSettings("median", "body_mass_g", n_replicates=1_000_000)
    )
    start = part(dialog, QPushButton, "start")
    QTest.mouseClick(start, LEFT)
    qtbot.waitUntil(lambda: dialog.figure is not None)
    assert start.text() == "Stop"
    assert " of 1,000,000 resamples" in dialog.figure.resamples.subtitle
    QTest.mouseClick(start, LEFT)
    qtbot.waitUntil(lambda: session.document.studies.found is not None)
    assert session.document.studies.found.bootstrap.stopped
    qtbot.waitUntil(lambda: "stopped" in dialog.figure.resamples.subtitle)


def test_what_is_typed_stays_while_resamples_come_in(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    settings = BootstrapSettings(EXPRESSION, expression="median(year)", n_replicates=1_000_000)
    session.document.set_studies("Set", bootstrap=settings)
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    qtbot.waitUntil(lambda: dialog.figure is not None)
    edit = enter(dialog, "expression", "mean(ye", end=None)
    before = dialog.figure
    qtbot.waitUntil(lambda: dialog.figure is not before)
    assert edit.text() == "mean(ye"
    assert "not closed" in part(dialog, QLabel, "error").text()
    session.window.context.resampler.stop()
    qtbot.waitUntil(lambda: session.document.studies.found is not None)


def test_what_runs_is_told_below_and_stopped_from_there_though_the_window_is_closed(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    stop = session.window.actions_["action.model.stop"]
    assert not stop.isEnabled()
    session.document.set_studies("Set", bootstrap=BootstrapSettings("median", "year", n_replicates=1_000_000))
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    dialog.close()
    told = session.window.findChild(QLabel, "status.job")
    qtbot.waitUntil(lambda: told.full_text().startswith("Bootstrap of the median of year: resampling"))
    assert stop.isEnabled()
    stop.trigger()
    qtbot.waitUntil(lambda: session.document.studies.found is not None)
    assert not stop.isEnabled()
    assert not told.isVisible()


def test_another_table_ends_what_runs_and_shows_nothing_of_it(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    session.document.set_studies("Set", bootstrap=BootstrapSettings("median", "year", n_replicates=1_000_000))
    QTest.mouseClick(part(dialog, QPushButton, "start"), LEFT)
    session.document.open_table(load_sample("two_assets"))
    qtbot.waitUntil(lambda: part(dialog, QPushButton, "start").text() == "Resample")
    assert session.document.studies.found is None
    assert dialog.figure is None
    assert dialog.settings.first == "x"


def test_a_models_score_is_offered_once_it_is_trained(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    choose(dialog, "statistic", "Score of a model")
    assert part(dialog, QLabel, "error").text() == "Choose a model."
    run_id = train(qtbot, session, "tree")
    choose(dialog, "model", session.document.run(run_id).name)
    assert session.document.studies.bootstrap == BootstrapSettings(
        SCORE, "bill_length_mm", "bill_depth_mm", run_id=run_id, metric="accuracy"
    )
    figure = resample(qtbot, session, dialog)
    scores = session.document.run(run_id).result.scores["test"]
    assert figure.found.bootstrap.value == pytest.approx(scores.accuracy.value)
    assert figure.resamples.title == "Bootstrap of the accuracy of Decision tree 1"
    session.document.set_studies("Begin anew", bootstrap=BootstrapSettings("mean", "bill_length_mm"))
    session.document.add_run("tree")  # is looked at now, and has no score yet
    qtbot.waitUntil(lambda: part(dialog, QComboBox, "statistic").currentText() == "Mean")
    choose(dialog, "statistic", "Score of a model")
    assert session.document.studies.bootstrap.run_id == run_id


def test_tables_and_pictures_are_saved_and_projects_bring_it_back(
    qtbot, session, penguins, tmp_path, monkeypatch
):
    dialog = opened(qtbot, session)
    figure = resample(qtbot, session, dialog)
    save_into(tmp_path, monkeypatch)
    QTest.mouseClick(part(dialog, QToolButton, "csv"), LEFT)
    QTest.keyClick(
        dialog, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    assert (tmp_path / "bootstrap.csv").read_text("utf-8") == figure.to_csv()
    assert (tmp_path / "bootstrap.png").stat().st_size > 1000
    save_project(session.document, tmp_path / "p.treewright", include_rows=True)
    session.document.open_table(load_sample("xor"))
    session.document.restore(load_project(tmp_path / "p.treewright"))
    qtbot.waitUntil(lambda: dialog.figure is not None)
    assert dialog.figure.lines == figure.lines


def test_words_above_the_bars_keep_apart_in_low_pictures(qtbot, session, penguins):
    dialog = opened(qtbot, session)
    resample(qtbot, session, dialog)
    for height in (900, 420):
        dialog.resize(900, height)
        qtbot.waitUntil(lambda height=height: dialog.height() == height)
        plot = dialog.plot
        shown = [text for text in plot.texts_ if text.toPlainText()]
        places = sorted(plot.plot.vb.mapViewToScene(text.pos()).y() for text in shown)
        assert len(shown) == 4  # three intervals and the value
        assert np.diff(places).min() >= 12
        highest = plot.plot.vb.mapViewToScene(QPointF(0, plot.figure.counts.max())).y()
        assert places[-1] < highest
