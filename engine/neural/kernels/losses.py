"""Losses of a block of rows and their gradients with respect to the outputs."""

import numpy as np

from engine.jit import kernel

LOG_LOSS, SQUARED_ERROR, GAUSSIAN = 0, 1, 2
LARGEST_LOG_VARIANCE = 20.0  # of a standardised target, and its negative: beyond, the variance stays


@kernel
def variance_of(raw, floor):
    """Return the variance that an output of the second head stands for: its exponential, above a floor."""
    bounded = min(max(raw, -LARGEST_LOG_VARIANCE), LARGEST_LOG_VARIANCE)
    return floor + np.exp(bounded)


@kernel
def log_loss_of(outputs, row, wanted, factor, deltas):
    """Return - log p of the class that a row has; its gradient is p - [class], times `factor`."""
    n_classes = outputs.shape[1]
    largest = outputs[row, 0]
    for class_idx in range(1, n_classes):
        largest = max(largest, outputs[row, class_idx])
    total = 0.0
    for class_idx in range(n_classes):
        deltas[row, class_idx] = np.exp(outputs[row, class_idx] - largest)
        total += deltas[row, class_idx]
    for class_idx in range(n_classes):
        deltas[row, class_idx] *= factor / total
    deltas[row, wanted] -= factor
    return np.log(total) + largest - outputs[row, wanted]


@kernel
def two_class_loss_of(outputs, row, wanted, factor, deltas):
    """Return - log p of the class that a row has; the one output is the log odds of class 1."""
    odds = np.float64(outputs[row, 0])
    small = np.exp(-abs(odds))
    probability = 1.0 / (1.0 + small) if odds >= 0 else small / (1.0 + small)
    deltas[row, 0] = factor * (probability - wanted)
    return np.log1p(small) + max(odds, 0.0) - odds * wanted


@kernel
def gaussian_loss_of(outputs, row, target, factor, floor, is_held, deltas):
    """Return half of log v + (y - m)^2 / v, the Gaussian log-likelihood without its constant.

    Nix and Weigend 1994; v as in `variance_of`. While `is_held` the second head has no gradient.
    """
    raw = np.float64(outputs[row, 1])
    variance = variance_of(raw, floor)
    error = np.float64(outputs[row, 0]) - target
    deltas[row, 0] = factor * error / variance
    deltas[row, 1] = 0.0
    if not is_held and abs(raw) < LARGEST_LOG_VARIANCE:
        deltas[row, 1] = factor * 0.5 * (variance - floor) / variance * (1.0 - error * error / variance)
    return 0.5 * (np.log(variance) + error * error / variance)


@kernel
def add_losses(outputs, targets, row_weights, scale, loss, floor, is_held, deltas):
    """Return the weighted sum of the rows' losses; fill in its gradient times `scale`.

    outputs      float (n_rows, n_outputs)  in
    targets      float (n_rows,)            in   standardised target, or class number
    row_weights  float (n_rows,)            in
    deltas       float (n_rows, n_outputs)  out
    """
    total = 0.0
    for row in range(outputs.shape[0]):
        weight = np.float64(row_weights[row])
        factor = weight * scale
        if loss == LOG_LOSS and outputs.shape[1] == 1:
            total += weight * two_class_loss_of(outputs, row, np.float64(targets[row]), factor, deltas)
        elif loss == LOG_LOSS:
            total += weight * log_loss_of(outputs, row, np.int64(targets[row]), factor, deltas)
        elif loss == GAUSSIAN:
            target = np.float64(targets[row])
            total += weight * gaussian_loss_of(outputs, row, target, factor, floor, is_held, deltas)
        else:
            error = np.float64(outputs[row, 0]) - np.float64(targets[row])
            deltas[row, 0] = factor * error
            total += weight * 0.5 * error * error
    return total
