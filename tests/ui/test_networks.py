"""Deep ensembles in the window: every network's curve, and what can be done with one."""

import numpy as np
import pytest
from PySide6.QtWidgets import QWidget

from tests.ui.training_help import train
from workbench.samples import load_sample

TARGETS = {"classes": "species", "numbers": "body_mass_g"}


@pytest.mark.parametrize("task", TARGETS)
def test_the_training_view_draws_every_networks_losses(qtbot, session, task):
    session.document.open_table(load_sample("penguins"))
    session.document.set_target(TARGETS[task])
    session.window.centre.show_view("training")
    panel = session.window.findChild(QWidget, "panel.training")
    seen = []
    session.trainer.advanced.connect(lambda *_: seen.append(panel.plot.figure))
    run_id = train(qtbot, session, "networks")
    model = session.document.run(run_id).result.estimator
    assert any(figure is not None and figure.x_label == "epoch" for figure in seen)  # live
    figure = panel.plot.figure
    names = [f"network {member + 1}, {part}" for member in range(5) for part in ("training", "validation")]
    assert [line.name for line in figure.lines] == names
    for member in range(5):
        told = model.val_loss_[member]
        np.testing.assert_array_equal(figure.lines[2 * member + 1].y, told[~np.isnan(told)])
    assert "kept: epoch" in figure.subtitle
    assert figure.y_label == ("log loss" if task == "classes" else "negative log-likelihood")
    assert session.window.actions_["action.model.export"].isEnabled()
