"""Loss kernels: the loss of some rows, with its first two derivatives by the raw prediction.

All gradients and hessians carry the row's weight. Each kernel returns the weighted sum of losses.
Exponentials are only taken of numbers <= 0, so nothing overflows at any margin (case C19).
"""

import numpy as np

from engine.jit import kernel


@kernel
def squared_error(raw_predictions, y, sample_weight, start, stop, gradients, hessians):
    """(y - f)^2 / 2.

    raw_predictions  float64 (n_samples, 1)  in
    gradients        float64 (1, n_samples)  out
    hessians         float64 (1, n_samples)  out
    """
    total = 0.0
    for row in range(start, stop):
        residual = y[row] - raw_predictions[row, 0]
        gradients[0, row] = -residual * sample_weight[row]
        hessians[0, row] = sample_weight[row]
        total += sample_weight[row] * residual * residual
    return total / 2.0


@kernel
def binary_log_loss(raw_predictions, y, sample_weight, start, stop, gradients, hessians):
    """log(1 + exp(-s f)) with s = 1 for class 1 and -1 for class 0.

    raw_predictions  float64 (n_samples, 1)  in   log odds of class 1
    y                float64 (n_samples,)    in   0 or 1
    gradients        float64 (1, n_samples)  out
    hessians         float64 (1, n_samples)  out
    """
    total = 0.0
    for row in range(start, stop):
        margin = raw_predictions[row, 0] if y[row] > 0.5 else -raw_predictions[row, 0]
        e = np.exp(-abs(margin))
        wrong = e / (1.0 + e) if margin >= 0.0 else 1.0 / (1.0 + e)  # probability of the other class
        total += sample_weight[row] * (np.log1p(e) + max(-margin, 0.0))
        gradients[0, row] = sample_weight[row] * (-wrong if y[row] > 0.5 else wrong)
        hessians[0, row] = sample_weight[row] * (e / (1.0 + e) / (1.0 + e))
    return total


@kernel
def multinomial_log_loss(raw_predictions, y, sample_weight, start, stop, gradients, hessians):
    """- log p_y with p the softmax of the raw predictions.

    raw_predictions  float64 (n_samples, n_classes)  in   minus infinity: a class without rows
    y                float64 (n_samples,)            in   class index
    gradients        float64 (n_classes, n_samples)  out
    hessians         float64 (n_classes, n_samples)  out
    """
    n_classes = raw_predictions.shape[1]
    total = 0.0
    for row in range(start, stop):
        largest = raw_predictions[row, 0]
        for k in range(1, n_classes):
            largest = max(largest, raw_predictions[row, k])
        total_e = 0.0
        for k in range(n_classes):
            gradients[k, row] = np.exp(raw_predictions[row, k] - largest)
            total_e += gradients[k, row]
        label, weight, others = np.int64(y[row]), sample_weight[row], 0.0
        for k in range(n_classes):
            p = gradients[k, row] / total_e
            if k != label:
                others += p
            gradients[k, row] = weight * p
            hessians[k, row] = weight * p * (1.0 - p)
        # one minus the label's probability, as a sum of small numbers: it does not cancel
        gradients[label, row] = -weight * others
        hessians[label, row] = weight * others * (1.0 - others)
        total += weight * (np.log(total_e) + (largest - raw_predictions[row, label]))
    return total


@kernel
def binary_loss_change(raw_predictions, y, sample_weight, sample_indices, start, stop, step):
    """Return by how much the binary log loss of some rows changes when `step` is added to them."""
    change = 0.0
    for i in range(start, stop):
        row = sample_indices[i]
        before = raw_predictions[row, 0] if y[row] > 0.5 else -raw_predictions[row, 0]
        after = before + step if y[row] > 0.5 else before - step
        loss = np.log1p(np.exp(-abs(after))) + max(-after, 0.0)
        change += sample_weight[row] * (loss - np.log1p(np.exp(-abs(before))) - max(-before, 0.0))
    return change


@kernel
def softmax(raw_predictions, start, stop, probabilities):
    """Write class probabilities of rows `start` to `stop`; both float64 (n_samples, n_classes)."""
    n_classes = raw_predictions.shape[1]
    for row in range(start, stop):
        largest = raw_predictions[row, 0]
        for k in range(1, n_classes):
            largest = max(largest, raw_predictions[row, k])
        total = 0.0
        for k in range(n_classes):
            probabilities[row, k] = np.exp(raw_predictions[row, k] - largest)
            total += probabilities[row, k]
        for k in range(n_classes):
            probabilities[row, k] /= total
