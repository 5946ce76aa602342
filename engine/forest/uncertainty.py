"""What a forest does not know: how far its trees disagree, and the noise that is left in their leaves.

Trees answer with sums, on rows and on surfaces alike. So their moments are sums too, of trees with the
same questions and other values at the leaves: for numbers v, v^2 and the leaf's variance, for classes p,
p^2 and the leaf's entropy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from engine.predict import voting_trees
from engine.tree.structure import Tree
from engine.uncertainty import Uncertainty, of_classes, of_numbers

Floats = NDArray[np.float64]
BATCH_NODES = 200_000  # whose values are worked out at a time


def tells_noise(forest: Any) -> bool:
    """Tell whether the leaves of a forest's trees know a variance: not where they were grown for medians."""
    return hasattr(forest, "classes_") or _criterion_of(forest) in ("squared_error", "poisson")


def _criterion_of(forest: Any) -> str:
    return str(getattr(forest._tree_settings(), "criterion", "squared_error"))


class TreeMoments:
    """Trees whose sums tell a forest's uncertainty.

    Parameters
    ----------
    forest : fitted forest, or bag of trees
        Its leaves' noise is known where it was grown by squared error or by Poisson deviance, whose variance
        is the mean; by absolute error it is NaN, and so is the standard deviation.

    """

    def __init__(self, forest: Any) -> None:
        own = voting_trees(forest)
        self._is_classes, self._own = hasattr(forest, "classes_"), own
        # squares of values near 0 lose the fewest digits
        self._centre = 0.0 if self._is_classes else float(np.mean([tree.value[0, 0] for tree in own]))
        self._criterion = _criterion_of(forest)

    def sums(self, sum_of: Callable[[Sequence[Tree]], Floats]) -> Floats:
        """Add up what `sum_of` says of all trees, some at a time: all their values might fill the memory."""
        total: Floats | None = None
        for trees in self._batches():
            added = sum_of(trees)
            total = added if total is None else total + added
        assert total is not None
        return total

    def _batches(self) -> Iterator[list[Tree]]:
        batch: list[Tree] = []
        n_nodes = 0
        for tree in self._own:
            if batch and n_nodes + tree.n_nodes > BATCH_NODES:
                yield batch
                batch, n_nodes = [], 0
            batch.append(replace(tree, value=self._values(tree)))
            n_nodes += tree.n_nodes
        yield batch

    def _values(self, tree: Tree) -> Floats:
        if self._is_classes:
            return np.hstack([tree.value, tree.value**2, entr(tree.value).sum(axis=1, keepdims=True)])
        value, noise = tree.value[:, 0], np.full(tree.n_nodes, np.nan)
        if self._criterion == "squared_error":
            noise = tree.impurity
        elif self._criterion == "poisson":
            noise = value
        return np.column_stack([value - self._centre, (value - self._centre) ** 2, noise])

    def of_sums(self, sums: Floats) -> Uncertainty:
        """Turn sums over all trees, float64 (n_rows, n_outputs), into what the forest does not know."""
        means = sums / len(self._own)
        if self._is_classes:
            n_classes = (means.shape[1] - 1) // 2
            mean, squares, aleatoric = means[:, :n_classes], means[:, n_classes:-1], means[:, -1]
            epistemic = np.maximum(entr(np.maximum(mean, 0.0)).sum(axis=1) - aleatoric, 0.0)
            return Uncertainty(mean, np.sqrt(np.maximum(squares - mean**2, 0.0)), aleatoric, epistemic)
        mean, squares, aleatoric = means.T
        epistemic = np.maximum(squares - mean**2, 0.0)
        return Uncertainty(self._centre + mean, np.sqrt(aleatoric + epistemic), aleatoric, epistemic)


def of_members(answers: Sequence[Floats], is_classes: bool) -> Uncertainty:
    """Return the uncertainty of members of any kind, of which nothing but the answers is known.

    Parameters
    ----------
    answers : sequence of float64 (n_rows, n_classes or 1)
        Of numbers nobody tells the noise: it is NaN, and so is the standard deviation.
    """
    stacked = np.stack(answers)
    if is_classes:
        return of_classes(stacked)
    return of_numbers(stacked[:, :, 0], np.full(stacked.shape[:2], np.nan))
