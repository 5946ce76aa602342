"""`DecisionTreeClassifier` and `DecisionTreeRegressor`: exact CART trees."""

from __future__ import annotations

import numbers
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from engine.base import (
    Learner,
    ProbabilityClassifier,
    TrainingData,
    begin_fit,
    begin_validation,
    check_X,
    draw_seed,
    member_seed,
)
from engine.errors import DataError, ParameterError
from engine.inspection import impurity_importances
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch
from engine.parameters import Parameter, check_before_fit
from engine.predict import leaf_numbers, tree_values
from engine.tree.cost_complexity import prune_at
from engine.tree.directions import check_directions
from engine.tree.grow import Grower, GrownTree
from engine.tree.growth_rules import CRITERIA, draws_splits, make_rules
from engine.tree.kernels.impurity import node_impurity
from engine.tree.kernels.layout import ROW_MASK
from engine.tree.multiway import MultiwayGrower
from engine.tree.node_rows import describe_numbers
from engine.tree.parameters import CART_ONLY, TREE_CLASSIFIER, TREE_REGRESSOR
from engine.tree.presort import Ask, Presorted, SortedRows, presort
from engine.tree.pruning_rules import pessimistic_prune
from engine.tree.structure import Tree, single_leaf

SORTING_SHARE = 0.2  # of the whole fit's progress

_DOC = """One exact classification or regression tree (Breiman, Friedman, Olshen, Stone 1984).

    At each node every column and every threshold halfway between two adjacent distinct values is
    tried, for categories the partitions of their levels; the split with the largest decrease of
    impurity wins, ties going to the lowest column and then the lowest threshold. Missing values go
    to the side where they help most unless `missing` says otherwise, and "is missing" is a split of its own.

    Parameters
    ----------
    criterion : {criterion}
    max_depth : int or None, default None
    max_leaf_nodes : int or None, default None
        Best-first growth up to this many leaves.
    min_samples_leaf, min_samples_split : int or float, default 1 and 2
        Rows of positive weight, or a share of them; weights are not counted here.
    min_impurity_decrease : float, default 0
        Least decrease, multiplied by the node's share of the total weight.
    min_weight_fraction_leaf : float from 0 to 0.5, default 0
    min_relative_decrease : float from 0 to 100, default 0
        The same decrease in percent of the root's impurity (rpart's `cp` in hundredths).
    max_nodes : int or None, default None
        Best-first growth up to this many nodes, leaves included.
    ccp_alpha : float, default 0
        The grown tree is pruned to the smallest that minimises impurity + `ccp_alpha` x leaves; see
        `engine.tree.cost_complexity`. With 0 it is left as grown.
    missing : "learned" or "level", default "learned"
        "learned": each split learns the side of missing values. "level": missing is a level of its own, in a
        partition of levels or with a branch of its own in ID3 and C4.5 wherever training missed the column;
        of numbers the split "is missing" is tried, and at a threshold, where no side is learned, missing
        values go with the larger side of the present rows, the first on a tie, so that no row leaves the
        tree. Levels never seen go to the larger child then, instead of following missing values.
    max_features : int, float, "sqrt", "log2" or None, default None
        Columns drawn at each node; drawing goes on while all drawn are constant there.
    splitter : "best" or "random", default "best"
        "random" draws one split for each column and takes the best of them (extremely randomised trees,
        Geurts, Ernst, Wehenkel 2006): a threshold uniform between the node's smallest and largest value,
        for categories any proper partition of the node's levels, and a side for missing values, which are
        split off only where all other values are the same.
    monotonic_cst : sequence, mapping or None, default None
        Of every column, or of columns by name: 1 where the value may only rise with it, -1 where it may
        only fall, 0 where it is free. The value is the mean (median, by absolute error), or the share of the
        second of two classes. Splits that break it are not taken and leaves' values are kept in the bounds
        that it sets, while impurities and gains stay those of the rows. Missing values may take either
        side.{class_weight}
    categorical_features : "from_dtype", None or sequence, default "from_dtype"
        See `engine.features.learn_features`.
    random_state : None, int or generator
        For `max_features` and `splitter`.

    Attributes
    ----------
    tree_ : Tree
    features_ : tuple of FeatureSpec{classes}
    feature_importances_ : float64 (n_features,)
        Shares of the weighted impurity decrease.
    seed_ : int
    stopped_ : bool
        A monitor ended the growth early; the tree is usable all the same.
    """


