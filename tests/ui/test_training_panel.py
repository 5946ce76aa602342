"""The Training view: live points, what is kept after Stop, gaps, range."""

import sys

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QLabel, QWidget

from tests.ui.training_help import train
from workbench.datasets import make_table
from workbench.figures.training import ORDERED, make_line, make_training_figure
from workbench.figures.words import counted
from workbench.project import load_project, save_project
from workbench.runs import SplitSettings
from workbench.samples import load_sample
from workbench.ui import theme
from workbench.ui.plots.training import DOT_PX, TrainingPlot


@pytest.fixture
def plot(qtbot):
    made = TrainingPlot()
    qtbot.addWidget(made)
    made.resize(600, 400)
    made.show()
    return made


@pytest.fixture
def exceptions(monkeypatch):
    """Those that end in Python's hook, as one raised while a widget paints does."""
    told = []
    monkeypatch.setattr(sys, "excepthook", lambda *about: told.append(about))
    return told


def figure_of(values, **words):
    return make_training_figure([make_line("training", "training", values, 1)], "log loss", **words)


def test_c31_the_drawn_range_is_finite_and_the_note_is_written(plot):
    plot.set_figure(figure_of([0.9, 0.7, np.nan, 0.5, np.inf, 0.4]))
    low, high = plot.plot.vb.viewRange()[1]
    assert low <= 0.4
    assert 0.9 <= high < 1.5
    _, y = plot.curve_of("training").getData()
    assert np.isfinite(y).tolist() == [True, True, False, True, False, True]
    assert plot._dots[0].getData()[0].tolist() == [4, 6]
    assert "2 values not finite" in plot.header.texts
    plot.grab()


def test_c31_all_nan_says_so_and_the_plot_recovers(plot, exceptions, caplog):
    plot.set_figure(figure_of([np.nan, np.nan]))
    assert plot._empty.isVisible()
    assert plot._empty.toPlainText() == "no finite values"
    assert np.isfinite(plot.plot.vb.viewRange()).all()
    plot.grab()
    plot.set_figure(figure_of([3.0, 2.0]))
    assert not plot._empty.isVisible()
    assert plot.plot.vb.viewRange()[1] == pytest.approx([1.95, 3.05])
    plot.grab()
    assert exceptions == []
    assert caplog.records == []


def test_c31_a_single_point_is_a_visible_marker(plot):
    plot.set_figure(figure_of([0.6]))
    assert plot._dots[0].getData()[1].tolist() == [0.6]


def test_show_all_spans_the_first_round_too(plot):
    plot.set_figure(figure_of([5000.0, *np.linspace(2, 1, 99)]))
    assert plot.plot.vb.viewRange()[1][1] < 3
    plot.set_shows_all(True)
    assert plot.plot.vb.viewRange()[1][1] > 5000


def test_the_best_round_and_lines_are_dressed_by_the_theme(plot):
    lines = [make_line("training", "training", [3, 2, 1]), make_line("validation", "validation", [3, 2, 2.5])]
    plot.set_figure(make_training_figure(lines, "log loss", best_round=1))
    assert plot._best.value() == 1
    assert plot._best_name.toPlainText() == "best 1"
    assert plot.curves[1].opts["pen"].color() == theme.line_colour("validation")
    assert plot.curves[1].opts["pen"].widthF() == 2.5
    light = plot.curves[0].opts["pen"].color()
    theme.set_appearance("dark")
    assert plot.curves[0].opts["pen"].color() == theme.line_colour("training") != light


def test_names_are_read_over_curves_and_beside_dots(plot):
    line = make_line("out_of_bag", "out of bag", [0.3, 0.1, 0.2], 1)
    plot.set_figure(make_training_figure([line], "share of wrong rows", best_round=2000))
    best, name = plot._best_name, plot._names[0]
    assert best.toPlainText() == "best 2,000"
    assert best.zValue() > max(curve.zValue() for curve in plot.curves)
    assert best.fill.color().rgb() == theme.tokens().colour("surface").rgb()
    end = plot.plot.vb.mapViewToScene(QPointF(3, 0.2)).x()
    margin = name.textItem.document().documentMargin()
    assert name.sceneBoundingRect().left() + margin >= end + DOT_PX / 2 + 2
    assert name.sceneBoundingRect().right() <= plot.width()


