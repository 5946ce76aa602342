"""The perceptron in the window: its curve by epoch, live and afterwards, and a stop."""

import numpy as np
from PySide6.QtWidgets import QWidget

from tests.ui.training_help import train
from workbench.figures.compare import overlaid_curves
from workbench.samples import load_sample


def test_the_training_view_draws_the_share_of_wrong_rows_by_epoch(qtbot, session):
    session.document.open_table(load_sample("iris"))
    session.document.set_target("species")
    session.window.centre.show_view("training")
    panel = session.window.findChild(QWidget, "panel.training")
    seen = []
    session.trainer.advanced.connect(lambda *_: seen.append(panel.plot.figure))
    run_id = train(qtbot, session, "perceptron", max_epochs=20)
    model = session.document.run(run_id).result.estimator
    live = [figure for figure in seen if figure is not None]
    assert live[-1].subtitle == "20 epochs so far"
    figure = panel.plot.figure
    for drawn in (live[-1], figure):
        assert (drawn.x_label, drawn.y_label) == ("epoch", "share of wrong rows")
        np.testing.assert_array_equal(drawn.lines[0].y, model.train_loss_)
        np.testing.assert_array_equal(drawn.lines[1].y, model.val_loss_)
        assert drawn.best_round == model.best_epoch_
    best = f"{model.val_loss_[model.best_epoch_]:.3g} in epoch {model.best_epoch_} of 20"
    assert figure.sentence == f"lowest share of wrong validation rows {best}"
    assert figure.hairline_text(3.0).startswith("epoch 3\n")
    assert session.window.actions_["action.model.export"].isEnabled()
    train(qtbot, session, "boosting", n_estimators=3)
    assert overlaid_curves(list(session.document.runs.values())).x_label == "epoch and round"


def test_it_says_that_an_epoch_fits_all_rows(qtbot, session):
    session.document.open_table(load_sample("linear_border"))
    session.document.set_target("side")
    run_id = train(qtbot, session, "perceptron", max_epochs=1000)
    result = session.document.run(run_id).result
    assert result.estimator.n_epochs_ == result.n_rounds < 1000
    session.window.centre.show_view("training")
    panel = session.window.findChild(QWidget, "panel.training")
    assert panel.plot.figure.subtitle.endswith(f", epoch {result.n_rounds} fits all rows")


def test_stopped_it_keeps_its_epochs_and_says_so(qtbot, session):
    document = session.document
    document.open_table(load_sample("penguins"))
    document.set_target("sex")
    run_id = document.add_run("perceptron")
    document.set_parameter(run_id, "max_epochs", 1_000_000)
    session.window.centre.show_view("surface")
    panel = session.window.findChild(QWidget, "panel.surface")
    with qtbot.waitSignal(session.trainer.ended, timeout=60_000):
        assert session.trainer.train(run_id)
        qtbot.waitUntil(
            lambda: panel.figure is not None and "still training" in panel.figure.title, timeout=30_000
        )
        session.trainer.stop(run_id)
    result = document.run(run_id).result
    assert result.stopped
    assert 0 < result.n_rounds < 1_000_000
    assert f"stopped after epoch {result.n_rounds:,}" in document.messages[-1]
