"""Hyperparameters of a tree as the numbers that growing follows."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.base import TrainingData
from engine.tree.directions import directions_of, slack_of
from engine.tree.kernels import layout

CRITERIA = {
    "gini": layout.GINI,
    "entropy": layout.ENTROPY,
    "misclassification": layout.MISCLASSIFICATION,
    "squared_error": layout.SQUARED_ERROR,
    "poisson": layout.POISSON,
    "absolute_error": layout.ABSOLUTE_ERROR,
}


def make_rules(
    estimator: Any, data: TrainingData, total_weight: float, n_rows: int | None = None
) -> layout.Rules:
    """Return the estimator's hyperparameters as numbers; shares are of `n_rows`, by default of all rows."""
    n_rows, n_features = data.n_rows if n_rows is None else n_rows, data.n_features
    return layout.Rules(
        criterion=CRITERIA[estimator.criterion],
        n_sums=max(data.n_classes, 1),
        max_depth=-1 if estimator.max_depth is None else int(estimator.max_depth),
        min_samples_split=max(2, count_rows(estimator.min_samples_split, n_rows)),
        min_samples_leaf=max(1, count_rows(estimator.min_samples_leaf, n_rows)),
        min_weight_leaf=float(estimator.min_weight_fraction_leaf * total_weight),
        min_decrease=float(estimator.min_impurity_decrease),
        min_relative_decrease=float(getattr(estimator, "min_relative_decrease", 0.0)) / 100,
        max_features=count_features(estimator.max_features, n_features),
        max_leaf_nodes=_count_leaves(estimator),
        total_weight=float(total_weight),
        is_random=draws_splits(estimator),
        directions=directions_of(estimator, data.features),
        lower=-np.inf,
        upper=np.inf,
        slack=slack_of(data),
        missing_is_level=getattr(estimator, "missing", "learned") == "level",
    )


def _count_leaves(estimator: Any) -> int:
    """Return the most leaves a tree may have, -1: any number; two-way trees have a leaf more than splits."""
    of_nodes = getattr(estimator, "max_nodes", None)
    limits = [estimator.max_leaf_nodes, None if of_nodes is None else (of_nodes + 1) // 2]
    return min((int(limit) for limit in limits if limit is not None), default=-1)


def count_rows(wanted: float, n_rows: int) -> int:
    """Return a number of rows from a whole number of them or a share, rounded up."""
    return int(wanted) if isinstance(wanted, (int, np.integer)) else int(np.ceil(wanted * n_rows))


def count_features(wanted: Any, n_features: int) -> int:
    """Return how many columns are drawn at a node, at least one and at most all."""
    if wanted is None:
        return n_features
    if wanted == "sqrt":
        return max(1, int(np.sqrt(n_features)))
    if wanted == "log2":
        return max(1, int(np.log2(n_features)))
    if isinstance(wanted, (int, np.integer)):
        return min(int(wanted), n_features)
    return min(max(1, int(wanted * n_features)), n_features)


def draws_splits(estimator: Any) -> bool:
    """Tell whether an estimator's trees draw their splits, so that `presort` must keep the values."""
    return bool(getattr(estimator, "splitter", "best") == "random")
