"""Kernels of networks: gradients against differences, and training against a plain twin, in double."""

import sys

import numpy as np
import pytest

from engine.jit import specialisations
from engine.neural.kernels import training as kernels
from engine.neural.kernels.forward import answer_rows, units_of
from engine.neural.kernels.losses import GAUSSIAN, LARGEST_LOG_VARIANCE, LOG_LOSS, SQUARED_ERROR, add_losses
from engine.neural.kernels.training import Recipe
from engine.neural.layout import Layout
from engine.neural.member import room_to_train
from tests.engine import naive_neural

LOSSES = {
    "log_loss": (LOG_LOSS, 3),
    "two classes": (LOG_LOSS, 1),
    "squared_error": (SQUARED_ERROR, 1),
    "gaussian": (GAUSSIAN, 2),
}
HIDDEN = {"linear": (), "one layer": (5,), "three layers": (6, 4, 5)}
N_INPUTS, N_ROWS = 4, 7


def recipe(loss, *, is_tanh, **settings):
    plain = {
        "batch_size": N_ROWS, "block_rows": N_ROWS, "learning_rate": 0.01, "weight_decay": 0.0,
        "dropout": 0.0, "n_steps_planned": 0, "variance_floor": 1e-4,
    }  # fmt: skip
    return Recipe(loss=LOSSES[loss][0], is_tanh=is_tanh, **(plain | settings))


def problem(loss, hidden, n_rows=N_ROWS, seed=0):
    """Return a layout, parameters and rows: inputs, targets and weights of several sizes."""
    rng = np.random.default_rng(seed)
    layout = Layout.of([N_INPUTS, *hidden, LOSSES[loss][1]])
    parameters = rng.normal(0, 0.7, layout.n_parameters)
    inputs, row_weights = rng.normal(size=(n_rows, N_INPUTS)), rng.uniform(0.2, 2.0, n_rows)
    targets = rng.normal(size=n_rows)
    if LOSSES[loss][0] == LOG_LOSS:
        targets = rng.integers(3 if loss == "log_loss" else 2, size=n_rows).astype(float)
    return layout, parameters, inputs, targets, row_weights


def block_gradient(layout, parameters, rows, how, masks=None, is_held=False):
    """Return the kernel's loss and gradient of one block that is a whole batch."""
    inputs, targets, row_weights = rows
    memory = room_to_train(layout, len(inputs), np.float64)
    memory.parameters[:] = parameters
    order = np.arange(len(inputs), dtype=np.int32)
    kernels.take_block(inputs, targets, row_weights, order, 0, len(inputs), layout.sizes, memory)
    for number, mask in enumerate(masks or [], start=1):
        units_of(memory.masks, layout.sizes, number, len(inputs))[:] = mask
    total = kernels.gradients_of_block(
        len(inputs), len(inputs), layout.sizes, layout.starts, how, is_held, masks is not None, memory,
        memory.gradients,
    )  # fmt: skip
    return total / len(inputs), memory.gradients


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
@pytest.mark.parametrize("is_tanh", [True, False], ids=["tanh", "relu"])
@pytest.mark.parametrize("has_dropout", [False, True], ids=["whole", "dropout"])
def test_gradients_are_those_of_finite_differences(loss, hidden, is_tanh, has_dropout):
    layout, parameters, *rows = problem(loss, hidden)
    rng, masks = np.random.default_rng(1), None
    if has_dropout:
        masks = [np.where(rng.random((N_ROWS, size)) < 0.4, 0.0, 1 / 0.6) for size in hidden]

    def mean_loss(at):
        return naive_neural.mean_loss(layout.split(at), *rows, loss, is_tanh, masks=masks)

    told, gradient = block_gradient(layout, parameters, rows, recipe(loss, is_tanh=is_tanh), masks)
    assert told == pytest.approx(mean_loss(parameters), rel=1e-12)
    np.testing.assert_allclose(
        gradient, naive_neural.numeric_gradient(mean_loss, parameters), rtol=1e-5, atol=1e-8
    )