class _DecisionTree(Learner):
    """What both trees share; a subclass says whether it classifies."""

    _is_classifier: bool
    _table: tuple[Any, ...]
    max_depth: Any
    random_state: Any
    class_weight: Any = None

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None, monitor: FitMonitor | None = None,
    ) -> Self:  # fmt: skip
        """Grow the tree; it may end early and is usable all the same.

        ``monitor.on_iteration(event)`` is called in this thread about every 20 ms of work; True ends
        the growth. A validation part is checked and otherwise not used.

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
        check_algorithm(self)
        data = begin_fit(
            self, X, y, sample_weight, is_classifier=self._is_classifier, class_weight=self.class_weight
        )
        begin_validation(self, X_val, y_val, sample_weight_val, data)
        return self.fit_data(data, monitor or NULL_MONITOR)

    def fit_data(self, data: TrainingData, monitor: FitMonitor, rows: SortedRows | None = None) -> Self:
        """Fit on a checked table, of which `features_` was learned; on sorted rows of it where given."""
        check_target(data, self.criterion)
        check_directions(self, data)
        self.n_outputs_ = 1
        self.seed_ = draw_seed(self.random_state)
        self.tree_, self.stopped_ = _grow(self, data, monitor, rows)
        self.feature_importances_ = impurity_importances([self.tree_], data.n_features)
        return self

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Return the node number of every row's leaf: int32 (n_samples,)."""
        check_is_fitted(self, "tree_")
        return leaf_numbers(self.tree_, check_X(self, X))

    def get_depth(self) -> int:
        """Return how many questions the longest path asks."""
        check_is_fitted(self, "tree_")
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves


class DecisionTreeClassifier(ProbabilityClassifier, _DecisionTree):  # noqa: D101 - set below
    _is_classifier = True
    _table = TREE_CLASSIFIER
    __doc__ = _DOC.format(
        criterion='"gini", "entropy" or "misclassification", default "gini"',
        class_weight='\n    class_weight : "balanced", dict or None, default None',
        classes="\n    classes_ : ndarray (n_classes,)",
        algorithm="""
    algorithm : "cart", "id3" or "c4.5", default "cart"
        ID3 and C4.5 (Quinlan 1986, 1993) give categories one branch a level and choose by information
        gain and gain ratio; of such a split two branches need `min_samples_leaf` rows. They take no
        `max_leaf_nodes`, `max_nodes`, `max_features` and `monotonic_cst`, no `splitter` but "best", and no
        criterion but their own.
    confidence : float or None, default 0.25
        Of C4.5's pessimistic pruning: smaller prunes more, None not at all.""",
    )

    def __init__(
        self, *, criterion: str = "gini", max_depth: int | None = None, max_leaf_nodes: int | None = None,
        min_samples_leaf: float = 1, min_samples_split: float = 2, min_impurity_decrease: float = 0.0,
        min_weight_fraction_leaf: float = 0.0, max_features: Any = None, class_weight: Any = None,
        categorical_features: Any = "from_dtype", random_state: Any = None, max_nodes: int | None = None,
        min_relative_decrease: float = 0.0, ccp_alpha: float = 0.0, algorithm: str = "cart",
        confidence: float | None = 0.25, splitter: str = "best", monotonic_cst: Any = None,
        missing: str = "learned",
    ) -> None:  # fmt: skip
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.max_nodes = max_nodes
        self.min_relative_decrease = min_relative_decrease
        self.ccp_alpha = ccp_alpha
        self.algorithm = algorithm
        self.confidence = confidence
        self.splitter = splitter
        self.monotonic_cst = monotonic_cst
        self.missing = missing

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class fractions of every row's leaf: float64 (n_samples, n_classes)."""
        check_is_fitted(self, "tree_")
        return tree_values([self.tree_], check_X(self, X))


