"""What the members of a forest or bag say of columns and of one another."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from engine import dtypes
from engine.base import TrainingData, check_X
from engine.errors import DataError, FitStopped
from engine.forest.out_of_bag import row_losses
from engine.inspection import PermutationImportances
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch
from engine.predict import tree_values, voting_trees
from engine.tree.structure import Tree

ROWS_AT_ONCE = 4096


class TreeSpread(NamedTuple):
    """How much trees differ in what they say of the same rows.

    The variance of a forest's mean is about ``correlation * variance + (1 - correlation) / n_trees *
    variance`` (Breiman 2001): less correlated trees gain more by being averaged.

    Attributes
    ----------
    variance : float64 (n_samples, n_outputs)
        Of the trees' answers about each row.
    correlations : float64 (n_trees, n_trees)
        Of two trees' answers over the rows, each output about its own mean; NaN where a tree says the same
        of all rows.
    correlation : float
        Mean over the pairs of different trees that have one; NaN where none has.
    """

    variance: NDArray[np.float64]
    correlations: NDArray[np.float64]
    correlation: float


def tree_spread(model: Any, X: Any) -> TreeSpread:
    """Return variance and correlation of the predictions of a forest's, or a bag's, trees.

    Parameters
    ----------
    model : fitted random forest, extra trees, or bagging of trees
    X : DataFrame or array-like (n_samples, n_features)
        Rows that the trees were not trained on, else they agree more than they would on others.
    """
    trees, X = _trees_of(model), check_X(model, X)
    n_trees, n_outputs = len(trees), trees[0].n_outputs
    shift = np.mean([tree.value[0] for tree in trees], axis=0)  # near the means: squares lose less
    sums, products = np.zeros((n_trees, n_outputs)), np.zeros((n_trees, n_trees))
    variance = np.empty((len(X), n_outputs))
    for start in range(0, len(X), ROWS_AT_ONCE):
        rows = dtypes.as_input(X[start : start + ROWS_AT_ONCE])
        values = np.stack([tree_values([tree], rows) for tree in trees]) - shift
        variance[start : start + len(rows)] = values.var(axis=0)
        sums += values.sum(axis=1)
        flat = values.reshape(n_trees, -1)
        products += flat @ flat.T
    covariances = products - sums @ sums.T / len(X)
    correlations = _correlations(covariances, products.diagonal())
    pairs = correlations[np.triu_indices(n_trees, 1)]
    known = pairs[~np.isnan(pairs)]
    return TreeSpread(variance, correlations, float(known.mean()) if len(known) else float("nan"))


def _correlations(covariances: NDArray[np.float64], squares: NDArray[np.float64]) -> NDArray[np.float64]:
    variances = covariances.diagonal().copy()
    variances[variances <= 1e-12 * squares] = np.nan  # constant but for rounding
    scale = np.sqrt(variances)
    return np.asarray(np.clip(covariances / np.outer(scale, scale), -1.0, 1.0))


def out_of_bag_importances(
    model: Any, X: Any, y: Any, sample_weight: Any = None, rng: Any = 0, monitor: FitMonitor | None = None
) -> PermutationImportances:
    """Return how much each tree's out-of-bag loss rises when a column is shuffled (Breiman 2001).

    Each tree is asked about the rows that it did not draw, as they are and with one column's values among
    them shuffled. The loss is that of `oob_loss_`: the share of wrong rows, or the mean squared error.

    Parameters
    ----------
    model : fitted random forest, extra trees, or bagging of trees
        With bootstrap, and not read from a file.
    X, y, sample_weight
        The table that it was trained on. Not changed.
    rng : int or Generator
    monitor : FitMonitor, optional
        Asked after every tree and column; a stop keeps the trees done.

    Returns
    -------
    PermutationImportances
        mean and std over the trees; values, float64 (n_features, n_trees), without trees that drew all
        rows; and as `score` the mean loss of the trees, which is the lower the better.

    Raises
    ------
    FitStopped
        The stop came before one tree was done.
    DataError
        No tree left a row out, the model was read from a file, or the table is another one.
    """
    trees, rng = _trees_of(model), np.random.default_rng(rng)
    data = _training_rows(model, X, y, sample_weight)
    monitor, watch = monitor or NULL_MONITOR, Stopwatch()
    rises, losses = [], []
    for member, tree in enumerate(trees):
        drawn = model._draws_of(data.n_rows, member)
        rows = np.setdiff1d(np.arange(data.n_rows), drawn)
        told = partial(_event, len(trees), watch)
        try:
            if len(rows):
                loss, of_columns = _rises(tree, data, rows, rng, partial(_ask, monitor, told(member)))
                losses.append(loss)
                rises.append(of_columns)
            _ask(monitor, told(member + 1))
        except FitStopped:
            if not rises:
                raise
            break
    if not rises:
        raise DataError("no tree left a row out; train with bootstrap, and more trees")
    values = np.array(rises).T
    return PermutationImportances(values.mean(axis=1), values.std(axis=1), values, float(np.mean(losses)))


def _event(n_trees: int, watch: Stopwatch, n_done: int) -> IterationEvent:
    return IterationEvent("permuting", n_done, n_trees, n_done / n_trees, watch.elapsed_s)


def _ask(monitor: FitMonitor, event: IterationEvent) -> None:
    if monitor.on_iteration(event):
        raise FitStopped


def _rises(
    tree: Tree, data: TrainingData, rows: NDArray[np.intp], rng: np.random.Generator, ask: Callable[[], None]
) -> tuple[float, NDArray[np.float64]]:
    """Return a tree's loss over some rows, and by how much it rises with each column shuffled."""
    table, y, weights = data.X[rows], data.y[rows], data.sample_weight[rows]

    def loss_of(table: NDArray[Any]) -> float:
        losses = row_losses(y, tree_values([tree], table, 1), data.classes is not None)
        return float(np.average(losses, weights=weights))

    loss, of_columns = loss_of(table), np.zeros(data.n_features)
    for column in np.unique(tree.feature[~tree.is_leaf]):  # shuffling others changes nothing
        shuffled = table.copy()
        shuffled[:, column] = rng.permutation(table[:, column])
        of_columns[column] = loss_of(shuffled) - loss
        ask()
    return loss, of_columns


def _trees_of(model: Any) -> list[Tree]:
    check_is_fitted(model, "estimators_")
    if not all(isinstance(tree, Tree) for tree in model.estimators_):
        raise DataError(f"this {type(model).__name__} is not made of trees; set estimator to None")
    return voting_trees(model)


def _training_rows(model: Any, X: Any, y: Any, sample_weight: Any) -> TrainingData:
    from sklearn.base import clone

    from engine.base import begin_fit

    is_classifier = hasattr(model, "classes_")
    by_bag = getattr(model, "class_weight", None) == "balanced_subsample"
    class_weight = None if by_bag else getattr(model, "class_weight", None)
    reader = clone(model)  # learns the table's columns anew: the model stays as it is
    data = begin_fit(reader, X, y, sample_weight, is_classifier=is_classifier, class_weight=class_weight)
    if not hasattr(model, "_rows"):
        raise DataError("a model read from a file does not know its training rows; train it again")
    if data.features != model.features_ or not np.array_equal(data.rows, model._rows):
        raise DataError("this is not the table that the model was trained on; give that one")
    return data
