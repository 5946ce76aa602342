"""What forests and bags of trees share: fitting, out-of-bag results, warm start, averaging."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from engine.base import Learner, TrainingData, begin_fit, begin_validation, check_X, draw_seed
from engine.errors import DataError, ParameterError
from engine.features import FeatureSpec
from engine.forest.draws import draw_rows
from engine.forest.grow import ForestGrower, Member, MemberTasks
from engine.forest.out_of_bag import OutOfBag
from engine.forest.uncertainty import TreeMoments
from engine.inspection import impurity_importances
from engine.monitor import NULL_MONITOR, FitMonitor, IterationEvent, Stopwatch, StopWatcher
from engine.predict import tree_values, voting_trees
from engine.scores import r_squared
from engine.tree.estimators import check_target, root_of
from engine.tree.structure import Tree
from engine.uncertainty import Uncertainty

PREPARING_SHARE = 0.02  # of the whole fit's progress: sorting, or binning
BALANCED_SUBSAMPLE = "balanced_subsample"
OF_ALL_MEMBERS = (
    "oob_score_",
    "n_oob_rows_",
    "n_rows_never_out_",
    "oob_decision_function_",
    "oob_prediction_",
)
OF_EVERY_MEMBER = ("oob_loss_", "member_oob_loss_")


class Ensemble(Learner):
    """Members that are fitted apart on drawn rows: what is common to those of trees and of any learner."""

    _is_classifier: bool
    n_estimators: int
    bootstrap: bool
    oob_score: bool
    warm_start: bool
    n_jobs: Any
    random_state: Any
    class_weight: Any = None
    max_samples: Any
    voting = "soft"

    @property
    def _columns_wanted(self) -> Any:
        """Number or share of the columns that are drawn once a member; None for all."""
        raise NotImplementedError

    @property
    def _drawing(self) -> tuple[Any, ...]:
        """What must be as it was for members to be added to those there are."""
        is_of_trees = getattr(self, "estimator", None) is None
        return self.bootstrap, self.max_samples, self._columns_wanted, is_of_trees

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, validation: tuple[Any, Any, Any]
    ) -> tuple[TrainingData, list[Any]]:
        """Check the tables and set the seed; returns the rows, and the members that a warm start keeps."""
        if self.oob_score and not self.bootstrap:
            raise ParameterError(
                "oob_score is True but bootstrap is False, so no row is left out; switch bootstrap on"
            )
        before = _Before(self) if self.warm_start and hasattr(self, "estimators_") else None
        by_bag = self.class_weight == BALANCED_SUBSAMPLE
        data = begin_fit(
            self, X, y, sample_weight, is_classifier=self._is_classifier,
            class_weight=None if by_bag else self.class_weight,
        )  # fmt: skip
        begin_validation(self, *validation, data)
        kept = [] if before is None else before.members_for(self, data)
        if not kept:
            self.seed_ = draw_seed(self.random_state)
        self.n_outputs_ = 1
        self._rows, self._drawn_with = data.rows, self._drawing
        return data, kept

    def _fit_members(
        self, tasks: MemberTasks, data: TrainingData, kept: list[Any], watcher: StopWatcher, clock: Stopwatch
    ) -> OutOfBag:
        """Fit the members that are not there yet, and ask all of them about the rows they left out."""
        votes, self.estimators_ = OutOfBag(data, self.voting == "hard"), list(kept)
        if not tasks.prepare(PREPARING_SHARE, clock):
            self.stopped_ = True
            return votes
        watcher.event = IterationEvent("growing", 0, self.n_estimators, PREPARING_SHARE, clock.elapsed_s)
        n_asked, member = 0, None
        so_far = copy.copy(self)._so_far
        with closing(tasks.members()) as members:
            for member in members:
                if member.is_partial and (self.estimators_ or n_asked):
                    break
                is_new = n_asked >= len(kept)
                if is_new:
                    self.estimators_.append(member.fitted)
                if member.oob_values is not None:
                    votes.add(member.oob_rows, member.oob_values)
                n_asked += 1
                event = self._event_of(member if is_new else None, n_asked, clock.elapsed_s, votes)
                watcher.tell(replace(event, so_far=so_far(self.estimators_, len(self.estimators_))))
                if watcher.is_stopped:
                    break
        is_short = len(self.estimators_) < self.n_estimators or (member is not None and member.is_partial)
        self.stopped_ = watcher.is_stopped and is_short
        return votes

    def _event_of(
        self, member: Member | None, n_done: int, elapsed_s: float, votes: OutOfBag
    ) -> IterationEvent:
        fraction = 1 - (1 - PREPARING_SHARE) * (1 - n_done / self.n_estimators)  # ends at 1 exactly
        is_tree = member is not None and isinstance(member.fitted, Tree)
        return IterationEvent(
            "growing", n_done, self.n_estimators, fraction, elapsed_s,
            oob_loss=votes.losses[-1] if votes.losses else None,
            new_trees=(member.fitted,) if member is not None and is_tree else (),
        )  # fmt: skip

    def _so_far(self, members: list[Any], n_members: int) -> Callable[[], Any] | None:
        """Return what makes the model of the first members, while more are fitted; None: nothing does."""
        return None

    def _keep_out_of_bag(self, data: TrainingData, votes: OutOfBag) -> None:
        """Set the out-of-bag results; without any member asked they are NaN."""
        voted, means = votes.n_votes > 0, votes.means()
        self.n_oob_rows_ = int(np.count_nonzero(voted))
        self.oob_loss_, self.member_oob_loss_ = np.array(votes.losses), np.array(votes.member_losses)
        self.oob_score_ = float("nan")
        if self._is_classifier and self.n_oob_rows_ > 0:
            self.oob_score_ = 1.0 - votes.losses[-1]
        elif not self._is_classifier:
            self.oob_score_ = r_squared(data.y[voted], means[voted, 0], data.sample_weight[voted])
        self.n_rows_never_out_ = data.n_rows - self.n_oob_rows_
        values = np.full((data.n_samples, means.shape[1]), np.nan)
        values[data.rows] = means
        if self._is_classifier:
            self.oob_decision_function_ = values
        else:
            self.oob_prediction_ = values[:, 0]

    def bootstrap_draws(self, member: int) -> NDArray[np.int64]:
        """Return the rows of the training table that member `member` drew, repeats included.

        Recomputed from `seed_`: int64 (n_drawn,). Rows of weight 0 are never drawn.

        Raises
        ------
        DataError
            The model was read from a file, which holds no rows.
        """
        check_is_fitted(self, "estimators_")
        if not hasattr(self, "_rows"):
            raise DataError("a model read from a file does not know its training rows; train it again")
        return self._rows[self._draws_of(len(self._rows), member)]

    def _draws_of(self, n_rows: int, member: int) -> NDArray[np.int64]:
        return draw_rows(self, n_rows, member)


class _Before:
    """What a warm start must find unchanged; taken before the new fit overwrites it."""

    def __init__(self, model: Ensemble) -> None:
        # a first member cut short by a stop is grown anew
        is_partial = model.stopped_ and len(model.estimators_) == 1
        self._members = [] if is_partial else list(model.estimators_)
        self._features: tuple[FeatureSpec, ...] = model.features_
        self._classes = getattr(model, "classes_", None)
        self._rows = getattr(model, "_rows", None)  # a model read from a file knows neither
        self._drawn_with = getattr(model, "_drawn_with", None)

    def members_for(self, model: Ensemble, data: TrainingData) -> list[Any]:
        if not self._members:
            return []
        if model.n_estimators < len(self._members):
            raise ParameterError(
                f"n_estimators is {model.n_estimators} but warm_start keeps the {len(self._members)} there "
                "are; enter more, or set warm_start to False"
            )
        same_classes = data.classes is None or np.array_equal(data.classes, np.asarray(self._classes))
        if data.features != self._features or not same_classes:
            raise DataError(
                "warm_start adds to a model of other columns or classes; give the table it was trained on, "
                "or set warm_start to False"
            )
        if self._rows is not None and not np.array_equal(self._rows, data.rows):
            raise DataError(
                f"warm_start adds to a model of {len(self._rows)} other rows; give the table it was trained "
                "on, or set warm_start to False"
            )
        if self._drawn_with not in (None, model._drawing):
            raise ParameterError(
                "warm_start keeps members of another bootstrap, max_samples, column share or estimator; "
                "set them back, or set warm_start to False"
            )
        return self._members


class TreeEnsemble(Ensemble):
    """Trees as members; a subclass says what they are told, by `_tree_settings`."""

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None,
        sample_weight_val: Any = None, monitor: FitMonitor | None = None,
    ) -> Self:  # fmt: skip
        """Grow the trees; it may end early and is usable all the same.

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
        self._fit_trees(X, y, sample_weight, (X_val, y_val, sample_weight_val), monitor)
        return self

    def _fit_trees(
        self, X: Any, y: Any, sample_weight: Any, validation: tuple[Any, Any, Any], monitor: FitMonitor | None
    ) -> None:
        self._check_parameters()
        data, kept = self._begin(X, y, sample_weight, validation)
        check_target(data, self._tree_settings().criterion)
        clock = Stopwatch()
        watcher = StopWatcher(monitor or NULL_MONITOR, IterationEvent("sorting", 0, data.n_features))
        tasks = ForestGrower(self, self._tree_settings(), data, kept, watcher)
        votes = self._fit_members(tasks, data, kept, watcher, clock)
        self.estimators_ = self.estimators_ or [root_of(data, self._tree_settings().criterion)]
        self.feature_importances_ = impurity_importances(self.estimators_, data.n_features)
        if self.oob_score:
            self._keep_out_of_bag(data, votes)

    def truncate(self, n_trees: int) -> Self:
        """Return a copy that keeps the first `n_trees` trees, at least one.

        It has no out-of-bag score of its own, which takes the training rows; the losses against the number
        of trees and of each tree are there.

        Raises
        ------
        ParameterError
            There are not that many trees.
        """
        check_is_fitted(self, "estimators_")
        if not 1 <= n_trees <= len(self.estimators_):
            raise ParameterError(f"n_trees is {n_trees!r}; the model has {len(self.estimators_)} trees")
        if n_trees == len(self.estimators_):
            return copy.copy(self)
        cut = self._of_trees(self.estimators_[: int(n_trees)])
        for name in OF_EVERY_MEMBER:
            if hasattr(self, name):
                setattr(cut, name, getattr(self, name)[: int(n_trees)])
        return cut

    def _of_trees(self, trees: list[Tree]) -> Self:
        """Return a copy of these trees, without what is known of all alone."""
        made = copy.copy(self)
        made.estimators_ = trees
        made.feature_importances_ = impurity_importances(trees, self.n_features_in_)
        for name in OF_ALL_MEMBERS:
            made.__dict__.pop(name, None)
        return made

    def _so_far(self, members: list[Any], n_members: int) -> Callable[[], Any] | None:
        return partial(self._first_of, members, n_members) if isinstance(members[0], Tree) else None

    def _first_of(self, members: list[Any], n_members: int) -> Self:
        made = self._of_trees(members[:n_members])
        made.stopped_ = True
        for name in OF_EVERY_MEMBER:
            made.__dict__.pop(name, None)
        return made

    def _check_parameters(self) -> None:
        raise NotImplementedError

    def _tree_settings(self) -> Any:
        """Return what holds the hyperparameters of every tree."""
        return self

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Return the prediction, its spread, the noise in the leaves and how far the trees disagree.

        As of networks (contracts D23): of numbers the mean variance of the leaves and the variance of the
        trees' values, of classes mean entropy and mutual information. NaN where trees were grown by
        absolute error, which tells no variance.
        """
        check_is_fitted(self, "estimators_")
        return self.encoded_uncertainty(check_X(self, X))

    def encoded_uncertainty(self, encoded: NDArray[Any]) -> Uncertainty:
        """As `predict_uncertainty`, of an encoded table."""
        moments = TreeMoments(self)
        return moments.of_sums(moments.sums(lambda trees: tree_values(trees, encoded, self.n_jobs)))

    def _mean_values(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "estimators_")
        return tree_values(voting_trees(self), check_X(self, X), self.n_jobs) / len(self.estimators_)
