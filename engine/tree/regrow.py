"""Growing anew below one node of a tree, with the hyperparameters that grew it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from engine.base import TrainingData, begin_fit, member_seed
from engine.errors import DataError
from engine.tree.directions import bounds_of
from engine.tree.estimators import is_multiway, prune_by_rule
from engine.tree.grow import Grower
from engine.tree.growth_rules import draws_splits, make_rules
from engine.tree.kernels.layout import Rules
from engine.tree.multiway import MultiwayGrower
from engine.tree.node_rows import describe, rows_at, take_rows
from engine.tree.presort import Ask, never, presort
from engine.tree.splice import splice
from engine.tree.structure import MULTIWAY, Path, Tree


def training_data(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> TrainingData:
    """Return the table that a fitted single tree was grown on, encoded as its `fit` did it.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        Unchanged.
    X, y, sample_weight
        As given to `fit`.

    Raises
    ------
    DataError
        X, y or the weights do not fit; see `engine.base.begin_fit`.
    """
    maker = clone(estimator)
    return begin_fit(
        maker,
        X,
        y,
        sample_weight,
        is_classifier=hasattr(estimator, "classes_"),
        class_weight=maker.class_weight,
    )


def criterion_of(estimator: Any) -> str:
    """Return the criterion whose impurities the estimator's tree holds."""
    return "entropy" if is_multiway(estimator) else str(estimator.criterion)


def regrow(tree: Tree, path: Path, estimator: Any, data: TrainingData, ask: Ask | None = None) -> Tree:
    """Return `tree` with all below a node grown anew on the node's rows; the rest stays as it is.

    The limits are those of the whole tree: of depth, of leaves beside those elsewhere, and of shares of all
    rows. Below a node that was grown with the same hyperparameters, columns not being drawn and leaves not
    being limited, the same branch grows to the last bit. Values keep to the bounds that columns which must
    rise or fall set above.

    Parameters
    ----------
    tree : Tree
    path : tuple of int
        A leaf or an inner node.
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted; gives the hyperparameters and the seed.
    data : TrainingData
        What the tree was grown on, see `training_data`.
    ask : Ask, optional
        Asked now and then; True ends the growing, with a tree that is usable all the same.

    Raises
    ------
    DataError
        The tree has no such node, or no training row reaches it.
    """
    node = tree.node_at(path)
    rows = rows_at(tree, path, data.X)
    if len(rows) == 0:
        raise DataError(f"no training row reaches {tree.words_of(path)}, so nothing can grow there")
    rules = _rules_below(tree, node, len(path), estimator, data)
    ask = ask or never
    branch: Tree | None
    if is_multiway(estimator):
        grower = MultiwayGrower(data, rules, estimator.algorithm)
        branch = grower.grow(ask, rows, asked_above(tree, path)).tree
    else:
        branch = _grow_two_way(take_rows(data, rows), rules, estimator, ask)
        if branch is None:
            return tree
    share = float(branch.weighted_n_node_samples[0]) / rules.total_weight
    return splice(tree, node, prune_by_rule(estimator, branch, share))


def _rules_below(tree: Tree, node: int, depth: int, estimator: Any, data: TrainingData) -> Rules:
    """Return the whole tree's rules as they are left for a branch."""
    rules = make_rules(estimator, data, float(data.sample_weight.sum()))
    lower, upper = bounds_of(tree, rules.directions)
    changes: dict[str, Any] = {"lower": float(lower[node]), "upper": float(upper[node])}
    if rules.max_depth >= 0:
        changes["max_depth"] = max(rules.max_depth - depth, 0)
    if rules.max_leaf_nodes > 0:
        n_below = sum(1 for below in tree.walk(node) if tree.n_children[below] == 0)
        changes["max_leaf_nodes"] = max(rules.max_leaf_nodes - (tree.n_leaves - n_below), 1)
    if rules.min_relative_decrease > 0:  # of the root, which is not the branch's
        _value, impurity, _n_rows, _weight = describe(data, criterion_of(estimator), np.arange(data.n_rows))
        changes["min_decrease"] = max(rules.min_decrease, rules.min_relative_decrease * impurity)
        changes["min_relative_decrease"] = 0.0
    return rules._replace(**changes)


def asked_above(tree: Tree, path: Path) -> frozenset[int]:
    """Return the categories that were asked with one branch a level on the way to a node."""
    above = [tree.node_at(path[:depth]) for depth in range(len(path))]
    return frozenset(int(tree.feature[node]) for node in above if tree.kind[node] == MULTIWAY)


def _grow_two_way(data: TrainingData, rules: Rules, estimator: Any, ask: Ask) -> Tree | None:
    presorted = presort(data.X, data.features, ask, keeps_values=draws_splits(estimator))
    if presorted is None:
        return None
    seed = member_seed(estimator.seed_, 0)
    return Grower(presorted, presorted.order, data.y, data.sample_weight, rules, seed).grow(ask).tree
