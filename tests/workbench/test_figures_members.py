"""Curves of ensembles of networks: a pair a network, live and afterwards."""

from types import SimpleNamespace

import numpy as np
import pytest

from engine.monitor import IterationEvent
from workbench.figures.members import LiveMembers, curves_of_members
from workbench.runs import ModelSpec

NAN = float("nan")


def event(member, iteration, train, val=None):
    return IterationEvent("training", iteration, 9, member=member, train_loss=train, val_loss=val)


def result(train, val, *, parts=(0, 0, 1), n_epochs=(2, 1), diverged=()):
    model = SimpleNamespace(
        train_loss_=np.array(train), val_loss_=np.array(val), n_epochs_=np.array(n_epochs), diverged_=diverged
    )
    return SimpleNamespace(estimator=model, parts=np.array(parts))


def test_every_network_has_its_curve_while_it_trains():
    live = LiveMembers("Networks 1", "log loss")
    assert live.n_points == 0
    batch = [event(0, 1, 0.9, 1.0), event(1, 1, 0.8, 0.9), event(0, 2, 0.7, 0.8)]
    assert live.extend(batch)
    assert not live.extend([event(0, 2, 0.7, 0.8), IterationEvent("preparing", 1)])  # told again
    figure = live.figure()
    assert [line.name for line in figure.lines] == [
        "network 1, training", "network 1, validation", "network 2, training", "network 2, validation",
    ]  # fmt: skip
    assert [line.colour for line in figure.lines] == [0, 0, 1, 1]
    assert [line.is_dashed for line in figure.lines] == [True, False, True, False]
    np.testing.assert_array_equal(figure.lines[0].x, [1, 2])
    np.testing.assert_array_equal(figure.lines[0].y, [0.9, 0.7])
    assert figure.x_label == "epoch"
    assert figure.subtitle == "2 networks in training, 1 epoch so far; solid: validation, dotted: training"
    assert figure.sentence == "lowest validation losses of the networks 0.8 to 0.9"
    assert figure.hairline_text(2.0) == "epoch 2\nnetwork 1, training 0.7\nnetwork 1, validation 0.8"


def test_without_a_validation_part_training_is_drawn_through():
    live = LiveMembers("Networks 1", "log loss")
    live.extend([event(0, 1, 0.9), event(0, 2, 0.5)])
    figure = live.figure()
    assert [line.is_dashed for line in figure.lines] == [False]
    assert figure.subtitle == "1 network in training, 2 epochs so far"
    assert figure.sentence == "lowest training loss 0.5"


def test_a_trained_ensemble_tells_which_epochs_were_kept_and_what_diverged():
    told = result([[0.9, 0.5, 0.4], [0.8, NAN, NAN]], [[1.0, 0.7, 0.8], [0.9, NAN, NAN]], diverged=[(1, 2)])
    figure = curves_of_members("Networks 1", told, "log loss")
    assert [len(line.x) for line in figure.lines] == [3, 3, 1, 1]
    assert figure.note == ""
    assert figure.subtitle == (
        "2 training rows; kept: epochs 2, 1; numbers became infinite: network 2 in epoch 2; "
        "solid: validation, dotted: training"
    )
    alike = curves_of_members("Networks 1", result([[0.9], [0.8]], [[NAN], [NAN]], n_epochs=(1, 1)), "loss")
    assert alike.subtitle == "2 training rows, no validation part; kept: epoch 1 of every network"
    from_file = curves_of_members("Networks 1", result([[0.9], [0.8]], [[NAN], [NAN]], parts=()), "loss")
    assert from_file.subtitle.startswith("from a model file; kept: epochs 2, 1")
    many = curves_of_members("N", result([[0.9]] * 9, [[NAN]] * 9, n_epochs=range(1, 10)), "loss")
    assert "kept: epochs 1 to 9" in many.subtitle
    assert curves_of_members("Networks 1", result(np.empty((2, 0)), np.empty((2, 0))), "loss") is None


@pytest.mark.parametrize("given", [[64, 32], (64, 32)])
def test_layers_from_a_file_are_the_same_setting(given):
    assert ModelSpec("networks", {"hidden_layer_sizes": given}).parameters["hidden_layer_sizes"] == (64, 32)