def test_a_held_variance_has_no_gradient_and_the_mean_has_its_own():
    layout, parameters, *rows = problem("gaussian", (5,))
    how = recipe("gaussian", is_tanh=True)
    _, free = block_gradient(layout, parameters, rows, how)
    _, held = block_gradient(layout, parameters, rows, how, is_held=True)
    (free_weights, free_biases), (weights, biases) = layout.split(free)[-1], layout.split(held)[-1]
    assert not weights[:, 1].any()
    assert biases[1] == 0
    np.testing.assert_allclose(weights[:, 0], free_weights[:, 0])
    assert biases[0] == pytest.approx(free_biases[0])


@pytest.mark.parametrize("raw", [-1e30, -50.0, 50.0, 1e30])
def test_a_log_variance_out_of_bounds_stays_finite_and_does_not_pull(raw):
    layout, parameters, *rows = problem("gaussian", ())
    weights, biases = layout.split(parameters)[-1]
    weights[:, 1], biases[1] = 0.0, raw
    loss, gradient = block_gradient(layout, parameters, rows, recipe("gaussian", is_tanh=False))
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()
    assert layout.split(gradient)[-1][1][1] == 0
    largest = 1e-4 + np.exp(np.sign(raw) * LARGEST_LOG_VARIANCE)
    errors = (rows[0] @ weights[:, 0] + biases[0] - rows[1]) ** 2
    expected = np.mean(rows[2] * 0.5 * (np.log(largest) + errors / largest))
    assert loss == pytest.approx(expected)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("batch_size", "block_rows"), [(1, 1), (8, 8), (20, 7), (97, 16), (97, 97)])
def test_an_epoch_is_that_of_the_plain_twin(loss, batch_size, block_rows):
    """Also where batches are summed over blocks, and where the last batch is short."""
    layout, parameters, inputs, targets, row_weights = problem(loss, (6, 5), n_rows=97)
    order = np.random.default_rng(2).permutation(97).astype(np.int32)
    how = recipe(loss, is_tanh=True, batch_size=batch_size, block_rows=block_rows, weight_decay=0.3)
    memory = room_to_train(layout, block_rows, np.float64)
    memory.parameters[:] = parameters
    n_steps, loss_sum = np.zeros(1, np.int64), np.zeros(1)
    at = 0
    while at < 97:  # in pieces of few rows
        at = kernels.train_rows(
            inputs, targets, row_weights, order, at, 10, layout.sizes, layout.starts, how, False, memory,
            np.zeros(1, np.uint64), n_steps, loss_sum,
        )  # fmt: skip
    layers = [(weights.copy(), biases.copy()) for weights, biases in layout.split(parameters)]
    total = naive_neural.train(
        layers, inputs, targets, row_weights, order, batch_size, 0.01, loss, True, weight_decay=0.3
    )
    assert n_steps[0] == -(-97 // batch_size)
    assert loss_sum[0] == pytest.approx(total, rel=1e-9)
    trained = np.concatenate([part.ravel() for layer in layers for part in layer])
    np.testing.assert_allclose(memory.parameters, trained, rtol=1e-6, atol=1e-9)


def test_single_precision_follows_double():
    layout, parameters, *rows = problem("gaussian", (6, 5), n_rows=50)
    found = []
    for dtype in (np.float32, np.float64):
        memory = room_to_train(layout, 10, dtype)
        memory.parameters[:] = parameters
        how = recipe("gaussian", is_tanh=False, batch_size=10, block_rows=10)
        kernels.train_rows(
            *(part.astype(dtype) for part in rows), np.arange(50, dtype=np.int32), 0, 50, layout.sizes,
            layout.starts, how, False, memory, np.zeros(1, np.uint64), np.zeros(1, np.int64), np.zeros(1),
        )  # fmt: skip
        assert memory.parameters.dtype == dtype
        found.append(memory.parameters)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3, atol=1e-4)
    assert specialisations(kernels.adam) <= 2


