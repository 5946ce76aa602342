"""Training a network: gradients by back-propagation, steps of Adam, epochs in pieces of bounded work.

A call trains on whole blocks of rows and returns when its budget is spent, so that its driver can ask
whether to stop. Batches larger than a block are summed up over several blocks.
"""

from typing import NamedTuple

import numpy as np

from engine.jit import counting_kernel, kernel
from engine.kernels.numeric import random_below, random_unit
from engine.neural.kernels.forward import biases_of, forward, units_of, weights_of
from engine.neural.kernels.losses import add_losses

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8  # Kingma and Ba 2015, algorithm 1


class Recipe(NamedTuple):
    """How a member is trained; what kernels are told.

    Attributes
    ----------
    loss : int
        One of `engine.neural.kernels.losses`.
    is_tanh : bool
        Hidden units are tanh; else rectifiers.
    batch_size, block_rows : int
        Rows of a step, and rows that are computed together, at most a batch.
    learning_rate, weight_decay, dropout : float
    n_steps_planned : int
        Steps until a cosine has brought the rate to 0; 0 for a constant rate.
    variance_floor : float
        Of a standardised target.
    """

    loss: int
    is_tanh: bool
    batch_size: int
    block_rows: int
    learning_rate: float
    weight_decay: float
    dropout: float
    n_steps_planned: int
    variance_floor: float


class Memory(NamedTuple):
    """A member's numbers, all of one float type: what it has learned, and room to work in.

    Attributes
    ----------
    parameters, gradients, block_gradients, first_moments, second_moments : float (n_parameters,)
    units, deltas, masks : float (block_rows * sum(sizes),)
        As in `forward`: values, gradients of the loss with respect to them, and dropout's factors.
    targets, row_weights : float (block_rows,)
    """

    parameters: np.ndarray
    gradients: np.ndarray
    block_gradients: np.ndarray
    first_moments: np.ndarray
    second_moments: np.ndarray
    units: np.ndarray
    deltas: np.ndarray
    masks: np.ndarray
    targets: np.ndarray
    row_weights: np.ndarray


@kernel
def shuffle(order, random_state):
    """Put row numbers in random order (Fisher and Yates).

    order         int32 (n_rows,)  in and out
    random_state  uint64 (1,)      in and out
    """
    for last in range(order.size - 1, 0, -1):
        other = random_below(random_state, last + 1)
        order[last], order[other] = order[other], order[last]


@counting_kernel
def draw_masks(dropout, sizes, n_rows, random_state, masks):
    """Draw which hidden units stay in each row of a block (Srivastava et al. 2014); what stays is scaled up.

    masks  float (n_rows * sum(sizes),)  out
    """
    for layer in range(1, sizes.size - 1):
        here = units_of(masks, sizes, layer, n_rows)
        for row in range(n_rows):
            for unit in range(sizes[layer]):
                stays = random_unit(random_state) >= dropout
                here[row, unit] = 1.0 / (1.0 - dropout) if stays else 0.0


@kernel
def through_activation(is_tanh, values, deltas):
    """Turn gradients with respect to units into those with respect to what went into them.

    A unit that dropout zeroed is multiplied by its mask before; here only the slope is applied.

    values  float (n_rows, n_units)  in   of the units, without dropout's factors
    deltas  float (n_rows, n_units)  in and out
    """
    zero, one = values.dtype.type(0), values.dtype.type(1)
    for row in range(values.shape[0]):
        if is_tanh:
            for unit in range(values.shape[1]):
                deltas[row, unit] *= one - values[row, unit] * values[row, unit]
        else:
            for unit in range(values.shape[1]):
                deltas[row, unit] = deltas[row, unit] if values[row, unit] > zero else zero


