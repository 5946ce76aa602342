"""Slow twins of AdaBoost: one row at a time, weights as products, medians by sorting."""

import numpy as np

from engine import DecisionTreeClassifier, DecisionTreeRegressor


def samme(X, y, w, n_classes, n_rounds, rate=1.0, **tree):
    """Zhu et al. 2009, algorithm 2: returns trees, errors, learner weights, and row weights after each."""
    w = w / w.sum()
    trees, errors, weights, rows = [], [], [], [w]
    for _ in range(n_rounds):
        h = DecisionTreeClassifier(max_depth=1, **tree).fit(X, y, w * len(w))
        wrong = h.predict(X) != y
        error = sum(weight for weight, is_wrong in zip(w, wrong, strict=True) if is_wrong)
        alpha = rate * (np.log((1 - error) / error) + np.log(n_classes - 1))
        w = np.array(
            [weight * np.exp(alpha) if bad else weight for weight, bad in zip(w, wrong, strict=True)]
        )
        w /= w.sum()
        trees.append(h)
        errors.append(error)
        weights.append(alpha)
        rows.append(w)
    return trees, np.array(errors), np.array(weights), rows


def r2(X, y, n_rounds, loss, drawn_of=None, rate=1.0, max_depth=3):
    """Drucker 1997, section 2, with beta: returns trees, mean losses, learner weights and row weights.

    drawn_of: takes the rows' weights and the round, gives how often each row was drawn; None weights them.
    """
    w = np.full(len(y), 1 / len(y))
    trees, mean_losses, weights, rows = [], [], [], [w]
    for number in range(1, n_rounds + 1):
        given = w * len(w) if drawn_of is None else drawn_of(w, number)
        h = DecisionTreeRegressor(max_depth=max_depth).fit(X, y, given)
        distance = np.abs(h.predict(X) - y)
        share = distance / distance.max()
        losses = {"linear": share, "square": share**2, "exponential": 1 - np.exp(-share)}[loss]
        mean_loss = (w * losses).sum()
        beta = mean_loss / (1 - mean_loss)
        w = w * beta ** (rate * (1 - losses))
        w /= w.sum()
        trees.append(h)
        mean_losses.append(mean_loss)
        weights.append(rate * np.log(1 / beta))
        rows.append(w)
    return trees, np.array(mean_losses), np.array(weights), rows


def weighted_median(values, weights):
    """The smallest value up to which half of the weight lies."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    return values[order][np.argmax(reached >= weights.sum() / 2 - 1e-12 * weights.sum())]