def test_names_with_markup_are_literal(plot):
    line = make_line("training", "<b>x</b> & y", [2, 1])
    plot.set_figure(make_training_figure([line], "<i>loss</i>", title="<15.75"))
    assert plot._names[0].toPlainText() == "<b>x</b> & y"
    assert plot.header.texts[0] == "<15.75"
    assert plot.plot.getAxis("left").label.toPlainText().strip() == "<i>loss</i>"


def test_points_are_live_and_stop_keeps_exactly_the_rounds_shown(qtbot, session):
    document, trainer = session.document, session.trainer
    document.open_table(load_sample("penguins"))
    run_id = document.add_run("boosting")
    document.select_run(run_id)
    document.set_parameter(run_id, "n_estimators", 10_000)
    panel = session.window.findChild(QWidget, "panel.training")
    assert trainer.train(run_id), document.messages

    def shown() -> int:
        curve = panel.plot.curve_of("training")
        return 0 if curve is None or curve.getData()[0] is None else len(curve.getData()[0])

    qtbot.waitUntil(lambda: shown() >= 6, timeout=120_000)
    assert document.run(run_id).state == "training"
    with qtbot.waitSignal(trainer.ended, timeout=10_000):
        trainer.stop()
    record = document.run(run_id)
    assert record.state == "stopped"
    assert shown() == record.result.n_rounds + 1
    assert record.result.estimator.n_estimators_ == record.result.n_rounds
    assert f"stopped after {record.result.n_rounds:,} rounds" in panel.plot.header.texts[1]
    assert panel._told.full_text() == panel.plot.figure.sentence


