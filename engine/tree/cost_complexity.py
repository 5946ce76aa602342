"""Cost-complexity pruning: the weakest-link path, its losses on rows, and the price of every cut.

Breiman, Friedman, Olshen, Stone 1984, chapter 3: the tree that minimises R(T) + alpha x leaves, R being
the leaves' weighted mean impurity, is one of a nested sequence; the branch whose leaves each save least
is cut first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes, parallel
from engine.predict import ROUTING
from engine.tree.kernels import layout
from engine.tree.kernels import weakest_link as kernels
from engine.tree.prune import cut
from engine.tree.structure import Tree
from engine.units import unit_of

ROWS_PER_CHUNK = 16_384  # each chunk has its own sums, added in their order
LOSSES = {
    "misclassification": layout.MISCLASSIFICATION,
    "squared_error": layout.SQUARED_ERROR,
    "absolute_error": layout.ABSOLUTE_ERROR,
    "poisson": layout.POISSON,
}
"""What an answer costs: a wrong class 1, or the loss whose least mean a regression criterion is."""
MIN_RATE = 1e-15  # of the root's: a rate of 0 for what happened would be an infinite deviance

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The nested trees of weakest-link pruning.

    Attributes
    ----------
    alphas : float64 (n_steps,)
        Strictly ascending from 0: step k is the smallest tree that is best from ``alphas[k]`` up to the
        next. Step 0 has lost the splits that gain nothing; the last is the root alone.
    n_leaves : int64 (n_steps,)
    impurities : float64 (n_steps,)
        The leaves' weighted mean impurity.
    leaf_from : float64 (n_nodes,)
        Alpha from which on a node is a leaf, or gone; 0 at leaves.
    """

    alphas: Floats
    n_leaves: NDArray[np.int64]
    impurities: Floats
    leaf_from: Floats

    def step_of(self, alpha: float) -> int:
        """Return the step whose tree is best for `alpha` >= 0."""
        return int(np.searchsorted(self.alphas, alpha, side="right")) - 1


@dataclass(frozen=True, eq=False)
class PathLosses:
    """What every tree of a path costs on some rows.

    Attributes
    ----------
    mean : float64 (n_steps,)
        Weighted share of wrong classes, mean squared or absolute error, or mean Poisson deviance.
    standard_error : float64 (n_steps,)
        Of `mean`, from the rows' own losses (Breiman et al. 1984, section 3.4.3).
    """

    mean: Floats
    standard_error: Floats

    def best_step(self) -> int:
        """Return the step with the least mean; the smaller tree where several have it."""
        return int(len(self.mean) - 1 - np.argmin(self.mean[::-1]))

    def one_standard_error_step(self) -> int:
        """Return the smallest tree whose mean is at most one standard error above the least."""
        best = self.best_step()
        good = self.mean <= self.mean[best] + self.standard_error[best]
        return int(np.flatnonzero(good)[-1])


@dataclass(frozen=True, eq=False)
class LossSums:
    """Weighted losses of rows, and their squares, summed up for every step; those of several parts add up.

    Attributes
    ----------
    sums : float64 (2, n_steps)
    weight, square_weight : float
        Sum of the rows' weights, and of their squares.
    unit : float
        Of the losses: squares of errors of 1e80 could not be squared once more.
    """

    sums: Floats
    weight: float
    square_weight: float
    unit: float = 1.0

    def __add__(self, other: LossSums) -> LossSums:
        unit = max(self.unit, other.unit)
        return LossSums(
            self._sums_in(unit) + other._sums_in(unit),
            self.weight + other.weight,
            self.square_weight + other.square_weight,
            unit,
        )

    def _sums_in(self, unit: float) -> Floats:
        factor = self.unit / unit
        return np.asarray(self.sums * np.array([[factor], [factor * factor]]))

    def means(self) -> PathLosses:
        """Return the weighted means and their standard errors; weights count as rows would (Kish 1965)."""
        mean, squares = self.sums / self.weight
        n_effective = self.weight**2 / self.square_weight
        error = np.sqrt(np.maximum(squares - mean * mean, 0.0) / n_effective)
        return PathLosses(self.unit * mean, self.unit * error)


def pruning_path(tree: Tree) -> PruningPath:
    """Return the weakest-link path of a single tree; its impurities must be those of its criterion."""
    risk = tree.impurity * (tree.weighted_n_node_samples / tree.weighted_n_node_samples[0])
    n, parent = tree.n_nodes, tree.parent
    leaf_from, strength, branch_risk = np.zeros(n), np.zeros(n), np.zeros(n)
    counts = [np.zeros(n, dtypes.COUNT_DTYPE) for _ in range(3)]
    kernels.cut_weakest_links(
        tree.first_child, tree.n_children, dtypes.as_input(parent), dtypes.as_input(risk), branch_risk,
        counts[0], strength, counts[1], counts[2], leaf_from,
    )  # fmt: skip
    alphas = np.unique(np.append(leaf_from[tree.n_children > 0], 0.0))
    first, stop = _steps_as_leaf(tree, leaf_from, alphas)
    size = len(alphas) + 1
    changes = np.bincount(first, minlength=size) - np.bincount(stop, minlength=size)
    risks = np.bincount(first, risk, minlength=size) - np.bincount(stop, risk, minlength=size)
    return PruningPath(alphas, np.cumsum(changes)[:-1], np.cumsum(risks)[:-1], leaf_from)


