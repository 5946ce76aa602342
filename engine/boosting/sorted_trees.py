"""The engine's trees as learners of boosting: the table is sorted once a fit instead of once a round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from engine import dtypes
from engine.base import TrainingData
from engine.monitor import FitMonitor
from engine.tree.estimators import DecisionTreeRegressor, check_tree_parameters
from engine.tree.growth_rules import draws_splits
from engine.tree.presort import Ask, RowSorter, presort

MOST = 1e100  # of a residual or of the weights: beyond, a tree's own `fit` looks whether squares are finite

Floats = NDArray[np.float64]


def is_sortable(learner: Any) -> bool:
    """Tell whether a learner is a tree that reads the columns as boosting does."""
    return type(learner) is DecisionTreeRegressor and isinstance(learner.categorical_features, str)


class SortedTrees:
    """Fits trees to residuals; to the last bit what their own `fit` makes of the table.

    Parameters
    ----------
    data : TrainingData
    X : DataFrame or ndarray
        The rows of `data` as other learners take them.
    """

    def __init__(self, data: TrainingData, X: Any) -> None:
        self._data, self._X = data, X
        self._sorter: RowSorter | None = None

    def prepare(self, learner: Any, ask: Ask) -> bool:
        """Sort every column for trees like one; returns whether a stop came before the end."""
        draws = draws_splits(learner)
        presorted = presort(self._data.X, self._data.features, ask, keeps_values=draws)
        if presorted is not None:
            self._sorter = RowSorter(presorted, learner.max_depth == 1 and not draws)
        return presorted is None

    def can_fit(self, residuals: Floats) -> bool:
        """Tell whether squares of the residuals are finite without a closer look."""
        return max(float(np.abs(residuals).max()), float(self._data.sample_weight.sum())) < MOST

    def fit(
        self, learner: Any, residuals: Floats, drawn: NDArray[np.int32], ask: Ask, monitor: FitMonitor
    ) -> None:
        """Fit a tree, not fitted yet, to the residuals of the drawn rows; after a stop it means nothing.

        Raises
        ------
        ParameterError
            A setting of the tree is outside its range.
        """
        check_tree_parameters(learner, learner._table)
        assert self._sorter is not None
        if len(drawn) < self._data.n_rows:
            is_drawn = np.zeros(self._data.n_rows, dtypes.COUNT_DTYPE)
            is_drawn[drawn] = 1
            rows = self._sorter.drawn_rows(is_drawn, ask)
        else:
            rows = self._sorter.all_rows(ask)
        if rows is None:
            return
        validate_data(learner, self._X, skip_check_array=True)  # names the columns
        learner.features_ = self._data.features
        target = dtypes.as_input(residuals, dtypes.Y_DTYPE)
        learner.fit_data(replace(self._data, y=target, classes=None), monitor, rows)
