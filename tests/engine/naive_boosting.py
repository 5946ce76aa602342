"""Slow twins of the boosting kernels, written from the definitions."""

import itertools
import math

import numpy as np


def histogram(codes, rows, fixed, offsets):
    """Sums and counts per cell: int64 (n_cells, n_channels + 1)."""
    cells = np.zeros((int(offsets[-1]), fixed.shape[1] + 1), np.int64)
    for row in rows:
        for feature_idx, code in enumerate(codes[row]):
            cells[int(offsets[feature_idx]) + int(code)] += [*fixed[row], 1]
    return cells


def bins(values, cuts):
    """How many cuts are below each value; None where the value is missing."""
    return [None if math.isnan(x) else sum(cut < x for cut in cuts) for x in values]


def gain(left, gradients, curvatures, reg_lambda):
    """Gain of sending the rows marked in `left` one way; None if a side is empty."""

    def part(rows):
        h = curvatures[rows].sum() + reg_lambda
        return gradients[rows].sum() ** 2 / h if h > 0 else 0.0

    if left.all() or not left.any():
        return None
    return part(left) + part(~left) - part(np.ones(len(left), bool))


def best_gain(columns, is_categorical, gradients, curvatures, reg_lambda, min_samples_leaf):
    """Largest gain over every threshold, missing either way, and every set of levels."""
    best = 0.0
    for values, categorical in zip(columns, is_categorical, strict=True):
        for left in _partitions(values, categorical):
            if min(left.sum(), (~left).sum()) < min_samples_leaf:
                continue
            best = max(best, gain(left, gradients, curvatures, reg_lambda))
    return best


def _partitions(values, categorical):
    missing = np.isnan(values)
    distinct = np.unique(values[~missing])
    if categorical:
        groups = [values == level for level in distinct] + ([missing] if missing.any() else [])
        for size in range(1, len(groups)):
            for chosen in itertools.combinations(groups, size):
                yield np.any(chosen, axis=0)
        return
    for x in distinct[:-1]:
        yield values <= x
        yield (values <= x) | missing
    if missing.any() and not missing.all():
        yield missing


def newton_leaves(X, gradients, hessians, depth, *, reg_lambda, reg_alpha, gamma, min_child_weight):
    """Rows of every leaf and its value; every split of numbers is tried, missing either way."""

    def shrunken(rows):
        total = gradients[rows].sum()
        return math.copysign(max(abs(total) - reg_alpha, 0.0), total)

    def score(rows):
        return shrunken(rows) ** 2 / (hessians[rows].sum() + reg_lambda)

    def leaves_of(rows, depth):
        best, sides = gamma, None
        for values in X.T if depth else ():
            for left in _partitions(values[rows], categorical=False):
                pair = rows[left], rows[~left]
                if min(len(side) for side in pair) == 0:
                    continue
                if min(hessians[side].sum() for side in pair) < min_child_weight:
                    continue
                gain = score(pair[0]) + score(pair[1]) - score(rows)
                if gain > best + 1e-9:
                    best, sides = gain, pair
        if sides is None:
            return {tuple(rows.tolist()): -shrunken(rows) / (hessians[rows].sum() + reg_lambda)}
        return leaves_of(sides[0], depth - 1) | leaves_of(sides[1], depth - 1)

    return leaves_of(np.arange(len(X)), depth)


def oblivious_leaves(X, gradients, hessians, depth, *, reg_lambda, gamma, min_samples_leaf):
    """Rows of every leaf where a level asks one question, by trying every question for all its nodes."""

    def gain_of(rows, left):
        sides = rows[left[rows]], rows[~left[rows]]
        if min(map(len, sides)) < min_samples_leaf:
            return None
        parts = (gradients[side].sum() ** 2 / (hessians[side].sum() + reg_lambda) for side in (*sides, rows))
        return next(parts) + next(parts) - next(parts)

    done, level = [], [np.arange(len(X))]
    for _ in range(depth):
        best, chosen = gamma, None
        for values in X.T:
            for left in _partitions(values, categorical=False):
                gains = [gain_of(rows, left) for rows in level]
                total = sum(gain for gain in gains if gain is not None)
                if total > best + 1e-9:
                    best, chosen = total, left
        if chosen is None:
            break
        following = []
        for rows in level:
            if gain_of(rows, chosen) is None:
                done.append(rows)
            else:
                following += [rows[chosen[rows]], rows[~chosen[rows]]]
        level = following
    return [tuple(rows.tolist()) for rows in done + level]


