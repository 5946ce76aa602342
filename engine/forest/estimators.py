"""`RandomForestClassifier` and `RandomForestRegressor`."""

from __future__ import annotations

import copy
from contextlib import closing
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from engine.base import Learner, TrainingData, begin_fit, begin_validation, check_X, draw_seed
from engine.errors import DataError, ParameterError
from engine.forest.grow import ForestGrower, Member, draw_rows
from engine.forest.parameters import FOREST_CLASSIFIER, FOREST_REGRESSOR
from engine.inspection import impurity_importances
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch, StopWatcher
from engine.predict import tree_values
from engine.tree.estimators import check_target, check_tree_parameters, root_of
from engine.tree.presort import presort
from engine.tree.structure import Tree

OUT_OF_BAG = ("oob_score_", "n_oob_rows_", "oob_decision_function_", "oob_prediction_")  # of all the trees
SORTING_SHARE = 0.02  # of the whole fit's progress

_DOC = """Random forest (Breiman 2001): exact trees on resampled rows, random columns at each node.

    {prediction}

    Parameters
    ----------
    n_estimators : int, default 100
    bootstrap : bool, default True
        Draw each tree's rows with replacement.
    max_samples : int, float or None, default None
        Rows drawn a tree, or their share; None draws as many as there are.
    oob_score : bool, default False
        Score each row by the trees that did not draw it.
    n_jobs : int or None, default None
        Threads; the model has the same bits for any number.
    criterion, max_depth, max_leaf_nodes, min_samples_leaf, min_samples_split, min_impurity_decrease,
    min_weight_fraction_leaf, max_features, categorical_features{class_weight}
        As in the decision tree; `max_features` is {max_features} here. Rows are counted once however often
        they were drawn; weights count every draw.
    random_state : None, int or generator

    Attributes
    ----------
    estimators_ : list of Tree
    features_ : tuple of FeatureSpec{classes}
    feature_importances_ : float64 (n_features,)
        Mean over the trees of each tree's shares.
    oob_score_ : float
        {oob}; NaN when no row was left out by any tree.
    n_oob_rows_ : int
        Rows that some tree left out; the score is over these.
    seed_ : int
    stopped_ : bool
        A monitor ended the fit early; the trees grown so far are kept.
    """


class _RandomForest(Learner):
    """What both forests share; a subclass says whether it classifies."""

    _is_classifier: bool
    _table: tuple[Any, ...]
    n_estimators: int
    bootstrap: bool
    oob_score: bool
    n_jobs: Any
    random_state: Any
    class_weight: Any = None

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None, monitor: FitMonitor | None = None,
    ) -> Self:  # fmt: skip
        """Grow the forest; it may end early and is usable all the same.

        ``monitor.on_iteration(event)`` is called in this thread after every tree and about every 30 ms
        in between; True ends the fit. Trees finished so far are kept; of a first tree, what was grown
        of it. A validation part is checked and otherwise not used.

        Parameters
        ----------
        X : DataFrame or array-like (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional
        X_val, y_val, sample_weight_val
            As X, y and sample_weight.
        monitor : FitMonitor, optional

        Raises
        ------
        ParameterError
            A hyperparameter is outside its documented range, or the validation part is not whole.
        DataError
            X, y or the weights do not fit; see `engine.base.begin_fit`.
        """
        check_tree_parameters(self, self._table)
        if self.oob_score and not self.bootstrap:
            raise ParameterError(
                "oob_score is True but bootstrap is False, so no row is left out; switch bootstrap on"
            )
        data = begin_fit(
            self, X, y, sample_weight, is_classifier=self._is_classifier, class_weight=self.class_weight
        )
        begin_validation(self, X_val, y_val, sample_weight_val, data)
        check_target(data, self.criterion)
        self.n_outputs_ = 1
        self.seed_ = draw_seed(self.random_state)
        self._rows = data.rows
        votes = self._grow(data, monitor or NULL_MONITOR)
        self.feature_importances_ = impurity_importances(self.estimators_, data.n_features)
        if self.oob_score:
            self._score_out_of_bag(data, *votes)
        return self

    def _grow(self, data: TrainingData, monitor: FitMonitor) -> tuple[NDArray[Any], NDArray[Any]]:
        """Grow the trees; returns the out-of-bag sums of values and how many trees they are of."""
        clock = Stopwatch()
        watcher = StopWatcher(monitor, IterationEvent("sorting", 0, data.n_features))
        self.estimators_: list[Tree] = []
        sums, n_votes = np.zeros((data.n_rows, max(data.n_classes, 1))), np.zeros(data.n_rows, np.int64)

        def ask_sorting(n_done: int, fraction: float) -> bool:
            done = SORTING_SHARE * fraction
            watcher.tell(IterationEvent("sorting", n_done, data.n_features, done, clock.elapsed_s))
            return watcher.is_stopped

        presorted = presort(data.X, data.features, ask_sorting, self.n_jobs)
        if presorted is None:
            self.estimators_, self.stopped_ = [root_of(data, self.criterion)], True
            return sums, n_votes
        watcher.event = IterationEvent("growing", 0, self.n_estimators, SORTING_SHARE, clock.elapsed_s)
        with closing(ForestGrower(self, data, presorted, watcher).members()) as members:
            for member in members:
                if member.is_partial and self.estimators_:
                    break
                self.estimators_.append(member.tree)
                _add_votes(member, sums, n_votes)
                n_done = len(self.estimators_)
                fraction = 1 - (1 - SORTING_SHARE) * (1 - n_done / self.n_estimators)  # ends at 1 exactly
                new_trees = (member.tree,)
                watcher.tell(
                    IterationEvent(
                        "growing", n_done, self.n_estimators, fraction, clock.elapsed_s, new_trees=new_trees
                    )
                )  # fmt: skip
                if watcher.is_stopped:
                    break
        self.stopped_ = watcher.is_stopped and (n_done < self.n_estimators or member.is_partial)
        return sums, n_votes

    def _score_out_of_bag(self, data: TrainingData, sums: NDArray[Any], n_votes: NDArray[Any]) -> None:
        voted = n_votes > 0
        mean = np.full_like(sums, np.nan)
        mean[voted] = sums[voted] / n_votes[voted, None]
        self.n_oob_rows_ = int(np.count_nonzero(voted))
        self.oob_score_ = float("nan")
        if self.n_oob_rows_ > (0 if self._is_classifier else 1):
            self.oob_score_ = self._oob_score_of(data, mean, voted)
        values = np.full((data.n_samples, sums.shape[1]), np.nan)
        values[data.rows] = mean
        self._keep_oob(values)

    def _oob_score_of(self, data: TrainingData, mean: NDArray[Any], voted: NDArray[np.bool_]) -> float:
        weights = data.sample_weight[voted]
        if self._is_classifier:
            predicted = np.argmax(mean[voted], axis=1)
            return float(accuracy_score(data.y[voted].astype(np.intp), predicted, sample_weight=weights))
        return float(r2_score(data.y[voted], mean[voted, 0], sample_weight=weights))

    def _keep_oob(self, values: NDArray[np.float64]) -> None:
        raise NotImplementedError

    def bootstrap_draws(self, member: int) -> NDArray[np.int64]:
        """Return the rows of the training table that tree `member` drew, repeats included.

        Recomputed from `seed_`: int64 (n_drawn,). Rows of weight 0 are never drawn.

        Raises
        ------
        DataError
            The model was read from a file, which holds no rows.
        """
        check_is_fitted(self, "estimators_")
        if not hasattr(self, "_rows"):
            raise DataError("a forest read from a file does not know its training rows; train it again")
        return self._rows[draw_rows(self, len(self._rows), member)]

    def truncate(self, n_trees: int) -> Self:
        """Return a copy that keeps the first `n_trees` trees, at least one.

        It has no out-of-bag score: that takes the training rows.

        Raises
        ------
        ParameterError
            There are not that many trees.
        """
        check_is_fitted(self, "estimators_")
        if not 1 <= n_trees <= len(self.estimators_):
            raise ParameterError(f"n_trees is {n_trees!r}; the model has {len(self.estimators_)} trees")
        cut = copy.copy(self)
        if n_trees < len(self.estimators_):
            cut.estimators_ = self.estimators_[: int(n_trees)]
            cut.feature_importances_ = impurity_importances(cut.estimators_, self.n_features_in_)
            for name in OUT_OF_BAG:
                cut.__dict__.pop(name, None)
        return cut

    def _mean_values(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "estimators_")
        return tree_values(self.estimators_, check_X(self, X), self.n_jobs) / len(self.estimators_)