@kernel
def drop_deltas(is_tanh, masks, values, deltas):
    """As `through_activation` where dropout acted: gradients pass it, and units are as before it.

    masks   float (n_rows, n_units)  in
    values  float (n_rows, n_units)  in and out   units times masks; divided again
    deltas  float (n_rows, n_units)  in and out
    """
    zero = values.dtype.type(0)
    for row in range(values.shape[0]):
        for unit in range(values.shape[1]):
            mask = masks[row, unit]
            deltas[row, unit] *= mask
            values[row, unit] = values[row, unit] / mask if mask > zero else zero
    through_activation(is_tanh, values, deltas)


@kernel
def sum_rows(values, sums):
    """Sum every column.

    values  float (n_rows, n_units)  in
    sums    float (n_units,)         out
    """
    sums[:] = 0
    for row in range(values.shape[0]):
        for unit in range(values.shape[1]):
            sums[unit] += values[row, unit]


@counting_kernel
def backward(parameters, sizes, starts, is_tanh, n_rows, has_masks, masks, units, deltas, gradients):
    """Compute the gradient of all parameters; `deltas` holds that of the outputs.

    units      float (n_rows * sum(sizes),)  in   as `forward` left them; work where there are masks
    deltas     float (n_rows * sum(sizes),)  in and out
    gradients  float (n_parameters,)         out
    """
    for layer in range(sizes.size - 2, -1, -1):
        below, here = units_of(units, sizes, layer, n_rows), units_of(deltas, sizes, layer + 1, n_rows)
        np.dot(below.T, here, weights_of(gradients, sizes, starts, layer))
        sum_rows(here, biases_of(gradients, sizes, starts, layer))
        if layer > 0:
            at_below = units_of(deltas, sizes, layer, n_rows)
            np.dot(here, weights_of(parameters, sizes, starts, layer).T, at_below)
            if has_masks:
                drop_deltas(is_tanh, units_of(masks, sizes, layer, n_rows), below, at_below)
            else:
                through_activation(is_tanh, below, at_below)


@kernel
def adam(rate, weight_decay, n_steps, sizes, starts, gradients, first_moments, second_moments, parameters):
    """Take a step of Adam (Kingma and Ba 2015), with weight decay apart from the gradient.

    Loshchilov and Hutter 2019: weights, not biases, shrink by rate * weight_decay of themselves.

    n_steps         int64                  in   steps with this one
    gradients       float (n_parameters,)  in
    first_moments, second_moments, parameters  float (n_parameters,)  in and out
    """
    real = parameters.dtype.type
    step = real(rate * np.sqrt(1.0 - SECOND_DECAY**n_steps) / (1.0 - FIRST_DECAY**n_steps))
    kept, new, kept_squares, new_squares = (
        real(FIRST_DECAY), real(1.0 - FIRST_DECAY), real(SECOND_DECAY), real(1.0 - SECOND_DECAY)
    )  # fmt: skip
    epsilon = real(EPSILON)
    if weight_decay > 0:
        left = real(1.0 - rate * weight_decay)
        for layer in range(sizes.size - 1):
            last = starts[layer] + sizes[layer] * sizes[layer + 1]
            for i in range(starts[layer], last):
                parameters[i] *= left
    for i in range(parameters.size):
        gradient = gradients[i]
        first_moments[i] = kept * first_moments[i] + new * gradient
        second_moments[i] = kept_squares * second_moments[i] + new_squares * gradient * gradient
        parameters[i] -= step * first_moments[i] / (np.sqrt(second_moments[i]) + epsilon)


@counting_kernel
def take_block(X, y, row_weights, order, first, n_rows, sizes, memory):
    """Copy the rows of a block into the first layer's room, with their targets and weights."""
    inputs = units_of(memory.units, sizes, 0, n_rows)
    for i in range(n_rows):
        row = order[first + i]
        for column in range(inputs.shape[1]):
            inputs[i, column] = X[row, column]
        memory.targets[i] = y[row]
        memory.row_weights[i] = row_weights[row]


