"""Slow twins of `engine.reliability`: one row at a time."""

import math


def reliability(probabilities, happened, weights, n_bins):
    """Return rows, weight, mean probability and share of events of every bin, and the calibration error."""
    rows, sums = [0] * n_bins, [[0.0, 0.0, 0.0, 0.0] for _ in range(n_bins)]
    for p, event, w in zip(probabilities, happened, weights, strict=True):
        if w == 0:
            continue
        k = 0
        while k < n_bins - 1 and p > (k + 1) / n_bins:
            k += 1
        rows[k] += 1
        for place, value in enumerate((w, w * p, w * event, w * w)):
            sums[k][place] += value
    total = sum(w for w, *_ in sums)
    predicted = [p / w if w else math.nan for w, p, _, _ in sums]
    observed = [e / w if w else math.nan for w, _, e, _ in sums]
    effective = [w * w / squares if w else 0.0 for w, _, _, squares in sums]
    error = sum(w / total * abs(o - p) for (w, *_), o, p in zip(sums, observed, predicted, strict=True) if w)
    return rows, [w / total for w, *_ in sums], predicted, observed, effective, error


def coverage(model, X, y, weights, nominal):
    """Return the share of weight inside and the mean width of the intervals, level by level."""
    covered, widths = [], []
    for level in nominal:
        inside = width = total = 0.0
        for row, target, w in zip(X, y, weights, strict=True):
            if w == 0:
                continue
            low, high = model.predict_interval(row.reshape(1, -1), level)[0]
            inside += w * (low <= target <= high)
            width += w * (high - low)
            total += w
        covered.append(inside / total)
        widths.append(width / total)
    return covered, widths