class RandomForestClassifier(ClassifierMixin, _RandomForest):  # type: ignore[misc]  # noqa: D101 - set below
    _is_classifier = True
    _table = FOREST_CLASSIFIER
    __doc__ = _DOC.format(
        prediction="Class probabilities are the mean of the trees' class fractions.",
        class_weight=", class_weight",
        max_features='"sqrt"',
        classes="\n    classes_ : ndarray (n_classes,)",
        oob="Accuracy",
    )

    def __init__(
        self, *, n_estimators: int = 100, criterion: str = "gini", max_depth: int | None = None,
        max_leaf_nodes: int | None = None, min_samples_leaf: float = 1, min_samples_split: float = 2,
        min_impurity_decrease: float = 0.0, min_weight_fraction_leaf: float = 0.0, max_features: Any = "sqrt",
        bootstrap: bool = True, max_samples: Any = None, oob_score: bool = False, class_weight: Any = None,
        categorical_features: Any = "from_dtype", n_jobs: int | None = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the mean class fractions: float64 (n_samples, n_classes)."""
        return self._mean_values(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class, the first on a tie: (n_samples,)."""
        class_idx = np.argmax(self.predict_proba(X), axis=1)
        labels: NDArray[Any] = self.classes_[class_idx]
        return labels

    def _keep_oob(self, values: NDArray[np.float64]) -> None:
        self.oob_decision_function_ = values


class RandomForestRegressor(RegressorMixin, _RandomForest):  # type: ignore[misc]  # noqa: D101 - set below
    _is_classifier = False
    _table = FOREST_REGRESSOR
    __doc__ = _DOC.format(
        prediction="Predictions are the mean of the trees' leaf means.",
        class_weight="",
        max_features="1.0 (all)",
        classes="",
        oob="Coefficient of determination",
    )

    def __init__(
        self, *, n_estimators: int = 100, criterion: str = "squared_error", max_depth: int | None = None,
        max_leaf_nodes: int | None = None, min_samples_leaf: float = 1, min_samples_split: float = 2,
        min_impurity_decrease: float = 0.0, min_weight_fraction_leaf: float = 0.0, max_features: Any = 1.0,
        bootstrap: bool = True, max_samples: Any = None, oob_score: bool = False,
        categorical_features: Any = "from_dtype", n_jobs: int | None = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean prediction: float64 (n_samples,)."""
        return self._mean_values(X)[:, 0]

    def _keep_oob(self, values: NDArray[np.float64]) -> None:
        self.oob_prediction_ = values[:, 0]


def _add_votes(member: Member, sums: NDArray[np.float64], n_votes: NDArray[np.int64]) -> None:
    if member.oob_values is not None and not member.is_partial:
        sums[member.oob_rows] += member.oob_values
        n_votes[member.oob_rows] += 1