class DecisionTreeRegressor(RegressorMixin, _DecisionTree):  # type: ignore[misc]  # noqa: D101 - set below
    _is_classifier = False
    _table = TREE_REGRESSOR
    __doc__ = _DOC.format(
        criterion='"squared_error", "absolute_error" (of the median, robust to outliers) or "poisson"'
        '\n        (targets of 0 and more), default "squared_error"',
        class_weight="",
        classes="",
        algorithm="",
    )

    def __init__(
        self, *, criterion: str = "squared_error", max_depth: int | None = None,
        max_leaf_nodes: int | None = None, min_samples_leaf: float = 1, min_samples_split: float = 2,
        min_impurity_decrease: float = 0.0, min_weight_fraction_leaf: float = 0.0, max_features: Any = None,
        categorical_features: Any = "from_dtype", random_state: Any = None, max_nodes: int | None = None,
        min_relative_decrease: float = 0.0, ccp_alpha: float = 0.0, splitter: str = "best",
        monotonic_cst: Any = None, missing: str = "learned",
    ) -> None:  # fmt: skip
        self.criterion = criterion
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.min_samples_split = min_samples_split
        self.min_impurity_decrease = min_impurity_decrease
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.max_nodes = max_nodes
        self.min_relative_decrease = min_relative_decrease
        self.ccp_alpha = ccp_alpha
        self.splitter = splitter
        self.monotonic_cst = monotonic_cst
        self.missing = missing

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the mean (median, by absolute error) of every row's leaf: float64 (n_samples,)."""
        check_is_fitted(self, "tree_")
        return tree_values([self.tree_], check_X(self, X))[:, 0]


def check_tree_parameters(estimator: Any, table: tuple[Parameter, ...]) -> None:
    """Check the parameters of a tree or a forest of them; class weights and seeds are checked when used.

    Raises
    ------
    ParameterError
        The first one outside its range.
    """
    check_before_fit(estimator, table)
    if isinstance(estimator.min_samples_split, numbers.Integral) and estimator.min_samples_split < 2:
        raise ParameterError(
            f"min_samples_split is {estimator.min_samples_split!r}; enter a whole number of rows from 2, or "
            "a share above 0 and at most 1"
        )


def check_algorithm(estimator: Any) -> None:
    """Check that ID3 or C4.5 is asked for nothing that it has not.

    Raises
    ------
    ParameterError
        Another criterion than its own, or a limit of two-way growth.
    """
    if not is_multiway(estimator):
        return
    name = "ID3" if estimator.algorithm == "id3" else "C4.5"
    if estimator.criterion not in ("gini", "entropy"):  # the default, or its own
        raise ParameterError(
            f"criterion is {estimator.criterion!r} but {name} has its own; leave it out, or set algorithm "
            "to 'cart'"
        )
    for limit in CART_ONLY:
        if getattr(estimator, limit) is not None:
            raise ParameterError(
                f"{limit} is {getattr(estimator, limit)!r} but {name} has no such limit; leave it out, or "
                "set algorithm to 'cart'"
            )
    if estimator.splitter != "best":
        raise ParameterError(
            f"splitter is {estimator.splitter!r} but {name} draws no splits; leave it out, or set algorithm "
            "to 'cart'"
        )


