"""One question and its leaves as a tree: what is put in a node's place by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.base import TrainingData
from engine.errors import DataError
from engine.tree.node_rows import Children, Rows, describe
from engine.tree.structure import IS_MISSING, LEAF, NO_CHILD, Tree


def split_tree(
    data: TrainingData, criterion: str, rows: Rows, sides: Children, missing_child: int,
    question: dict[str, Any], entries: NDArray[np.int64],
) -> Tree:  # fmt: skip
    """Return a tree of one question and its leaves, two unless it has `n_children`; one may be empty."""
    n_children = question.get("n_children", 2)
    value, impurity, *_ = own = describe(data, criterion, rows)
    insides = (rows[sides == k] for k in range(n_children))
    described = [own] + [
        describe(data, criterion, inside) if len(inside) else (value, impurity, 0, 0.0) for inside in insides
    ]
    none = [NO_CHILD] * n_children
    arrays: dict[str, Any] = {
        "feature": [question["feature"], *none],
        "kind": [question["kind"], *[LEAF] * n_children],
        "threshold": [question["threshold"], *[np.nan] * n_children],
        "level_offsets": [0, *[len(entries)] * (n_children + 1)],
        "level_sets": entries,
        "first_child": [1, *none],
        "n_children": [n_children, *[0] * n_children],
        "missing_child": [missing_child, *none],
        "unseen_child": [question["unseen_child"], *none],
        "value": np.array([d[0] for d in described]),
        "impurity": np.array([d[1] for d in described]),
        "gain": np.zeros(n_children + 1),
        "n_node_samples": [d[2] for d in described],
        "weighted_n_node_samples": np.array([d[3] for d in described]),
        "n_missing": [question["n_missing"], *[0] * n_children],
    }
    arrays["gain"][0] = gain_of(arrays, 0, list(range(1, n_children + 1)))
    return Tree(**arrays)


def gain_of(arrays: dict[str, Any], node: int, children: list[int]) -> float:
    """Return the node's impurity less its children's weighted mean."""
    weights = arrays["weighted_n_node_samples"][children]
    if weights.sum() == 0:
        return 0.0
    below = float(np.average(arrays["impurity"][children], weights=weights))
    return max(float(arrays["impurity"][node]) - below, 0.0)


def tree_of_missing(
    data: TrainingData, criterion: str, rows: Rows, column: int, missing: NDArray[np.bool_]
) -> Tree:
    """Return a tree of two leaves that asks whether a column is missing."""
    n_missing = int(missing.sum())
    if n_missing in (0, len(rows)):
        name, which = data.features[column].name, "no" if n_missing == 0 else "every"
        raise DataError(
            f"{which} training row of this node misses {name!r}; choose a question that divides them"
        )
    question = {
        "feature": column,
        "kind": IS_MISSING,
        "threshold": np.nan,
        "n_missing": n_missing,
        "unseen_child": 1,  # an unseen level is no missing value
    }
    sides = np.where(missing, 0, 1)
    return split_tree(data, criterion, rows, sides, 0, question, np.empty((0, 2), np.int64))
