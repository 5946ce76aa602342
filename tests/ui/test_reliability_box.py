"""Reliability and coverage in the Scores view: for which models, on which rows, classes, files."""

import csv

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel, QScrollArea, QToolButton, QWidget

from tests.ui.training_help import train
from workbench.samples import load_sample

LEFT = Qt.MouseButton.LeftButton
QUICK = {"n_estimators": 2, "max_epochs": 2, "hidden_layer_sizes": (4,)}


def box_of(session, what):
    return session.window.findChild(QWidget, f"scores.{what}_box")


def look(qtbot, session, what="coverage"):
    session.window.centre.show_view("scores")
    qtbot.waitUntil(lambda: not box_of(session, what).isHidden())
    page = session.window.findChild(QScrollArea, "scores.page")
    qtbot.waitUntil(lambda: box_of(session, what).isVisible())
    page.ensureWidgetVisible(box_of(session, what), 0, 200)  # rows are counted when it is looked at


def choose(box, text):
    box.setCurrentIndex(box.findText(text))
    box.activated.emit(box.currentIndex())


def counted(qtbot, session):
    box = box_of(session, "coverage")
    qtbot.waitUntil(lambda: not box.plot.isHidden(), timeout=20_000)
    return box.plot.figure


def test_classes_have_a_diagram_of_the_rows_and_class_chosen(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    look(qtbot, session, "reliability")
    assert box_of(session, "coverage").isHidden()
    box, scores = box_of(session, "reliability"), session.document.current_run.result.scores
    n_test = scores["test"].n_rows
    assert box.plot.figure.n_rows.sum() == n_test
    chosen = session.window.findChild(QComboBox, "scores.reliability_class")
    assert [chosen.itemText(k) for k in range(4)] == ["the class it names", "Adelie", "Chinstrap", "Gentoo"]
    choose(chosen, "Gentoo")
    gentoo = scores["test"].proba[:, 2]
    assert box.plot.figure.n_rows.sum() == n_test
    figure = box.plot.figure
    assert np.average(figure.promised, weights=figure.n_rows) == pytest.approx(gentoo.mean())
    choose(session.window.findChild(QComboBox, "scores.part"), "training rows")
    assert box.plot.figure.n_rows.sum() == scores["train"].n_rows
    assert chosen.currentText() == "Gentoo", "another part keeps the class"
    assert "Expected calibration error" in session.window.findChild(QLabel, "scores.reliability_told").text()
    x, y = box.plot.points_.getData()
    np.testing.assert_array_equal(y, box.plot.figure.found)
    assert "came true" in box.plot.hover_text(QPointF(0.97, 0.5))
    assert [text.toPlainText() for text in box.plot.texts_[: len(x)]] == [
        str(n) for n in box.plot.figure.n_rows
    ]


def test_models_without_probabilities_have_none(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "svm", answers="decision")
    session.window.centre.show_view("scores")
    assert box_of(session, "reliability").isHidden()
    assert not session.window.actions_["action.scores.reliability"].isEnabled()


@pytest.mark.parametrize(("kind", "parameters"), [("networks", QUICK), ("forest", {"n_estimators": 4})])
def test_numbers_have_coverage_on_the_part_chosen(qtbot, session, kind, parameters):
    session.document.open_table(load_sample("diabetes"))
    train(qtbot, session, kind, **parameters)
    look(qtbot, session)
    figure, result = counted(qtbot, session), session.document.current_run.result
    assert figure.n_rows == result.scores["test"].n_rows
    assert box_of(session, "reliability").isHidden()
    choose(session.window.findChild(QComboBox, "scores.part"), "training rows")
    qtbot.waitUntil(lambda: counted(qtbot, session).n_rows == result.scores["train"].n_rows)
    told = session.window.findChild(QLabel, "scores.coverage_told").text()
    assert ("mixture" in told) == (kind == "networks")
    assert "mean width" in box_of(session, "coverage").plot.hover_text(QPointF(0.9, 0.9))


def test_trees_have_no_intervals_and_medians_say_why(qtbot, session):
    session.document.open_table(load_sample("diabetes"))
    train(qtbot, session, "tree")
    session.window.centre.show_view("scores")
    assert box_of(session, "coverage").isHidden()
    train(qtbot, session, "forest", n_estimators=3, criterion="absolute_error")
    look(qtbot, session)
    told = session.window.findChild(QLabel, "scores.coverage_told")
    qtbot.waitUntil(lambda: "no standard deviation" in told.text(), timeout=20_000)
    assert box_of(session, "coverage").plot.isHidden()


def test_a_new_count_after_another_training(qtbot, session):
    session.document.open_table(load_sample("diabetes"))
    run_id = train(qtbot, session, "forest", n_estimators=3)
    look(qtbot, session)
    before = counted(qtbot, session)
    session.document.set_parameter(run_id, "random_state", 5)
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        assert session.trainer.train(run_id)
    qtbot.waitUntil(lambda: counted(qtbot, session) is not before)
    assert not np.array_equal(counted(qtbot, session).mean_width, before.mean_width)


@pytest.mark.parametrize(("what", "sample"), [("reliability", "penguins"), ("coverage", "diabetes")])
def test_picture_and_points_are_saved(qtbot, session, tmp_path, dialogs, what, sample):
    session.document.open_table(load_sample(sample))
    train(qtbot, session, "forest", n_estimators=3)
    look(qtbot, session, what)
    box = box_of(session, what)
    qtbot.waitUntil(lambda: not box.plot.isHidden(), timeout=20_000)
    dialogs.answers = [tmp_path / "p.csv", tmp_path / "p.png"]
    for button in ("csv", "export"):
        QTest.mouseClick(session.window.findChild(QToolButton, f"scores.{what}_{button}"), LEFT)
    lines = list(csv.reader((tmp_path / "p.csv").read_text(encoding="utf-8").splitlines()))
    assert len(lines) == box.plot.figure.n_points + 1
    assert (tmp_path / "p.png").stat().st_size > 1000
    assert dialogs.proposals == [f"Random forest 1 {what}.csv", f"Random forest 1 {what}.png"]