def check_target(data: TrainingData, criterion: str, name: str = "criterion") -> None:
    """Check that a criterion, or whatever the parameter is called, can take the target.

    Raises
    ------
    DataError
        Poisson deviance is asked of a negative target, of zeros alone, or of numbers too small to divide.
    """
    if criterion != "poisson":
        return
    if np.any(data.y < 0):
        raise DataError(
            f"{name} 'poisson' counts events, but the target goes down to {data.y.min():g}; "
            f"use {name} 'squared_error'"
        )
    if not np.any(data.y > 0):
        raise DataError(f"{name} 'poisson' needs a target above 0 in some row; all are 0")
    events = (data.y * data.sample_weight)[data.y > 0]
    if not np.all(events / data.sample_weight.sum() >= np.finfo(np.float64).tiny):
        raise DataError(
            f"the target is {data.y[data.y > 0].min():g} in some row, too small beside the weights for "
            f"{name} 'poisson'; scale the target"
        )


def root_of(data: TrainingData, criterion: str) -> Tree:
    """Return the tree of one leaf: what is kept when a stop comes before anything was grown."""
    w = data.sample_weight
    if data.classes is None:
        mean, impurity = describe_numbers(criterion, data.y, w)
        return single_leaf([mean], impurity, data.n_rows, w.sum())
    fractions = np.bincount(data.y.astype(np.intp), weights=w, minlength=data.n_classes) / w.sum()
    impurity = node_impurity(CRITERIA[criterion], fractions)
    return single_leaf(fractions, float(impurity), data.n_rows, float(w.sum()))


def is_multiway(estimator: Any) -> bool:
    """Tell whether a tree has one branch a level."""
    return getattr(estimator, "algorithm", "cart") != "cart"


def grow_multiway(estimator: Any, data: TrainingData, ask: Ask) -> GrownTree:
    """Grow an ID3 or C4.5 tree on all rows of `data`."""
    rules = make_rules(estimator, data, float(data.sample_weight.sum()))
    return MultiwayGrower(data, rules, estimator.algorithm).grow(ask)


def grow_two_way(
    estimator: Any, data: TrainingData, presorted: Presorted, order: NDArray[np.int64], ask: Ask
) -> GrownTree:
    """Grow a CART tree on the rows in `order`, which is partitioned in place."""
    rows = order[0] & ROW_MASK
    rules = make_rules(estimator, data, float(data.sample_weight[rows].sum()), len(rows))
    seed = member_seed(estimator.seed_, 0)
    return Grower(presorted, order, data.y, data.sample_weight, rules, seed).grow(ask)


def prune_by_rule(estimator: Any, tree: Tree, share: float = 1.0) -> Tree:
    """Prune a grown tree as the hyperparameters say; of a branch, `share` is its part of the weight."""
    if is_multiway(estimator) and estimator.algorithm == "c4.5" and estimator.confidence is not None:
        tree = pessimistic_prune(tree, estimator.confidence)
    return prune_at(tree, estimator.ccp_alpha / share) if estimator.ccp_alpha > 0 else tree


def _grow(
    estimator: Any, data: TrainingData, monitor: FitMonitor, rows: SortedRows | None
) -> tuple[Tree, bool]:
    watch = Stopwatch()

    def ask_sorting(n_done: int, fraction: float) -> bool:
        event = IterationEvent("sorting", n_done, data.n_features, SORTING_SHARE * fraction, watch.elapsed_s)
        return monitor.on_iteration(event)

    def ask_growing(n_nodes: int, fraction: float) -> bool:
        done = SORTING_SHARE + (1 - SORTING_SHARE) * fraction
        return monitor.on_iteration(IterationEvent("growing", n_nodes, None, done, watch.elapsed_s))

    if is_multiway(estimator):
        grown = grow_multiway(estimator, data, ask_growing)
    else:
        if rows is None:
            presorted = presort(data.X, data.features, ask_sorting, keeps_values=draws_splits(estimator))
            if presorted is None:
                return root_of(data, estimator.criterion), True
            rows = SortedRows(presorted, presorted.order)
        grown = grow_two_way(estimator, data, rows.table, rows.order, ask_growing)
    tree = prune_by_rule(estimator, grown.tree)
    monitor.on_iteration(
        IterationEvent("growing", tree.n_nodes, None, 1.0, watch.elapsed_s, new_trees=(tree,))
    )  # fmt: skip
    return tree, grown.is_partial