def row_loss(name, y, f, alpha=0.9, delta=1.0):
    """One row's loss by its definition; classes are 0 and 1."""
    residual, sign = y - f, 2 * y - 1
    return {
        "squared_error": lambda: residual**2 / 2,
        "absolute_error": lambda: abs(residual),
        "quantile": lambda: alpha * max(residual, 0) + (1 - alpha) * max(-residual, 0),
        "huber": lambda: residual**2 / 2 if abs(residual) <= delta else delta * abs(residual) - delta**2 / 2,
        "poisson": lambda: (y * math.log(y / math.exp(f)) if y > 0 else 0.0) - y + math.exp(f),
        "log_loss": lambda: math.log1p(math.exp(-sign * f)),
        "exponential": lambda: math.exp(-sign * f),
    }[name]()


def derivatives(name, y, f, **more):
    """First and second central difference of `row_loss`."""
    near, far = 1e-6, 1e-4
    up, down = row_loss(name, y, f + near, **more), row_loss(name, y, f - near, **more)
    above, below = row_loss(name, y, f + far, **more), row_loss(name, y, f - far, **more)
    here = row_loss(name, y, f, **more)
    return (up - down) / (2 * near), (above - 2 * here + below) / far**2


def best_step(name, y, raw, weights, change=None, low=-20.0, high=20.0, **more):
    """Minimise the loss of some rows along `change` (ones: a leaf) by ternary search."""
    change = np.ones(len(y)) if change is None else change

    def total(step):
        steps = zip(y, raw, weights, change, strict=True)
        return math.fsum(w * row_loss(name, a, f + step * c, **more) for a, f, w, c in steps)

    for _ in range(200):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, second) if total(first) <= total(second) else (first, high)
    return (low + high) / 2, total((low + high) / 2)


def log_loss(raw, label):
    """- log softmax, with exact sums where Python's integers and fsum allow it."""
    largest = max(raw)
    return math.log(math.fsum(math.exp(r - largest) for r in raw)) + largest - raw[label]


def ordered_statistics(levels, y, weights, order):
    """What each row is told of its level's rows before it, and what is told of every level at the end."""
    prior = sum(w * t for w, t in zip(weights, y, strict=True)) / sum(weights)
    a = sum(weights) / len(weights)
    told = {}

    def statistic(level, rows):
        before = [row for row in rows if levels[row] == level]
        total = sum(weights[row] * y[row] for row in before)
        return (total + a * prior) / (sum(weights[row] for row in before) + a)

    for place, row in enumerate(order):
        told[row] = statistic(levels[row], order[:place])
    return [told[row] for row in range(len(y))], {level: statistic(level, order) for level in set(levels)}


def ordered_stumps(levels, y, order, n_rounds, rate):
    """Boost squared error by one question about a category's statistic.

    Returns every round's levels on the low side with both steps, and the training loss after it.
    """
    told, of_level = ordered_statistics(levels, y, np.ones(len(y)), order)
    told, values = np.array(told), sorted(set(of_level.values()))
    raw, rounds, losses = np.full(len(y), np.mean(y)), [], []
    for _ in range(n_rounds):
        gradients, best = raw - y, 0.0
        for cut in [(a + b) / 2 for a, b in itertools.pairwise(values)]:
            low = told <= cut
            found = gain(low, gradients, np.ones(len(y)), 0.0)
            if found is not None and found > best:
                best, chosen = found, (cut, low)
        cut, low = chosen
        steps = {side: -rate * gradients[low == side].mean() for side in (True, False)}
        raw = raw + np.where(low, steps[True], steps[False])
        rounds.append(
            ({level for level, value in of_level.items() if value <= cut}, steps[True], steps[False])
        )
        losses.append(np.mean((y - raw) ** 2) / 2)
    return rounds, losses
