"""Kernels of the perceptron: rows one after the other, each changes the weights where it is named wrongly.

A table of weights holds a column for every machine, below the weights of the inputs the one of a constant 1::

               machine 0   machine 1   ...
    input 0   |           |           |
    input 1   |           |           |
    ...
    constant  |           |           |
"""

from engine.jit import kernel


@kernel
def values_of_row(inputs, row, weights, values):
    """Compute every machine's value of a row.

    inputs   float64 (n_rows, n_inputs)          in
    weights  float64 (n_inputs + 1, n_machines)  in
    values   float64 (n_machines,)               out
    """
    n_inputs = inputs.shape[1]
    for machine in range(values.size):
        values[machine] = weights[n_inputs, machine]
    for input_idx in range(n_inputs):
        x = inputs[row, input_idx]
        if x != 0.0:  # most inputs of categories are
            for machine in range(values.size):
                values[machine] += x * weights[input_idx, machine]


@kernel
def values_of_rows(inputs, weights, values):
    """Compute every machine's value of all rows, each as if it were alone.

    inputs   float64 (n_rows, n_inputs)          in
    weights  float64 (n_inputs + 1, n_machines)  in
    values   float64 (n_rows, n_machines)        out
    """
    for row in range(inputs.shape[0]):
        values_of_row(inputs, row, weights, values[row])


@kernel
def choose_changes(values, own_class, signs, is_direct, changes):
    """Say which machines a row changes, and return how many; a tie is a mistake.

    values     float64 (n_machines,)            in
    own_class  int                              in
    signs      float64 (n_classes, n_machines)  in   1: the value should be above 0, -1: below, 0: anything
    is_direct  bool                             in   a machine a class: the own class's should be the largest
    changes    float64 (n_machines,)            out  1, -1 or 0
    """
    changes[:] = 0.0
    if is_direct:
        best = 1 if own_class == 0 else 0
        for other in range(values.size):
            if other != own_class and values[other] > values[best]:
                best = other
        if values[best] < values[own_class]:
            return 0
        changes[own_class], changes[best] = 1.0, -1.0
        return 2
    n_changed = 0
    for machine in range(values.size):
        sign = signs[own_class, machine]
        if sign != 0.0 and sign * values[machine] <= 0.0:
            changes[machine] = sign
            n_changed += 1
    return n_changed


@kernel
def learn_rows(
    inputs, own_classes, steps, order, first, last, signs, is_direct, weights, lags, seen, values, changes
):
    """Go through rows in an order, and return how many of them changed the weights.

    The mean of the weights after each row, a row counted by its step, is ``weights - lags / seen``: a change
    is missing in the mean for as much as was seen before it.

    inputs       float64 (n_rows, n_inputs)          in
    own_classes  int64 (n_rows,)                     in
    steps        float64 (n_rows,)                   in      above 0, at most 1
    order        int32 (n_rows,)                     in      rows from place `first` up to `last` are visited
    signs        float64 (n_classes, n_machines)     in      see `choose_changes`, as `is_direct`
    weights      float64 (n_inputs + 1, n_machines)  in and out
    lags         float64 like weights                in and out
    seen         float64 (1,)                        in and out  sum of the steps of all rows visited
    values       float64 (n_machines,)               work
    changes      float64 (n_machines,)               work
    """
    n_inputs, n_machines = inputs.shape[1], values.size
    n_mistakes = 0
    for place in range(first, last):
        row = order[place]
        values_of_row(inputs, row, weights, values)
        if choose_changes(values, own_classes[row], signs, is_direct, changes) > 0:
            n_mistakes += 1
            for input_idx in range(n_inputs + 1):
                x = 1.0 if input_idx == n_inputs else inputs[row, input_idx]
                if x != 0.0:
                    for machine in range(n_machines):
                        change = steps[row] * changes[machine] * x
                        weights[input_idx, machine] += change
                        lags[input_idx, machine] += seen[0] * change
        seen[0] += steps[row]
    return n_mistakes
