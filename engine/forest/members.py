"""Members of a bag that are estimators of any kind: fitting one on drawn rows, and asking it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import has_fit_parameter

from engine.base import TrainingData
from engine.features import is_frame
from engine.forest.grow import Member, MemberTasks
from engine.monitor import IterationEvent, StopWatcher

OF_SEEDS = 2  # second number of the key of a member's seeds


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
        draws = self._ensemble._draws_of(data.n_rows, member)
        oob_rows = np.setdiff1d(np.arange(data.n_rows), draws)
        if member > 0 and self._is_over:  # of the first one something must be there to use
            return Member(None, True, oob_rows, None)
        fitted = self._kept[member] if member < len(self._kept) else self._fit(member, draws, columns)
        is_partial = bool(getattr(fitted, "stopped_", False)) and member >= len(self._kept)
        values = None
        if self._asks and not is_partial:
            values = np.zeros((0, max(data.n_classes, 1)))
            if len(oob_rows):
                rows = rows_of(self._table, oob_rows, columns)
                values = answers(fitted, rows, data.n_classes, self._ensemble.voting == "hard")
        return Member(fitted, is_partial, oob_rows, values)

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
        if has_fit_parameter(wanted, "monitor"):
            extra["monitor"] = _StopOnly(self)
        return estimator.fit(rows, y, **extra)


class _StopOnly:
    """Passes on to a member of this package that the whole fit is to stop."""

    def __init__(self, tasks: MemberGrower) -> None:
        self._tasks = tasks

    def on_iteration(self, _event: IterationEvent) -> bool:
        return self._tasks._ask(0, 0.0)


def takes_weights(estimator: Any) -> bool:
    """Tell whether an estimator's `fit` takes weights of rows."""
    return bool(has_fit_parameter(estimator, "sample_weight"))


def seeded(estimator: Any, seed: int, member: int) -> Any:
    """Return a clone that draws by seeds of its own, also in estimators inside it."""
    copy = clone(estimator)
    names = [
        name
        for name in sorted(copy.get_params(deep=True))
        if name == "random_state" or name.endswith("__random_state")
    ]
    seeds = np.random.SeedSequence(seed, spawn_key=(member, OF_SEEDS)).generate_state(max(len(names), 1))
    return copy.set_params(**{name: int(word >> 1) for name, word in zip(names, seeds, strict=False)})


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