def test_the_rate_falls_along_a_cosine():
    how = recipe("log_loss", is_tanh=False, n_steps_planned=10)
    rates = [kernels.rate_at(step, how) for step in range(11)]
    np.testing.assert_allclose(rates, 0.005 * (1 + np.cos(np.pi * np.arange(11) / 10)), atol=1e-15)
    constant = recipe("log_loss", is_tanh=False)
    assert {kernels.rate_at(step, constant) for step in range(11)} == {0.01}


@pytest.mark.parametrize("n_rows", [0, 1, 2, 1000])
def test_a_shuffle_is_a_permutation_drawn_evenly(n_rows):
    order, state = np.arange(n_rows, dtype=np.int32), np.array([7], np.uint64)
    kernels.shuffle(order, state)
    np.testing.assert_array_equal(np.sort(order), np.arange(n_rows))
    if n_rows > 2:
        assert np.abs(np.corrcoef(order, np.arange(n_rows))[0, 1]) < 0.1


def test_dropout_leaves_the_share_and_keeps_the_mean():
    layout, masks = Layout.of([3, 400, 2]), np.zeros(50 * 405)
    kernels.draw_masks(0.3, layout.sizes, 50, np.array([3], np.uint64), masks)
    hidden = units_of(masks, layout.sizes, 1, 50)
    np.testing.assert_allclose(np.unique(hidden), [0.0, 1 / 0.7])
    assert np.mean(hidden == 0) == pytest.approx(0.3, abs=0.02)


def test_training_with_dropout_lets_go_of_its_memory():
    layout, _, *rows = problem("squared_error", (6,))
    memory = room_to_train(layout, N_ROWS, np.float64)
    n_users = [sys.getrefcount(room) for room in memory]
    kernels.train_rows(
        *rows, np.arange(N_ROWS, dtype=np.int32), 0, N_ROWS, layout.sizes, layout.starts,
        recipe("squared_error", is_tanh=False, dropout=0.5), False, memory, np.ones(1, np.uint64),
        np.zeros(1, np.int64), np.zeros(1),
    )  # fmt: skip
    assert [sys.getrefcount(room) for room in memory] == n_users


@pytest.mark.parametrize("n_rows", [1, 2, 3, 97])
def test_losses_of_any_rows_are_summed_without_dropout(n_rows):
    layout, parameters, *rows = problem("log_loss", (6,), n_rows=n_rows)
    memory = room_to_train(layout, 16, np.float64)
    memory.parameters[:] = parameters
    how = recipe("log_loss", is_tanh=False, block_rows=16, dropout=0.5)
    total = kernels.sum_losses(*rows, 0, n_rows, layout.sizes, layout.starts, how, memory)
    expected = n_rows * naive_neural.mean_loss(layout.split(parameters), *rows, "log_loss", False)
    assert total == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("hidden", HIDDEN.values(), ids=HIDDEN)
def test_answers_are_those_of_the_plain_twin(hidden):
    layout, parameters, inputs, *_ = problem("log_loss", hidden, n_rows=24)
    units, outputs = np.zeros(8 * layout.n_units), np.zeros((24, 3))
    answer_rows(inputs, parameters, layout.sizes, layout.starts, True, 8, units, outputs)
    np.testing.assert_allclose(
        outputs, naive_neural.forward(layout.split(parameters), inputs, True)[-1], rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("odds", [-1e4, -40.0, 0.0, 40.0, 1e4])
@pytest.mark.parametrize("wanted", [0.0, 1.0])
def test_two_classes_have_the_loss_of_a_softmax_however_sure(odds, wanted):
    outputs, deltas = np.array([[odds]]), np.zeros((1, 1))
    row_weights = np.ones(1)
    loss = add_losses(outputs, np.array([wanted]), row_weights, 1.0, LOG_LOSS, 1.0, False, deltas)
    pair, of_pair = np.array([[0.0, odds]]), np.zeros((1, 2))
    assert loss == pytest.approx(
        add_losses(pair, np.array([wanted]), row_weights, 1.0, LOG_LOSS, 1.0, False, of_pair)
    )
    assert deltas[0, 0] == pytest.approx(of_pair[0, 1])
