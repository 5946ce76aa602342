"""Which columns matter: importances from a model's trees, and by permuting one column at a time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.features import is_frame
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch
from engine.tree.structure import Tree


class PermutationImportances(NamedTuple):
    """How much the score falls when one column is shuffled.

    Attributes
    ----------
    mean, std : float64 (n_done,)
        Over the repeats; `n_done` is n_features unless a monitor stopped the work.
    values : float64 (n_done, n_repeats)
    score : float
        Of the table as it is.
    """

    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    values: NDArray[np.float64]
    score: float


def total_gains(tree: Tree, n_features: int, *, by_weight: bool = True) -> NDArray[np.float64]:
    """Return the sum of gains by column: float64 (n_features,).

    Parameters
    ----------
    by_weight : bool
        Multiply each gain by the node's share of the training weight (impurity decreases are means);
        False for boosting, whose gains are sums already.
    """
    inner = ~tree.is_leaf
    gains = np.maximum(tree.gain[inner], 0.0)
    if by_weight:
        gains = gains * tree.weighted_n_node_samples[inner] / tree.weighted_n_node_samples[0]
    return np.asarray(np.bincount(tree.feature[inner], gains, n_features), dtype=np.float64)


def impurity_importances(trees: Iterable[Tree], n_features: int) -> NDArray[np.float64]:
    """Return each column's share of the weighted impurity decrease, averaged over trees.

    Parameters
    ----------
    trees : iterable of Tree
        One tree, or the trees of a forest.
    n_features : int

    Returns
    -------
    float64 (n_features,)
        Sums to 1; all 0 where no tree has a split with gain. Mean decrease in impurity, Breiman et al.
        1984, normalised tree by tree.
    """
    shares = np.zeros(n_features)
    for tree in trees:
        gains = total_gains(tree, n_features)
        total = gains.sum()
        if total > 0:
            shares += gains / total
    total = shares.sum()
    return shares / total if total > 0 else shares


def permutation_importances(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    rng: Any = 0,
    n_repeats: int = 5,
    monitor: FitMonitor | None = None,
) -> PermutationImportances:
    """Return how much ``estimator.score`` falls when each column is shuffled (Breiman 2001).

    Parameters
    ----------
    estimator : fitted estimator
    X : DataFrame or ndarray (n_rows, n_features)
        Rows that the model was not trained on, else the numbers flatter it. Not changed.
    y : array-like (n_rows,)
    sample_weight : array-like (n_rows,), optional
    rng : int or Generator
    n_repeats : int
        Shuffles of each column.
    monitor : FitMonitor, optional
        Asked after every column; a stop keeps the columns done.
    """
    rng, monitor, watch = np.random.default_rng(rng), monitor or NULL_MONITOR, Stopwatch()
    X = X if is_frame(X) else np.asarray(X)
    score = float(estimator.score(X, y, sample_weight))
    n_features = X.shape[1]
    falls: list[list[float]] = []
    for feature in range(n_features):
        shuffles = (_with_shuffled(X, feature, rng) for _ in range(n_repeats))
        falls.append([score - float(estimator.score(table, y, sample_weight)) for table in shuffles])
        event = IterationEvent(
            "permuting", feature + 1, n_features, (feature + 1) / n_features, watch.elapsed_s
        )
        if monitor.on_iteration(event):
            break
    values = np.array(falls, dtype=np.float64)
    return PermutationImportances(values.mean(axis=1), values.std(axis=1), values, score)


def _with_shuffled(X: Any, feature: int, rng: np.random.Generator) -> Any:
    order, table = rng.permutation(len(X)), X.copy()
    if is_frame(X):
        column = X.iloc[order, feature]
        column.index = X.index
        table.isetitem(feature, column)
    else:
        table[:, feature] = X[order, feature]
    return table
