"""The Scores view: what it leads with, the cut-off, literal class names, honesty."""

import numpy as np
import pytest
from PySide6.QtWidgets import QLabel, QSlider, QTableWidget, QWidget

from tests.ui.training_help import train
from workbench.datasets import make_table
from workbench.figures.words import fixed, number
from workbench.samples import load_sample


def panel_of(session):
    return session.window.findChild(QWidget, "panel.scores")


def shown_score(session, metric, block="scores.key_figures"):
    return panel_of(session).findChild(QLabel, f"{block}.{metric}").text()


def test_key_figures_are_those_of_the_test_rows(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    scores = session.document.current_run.result.scores["test"]
    assert shown_score(session, "accuracy") == f"{scores.accuracy.value:.3f}"
    assert shown_score(session, "log_loss") == f"{scores.log_loss.value:.3f}"
    assert panel_of(session).confusion.figure.counts.tolist() == scores.confusion.tolist()
    table = panel_of(session).findChild(QTableWidget, "scores.classes")
    assert [table.item(k, 0).text() for k in range(3)] == ["Adelie", "Chinstrap", "Gentoo"]


def test_cross_validation_leads_when_it_has_come(qtbot, session):
    session.trainer.cross_validates = True
    session.document.open_table(load_sample("penguins"))
    told = []
    session.trainer.cross_validation_advanced.connect(
        lambda *_: told.append(session.trainer.cross_validation_job.progress.text)
    )
    with qtbot.waitSignal(session.trainer.cross_validation_ended, timeout=120_000):
        train(qtbot, session, "tree")
    assert told
    assert all(text.startswith("fold ") for text in told), "it says where it is, not twice what it is"
    cv = session.document.current_run.result.cv
    shown = shown_score(session, "accuracy", "scores.cross_validation")
    assert shown == f"{cv.metrics['accuracy'].value:.3f}"


@pytest.fixture
def coin_flips():
    rng = np.random.default_rng(3)
    columns = {f"x{k}": rng.normal(size=600) for k in range(5)}
    return make_table("coins", {**columns, "side": rng.choice(["<15.75", "x & y"], 600)})


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("tree", {"max_depth": None, "min_samples_leaf": 1}),
        ("forest", {"n_estimators": 30, "min_samples_leaf": 1, "bootstrap": False, "max_depth": None}),
        ("boosting", {"n_estimators": 300, "min_samples_leaf": 1, "learning_rate": 0.3}),
    ],
)
def test_coin_flips_are_remembered_but_not_foretold(qtbot, session, coin_flips, kind, parameters):
    session.document.open_table(coin_flips)
    session.document.set_target("side")
    train(qtbot, session, kind, **parameters)
    assert session.document.current_run.result.scores["train"].accuracy.value == 1.0
    assert 0.4 <= float(shown_score(session, "accuracy")) <= 0.6


def test_the_cut_off_moves_the_confusion_of_two_classes(qtbot, session, coin_flips):
    session.document.open_table(coin_flips)
    session.document.set_target("side")
    train(qtbot, session, "tree")
    panel = panel_of(session)
    slider = panel.findChild(QSlider, "scores.cut_off")
    figure = panel.confusion.figure
    slider.setValue(1)
    lenient = panel.confusion.figure
    slider.setValue(99)
    strict = panel.confusion.figure
    event = figure.event_idx
    assert lenient.counts[:, event].sum() >= figure.counts[:, event].sum() >= strict.counts[:, event].sum()
    assert lenient.counts.sum() == strict.counts.sum() == figure.counts.sum()
    assert "from probability 0.99 on" in panel.findChild(QLabel, "scores.cut_off_text").text()
    counts, table = panel.confusion.figure.counts, panel.findChild(QTableWidget, "scores.classes")
    recalls = [f"{counts[k, k] / counts[k].sum():.3f}" for k in range(2)]
    assert [table.item(k, 3).text() for k in range(2)] == recalls, "the table is of the same cut-off"


def test_c46_class_names_are_literal(qtbot, session, coin_flips):
    session.document.open_table(coin_flips)
    session.document.set_target("side")
    train(qtbot, session, "tree")
    table = panel_of(session).findChild(QTableWidget, "scores.classes")
    assert table.item(0, 0).text() == "<15.75"
    assert table.item(0, 0).toolTip() == "<qt>&lt;15.75</qt>"


def test_numbers_show_errors_and_predicted_against_actual(qtbot, session):
    session.document.open_table(load_sample("diabetes"))
    train(qtbot, session, "tree")
    panel = panel_of(session)
    assert shown_score(
        session, "r2"
    ) == f"{session.document.current_run.result.scores['test'].r2.value:.3f}".replace("-", "−")
    assert panel.picture() is panel.scatter
    scores = session.document.current_run.result.scores["test"]
    x, y = panel.scatter.points.getData()
    np.testing.assert_array_equal(x, scores.y_true)
    np.testing.assert_array_equal(y, scores.prediction)


@pytest.mark.parametrize("target", ["species", "body_mass_g"])
def test_a_forest_s_out_of_bag_score_stands_beside_with_its_rows(qtbot, session, target):
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target(target)
    estimator = document.run(train(qtbot, session, "forest", n_estimators=12)).result.estimator
    block = session.window.findChild(QWidget, "scores.out_of_bag")
    texts = [label.text() for label in block.findChildren(QLabel)]
    assert fixed(estimator.oob_score_) in texts
    if target == "body_mass_g":
        assert number(float(estimator.oob_loss_[-1]) ** 0.5) in texts
    n_rows = len(estimator.bootstrap_draws(0))
    assert estimator.n_oob_rows_ + estimator.n_rows_never_out_ == n_rows
    assert any(text.startswith(f"{estimator.n_oob_rows_} training rows") for text in texts)
    document.set_parameter(document.current_run_id, "oob_score", False)
    with qtbot.waitSignal(session.trainer.ended, timeout=120_000):
        assert session.trainer.train(document.current_run_id)
    qtbot.waitUntil(lambda: session.window.findChild(QWidget, "scores.out_of_bag") is None, timeout=60_000)
