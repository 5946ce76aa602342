"""Members of a bag that are estimators of any kind: fitting one on drawn rows, and asking it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from engine import pieces
from engine.base import TrainingData
from engine.errors import FitStopped
from engine.features import is_frame
from engine.forest.grow import Member, MemberTasks
from engine.monitor import StopWatcher
from engine.other_learners import StopOnly, can_stop, seeded, takes_weights


class MemberGrower(MemberTasks):
    """Fits clones of an estimator.

    Parameters
    ----------
    table : DataFrame or ndarray (n_rows, n_features)
        The rows of `data` as the members take them; others as in `MemberTasks`.
    """

    def __init__(
        self, ensemble: Any, table: Any, data: TrainingData, kept: Sequence[Any], watcher: StopWatcher
    ) -> None:
        super().__init__(ensemble, data, kept, watcher)
        self._table = table

    def grow(self, member: int) -> Member:
        data, columns = self._data, self._columns_of(member)
        if member > 0 and self._is_over:  # of the first one something must be there to use
            return Member(None, True, np.empty(0, np.int64), None)
        draws = self._ensemble._draws_of(data.n_rows, member)
        oob_rows = np.setdiff1d(np.arange(data.n_rows), draws)
        fitted = self._kept[member] if member < len(self._kept) else self._fit(member, draws, columns)
        is_partial = bool(getattr(fitted, "stopped_", False)) and member >= len(self._kept)
        is_asked = self._asks and not is_partial
        values = self._oob_values(fitted, oob_rows, columns) if is_asked else None
        return Member(fitted, is_partial or (is_asked and values is None), oob_rows, values)

    def _oob_values(
        self, fitted: Any, oob_rows: NDArray[np.int64], columns: NDArray[np.intp]
    ) -> NDArray[np.float64] | None:
        """Return what a member says of the rows that it left out; None where a stop came in between."""
        n_classes = self._data.n_classes
        if not len(oob_rows):
            return np.zeros((0, max(n_classes, 1)))
        rows = rows_of(self._table, oob_rows, columns)
        try:
            with pieces.asking(lambda _work: self._ask(0, 0.0)):
                return answers(fitted, rows, n_classes, self._ensemble.voting == "hard")
        except FitStopped:
            return None

    def _fit(self, member: int, draws: NDArray[np.int64], columns: NDArray[np.intp]) -> Any:
        data, wanted = self._data, self._ensemble.estimator
        y = data.y[draws] if data.classes is None else data.y[draws].astype(np.int64)
        rows = rows_of(self._table, draws, columns)
        if data.classes is not None and len(np.unique(y)) == 1:  # which many classifiers refuse
            return DummyClassifier(strategy="most_frequent").fit(rows, y)
        estimator = seeded(wanted, self._ensemble.seed_, member)
        extra: dict[str, Any] = {}
        if data.is_weighted and takes_weights(wanted):
            extra["sample_weight"] = data.sample_weight[draws]
        if can_stop(wanted):
            extra["monitor"] = StopOnly(lambda: self._ask(0, 0.0))
        return estimator.fit(rows, y, **extra)


def rows_of(table: Any, rows: NDArray[np.int64] | slice, columns: NDArray[np.intp]) -> Any:
    """Return some rows and columns of a frame or an array."""
    return table.iloc[rows, columns] if is_frame(table) else table[rows][:, columns]


def answers(estimator: Any, rows: Any, n_classes: int, is_hard: bool) -> NDArray[np.float64]:
    """Return what a member says: float64 (n_rows, n_classes) probabilities or votes, or (n_rows, 1).

    A classifier without `predict_proba` votes. Classes that it never saw have probability 0.
    """
    if n_classes == 0:
        return np.asarray(estimator.predict(rows), np.float64).reshape(-1, 1)
    if is_hard or not hasattr(estimator, "predict_proba"):
        return np.eye(n_classes)[np.asarray(estimator.predict(rows), np.intp)]
    values = np.zeros((len(rows), n_classes))
    values[:, np.asarray(estimator.classes_, np.intp)] = estimator.predict_proba(rows)
    return values
