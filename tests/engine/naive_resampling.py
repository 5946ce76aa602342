"""Decompositions of the error by plain loops over stored predictions: the oracle of `engine.resampling`."""

from __future__ import annotations

from collections import Counter


def squared_error(predictions, y, truth=None):
    """Noise (None without truth), bias squared, variance and error of each query row."""
    rows = []
    for at in range(len(y)):
        said = [float(fit[at]) for fit in predictions]
        mean = sum(said) / len(said)
        variance = sum((f - mean) ** 2 for f in said) / len(said)
        error = sum((y[at] - f) ** 2 for f in said) / len(said)
        if truth is None:
            rows.append((None, (y[at] - mean) ** 2, variance, error))
        else:
            rows.append(((y[at] - truth[at]) ** 2, (mean - truth[at]) ** 2, variance, error))
    return rows


def zero_one(labels, y, probabilities=None):
    """Domingos 2000 from its definitions, for class numbers: one dict a query row.

    c1 and c2 are those of theorem 2; the expected loss is a sum over fits and classes.
    """
    rows = []
    for at in range(len(y)):
        said = [int(fit[at]) for fit in labels]
        counts = Counter(said)
        main = min(counts, key=lambda label: (-counts[label], label))
        if probabilities is None:
            chances = [float(label == y[at]) for label in range(max([*said, y[at]]) + 1)]
        else:
            chances = list(probabilities[at])
        best = max(range(len(chances)), key=lambda label: (chances[label], -label))
        bias = float(main != best)
        variance = sum(f != main for f in said) / len(said)
        says_best = sum(f == best for f in said) / len(said)
        noise = 1 - chances[best]
        if main == best:
            c2 = 1.0
        else:
            others = [f for f in said if f != main]
            c2 = -sum(f == best for f in others) / len(others) if others else 0.0
        wrong_fits = [f for f in said if f != best]
        met = (
            sum(chances[f] / noise for f in wrong_fits) / len(wrong_fits) if wrong_fits and noise > 0 else 0.0
        )
        c1 = says_best - (1 - says_best) * met
        error = sum(1 - chances[f] for f in said) / len(said)
        rows.append(
            {"noise": noise, "bias": bias, "variance": variance, "error": error, "net_noise": c1 * noise,
             "unbiased": c2 * variance if main == best else 0.0,
             "biased": -c2 * variance if main != best else 0.0}
        )  # fmt: skip
    return rows


def spread(answers):
    """Mean and variance of the fits at every query row."""
    rows = []
    for at in range(len(answers[0])):
        said = [float(fit[at]) for fit in answers]
        mean = sum(said) / len(said)
        rows.append((mean, sum((f - mean) ** 2 for f in said) / len(said)))
    return rows
