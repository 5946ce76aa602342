"""`BaggingClassifier` and `BaggingRegressor`: any learner, fitted again and again on resampled rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from engine import parallel
from engine.base import ProbabilityClassifier, TrainingData, check_X
from engine.errors import ParameterError
from engine.features import is_frame
from engine.forest.base import TreeEnsemble
from engine.forest.draws import draw_columns, draw_rows
from engine.forest.members import MemberGrower, answers, rows_of
from engine.forest.parameters import BAGGING_CLASSIFIER, BAGGING_REGRESSOR
from engine.forest.uncertainty import of_members
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch, StopWatcher
from engine.other_learners import takes_weights
from engine.parameters import check_before_fit
from engine.tree.estimators import DecisionTreeClassifier, DecisionTreeRegressor
from engine.tree.structure import Tree
from engine.uncertainty import Uncertainty

_DOC = """Bagging (Breiman 1996): the mean of one learner's answers, fitted to resampled rows.

    Parameters
    ----------
    estimator : estimator or None, default None
        What is fitted: any estimator with scikit-learn's methods. None is a full decision tree. It is given
        the rows drawn, with repeats; one that takes no weights has rows drawn in proportion to theirs.
    n_estimators : int, default 10
    bootstrap : bool, default True
        Draw each member's rows with replacement.
    max_samples : int, float or None, default None
        Rows drawn a member, or their share; None draws as many as there are.
    max_features : int or float, default 1.0
        Columns drawn once a member, or their share.
    oob_score : bool, default False
        Ask each row of the members that did not draw it.
    warm_start : bool, default False
        A fit keeps the members that are there and adds those that are missing; the model has the same bits
        as if all were fitted in one go.
    n_jobs : int or None, default None
        Threads; the model has the same bits for any number.
    categorical_features{voting}
        As in the decision tree.
    random_state : None, int or generator
        Members draw by seeds made from it, whatever their own `random_state` says.

    Attributes
    ----------
    estimators_ : list of Tree, or of fitted estimators
        Trees where `estimator` is None; they ask about columns of the whole table.
    estimators_features_ : list of int64 (n_drawn,)
        Columns that each member was given.
    features_ : tuple of FeatureSpec{classes}
    feature_importances_ : float64 (n_features,)
        Mean over the members; only where all of them have importances.
    oob_score_, oob_loss_, member_oob_loss_, n_oob_rows_, n_rows_never_out_, {oob_rows}
        As in `{forest}`.
    seed_ : int
    stopped_ : bool
        A monitor ended the fit early; the members fitted so far are kept.
    """


class _Bagging(TreeEnsemble):
    _table: tuple[Any, ...]
    _tree: type[Any]
    estimator: Any
    max_features: Any

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None, monitor: FitMonitor | None = None,
    ) -> Self:  # fmt: skip
        """Fit the members; it may end early and is usable all the same.

        ``monitor.on_iteration(event)`` is called in this thread after every member and about every 30 ms
        in between; True ends the fit once the members under way are done, or sooner where they can stop.

        Parameters
        ----------
        X : DataFrame or array-like (n_samples, n_features)
        y : array-like (n_samples,)
        sample_weight : array-like (n_samples,), optional
        X_val, y_val, sample_weight_val
            As X, y and sample_weight; checked and otherwise not used.
        monitor : FitMonitor, optional

        Raises
        ------
        ParameterError
            A hyperparameter is outside its documented range, or the validation part is not whole.
        DataError
            X, y or the weights do not fit; see `engine.base.begin_fit`.
        """
        validation = (X_val, y_val, sample_weight_val)
        self._shares: NDArray[np.float64] | None = None
        if self.estimator is None:
            self._fit_trees(X, y, sample_weight, validation, monitor)
        else:
            self._check_parameters()
            self._fit_any(X, y, sample_weight, validation, monitor)
        self.estimators_features_ = [
            draw_columns(self.seed_, self.max_features, self.n_features_in_, member)
            for member in range(len(self.estimators_))
        ]
        if self.estimator is not None:
            self._average_importances()
        return self

    def _fit_any(
        self, X: Any, y: Any, sample_weight: Any, validation: tuple[Any, Any, Any], monitor: FitMonitor | None
    ) -> None:
        data, kept = self._begin(X, y, sample_weight, validation)
        if data.is_weighted and not takes_weights(self.estimator):
            self._shares = self._shares_of(data)
        clock = Stopwatch()
        watcher = StopWatcher(monitor or NULL_MONITOR, IterationEvent("growing", 0, self.n_estimators))
        table = X.iloc[data.rows] if is_frame(X) else data.X
        tasks = MemberGrower(self, table, data, kept, watcher)
        votes = self._fit_members(tasks, data, kept, watcher, clock)
        if self.oob_score:
            self._keep_out_of_bag(data, votes)

    def _shares_of(self, data: TrainingData) -> NDArray[np.float64]:
        if not self.bootstrap:
            raise ParameterError(
                f"estimator is a {type(self.estimator).__name__}, which takes no sample_weight; set "
                "bootstrap to True, which draws rows in proportion to their weights, or leave the weights out"
            )
        return np.asarray(data.sample_weight / data.sample_weight.sum())

    @property
    def _columns_wanted(self) -> Any:
        return self.max_features

    def _tree_settings(self) -> Any:
        return self._tree()

    def _draws_of(self, n_rows: int, member: int) -> NDArray[np.int64]:
        return draw_rows(self, n_rows, member, self._shares)

    def _check_parameters(self) -> None:
        check_before_fit(self, self._table)
        if self.estimator is None:
            return
        if not all(hasattr(self.estimator, name) for name in ("fit", "predict", "get_params")):
            raise ParameterError(
                f"estimator is {self.estimator!r}; enter an estimator with fit, predict and get_params, or "
                "None (a decision tree)"
            )
        is_other = is_regressor if self._is_classifier else is_classifier
        if hasattr(self.estimator, "__sklearn_tags__") and is_other(self.estimator):
            kind = "classifier" if self._is_classifier else "regressor"
            raise ParameterError(f"estimator is {self.estimator!r}, which is no {kind}; enter one, or None")

    def _average_importances(self) -> None:
        if hasattr(self, "feature_importances_"):
            del self.feature_importances_
        if not all(hasattr(member, "feature_importances_") for member in self.estimators_):
            return
        sums = np.zeros(self.n_features_in_)
        for member, columns in zip(self.estimators_, self.estimators_features_, strict=True):
            sums[columns] += member.feature_importances_
        self.feature_importances_ = sums / len(self.estimators_)

    def _mean_values(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "estimators_")
        if isinstance(self.estimators_[0], Tree):
            return super()._mean_values(X)
        sums = None
        for values in self._member_answers(X):
            sums = values if sums is None else sums + values
        assert sums is not None
        return sums / len(self.estimators_)

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """As a forest's; of numbers predicted by other learners than trees the noise is NaN."""
        check_is_fitted(self, "estimators_")
        if isinstance(self.estimators_[0], Tree):
            return super().predict_uncertainty(X)
        return of_members(list(self._member_answers(X)), self._is_classifier)

    def _member_answers(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield what each member says: float64 (n_samples, n_classes or 1)."""
        encoded = check_X(self, X)
        table, n_classes = (X if is_frame(X) else encoded), len(getattr(self, "classes_", ()))

        def ask(member: int) -> NDArray[np.float64]:
            rows = rows_of(table, slice(None), self.estimators_features_[member])
            return answers(self.estimators_[member], rows, n_classes, self.voting == "hard")

        yield from parallel.map_tasks(ask, range(len(self.estimators_)), self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None and hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags


class BaggingClassifier(ProbabilityClassifier, _Bagging):  # noqa: D101 - set below
    _is_classifier = True
    _table = BAGGING_CLASSIFIER
    _tree = DecisionTreeClassifier
    __doc__ = _DOC.format(
        voting='\n    voting : "soft" or "hard", default "soft"\n'
        "        soft: the mean of the members' probabilities. hard: each member has one vote, as have all\n"
        "        that give no probabilities.",
        classes="\n    classes_ : ndarray (n_classes,)",
        oob_rows="oob_decision_function_",
        forest="RandomForestClassifier",
    )

    def __init__(
        self, estimator: Any = None, *, n_estimators: int = 10, bootstrap: bool = True,
        max_samples: Any = None, max_features: Any = 1.0, oob_score: bool = False, voting: str = "soft",
        warm_start: bool = False, categorical_features: Any = "from_dtype", n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.max_features = max_features
        self.oob_score = oob_score
        self.voting = voting
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the members' mean probabilities, or shares of votes: float64 (n_samples, n_classes)."""
        return self._mean_values(X)


class BaggingRegressor(RegressorMixin, _Bagging):  # type: ignore[misc]  # noqa: D101 - set below
    _is_classifier = False
    _table = BAGGING_REGRESSOR
    _tree = DecisionTreeRegressor
    __doc__ = _DOC.format(voting="", classes="", oob_rows="oob_prediction_", forest="RandomForestRegressor")

    def __init__(
        self, estimator: Any = None, *, n_estimators: int = 10, bootstrap: bool = True,
        max_samples: Any = None, max_features: Any = 1.0, oob_score: bool = False, warm_start: bool = False,
        categorical_features: Any = "from_dtype", n_jobs: int | None = None, random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.max_features = max_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean prediction: float64 (n_samples,)."""
        return self._mean_values(X)[:, 0]
