"""`AdaBoostClassifier` (SAMME) and `AdaBoostRegressor` (R2) over trees or any weighted learner."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from engine.adaboost.base import AdaBoost
from engine.adaboost.combined import medians_of_trees, probabilities, vote_trees
from engine.adaboost.parameters import ADABOOST_CLASSIFIER, ADABOOST_REGRESSOR
from engine.adaboost.reweighting import Floats
from engine.base import ProbabilityClassifier
from engine.predict import tree_values
from engine.tree.parameters import MEMBER_CLASSIFIER, MEMBER_REGRESSOR
from engine.tree.structure import Tree

_DOC = """AdaBoost: {purpose}.

    Round by round a learner is fitted to weighted rows, and rows that it has wrong gain weight. A learner
    weighs by the log odds of its weighted error{weight_words}. {together}
    A round that fits all rows is the last, with a weight as of an error of 2**-52; a learner that is no
    better than chance ends the rounds and is left out.

    Parameters
    ----------
    estimator : estimator or None, default None
        Fitted anew each round{other_words}; None grows the engine's own trees, with the settings below.
        Classes are given to it as numbers from 0.
    n_estimators : int, default 50
        Rounds at most.
    learning_rate : float, default 1
        Factor of every learner's weight.{own}
    criterion, max_depth, max_leaf_nodes, min_samples_leaf, min_samples_split, min_impurity_decrease,
    min_weight_fraction_leaf, max_features, categorical_features{class_weight}
        As in the decision tree; `max_depth` is {max_depth} here.
    early_stopping : bool, default False
        End after `n_iter_no_change` rounds without a smaller validation error and keep the rounds up
        to the best one.
    validation_fraction : float, default 0.1
        Share of the rows set aside for early stopping where `fit` is given no `X_val`.
    n_iter_no_change : int, default 10
    tol : float, default 0
        The validation error must fall by more than this to count as smaller.
    warm_start : bool, default False
        Fitting again keeps the rounds there are and adds those that are missing: to the last bit what
        one fit of all rounds gives.
    random_state : None, int or generator

    Attributes
    ----------
    estimators_ : list of Tree
        The rounds kept; of another `estimator`, its fitted copies.
    estimator_weights_, estimator_errors_ : float64 (n_rounds,)
        Of each learner: its weight, and its weighted error on the rows as they weighed in its round.
    n_estimators_ : int
        Rounds kept.
    best_round_ : int
        Round of the smallest validation error, counted from 1, the first of equals; without validation
        rows the last round.
    baseline_ : float64 {baseline}
    train_loss_, val_loss_ : float64 (n_rounds + 1,)
        {losses}, entry 0 before any round; of the rounds kept. `val_loss_` is empty without
        validation rows.
    why_ended_ : str
        Why there are fewer rounds than asked for, in words; empty where a monitor, early stopping or nothing
        ended them.
    n_set_aside_ : int
        Training rows set aside for early stopping.
    stopped_ : bool
        A monitor ended the fit early; the finished rounds are kept.
    features_ : tuple of FeatureSpec{classes}
    feature_importances_ : float64 (n_features,)
        Mean over the learners, by weight, of each one's shares; absent where another `estimator` has none.
    seed_ : int
    """


class AdaBoostClassifier(ProbabilityClassifier, AdaBoost):  # noqa: D101 - see _DOC
    _is_classifier = True
    combination = "votes"
    _table = ADABOOST_CLASSIFIER
    _members = MEMBER_CLASSIFIER
    __doc__ = _DOC.format(
        purpose="SAMME for classes (Freund, Schapire 1997; Zhu, Zou, Rosset, Hastie 2009)",
        weight_words=", with K classes plus log(K - 1)",
        together="The class with the largest sum of weights is named, and probabilities are the\n    "
        "softmax of these sums.",
        other_words="; it must take `sample_weight`",
        own="",
        class_weight=", class_weight",
        max_depth="1 (stumps)",
        baseline="(n_classes,)\n        Shares of the classes, the answer before any round.",
        losses="Weighted share of wrong rows",
        classes="\n    classes_ : ndarray (n_classes,)",
    )

    def __init__(
        self, *, estimator: Any = None, n_estimators: int = 50, learning_rate: float = 1.0,
        criterion: str = "gini", max_depth: int | None = 1, max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 1, min_samples_split: float = 2, min_impurity_decrease: float = 0.0,
        min_weight_fraction_leaf: float = 0.0, max_features: Any = None, class_weight: Any = None,
        early_stopping: bool = False, validation_fraction: float = 0.1, n_iter_no_change: int = 10,
        tol: float = 0.0, warm_start: bool = False, categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _row_loss(self) -> str:
        return "wrong"

    def encoded_answer(self, table: NDArray[Any]) -> Floats:
        """Return class probabilities of an encoded table: float64 (n_rows, n_classes)."""
        if not self.estimators_:
            return np.tile(self.baseline_, (len(table), 1))
        return probabilities(tree_values(self.vote_trees(), table), self.baseline_)

    def vote_trees(self) -> list[Tree]:
        """Return the trees with their votes as values: added up, they are the sums of weights."""
        return vote_trees(self.estimators_, self.estimator_weights_)

    def predict_proba(self, X: Any) -> Floats:
        """Return class probabilities: float64 (n_samples, n_classes), in the order of `classes_`."""
        check_is_fitted(self, "estimators_")
        return self._answer(X)

    def decision_function(self, X: Any) -> Floats:
        """Return log odds (n_samples,) for two classes, else (n_samples, n_classes) logarithms of odds.

        Differences of the learners' sums of weights, where the largest is 0 of more classes; minus infinity
        for a class without training rows.
        """
        with np.errstate(divide="ignore"):
            logs = np.log(self.predict_proba(X))
        return np.asarray(logs[:, 1] - logs[:, 0]) if logs.shape[1] == 2 else logs

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Yield the class probabilities after every round."""
        return self._staged_answers(X)

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predicted classes after every round."""
        return (self._labels(answer) for answer in self._staged_answers(X))


class AdaBoostRegressor(RegressorMixin, AdaBoost):  # type: ignore[misc]  # noqa: D101 - see _DOC
    _is_classifier = False
    combination = "median"
    _table = ADABOOST_REGRESSOR
    _members = MEMBER_REGRESSOR
    __doc__ = _DOC.format(
        purpose="R2 for a numeric target (Drucker 1997)",
        weight_words="",
        together="Predictions are the weighted median of the learners'.",
        other_words="; with `bootstrap=False` it must take `sample_weight`",
        own="""
    loss : "linear", "square" or "exponential", default "linear"
        How a row's absolute error, as a share of the largest, counts.
    bootstrap : bool, default True
        Fit each learner on as many rows as there are, drawn with replacement by their weights, as Drucker
        does; else on all rows with their weights.""",
        class_weight="",
        max_depth="3",
        baseline="(1,)\n        Mean target, the answer before any round.",
        losses="Half the mean squared error",
        classes="",
    )

    def __init__(
        self, *, estimator: Any = None, n_estimators: int = 50, learning_rate: float = 1.0,
        loss: str = "linear", bootstrap: bool = True, criterion: str = "squared_error",
        max_depth: int | None = 3, max_leaf_nodes: int | None = None, min_samples_leaf: float = 1,
        min_samples_split: float = 2, min_impurity_decrease: float = 0.0,
        min_weight_fraction_leaf: float = 0.0, max_features: Any = None, early_stopping: bool = False,
        validation_fraction: float = 0.1, n_iter_no_change: int = 10, tol: float = 0.0,
        warm_start: bool = False, categorical_features: Any = "from_dtype", random_state: Any = None,
    ) -> None:  # fmt: skip
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.bootstrap = bootstrap
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _row_loss(self) -> str:
        return self.loss

    def encoded_answer(self, table: NDArray[Any]) -> Floats:
        """Return predictions for an encoded table: float64 (n_rows, 1)."""
        if not self.estimators_:
            return np.tile(self.baseline_, (len(table), 1))
        return medians_of_trees(self.estimators_, self.estimator_weights_, table)

    def predict(self, X: Any) -> Floats:
        """Predict the target: float64 (n_samples,)."""
        check_is_fitted(self, "estimators_")
        return self._answer(X)[:, 0]

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Yield the prediction after every round."""
        return (answer[:, 0] for answer in self._staged_answers(X))