def test_adaboost_draws_the_error_of_each_tree_beside_those_of_all(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    run_id = document.add_run("adaboost")
    document.select_run(run_id)
    document.set_parameter(run_id, "n_estimators", 20)
    panel, live = session.window.findChild(QWidget, "panel.training"), []
    session.trainer.advanced.connect(lambda *_: live.append(panel.plot.figure))
    with qtbot.waitSignal(session.trainer.ended, timeout=120_000):
        assert session.trainer.train(run_id), document.messages
    estimator, figure = document.run(run_id).result.estimator, panel.plot.figure
    assert [line.role for line in figure.lines] == ["training", "validation", "each_tree"]
    for line, values in zip(
        figure.lines, (estimator.train_loss_, estimator.val_loss_, estimator.estimator_errors_), strict=True
    ):
        np.testing.assert_array_equal(line.y, values)
    assert figure.lines[2].x.tolist() == list(range(1, 21))
    assert figure.y_label == "share of wrong rows"
    assert figure.best_round == estimator.best_round_
    told = [shown for shown in live if shown is not None and "so far" in shown.subtitle]
    assert told, "drawn while it trained"
    assert all(shown.lines[-1].role == "each_tree" for shown in told if len(shown.lines[0].x) > 1)


@pytest.mark.parametrize("kind", ["forest", "extra_trees", "bagging"])
def test_forests_and_bags_are_drawn_by_their_out_of_bag_error(qtbot, session, tmp_path, kind):
    document = session.document
    document.open_table(load_sample("penguins"))
    panel, live = session.window.findChild(QWidget, "panel.training"), []
    session.trainer.advanced.connect(lambda *_: live.append(panel.plot.figure))
    parameters = {"n_estimators": 12, "bootstrap": True, "oob_score": True}
    result = document.run(train(qtbot, session, kind, **parameters)).result
    figure = panel.plot.figure
    assert panel._switch.shows_content
    assert figure.y_label == "share of wrong rows"
    assert figure.lines[0].x.tolist() == list(range(1, 13))
    np.testing.assert_array_equal(figure.lines[0].y, result.estimator.oob_loss_)
    assert figure.lines[0].y[-1] == pytest.approx(1 - result.estimator.oob_score_)
    assert figure.best_round == 10 + int(np.argmin(result.estimator.oob_loss_[9:]))
    draws = [set(result.estimator.bootstrap_draws(member).tolist()) for member in range(12)]
    n_never = len(set.intersection(*draws))
    assert n_never > 0
    assert "206 training rows" in figure.subtitle
    assert f"{counted(n_never, 'row')} not counted, as every tree drew " in figure.subtitle
    assert any(shown is not None and "so far" in shown.subtitle for shown in live), "drawn while it trained"
    save_project(document, tmp_path / "p.treewright", include_rows=True)
    document.restore(load_project(tmp_path / "p.treewright"))
    again = panel.plot.figure
    assert again is not figure
    np.testing.assert_array_equal(again.lines[0].y, figure.lines[0].y)
    assert (again.subtitle, again.sentence) == (figure.subtitle, figure.sentence)


def test_a_click_on_the_out_of_bag_curve_looks_at_so_many_trees(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "forest", n_estimators=9)
    session.window.centre.show_view("training")
    panel, selection = session.window.findChild(QWidget, "panel.training"), session.window.context.selection
    panel.plot.round_asked.emit(4)
    result = session.document.current_run.result
    assert selection.rounds_of(result) == 4
    assert panel.plot.marker_.isVisible()
    assert panel.plot.marker_.value() == 4
    session.window.context.editor.keep_rounds(session.document.current_run_id, 4)
    qtbot.waitUntil(lambda: session.document.current_run.result.n_rounds == 4, timeout=60_000)
    assert panel.plot.figure.lines[0].x.tolist() == [1, 2, 3, 4]
    session.document.undo_stack.undo()
    assert panel.plot.figure.lines[0].x.tolist() == list(range(1, 10))


def test_a_forest_without_out_of_bag_score_says_what_to_switch_on(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "forest", n_estimators=3, oob_score=False)
    panel = session.window.findChild(QWidget, "panel.training")
    assert not panel._switch.shows_content
    texts = [label.text() for label in panel._empty.findChildren(QLabel)]
    assert any("Switch on Resample rows and Out-of-bag score" in text for text in texts)


def test_adaboost_that_cannot_begin_says_why_and_what_to_do(qtbot, session):
    """Case C21 (b)."""
    document = session.document
    corners = {"a": [0, 0, 1, 1] * 12, "b": [0, 1, 0, 1] * 12, "y": ["no", "yes", "yes", "no"] * 12}
    document.open_table(make_table("either", corners))
    document.set_target("y")
    document.set_split(SplitSettings(train=1.0, validation=0.0, test=0.0))
    run_id = document.add_run("adaboost")
    with qtbot.waitSignal(session.trainer.ended, timeout=120_000):
        assert session.trainer.train(run_id), document.messages
    assert document.run(run_id).state == "failed"
    assert "the first learner has error 0.50, no better than chance" in document.run(run_id).error
    assert "let the trees ask more questions" in document.run(run_id).error


def test_ordered_statistics_are_named_beside_the_training_loss_they_make(qtbot, session):
    """It is higher than the loss in Scores, as each row is told rows before it alone."""
    session.document.open_table(load_sample("penguins"))
    panel, live = session.window.findChild(QWidget, "panel.training"), []
    session.trainer.advanced.connect(lambda *_: live.append(panel.plot.figure))
    for categorical in ("ordered", "partition"):
        live.clear()
        train(qtbot, session, "boosting", n_estimators=300, categorical=categorical)
        during = [figure for figure in live if figure is not None and "so far" in figure.subtitle]
        assert during
        for figure in (*during, panel.plot.figure):
            assert (ORDERED in figure.subtitle) == (categorical == "ordered"), figure.subtitle
    document = session.document
    document.set_roles(["island", "sex"], "ignored")  # nothing is told by levels any more
    train(qtbot, session, "boosting", n_estimators=3, categorical="ordered")
    assert ORDERED not in panel.plot.figure.subtitle


def test_a_tree_says_that_it_has_no_curve(qtbot, session):
    session.document.open_table(load_sample("penguins"))
    train(qtbot, session, "tree")
    panel = session.window.findChild(QWidget, "panel.training")
    assert not panel._switch.shows_content
    assert panel._empty.button.text() == "Add Boosting"  # another training of this tree would not help
