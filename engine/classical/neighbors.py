"""`NearestNeighborsClassifier` and `NearestNeighborsRegressor`: answers of the nearest training rows."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.neighbors import NearestNeighbors

from engine.base import TrainingData
from engine.classical.base import ClassicalClassifier, ClassicalRegressor
from engine.classical.parameters import NEIGHBORS_CLASSIFIER, NEIGHBORS_REGRESSOR
from engine.errors import ParameterError

Floats = NDArray[np.float64]

ROWS_OF_PRODUCT = 16  # compared with a row in the time of one product of a machine's

_DOC = """k nearest neighbours: {answer} of the training rows that are nearest (Cover, Hart 1967).

    Columns are prepared as in `engine.classical.columns`: numbers scaled to standard deviation 1, a column
    for every level of a category. Rows are found by scikit-learn's `NearestNeighbors`. A row of weight w
    counts as w rows: the nearest answer until they are `n_neighbors`, the last with what is wanting.

    Parameters
    ----------
    n_neighbors : int, default 5
        At most the number of training rows.
    weights : "uniform" or "distance", default "uniform"
        Neighbours count alike, or by 1 / distance; where some have distance 0, they alone.
    metric : "euclidean" or "manhattan", default "euclidean"{class_weight}
    categorical_features : "from_dtype", None or sequence, default "from_dtype"
        See `engine.features.learn_features`.

    Attributes
    ----------
    pipeline_ : sklearn.pipeline.Pipeline
        Over the encoded table.
    features_ : tuple of FeatureSpec{classes}
    stopped_ : bool
        A monitor ended the fit; the model is a constant.
    """


class Voters(BaseEstimator):  # type: ignore[misc]
    """Means over neighbours that are counted by weight."""

    def __init__(self, n_neighbors: int = 5, weights: str = "uniform", metric: str = "euclidean") -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric

    def _keep(self, X: Floats, answers: Floats, sample_weight: Floats) -> None:
        self.rows_, self.answers_, self.counts_ = X, answers, np.asarray(sample_weight, np.float64)
        self._build_search()

    def _build_search(self) -> None:
        self.search_ = NearestNeighbors(n_neighbors=self.n_neighbors, metric=self.metric).fit(self.rows_)

    @property
    def work_of_row(self) -> float:
        """As `engine.classical.pace.work_of_row`; one product compares many rows."""
        return self.rows_.size / ROWS_OF_PRODUCT

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "search_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "rows_") and "search_" not in state:  # of the same rows it is built the same
            self._build_search()

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        """Take the search along to another process: building it stops all threads for as long as it takes."""
        search = {"search_": self.search_} if hasattr(self, "search_") else {}
        return _restored, (type(self), {**self.__getstate__(), **search})

    def _mean(self, X: Floats) -> Floats:
        """Return the neighbours' mean answer: float64 (n_rows, n_answers)."""
        distances, rows, counts = self._neighbours(X)
        if self.weights == "distance":
            counts = counts * _nearness(distances)
        total = np.zeros((len(X), self.answers_.shape[1]))
        for place in range(rows.shape[1]):
            total += counts[:, place, None] * self.answers_[rows[:, place]]
        return np.asarray(total / counts.sum(axis=1, keepdims=True))

    def _neighbours(self, X: Floats) -> tuple[Floats, NDArray[np.intp], Floats]:
        """Return distances, numbers and counts of the nearest rows, which count as `n_neighbors`."""
        n_rows, n_asked = len(self.counts_), min(self.n_neighbors, len(self.counts_))
        while True:
            distances, rows = self.search_.kneighbors(X, n_asked)
            counts = self.counts_[rows]
            before = np.cumsum(counts, axis=1) - counts
            if n_asked == n_rows or np.all(before[:, -1] + counts[:, -1] >= self.n_neighbors):
                return distances, rows, np.clip(self.n_neighbors - before, 0.0, counts)
            n_asked = min(2 * n_asked, n_rows)


def _restored(kind: type[Voters], state: dict[str, Any]) -> Voters:
    voters = kind.__new__(kind)
    voters.__setstate__(state)
    return voters


def _nearness(distances: Floats) -> Floats:
    """Return 1 / distance, in units of the nearest one's; 1 and 0 where some distance is 0."""
    nearest = distances[:, :1]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(nearest == 0, distances == 0, nearest / distances)


class VotersOfClasses(ClassifierMixin, Voters):  # type: ignore[misc]
    """Shares of the classes among the neighbours."""

    def fit(self, X: Floats, y: Floats, sample_weight: Floats) -> Self:
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._keep(X, np.eye(len(self.classes_))[codes], sample_weight)
        return self

    def predict_proba(self, X: Floats) -> Floats:
        return self._mean(X)


class VotersOfNumbers(RegressorMixin, Voters):  # type: ignore[misc]
    """The neighbours' mean."""

    def fit(self, X: Floats, y: Floats, sample_weight: Floats) -> Self:
        self._keep(X, np.asarray(y, np.float64)[:, None], sample_weight)
        return self

    def predict(self, X: Floats) -> Floats:
        return self._mean(X)[:, 0]


def _settings(model: Any, data: TrainingData) -> dict[str, Any]:
    """Return the settings of the voters.

    Raises
    ------
    ParameterError
        More neighbours are asked for than there are rows.
    """
    if model.n_neighbors > data.sample_weight.sum():
        raise ParameterError(
            f"n_neighbors is {model.n_neighbors}, but the training rows count as "
            f"{data.sample_weight.sum():g} (n_samples={data.n_samples}); enter at most so many"
        )
    return {name: getattr(model, name) for name in ("n_neighbors", "weights", "metric")}


class NearestNeighborsClassifier(ClassicalClassifier):  # noqa: D101 - see _DOC
    _table = NEIGHBORS_CLASSIFIER
    __doc__ = _DOC.format(
        answer="the classes' shares",
        class_weight='\n    class_weight : dict, "balanced" or None, default None',
        classes="\n    classes_ : ndarray (n_classes,)",
    )

    def __init__(
        self, *, n_neighbors: int = 5, weights: str = "uniform", metric: str = "euclidean",
        class_weight: Any = None, categorical_features: Any = "from_dtype",
    ) -> None:  # fmt: skip
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.class_weight = class_weight
        self.categorical_features = categorical_features

    def _make_model(self, data: TrainingData) -> VotersOfClasses:
        return VotersOfClasses(**_settings(self, data))


class NearestNeighborsRegressor(ClassicalRegressor):  # noqa: D101 - see _DOC
    _table = NEIGHBORS_REGRESSOR
    __doc__ = _DOC.format(answer="the mean", class_weight="", classes="")

    def __init__(
        self, *, n_neighbors: int = 5, weights: str = "uniform", metric: str = "euclidean",
        categorical_features: Any = "from_dtype",
    ) -> None:  # fmt: skip
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.categorical_features = categorical_features

    def _make_model(self, data: TrainingData) -> VotersOfNumbers:
        return VotersOfNumbers(**_settings(self, data))