@counting_kernel
def gradients_of_block(n_rows, n_batch_rows, sizes, starts, recipe, is_held, has_masks, memory, gradients):
    """Return the sum of losses of the block in `memory`; fill in the gradient of its share of the mean.

    gradients  float (n_parameters,)  out   of the sum of losses over `n_batch_rows`
    """
    last = sizes.size - 1
    forward(memory.parameters, sizes, starts, recipe.is_tanh, n_rows, has_masks, memory.masks, memory.units)
    total = add_losses(
        units_of(memory.units, sizes, last, n_rows), memory.targets[:n_rows], memory.row_weights[:n_rows],
        1.0 / n_batch_rows, recipe.loss, recipe.variance_floor, is_held,
        units_of(memory.deltas, sizes, last, n_rows),
    )  # fmt: skip
    backward(
        memory.parameters, sizes, starts, recipe.is_tanh, n_rows, has_masks, memory.masks, memory.units,
        memory.deltas, gradients,
    )  # fmt: skip
    return total


@kernel
def rate_at(n_steps, recipe):
    """Return the learning rate of a step, counted from 0; along a cosine (Loshchilov and Hutter 2017)."""
    if recipe.n_steps_planned == 0:
        return recipe.learning_rate
    return recipe.learning_rate * 0.5 * (1.0 + np.cos(np.pi * n_steps / recipe.n_steps_planned))


@counting_kernel
def train_rows(
    X, y, row_weights, order, at, budget_rows, sizes, starts, recipe, is_held, memory, random_state, n_steps,
    loss_sum,
):  # fmt: skip
    """Train on the rows of an epoch from place `at` in its order on; return the place of the next row.

    X             float (n_rows, n_inputs)  in
    y             float (n_rows,)           in
    row_weights   float (n_rows,)           in
    order         int32 (n_rows,)           in   the epoch's
    budget_rows   int64                     in   ends after the block in which so many rows are done
    memory        Memory                    in and out
    random_state  uint64 (1,)               in and out   dropout's
    n_steps       int64 (1,)                in and out   steps done since training began
    loss_sum      float64 (1,)              in and out   losses of the rows, times their weights
    """
    n_rows, until = order.size, at + budget_rows
    while at < min(n_rows, until):
        batch_first = at - at % recipe.batch_size
        batch_last = min(batch_first + recipe.batch_size, n_rows)
        n_here = min(recipe.block_rows, batch_last - at)
        take_block(X, y, row_weights, order, at, n_here, sizes, memory)
        has_masks = recipe.dropout > 0
        if has_masks:
            draw_masks(recipe.dropout, sizes, n_here, random_state, memory.masks)
        is_first = at == batch_first
        gradients = memory.gradients if is_first else memory.block_gradients
        loss_sum[0] += gradients_of_block(
            n_here, batch_last - batch_first, sizes, starts, recipe, is_held, has_masks, memory, gradients
        )
        if not is_first:
            memory.gradients[:] += memory.block_gradients
        at += n_here
        if at == batch_last:
            rate = rate_at(n_steps[0], recipe)
            n_steps[0] += 1
            adam(
                rate, recipe.weight_decay, n_steps[0], sizes, starts, memory.gradients, memory.first_moments,
                memory.second_moments, memory.parameters,
            )  # fmt: skip
    return at


@counting_kernel
def sum_losses(X, y, row_weights, first, last, sizes, starts, recipe, memory):
    """Return the weighted sum of the losses of rows `first` to `last`, without dropout.

    X, y, row_weights  as in `train_rows`  in
    memory             Memory              in, and room to work in
    """
    outputs_at, total = sizes.size - 1, 0.0
    for start in range(first, last, recipe.block_rows):
        n_rows = min(recipe.block_rows, last - start)
        units_of(memory.units, sizes, 0, n_rows)[:] = X[start : start + n_rows]
        forward(memory.parameters, sizes, starts, recipe.is_tanh, n_rows, False, memory.masks, memory.units)
        total += add_losses(
            units_of(memory.units, sizes, outputs_at, n_rows), y[start : start + n_rows],
            row_weights[start : start + n_rows], 1.0, recipe.loss, recipe.variance_floor, False,
            units_of(memory.deltas, sizes, outputs_at, n_rows),
        )  # fmt: skip
    return total
