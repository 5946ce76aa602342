"""Loss kernels: the loss of some rows, with its first two derivatives by the raw prediction.

All gradients and hessians carry the row's weight. Each kernel returns the weighted sum of losses.
Exponentials are only taken of numbers <= 0, so nothing overflows at any margin (case C19).
"""

import numpy as np

from engine.boosting.kernels.calls import take
from engine.boosting.kernels.histogram import largest_magnitude, quantise
from engine.jit import kernel

FAR = 2.0**-7  # 1 + e has 14 digits of a larger e
FULL = 1e150


@kernel
def leave_for_growing(derivatives, chunk_idx, start, stop):
    """Measure the derivatives of a chunk of rows, and put them into fixed point, while they are at hand."""
    gradients, hessians, fixed = derivatives.gradients, derivatives.hessians, derivatives.fixed
    for k in range(gradients.shape[0]):
        derivatives.largest[k, 0, chunk_idx] = largest_magnitude(gradients[k], start, stop)
        derivatives.largest[k, 1, chunk_idx] = largest_magnitude(hessians[k], start, stop)
    if fixed.shape[0] > 0:
        scales = derivatives.scales
        quantise(gradients[0], hessians[0], scales[0], scales[1], start, stop, fixed)


@kernel
def weight_of(sample_weight, row):
    """Return a row's weight: 1 where none are told."""
    return sample_weight[row] if sample_weight.size > 0 else 1.0


@kernel
def squared_error(raw_predictions, y, sample_weight, start, stop, gradients, hessians):
    """(y - f)^2 / 2.

    raw_predictions  float64 (n_samples, 1)             in
    sample_weight    float64 (n_samples,) or (0,)       in   none where each weighs 1, as below
    gradients        float64 (1, n_samples)             out
    hessians         float64 (1, n_samples)             out
    """
    total = 0.0
    for row in range(np.uint64(start), np.uint64(stop)):
        residual, weight = y[row] - raw_predictions[row, 0], weight_of(sample_weight, row)
        gradients[0, row] = -residual * weight
        hessians[0, row] = weight
        total += weight * residual * residual
    return total / 2.0


@kernel
def squared_error_in_chunks(shared, chunk, raw_predictions, y, sample_weight, derivatives, sums):
    """Take chunks of rows until none is left; write each one's sum to `sums`, float64 (n_chunks,)."""
    at = take(shared)
    while at < sums.size:
        first, stop = at * chunk, min(y.size, (at + 1) * chunk)
        gradients, hessians = derivatives.gradients, derivatives.hessians
        sums[at] = squared_error(raw_predictions, y, sample_weight, first, stop, gradients, hessians)
        leave_for_growing(derivatives, at, first, stop)
        at = take(shared)


@kernel
def binary_log_loss(raw_predictions, y, sample_weight, start, stop, gradients, hessians):
    """log(1 + exp(-s f)) with s = 1 for class 1 and -1 for class 0.

    raw_predictions  float64 (n_samples, 1)  in   log odds of class 1
    y                float64 (n_samples,)    in   0 or 1
    gradients        float64 (1, n_samples)  out
    hessians         float64 (1, n_samples)  out
    """
    total, product = 0.0, 1.0  # a logarithm of many factors costs as much as one of one
    for row in range(np.uint64(start), np.uint64(stop)):
        weight, sign = weight_of(sample_weight, row), 1.0 if y[row] > 0.5 else -1.0
        margin = sign * raw_predictions[row, 0]
        e = np.exp(-abs(margin))
        larger = 1.0 / (1.0 + e)  # of the two probabilities
        wrong = e * larger if margin >= 0.0 else larger  # probability of the other class
        total += weight * max(-margin, 0.0)
        if weight == 1.0 and e > FAR:
            product *= 1.0 + e
            if product > FULL:
                total += np.log(product)
                product = 1.0
        else:
            total += weight * np.log1p(e)
        gradients[0, row] = -sign * weight * wrong
        hessians[0, row] = weight * (e * larger * larger)
    return total + np.log(product)


@kernel
def binary_log_loss_in_chunks(shared, chunk, raw_predictions, y, sample_weight, derivatives, sums):
    """Take chunks of rows until none is left; write each one's sum to `sums`, float64 (n_chunks,)."""
    at = take(shared)
    while at < sums.size:
        first, stop = at * chunk, min(y.size, (at + 1) * chunk)
        gradients, hessians = derivatives.gradients, derivatives.hessians
        sums[at] = binary_log_loss(raw_predictions, y, sample_weight, first, stop, gradients, hessians)
        leave_for_growing(derivatives, at, first, stop)
        at = take(shared)


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
        label, weight, others = np.int64(y[row]), weight_of(sample_weight, row), 0.0
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
def multinomial_log_loss_in_chunks(shared, chunk, raw_predictions, y, sample_weight, derivatives, sums):
    """Take chunks of rows until none is left; write each one's sum to `sums`, float64 (n_chunks,)."""
    at = take(shared)
    while at < sums.size:
        first, stop = at * chunk, min(y.size, (at + 1) * chunk)
        gradients, hessians = derivatives.gradients, derivatives.hessians
        sums[at] = multinomial_log_loss(raw_predictions, y, sample_weight, first, stop, gradients, hessians)
        leave_for_growing(derivatives, at, first, stop)
        at = take(shared)


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
