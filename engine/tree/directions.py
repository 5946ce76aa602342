"""Columns along which a tree's value may only rise, or only fall: `monotonic_cst`.

The value is the mean in regression and the share of the second class with two classes, as in scikit-learn.
What it does while a tree grows is in `engine.tree.kernels.bounds`; here are the parameter, and the same
bounds for a tree that was changed by hand. Missing values have no place in a column's order, so they may
take either side, and a split "is missing" is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.base import TrainingData
from engine.errors import ParameterError
from engine.features import FeatureSpec
from engine.tree.kernels.layout import FALLS, FREE, RISES
from engine.tree.structure import LEAF, THRESHOLD, Path, Tree

Directions = NDArray[np.uint8]
"""uint8 (n_features,): FREE, RISES or FALLS; or (0,) where all columns are free."""

Floats = NDArray[np.float64]

NONE: Directions = dtypes.as_input([], np.uint8)
SLACK_SHARE = 1e-12  # of the largest value: sums are rounded
_KINDS = {0: FREE, 1: RISES, -1: FALLS}
_SIGNS = {kind: sign for sign, kind in _KINDS.items()}
_WORDS = {1: "rise", -1: "fall"}


def directions_of(estimator: Any, features: Sequence[FeatureSpec]) -> Directions:
    """Return what `monotonic_cst` of an estimator says of every column.

    Raises
    ------
    ParameterError
        It names a column that there is not, has another length than there are columns, or wants a category
        to rise or fall.
    """
    wanted = getattr(estimator, "monotonic_cst", None)
    if wanted is None or getattr(estimator, "algorithm", "cart") != "cart":
        return NONE
    signs = _signs_by_column(wanted, [spec.name for spec in features])
    for spec, sign in zip(features, signs, strict=True):
        if sign and spec.is_categorical:
            raise ParameterError(
                f"monotonic_cst wants the value to {_WORDS[sign]} with column {spec.name!r}, but that is a "
                "category, whose levels have no order; leave it out, or make it a number"
            )
    return dtypes.as_input([_KINDS[sign] for sign in signs], np.uint8) if any(signs) else NONE


def _signs_by_column(wanted: Any, names: list[str]) -> list[int]:
    if isinstance(wanted, Mapping):
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise ParameterError(
                f"monotonic_cst names the column {unknown[0]!r}, but the columns are {', '.join(names)}; "
                "leave it out"
            )
        return [int(wanted.get(name, 0)) for name in names]
    signs = [int(sign) for sign in wanted]
    if len(signs) != len(names):
        raise ParameterError(
            f"monotonic_cst has {len(signs)} entries but the table has {len(names)} columns; enter one for "
            "every column, or a mapping of column names"
        )
    return signs


def check_directions(estimator: Any, data: TrainingData) -> None:
    """Check that a table can be learned with an estimator's `monotonic_cst`.

    Raises
    ------
    ParameterError
        See `directions_of`; or there are more than two classes, whose shares have no one order.
    """
    if len(directions_of(estimator, data.features)) and data.n_classes > 2:
        raise ParameterError(
            f"monotonic_cst is set but there are {data.n_classes} classes; it needs a number or two classes "
            "to predict: leave it out, or join classes"
        )


def slack_of(data: TrainingData) -> float:
    """Return by how much rounded sums may break a direction; growing puts the values right at the end."""
    largest = 1.0 if data.classes is not None else float(np.max(np.abs(data.y), initial=0.0))
    return SLACK_SHARE * largest


def clip_values(value: Floats, lower: Any, upper: Any) -> Floats:
    """Return the nodes' values (n_nodes, n_outputs) inside their bounds; the other class gets the rest."""
    clipped = np.clip(value[:, -1], lower, upper)
    is_outside = clipped != value[:, -1]
    if not is_outside.any():
        return value
    value = value.copy()
    value[is_outside, -1] = clipped[is_outside]
    if value.shape[1] == 2:
        value[is_outside, 0] = 1.0 - clipped[is_outside]
    return value


def bounds_of(tree: Tree, directions: Directions) -> tuple[Floats, Floats]:
    """Return between what every node's value must lie: float64 (n_nodes,) twice."""
    lower, upper = np.full(tree.n_nodes, -np.inf), np.full(tree.n_nodes, np.inf)
    if not len(directions):
        return lower, upper
    for node in np.flatnonzero(tree.kind != LEAF):  # parents come before their children
        children = tree.children(int(node))
        lower[children], upper[children] = lower[node], upper[node]
        direction = directions[tree.feature[node]] if tree.kind[node] == THRESHOLD else FREE
        if direction == FREE:
            continue
        halves = np.clip(tree.value[children, -1], lower[node], upper[node]) / 2.0
        rising, falling = children if direction == RISES else reversed(children)
        upper[rising] = lower[falling] = halves[0] + halves[1]
    return lower, upper


def bounded(tree: Tree, directions: Directions) -> Tree:
    """Return `tree` with every value inside its bounds; a tree as it was grown is so already."""
    if not len(directions):
        return tree
    return replace(tree, value=clip_values(tree.value, *bounds_of(tree, directions)))


def why_split_breaks(tree: Tree, path: Path, directions: Directions, data: TrainingData) -> str | None:
    """Tell how the values of a node's children break the direction of the column that it asks about.

    Returns
    -------
    str or None
        They are in the wrong order, or outside the bounds that splits above set; None: they keep to it.
    """
    node = tree.node_at(path)
    feature = tree.feature[node]
    if not len(directions) or tree.kind[node] != THRESHOLD or directions[feature] == FREE:
        return None
    first, second = tree.value[tree.children(node), -1]
    low, high = (first, second) if directions[feature] == RISES else (second, first)
    word, name, slack = _WORDS[_SIGNS[directions[feature]]], data.features[feature].name, slack_of(data)
    if low > high + slack:
        return (
            f"the prediction must {word} with {name!r}, but up to this threshold it would be {first:.6g} and "
            f"above {second:.6g}; choose another threshold, or free the column in monotonic_cst"
        )
    lower, upper = (bounds[node] for bounds in bounds_of(tree, directions))
    if low < lower - slack or high > upper + slack:
        return (
            f"splits above keep the prediction between {lower:.6g} and {upper:.6g} here, but with this split "
            f"on {name!r} it would be {first:.6g} and {second:.6g}; choose another threshold, or free the "
            "column in monotonic_cst"
        )
    return None
