"""A multilayer perceptron and its training written plainly: the oracle of the network kernels."""

import numpy as np


def activation(is_tanh, z):
    return np.tanh(z) if is_tanh else np.maximum(z, 0)


def forward(layers, inputs, is_tanh, masks=None):
    """Return the units of all layers, the inputs first; `masks` are dropout's factors of hidden layers."""
    units = [inputs]
    for number, (weights, biases) in enumerate(layers):
        z = units[-1] @ weights + biases
        if number < len(layers) - 1:
            z = activation(is_tanh, z)
            if masks is not None:
                z = z * masks[number]
        units.append(z)
    return units


def losses(outputs, targets, loss, floor):
    """Return the loss of every row: "log_loss", "two classes", "squared_error" or "gaussian"."""
    if loss == "two classes":
        return np.logaddexp(0, outputs[:, 0]) - outputs[:, 0] * targets
    if loss == "log_loss":
        shifted = outputs - outputs.max(axis=1, keepdims=True)
        log_p = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return -log_p[np.arange(len(targets)), targets.astype(int)]
    errors = (outputs[:, 0] - targets) ** 2
    if loss == "squared_error":
        return errors / 2
    variances = floor + np.exp(outputs[:, 1])
    return 0.5 * (np.log(variances) + errors / variances)


def mean_loss(layers, inputs, targets, row_weights, loss, is_tanh, floor=1e-4, masks=None):
    outputs = forward(layers, inputs, is_tanh, masks)[-1]
    return np.sum(row_weights * losses(outputs, targets, loss, floor)) / len(targets)


def numeric_gradient(of, parameters, step=1e-6):
    """Return the gradient of ``of(parameters)`` by central differences."""
    gradient = np.empty(len(parameters))
    for i in range(len(parameters)):
        up, down = parameters.copy(), parameters.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (of(up) - of(down)) / (2 * step)
    return gradient


def output_gradient(outputs, targets, row_weights, loss, floor):
    """Return the gradient of the mean loss with respect to the outputs."""
    scale = (row_weights / len(targets))[:, None]
    if loss == "log_loss":
        p = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        return scale * (p - np.eye(outputs.shape[1])[targets.astype(int)])
    if loss == "two classes":
        return scale * (1 / (1 + np.exp(-outputs)) - targets[:, None])
    errors = outputs[:, :1] - targets[:, None]
    if loss == "squared_error":
        return scale * errors
    noise = np.exp(outputs[:, 1:])
    variances = floor + noise
    return scale * np.hstack([errors / variances, 0.5 * noise / variances * (1 - errors**2 / variances)])


def backward(layers, units, delta, is_tanh):
    """Return the gradients of all weights and biases, layer by layer."""
    gradients = []
    for number in range(len(layers) - 1, -1, -1):
        gradients.insert(0, (units[number].T @ delta, delta.sum(axis=0)))
        if number:
            slope = 1 - units[number] ** 2 if is_tanh else (units[number] > 0).astype(float)
            delta = (delta @ layers[number][0].T) * slope
    return gradients


def train(layers, inputs, targets, row_weights, order, batch_size, rate, loss, is_tanh, weight_decay=0.0):
    """Go through the rows of `order` in batches by Adam; `layers` is changed. Returns the sum of losses."""
    moments = [[np.zeros_like(part), np.zeros_like(part)] for layer in layers for part in layer]
    total, n_steps = 0.0, 0
    for first in range(0, len(order), batch_size):
        rows, n_steps = order[first : first + batch_size], n_steps + 1
        units = forward(layers, inputs[rows], is_tanh)
        total += np.sum(row_weights[rows] * losses(units[-1], targets[rows], loss, 1e-4))
        delta = output_gradient(units[-1], targets[rows], row_weights[rows], loss, 1e-4)
        gradients = [part for layer in backward(layers, units, delta, is_tanh) for part in layer]
        parts = [part for layer in layers for part in layer]
        step = rate * np.sqrt(1 - 0.999**n_steps) / (1 - 0.9**n_steps)
        for number, (part, gradient, moment) in enumerate(zip(parts, gradients, moments, strict=True)):
            if number % 2 == 0:  # weights, not biases
                np.multiply(part, 1 - rate * weight_decay, out=part)
            moment[0] = 0.9 * moment[0] + 0.1 * gradient
            moment[1] = 0.999 * moment[1] + 0.001 * gradient**2
            np.subtract(part, step * moment[0] / (np.sqrt(moment[1]) + 1e-8), out=part)
    return total
