"""Questions changed by hand: a forced split, and the side that missing values take.

Functions on values: each returns a new Tree. Nodes are described from the training rows, as growing does it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.base import TrainingData
from engine.errors import DataError, ParameterError
from engine.features import FeatureSpec
from engine.tree.directions import NONE, Directions, bounded, why_split_breaks
from engine.tree.kernels.layout import TIE_SHARE
from engine.tree.levels_by_hand import tree_of_levels
from engine.tree.node_rows import Children, Description, Rows, children_of, describe, rows_at
from engine.tree.question import gain_of, split_tree, tree_of_missing
from engine.tree.splice import splice
from engine.tree.structure import IS_MISSING, LEAF, LEVEL_SET, THRESHOLD, Path, Tree


def set_missing_direction(
    tree: Tree, path: Path, child: int, data: TrainingData, criterion: str = "gini",
    directions: Directions = NONE, missing: str = "learned",
) -> Tree:  # fmt: skip
    """Return `tree` with missing values taking `child` at a node; unseen levels that followed them do too.

    Nodes below that training rows come to or leave are described anew: counts, weights, values, impurities
    and gains. The questions below stay, and so do the sides that missing values take there. A node that no
    row reaches any more answers as its parent does. Where no row misses the feature nothing but the side
    changes. Where the new values would break a column's direction they meet half way.

    Parameters
    ----------
    tree : Tree
    path : tuple of int
    child : int
        0, 1, ...
    data : TrainingData
        What the tree was grown on.
    criterion : str
        Of the impurities, see `engine.tree.growth_rules.CRITERIA`.
    directions : uint8 (n_features,) or (0,)
        See `engine.tree.directions`.
    missing : "learned" or "level"
        Of the estimator: with "level" unseen levels never follow missing values.

    Raises
    ------
    DataError
        The tree has no such node, it is a leaf or has no such child, or it asks whether the value is
        missing, so that the side is the question itself.
    """
    node = tree.node_at(path)
    if tree.kind[node] == LEAF:
        raise DataError(f"{tree.words_of(path)} is a leaf; choose a node with branches")
    if tree.kind[node] == IS_MISSING:
        raise DataError(
            f"{tree.words_of(path)} asks whether the value is missing, which settles the side; "
            "force another split there instead"
        )
    if not 0 <= child < tree.n_children[node]:
        raise DataError(
            f"{tree.words_of(path)} has {tree.n_children[node]} branches; there is no child {child}"
        )
    arrays = {name: np.array(array) for name, array in tree.to_arrays().items()}
    before = int(tree.missing_child[node])
    if child == before:
        return tree
    follows_missing = missing != "level" or tree.kind[node] == THRESHOLD
    if follows_missing and arrays["unseen_child"][node] == before:
        arrays["unseen_child"][node] = child
    arrays["missing_child"][node] = child
    changed = Tree(**arrays)
    if not tree.n_missing[node]:
        return changed
    return bounded(_described_below(changed, node, before, data, criterion), directions)


def force_split(
    tree: Tree, path: Path, feature: str, data: TrainingData, criterion: str = "gini", *,
    threshold: float | None = None, levels: Collection[Any] | None = None, is_missing: bool = False,
    each_level: bool = False, missing_child: int | None = None, directions: Directions = NONE,
    missing: str = "learned",
) -> Tree:  # fmt: skip
    """Return `tree` with the node at `path` asking a given question of leaves; what was below is gone.

    Missing values take the side where they help most, the second on a tie, and the other one where that would
    break the column's direction; where no row of the node misses the feature, the side with the larger
    weight, the first on a tie (D7). Unseen levels follow them. Where
    missing is a level of its own, it goes with the larger side of a threshold, and unseen levels always do.

    Parameters
    ----------
    tree : Tree
    path : tuple of int
        A leaf or an inner node.
    feature : str
        Name of the column, as in `data.features`.
    data : TrainingData
        What the tree was grown on.
    criterion : str
    threshold : float, optional
        Of a number: values up to it take the first side.
    levels : collection, optional
        Of a category: the levels that take the first side, whether the node has rows of them or not. All
        others that its rows have take the second.
    is_missing : bool
        Ask whether the value is missing, which takes the first side, instead; of any column.
    each_level : bool
        Of a category: a branch for every level that training saw, as in ID3 and C4.5, instead of two sides. A
        branch without rows answers as the node does. Missing values take the branch where they help most, or
        as a level of its own, where training missed the column, a branch of their own.
    missing_child : 0 or 1, optional
        Of a threshold or levels: the side that missing values take, as a candidate tells it, instead of where
        they help most. Where no row of the node misses the column, or missing is a level of its own beside a
        threshold, the larger side has them all the same.
    directions : uint8 (n_features,) or (0,)
        See `engine.tree.directions`; the leaves' values keep to the bounds that splits above set.
    missing : "learned" or "level"
        Of the estimator.

    Raises
    ------
    DataError
        There is no such node, column or level, all values that its rows have would go to one side, or the
        two sides' values would break the column's direction; or no row, or every row, misses the column where
        that is asked.
    ParameterError
        The column is a number and there is no finite threshold, or a category and there are no levels; or
        there is one of these, or a side of missing values, beside `is_missing` or `each_level`; or it is no
        side.
    """
    node = tree.node_at(path)
    column = column_of(data.features, feature)
    rows = rows_at(tree, path, data.X)
    x = data.X[rows, column].astype(np.float64)
    spec, misses = data.features[column], np.isnan(x)
    if missing_child not in (None, 0, 1):
        raise ParameterError(f"missing_child is {missing_child!r}; a split has the sides 0 and 1")
    if is_missing or each_level:
        if threshold is not None or levels is not None or missing_child is not None:
            raise ParameterError(
                f"column {feature!r} is asked whether it is missing, or for each level; give no threshold or "
                "levels, and no missing_child"
            )
        if each_level:
            branch = tree_of_levels(data, criterion, rows, column, has_own_branch=missing == "level")
        else:
            branch = tree_of_missing(data, criterion, rows, column, misses)
        return bounded(splice(tree, node, branch), directions)
    sides, entries = _divided(spec, x, threshold, levels)
    if len(np.unique(sides[~misses])) < 2:
        raise DataError(
            f"the known values of {feature!r} would all go to one side at this node; choose a question that "
            "divides them"
        )
    is_level = missing == "level"
    larger = is_level and spec.levels is None
    question = {
        "feature": column,
        "kind": THRESHOLD if spec.levels is None else LEVEL_SET,
        "threshold": np.nan if threshold is None else float(threshold),
        "n_missing": int(misses.sum()),
    }
    reasons = []
    for side in _sides_of_missing(
        sides, misses, data, criterion, rows, takes_larger=larger, wanted=missing_child
    ):
        taken = np.where(misses, side, sides)
        weights = np.bincount(taken, weights=data.sample_weight[rows], minlength=2)
        unseen_child = side if larger or not is_level else int(np.argmax(weights))
        asked = question | {"unseen_child": unseen_child}
        branch = split_tree(data, criterion, rows, taken, side, asked, entries)
        forced = splice(tree, node, branch)
        if (reason := why_split_breaks(forced, path, directions, data)) is None:
            return bounded(forced, directions)
        reasons.append(reason)
    raise DataError(reasons[0])


def column_of(features: Iterable[FeatureSpec], name: str) -> int:
    """Return where the column `name` is; raises DataError where it is none of `features`."""
    for column, spec in enumerate(features):
        if spec.name == name:
            return column
    raise DataError(f"the tree has no column {name!r}; choose one that it was trained on")


def _described_below(tree: Tree, top: int, before: int, data: TrainingData, criterion: str) -> Tree:
    """Count and describe anew what rows came to or left when missing values took another child than `before`.

    The top's own gain is of its children, so it changes too.
    """
    arrays: dict[str, Any] = {name: np.array(array) for name, array in tree.to_arrays().items()}
    rows = rows_at(tree, tree.path_to(top), data.X)
    is_missing = np.isnan(data.X[rows, tree.feature[top]])
    came, left = (int(tree.first_child[top]) + int(k) for k in (tree.missing_child[top], before))
    sides = children_of(tree, top, data.X[rows, tree.feature[top]]) + int(tree.first_child[top])
    moved = rows[is_missing]
    # a node, its parent, its rows as they are now, and of those that moved the ones that it has or had
    waiting = [(child, top, rows[sides == child], moved) for child in (came, left)]
    described = [top]
    while waiting:
        node, parent, rows, moved = waiting.pop()
        _write(arrays, node, _of_child(data, criterion, rows, arrays, parent))
        if tree.kind[node] == LEAF:
            continue
        described.append(node)
        feature, first = int(tree.feature[node]), int(tree.first_child[node])
        arrays["n_missing"][node] = np.count_nonzero(np.isnan(data.X[rows, feature]))
        sides, moved_sides = (children_of(tree, node, data.X[some, feature]) for some in (rows, moved))
        n_children = int(tree.n_children[node])
        is_touched = np.bincount(moved_sides, minlength=n_children) > 0
        is_empty = np.bincount(sides, minlength=n_children) == 0  # it answers as this node does
        waiting.extend(
            (first + k, node, rows[sides == k], moved[moved_sides == k])
            for k in np.flatnonzero(is_touched | is_empty).tolist()
        )
    for node in described:
        arrays["gain"][node] = gain_of(arrays, node, list(tree.children(node)))
    return Tree(**arrays)


def _of_child(
    data: TrainingData, criterion: str, rows: Rows, arrays: dict[str, Any], parent: int
) -> Description:
    """Return what describes a child; one without rows answers as its parent does."""
    if len(rows):
        return describe(data, criterion, rows)
    return arrays["value"][parent], float(arrays["impurity"][parent]), 0, 0.0


def _write(arrays: dict[str, Any], node: int, description: Description) -> None:
    names = ("value", "impurity", "n_node_samples", "weighted_n_node_samples")
    for name, item in zip(names, description, strict=True):
        arrays[name][node] = item


def _divided(
    spec: FeatureSpec, x: NDArray[np.float64], threshold: float | None, levels: Collection[Any] | None
) -> tuple[Children, NDArray[np.int64]]:
    """Return the side of every known value by a threshold or by levels, and the rows of `Tree.level_sets`."""
    if spec.levels is None:
        if threshold is None or levels is not None or not np.isfinite(threshold):
            raise ParameterError(
                f"column {spec.name!r} holds numbers and the threshold is {threshold!r}; "
                "enter a finite number"
            )
        return (x > threshold).astype(np.int64), np.empty((0, 2), np.int64)
    if threshold is not None or not levels:
        raise ParameterError(f"column {spec.name!r} holds categories; choose the levels of the first side")
    entries = _entries(spec, levels, x)
    return np.isin(x, entries[entries[:, 1] == 1, 0]).astype(np.int64), entries


def _entries(spec: FeatureSpec, levels: Collection[Any], x: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the rows of `Tree.level_sets`: chosen levels with 0, others that the node has with 1."""
    assert spec.levels is not None
    code_of = {level: code for code, level in enumerate(spec.levels)}
    if unknown := [level for level in levels if level not in code_of]:
        raise DataError(f"column {spec.name!r} has no level {unknown[0]!r}; choose among those it has")
    chosen = np.array(sorted({code_of[level] for level in levels}), np.int64)
    codes = np.union1d(chosen, x[~np.isnan(x)].astype(np.int64))
    return np.column_stack([codes, ~np.isin(codes, chosen)]).astype(np.int64)


def _sides_of_missing(
    sides: Children, missing: NDArray[np.bool_], data: TrainingData, criterion: str, rows: Rows, *,
    takes_larger: bool, wanted: int | None,
) -> list[int]:  # fmt: skip
    """Return the sides that missing values may take: the larger or wanted one alone, or the best first."""
    if takes_larger or not missing.any():
        known = data.sample_weight[rows[~missing]]
        return [int(np.argmax(np.bincount(sides[~missing], weights=known, minlength=2)))]
    if wanted is not None:
        return [wanted]
    to_first, to_second = (np.where(missing, child, sides) for child in (0, 1))
    better = _mean_impurity(data, criterion, rows, to_second) - _mean_impurity(
        data, criterion, rows, to_first
    )
    # a tie goes to the second, as in growing
    return [0, 1] if better > TIE_SHARE * describe(data, criterion, rows)[1] else [1, 0]


def _mean_impurity(data: TrainingData, criterion: str, rows: Rows, sides: Children) -> float:
    described = [describe(data, criterion, rows[sides == child]) for child in (0, 1)]
    return float(np.average([d[1] for d in described], weights=[d[3] for d in described]))
