"""The perceptron written plainly, a list of weights a machine: the oracle of its kernels."""

import itertools

import numpy as np


class Naive:
    """Machines with zeros for weights; rows are given one by one.

    Attributes
    ----------
    weights : list of float64 (n_inputs + 1,)
        Of each machine, of a constant 1 the last.
    history : list of (float, list)
        After each row its step and the weights as they were then.
    n_mistakes : int
    """

    def __init__(self, scheme, n_classes, n_inputs):
        self.scheme, self.n_classes = scheme, n_classes
        self.pairs = list(itertools.combinations(range(n_classes), 2))
        n_machines = len(self.pairs) if scheme == "all_vs_all" else n_classes
        self.weights = [np.zeros(n_inputs + 1) for _ in range(n_machines)]
        self.history, self.n_mistakes = [], 0

    def learn(self, x, own, step):
        x = np.append(x, 1.0)
        changed = self.changes([w @ x for w in self.weights], own)
        self.n_mistakes += bool(changed)
        for machine, sign in changed:
            self.weights[machine] = self.weights[machine] + sign * step * x
        self.history.append((step, list(self.weights)))

    def changes(self, values, own):
        """Return which machines change, and to which side."""
        if self.scheme == "direct":
            others = [k for k in range(self.n_classes) if k != own]
            best = max(others, key=lambda k: values[k])
            return [(own, 1), (best, -1)] if values[best] >= values[own] else []
        wanted = {k: 1 if k == own else -1 for k in range(self.n_classes)}
        if self.scheme == "all_vs_all":
            wanted = {k: 1 if own == b else -1 for k, (a, b) in enumerate(self.pairs) if own in (a, b)}
        return [(k, sign) for k, sign in wanted.items() if sign * values[k] <= 0]

    def mean(self):
        """Return the mean of the weights after each row, by the rows' steps."""
        total = sum(step for step, _ in self.history)
        return sum(step * np.column_stack(weights) for step, weights in self.history) / total
