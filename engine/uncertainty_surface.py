"""Both kinds of uncertainty on a grid of two columns, or along one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.forest.uncertainty import TreeMoments, tells_noise
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent
from engine.surface import WATCHED_ROWS, grid_table, tree_curve, tree_surface, watched
from engine.tree.structure import Tree
from engine.uncertainty import Uncertainty

Floats = NDArray[np.float64]


class Bands(NamedTuple):
    """A fit along one column and what it does not know.

    Attributes
    ----------
    uncertainty : Uncertainty
    lower, upper : float64 (n_x,) or None
        Ends of the interval; None where the model tells no distribution.
    """

    uncertainty: Uncertainty
    lower: Floats | None
    upper: Floats | None


def tells_uncertainty(estimator: Any) -> bool:
    """Tell whether a fitted model has members that may disagree."""
    return hasattr(estimator, "encoded_uncertainty") and (
        not hasattr(estimator, "estimators_") or isinstance(estimator.estimators_[0], Tree)
    )


def knows_noise(estimator: Any) -> bool:
    """Tell whether a model of which `tells_uncertainty` is true knows the noise too; else that is NaN."""
    return not hasattr(estimator, "estimators_") or tells_noise(estimator)


def uncertainty_surface(
    estimator: Any, x_feature: int, y_feature: int, x_values: Any, y_values: Any, held: Any,
    monitor: FitMonitor = NULL_MONITOR,
) -> Uncertainty:  # fmt: skip
    """Return a model's uncertainty on a grid, each part float64 (n_y, n_x); of classes (n_classes, n_y, n_x).

    Parameters and errors as in `engine.surface.model_surface`; the estimator is one of which
    `tells_uncertainty` is true. Trees' sums of boxes are exact but for rounding, others are asked row by row.
    """
    shape = len(y_values), len(x_values)
    if hasattr(estimator, "estimators_"):
        moments = TreeMoments(estimator)

        def sum_of(trees: Sequence[Tree]) -> Floats:
            monitor.on_iteration(IterationEvent("drawing"))
            return tree_surface(trees, x_feature, y_feature, x_values, y_values, held)

        sums = moments.sums(sum_of)
        found = moments.of_sums(sums.reshape(len(sums), -1).T)
    else:
        tables = grid_table(x_feature, y_feature, x_values, y_values, held, WATCHED_ROWS)
        parts = [estimator.encoded_uncertainty(table) for table in watched(tables, monitor)]
        found = Uncertainty(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    return Uncertainty(*(np.ascontiguousarray(part.T).reshape(*part.shape[1:], *shape) for part in found))


def uncertainty_curve(
    estimator: Any, x_feature: int, x_values: Any, held: Any, coverage: float = 0.9
) -> Bands:
    """Return a model's uncertainty along one column, and the ends of its intervals."""
    if hasattr(estimator, "estimators_"):
        moments = TreeMoments(estimator)
        sums = moments.sums(lambda trees: tree_curve(trees, x_feature, x_values, held))
        return Bands(moments.of_sums(sums.T), None, None)
    table = np.tile(np.asarray(held, np.float64), (len(x_values), 1))
    table[:, x_feature] = x_values
    found = estimator.encoded_uncertainty(table)
    if not hasattr(estimator, "encoded_interval"):
        return Bands(found, None, None)
    return Bands(found, *estimator.encoded_interval(table, coverage).T)
