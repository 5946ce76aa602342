"""Exact 2-D surfaces and 1-D curves of tree ensembles, and a generic grid for everything else.

A tree with all columns but two held fixed is a set of axis-aligned boxes in the plane of these two.
So a sum of trees is a sum of boxes: each tree is walked once, each reachable leaf's box is added to a
2-D difference array, and that is integrated once. The cost is reachable leaves plus pixels, not pixels
times trees.

Positions are *sample positions*: the value at a pixel is the prediction exactly there, so a threshold
falls between two pixels as it falls between two rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.errors import DataError
from engine.kernels import surface as kernels
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent
from engine.predict import lay_end_to_end, tree_values, voting_trees
from engine.tree.structure import LEVEL_SET, THRESHOLD, Tree

CHUNK_ROWS = 65536  # rows of a generic grid predicted at a time
WATCHED_ROWS = 2048  # at a time where somebody may want no answer any more
TIE_TOLERANCE = 1e-9  # a sum of boxes rounds differently from a sum of trees: closer calls are predicted

Predict = Callable[[NDArray[np.float64]], NDArray[Any]]
"""Takes an encoded table (n_rows, n_features), returns (n_rows,) or (n_rows, n_outputs)."""


class _Axis(NamedTuple):
    feature: int
    values: NDArray[np.float64]
    n_known: int


def cell_centres(lower: float, upper: float, n_cells: int) -> NDArray[np.float64]:
    """Return the centres of `n_cells` equal cells between `lower` and `upper`: float64 (n_cells,)."""
    edges = np.linspace(lower, upper, n_cells + 1)
    return np.asarray(edges[:-1] * 0.5 + edges[1:] * 0.5)


def tree_surface(
    trees: Sequence[Tree], x_feature: int, y_feature: int, x_values: Any, y_values: Any, held: Any
) -> NDArray[np.float64]:
    """Return the sum of the trees' leaf values on a grid of two columns, the others held.

    Parameters
    ----------
    trees : sequence of Tree
        At least one, all with the same number of outputs.
    x_feature, y_feature : int
        Two different columns.
    x_values, y_values : array-like (n_x,), (n_y,)
        Encoded values, ascending: numbers or level codes; NaN (missing) comes last.
    held : array-like (n_features,)
        Encoded values of all columns; those of `x_feature` and `y_feature` do not matter.

    Returns
    -------
    float64 (n_outputs, n_y, n_x)
        One tree: to the last bit the values of its leaves. More: equal to adding up predictions
        within 1e-9 of the largest absolute value.

    Raises
    ------
    DataError
        The values do not ascend, or a column does not exist.
    """
    held = np.asarray(held, dtype=np.float64)
    return sum_on(trees, *two_axes(x_feature, y_feature, x_values, y_values, held), held)


def tree_curve(trees: Sequence[Tree], x_feature: int, x_values: Any, held: Any) -> NDArray[np.float64]:
    """Return the sum of the trees' leaf values along one column: float64 (n_outputs, n_x).

    Parameters and errors as in `tree_surface`.
    """
    held = np.asarray(held, dtype=np.float64)
    return sum_on(trees, _axis(x_feature, x_values, held), _no_axis(), held)[:, 0, :]


def grid_table(
    x_feature: int, y_feature: int, x_values: Any, y_values: Any, held: Any, chunk_rows: int = CHUNK_ROWS
) -> Iterator[NDArray[np.float64]]:
    """Yield the grid's points as encoded tables of at most `chunk_rows` rows, x running fastest."""
    x_values, y_values = np.asarray(x_values, float), np.asarray(y_values, float)
    n_points = len(x_values) * len(y_values)
    for start in range(0, n_points, chunk_rows):
        at = np.arange(start, min(start + chunk_rows, n_points))
        table = np.tile(np.asarray(held, dtype=np.float64), (len(at), 1))
        table[:, x_feature] = x_values[at % len(x_values)]
        table[:, y_feature] = y_values[at // len(x_values)]
        yield table


def grid_surface(
    predict: Predict, x_feature: int, y_feature: int, x_values: Any, y_values: Any, held: Any
) -> NDArray[np.float64]:
    """Return what any `predict` says on a grid: float64 (n_outputs, n_y, n_x), row by row."""
    chunks = [
        np.asarray(predict(table), dtype=np.float64).reshape(len(table), -1)
        for table in grid_table(x_feature, y_feature, x_values, y_values, held)
    ]
    rows = np.concatenate(chunks)
    return np.ascontiguousarray(rows.T).reshape(-1, len(y_values), len(x_values))


def model_surface(
    estimator: Any, x_feature: int, y_feature: int, x_values: Any, y_values: Any, held: Any,
    monitor: FitMonitor = NULL_MONITOR,
) -> NDArray[np.float64]:  # fmt: skip
    """Return a fitted model's answer on a grid of two columns.

    Parameters
    ----------
    estimator : fitted estimator of this package
    x_feature, y_feature, x_values, y_values, held
        As in `tree_surface`.
    monitor : FitMonitor
        Told of every `WATCHED_ROWS` positions of a model that is asked row by row; may raise to end it.

    Returns
    -------
    float64 (n_classes, n_y, n_x) or (1, n_y, n_x)
        Class probabilities, or the prediction in regression; equal to `predict_proba` or `predict`
        at these points within 1e-9, and with the same most probable class everywhere.

    Raises
    ------
    DataError
        As in `tree_surface`; or the estimator is made neither of trees nor to be asked row by row.
    """
    held = np.array(held, dtype=np.float64)
    return answer_on(estimator, *two_axes(x_feature, y_feature, x_values, y_values, held), held, monitor)


def model_curve(estimator: Any, x_feature: int, x_values: Any, held: Any) -> NDArray[np.float64]:
    """Return a fitted model's answer along one column: float64 (n_classes or 1, n_x).

    Parameters, equality and errors as in `model_surface`.
    """
    held = np.array(held, dtype=np.float64)
    return answer_on(estimator, _axis(x_feature, x_values, held), _no_axis(), held)[:, 0, :]


def encoded_answer(estimator: Any, table: NDArray[Any]) -> NDArray[np.float64]:
    """Return what a fitted model says about an encoded table: float64 (n_rows, n_classes or 1)."""
    if estimator.combination != "sum":
        return np.asarray(estimator.encoded_answer(table))
    groups = summed_trees(estimator)
    sums = [tree_values(trees, table) if trees else np.zeros((len(table), 1)) for trees in groups]
    return answer_of_sums(estimator, start_of(estimator, table), sums, len(groups[0]))


def answer_of_sums(
    estimator: Any, start: NDArray[np.float64], sums: Sequence[NDArray[np.float64]], n_rounds: int
) -> NDArray[np.float64]:
    """Turn the summed trees of every row into the model's answer: float64 (n_rows, n_classes or 1).

    Parameters
    ----------
    start : float64 (n_rows, n_raw)
        As `start_of` says.
    sums : sequence of float64 (n_rows, n_outputs)
        Of the lists of `summed_trees`, or of as many first trees of each.
    n_rounds : int
        How many trees of each list were summed.
    """
    if not _is_boosted(estimator):
        return np.asarray(sums[0] / n_rounds, np.float64)
    raw = start.copy()
    for k, total in enumerate(sums):
        raw[:, k] += total[:, 0]
    return _answer_of(estimator, raw)


def _axis(feature: int, values: Any, held: NDArray[np.float64]) -> _Axis:
    values = dtypes.as_input(np.asarray(values, dtype=np.float64) + 0.0)
    if not 0 <= feature < len(held):
        raise DataError(f"the surface asks for column {feature}, but the model has {len(held)} columns")
    n_known = int(np.count_nonzero(~np.isnan(values)))
    known = values[:n_known]
    if values.ndim != 1 or len(values) == 0 or np.isnan(known).any() or np.any(known[1:] < known[:-1]):
        raise DataError(
            f"the positions along column {feature} do not ascend with missing ones last; sort them"
        )
    return _Axis(int(feature), values, n_known)


def two_axes(
    x_feature: int, y_feature: int, x_values: Any, y_values: Any, held: NDArray[np.float64]
) -> tuple[_Axis, _Axis]:
    """Check the positions of a surface; raises DataError as `tree_surface` does."""
    if x_feature == y_feature:
        raise DataError(f"both axes show column {x_feature}; choose two different columns")
    return _axis(x_feature, x_values, held), _axis(y_feature, y_values, held)


def _no_axis() -> _Axis:
    """Return an axis of one position that no node asks about."""
    return _Axis(-1, dtypes.as_input(np.zeros(1)), 1)


def _buffers(x: _Axis, y: _Axis) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    # one box a pixel at worst; pages never written take no memory
    n_pixels = len(x.values) * len(y.values)
    return np.empty((n_pixels, 5), np.int32), np.empty((n_pixels, 5), np.int32)


def _leaf_values(tree: Tree, x: _Axis, y: _Axis, held: NDArray[np.float64]) -> NDArray[np.float64]:
    _, arrays = lay_end_to_end([tree])
    leaves = np.empty((len(y.values), len(x.values)), np.int32)
    kernels.paint_leaves(
        x.feature, y.feature, x.values, x.n_known, y.values, y.n_known, held, *arrays[:-1], *_buffers(x, y),
        leaves,
    )  # fmt: skip
    return np.ascontiguousarray(np.moveaxis(tree.value[leaves], 2, 0))


def _box_sum(trees: Sequence[Tree], x: _Axis, y: _Axis, held: NDArray[np.float64]) -> NDArray[np.float64]:
    roots, arrays = lay_end_to_end(trees)
    n_outputs, n_y, n_x = trees[0].n_outputs, len(y.values), len(x.values)
    differences = np.zeros((n_outputs, n_y + 1, n_x + 1))
    kernels.add_box_differences(
        roots, x.feature, y.feature, x.values, x.n_known, y.values, y.n_known, held, *arrays, *_buffers(x, y),
        differences,
    )  # fmt: skip
    surface = np.empty((n_outputs, n_y, n_x))
    kernels.integrate(differences, surface)
    return surface


def sum_on(trees: Sequence[Tree], x: _Axis, y: _Axis, held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `tree_surface` on axes of `two_axes`; `trees` holds at least one."""
    held = dtypes.as_input(held)
    return _leaf_values(trees[0], x, y, held) if len(trees) == 1 else _box_sum(trees, x, y, held)


def _is_boosted(estimator: Any) -> bool:
    return hasattr(estimator, "baseline_prediction_")


def summed_trees(estimator: Any) -> list[list[Tree]]:
    """Return the lists of trees whose values are added up: one a raw output when boosted, else one."""
    if _is_boosted(estimator):
        n_raw = len(estimator.baseline_prediction_)
        if all(isinstance(members[0], Tree) for members in estimator.estimators_[:1]):
            return [[trees[k] for trees in estimator.estimators_] for k in range(n_raw)]
    elif hasattr(estimator, "tree_"):
        return [[estimator.tree_]]
    elif hasattr(estimator, "estimators_") and all(isinstance(tree, Tree) for tree in estimator.estimators_):
        return [voting_trees(estimator)]
    raise DataError(f"{type(estimator).__name__} is not made of trees or not fitted; use grid_surface")


def start_of(estimator: Any, table: NDArray[Any]) -> NDArray[np.float64]:
    """Return what a boosted model begins with: float64 (n_rows, n_raw); (n_rows, 0) for others."""
    if not _is_boosted(estimator):
        return np.empty((len(table), 0))
    from engine.boosting.start import start_raw

    return start_raw(estimator, table)


def _first_trees(estimator: Any) -> tuple[Tree, ...]:
    first = getattr(estimator, "init_", ())
    return first if isinstance(first, tuple) else ()


def _begins_with_model(estimator: Any) -> bool:
    return not isinstance(getattr(estimator, "init_", ()), tuple)


def start_on(estimator: Any, x: _Axis, y: _Axis, held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what a boosted model begins with, on the grid: float64 (n_raw, n_y or 1, n_x or 1)."""
    if not _is_boosted(estimator):
        return np.empty((0, 1, 1))
    baseline: NDArray[np.float64] = estimator.baseline_prediction_[:, None, None]
    first = _first_trees(estimator)
    if not _begins_with_model(estimator):
        return baseline + [sum_on([tree], x, y, held)[0] for tree in first] if first else baseline
    start = np.concatenate([start_of(estimator, table) for table in _grid_rows(x, y, held)])
    return np.ascontiguousarray(start.T).reshape(-1, len(y.values), len(x.values))


def _answer_of(estimator: Any, raw: NDArray[np.float64]) -> NDArray[np.float64]:
    from engine.boosting.link import answer

    return answer(estimator, raw)


def answer_on(
    estimator: Any, x: _Axis, y: _Axis, held: NDArray[np.float64], monitor: FitMonitor = NULL_MONITOR
) -> NDArray[np.float64]:
    """Return a model's answer on a grid: float64 (n_classes or 1, n_y, n_x)."""
    if estimator.combination == "rows":
        return _answer_by_rows(estimator, x, y, held, monitor)
    if estimator.combination != "sum":
        return _combined_answer(estimator, x, y, held)
    totals = [sum_on(trees, x, y, held) if trees else None for trees in summed_trees(estimator)]
    return answer_of_totals(estimator, start_on(estimator, x, y, held), totals, x, y, held)


def answer_of_totals(
    estimator: Any,
    start: NDArray[np.float64],
    totals: Sequence[NDArray[np.float64] | None],
    x: _Axis,
    y: _Axis,
    held: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Turn the summed trees on a grid, None for the sum of none, into the model's answer there."""
    sums, shape = summed_trees(estimator), (len(y.values), len(x.values))
    if not _is_boosted(estimator):
        assert totals[0] is not None
        answer = totals[0] / len(sums[0])
    else:
        raw = np.empty((len(sums), *shape))
        for k, total in enumerate(totals):
            raw[k] = start[k] + (0.0 if total is None else total[0])
        linked = _answer_of(estimator, np.ascontiguousarray(raw.reshape(len(sums), -1).T))
        answer = np.ascontiguousarray(linked.T).reshape(-1, *shape)
    if len(answer) > 1 and max(map(len, sums)) > 1:
        _settle_ties(estimator, sums, answer, x, y, held)
    return answer


def _combined_answer(estimator: Any, x: _Axis, y: _Axis, held: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = summed_trees(estimator)
    if estimator.combination == "median" or not sums[0]:
        return _answer_by_cells(estimator, sums[0], x, y, held)
    answer = _share_of_votes(estimator, x, y, held)
    if len(sums[0]) > 1:
        _settle_ties(estimator, sums, answer, x, y, held)
    return answer


def _answer_by_rows(
    estimator: Any, x: _Axis, y: _Axis, held: NDArray[np.float64], monitor: FitMonitor
) -> NDArray[np.float64]:
    """Predict every position."""
    tables = watched(_grid_rows(x, y, held, WATCHED_ROWS), monitor)
    answer = np.concatenate([estimator.encoded_answer(table) for table in tables])
    return np.ascontiguousarray(answer.T).reshape(-1, len(y.values), len(x.values))


def watched(tables: Iterator[NDArray[Any]], monitor: FitMonitor) -> Iterator[NDArray[Any]]:
    """Yield tables and tell the monitor of each before it is answered."""
    for i, table in enumerate(tables):
        monitor.on_iteration(IterationEvent("drawing", i))
        yield table


def _grid_rows(
    x: _Axis, y: _Axis, held: NDArray[np.float64], chunk_rows: int = CHUNK_ROWS
) -> Iterator[NDArray[np.float64]]:
    """Yield the positions as encoded tables of at most `chunk_rows` rows, x running fastest."""
    n_x, n_y = len(x.values), len(y.values)
    for start in range(0, n_x * n_y, chunk_rows):
        at = np.arange(start, min(start + chunk_rows, n_x * n_y))
        table = np.tile(held, (len(at), 1))
        for axis, places in ((x, at % n_x), (y, at // n_x)):
            if axis.feature >= 0:
                table[:, axis.feature] = axis.values[places]
        yield table


def _share_of_votes(estimator: Any, x: _Axis, y: _Axis, held: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return AdaBoost's probabilities: its votes are a sum of trees."""
    from engine.adaboost.combined import probabilities

    votes = sum_on(estimator.vote_trees(), x, y, held)
    shares = probabilities(votes.reshape(len(votes), -1).T, estimator.baseline_)
    return np.ascontiguousarray(shares.T).reshape(votes.shape)


def _answer_by_cells(
    estimator: Any, trees: Sequence[Tree], x: _Axis, y: _Axis, held: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Predict one position of every cell that no tree tells apart: for medians, which are no sums."""
    (x_first, x_cell), (y_first, y_cell) = (
        np.unique(_cells(trees, axis), return_index=True, return_inverse=True)[1:] for axis in (x, y)
    )
    table = np.tile(held, (len(y_first) * len(x_first), 1))
    for axis, values in ((x, np.tile(x_first, len(y_first))), (y, np.repeat(y_first, len(x_first)))):
        if axis.feature >= 0:
            table[:, axis.feature] = axis.values[values]
    answer = encoded_answer(estimator, table).T.reshape(-1, len(y_first), len(x_first))
    return np.ascontiguousarray(answer[:, y_cell][:, :, x_cell])


def _settle_ties(
    estimator: Any,
    sums: list[list[Tree]],
    answer: NDArray[np.float64],
    x: _Axis,
    y: _Axis,
    held: NDArray[np.float64],
) -> None:
    """Predict anew, in place, where two classes are so close that rounding might swap them."""
    top = np.partition(answer, -2, axis=0)[-2:]
    rows, columns = np.nonzero(top[1] - top[0] <= TIE_TOLERANCE)
    if len(rows) == 0:
        return
    trees = [tree for group in sums for tree in group] + list(_first_trees(estimator))
    x_cells = _cells(trees, x)  # numbered by thresholds, of which there may be more than positions
    cells = _cells(trees, y)[rows] * (x_cells.max() + 1) + x_cells[columns]
    if _begins_with_model(estimator):  # which may tell any two positions apart
        cells = rows * len(x.values) + columns
    _, first, cell_of = np.unique(cells, return_index=True, return_inverse=True)
    table = np.tile(held, (len(first), 1))
    for axis, at in ((x, columns), (y, rows)):
        if axis.feature >= 0:
            table[:, axis.feature] = axis.values[at[first]]
    answer[:, rows, columns] = encoded_answer(estimator, table)[cell_of].T


def _cells(trees: Sequence[Tree], axis: _Axis) -> NDArray[np.int64]:
    """Number the positions so that equal numbers are never told apart by a tree: int64 (n,)."""
    asked = [tree.feature == axis.feature for tree in trees]
    if any(np.any(tree.kind[at] >= LEVEL_SET) for tree, at in zip(trees, asked, strict=True)):
        return np.arange(len(axis.values))
    thresholds = [
        tree.threshold[at & (tree.kind == THRESHOLD)] for tree, at in zip(trees, asked, strict=True)
    ]
    # missing positions sort behind every threshold, and behind one infinite step from known values
    steps = np.append(np.unique(np.concatenate([*thresholds, np.empty(0)])), np.inf)
    return np.searchsorted(steps, axis.values, side="left")
