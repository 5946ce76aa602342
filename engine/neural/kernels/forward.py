"""What a network answers: whole blocks of rows, layer after layer, in the float type of its parameters.

Weights and biases of all layers lie in one array, layer after layer::

    parameters  | W0 (n_inputs, n_1) | b0 (n_1,) | W1 (n_1, n_2) | b1 (n_2,) | ...
                ^ starts[0]                      ^ starts[1]

and so do the values of all units for a block of rows, the inputs first::

    units       | inputs (n_rows, n_inputs) | layer 1 (n_rows, n_1) | ... | outputs (n_rows, n_outputs) |
"""

import numpy as np

from engine.jit import counting_kernel, kernel


@counting_kernel
def weights_of(parameters, sizes, starts, layer):
    """Return the weights of a layer, a view (sizes[layer], sizes[layer + 1])."""
    n_below, n_here = sizes[layer], sizes[layer + 1]
    first = starts[layer]
    return parameters[first : first + n_below * n_here].reshape((n_below, n_here))


@counting_kernel
def biases_of(parameters, sizes, starts, layer):
    """Return the biases of a layer, a view (sizes[layer + 1],)."""
    first = starts[layer] + sizes[layer] * sizes[layer + 1]
    return parameters[first : first + sizes[layer + 1]]


@counting_kernel
def units_of(units, sizes, layer, n_rows):
    """Return a layer's units for a block of rows, a view (n_rows, sizes[layer]); layer 0 is the inputs."""
    first = 0
    for below in range(layer):
        first += n_rows * sizes[below]
    return units[first : first + n_rows * sizes[layer]].reshape((n_rows, sizes[layer]))


@kernel
def add_biases(biases, values):
    """Add each unit's bias to its column.

    biases  float (n_units,)         in
    values  float (n_rows, n_units)  in and out
    """
    for row in range(values.shape[0]):
        for unit in range(values.shape[1]):
            values[row, unit] += biases[unit]


@kernel
def activate(is_tanh, values):
    """Put every value through tanh or the rectifier max(0, z).

    values  float (n_rows, n_units)  in and out
    """
    zero = values.dtype.type(0)
    for row in range(values.shape[0]):
        if is_tanh:
            for unit in range(values.shape[1]):
                values[row, unit] = np.tanh(values[row, unit])
        else:
            for unit in range(values.shape[1]):
                # NaN stays NaN, so that a training that has diverged is seen
                values[row, unit] = zero if values[row, unit] < zero else values[row, unit]


@kernel
def drop_units(masks, values):
    """Multiply the units by what dropout left of them.

    masks   float (n_rows, n_units)  in   0, or 1 / (1 - dropout)
    values  float (n_rows, n_units)  in and out
    """
    for row in range(values.shape[0]):
        for unit in range(values.shape[1]):
            values[row, unit] *= masks[row, unit]


@counting_kernel
def forward(parameters, sizes, starts, is_tanh, n_rows, has_masks, masks, units):
    """Compute all layers of a block from its inputs, which are in `units`; outputs stay linear.

    parameters  float (n_parameters,)        in
    sizes       int64 (n_layers + 1,)        in   units of each layer, inputs and outputs included
    starts      int64 (n_layers,)            in   where a layer's weights begin
    masks       float like units             in   for hidden layers, where `has_masks`
    units       float (n_rows * sum(sizes),) in and out, may be longer
    """
    n_layers = sizes.size - 1
    for layer in range(n_layers):
        here = units_of(units, sizes, layer + 1, n_rows)
        np.dot(units_of(units, sizes, layer, n_rows), weights_of(parameters, sizes, starts, layer), here)
        add_biases(biases_of(parameters, sizes, starts, layer), here)
        if layer < n_layers - 1:
            activate(is_tanh, here)
            if has_masks:
                drop_units(units_of(masks, sizes, layer + 1, n_rows), here)


@counting_kernel
def answer_rows(inputs, parameters, sizes, starts, is_tanh, block_rows, units, outputs):
    """Answer rows in blocks of one size, so that a row's answer has the same bits whatever is beside it.

    inputs      float (n_rows, n_inputs)            in   n_rows is a multiple of block_rows
    parameters  float (n_parameters,)               in
    units       float (block_rows * sum(sizes),)    work
    outputs     float (n_rows, n_outputs)           out
    """
    last = sizes.size - 1
    for first in range(0, inputs.shape[0], block_rows):
        units_of(units, sizes, 0, block_rows)[:] = inputs[first : first + block_rows]
        forward(parameters, sizes, starts, is_tanh, block_rows, False, units, units)
        outputs[first : first + block_rows] = units_of(units, sizes, last, block_rows)
