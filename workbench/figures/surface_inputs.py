"""What pictures of a model over its columns are made of: encoded rows, held values, answers about rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent
from workbench.figures.axis import Axis, make_axis
from workbench.figures.held import Held, held_values, hold
from workbench.figures.words import count

if TYPE_CHECKING:
    from workbench.datasets import Table
    from workbench.fitting import FitInputs
    from workbench.runs import RunResult

Floats = NDArray[np.float64]
MAX_POINTS = 4000  # more points hide the surface; every k-th row is drawn then, and the note says so
TRAINING, VALIDATION, TEST = 0, 1, 2


@dataclass(frozen=True, eq=False)
class SurfaceInputs:
    """All that a surface is made of, encoded once for a run and kept between choices of columns.

    Attributes
    ----------
    encoded : float64 (n_rows, n_features)
    codes, values : arrays (n_rows,)
        Target: code of the class, or number.
    rows : int64 (n_drawn,)
        Which rows are drawn.
    prediction : float64 (n_drawn,)
        What the model says about these.
    weights : float64 (n_rows,) or None
        See `Points`.
    """

    name: str
    result: RunResult
    encoded: Floats
    held: tuple[Held, ...]
    codes: NDArray[np.int32]
    values: Floats
    rows: NDArray[np.int64]
    prediction: Floats
    dates: frozenset[str] = frozenset()
    weights: Floats | None = None
    staged_weights: Callable[[], Iterator[Floats]] | None = None

    def axis(self, feature: int, n_cells: int) -> Axis:
        """The axis of a model's column; of a date with dates."""
        spec = self.result.feature_specs[feature]
        return make_axis(spec, feature, self.encoded[:, feature], n_cells, spec.name in self.dates)


def surface_inputs(
    name: str, result: RunResult, table: Table, monitor: FitMonitor = NULL_MONITOR
) -> SurfaceInputs:
    """Encode the rows of a table for a run's model; runs on a worker.

    Parameters
    ----------
    name : str
        The run's name.
    """
    from engine.features import encode
    from workbench.datasets import feature_frame

    encoded = np.array(encode(feature_frame(table, result.features), result.feature_specs), np.float64)
    monitor.on_iteration(IterationEvent("drawing"))
    dates = frozenset(name for name in (*result.features, result.target) if table.column(name).kind == "date")
    held = held_values(result.feature_specs, encoded[result.parts == TRAINING], dates)
    codes, values = targets_of(table, result.target, result.classes)
    rows = thinned(np.flatnonzero(np.asarray(result.parts) <= VALIDATION))  # test rows stay unseen (D12)
    weights, staged = _row_weights(result, table)
    return SurfaceInputs(
        name, result, encoded, held, codes, values, rows, _said(result, encoded[rows]), dates, weights, staged
    )


def targets_of(table: Table, target: str, classes: tuple[str, ...]) -> tuple[NDArray[np.int32], Floats]:
    """Return every row's class, -1 where it has none of them, and its number; NaN of classes."""
    column = table.column(target)
    if not classes:
        return np.full(table.n_rows, -1, np.int32), np.asarray(column.values, np.float64)
    labels, levels = column.label_codes()
    position = {label: k for k, label in enumerate(classes)}
    order = np.array([position.get(str(level), -1) for level in levels] + [-1])
    return order[labels].astype(np.int32), np.full(table.n_rows, np.nan)


def thinned(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return as many rows as are drawn: all, or every k-th."""
    return rows[:: -(-len(rows) // MAX_POINTS)] if len(rows) > MAX_POINTS else rows


def _row_weights(
    result: RunResult, table: Table
) -> tuple[Floats | None, Callable[[], Iterator[Floats]] | None]:
    """What rows weigh after all rounds, and after every one; None and None where a model weighs none."""
    if hasattr(result.estimator, "row_weights_"):  # in training
        return weights_so_far(result), None
    if not hasattr(result.estimator, "staged_row_weights") or not result.n_rounds:
        return None, None
    staged = partial(staged_weights_of_rows, result, table)
    *_, weights = staged()
    return weights, staged


def weights_so_far(result: RunResult) -> Floats:
    """Return what rows weigh by now in a training: as `staged_weights_of_rows` yields it."""
    return _of_all_rows(result.estimator.row_weights_, result.parts == TRAINING)


def _of_all_rows(shares: Floats, is_training: NDArray[np.bool_]) -> Floats:
    weights = np.full(len(is_training), np.nan)
    weights[is_training] = shares * np.count_nonzero(np.isfinite(shares))
    return weights


def staged_weights_of_rows(result: RunResult, table: Table) -> Iterator[Floats]:
    """Yield what the training rows weigh after the first round, the second, and so on, 1 on average.

    Yields
    ------
    float64 (n_rows,)
        NaN of rows that are not trained on.
    """
    from workbench.fitting import inputs_of_result

    inputs = inputs_of_result(result, table)
    training = inputs.learnable().take(inputs.rows_of("train"))
    staged = result.estimator.staged_row_weights(training.X, training.labels, training.weights)
    for shares in islice(staged, 1, None):
        yield _of_all_rows(shares, result.parts == TRAINING)


def weights_text(n_rounds: int) -> str:
    """Say what the size of a point is where a model reweights rows."""
    return f"as large as they weigh after round {count(n_rounds)}"


def event_idx_of(of: RunResult | FitInputs) -> int | None:
    """Return which of two classes is the event; None where none is."""
    if len(of.classes) == 2 and of.event_class in of.classes:
        return of.classes.index(of.event_class)
    return None


def with_held(inputs: SurfaceInputs, chosen: Mapping[str, Any]) -> SurfaceInputs:
    """Hold columns at other values than the typical ones.

    Parameters
    ----------
    chosen : mapping of str to (float, str or None)
        A number, a level's name or None for missing, by column; what a model does not know is passed over.
    """
    return replace(inputs, held=hold(inputs.held, inputs.result.feature_specs, chosen))


def inputs_again(inputs: SurfaceInputs, result: RunResult) -> SurfaceInputs:
    """Return the inputs of the same tree changed by hand: its rows are encoded already."""
    return replace(inputs, result=result, prediction=_said(result, inputs.encoded[inputs.rows]))


def _said(result: RunResult, encoded: Floats) -> Floats:
    """What a model says about encoded rows: the code of a class, or a number."""
    from engine.surface import encoded_answer

    said = encoded_answer(result.estimator, encoded)
    return np.argmax(said, axis=1).astype(np.float64) if result.classes else said[:, 0]
