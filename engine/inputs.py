"""From an encoded table to what networks and perceptrons read: standardised numbers, an input a level."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine import dtypes
from engine.base import TrainingData
from engine.errors import DataError
from engine.features import FeatureSpec
from engine.monitor import IterationEvent, Stopwatch, StopWatcher
from engine.units import unit_of

LARGEST_INPUT = 1e6  # standard deviations from the mean: what lies beyond is taken to lie there
ROWS_PER_BLOCK = 2**14  # filled in between two looks at a stop: what is written stays in the cache
MOST_NUMBERS = 2**31  # of the table of inputs, 8 GB in single precision

Floats = NDArray[np.float64]


class InputScaling:
    """Mean and standard deviation of each number, and which columns had gaps in training.

    A column of numbers becomes (x - mean) / standard deviation, 0 where it is missing; a category becomes
    one input for each level, all 0 where it is missing or of a level that training never saw. A column
    that was missing in some training row has one input more, which says so.

    Attributes
    ----------
    units : float64 (n_features,)
        A power of two near the largest value, so that squares are finite.
    means, scales : float64 (n_features,)
        Of the values in these units; 0 and 1 for categories and where all values are the same.
    has_missing : bool (n_features,)
    """

    def __init__(self, features: Sequence[FeatureSpec]) -> None:
        n_features = len(features)
        self._n_levels = [len(spec.levels) if spec.levels is not None else 0 for spec in features]
        self._is_level = [spec.is_categorical for spec in features]
        self.units, self.means, self.scales = np.ones(n_features), np.zeros(n_features), np.ones(n_features)
        self.has_missing = np.zeros(n_features, bool)

    @classmethod
    def kept_in(cls, model: Any) -> InputScaling:
        """Return what a fitted model has learned; see `keep_in`."""
        scaling = cls(model.features_)
        scaling.units, scaling.means = model.input_units_, model.input_means_
        scaling.scales, scaling.has_missing = model.input_scales_, model.has_missing_
        return scaling

    def keep_in(self, model: Any) -> None:
        """Set the fitted attributes `input_units_`, `input_means_`, `input_scales_`, `has_missing_`."""
        model.input_units_, model.input_means_ = self.units, self.means
        model.input_scales_, model.has_missing_ = self.scales, self.has_missing

    def learn(
        self, X: NDArray[Any], sample_weight: Floats, features: Sequence[FeatureSpec],
        on_column: Callable[[int], bool],
    ) -> bool:  # fmt: skip
        """Learn from a training table; False where `on_column`, told how many are done, ended it.

        Raises
        ------
        DataError
            The table of inputs would be too large: names the column with the most levels.
        """
        for column in range(X.shape[1]):
            values = X[:, column]
            is_missing = np.isnan(values)
            self.has_missing[column] = bool(is_missing.any())
            if not self._is_level[column]:
                self._learn_number(column, values[~is_missing], sample_weight[~is_missing])
            if on_column(column + 1):
                return False
        if len(X) * self.n_inputs > MOST_NUMBERS:
            worst = int(np.argmax(self._n_levels))
            raise DataError(
                f"the model would read {self.n_inputs} inputs in {len(X)} rows, more than fits; column "
                f"{features[worst].name!r} has {self._n_levels[worst]} levels: merge levels or leave it out"
            )
        return True

    def _learn_number(self, column: int, values: NDArray[Any], sample_weight: Floats) -> None:
        if len(values) == 0:
            return
        unit = unit_of(values)
        scaled = values.astype(np.float64) / unit
        mean = float(np.average(scaled, weights=sample_weight))
        spread = math.sqrt(float(np.average((scaled - mean) ** 2, weights=sample_weight)))
        self.units[column], self.means[column] = unit, mean
        if spread > 0 and scaled.min() < scaled.max():
            self.scales[column] = spread

    @property
    def n_inputs(self) -> int:
        """Inputs that the columns become, at least one."""
        return max(sum(self._width(column) for column in range(len(self._is_level))), 1)

    def _width(self, column: int) -> int:
        n_values = self._n_levels[column] if self._is_level[column] else 1
        return n_values + int(self.has_missing[column])

    def fill(self, X: NDArray[Any], inputs: NDArray[Any]) -> None:
        """Fill in the inputs of the rows of an encoded table.

        Parameters
        ----------
        X : float32 or float64 (n_rows, n_features)
        inputs : float32 or float64 (n_rows, n_inputs)
            All 0.
        """
        at = 0
        for column in range(X.shape[1]):
            values = X[:, column].astype(np.float64)
            is_missing = np.isnan(values)
            if self._is_level[column]:
                rows = np.flatnonzero(~is_missing & (values >= 0))  # not of an unseen level
                inputs[rows, at + values[rows].astype(np.intp)] = 1
            else:
                with np.errstate(over="ignore"):  # far outside what was learned: cut off below
                    scaled = (values / self.units[column] - self.means[column]) / self.scales[column]
                np.clip(scaled, -LARGEST_INPUT, LARGEST_INPUT, out=scaled)
                inputs[:, at] = np.where(is_missing, 0.0, scaled)
            if self.has_missing[column]:
                inputs[:, at + self._width(column) - 1] = is_missing
            at += self._width(column)


class Inputs(NamedTuple):
    """Tables of inputs of a training.

    Attributes
    ----------
    scaling : InputScaling
    training : float32 or float64 (n_rows, n_inputs)
        No row where a stop came first.
    validation : likewise, or None
        None without a validation part.
    """

    scaling: InputScaling
    training: NDArray[Any]
    validation: NDArray[Any] | None


def tell_preparing(watcher: StopWatcher, clock: Stopwatch, share: float, n_done: int, n_steps: int) -> bool:
    """Tell how far `standardise` is, which is a share of the whole fit; returns whether it is to stop."""
    fraction = share * (n_done / n_steps)
    watcher.tell(IterationEvent("preparing", n_done, n_steps, fraction, clock.elapsed_s))
    return watcher.is_stopped


def standardise(
    training: TrainingData, validation: TrainingData | None, dtype: Any, tell: Callable[[int, int], bool]
) -> Inputs:
    """Learn the scaling from the training rows and fill in the inputs of all rows.

    Parameters
    ----------
    tell : callable
        Told after every column that was learned, and every block of rows that was filled in, how many steps
        of how many are done, and before the first; True ends it.

    Raises
    ------
    DataError
        See `InputScaling.learn`.
    """
    parts = [part for part in (training, validation) if part is not None]
    n_steps = training.n_features + sum(len(_blocks(part.n_rows)) for part in parts)
    scaling = InputScaling(training.features)
    is_whole = not tell(0, n_steps) and scaling.learn(
        training.X, training.sample_weight, training.features, lambda n_columns: tell(n_columns, n_steps)
    )
    tables, n_done = [], training.n_features
    for part in parts:
        inputs = np.zeros((part.n_rows if is_whole else 0, scaling.n_inputs), dtype)
        tables.append(dtypes.as_input(inputs))
        for first in _blocks(len(inputs)):
            if is_whole:
                block = slice(first, first + ROWS_PER_BLOCK)
                scaling.fill(part.X[block], inputs[block])
                n_done += 1
                is_whole = not tell(n_done, n_steps)
    return Inputs(scaling, tables[0], tables[1] if validation is not None else None)


def _blocks(n_rows: int) -> range:
    return range(0, n_rows, ROWS_PER_BLOCK)