def prune_at(tree: Tree, alpha: float, path: PruningPath | None = None) -> Tree:
    """Return the smallest tree that minimises impurity + `alpha` x leaves; `path`: the tree's, if at hand."""
    path = pruning_path(tree) if path is None else path
    return cut(tree, np.flatnonzero((path.leaf_from <= alpha) & ~tree.is_leaf))


def grid_between(path: PruningPath) -> Floats:
    """Return an alpha inside each step: the geometric mean of its ends (Breiman et al. 1984, section 3.4.2).

    Trees grown on other rows are pruned at these, as their own alphas differ a little. The last is infinite.
    """
    between: Floats = np.zeros(len(path.alphas))
    between[-1] = np.inf
    roots = np.sqrt(path.alphas)  # of each, as the product of two may be infinite
    between[:-1] = roots[:-1] * roots[1:]
    return between


def path_losses(
    tree: Tree, path: PruningPath, alphas: Floats, X: NDArray[Any], y: Floats, w: Floats, *,
    loss: str, n_jobs: int | None = None,
) -> LossSums:  # fmt: skip
    """Sum the losses of the trees that are best for each of `alphas`, in one pass over the rows.

    Parameters
    ----------
    path : PruningPath
        Of `tree`.
    alphas : float64 (n_steps,)
        Ascending; those of another path, in cross-validation.
    X : float32 or float64 (n_samples, n_features)
        Encoded rows.
    y : float64 (n_samples,)
        Class index or number.
    w : float64 (n_samples,)
    loss : str
        One of `LOSSES`; see `loss_of`.
    """
    steps = [dtypes.as_input(s) for s in _steps_as_leaf(tree, path.leaf_from, alphas)]
    answers = _answers(tree, loss)
    unit = 1.0 if loss == "misclassification" else unit_of(y, answers)
    rows = [dtypes.as_input(a) for a in (X, y / unit, w)]
    fixed = [*_routing(tree), dtypes.as_input(answers / unit), LOSSES[loss], *steps]

    def add(start: int, stop: int) -> Floats:
        losses = np.zeros((2, len(alphas) + 1))
        kernels.add_path_losses(*rows, start, stop, *fixed, losses)
        return losses

    sums = np.cumsum(_summed(add, len(X), n_jobs), axis=1)[:, :-1]
    of_loss = unit * unit if loss == "squared_error" else unit
    return LossSums(sums, float(np.sum(w)), float(np.sum(w * w)), of_loss)


def cut_prices(
    tree: Tree, X: NDArray[Any], y: Floats, w: Floats, *, loss: str, n_jobs: int | None = None
) -> Floats:
    """Return by how much the mean loss of some rows would rise if a node were a leaf: float64 (n_nodes,).

    The loss is as in `PathLosses`; negative where cutting helps, 0 at leaves. Parameters as in `path_losses`.
    """
    rows = [dtypes.as_input(a) for a in (X, y, w)]
    fixed = [*_routing(tree), _answers(tree, loss), LOSSES[loss]]

    def add(start: int, stop: int) -> Floats:
        prices = np.zeros(tree.n_nodes)
        kernels.add_cut_prices(*rows, start, stop, *fixed, np.zeros(tree.n_nodes, dtypes.NODE_DTYPE), prices)
        return prices

    return _summed(add, len(X), n_jobs) / np.sum(w)


def _summed(add: Callable[[int, int], Floats], n_rows: int, n_jobs: int | None) -> Floats:
    """Add up what `add` gives for every chunk of rows, in their order."""
    sums: list[Floats] = [np.zeros(0)] * (-(-n_rows // ROWS_PER_CHUNK))

    def run(chunk_idx: int, start: int, stop: int) -> None:
        sums[chunk_idx] = add(start, stop)

    parallel.for_chunks(run, n_rows, ROWS_PER_CHUNK, n_jobs)
    return np.sum(sums, axis=0) if len(sums) > 1 else sums[0]


def _steps_as_leaf(
    tree: Tree, leaf_from: Floats, alphas: Floats
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the steps from and before which every node is a leaf of the pruned tree."""
    first = np.searchsorted(alphas, leaf_from)
    stop = np.full(tree.n_nodes, len(alphas))
    stop[1:] = first[tree.parent[1:]]
    return np.minimum(first, stop), stop


def loss_of(estimator: Any) -> str:
    """Return what the answers of a single tree cost: by its own criterion, or of classes the wrong ones."""
    return "misclassification" if hasattr(estimator, "classes_") else str(estimator.criterion)


def least_rate(tree: Tree, loss: str) -> float:
    """Return the least answer that is believed; none but for Poisson deviance, see `MIN_RATE`."""
    return MIN_RATE * float(tree.value[0, 0]) if loss == "poisson" else -np.inf


def _answers(tree: Tree, loss: str) -> Floats:
    if loss == "misclassification":
        return dtypes.as_input(np.argmax(tree.value, axis=1).astype(np.float64))
    return dtypes.as_input(np.maximum(tree.value[:, 0], least_rate(tree, loss)))


def _routing(tree: Tree) -> list[NDArray[Any]]:
    return [getattr(tree, name) for name in ROUTING]
